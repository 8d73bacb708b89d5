// Package libm calls the C library's mathematical functions: CPython calls them too, so results agree to the last digit, which those of
// Go's package math do not always.
package libm
