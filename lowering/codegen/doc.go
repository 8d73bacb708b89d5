// Package codegen writes C++ for groups of loops.
//
// One group becomes one function over raw buffer pointers; the table of scalar
// operators is the only place that knows C++ spellings. Output is deterministic: equal loops give
// equal text, so that compiled kernels can be cached by content. Mirrors torch/_inductor/codegen/cpp.py.
package codegen
