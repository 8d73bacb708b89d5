// Package repros reads and writes repro files: a graph, its inputs, the configuration and how to run it, as Python
// that runs unchanged under whittle and under PyTorch.
//
// Read understands what PyTorch writes: minifier_launcher.py, repro.py and fx_graph_runnable.py of 2.x (after aot
// and after dynamo), and the forms of 1.13 and 2.0 with args and rand_strided; also a graph as print_readable shows it, whose types
// then make random inputs. A line that is not understood is an error with file and line. What a file names without holding it,
// such as a branch that PyTorch wrote as <lambda>(), does not keep the rest from being read: Repro.Complete names it.
// GraphModule.StandIns lists the constants that are random data.
//
// Write gives the form of 2.6, and Read(Write(r)) equals r. WriteStandalone gives a plain script of a few lines.
// Repro.Tensors makes the inputs: from storages by content where they are at hand, from expressions, else random as PyTorch's
// rand_strided does, from a seed. SliceSource cuts a function out of a script with all that it needs.
//
// Running a repro is the business of the engines: repros/worker and repros/torch. Mirrors torch/_dynamo/repro and debug_utils.py.
package repros
