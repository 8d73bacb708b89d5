// Package wtf8 is the text of Python's strings: UTF-8 that may also hold lone surrogates, each as the three bytes that UTF-8 would give it.
//
// The functions are those of unicode/utf8 and of Go's own conversions, which turn a surrogate into U+FFFD.
package wtf8
