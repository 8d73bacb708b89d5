// Package pyast is Python's module _ast: the classes of syntax trees, and the way between them and package syntax.
//
// The classes follow the abstract grammar that the documentation of Python's ast module prints (https://docs.python.org/3.11/library/ast.html), one
// row of a table each. Both ways go by the names of the fields, so that a node needs no code of its own unless the two sides hold the same
// thing differently: operators, contexts, constants.
package pyast
