// Package ucd has what Unicode 14 says of each character, as CPython 3.11 does: categories, numbers, cases, decompositions, normal forms, and
// the names that are not a character's own. For IDNA it also has Unicode 3.2.
//
// tables.bin is written by make.py (go generate) with what a real CPython answers; a test compares the two. It is read when it is first asked
// for something beyond ASCII. Strings are passed as runes, as surrogates are characters here.
package ucd

//go:generate python3.11 make.py
