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
// and integers and floats that did (see dynamic.go, and the packages symbolic and sizes). Mirrors torch/_dynamo.
package capture
