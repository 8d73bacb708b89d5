package native

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/dsp/fourier"
)

// spectrum is gonum's transform of a line.
func spectrum(x []complex128, back bool) []complex128 {
	f := fourier.NewCmplxFFT(len(x))
	if back {
		return f.Sequence(nil, x)
	}
	return f.Coefficients(nil, x)
}

func far(a, b []complex128) float64 {
	d, n := 0.0, 0.0
	for i := range a {
		d = max(d, cmplx.Abs(a[i]-b[i]))
		n = max(n, cmplx.Abs(b[i]))
	}
	return d / n
}

// TestTransforms holds lines of all kinds against gonum's, at every level.
func TestTransforms(t *testing.T) {
	defer setLevel(detected)
	for l := SSE2; l <= detected; l++ {
		setLevel(l)
		for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16, 17, 20, 24, 31, 32, 35, 49, 61, 64, 67, 100, 101, 121, 128, 134, 243, 256, 257, 360, 625, 1000, 1021, 1024, 4096, 4098, 6000, 8192, 9973, 20000} {
			for _, lines := range []int{1, 2, 5, 8, 19} {
				if n > 1024 && lines > 2 || n > 9000 && lines > 1 { // gonum is slow at large primes
					continue
				}
				for _, across := range []bool{false, true} {
					t.Run(fmt.Sprint(l, "/", n, "/", lines, "/", across), func(t *testing.T) { testTransform(t, n, lines, across) })
				}
			}
		}
	}
}

// linesOf says where lines of n numbers begin, one after the other or one beside the other, and how far apart the numbers of one are.
func linesOf(n, lines int, across bool) (at []int64, step int64) {
	at, step = make([]int64, lines), 1
	for k := range at {
		at[k] = int64(k * n)
		if across {
			at[k], step = int64(k), int64(lines)
		}
	}
	return at, step
}

func testTransform(t *testing.T, n, lines int, across bool) {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	at, step := linesOf(n, lines, across)
	x := make([]complex128, n*lines)
	for i := range x {
		x[i] = complex(r.NormFloat64(), r.NormFloat64())
	}
	line := func(of []complex128, k int) []complex128 {
		out := make([]complex128, n)
		for i := range out {
			out[i] = of[at[k]+int64(i)*step]
		}
		return out
	}
	for _, back := range []bool{false, true} {
		y := make([]complex128, len(x))
		ComplexLines(TransformOf(n, false), y, at, step, x, at, step, back, 1)
		for k := range at {
			if d := far(line(y, k), spectrum(line(x, k), back)); !(d < 2e-15*math.Log2(float64(n+2))) {
				t.Errorf("line %d, back %v: %g off", k, back, d)
			}
		}
		narrow := make([]complex64, len(x))
		for i := range x {
			narrow[i] = complex64(x[i])
		}
		y32 := make([]complex64, len(x))
		ComplexLines(TransformOf(n, false), y32, at, step, narrow, at, step, back, 0.5)
		ComplexLines(TransformOf(n, false), narrow, at, step, narrow, at, step, back, 0.5)
		for i := range y32 {
			if y32[i] != narrow[i] {
				t.Fatalf("in place, %d is %v, not %v", i, narrow[i], y32[i])
			}
			if cmplx.Abs(complex128(y32[i])-y[i]/2) > 1e-6*math.Sqrt(float64(n))*3 {
				t.Fatalf("of float32, %d is %v, not %v", i, y32[i], y[i]/2)
			}
		}
	}
	reals := make([]float64, len(x))
	for i := range reals {
		reals[i] = real(x[i])
		x[i] = complex(reals[i], 0)
	}
	half := n/2 + 1
	to, tostep := linesOf(half, lines, across)
	y := make([]complex128, half*lines)
	RealLines(TransformOf(n, true), y, to, tostep, reals, at, step, 1)
	again := make([]float64, len(reals))
	HalfLines(TransformOf(n, true), again, at, step, y, to, tostep, 1/float64(n))
	for k := range at {
		got := make([]complex128, half)
		for i := range got {
			got[i] = y[to[k]+int64(i)*tostep]
		}
		if d := far(got, spectrum(line(x, k), false)[:half]); !(d < 2e-15*math.Log2(float64(n+2))) {
			t.Errorf("real line %d: %g off", k, d)
		}
		for i := range n {
			if p := at[k] + int64(i)*step; math.Abs(again[p]-reals[p]) > 1e-14 {
				t.Fatalf("real line %d, back: %d is %g, not %g", k, i, again[p], reals[p])
			}
		}
	}
}
