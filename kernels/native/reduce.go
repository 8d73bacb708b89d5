package native

// The kernels of reduce.h: reductions and running ones of rows and of columns, in float64, and the transposition of matrices.

/*
#include "kernels.h"

#define BOTH(T, N) \
  static void rows##N(const whittle_kernels *t, int op, double *o, T *a, double *c, int64_t rows, int64_t cols, int64_t stride) { t->reduce_rows##N(op, o, a, c, rows, cols, stride); } \
  static void cols##N(const whittle_kernels *t, int op, double *o, T *a, double *c, int64_t rows, int64_t cols, int64_t stride) { t->reduce_cols##N(op, o, a, c, rows, cols, stride); } \
  static void dotr##N(const whittle_kernels *t, double *o, T *a, T *v, int64_t rows, int64_t cols, int64_t stride) { t->dot_rows##N(o, a, v, rows, cols, stride); } \
  static void dotc##N(const whittle_kernels *t, double *o, T *a, T *v, int64_t rows, int64_t cols, int64_t stride) { t->dot_cols##N(o, a, v, rows, cols, stride); } \
  static void args##N(const whittle_kernels *t, int64_t *o, T *m, T *a, int64_t rows, int64_t cols, int64_t stride, int least) { t->arg_cols##N(o, m, a, rows, cols, stride, least); } \
  static void scanc##N(const whittle_kernels *t, int op, T *o, T *a, int64_t rows, int64_t cols, int64_t width) { t->scan_cols##N(op, o, a, rows, cols, width); } \
  static void scanr##N(const whittle_kernels *t, int op, T *o, T *a, int64_t rows, int64_t cols) { t->scan_rows##N(op, o, a, rows, cols); } \
  static void softc##N(const whittle_kernels *t, T *o, T *a, int64_t rows, int64_t cols, int64_t width, int l) { t->soft_cols##N(o, a, rows, cols, width, l); } \
  static void softr##N(const whittle_kernels *t, T *o, T *a, int64_t rows, int64_t cols, int l) { t->soft_rows##N(o, a, rows, cols, l); } \
  static void softb##N(const whittle_kernels *t, T *o, T *g, T *y, int64_t rows, int64_t cols, int64_t width, int l) { t->soft_back_cols##N(o, g, y, rows, cols, width, l); } \
  static void apart##N(const whittle_kernels *t, int kind, double *o, T *x, T *a, int64_t rows, int64_t cols, int64_t stride) { t->distances##N(kind, o, x, a, rows, cols, stride); } \
  static void turn##N(const whittle_kernels *t, T *d, int64_t ds, T *s, int64_t ss, int64_t w, int64_t k) { t->turn##N(d, ds, s, ss, w, k); }
BOTH(float, 32)
BOTH(double, 64)
*/
import "C"

import (
	"unsafe"

	"whittle/kernels/parallel"
)

// A Reduction names what is gathered of a row or a column.
type Reduction int

// Reductions. Greatest, Least, and those of sizes without signs, Largest and Smallest, give NaN where there is one. Deviations are the squared distances
// from a number, Exps the powers of e of the distances, Powers the powers of the sizes, to the number.
const (
	Sum Reduction = 1 + iota
	NanSum
	Prod
	Squares
	Sizes
	Nonzeros
	Greatest
	Least
	Largest
	Smallest
	Deviations
	Exps
	Powers
)

// A Difference names what is gathered of the differences of two rows: how many are not 0, the sum of their sizes, or of their squares, and the greatest size,
// which is NaN where there is one.
type Difference int

// Differences.
const (
	ApartNonzeros Difference = iota
	ApartSizes
	ApartSquares
	ApartGreatest
)

// Differences gathers what x differs by from each of len(out) rows of a, stride apart, some elements at a time in T and those in float64. It uses one thread.
func Differences[T float32 | float64](kind Difference, out []float64, x, a []T, stride int) {
	if len(out) == 0 {
		return
	}
	if len(x) == 0 {
		clear(out)
		return
	}
	_ = a[(len(out)-1)*stride+len(x)-1]
	n, k, st := C.int64_t(len(out)), C.int64_t(len(x)), C.int64_t(stride)
	switch a := any(a).(type) {
	case []float32:
		C.apart32(table, C.int(kind), pf64(out), p32(any(x).([]float32)), p32(a), n, k, st)
	case []float64:
		C.apart64(table, C.int(kind), pf64(out), p64(any(x).([]float64)), p64(a), n, k, st)
	}
}

