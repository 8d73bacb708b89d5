// Package snapshot writes Python values down and makes them again in another process: functions with their code, closures and the globals
// that they name, classes, instances, containers with all that is shared or refers to itself, and tensors with their storages. What the
// standard library or torch defines is written as a name. The record of a frame is made of this.
package snapshot
