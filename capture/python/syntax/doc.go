// Package syntax turns Python source into an abstract syntax tree.
//
// Parse takes a file's text and gives a File whose nodes carry CPython's names and positions, or an
// *Error that says what CPython 3.11 says of a wrong file: message, line, column, and the text of the line.
// What is Python, and what is wrong with a text that is not, is decided by python.peg: the language's own kind of
// grammar, with the rules that name mistakes, run over tokens read by CPython's rules (scan.go, peg.go). The tree of
// a right file then comes from the tree-sitter grammar, which knows no mistakes but is fast.
//
// It does not look names up, judge statements by where they stand, or generate code: see package code.
package syntax
