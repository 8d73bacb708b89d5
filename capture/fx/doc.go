// Package fx is the graph IR: nodes, their Python text, and an interpreter.
//
// A Graph prints as the Python that PyTorch prints, and that text parses back to
// the same graph. Lint checks the invariants, Hash identifies a graph regardless of names and of
// the order of independent nodes. Facts says what a call does besides computing its results: for
// operators by their rows in package aten, for functions and methods of Python by a table here. Mirrors torch.fx.
package fx
