package aten

import (
	"math"
	"testing"
)

// A bin is the last whose lower edge is not above the number, be the edges even or not; the last bin has its upper edge, too.
func TestBin(t *testing.T) {
	for _, edges := range [][]float64{{0, 1}, {-1, -0.5, 0, 0.5, 1}, {0, 0.1, 0.2, 0.30000000000000004, 0.4}, {0, 1e-3, 5, 5, 6, 100}} {
		n := len(edges) - 1
		for i := range 2001 {
			x := edges[0] + (edges[n]-edges[0])*float64(i)/2000
			for _, x := range append([]float64{x}, edges...) {
				want := n - 1
				for want > 0 && x < edges[want] {
					want--
				}
				if got := bin(edges, x); got != int64(want) {
					t.Fatalf("%g in %v: %d, want %d", x, edges, got, want)
				}
			}
		}
		for _, x := range []float64{edges[0] - 1e-9, edges[n] + 1e-9, math.NaN(), math.Inf(1)} {
			if got := bin(edges, x); got != -1 {
				t.Errorf("%g in %v: %d, want -1", x, edges, got)
			}
		}
	}
}