// SoftmaxCols computes softmax, or its logarithm, of each column of a contiguous matrix of so many columns; sums are float64. out and a are apart.
func SoftmaxCols[T float32 | float64](out, a []T, cols int, logarithm bool) {
	soft(len(out), cols, func(lo, hi, n int) {
		switch a := any(a[lo:]).(type) {
		case []float32:
			C.softc32(table, p32(any(out[lo:]).([]float32)), p32(a), C.int64_t(n), C.int64_t(cols), C.int64_t(hi-lo), flag(logarithm))
		case []float64:
			C.softc64(table, p64(any(out[lo:]).([]float64)), p64(a), C.int64_t(n), C.int64_t(cols), C.int64_t(hi-lo), flag(logarithm))
		}
	})
}

// SoftmaxBackCols is the gradient of SoftmaxCols: of that of its result, g, and the result, y. out is apart from both.
func SoftmaxBackCols[T float32 | float64](out, g, y []T, cols int, logarithm bool) {
	soft(len(out), cols, func(lo, hi, n int) {
		switch g := any(g[lo:]).(type) {
		case []float32:
			C.softb32(table, p32(any(out[lo:]).([]float32)), p32(g), p32(any(y[lo:]).([]float32)), C.int64_t(n), C.int64_t(cols), C.int64_t(hi-lo), flag(logarithm))
		case []float64:
			C.softb64(table, p64(any(out[lo:]).([]float64)), p64(g), p64(any(y[lo:]).([]float64)), C.int64_t(n), C.int64_t(cols), C.int64_t(hi-lo), flag(logarithm))
		}
	})
}

// soft calls f for columns lo to hi-1 of a matrix of size elements, which has n rows, several at once.
func soft(size, cols int, f func(lo, hi, n int)) {
	if size == 0 || cols == 0 {
		return
	}
	n := size / cols
	parallel.For((cols+63)/64, grain/(8*64*n+1)+1, func(lo, hi int) { f(lo*64, min(hi*64, cols), n) })
}

// SoftmaxRows computes softmax, or its logarithm, of each contiguous row of cols elements, in float64. out and a are apart.
func SoftmaxRows[T float32 | float64](out, a []T, cols int, logarithm bool) {
	if cols == 0 || len(out) == 0 {
		return
	}
	rows(len(out)/cols, cols, func(lo, hi int) {
		switch a := any(a[lo*cols:]).(type) {
		case []float32:
			C.softr32(table, p32(any(out[lo*cols:]).([]float32)), p32(a), C.int64_t(hi-lo), C.int64_t(cols), flag(logarithm))
		case []float64:
			C.softr64(table, p64(any(out[lo*cols:]).([]float64)), p64(a), C.int64_t(hi-lo), C.int64_t(cols), flag(logarithm))
		}
	})
}

