// Package posix is Python's module posix, on which CPython's os.py stands: the calls of the operating system, as Linux has them.
//
// A process of Go cannot fork itself: fork, forkpty and what needs them are not there, as they are not on other systems that lack them.
package posix
