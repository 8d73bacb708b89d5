// Package pyexpat is Python's module pyexpat: an XML parser that tells what it meets, as soon as it has come.
//
// parser.go reads documents, dtd.go declarations, entity.go references and attributes; all of them work on UTF-8, which encoding.go makes of what comes. Events go to Python's
// handlers in handlers.go. Parameter entities are declared, but replaced by their text only as far as a handler of external entities asks for
// it: within declarations they are left out.
package pyexpat
