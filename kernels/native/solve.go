package native

/*
#include "kernels.h"
static void lu64(const whittle_kernels *t, double *a, int64_t n, int64_t m, int64_t *piv) { t->lu64(a, n, m, piv); }
static int64_t cholesky64(const whittle_kernels *t, double *a, int64_t n, int upper, double *column) { return t->cholesky64(a, n, upper, column); }
static void triangle64(const whittle_kernels *t, double *a, double *b, int64_t n, int64_t k, int upper, int unit, int trans) { t->triangle64(a, b, n, k, upper, unit, trans); }
static void outer64(const whittle_kernels *t, int64_t m, int64_t n, int64_t longer, double alpha, double *x, double *y, double *a, int64_t lda) { t->outer64(m, n, longer, alpha, x, y, a, lda); }
*/
import "C"

import "whittle/kernels/parallel"

// Factors and solutions of matrices that stay in the cache, see solve.h.

// LU overwrites a (n x m) with its factors by partial pivoting, and piv, of min(n, m), with the rows that were swapped, from 1 on.
func LU(a []float64, n, m int, piv []int64) {
	if n > 0 && m > 0 {
		_, _ = a[n*m-1], piv[min(n, m)-1]
		C.lu64(table, p64(a), C.int64_t(n), C.int64_t(m), pi64(piv))
	}
}

// Cholesky overwrites the upper or lower triangle of a (n x n) with the Cholesky factor of the matrix that it is of. The result is the order of the
// first leading minor that is not positive definite, 0 for none; a is not factored from there on.
func Cholesky(a []float64, n int, upper bool) int {
	if n == 0 {
		return 0
	}
	_ = a[n*n-1]
	return int(C.cholesky64(table, p64(a), C.int64_t(n), truth(upper), p64(make([]float64, n))))
}

// SolveTriangle solves A X = B in the place of b (n x k), where A is the upper or lower triangle of a (n x n), turned if trans, with ones on its diagonal if unit.
func SolveTriangle(a, b []float64, n, k int, upper, unit, trans bool) {
	if n > 0 && k > 0 {
		_, _ = a[n*n-1], b[n*k-1]
		C.triangle64(table, p64(a), p64(b), C.int64_t(n), C.int64_t(k), truth(upper), truth(unit), truth(trans))
	}
}

// AddOuter adds alpha*x[i]*y[j] to element (i, j) of a (m x n), whose rows are lda apart.
func AddOuter(m, n int, alpha float64, x, y, a []float64, lda int) {
	if m == 0 || n == 0 {
		return
	}
	_, _, _ = x[m-1], y[n-1], a[(m-1)*lda+n-1]
	parallel.For(m, 4*grain/n+1, func(lo, hi int) {
		C.outer64(table, C.int64_t(hi-lo), C.int64_t(n), 0, C.double(alpha), p64(x[lo:]), p64(y), p64(a[lo*lda:]), C.int64_t(lda))
	})
}

// AddOuterLower is AddOuter for the lower triangle of a (n x n) alone.
func AddOuterLower(n int, alpha float64, x, y, a []float64, lda int) {
	if n == 0 {
		return
	}
	_, _, _ = x[n-1], y[n-1], a[(n-1)*lda+n-1]
	parallel.For(n, 8*grain/n+1, func(lo, hi int) {
		C.outer64(table, C.int64_t(hi-lo), C.int64_t(lo+1), 1, C.double(alpha), p64(x[lo:]), p64(y), p64(a[lo*lda:]), C.int64_t(lda))
	})
}

func truth(b bool) C.int {
	if b {
		return 1
	}
	return 0
}
