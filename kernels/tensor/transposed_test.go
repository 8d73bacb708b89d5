package tensor

import "testing"

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
