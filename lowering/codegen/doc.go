// Package codegen writes C++ for groups of loops.
//
// One group becomes one function over raw buffer pointers; the table of scalar operators is the only place that knows C++ spellings. Inner loops
// are written so that a compiler makes vectors of them: functions of floats without a call (see kernels/native/scalar.h), reductions by lanes,
// and a second, careful loop where an operand is out of a vector's reach. Results that nothing of the program reads go past the caches. Output is deterministic: equal loops give equal text, so that
// compiled kernels can be cached by content. Mirrors torch/_inductor/codegen/cpp.py.
package codegen
