package aten

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	lapackgo "gonum.org/v1/gonum/lapack/gonum"

	"whittle/kernels/native"
)

// Factorisations of one dense matrix by gonum's LAPACK, in float64. Matrices are row-major slices.

var lapackImpl lapackgo.Implementation

// withWork runs a LAPACK routine twice: for the size of its workspace, then in earnest.
func withWork(f func(work []float64, lwork int)) {
	q := make([]float64, 1)
	f(q, -1)
	n := max(int(q[0]), 1)
	f(make([]float64, n), n)
}

// luFactor overwrites a (n x m) with its LU factors by partial pivoting and returns the 1-based pivots
// and LAPACK's info (the first zero pivot, 0 for none).
func luFactor(a []float64, n, m int) (piv []int64, info int64) {
	k := min(n, m)
	piv = make([]int64, k)
	if k == 0 {
		return piv, 0
	}
	switch {
	case m <= smallOrder:
		luRows(a, n, m, piv)
	case n*m <= cachedOrder*cachedOrder:
		native.LU(a, n, m, piv)
	default:
		p := make([]int, k)
		lapackImpl.Dgetrf(n, m, a, m, p)
		for i, x := range p {
			piv[i] = int64(x + 1)
		}
	}
	for i := range k {
		if a[i*m+i] == 0 {
			return piv, int64(i + 1)
		}
	}
	return piv, 0
}

const (
	smallOrder  = 12  // the size of a matrix up to which a loop is faster than a kernel
	cachedOrder = 192 // and up to which a kernel that goes by rows is faster than LAPACK's blocks
)

// luRows is luFactor row by row, for a matrix of few columns.
func luRows(a []float64, n, m int, piv []int64) {
	for j := range piv {
		p, big := j, math.Abs(a[j*m+j])
		for i := j + 1; i < n; i++ {
			if x := math.Abs(a[i*m+j]); x > big {
				p, big = i, x
			}
		}
		piv[j] = int64(p + 1)
		top := a[j*m : (j+1)*m]
		if p != j {
			for k, x := range a[p*m : (p+1)*m] {
				a[p*m+k], top[k] = top[k], x
			}
		}
		if top[j] == 0 {
			continue
		}
		for i := j + 1; i < n; i++ {
			row := a[i*m : (i+1)*m]
			f := row[j] / top[j]
			row[j] = f
			for k := j + 1; k < m; k++ {
				row[k] -= f * top[k]
			}
		}
	}
}

// luSolve solves A X = B, or A^T X = B, in place for the factors of luFactor; b is n x k.
func luSolve(lu []float64, piv []int64, b []float64, n, k int, trans bool) {
	if n == 0 || k == 0 {
		return
	}
	if n <= smallOrder && k <= smallOrder {
		luSolveRows(lu, piv, b, n, k, trans)
		return
	}
	if n <= cachedOrder {
		if !trans {
			swapRows(b, piv, k, false)
			native.SolveTriangle(lu, b, n, k, false, true, false)
			native.SolveTriangle(lu, b, n, k, true, false, false)
		} else {
			native.SolveTriangle(lu, b, n, k, true, false, true)
			native.SolveTriangle(lu, b, n, k, false, true, true)
			swapRows(b, piv, k, true)
		}
		return
	}
	p := make([]int, n)
	for i, x := range piv {
		p[i] = int(x - 1)
	}
	t := blas.NoTrans
	if trans {
		t = blas.Trans
	}
	lapackImpl.Dgetrs(t, n, k, lu, n, p, b, k)
}

// swapRows swaps rows of k columns of b as the pivots say, or back.
func swapRows(b []float64, piv []int64, k int, back bool) {
	for i := range piv {
		if back {
			i = len(piv) - 1 - i
		}
		if q := int(piv[i] - 1); q != i {
			x, y := b[i*k:(i+1)*k], b[q*k:(q+1)*k]
			for c := range x {
				x[c], y[c] = y[c], x[c]
			}
		}
	}
}

