package accuracy

import (
	"fmt"
	"math"
	"slices"
)

// Checksum is what was kept of a tensor: enough to tell whether another run computed the same, and about how far off it is.
type Checksum struct {
	Name  string  `json:"name"`
	DType string  `json:"dtype"` // PyTorch's name: float32
	Shape []int64 `json:"shape"`
	Sum   float64 `json:"sum"` // of the finite elements
	Abs   float64 `json:"abs"` // of their magnitudes
	Mix   float64 `json:"mix"` // of their products with cos(0.7 i), i the place in memory order: elements that change places change it
	Odd   int     `json:"odd"` // elements that are not finite
}

// Difference is how far b is from a, as a share of the sum of a's magnitudes: at most the mean relative difference of the elements, and 0 only by chance where they
// differ. It is infinite, with a text that says why, where shapes, dtypes or the numbers of elements that are not finite differ.
func (a Checksum) Difference(b Checksum) (share float64, why string) {
	switch {
	case !slices.Equal(a.Shape, b.Shape) || a.DType != b.DType:
		return math.Inf(1), fmt.Sprintf("%s%v, not %s%v", b.DType, b.Shape, a.DType, a.Shape)
	case a.Odd != b.Odd:
		return math.Inf(1), fmt.Sprintf("%d elements are not finite, not %d", b.Odd, a.Odd)
	}
	off := max(math.Abs(a.Sum-b.Sum), math.Abs(a.Abs-b.Abs), math.Abs(a.Mix-b.Mix))
	if off == 0 {
		return 0, ""
	}
	share = off / max(a.Abs, b.Abs)
	return share, fmt.Sprintf("off by %.2g of its magnitude", share)
}
