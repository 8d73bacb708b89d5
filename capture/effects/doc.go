// Package effects keeps what one trace changes in objects that existed before it.
//
// A trace runs the program on its own objects. So that it leaves no mark, each object is saved before it is first written; when the
// trace has ended, Undo brings back what was there, and the caller makes compiled code write the new contents in every run: Changes
// lists them. Until then the log answers what an object held before the trace, which is what guards are about.
//
// Which objects are from outside, where they come from, and how compiled code makes new contents is capture's own matter.
//
// Mirrors torch/_dynamo/side_effects.py.
package effects
