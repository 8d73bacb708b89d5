// Package pyjson is Python's module _json: what json does for each character of a text.
//
// strings.go reads and writes JSON's strings, scanner.go is the class that reads values, encoder.go the one that writes them.
package pyjson