// luSolveRows is luSolve row by row.
func luSolveRows(lu []float64, piv []int64, b []float64, n, k int, trans bool) {
	less := func(i, j int, f float64) {
		from, to := b[j*k:(j+1)*k], b[i*k:(i+1)*k]
		for c, x := range from {
			to[c] -= f * x
		}
	}
	over := func(i int) {
		d := lu[i*n+i]
		for c := range k {
			b[i*k+c] /= d
		}
	}
	if !trans {
		swapRows(b, piv, k, false)
		for i := range n {
			for j := range i {
				less(i, j, lu[i*n+j])
			}
		}
		for i := n - 1; i >= 0; i-- {
			for j := i + 1; j < n; j++ {
				less(i, j, lu[i*n+j])
			}
			over(i)
		}
		return
	}
	for i := range n {
		for j := range i {
			less(i, j, lu[j*n+i])
		}
		over(i)
	}
	for i := n - 1; i >= 0; i-- {
		for j := i + 1; j < n; j++ {
			less(i, j, lu[j*n+i])
		}
	}
	swapRows(b, piv, k, true)
}

// triSolve solves a triangular system in place; a is n x n, b is n x k.
func triSolve(a, b []float64, n, k int, upper, unit, trans bool) {
	if n == 0 || k == 0 {
		return
	}
	if n <= cachedOrder {
		native.SolveTriangle(a, b, n, k, upper, unit, trans)
		return
	}
	tri := blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: n, Data: a, Stride: n}
	if upper {
		tri.Uplo = blas.Upper
	}
	if unit {
		tri.Diag = blas.Unit
	}
	t := blas.NoTrans
	if trans {
		t = blas.Trans
	}
	blas64.Trsm(blas.Left, t, 1, tri, blas64.General{Rows: n, Cols: k, Data: b, Stride: k})
}

func uploOf(upper bool) blas.Uplo {
	if upper {
		return blas.Upper
	}
	return blas.Lower
}

// cholesky is the Cholesky factor of the symmetric matrix whose given triangle a holds, which it may overwrite, zero elsewhere. info is the order of
// the first leading minor that is not positive definite, 0 for none.
func cholesky(a []float64, n int, upper bool) (l []float64, info int64) {
	l = a
	if n > cachedOrder {
		l = slices.Clone(a)
	}
	switch {
	case n <= cachedOrder:
		info = int64(native.Cholesky(l, n, upper))
	case !lapackImpl.Dpotrf(uploOf(upper), n, l, n):
		copy(l, a)
		if info = int64(native.Cholesky(l, n, upper)); info == 0 { // rounded otherwise, it is at the edge
			info = int64(n)
		}
	}
	keepTriangle(l, n, n, upper)
	return l, info
}

// keepTriangle zeroes what lies outside one triangle of an n x m matrix.
func keepTriangle(a []float64, n, m int, upper bool) {
	for i := range n {
		if row := a[i*m : (i+1)*m]; upper {
			clear(row[:min(i, m)])
		} else {
			clear(row[min(i+1, m):])
		}
	}
}

// qrFactor overwrites a (n x m) with R above the diagonal and the reflectors below it, and returns their factors.
func qrFactor(a []float64, n, m int) (tau []float64) {
	tau = make([]float64, min(n, m))
	if len(tau) > 0 {
		withWork(func(w []float64, l int) { lapackImpl.Dgeqrf(n, m, a, m, tau, w, l) })
	}
	return tau
}

// reflectors multiplies out the first cols columns of the product of k reflectors stored in a (n x m), k <= min(m, cols).
func reflectors(a []float64, n, m int, tau []float64, cols int) []float64 {
	q := make([]float64, n*cols)
	for i := range n {
		copy(q[i*cols:i*cols+min(m, cols)], a[i*m:i*m+min(m, cols)])
	}
	if n > 0 && cols > 0 {
		withWork(func(w []float64, l int) { lapackImpl.Dorgqr(n, cols, len(tau), q, cols, tau, w, l) })
	}
	return q
}

