package aten

import (
	"math/cmplx"
	"testing"

	"whittle/kernels/tensor"
)

// Operators that complex tensors take by their parts give what arithmetic of complex numbers gives.
func TestComplexForms(t *testing.T) {
	z := []complex128{1 + 2i, -0.5 + 1i, 3 - 1i, 2i}
	w := []complex128{0.5 - 1i, 2, 1 + 1i, -1 + 0.25i}
	of := func(xs []complex128, shape ...int64) *tensor.Tensor {
		x := tensor.Empty(tensor.Complex128, shape...)
		x.SetComplexes(xs)
		return x
	}
	mean := (z[0] + z[1] + z[2] + z[3]) / 4
	var spread float64
	for _, x := range z {
		spread += real((x - mean) * cmplx.Conj(x-mean))
	}
	norm := 0.0
	for _, x := range z {
		norm += real(x * cmplx.Conj(x))
	}
	for _, tc := range []struct {
		op   string
		args []Value
		want []complex128
	}{
		{"cumsum", []Value{of(z, 4), int64(0), nil}, []complex128{z[0], z[0] + z[1], z[0] + z[1] + z[2], z[0] + z[1] + z[2] + z[3]}},
		{"cumprod", []Value{of(z, 4), int64(0), nil}, []complex128{z[0], z[0] * z[1], z[0] * z[1] * z[2], z[0] * z[1] * z[2] * z[3]}},
		{"prod", []Value{of(z, 4), nil}, []complex128{z[0] * z[1] * z[2] * z[3]}},
		{"prod.dim_int", []Value{of(z, 2, 2), int64(1), false, nil}, []complex128{z[0] * z[1], z[2] * z[3]}},
		{"var.correction", []Value{of(z, 4), nil, int64(1), false}, []complex128{complex(spread/3, 0)}},
		{"std.correction", []Value{of(z, 4), nil, int64(0), false}, []complex128{cmplx.Sqrt(complex(spread/4, 0))}},
		{"linalg_vector_norm", []Value{of(z, 4), int64(2), nil, false, nil}, []complex128{cmplx.Sqrt(complex(norm, 0))}},
		{"vdot", []Value{of(z, 4), of(w, 4)}, []complex128{cmplx.Conj(z[0])*w[0] + cmplx.Conj(z[1])*w[1] + cmplx.Conj(z[2])*w[2] + cmplx.Conj(z[3])*w[3]}},
		{"rsub.Scalar", []Value{of(z, 4), int64(1), int64(2)}, []complex128{1 - 2*z[0], 1 - 2*z[1], 1 - 2*z[2], 1 - 2*z[3]}},
		{"lerp.Scalar", []Value{of(z, 4), of(w, 4), 0.75}, []complex128{z[0] + 0.75*(w[0]-z[0]), z[1] + 0.75*(w[1]-z[1]), z[2] + 0.75*(w[2]-z[2]), z[3] + 0.75*(w[3]-z[3])}},
		{"index_fill.int_Scalar", []Value{of(z, 4), int64(0), tensor.FromInt64s([]int64{1, 3}, 2), 2 + 1i}, []complex128{z[0], 2 + 1i, z[2], 2 + 1i}},
		{"convolution", []Value{of(z, 1, 1, 4), of(w[:2], 1, 1, 2), of(w[3:], 1), ints([]int64{1}), ints([]int64{0}), ints([]int64{1}), false, ints([]int64{0}), int64(1)},
			[]complex128{z[0]*w[0] + z[1]*w[1] + w[3], z[1]*w[0] + z[2]*w[1] + w[3], z[2]*w[0] + z[3]*w[1] + w[3]}},
		{"count_nonzero", []Value{of([]complex128{0, 1i, 2, 0}, 4), nil}, []complex128{2}},
		{"any", []Value{of([]complex128{0, 1i, 2, 0}, 4)}, []complex128{1}},
		{"all", []Value{of([]complex128{0, 1i, 2, 0}, 4)}, []complex128{0}},
	} {
		t.Run(tc.op, func(t *testing.T) {
			v, err := callOn(Eager, tc.op, tc.args)
			if err != nil {
				t.Fatal(err)
			}
			got := v.(*tensor.Tensor)
			if xs := got.Complexes(); len(xs) != len(tc.want) {
				t.Fatalf("%d elements, want %d", len(xs), len(tc.want))
			} else {
				for i, x := range xs {
					if cmplx.Abs(x-tc.want[i]) > 1e-12 {
						t.Errorf("element %d is %v, want %v", i, x, tc.want[i])
					}
				}
			}
			f, err := callOn(Fake, tc.op, tc.args)
			if err != nil && tc.op != "count_nonzero" {
				t.Fatal(err)
			}
			if m, ok := f.(*tensor.Tensor); ok && (m.DType != got.DType || len(m.Shape) != len(got.Shape)) {
				t.Errorf("a fake has %v %v, the result %v %v", m.DType, m.Shape, got.DType, got.Shape)
			}
		})
	}
}
