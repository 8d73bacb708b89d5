// Package source names the places that values of a captured frame come from.
//
// A Source is a path: it starts at a local variable, a global, a module or an object, and goes on by attributes, items and the
// like. Its name is the Python that guards print for it; Get walks it in the surroundings of a call, an Env. Capture gives each
// value from outside its source, guards say by them what they look at, and compiled code reads its inputs by them.
//
// Other packages may have sources of their own. Whether what a source gives is still right is up to package guard.
//
// Mirrors torch/_dynamo/source.py.
package source
