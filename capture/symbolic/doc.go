// Package symbolic is the algebra of sizes that capture does not know yet: integer expressions over symbols, what is
// known about them, and the guards under which compiled code stays valid.
//
// An [Expr] is always in canonical form: sums of products with integer coefficients over atoms (symbols, floor divisions,
// remainders, minima and so on), so that equal polynomials are equal texts. It prints as PyTorch prints it,
// and [Parse] reads such a text back; [EvalInt] computes one.
//
// An [Env] owns the symbols of one trace: where each comes from, its value while tracing (its hint), its range. Asking it to
// decide a comparison answers with the hint's truth and remembers the comparison as a guard, unless it is known anyway.
// At the end it lists the relations between the inputs that must hold for the trace to be the right one.
//
// The package knows no tensors and no Python. Mirrors torch/fx/experimental/symbolic_shapes.py.
package symbolic
