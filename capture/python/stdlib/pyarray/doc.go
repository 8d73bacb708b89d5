// Package pyarray is Python's module array: sequences of numbers of one kind, as they lie in memory.
//
// codes.go has the table of type codes, array.go the array and what it does with its memory, methods.go and slices.go the methods, walk.go its
// iterator, and state.go what pickles of it hold.
package pyarray
