// Package exec runs a user's program and, when torch.compile fails in it, comes back with a repro.
//
// The program runs as it is: same streams, arguments, folder and exit status; signals reach it. Its Python finds two files of
// ours (hook/) through PYTHONPATH: one that waits for torch's compiler to be imported, and one that then keeps every graph
// on disk as a repro while it is compiled and while it first runs. A graph that went well is removed; what is left after the
// program's end is the failure, also after a crash, an abort or a kill, and after a hang with Options.Hang. All of it lies in
// one private folder that is removed in the end; only repros that are found go to Options.Out.
//
// Of the graphs around a failure the smallest is handed back, the one after aot, which is what Inductor gets. Wrong results can be there
// before: where graphs after aot differ from the program's eager run although they are run as they are, uncompiled, they were made wrong,
// by dynamo, by AOTAutograd or by the passes between, and reducing them would at best show another failure. Then it is the graph after
// dynamo. This is decided by running, whatever the graph is: eager, compiled and uncompiled runs have the same inputs, random numbers and
// float64 reference, and the first step of the pipeline whose result differs is to blame.
//
// It does not minify: whoever calls Run does.
package exec
