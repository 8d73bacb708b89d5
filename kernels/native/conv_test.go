package native

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestConvolve: convolutions that never have their columns in memory are, to the last bit, the product with the unfolded image; depthwise ones are their sums.
func TestConvolve(t *testing.T) {
	levels(t, func(t *testing.T) {
		t.Run("float32", func(t *testing.T) { convolves[float32](t, 1e-5) })
		t.Run("float64", func(t *testing.T) { convolves[float64](t, 1e-13) })
	})
}

func convolves[T float32 | float64](t *testing.T, limit float64) {
	r := rand.New(rand.NewPCG(5, 2))
	for round := range 150 {
		most := func(n int) int { return 1 + r.IntN(n) }
		p := &Plane{C: most(5), H: most(20), W: most(40), KH: most(4), KW: most(5), SH: most(2), SW: most(3), PH: r.IntN(3), PW: r.IntN(3), DH: most(2), DW: most(2)}
		if round%5 == 0 { // sums that are cut
			p.C = 64
		}
		if round%3 == 0 {
			p.SW = 1
		}
		p.OH, p.OW = (p.H+2*p.PH-p.DH*(p.KH-1)-1)/p.SH+1, (p.W+2*p.PW-p.DW*(p.KW-1)-1)/p.SW+1
		if p.H+2*p.PH < p.DH*(p.KH-1)+1 || p.W+2*p.PW < p.DW*(p.KW-1)+1 {
			continue
		}
		fill := func(n int, wild bool) []T {
			x := make([]T, n)
			for i := range x {
				x[i] = T(r.NormFloat64())
				if wild && r.IntN(50) == 0 {
					x[i] = T([]float64{math.NaN(), math.Inf(1), 0}[r.IntN(3)])
				}
			}
			return x
		}
		m, k, l := 4+r.IntN(30), p.C*p.KH*p.KW, p.OH*p.OW
		im, w := fill(p.C*p.H*p.W, round%4 == 1), fill(m*k, false)
		col, want, got := make([]T, k*l), make([]T, m*l), make([]T, m*l)
		Unfold(p, col, im, 0, p.OH)
		gemm := func(c []T) {
			switch c := any(c).(type) {
			case []float32:
				GemmAlone32(m, l, k, 1, Matrix[float32]{any(w).([]float32), k, 1}, Matrix[float32]{any(col).([]float32), l, 1}, 0, Matrix[float32]{c, l, 1})
			case []float64:
				GemmAlone64(m, l, k, 1, Matrix[float64]{any(w).([]float64), k, 1}, Matrix[float64]{any(col).([]float64), l, 1}, 0, Matrix[float64]{c, l, 1})
			}
		}
		gemm(want)
		packed := make([]T, m*k)
		for part := range 3 {
			PackWeights(m, k, packed, w, part, 3)
		}
		cut := r.IntN(l + 1)
		if round%2 == 0 { // whole rows
			cut = cut / p.OW * p.OW
		}
		Convolve(p, m, packed, im, 0, cut, got, l)
		if cut < l {
			Convolve(p, m, packed, im, cut, l, got[cut:], l)
		}
		for i := range want {
			if m*l*k <= 512 { // such products are not the kernel's
				break
			}
			if got[i] != want[i] && (got[i] == got[i] || want[i] == want[i]) {
				t.Fatalf("round %d: %+v: output %d is %v, want %v", round, *p, i, got[i], want[i])
			}
		}
		// One channel, by its own sums.
		y := make([]T, l)
		Depthwise(Forward, p, y, im[:p.H*p.W], w[:p.KH*p.KW])
		for o := range y {
			sum, size := 0.0, 0.0
			for q := range p.KH * p.KW {
				iy, ix := o/p.OW*p.SH-p.PH+q/p.KW*p.DH, o%p.OW*p.SW-p.PW+q%p.KW*p.DW
				if iy >= 0 && iy < p.H && ix >= 0 && ix < p.W {
					v := float64(w[q]) * float64(im[iy*p.W+ix])
					sum, size = sum+v, size+math.Abs(v)
				}
			}
			if d := math.Abs(float64(y[o]) - sum); d > limit*size || (d != d) != (sum-sum != 0) {
				t.Fatalf("round %d: depthwise %+v: output %d is %v, want %v", round, *p, o, y[o], sum)
			}
		}
	}
}

// TestDoubles: the functions of doubles that are vectors are within an ulp or two of the library's, also where they end.
func TestDoubles(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for name, f := range map[string]struct {
		op   Op
		want func(float64) float64
		x    func() float64
	}{
		"exp": {Exp, math.Exp, func() float64 { return (r.Float64()*2 - 1) * []float64{1, 40, 709}[r.IntN(3)] }},
		"log": {Log, math.Log, func() float64 { return math.Exp((r.Float64()*2 - 1) * []float64{0.01, 3, 700}[r.IntN(3)]) }},
		"sin": {Sin, math.Sin, func() float64 { return (r.Float64()*2 - 1) * []float64{1, 30, 1e6}[r.IntN(3)] }},
		"cos": {Cos, math.Cos, func() float64 { return (r.Float64()*2 - 1) * []float64{1, 30, 1e6}[r.IntN(3)] }},
	} {
		levels(t, func(t *testing.T) {
			xs := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 709, 709.79, -740, -745.2, -1000, 1000, 1, -1}
			if f.op == Sin || f.op == Cos {
				xs = append(xs, 1e22, -3e7) // of these and their neighbours the library is asked
			}
			for len(xs) < 20000 {
				xs = append(xs, f.x())
			}
			out := make([]float64, len(xs))
			for i := 0; i < len(xs); i += 100 {
				Unary64(f.op, out[i:i+100], xs[i:i+100])
			}
			for i, x := range xs {
				want := f.want(x)
				if out[i] == want && math.Signbit(out[i]) == math.Signbit(want) || out[i] != out[i] && want != want {
					continue
				}
				ulp := math.Abs(math.Nextafter(want, math.Inf(1)) - want)
				if d := math.Abs(out[i] - want); !(d <= 2*ulp || (f.op == Sin || f.op == Cos) && d < 1e-15) {
					t.Fatalf("%s(%g) is %g, want %g", name, x, out[i], want)
				}
			}
		})
	}
}
