// Package pyio is Python's module _io, on which CPython's io.py stands: files, buffers, text and files in memory.
//
// A text file is made of three objects, as in CPython: a TextIOWrapper, which encodes, decodes and knows of newlines, over a BufferedReader,
// BufferedWriter or BufferedRandom, over a raw object, mostly a FileIO. Any of them may be of a class written in Python; where they are not,
// no method is called by name and bytes go straight from one to the next.
//
// The standard streams are text files over raw objects that read and write the interpreter's own streams (vm.Streams). Their buffers hold
// nothing back: vm.Streams has the buffer, which print fills directly.
//
// Nobody counts references: a file that is not closed is flushed when the program ends, when garbage is collected, or when the same file is
// opened for reading and nothing refers to it any more.
package pyio
