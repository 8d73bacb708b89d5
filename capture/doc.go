// Package capture turns running Python functions into graphs, as TorchDynamo does.
//
// A frame that is about to run is traced first: its bytecode is executed on a private
// copy of the frame, instruction by instruction, with tensors replaced by fakes. Calls of the torch API become
// graph nodes; every Python value that comes from outside gets a source and a guard; writes to objects that existed
// before are undone afterwards and replayed by the compiled code. Code that cannot be traced ends the graph: the instruction
// runs as plain Python and a resume function goes on behind it.
//
// Executing with real Python values, rather than modelling each of them, means that
// whatever the VM can run can be captured; only tensors are symbolic, and those numbers that may differ from call to call: sizes,
// and integers and floats that did (see dynamic.go, and the packages symbolic and sizes).
//
// What a trace decides is here; what it decides about is in packages of its own. source names the places that values come from,
// guard checks whether the facts still hold that a trace relied on, breaks has the reasons for which a trace ends, and resume makes
// the functions that go on behind a break. What the hooks of a trace know by name stands in callrules.go.
//
// Mirrors torch/_dynamo.
package capture