// applyReflectors multiplies c (m x n) in place by the product of reflectors stored in a (r x k), or its transpose.
func applyReflectors(a []float64, k int, tau, c []float64, m, n int, left, trans bool) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	side, t := blas.Right, blas.NoTrans
	if left {
		side = blas.Left
	}
	if trans {
		t = blas.Trans
	}
	withWork(func(w []float64, l int) { lapackImpl.Dormqr(side, t, m, n, k, a, k, tau, c, n, w, l) })
}

// eigSymmetric gives the eigenvalues of a symmetric matrix, ascending, and the eigenvectors in columns if vectors.
// ok is false when the iteration did not converge.
func eigSymmetric(a []float64, n int, upper, vectors bool) (w, v []float64, ok bool) {
	w, v = make([]float64, n), slices.Clone(a)
	if n == 0 {
		return w, v, true
	}
	job := lapack.EVNone
	if vectors {
		job = lapack.EVCompute
	}
	withWork(func(work []float64, l int) { ok = lapackImpl.Dsyev(job, uploOf(upper), n, v, n, w, work, l) })
	return w, v, ok
}

// svd is the singular value decomposition: U (n x k, or n x n if full), S descending, Vh (k x m, or m x m); only S unless vectors.
func svd(a []float64, n, m int, full, vectors bool) (u, s, vh []float64, ok bool) {
	k := min(n, m)
	s = make([]float64, k)
	cu, rv := k, k
	if full {
		cu, rv = n, m
	}
	if vectors {
		u, vh = make([]float64, n*cu), make([]float64, rv*m)
	}
	if k == 0 {
		if vectors {
			copy(u, identity(cu)[:len(u)])
			copy(vh, identity(rv)[:len(vh)])
		}
		return u, s, vh, true
	}
	job := lapack.SVDNone
	if vectors {
		job = lapack.SVDStore
		if full {
			job = lapack.SVDAll
		}
	}
	x := slices.Clone(a)
	withWork(func(w []float64, l int) {
		ok = lapackImpl.Dgesvd(job, job, n, m, x, m, s, u, max(cu, 1), vh, max(m, 1), w, l)
	})
	return u, s, vh, ok
}

// eig gives the eigenvalues of a square matrix and, if vectors, its right eigenvectors in columns, of norm 1.
func eig(a []float64, n int, vectors bool) (w, v []complex128, ok bool) {
	w, v = make([]complex128, n), make([]complex128, n*n)
	if n == 0 {
		return w, v, true
	}
	wr, wi, vr := make([]float64, n), make([]float64, n), make([]float64, n*n)
	job := lapack.RightEVNone
	if vectors {
		job = lapack.RightEVCompute
	}
	x := slices.Clone(a)
	first := 0
	withWork(func(work []float64, l int) {
		first = lapackImpl.Dgeev(lapack.LeftEVNone, job, n, x, n, wr, wi, nil, 1, vr, n, work, l)
	})
	for j := 0; j < n; j++ {
		w[j] = complex(wr[j], wi[j])
	}
	for j := 0; vectors && j < n; j++ {
		if wi[j] == 0 {
			for i := range n {
				v[i*n+j] = complex(vr[i*n+j], 0)
			}
			continue
		}
		// A conjugate pair keeps real and imaginary parts in two columns.
		for i := range n {
			re, im := vr[i*n+j], vr[i*n+j+1]
			v[i*n+j], v[i*n+j+1] = complex(re, im), complex(re, -im)
		}
		j++
	}
	return w, v, first == 0
}

// leastSquares solves min |A X - B| for A (m x n) and B (m x k) of full rank by QR or LQ: X is n x k. rest is the
// m-n rows whose norms are the residuals, when m > n.
func leastSquares(a, b []float64, m, n, k int) (x, rest []float64) {
	rows := max(m, n)
	c := make([]float64, rows*k)
	copy(c, b)
	if m > 0 && n > 0 && k > 0 {
		a = slices.Clone(a)
		withWork(func(w []float64, l int) { lapackImpl.Dgels(blas.NoTrans, m, n, k, a, n, c, k, w, l) })
	}
	return c[:n*k], c[n*k:]
}
