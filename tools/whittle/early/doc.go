// Package early starts the process of a script before Go starts in the one that supervises it.
//
// whittle run has two processes of the same program, and the start of each takes as long: its code is mapped, Go makes its heap, packages are
// initialised. Where the command line begins with "run", a constructor of C's starts the second one at once, with the arguments
//
//	__script - and what follows "run"
//
// and one end of a pair of sockets as its descriptor 3. While both start, on two processors, neither waits. When the first has read its command
// line it gives the second its Order; where there turns out to be nothing to run, it ends, and so does the second, at the end of what it reads.
//
// Without C, on other systems, and where a standard descriptor is closed, nothing is started early: Take says so. The package is imported for that
// by the command alone: a test has no script.
package early
