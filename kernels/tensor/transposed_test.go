package tensor

import (
	"math/rand/v2"
	"testing"
)

// TestCopyTransposed compares the tiled copy with element by element, for sides that tiles do not divide, batches and offsets.
func TestCopyTransposed(t *testing.T) {
	for _, shape := range [][]int64{{33, 70}, {3, 65, 40}, {2, 3, 32, 32}} {
		n := len(shape)
		base := Empty(Float32, append([]int64{Numel(shape) + 5}, nil...)...)
		for i := range base.Numel() {
			base.Set(i, float64(i))
		}
		stride := ContiguousStrides(append(append([]int64{}, shape[:n-2]...), shape[n-1], shape[n-2]))
		stride[n-1], stride[n-2] = stride[n-2], stride[n-1]
		src := NewView(base, shape, stride, 5)
		dst := Empty(Float32, shape...)
		Copy(dst, src)
		for i := range dst.Numel() {
			if dst.At(i) != src.At(i) {
				t.Fatalf("%v: element %d is %g, want %g", shape, i, dst.At(i), src.At(i))
			}
		}
	}
}

// TestShortRows: copies whose rows are short, from and to any layout, beside copies element by element.
func TestShortRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		shape := []int64{1 + r.Int64N(3), 16 + r.Int64N(1200), 1 + r.Int64N(8)}
		d := []DType{Float32, Int64, UInt8, BFloat16, Complex128}[r.IntN(5)]
		lay := func(zero bool) *Tensor {
			stride, at := make([]int64, 3), int64(1)
			for _, d := range r.Perm(3) {
				stride[d] = at
				at *= shape[d] + r.Int64N(2)
			}
			if zero {
				stride[r.IntN(3)] = 0
			}
			s := NewStorage((at + 5) * int64(d.Size()))
			for i := range s.Data {
				s.Data[i] = byte(r.IntN(256))
			}
			return &Tensor{Storage: s, DType: d, Shape: shape, Stride: stride, Offset: r.Int64N(5)}
		}
		from, to := lay(r.IntN(3) == 0), lay(false)
		Copy(to, from)
		es := int64(d.Size())
		for i := range shape[0] {
			for j := range shape[1] {
				for k := range shape[2] {
					a := (to.Offset + i*to.Stride[0] + j*to.Stride[1] + k*to.Stride[2]) * es
					b := (from.Offset + i*from.Stride[0] + j*from.Stride[1] + k*from.Stride[2]) * es
					if string(to.Storage.Data[a:a+es]) != string(from.Storage.Data[b:b+es]) {
						t.Fatalf("%v of %v: element %d %d %d differs: %v from %v", shape, d, i, j, k, to.Stride, from.Stride)
					}
				}
			}
		}
	}
}
