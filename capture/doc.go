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
// and integers and floats that did (see symbols.go, and the packages symbolic and sizes).
//
// # Types
//
// Dynamo compiles the frames of one interpreter and keeps what it compiled. A compilation is one frame on its way into code: it
// makes attempts, each a tracer, until one runs to the frame's end or to the break that an earlier one found; finish makes an entry of it.
// A plan is what an entry does behind its graph.
//
// The tracer decides what becomes of each instruction (watch.go) and call (calls.go, record.go). What it knows is kept by its
// parts, each in a file of its name. A part uses those above it in this table, and never the tracer:
//
//	ground       the session, the frame, the draft of guards, the numbers
//	journal      what logs and breaks say of the place that the trace is at
//	output       the graph under construction, with the bodies of operators (branch.go)
//	symbols      sizes and numbers that may differ from call to call
//	effects.Log  what the trace changed in objects from outside
//	world        objects from outside: their sources and guards (guards.go)
//	standIns     the fakes of tensors from outside
//	reads        what traced code asks of objects from outside (facts.go, lookups.go, use.go)
//	bindings     what the variables of running frames are bound to
//	randomness   draws from Python's generators
//	bodies       operators with graphs of their own (higherorder.go, loops.go, cond.go, checkpoint.go, autogradfn.go)
//
// # Packages
//
// What a trace decides is here; what it decides about is in packages of its own. source names the places that values come from,
// guard checks whether the facts still hold that a trace relied on, effects keeps what it changed, breaks has the reasons for which a
// trace ends, and resume makes the functions that go on behind a break. What the hooks of a trace know by name stands in callrules.go.
//
// What Python's own functions and operators do with tensors is in tensorcalls.go, texts that show tensors in text.go, and values of fakes that are known
// without a run in known.go. torch.func's transformations are Python that a trace looks into; their levels are torch's (capture/torch/functorch.go).
//
// Arrays of numpy are tensors in a trace (arrays.go), and numpy's functions are those of torch._numpy, which is Python of our own.
//
// torch._dynamo.export (export.go) takes one graph of a whole call. Fake tensors that programs make for themselves
// (fakemode.go) have their sizes from the same symbols that a trace has.
//
// Mirrors torch/_dynamo.
package capture
