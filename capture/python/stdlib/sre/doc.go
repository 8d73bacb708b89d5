// Package sre is the module _sre: the engine that runs what CPython's re/_compiler.py makes of a regular expression.
//
// Module gives the module. A code is checked once (newProgram) and then run by a machine, which works on bytes for ASCII and bytes-like
// texts and on runes for all others. The machine has a stack of its own for the places to come back to: neither long texts nor nested
// repeats use the Go stack, and memory grows with the text alone.
//
// It does not read regular expressions: re does. The locale of re.LOCALE is that of C.
package sre
