package tensor

import (
	"math"
	"testing"
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
