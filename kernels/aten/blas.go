package aten

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	blasgo "gonum.org/v1/gonum/blas/gonum"

	"whittle/kernels/native"
)

// fastBLAS is gonum's BLAS with the products of large matrices, and what can be made of them, by SIMD kernels: all of LAPACK that works in blocks is faster for it. Small
// ones stay with gonum, as a call into C costs more than they do.
type fastBLAS struct{ blasgo.Implementation }

// smallForBLAS is how many multiplications a product has that gonum is left to do.
const smallForBLAS = 16 * 16 * 16

func init() { blas64.Use(fastBLAS{}) }

func (b fastBLAS) Dgemm(ta, tb blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, x []float64, ldx int, beta float64, c []float64, ldc int) {
	if m*n*k < smallForBLAS || alpha == 0 {
		b.Implementation.Dgemm(ta, tb, m, n, k, alpha, a, lda, x, ldx, beta, c, ldc)
		return
	}
	at := func(a []float64, ld int, t blas.Transpose) native.Matrix[float64] {
		if t != blas.NoTrans {
			return native.Matrix[float64]{Data: a, RS: 1, CS: ld}
		}
		return native.Matrix[float64]{Data: a, RS: ld, CS: 1}
	}
	native.Gemm64(m, n, k, alpha, at(a, lda, ta), at(x, ldx, tb), beta, at(c, ldc, blas.NoTrans))
}

// smallForRows is how many elements a matrix has whose product with a vector gonum is left to do.
const smallForRows = 48 * 48

// inRow is n elements of x that lie inc apart, as one slice.
func inRow(x []float64, n, inc int) []float64 {
	if inc == 1 {
		return x[:n]
	}
	row := make([]float64, n)
	for i := range row {
		row[i] = x[i*inc]
	}
	return row
}

func (b fastBLAS) Dgemv(t blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	if m*n < smallForRows || incX < 1 || incY < 1 {
		b.Implementation.Dgemv(t, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	var sums []float64
	if t == blas.NoTrans {
		sums = make([]float64, m)
		native.DotRows(sums, a, inRow(x, n, incX), lda)
	} else {
		sums = make([]float64, n)
		native.DotCols(sums, a, inRow(x, m, incX), lda)
	}
	for i, s := range sums {
		if beta == 0 {
			y[i*incY] = alpha * s
		} else {
			y[i*incY] = alpha*s + beta*y[i*incY]
		}
	}
}

func (b fastBLAS) Dger(m, n int, alpha float64, x []float64, incX int, y []float64, incY int, a []float64, lda int) {
	if m*n < smallForRows || incX < 1 || incY < 1 {
		b.Implementation.Dger(m, n, alpha, x, incX, y, incY, a, lda)
		return
	}
	native.AddOuter(m, n, alpha, inRow(x, m, incX), inRow(y, n, incY), a, lda)
}

// Dtrsm halves the triangle until it is small: what is between the halves is a product.
func (b fastBLAS) Dtrsm(s blas.Side, ul blas.Uplo, ta blas.Transpose, d blas.Diag, m, n int, alpha float64, a []float64, lda int, x []float64, ldx int) {
	order := m
	if s == blas.Right {
		order = n
	}
	if order <= 32 || m*n*order < 8*smallForBLAS {
		b.Implementation.Dtrsm(s, ul, ta, d, m, n, alpha, a, lda, x, ldx)
		return
	}
	if alpha != 1 {
		for i := range m {
			row := x[i*ldx : i*ldx+n]
			for j := range row {
				row[j] *= alpha
			}
		}
	}
	h := order / 2
	a11, a22 := a, a[h*lda+h:]
	off := a[h:] // the upper right block
	if ul == blas.Lower {
		off = a[h*lda:]
	}
	first := (ul == blas.Lower) == (ta == blas.NoTrans) // the part of the solution that needs no other
	if s == blas.Left {
		x1, x2 := x, x[h*ldx:]
		if first {
			b.Dtrsm(s, ul, ta, d, h, n, 1, a11, lda, x1, ldx)
			b.Dgemm(ta, blas.NoTrans, m-h, n, h, -1, off, lda, x1, ldx, 1, x2, ldx)
			b.Dtrsm(s, ul, ta, d, m-h, n, 1, a22, lda, x2, ldx)
		} else {
			b.Dtrsm(s, ul, ta, d, m-h, n, 1, a22, lda, x2, ldx)
			b.Dgemm(ta, blas.NoTrans, h, n, m-h, -1, off, lda, x2, ldx, 1, x1, ldx)
			b.Dtrsm(s, ul, ta, d, h, n, 1, a11, lda, x1, ldx)
		}
		return
	}
	x1, x2 := x, x[h:]
	if first { // of X A = B with a lower A the last columns of X come first
		b.Dtrsm(s, ul, ta, d, m, n-h, 1, a22, lda, x2, ldx)
		b.Dgemm(blas.NoTrans, ta, m, h, n-h, -1, x2, ldx, off, lda, 1, x1, ldx)
		b.Dtrsm(s, ul, ta, d, m, h, 1, a11, lda, x1, ldx)
	} else {
		b.Dtrsm(s, ul, ta, d, m, h, 1, a11, lda, x1, ldx)
		b.Dgemm(blas.NoTrans, ta, m, n-h, h, -1, x1, ldx, off, lda, 1, x2, ldx)
		b.Dtrsm(s, ul, ta, d, m, n-h, 1, a22, lda, x2, ldx)
	}
}

// Dsyrk halves the triangle likewise: the square between the halves is a product.
func (b fastBLAS) Dsyrk(ul blas.Uplo, ta blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	if n <= 32 || n*n*k < 8*smallForBLAS {
		b.Implementation.Dsyrk(ul, ta, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	h := n / 2
	a1, a2, tb := a, a[h*lda:], blas.Trans
	if ta != blas.NoTrans {
		a2, tb = a[h:], blas.NoTrans
	}
	b.Dsyrk(ul, ta, h, k, alpha, a1, lda, beta, c, ldc)
	b.Dsyrk(ul, ta, n-h, k, alpha, a2, lda, beta, c[h*ldc+h:], ldc)
	if ul == blas.Upper {
		b.Dgemm(ta, tb, h, n-h, k, alpha, a1, lda, a2, lda, beta, c[h:], ldc)
	} else {
		b.Dgemm(ta, tb, n-h, h, k, alpha, a2, lda, a1, lda, beta, c[h*ldc:], ldc)
	}
}
