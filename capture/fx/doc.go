// Package fx is the graph IR: nodes, their Python text, and an interpreter.
//
// A Graph prints as the Python that PyTorch prints, and that text parses back to
// the same graph. Lint checks the invariants, Hash identifies a graph regardless of names and of
// the order of independent nodes. Facts says what a call does besides computing its results: for
// operators by their rows in package aten, for functions and methods of Python by a table here. Mirrors torch.fx.
//
// For whoever works on the package: a graph is straight-line code, each node once assigned and defined before it is used. Everything else
// follows from its text. The printer (print.go, repr.go) decides what a node looks like, and the parser (source.go, module.go, parse.go,
// expr.go, literal.go) reads exactly that, besides forms that people write and other versions of PyTorch print; the tables of operators are
// shared, and a fuzz test holds the two inverse. Names (names.go) are given as torch.fx gives them, since graphs of PyTorch are compared by
// text. What a graph needs from its module, tensors and submodules, is in GraphModule; its __init__ is kept line by line, so that what was read
// is printed again.
//
// A graph has one owner, who may change it; see Graph. Functions that take a graph and give another copy first (Clone, Split), and methods that
// change one say so. Val and Meta of nodes are notes of whoever traced or propagated: printing, parsing and comparing do without, but for the
// shapes of placeholders, which the hash counts.
package fx
