// Package stdlib is Python's standard library: CPython's own files, on modules that are written in Go.
//
// Register makes it known to an interpreter; nothing is loaded before it is imported. CPython's .py files come from package cpython and are
// used as they are. What CPython writes in C is written here, a file or a package a module (posix, pyio, pysocket, pyast, sre, zlib, ...), with
// package clinic binding the arguments. A few modules are still Python of our own, in lib/: they go before CPython's.
//
// importlib and the import statement share one rule, see imports.go. os.abort, os._exit and os.kill act on this very process. A process of Go
// cannot fork itself: os.fork is not there, and multiprocessing spawns.
package stdlib
