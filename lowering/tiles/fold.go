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
			f := steps(0, func(a float64, x float32) float64 { return a + float64(x) }, func(v vector) []float64 { return v.d }, func(v vector) []float32 { return v.f }, wrapDouble)
			f.row = func(acc, v vector, n int) { acc.d[0] += sum(v.f, n) }
			return f
		}
		start, step := number[float32](r, float32(math.Inf(-1)), float32(math.Inf(1)))
		return same(start, step, func(v vector) []float32 { return v.f }, func(x []float32) vector { return vector{f: x} })
	case double:
		start, step := number[float64](r, math.Inf(-1), math.Inf(1))
		f := same(start, step, func(v vector) []float64 { return v.d }, wrapDouble)
		if r == "sum" {
			f.row = func(acc, v vector, n int) { acc.d[0] += sum(v.d, n) }
		}
		return f
	case integer:
		lo, hi := limits(d)
		start, step := number[int64](r, lo, hi)
		return same(start, func(a, x int64) int64 { return wrapped(d, step(a, x)) }, func(v vector) []int64 { return v.i }, func(x []int64) vector { return vector{i: x} })
	}
	start, step := uint8(0), func(a, x uint8) uint8 { return a | x }
	if r == "all" {
		start, step = 1, func(a, x uint8) uint8 { return a & x }
	}
	return same(start, step, func(v vector) []uint8 { return v.b }, func(x []uint8) vector { return vector{b: x} })
}

func wrapDouble(x []float64) vector { return vector{d: x} }

// limits are the least and the greatest number of an integer dtype.
func limits(d tensor.DType) (lo, hi int64) {
	if d == tensor.UInt8 {
		return 0, 255
	}
	n := 8*d.Size() - 1
	return -1 << n, 1<<n - 1
}

// number is the neutral element of a reduction of numbers, and its step; NaN wins maxima and minima.
func number[T float32 | float64 | int64](r ir.Reduce, lowest, highest T) (T, func(a, x T) T) {
	switch r {
	case "prod":
		return 1, func(a, x T) T { return a * x }
	case "amax":
		return lowest, func(a, x T) T {
			if a > x || a != a {
				return a
			}
			return x
		}
	case "amin":
		return highest, func(a, x T) T {
			if a < x || a != a {
				return a
			}
			return x
		}
	}
	return 0, func(a, x T) T { return a + x }
}

// sum adds n elements up in eight lanes, which keeps the error of a long row small; x may have one element, for all.
func sum[T float32 | float64](x []T, n int) float64 {
	if len(x) == 1 {
		return float64(n) * float64(x[0])
	}
	var lane [8]float64
	for len(x) >= 8 {
		for k := range lane {
			lane[k] += float64(x[k])
		}
		x = x[8:]
	}
	for k, v := range x {
		lane[k] += float64(v)
	}
	return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]))
}

// same is a fold whose accumulator is of the type of the values.
func same[T any](start T, step func(a, x T) T, of func(vector) []T, make func([]T) vector) fold {
	return steps(start, step, of, of, make)
}

// steps is a fold by a step at a time.
func steps[A, T any](start A, step func(a A, x T) A, acc func(vector) []A, of func(vector) []T, wrap func([]A) vector) fold {
	return fold{
		begin: func(n int) vector {
			x := make([]A, n)
			for k := range x {
				x[k] = start
			}
			return wrap(x)
		},
		row: func(a, v vector, n int) {
			to, x := acc(a), of(v)
			for k := range n {
				to[0] = step(to[0], at(x, k))
			}
		},
		lanes: func(a, v vector) {
			to, x := acc(a), of(v)
			for k := range to {
				to[k] = step(to[k], at(x, k))
			}
		},
	}
}
