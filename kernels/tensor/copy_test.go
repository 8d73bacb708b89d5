package tensor

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// laidBy is a tensor of the shape whose dimensions follow each other in memory as order says, slowest first.
func laidBy(d DType, shape []int64, order []int) *Tensor {
	stride, n := make([]int64, len(shape)), int64(1)
	for _, i := range slices.Backward(order) {
		stride[i] = n
		n *= shape[i]
	}
	return EmptyMode(false, d, shape, stride)
}

// Copies between any two orders of dimensions, also to another dtype, keep the elements.
func TestCopyBetweenOrders(t *testing.T) {
	shape := []int64{2, 17, 5, 33}
	orders := [][]int{{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 2, 1}, {3, 1, 0, 2}, {1, 3, 2, 0}, {2, 0, 1, 3}}
	for _, dtypes := range [][2]DType{{Float32, Float32}, {UInt8, UInt8}, {Float16, Float16}, {Float64, Float64}, {Complex128, Complex128}, {BFloat16, Float32}, {Float32, Float16}, {Float32, Int64}} {
		for _, from := range orders {
			for _, to := range orders {
				src, dst := laidBy(dtypes[0], shape, from), laidBy(dtypes[1], shape, to)
				want := make([]float64, src.Numel())
				for i := range want {
					want[i] = float64(i % 251)
				}
				src.SetFloats(want)
				Copy(dst, src)
				got := make([]float64, len(want))
				dst.LoadFloats(got)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s (-want +got):\n%s", fmt.Sprint(dtypes, from, to), diff)
				}
			}
		}
	}
}

// Copies into every second or third element from what lies across keep the elements, and what is between.
func TestCopyAcrossInSteps(t *testing.T) {
	const rows, cols = 70, 37
	for _, d := range []DType{Float32, Float64, UInt8, Int16} {
		for _, step := range []int64{2, 3} {
			src := NewView(Empty(d, cols, rows), []int64{rows, cols}, []int64{1, rows}, 0)
			dst := Empty(d, rows, cols, step)
			want, xs := make([]float64, dst.Numel()), make([]float64, src.Numel())
			for i := range xs {
				xs[i] = float64(i % 100)
				want[int64(i)*step] = xs[i]
			}
			src.SetFloats(xs)
			Copy(NewView(dst, []int64{rows, cols}, []int64{cols * step, step}, 0), src)
			if diff := cmp.Diff(want, dst.Floats()); diff != "" {
				t.Errorf("%s by %d (-want +got):\n%s", d, step, diff)
			}
		}
	}
}
