package tensor

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCopyWhole compares conversions of rows of floats with those of one element at a time: of what no integer holds, too.
func TestCopyWhole(t *testing.T) {
	x := []float64{0, math.Copysign(0, -1), 1.9, -1.9, 127.5, -128.5, 255.9, 256, 32768, -32769, 1 << 31, -(1 << 31) - 1, 1 << 32, 1e18, 9.3e18, -9.3e18, 1e30, math.Inf(1), math.Inf(-1), math.NaN()}
	for len(x) < 1000 {
		x = append(x, x[len(x)%20]*1.5)
	}
	for _, from := range []DType{Float32, Float64} {
		src := Empty(from, int64(len(x)))
		src.SetFloats(x)
		for _, d := range []DType{Int64, Int32, Int16, Int8, UInt8, Complex64, Complex128} {
			dst := Empty(d, int64(len(x)))
			Copy(dst, src)
			want := Empty(d, int64(len(x)))
			for i := range x {
				StoreFloat(want, int64(i), 1, []float64{src.At(int64(i))})
			}
			if string(dst.Bytes()) != string(want.Bytes()) {
				t.Errorf("%v to %v: got %v want %v", from, d, dst.Bytes()[:160], want.Bytes()[:160])
			}
		}
	}
}

// TestNarrow checks that floats become integers of 32 bits and fewer by way of int32, whether they are many or few, lie in rows or not.
func TestNarrow(t *testing.T) {
	values := []float64{300.7, -300.7, 3e9 + 768, -3e9 - 768, math.Inf(1), math.NaN()}
	want := map[DType][]int64{
		Int64: {300, -300, 3000000768, -3000000768, math.MinInt64, math.MinInt64}, Int32: {300, -300, math.MinInt32, math.MinInt32, math.MinInt32, math.MinInt32},
		Int16: {300, -300, 0, 0, 0, 0}, Int8: {44, -44, 0, 0, 0, 0}, UInt8: {44, 212, 0, 0, 0, 0},
	}
	for _, n := range []int64{1, 50} {
		for _, from := range []DType{Float32, Float64} {
			src := Empty(from, n, int64(len(values)))
			for i := range n * int64(len(values)) {
				src.Set(i, values[i%int64(len(values))])
			}
			turned := NewView(src, []int64{int64(len(values)), n}, []int64{1, int64(len(values))}, 0)
			for to, numbers := range want {
				for i, x := range src.To(to).Ints() {
					if x != numbers[i%len(values)] {
						t.Errorf("%v as %v: %d, want %d", values[i%len(values)], to, x, numbers[i%len(values)])
					}
				}
				for i, x := range turned.To(to).Ints() {
					if x != numbers[i/int(n)] {
						t.Errorf("%v as %v, turned: %d, want %d", values[i/int(n)], to, x, numbers[i/int(n)])
					}
				}
			}
		}
	}
}

// TestSetTurned checks what is stored in row-major order into memory that lies otherwise.
func TestSetTurned(t *testing.T) {
	const rows, cols = 130, 70
	xs, whole := make([]float64, rows*cols), make([]int64, rows*cols)
	for i := range xs {
		xs[i], whole[i] = float64(i), int64(i)
	}
	turned := func(d DType) *Tensor { return EmptyUnset(d, []int64{rows, cols}, []int64{1, rows}) }
	f, n := turned(Float32), turned(Int32)
	f.SetFloats(xs)
	n.SetInts(whole)
	if diff := cmp.Diff(xs, f.Floats()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(whole, n.Ints()); diff != "" {
		t.Error(diff)
	}
}
