// Package syntax turns Python source into an abstract syntax tree.
//
// Parse takes a file's text and gives a File whose nodes carry CPython's names and positions, or an
// *Error that says what CPython 3.11 says of a wrong file: message, line, column, and the text of the line.
// The concrete tree comes from the tree-sitter grammar; tree-sitter accepts more than Python does, so the
// conversion checks what CPython's parser, tokenizer and symbol table would refuse, and a scanner of our own
// finds lexical mistakes (open brackets, open strings, indentation) and names them.
//
// It does not resolve names or generate code: see package code. Async code is refused.
package syntax
