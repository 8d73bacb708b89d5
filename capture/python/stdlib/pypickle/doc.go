// Package pypickle is Python's module _pickle: objects to streams of bytes and back, in the protocols 0 to 5.
//
// module.go has the module, its errors and functions; opcodes.go the instructions of a pickle. A pickler (picklerclass.go) saves values (save.go,
// containers.go), classes and functions by name (global.go) and all else as __reduce__ says (reduce.go), into frames (frames.go). An unpickler
// (unpicklerclass.go) reads its source (source.go) and runs the instructions, a table of functions (load*.go). buffer.go has PickleBuffer.
package pypickle
