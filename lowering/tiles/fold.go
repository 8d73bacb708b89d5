package tiles

import (
	"math"

	"whittle/kernels/tensor"
	"whittle/lowering/ir"
)

// A fold is a reduction: begin makes an accumulator, row puts the n elements of a tile to its only number, lanes each to its own. Sums of float32
// are kept in float64.
type fold struct {
	begin func(n int) vector
	row   func(acc, v vector, n int)
	lanes func(acc, v vector)
}

// foldOf is the row of a reduction for values of dtype d.
func foldOf(r ir.Reduce, d tensor.DType) fold {
	switch classOf(d) {
	case single:
		if r == "sum" {
			return fold{
				begin: func(n int) vector { return vector{d: make([]float64, n)} },
				row:   func(acc, v vector, n int) { acc.d[0] += sum(v.f, n) },
				lanes: func(acc, v vector) { add(acc.d, v.f) },
			}
		}
		start := neutral(r, float32(math.Inf(-1)), float32(math.Inf(1)))
		return fold{
			begin: func(n int) vector { return vector{f: repeated(start, n)} },
			row:   func(acc, v vector, n int) { acc.f[0] = all(r, acc.f[0], v.f, n) },
			lanes: func(acc, v vector) { both(r, acc.f, v.f) },
		}
	case double:
		start := neutral(r, math.Inf(-1), math.Inf(1))
		f := fold{
			begin: func(n int) vector { return vector{d: repeated(start, n)} },
			row:   func(acc, v vector, n int) { acc.d[0] = all(r, acc.d[0], v.d, n) },
			lanes: func(acc, v vector) { both(r, acc.d, v.d) },
		}
		if r == "sum" {
			f.row = func(acc, v vector, n int) { acc.d[0] += sum(v.d, n) }
		}
		return f
	case integer:
		lo, hi := limits(d)
		start := neutral(r, lo, hi)
		return fold{ // what wraps around may do so at the end
			begin: func(n int) vector { return vector{i: repeated(start, n)} },
			row:   func(acc, v vector, n int) { acc.i[0] = wrapped(d, all(r, acc.i[0], v.i, n)) },
			lanes: func(acc, v vector) { both(r, acc.i, v.i); wrap(d, acc.i) },
		}
	}
	start := uint8(0)
	if r == "all" {
		start = 1
	}
	return fold{
		begin: func(n int) vector { return vector{b: repeated(start, n)} },
		row:   func(acc, v vector, n int) { acc.b[0] = anyAll(r, acc.b[0], v.b) },
		lanes: func(acc, v vector) {
			for k := range acc.b {
				acc.b[k] = anyAll(r, acc.b[k], v.b[min(k, len(v.b)-1):][:1])
			}
		},
	}
}

// anyAll is any or all of a and the elements of x.
func anyAll(r ir.Reduce, a uint8, x []uint8) uint8 {
	for _, v := range x {
		if r == "all" {
			a &= v
		} else {
			a |= v
		}
	}
	return a
}

// repeated is n times x.
func repeated[T any](x T, n int) []T {
	out := make([]T, n)
	for k := range out {
		out[k] = x
	}
	return out
}

// limits are the least and the greatest number of an integer dtype.
func limits(d tensor.DType) (lo, hi int64) {
	if d == tensor.UInt8 {
		return 0, 255
	}
	n := 8*d.Size() - 1
	return -1 << n, 1<<n - 1
}

// neutral is the neutral element of a reduction of numbers.
func neutral[T float32 | float64 | int64](r ir.Reduce, lowest, highest T) T {
	switch r {
	case "prod":
		return 1
	case "amax":
		return lowest
	case "amin":
		return highest
	}
	return 0
}

// all is what a and n elements come to; x may have one element, for all. NaN wins maxima and minima.
func all[T float32 | float64 | int64](r ir.Reduce, a T, x []T, n int) T {
	if len(x) == 1 {
		x = repeated(x[0], n)
	}
	x = x[:n]
	switch r {
	case "prod":
		for _, v := range x {
			a *= v
		}
	case "amax":
		for _, v := range x {
			if !(a > v) && a == a {
				a = v
			}
		}
	case "amin":
		for _, v := range x {
			if !(a < v) && a == a {
				a = v
			}
		}
	default:
		for _, v := range x {
			a += v
		}
	}
	return a
}

// both puts each element of x, or its only one, to that of a.
func both[T float32 | float64 | int64](r ir.Reduce, a, x []T) {
	if len(x) == 1 {
		x = repeated(x[0], len(a))
	}
	x = x[:len(a)]
	switch r {
	case "prod":
		for k, v := range x {
			a[k] *= v
		}
	case "amax":
		for k, v := range x {
			if b := a[k]; !(b > v) && b == b {
				a[k] = v
			}
		}
	case "amin":
		for k, v := range x {
			if b := a[k]; !(b < v) && b == b {
				a[k] = v
			}
		}
	default:
		for k, v := range x {
			a[k] += v
		}
	}
}

// add puts each element of x, or its only one, to that of a.
func add(a []float64, x []float32) {
	if len(x) == 1 {
		for k := range a {
			a[k] += float64(x[0])
		}
		return
	}
	x = x[:len(a)]
	for k, v := range x {
		a[k] += float64(v)
	}
}

// sum adds n elements up in eight lanes, which keeps the error of a long row small; x may have one element, for all.
func sum[T float32 | float64](x []T, n int) float64 {
	if len(x) == 1 {
		return float64(n) * float64(x[0])
	}
	var a, b, c, d, e, f, g, h float64
	for len(x) >= 8 {
		y := x[:8]
		a, b, c, d = a+float64(y[0]), b+float64(y[1]), c+float64(y[2]), d+float64(y[3])
		e, f, g, h = e+float64(y[4]), f+float64(y[5]), g+float64(y[6]), h+float64(y[7])
		x = x[8:]
	}
	lane := [8]float64{a, b, c, d, e, f, g, h}
	for k, v := range x {
		lane[k] += float64(v)
	}
	return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]))
}
