// Package pymmap is Python's module mmap: files and nameless memory as bytes that can be read and written in place.
//
// mapping.go has the memory and who looks at it, methods.go what programs do with it, module.go how it is made. A view of the memory keeps it
// from being closed or resized, as after that the process would fault.
package pymmap
