package aten_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"whittle/kernels/tensor"
)

// near reports whether results are the same within a limit, relative to what is larger than 1; what is no number is like itself.
func near(want, got [][]float64, limit float64) bool {
	return slices.EqualFunc(want, got, func(want, got []float64) bool {
		return slices.EqualFunc(want, got, func(w, g float64) bool {
			return w == g || w != w && g != g || math.Abs(w-g) <= limit*max(1, math.Abs(w))
		})
	})
}

// TestShortRows: operands that are repeated along rows, however short, give what the same numbers give that lie one after the other.
func TestShortRows(t *testing.T) {
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int64} {
		names := []string{"gt.Tensor", "eq.Tensor", "le.Tensor"}
		if d != tensor.Int64 {
			names = append(names, "add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor", "maximum.default", "fmax.default", "fmod.Tensor", "copysign.Tensor", "xlogy.Tensor", "logaddexp.default", "heaviside.default", "nextafter.default")
		}
		for _, n := range []int64{1, 2, 3, 7, 15, 16, 17, 45, 100} {
			a, b := filled(d, []int{0, 1, 2}, 9, 1, n), filled(d, []int{0, 1}, 11, n)
			column := filled(d, []int{0, 1, 2}, 9, 11, 1)
			whole := []int64{9, 11, n}
			flat := func(x *tensor.Tensor) *tensor.Tensor { return x.Expand(whole).Contiguous() }
			for _, name := range names {
				for _, pair := range [][2]*tensor.Tensor{{a, b}, {b, a}, {a, column}, {column, b}} {
					got, want := results(t, "aten."+name, pair[0], pair[1]), results(t, "aten."+name, flat(pair[0]), flat(pair[1]))
					if !near(want, got, 0) {
						t.Fatalf("%s of %v, rows of %d (-together +by rows):\n%s", name, d, n, cmp.Diff(want, got, cmpopts.EquateNaNs()))
					}
				}
			}
			if d == tensor.Int64 {
				continue
			}
			strided := filled(d, []int{0, 1}, 9, n+3)
			part := tensor.NewView(strided, []int64{9, n}, []int64{n + 3, 1}, 1)
			for _, name := range []string{"neg.default", "abs.default", "exp.default", "sqrt.default", "sign.default", "hardswish.default", "frac.default"} {
				got := results(t, "aten."+name, part)
				want := results(t, "aten."+name, part.Contiguous())
				if !near(want, got, 0) {
					t.Fatalf("%s of %v, rows of %d (-together +by rows):\n%s", name, d, n, cmp.Diff(want, got, cmpopts.EquateNaNs()))
				}
			}
		}
	}
}

// TestLongRows: functions of float32 that go by blocks give for rows of any length what they give of float64.
func TestLongRows(t *testing.T) {
	for _, n := range []int64{1, 511, 512, 513, 544, 5000, 40000} {
		for _, name := range []string{"glu.default", "special_i1e.default", "digamma.default", "erfinv.default"} {
			wide := tensor.Empty(tensor.Float64, 3, 2*n)
			xs := make([]float64, 6*n)
			for i := range xs {
				xs[i] = float64(float32(math.Sin(float64(i)) * 0.9))
			}
			wide.SetFloats(xs)
			x := tensor.Empty(tensor.Float32, 3, 2*n)
			x.SetFloats(xs)
			got, want := results(t, "aten."+name, x), results(t, "aten."+name, wide)
			if !near(want, got, 1e-5) {
				t.Fatalf("%s, rows of %d (-float64 +float32):\n%s", name, 2*n, cmp.Diff(want, got, cmpopts.EquateApprox(1e-5, 1e-5)))
			}
		}
	}
}

// TestSpecialEnds: functions by pieces of polynomials give outside of their domain, at its ends and next to their poles what they give of float64.
func TestSpecialEnds(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	ends := []float64{0, math.Copysign(0, -1), inf, -inf, nan, 1, -1, 2, -2, -2.5, -7.999, -8.001, 1e-40, -1e-40, 3e38, -3e38, 1e-30, 88, 89, 90, -104, 300, 0.5, 0.999, 1.001}
	for _, name := range []string{"special_i0e.default", "special_i1e.default", "special_i1.default", "i0.default", "special_entr.default", "special_ndtri.default", "special_log_ndtr.default", "special_airy_ai.default", "special_bessel_y0.default",
		"special_bessel_y1.default", "special_bessel_j0.default", "special_modified_bessel_k0.default", "special_modified_bessel_k1.default", "special_erfcx.default", "digamma.default", "erfinv.default"} {
		xs := make([]float64, 0, 4096)
		for len(xs) < 4000 { // in blocks, beside ordinary numbers
			xs = append(xs, ends...)
			for k := range 40 {
				xs = append(xs, math.Sin(float64(len(xs)+k))*9)
			}
		}
		x := tensor.Empty(tensor.Float32, int64(len(xs)))
		x.SetFloats(xs)
		wide := tensor.Empty(tensor.Float64, int64(len(xs)))
		wide.SetFloats(x.Floats())
		got, want := results(t, "aten."+name, x)[0], results(t, "aten."+name, wide)[0]
		for i, w := range want {
			single := float64(float32(w))
			off := math.Abs(got[i] - w)
			if got[i] != single && !(got[i] != got[i] && w != w) && !(off <= 3e-7*math.Abs(w)) && !(off <= 1e-9) {
				t.Fatalf("%s of %v: got %v want %v", name, wide.Floats()[i], got[i], w)
			}
		}
	}
}
