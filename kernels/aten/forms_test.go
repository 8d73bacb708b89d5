package aten

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"whittle/kernels/tensor"
)

// TestFormsAgree holds operators whose float32 has a form of its own against those of float64, on long rows, transposed operands, and numbers that are none.
func TestFormsAgree(t *testing.T) {
	filled := func(special bool, shape ...int64) *tensor.Tensor {
		x := tensor.Empty(tensor.Float64, shape...)
		xs := make([]float64, x.Numel())
		for i := range xs {
			xs[i] = float64(float32(rand.Float64()*4 - 2))
			if special && i%211 == 7 {
				xs[i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0}[i/211%4]
			}
		}
		x.SetFloats(xs)
		return x
	}
	plain := func(shape ...int64) *tensor.Tensor { return filled(false, shape...) }
	odd := func(shape ...int64) *tensor.Tensor { return filled(true, shape...) }
	turned := func(x *tensor.Tensor) *tensor.Tensor {
		s, st := slices.Clone(x.Shape), slices.Clone(x.Stride)
		n := len(s)
		s[n-1], s[n-2], st[n-1], st[n-2] = s[n-2], s[n-1], st[n-2], st[n-1]
		return tensor.NewView(x, s, st, x.Offset)
	}
	lifted := func(x *tensor.Tensor, by float64) *tensor.Tensor {
		xs := x.Floats()
		for i := range xs {
			xs[i] += by
		}
		x.SetFloats(xs)
		return x
	}
	ints := func(xs ...int64) *tensor.Tensor {
		x := tensor.Empty(tensor.Int64, int64(len(xs)))
		x.SetInts(xs)
		return x
	}
	single := func(v Value) Value {
		x, ok := v.(*tensor.Tensor)
		if !ok || x.DType != tensor.Float64 {
			return v
		}
		y := tensor.EmptyUnset(tensor.Float32, x.Shape, x.Stride)
		tensor.Copy(y, x)
		return y
	}
	inf := math.Inf(1)
	for _, c := range []struct {
		name string
		args []Value
	}{
		{"aten.addmv.default", []Value{plain(70), plain(70, 600), plain(600), 0.5, 2.0}},
		{"aten.addmv.default", []Value{odd(300), turned(plain(600, 300)), plain(600), 0.0, 1.5}},
		{"aten.addmv.default", []Value{plain(), plain(70, 600), plain(600), 1.0, 1.0}},
		{"aten._pdist_forward.default", []Value{plain(30, 700), 1.0}},
		{"aten._pdist_forward.default", []Value{odd(30, 33), inf}},
		{"aten._pdist_forward.default", []Value{plain(9, 8), 0.0}},
		{"aten._pdist_forward.default", []Value{plain(9, 20), 2.0}},
		{"aten._pdist_forward.default", []Value{plain(1, 20), 1.0}},
		{"aten._pdist_forward.default", []Value{plain(0, 20), 1.0}},
		{"aten._cdist_forward.default", []Value{plain(2, 9, 40), turned(plain(40, 11)), 1.0, nil}},
		{"aten._cdist_forward.default", []Value{odd(9, 600), plain(3, 5, 600), inf, nil}},
		{"aten.mvlgamma.default", []Value{lifted(plain(3, 700), 2.5), int64(1)}}, // where it has no poles
		{"aten.mvlgamma.default", []Value{turned(lifted(odd(700, 3), 3.5)), int64(3)}},
		{"aten.linalg_vector_norm.default", []Value{plain(70, 600), 1.5, []Value{int64(1)}, false, nil}},
		{"aten.linalg_vector_norm.default", []Value{odd(70, 600), 3.0, []Value{int64(0)}, true, nil}},
		{"aten.linalg_vector_norm.default", []Value{plain(5, 70, 6), -2.0, []Value{int64(1)}, false, nil}},
		{"aten.linalg_vector_norm.default", []Value{plain(5, 70, 6), 0.5, nil, false, nil}},
		{"aten.renorm.default", []Value{plain(9, 40, 30), 1.0, int64(2), 3.0}},
		{"aten.renorm.default", []Value{turned(odd(40, 30)), 2.0, int64(0), 0.5}},
		{"aten._softmax.default", []Value{odd(600, 40), int64(0), false}},
		{"aten._softmax.default", []Value{turned(plain(600, 40)), int64(0), false}},
		{"aten._log_softmax.default", []Value{odd(5, 33, 3), int64(1), false}},
		{"aten._softmax.default", []Value{plain(5, 33, 20), int64(-2), false}},
		{"aten._softmax.default", []Value{plain(0, 20), int64(0), false}},
		{"aten._softmax_backward_data.default", []Value{plain(5, 33, 20), plain(5, 33, 20), int64(1), nil}},
		{"aten._log_softmax_backward_data.default", []Value{turned(plain(33, 20)), plain(20, 33), int64(0), nil}},
		{"aten.put.default", []Value{turned(plain(20, 9)), ints(3, -1, 3, 179), plain(4), true}},
		{"aten.index_reduce.default", []Value{plain(7, 30), int64(0), ints(1, 1, 5), plain(3, 30), "mean", true}},
		{"aten.index_reduce.default", []Value{turned(plain(30, 7)), int64(0), ints(1, 1, 5, 1), odd(4, 30), "mean", false}},
		{"aten.native_group_norm.default", []Value{plain(3, 6, 50), plain(6), plain(6), int64(3), int64(6), int64(50), int64(2), 1e-5}},
		{"aten.native_batch_norm.default", []Value{plain(5, 6, 50), plain(6), plain(6), nil, nil, true, 0.1, 1e-5}},
		{"aten.native_batch_norm.default", []Value{turned(plain(5, 50, 6)), nil, plain(6), plain(6), nil, true, 0.1, 1e-5}},
		{"aten.native_batch_norm.default", []Value{plain(3000, 6), plain(6), nil, nil, nil, true, 0.1, 1e-5}},
		{"aten.native_batch_norm.default", []Value{plain(2, 3, 9000), plain(3), nil, nil, nil, true, 0.1, 1e-5}},
		{"aten.native_batch_norm.default", []Value{plain(4, 0, 3), nil, nil, nil, nil, true, 0.1, 1e-5}},
		{"aten.gelu_backward.default", []Value{odd(3, 700), odd(3, 700), "none"}},
		{"aten.gelu_backward.default", []Value{turned(plain(700, 3)), plain(3, 700), "tanh"}},
		{"aten.silu_backward.default", []Value{odd(1500), plain(1500)}},
		{"aten.silu_backward.default", []Value{plain(1500), plain()}},
	} {
		args, singles := slices.Clone(c.args), make([]Value, len(c.args))
		for i, a := range args {
			singles[i] = single(a)
			if a == nil && i == 3 && (c.name == "aten._softmax_backward_data.default" || c.name == "aten._log_softmax_backward_data.default") {
				args[i], singles[i] = tensor.Float64, tensor.Float32
			}
		}
		run := func(args []Value) []*tensor.Tensor {
			t.Helper()
			out, err := Eager.Dispatch(Lookup(c.name), args)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			list, ok := out.([]Value)
			if !ok {
				list = []Value{out}
			}
			var ts []*tensor.Tensor
			for _, v := range list {
				ts = append(ts, v.(*tensor.Tensor))
			}
			return ts
		}
		got, want := run(singles), run(args)
		for k := range want {
			xs, ys := got[k].Floats(), want[k].Floats()
			size := 1.0
			for _, y := range ys {
				if a := math.Abs(y); a < 1e30 {
					size = max(size, a)
				}
			}
			for i, y := range ys {
				if x := xs[i]; !(x == y || x != x && y != y || math.Abs(x-y) <= 2e-5*min(size, 10+math.Abs(y))) {
					t.Errorf("%s of %v, result %d at %d: got %v want %v", c.name, c.args, k, i, x, y)
					break
				}
			}
		}
	}
	// complex numbers of parts that are broadcast, and lie otherwise
	re, im := turned(plain(20, 30)), plain(20)
	for _, parts := range [][2]*tensor.Tensor{{re, im}, {im, re}, {re, plain()}, {plain(3, 4), plain(3, 4)}} {
		for _, f := range []func(Value) Value{single, func(v Value) Value { return v }} {
			out, err := Run(Eager, "aten.complex.default", f(parts[0]), f(parts[1]))
			if err != nil {
				t.Fatal(err)
			}
			z := out.(*tensor.Tensor)
			x, y := parts[0].Expand(z.Shape).Floats(), parts[1].Expand(z.Shape).Floats()
			for i, v := range z.Complexes() {
				if v != complex(x[i], y[i]) {
					t.Fatalf("complex at %d: got %v want %v", i, v, complex(x[i], y[i]))
				}
			}
		}
	}
}
