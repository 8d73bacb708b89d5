// Package resume makes the functions that go on where a frame broke.
//
// After a graph break the rest of a frame runs as a function of its own, a resume function: the frame's code, entered behind the
// instruction that broke the graph. The package makes the code of such functions, once for each way into the rest, and says what
// the bytecode of a frame means for a break at an instruction: which blocks it stands in, whether control comes back to it, and
// which variables are still read.
//
// It does not decide where a graph breaks, nor carries values over: see package capture. Mirrors torch/_dynamo/resume_execution.py.
package resume