func flag(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

func pf64(s []float64) *C.double { return (*C.double)(unsafe.Pointer(unsafe.SliceData(s))) }

// part is how many elements of a long row are gathered by one thread at a time: what they give for it is gathered again.
const part = 1 << 15

// Joined is what gathers the results of parts.
func (op Reduction) Joined() Reduction {
	switch op {
	case Prod, Greatest, Least:
		return op
	case Largest:
		return Greatest
	case Smallest:
		return Least
	}
	return Sum
}

// ReduceRows gathers each of len(out) rows of cols elements, stride apart. center has a number for each row, for those reductions that take one; else it
// is nil. No result depends on the number of threads.
func ReduceRows[T float32 | float64](op Reduction, out []float64, a []T, center []float64, cols, stride int) {
	if len(out) == 0 {
		return
	}
	if cols == 0 {
		ReduceRowsGo(op, out, a, center, cols, stride)
		return
	}
	_ = a[(len(out)-1)*stride+cols-1]
	if cols >= 4*part && len(out) < 64 {
		parts := make([]float64, (cols+part-1)/part)
		for r := range out {
			row := a[r*stride : r*stride+cols]
			parallel.For(len(parts), 1, func(lo, hi int) {
				for p := lo; p < hi; p++ {
					piece := row[p*part : min(cols, (p+1)*part)]
					reduceRows(op, parts[p:p+1], piece, from(center, r), len(piece), len(piece))
				}
			})
			reduceRows(op.Joined(), out[r:r+1], parts, nil, len(parts), len(parts))
		}
		return
	}
	rows(len(out), cols, func(lo, hi int) { reduceRows(op, out[lo:hi], a[lo*stride:], from(center, lo), cols, stride) })
}

// from is s from i on, or nil.
func from(s []float64, i int) []float64 {
	if s == nil {
		return nil
	}
	return s[i:]
}

func reduceRows[T float32 | float64](op Reduction, out []float64, a []T, center []float64, cols, stride int) {
	n, c, st := C.int64_t(len(out)), C.int64_t(cols), C.int64_t(stride)
	switch a := any(a).(type) {
	case []float32:
		C.rows32(table, C.int(op), pf64(out), p32(a), pf64(center), n, c, st)
	case []float64:
		C.rows64(table, C.int(op), pf64(out), p64(a), pf64(center), n, c, st)
	}
}

// ReduceCols gathers each of len(out) columns of rows elements; rows begin stride elements apart. center has a number for each column, or is nil.
func ReduceCols[T float32 | float64](op Reduction, out []float64, a []T, center []float64, rows, stride int) {
	if len(out) == 0 {
		return
	}
	if rows == 0 {
		ReduceColsGo(op, out, a, center, rows, stride)
		return
	}
	_ = a[(rows-1)*stride+len(out)-1]
	parallel.For((len(out)+63)/64, grain/(64*rows+1)+1, func(lo, hi int) {
		lo, hi = lo*64, min(hi*64, len(out))
		n, r, st := C.int64_t(hi-lo), C.int64_t(rows), C.int64_t(stride)
		switch a := any(a[lo:]).(type) {
		case []float32:
			C.cols32(table, C.int(op), pf64(out[lo:hi]), p32(a), pf64(from(center, lo)), r, n, st)
		case []float64:
			C.cols64(table, C.int(op), pf64(out[lo:hi]), p64(a), pf64(from(center, lo)), r, n, st)
		}
	})
}

// DotRows sums the products of each of len(out) rows, stride apart, with v, some at a time in T and those in float64. No result depends on the number of threads.
func DotRows[T float32 | float64](out []float64, a, v []T, stride int) {
	if len(out) == 0 {
		return
	}
	if len(v) == 0 {
		clear(out)
		return
	}
	_ = a[(len(out)-1)*stride+len(v)-1]
	dot := func(out []float64, a, v []T) {
		n, k, st := C.int64_t(len(out)), C.int64_t(len(v)), C.int64_t(stride)
		switch a := any(a).(type) {
		case []float32:
			C.dotr32(table, pf64(out), p32(a), p32(any(v).([]float32)), n, k, st)
		case []float64:
			C.dotr64(table, pf64(out), p64(a), p64(any(v).([]float64)), n, k, st)
		}
	}
	if len(v) < 4*part || len(out) >= 64 {
		rows(len(out), len(v), func(lo, hi int) { dot(out[lo:hi], a[lo*stride:], v) })
		return
	}
	parts := make([]float64, (len(v)+part-1)/part)
	for r := range out {
		parallel.For(len(parts), 1, func(lo, hi int) {
			for p := lo; p < hi; p++ {
				dot(parts[p:p+1], a[r*stride+p*part:], v[p*part:min(len(v), (p+1)*part)])
			}
		})
		reduceRows(Sum, out[r:r+1], parts, nil, len(parts), len(parts))
	}
}

// DotCols sums the products of each of len(out) columns of a matrix, whose len(v) rows begin stride elements apart, with v.
func DotCols[T float32 | float64](out []float64, a, v []T, stride int) {
	if len(out) == 0 {
		return
	}
	if len(v) == 0 {
		clear(out)
		return
	}
	_ = a[(len(v)-1)*stride+len(out)-1]
	parallel.For((len(out)+63)/64, grain/(64*len(v)+1)+1, func(lo, hi int) {
		lo, hi = lo*64, min(hi*64, len(out))
		n, k, st := C.int64_t(hi-lo), C.int64_t(len(v)), C.int64_t(stride)
		switch a := any(a[lo:]).(type) {
		case []float32:
			C.dotc32(table, pf64(out[lo:hi]), p32(a), p32(any(v).([]float32)), k, n, st)
		case []float64:
			C.dotc64(table, pf64(out[lo:hi]), p64(a), p64(any(v).([]float64)), k, n, st)
		}
	})
}

// ArgCols finds in each of len(out) columns of rows elements, at least one, the row of the first NaN, else of the first greatest, or smallest, element, and
// that element, for best.
func ArgCols[T float32 | float64](out []int64, best, a []T, rows, stride int, least bool) {
	if len(out) == 0 {
		return
	}
	_, _ = a[(rows-1)*stride+len(out)-1], best[len(out)-1]
	l := C.int(0)
	if least {
		l = 1
	}
	parallel.For((len(out)+63)/64, grain/(64*rows+1)+1, func(lo, hi int) {
		lo, hi = lo*64, min(hi*64, len(out))
		n, r, st, o := C.int64_t(hi-lo), C.int64_t(rows), C.int64_t(stride), (*C.int64_t)(unsafe.SliceData(out[lo:]))
		switch a := any(a[lo:]).(type) {
		case []float32:
			C.args32(table, o, p32(any(best[lo:]).([]float32)), p32(a), r, n, st, l)
		case []float64:
			C.args64(table, o, p64(any(best[lo:]).([]float64)), p64(a), r, n, st, l)
		}
	})
}

// A Running is what Scan kernels run along lines, as reduce.h has them, in its order.
type Running int

// Running sums, products, and logarithms of sums of powers of e.
const (
	RunningSum Running = iota
	RunningProduct
	RunningLogSum
)

// ScanCols computes what is run along each, in float64, of cols columns of a contiguous matrix of so many columns.
func ScanCols[T float32 | float64](op Running, out, a []T, cols int) {
	if len(out) == 0 || cols == 0 {
		return
	}
	_ = a[len(out)-1]
	p, n := C.int(op), len(out)/cols
	parallel.For((cols+63)/64, grain/(64*n+1)+1, func(lo, hi int) {
		lo, hi = lo*64, min(hi*64, cols)
		switch a := any(a[lo:]).(type) {
		case []float32:
			C.scanc32(table, p, p32(any(out[lo:]).([]float32)), p32(a), C.int64_t(n), C.int64_t(cols), C.int64_t(hi-lo))
		case []float64:
			C.scanc64(table, p, p64(any(out[lo:]).([]float64)), p64(a), C.int64_t(n), C.int64_t(cols), C.int64_t(hi-lo))
		}
	})
}

// ScanRows computes them of each contiguous row of cols elements.
func ScanRows[T float32 | float64](op Running, out, a []T, cols int) {
	if len(out) == 0 || cols == 0 {
		return
	}
	_ = a[len(out)-1]
	p := C.int(op)
	rows(len(out)/cols, cols, func(lo, hi int) {
		switch a := any(a[lo*cols:]).(type) {
		case []float32:
			C.scanr32(table, p, p32(any(out[lo*cols:]).([]float32)), p32(a), C.int64_t(hi-lo), C.int64_t(cols))
		case []float64:
			C.scanr64(table, p, p64(any(out[lo*cols:]).([]float64)), p64(a), C.int64_t(hi-lo), C.int64_t(cols))
		}
	})
}

// Turn transposes a matrix of rows rows of cols elements, stride apart: out[j*step+i] = a[i*stride+j]. Elements are moved as they are. It uses one thread.
func Turn[T uint32 | uint64 | float32 | float64](out []T, step int, a []T, stride, rows, cols int) {
	if rows == 0 || cols == 0 {
		return
	}
	_, _ = out[(cols-1)*step+rows-1], a[(rows-1)*stride+cols-1]
	d, s := unsafe.Pointer(unsafe.SliceData(out)), unsafe.Pointer(unsafe.SliceData(a))
	if unsafe.Sizeof(a[0]) == 4 {
		C.turn32(table, (*C.float)(d), C.int64_t(step), (*C.float)(s), C.int64_t(stride), C.int64_t(rows), C.int64_t(cols))
	} else {
		C.turn64(table, (*C.double)(d), C.int64_t(step), (*C.double)(s), C.int64_t(stride), C.int64_t(rows), C.int64_t(cols))
	}
}
