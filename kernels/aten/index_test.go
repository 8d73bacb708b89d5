package aten

import (
	"slices"
	"testing"

	"whittle/kernels/tensor"
)

// TestIndexShapes: indices of any number of dimensions, none and broadcast ones, beside element by element.
func TestIndexShapes(t *testing.T) {
	x := tensor.FromFloat32s([]float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 3, 4)
	index := func(shape []int64, vs ...int64) Value {
		return tensor.NewView(tensor.FromInt64s(vs, int64(len(vs))), shape, tensor.ContiguousStrides(shape), 0)
	}
	for _, c := range []struct {
		name    string
		indices []Value
		shape   []int64
		want    []float64
	}{
		{"a row by a number", []Value{index(nil, 1)}, []int64{4}, []float64{4, 5, 6, 7}},
		{"an element by two numbers", []Value{index(nil, -1), index(nil, 2)}, nil, []float64{10}},
		{"a column by a number", []Value{nil, index(nil, 3)}, []int64{3}, []float64{3, 7, 11}},
		{"a number beside a list", []Value{index(nil, 2), index([]int64{3}, 0, 1, -1)}, []int64{3}, []float64{8, 9, 11}},
		{"a column beside a row", []Value{index([]int64{2, 1}, 0, 2), index([]int64{1, 2}, 1, 3)}, []int64{2, 2}, []float64{1, 3, 9, 11}},
		{"nothing", []Value{index([]int64{0})}, []int64{0, 4}, []float64{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := mustTensor(t, "aten::index.Tensor", x, c.indices)
			if !slices.Equal(got.Shape, c.shape) || !slices.Equal(got.Floats(), c.want) {
				t.Errorf("%v of shape %v, not %v of shape %v", got.Floats(), got.Shape, c.want, c.shape)
			}
		})
	}
}

// TestRevOfComplex: prims.rev, into which flip is decomposed, of complex numbers.
func TestRevOfComplex(t *testing.T) {
	x := mustTensor(t, "aten::complex", tensor.FromFloat32s([]float32{1, 2, 3}, 3), tensor.FromFloat32s([]float32{4, 5, 6}, 3))
	got := mustTensor(t, "aten::view_as_real", mustTensor(t, "prims::rev", x, []Value{int64(0)}))
	if want := []float64{3, 6, 2, 5, 1, 4}; !slices.Equal(got.Floats(), want) {
		t.Errorf("%v, not %v", got.Floats(), want)
	}
}
