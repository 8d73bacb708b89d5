// Package ir is the loop IR: buffers, index expressions, scalar expressions and
// loops that store them.
//
// A Loops says: for every point of Ranges (and, when it reduces, of Reduction) evaluate Value and store it into Out.
// It prints as text for debug dumps. Mirrors torch/_inductor/ir.py (Pointwise, Reduction).
package ir
