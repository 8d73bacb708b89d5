// Package ir is the loop IR: buffers, index expressions, scalar expressions and
// loops that store them.
//
// A Loops says: for every point of Ranges (and, when it reduces, of Reduction) evaluate Value and store it into Out. Indices are sums of axes
// and of quotients of such sums, which views make; Simplify finds the axes that need none. It prints as text for debug dumps. Mirrors
// torch/_inductor/ir.py (Pointwise, Reduction).
package ir
