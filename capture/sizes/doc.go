// Package sizes follows symbolic sizes through operators.
//
// Fake tensors have plain sizes: those of the inputs seen while tracing. Beside them a [Tracker] keeps what each size is as an
// expression over symbols. After an operator has computed its results' plain sizes, its rule in package relations says what they are
// as expressions, asking the environment what it has to know (are these two sizes equal?), which makes guards.
//
// An operator without a rule is asked for its results at other sizes, and the expressions among the inputs that
// explain all answers are taken. What cannot be explained is fixed to the value seen, with a guard, so that a
// trace is never used for sizes for which it would be wrong.
package sizes
