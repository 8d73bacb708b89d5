// Package pyctypes is Python's module _ctypes, as far as it goes without foreign code: the types of C, their arrays, structures, unions and
// pointers, in memory of this program's own. A library cannot be loaded, and says so.
//
// layout.go has what a class says about its memory, codes.go the simple types by their letters, data.go the instances and who keeps whom alive,
// memory.go what an address leads to. simple.go, array.go, pointer.go, record.go and function.go are the five kinds of classes, convert.go is
// from_param, and module.go puts it together.
//
// An address is the true one, and is followed only into memory that an object of ctypes holds: what CPython would crash on is a ValueError.
package pyctypes
