package native

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// samples are float32 numbers of all sizes, ends and poles among them.
func samples(n int) []float32 {
	r := rand.New(rand.NewPCG(3, 4))
	x := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1, -1, 2, -3, 3e38, 1e-42}
	for i := len(x); i < n; i++ {
		switch i % 3 {
		case 0:
			x = append(x, float32(r.NormFloat64()*4))
		case 1:
			x = append(x, float32(r.Float64()*2-1))
		default:
			x = append(x, float32(math.Exp(r.NormFloat64()*10)))
		}
	}
	return x
}

func TestPieces(t *testing.T) {
	x := samples(30000)
	levels(t, func(t *testing.T) {
		for name, f := range map[string]func(float64) float64{"j0": math.J0, "j1": math.J1, "erfinv": math.Erfinv, "gamma": math.Gamma, "exp": math.Exp, "tan": math.Tan, "sqrt": math.Sqrt, "endless": func(x float64) float64 {
			if x < 0 {
				return math.Inf(-1)
			}
			return math.Sqrt(x)
		}, "sinh": math.Sinh, "poles": func(x float64) float64 { return 1 / math.Sin(math.Pi*x) }} {
			p, out := NewPieces(f), make([]float32, len(x))
			for range 2 { // with pieces that are made, and with those that are there
				p.Map(out, x)
				for i, v := range x {
					// Next to a zero of the function only the absolute error means something.
					want := f(float64(v))
					if u := ulps(out[i], float32(want)); u > 1.5 && math.Abs(float64(out[i])-want) > 1e-9 || u != u {
						t.Fatalf("%s at %v: got %v want %v", name, v, out[i], want)
					}
				}
			}
		}
	})
}

func TestPolynomials(t *testing.T) {
	x := samples(1000)
	degree, out := make([]float32, len(x)), make([]float32, len(x))
	levels(t, func(t *testing.T) {
		for i := range degree {
			degree[i] = float32(i%5 - 1)
		}
		Polynomials(LegendreP+Shifted, out, x, degree)
		for i, v := range x {
			y := 2*float64(v) - 1
			want := []float64{0, 1, y, (3*y*y - 1) / 2, (5*y*y*y - 3*y) / 2}[i%5]
			if i%5 > 0 && y != y {
				want = y
			}
			if math.Abs(want) < 1e30 && !(math.Abs(float64(out[i])-want) <= 1e-6*max(1, math.Abs(want))) {
				t.Fatalf("degree %v of %v: got %v want %v", degree[i], v, out[i], want)
			}
		}
	})
}

// A degree that is no int64 is one below 0, whose polynomial is 0; what is no number has no polynomial, of however large a degree.
func TestPolynomialsOfNoDegree(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	degree := []float32{inf, -inf, nan, 3e38, 9.2233720368547758e18, 1e18}
	x := []float32{0.5, 0.5, 0.5, 0.5, 0.5, nan}
	levels(t, func(t *testing.T) {
		out := make([]float32, len(x))
		for p := ChebyshevT; p <= LegendreP; p++ {
			Polynomials(p, out, x, degree)
			if diff := cmp.Diff([]float32{0, 0, 0, 0, 0, nan}, out, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("%d: %s", p, diff)
			}
		}
	})
}

func TestNormal32(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	u := make([]float32, 16*37)
	for i := range u {
		u[i] = float32(r.Uint32()&(1<<24-1)) / (1 << 24)
	}
	levels(t, func(t *testing.T) {
		got := append([]float32{}, u...)
		Normal32(got, 0.5, 2)
		for i := range u {
			if i%16 >= 8 {
				continue
			}
			radius := float64(float32(math.Sqrt(float64(-2 * float32(math.Log(float64(1-u[i])))))))
			sin, cos := math.Sincos(float64(float32(2*math.Pi) * u[i+8]))
			if a, b := float32(float64(float32(radius*cos))*2+0.5), float32(float64(float32(radius*sin))*2+0.5); got[i] != a || got[i+8] != b {
				t.Fatalf("at %d: got %v and %v, want %v and %v", i, got[i], got[i+8], a, b)
			}
		}
	})
}
