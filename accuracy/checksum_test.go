package accuracy_test

import (
	"math"
	"testing"

	"whittle/accuracy"
)

// sums is the checksum of a vector.
func sums(x ...float64) accuracy.Checksum {
	c := accuracy.Checksum{DType: "float32", Shape: []int64{int64(len(x))}}
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			c.Odd++
			continue
		}
		c.Sum, c.Abs, c.Mix = c.Sum+v, c.Abs+math.Abs(v), c.Mix+v*math.Cos(0.7*float64(i))
	}
	return c
}

func TestChecksumDifference(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		a, b       accuracy.Checksum
		from, upTo float64
	}{
		"equal":            {sums(1, -2, 3), sums(1, -2, 3), 0, 0},
		"rounding":         {sums(1, -2, 3), sums(1.0000001, -2, 3), 1e-9, 1e-6},
		"one element":      {sums(1, -2, 3), sums(1, -2, 4), 0.1, 0.2},
		"two change place": {sums(1, -2, 3), sums(-2, 1, 3), 0.01, 1},
		"another sign":     {sums(1, -1), sums(-1, 1), 0.1, 1},
		"not a number":     {sums(1, nan), sums(1, 2), math.Inf(1), math.Inf(1)},
		"both are none":    {sums(1, nan), sums(1, nan), 0, 0},
		"another shape":    {sums(1, 2), sums(1, 2, 0), math.Inf(1), math.Inf(1)},
		"nothing in it":    {sums(), sums(), 0, 0},
		"zeros":            {sums(0, 0), sums(0, 1e-30), 1e-3, 1},
	} {
		share, why := c.a.Difference(c.b)
		if share < c.from || share > c.upTo || (why == "") != (share == 0) {
			t.Errorf("%s: %v (%s), want %v to %v", name, share, why, c.from, c.upTo)
		}
	}
}
