package aten

import (
	"whittle/kernels/native"
	"whittle/kernels/tensor"
)

// comparison is the SIMD form of a comparison.
var comparison = map[string]native.Op{"eq": native.Eq, "ne": native.Ne, "lt": native.Lt, "le": native.Le, "gt": native.Gt, "ge": native.Ge}

// logicals are the SIMD forms of logical operators on bools, and on numbers.
var logicals = map[string][2]native.Op{"logical_and": {native.And, native.Both}, "logical_or": {native.Or, native.Either}, "logical_xor": {native.Xor, native.OneOf}}

// compare is the block form of a comparison, written out per operator because a call per
// element would cost more than the comparison.
func compare[O float64 | int64 | uint8, T float64 | int64](op string) func(o []O, in [][]T) {
	loop := map[string]func(o []O, a, b []T){
		"eq": func(o []O, a, b []T) {
			for i := range o {
				var x O
				if a[i] == b[i] {
					x = 1
				}
				o[i] = x
			}
		},
		"ne": func(o []O, a, b []T) {
			for i := range o {
				var x O
				if a[i] != b[i] {
					x = 1
				}
				o[i] = x
			}
		},
		"lt": func(o []O, a, b []T) {
			for i := range o {
				var x O
				if a[i] < b[i] {
					x = 1
				}
				o[i] = x
			}
		},
		"le": func(o []O, a, b []T) {
			for i := range o {
				var x O
				if a[i] <= b[i] {
					x = 1
				}
				o[i] = x
			}
		},
		"gt": func(o []O, a, b []T) {
			for i := range o {
				var x O
				if a[i] > b[i] {
					x = 1
				}
				o[i] = x
			}
		},
		"ge": func(o []O, a, b []T) {
			for i := range o {
				var x O
				if a[i] >= b[i] {
					x = 1
				}
				o[i] = x
			}
		},
	}[op]
	return func(o []O, in [][]T) { loop(o, in[0][:len(o)], in[1][:len(o)]) }
}

// choose is the block form of where.
func choose[T float64 | int64 | complex128](o []T, in [][]T) {
	c, a, b := in[0][:len(o)], in[1][:len(o)], in[2][:len(o)]
	for i := range o {
		o[i] = b[i]
		if c[i] != 0 {
			o[i] = a[i]
		}
	}
}

// selecting is where: of each position the second operand, where the first is not 0, or the third.
var selecting = kern{F: choose[float64], I: choose[int64], C: choose[complex128], N: native.Selection}

// block32 runs a SIMD kernel over operands of any stride, and of the 16-bit types, by
// gathering blocks to float32. It reports whether it could.
func block32(l *tensor.Loop, in []int64, ts []*tensor.Tensor, k kern) bool {
	for _, t := range ts {
		switch t.DType {
		case tensor.Float32, tensor.BFloat16, tensor.Float16:
		default:
			return false
		}
	}
	op, points := k.N, k.N >= native.Frac && k.N <= native.BCELogitsWeighed
	if len(ts) > 3 && !points || l.Shape[len(l.Shape)-1] < 8 {
		return false
	}
	var bufs [4][]float32
	for i := range ts {
		bufs[i] = make([]float32, min(block, l.Shape[len(l.Shape)-1]))
	}
	l.Rows(func(off []int64, n int64) {
		for p := int64(0); p < n; p += block {
			m := min(block, n-p)
			for i := 1; i < len(ts); i++ {
				if at := off[i] + p*in[i]; ts[i].DType == tensor.BFloat16 && in[i] == 1 {
					native.FromBFloat16(bufs[i][:m], tensor.Whole[uint16](ts[i])[at:at+m])
				} else {
					tensor.Load32(ts[i], at, in[i], bufs[i][:m])
				}
			}
			switch {
			case points:
				views := [][]float32{bufs[1], bufs[2], bufs[3]}[:len(ts)-1]
				for i := range views {
					views[i] = views[i][:m]
				}
				native.Point(op, bufs[0][:m], views, k.num)
			case len(ts) == 2:
				native.Unary32(op, bufs[0][:m], bufs[1][:m])
			default:
				native.Binary32(op, bufs[0][:m], bufs[1][:m], bufs[2][:m])
			}
			if at := off[0] + p*in[0]; ts[0].DType == tensor.BFloat16 && in[0] == 1 {
				native.ToBFloat16(tensor.Whole[uint16](ts[0])[at:at+m], bufs[0][:m])
			} else {
				tensor.Store32(ts[0], at, in[0], bufs[0][:m])
			}
		}
	})
	return true
}
