package native

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func ulps(got, want float32) float64 {
	if got == want || got != got && want != want {
		return 0
	}
	w := math.Abs(float64(want))
	u := math.Ldexp(1, int(math.Floor(math.Log2(max(w, 1e-38))))-23)
	return math.Abs(float64(got)-float64(want)) / u
}

func levels(t *testing.T, f func(t *testing.T)) {
	for l := SSE2; l <= Level(); l++ {
		t.Run(l.String(), func(t *testing.T) {
			setLevel(l)
			defer setLevel(Level())
			f(t)
		})
	}
}

func TestUnary(t *testing.T) {
	inf := float32(math.Inf(1))
	var xs []float32
	for i := -20000; i <= 20000; i++ {
		xs = append(xs, float32(i)*0.00447)
	}
	for e := -140; e < 126; e++ {
		xs = append(xs, float32(math.Ldexp(1.3, e)), -float32(math.Ldexp(1.7, e)))
	}
	xs = append(xs, 0, inf, -inf, float32(math.NaN()), float32(math.Copysign(0, -1)), 88.7, 88.8, -87.5, -103, -104)
	levels(t, func(t *testing.T) {
		for op := Exp; op <= Lgamma; op++ {
			out, want := make([]float32, len(xs)), make([]float32, len(xs))
			Unary32(op, out, xs)
			UnaryGo(op, want, xs)
			worst, at := 0.0, 0
			for i := range xs {
				u := ulps(out[i], want[i])
				// Near a zero of the function only the absolute error means something.
				if (op == Sin || op == Cos || op == Gelu || op == GeluTanh) && math.Abs(float64(out[i]-want[i])) < 3e-7*max(1, math.Abs(float64(want[i]))) {
					u = 0
				}
				if (op == Silu || op == Sigmoid) && math.Abs(float64(want[i])) < 1e-35 {
					u = 0
				}
				if u != u || u > worst {
					worst, at = u, i
				}
			}
			if !(worst <= 4) {
				t.Errorf("op %d: %.1f ulp at %v: got %v want %v", op, worst, xs[at], out[at], want[at])
			}
			d := make([]float64, len(xs))
			dout, dwant := make([]float64, len(xs)), make([]float64, len(xs))
			for i, x := range xs {
				d[i] = float64(x)
			}
			Unary64(op, dout, d)
			UnaryGo(op, dwant, d)
			for i := range d {
				zero := 1e-15
				if op == Lgamma { // which has zeros next to poles
					zero = 1e-13
				}
				if diff := math.Abs(dout[i] - dwant[i]); diff > 1e-12*math.Abs(dwant[i])+zero {
					t.Errorf("op %d float64 at %v: got %v want %v", op, d[i], dout[i], dwant[i])
					break
				}
			}
		}
	})
}

// The logarithm of gamma is 0 at 1 and 2, wherever they stand in a row.
func TestZerosOfLgamma(t *testing.T) {
	xs := make([]float32, 41)
	for i := range xs {
		xs[i] = float32(1 + i%2)
	}
	levels(t, func(t *testing.T) {
		out := make([]float32, len(xs))
		Unary32(Lgamma, out, xs)
		for i, y := range out {
			if y != 0 {
				t.Errorf("of %v: %v", xs[i], y)
			}
		}
	})
}

func TestBinary(t *testing.T) {
	n := 1003
	a, b := make([]float32, n), make([]float32, n)
	for i := range a {
		a[i], b[i] = rand.Float32()-0.5, rand.Float32()-0.5
	}
	a[5], b[9] = float32(math.NaN()), float32(math.NaN())
	levels(t, func(t *testing.T) {
		for op := Add; op <= Min; op++ {
			for _, in := range [][2][]float32{{a, b}, {a[:1], b}, {a, b[:1]}} {
				got, want := make([]float32, n), make([]float32, n)
				Binary32(op, got, in[0], in[1])
				BinaryGo(op, want, in[0], in[1])
				for i := range got {
					if got[i] != want[i] && (got[i] == got[i] || want[i] == want[i]) {
						t.Fatalf("op %d at %d: %v want %v", op, i, got[i], want[i])
					}
				}
			}
		}
	})
}

// special are numbers among which NaN, zeros of both signs, infinities and equal ones are frequent.
func special[T float32 | float64 | int64](n int) []T {
	out := make([]T, n)
	for i := range out {
		x := float64(rand.IntN(7) - 3)
		if _, ok := any(out).([]int64); !ok {
			switch rand.IntN(40) {
			case 0:
				x = math.NaN()
			case 1:
				x = math.Inf(1)
			case 2:
				x = math.Inf(-1)
			case 3:
				x = math.Copysign(0, -1)
			}
		}
		out[i] = T(x)
	}
	return out
}

func sameBits(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func testCompare[T float32 | float64 | int64](t *testing.T) {
	for _, n := range []int{1, 63, 65, 1003} {
		a, b := special[T](n), special[T](n)
		for op := Eq; op <= Ge; op++ {
			for _, in := range [][2][]T{{a, b}, {a[:1], b}, {a, b[:1]}, {a[:1], b[:1]}} {
				got, want := make([]uint8, n), make([]uint8, n)
				Compare(op, got, in[0], in[1])
				CompareGo(op, want, in[0], in[1])
				sameBits(t, fmt.Sprintf("%T op %d of %d", a, op, n), got, want)
			}
		}
	}
}

func testClamp[T float32 | float64](t *testing.T) {
	for _, n := range []int{1, 65, 1003} {
		a, lo, hi := special[T](n), special[T](n), special[T](n)
		nan := []T{T(math.NaN())}
		for _, in := range [][3][]T{{a, lo, hi}, {a, lo[:1], hi[:1]}, {a, lo[:1], hi}, {a, nan, hi[:1]}, {a, lo[:1], nan}, {a[:1], lo, hi}} {
			got, want := make([]T, n), make([]T, n)
			Clamp(Clamping, got, in[0], in[1], in[2])
			ClampGo(want, in[0], in[1], in[2])
			sameBits(t, fmt.Sprintf("%T of %d", a, n), got, want)
		}
	}
}

func testSelect[T uint8 | uint16 | uint32 | uint64](t *testing.T) {
	n := 1003
	c, a, b := make([]uint8, n), make([]T, n), make([]T, n)
	for i := range c {
		c[i], a[i], b[i] = uint8(rand.IntN(3)), T(rand.Uint64()), T(rand.Uint64())
	}
	for k := range 8 {
		length := func(bit int) int {
			if k>>bit&1 != 0 {
				return 1
			}
			return n
		}
		got, want := make([]T, n), make([]T, n)
		Select(Selection, got, c[:length(0)], a[:length(1)], b[:length(2)])
		SelectGo(want, c[:length(0)], a[:length(1)], b[:length(2)])
		sameBits(t, fmt.Sprintf("%T, %d", a, k), got, want)
	}
}

func TestSelections(t *testing.T) {
	levels(t, func(t *testing.T) {
		testCompare[float32](t)
		testCompare[float64](t)
		testCompare[int64](t)
		testClamp[float32](t)
		testClamp[float64](t)
		testSelect[uint8](t)
		testSelect[uint16](t)
		testSelect[uint32](t)
		testSelect[uint64](t)
	})
}

// What is streamed has the same bits, wherever it begins.
func TestStreamed(t *testing.T) {
	levels(t, func(t *testing.T) {
		for _, n := range []int{300, 1003, 4096} {
			for off := range 20 {
				a, b, c := special[float32](n), special[float32](n), special[float32](n)
				d, cond, words := special[float64](n), make([]uint8, n), make([]uint32, n)
				for i := range cond {
					cond[i], words[i] = uint8(i%3), rand.Uint32()
				}
				check := func(what string, f func(s Op, f32 []float32, f64 []float64, u8 []uint8, u32 []uint32)) {
					run := func(s Op) []any {
						f32, f64, u8, u32 := make([]float32, n+40), make([]float64, n+40), make([]uint8, n+40), make([]uint32, n+40)
						f(s, f32[off:off+n], f64[off:off+n], u8[off:off+n], u32[off:off+n])
						return []any{f32, f64, u8, u32}
					}
					sameBits(t, fmt.Sprintf("%s of %d at %d", what, n, off), run(Streamed), run(0))
				}
				check("unary", func(s Op, f32 []float32, f64 []float64, _ []uint8, _ []uint32) {
					Unary32(Sigmoid|s, f32, a)
					Unary64(Abs|s, f64, d)
				})
				check("binary", func(s Op, f32 []float32, f64 []float64, u8 []uint8, _ []uint32) {
					Binary32(Max|s, f32, a, b)
					Binary64(Add|s, f64, d[:1], d)
					Compare(Lt|s, u8, a, b[:1])
				})
				check("ternary", func(s Op, f32 []float32, f64 []float64, _ []uint8, u32 []uint32) {
					Clamp(Clamping|s, f32, a, b, c)
					Clamp(Clamping|s, f64, d, d[:1], d[1:2])
					Select(Selection|s, u32, cond, words, words[:1])
				})
			}
		}
	})
}

func TestCopyRows(t *testing.T) {
	from := make([]uint32, 1000)
	for i := range from {
		from[i] = uint32(i)
	}
	for _, g := range []struct{ at, step, row int64 }{{0, 1, 17}, {16, -1, 17}, {0, 2, 40}, {5, 0, 3}, {3, 7, 1}, {390, -3, -5}} {
		for _, d := range []struct{ step, row int64 }{{1, 17}, {2, 40}, {40, 1}} {
			for _, size := range [][2]int64{{17, 9}, {1, 1}, {3, 20}, {9, 3}} {
				n, rows := size[0], size[1]
				got, want := make([]uint32, 1000), make([]uint32, 1000)
				CopyRows(Grid[uint32]{got, 0, d.step, d.row}, Grid[uint32]{from, g.at, g.step, g.row}, n, rows)
				for i := range rows {
					for j := range n {
						want[i*d.row+j*d.step] = from[g.at+i*g.row+j*g.step]
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%v to %v, %v (-want +got):\n%s", g, d, size, diff)
				}
			}
		}
	}
}

func TestMoveRows(t *testing.T) {
	from := make([]byte, 5000)
	for i := range from {
		from[i] = byte(rand.Uint32())
	}
	for _, size := range []int{1, 3, 64, 100, 256} {
		for _, off := range []int{0, 1, 60} {
			at := []int64{7, 0, 4000, 7, 128}
			want := make([]byte, 2000)
			for k, p := range at {
				copy(want[off+k*size:off+(k+1)*size], from[p:])
			}
			for _, op := range []Op{0, Streamed} {
				got := make([]byte, 2000)
				MoveRows(op, got[off:], from, at, size)
				sameBits(t, fmt.Sprintf("size %d at %d", size, off), got, want)
			}
		}
	}
}

func TestRowsInOrder(t *testing.T) {
	levels(t, func(t *testing.T) {
		for _, cols := range []int{1, 5, 63, 64, 65, 200, 1003} {
			for _, a := range [][]float32{special[float32](7 * cols), make([]float32, 7*cols)} {
				for i := range a {
					if cols%2 == 0 && a[i] != a[i] {
						a[i] = 0.5
					}
				}
				for _, least := range []bool{false, true} {
					got, want := make([]int64, 7), make([]int64, 7)
					ArgRows32(got, a, cols, least)
					ArgRowsGo(want, a, cols, least)
					sameBits(t, fmt.Sprintf("arg %d %v", cols, least), got, want)
				}
				got, want := make([]float32, len(a)), make([]float32, len(a))
				CumsumRows32(got, a, cols)
				CumsumRowsGo(want, a, cols)
				sameBits(t, fmt.Sprintf("cumsum %d", cols), got, want)
			}
		}
	})
}

func TestPowers(t *testing.T) {
	n := 1003
	a, b := special[float32](n), special[float32](n)
	for i := range a {
		a[i] *= rand.Float32() * 3
	}
	levels(t, func(t *testing.T) {
		for op := Pow; op <= Hypot; op++ {
			for _, in := range [][2][]float32{{a, b}, {a[:1], b}, {a, b[:1]}} {
				got, want := make([]float32, n), make([]float32, n)
				Binary32(op, got, in[0], in[1])
				BinaryGo(op, want, in[0], in[1])
				for i := range got {
					if u := ulps(got[i], want[i]); !(u <= 2) {
						t.Fatalf("op %d of %v, %v: %v want %v", op, at(in[0], i), at(in[1], i), got[i], want[i])
					}
				}
			}
		}
	})
}

// TestSlopes: gradients of activations, of rows and of one number repeated.
func TestSlopes(t *testing.T) {
	n := 1003
	g, x := make([]float32, n), make([]float32, n)
	for i := range x {
		g[i], x[i] = rand.Float32()*4-2, rand.Float32()*16-8
	}
	levels(t, func(t *testing.T) {
		for op := GeluBack; op <= TanhBack; op++ {
			for _, in := range [][2][]float32{{g, x}, {g[:1], x}, {g, x[:1]}} {
				got, want := make([]float32, n), make([]float32, n)
				Binary32(op, got, in[0], in[1])
				BinaryGo(op, want, in[0], in[1])
				for i := range got {
					if d := math.Abs(float64(got[i] - want[i])); !(d <= 2e-6*max(1, math.Abs(float64(want[i])))) { // 1+tanh cancels
						t.Fatalf("op %d of %v, %v: %v want %v", op, at(in[0], i), at(in[1], i), got[i], want[i])
					}
				}
			}
		}
	})
}

func TestBits(t *testing.T) {
	for _, n := range []int{1, 64, 65, 1003} {
		a, b := make([]uint8, n), make([]uint8, n)
		for i := range a {
			a[i], b[i] = uint8(rand.Uint32()), uint8(rand.Uint32())
		}
		for op := And; op <= Xor; op++ {
			for _, in := range [][2][]uint8{{a, b}, {a[:1], b}, {a, b[:1]}} {
				got, want := make([]uint8, n), make([]uint8, n)
				Bits(op, got, in[0], in[1])
				BitsGo(op, want, in[0], in[1])
				sameBits(t, fmt.Sprintf("op %d of %d", op, n), got, want)
			}
		}
	}
}

func TestRows(t *testing.T) {
	levels(t, func(t *testing.T) {
		for _, cols := range []int{1, 7, 33, 1000, 5000} {
			rows := 3
			a := make([]float32, rows*cols)
			for i := range a {
				a[i] = rand.Float32()*4 - 1
			}
			near := func(what string, got, want []float32) {
				for i := range got {
					if math.Abs(float64(got[i]-want[i])) > 3e-6*max(1, math.Abs(float64(want[i]))) {
						t.Errorf("%s cols=%d at %d: %v want %v", what, cols, i, got[i], want[i])
						return
					}
				}
			}
			g, w := make([]float32, rows), make([]float32, rows)
			SumRows32(g, a, cols, cols)
			SumRowsGo(w, a, cols, cols)
			near("sum", g, w)
			g2, w2 := make([]float32, len(a)), make([]float32, len(a))
			for _, lg := range []bool{false, true} {
				SoftmaxRows32(g2, a, cols, lg)
				SoftmaxRowsGo(w2, a, cols, lg)
				near("softmax", g2, w2)
			}
			if cols > 1 {
				gm, gr, wm, wr := make([]float32, rows), make([]float32, rows), make([]float32, rows), make([]float32, rows)
				NormRows32(g2, gm, gr, a, a[:cols], a[cols:2*cols], cols, 1e-5)
				NormRowsGo(w2, wm, wr, a, a[:cols], a[cols:2*cols], cols, 1e-5)
				near("norm", g2, w2)
				near("mean", gm, wm)
			}
			for power := 1; power <= 2; power++ {
				got, want := Deviations32(a, 0.25, power), DeviationsGo(a, 0.25, power)
				if math.Abs(got-want) > 1e-12*float64(len(a)) {
					t.Errorf("deviations to the power %d, cols=%d: %v want %v", power, cols, got, want)
				}
			}
			c := make([]float32, cols)
			SumCols32(c, a, rows, cols)
			for j := range c {
				if want := a[j] + a[cols+j] + a[2*cols+j]; math.Abs(float64(c[j]-want)) > 1e-5 {
					t.Fatalf("sumcols: %v want %v", c[j], want)
				}
			}
		}
	})
}

func TestGemm(t *testing.T) {
	levels(t, func(t *testing.T) {
		for _, s := range [][3]int{{1, 1, 1}, {3, 5, 7}, {13, 33, 65}, {64, 64, 64}, {100, 130, 400}, {1, 1000, 500}, {2, 1500, 300}, {3, 700, 900}, {257, 1, 300}, {200, 1100, 20}} {
			m, n, k := s[0], s[1], s[2]
			for trans := 0; trans < 4; trans++ {
				a := Matrix[float32]{make([]float32, m*k), k, 1}
				b := Matrix[float32]{make([]float32, k*n), n, 1}
				if trans&1 != 0 {
					a.RS, a.CS = 1, m
				}
				if trans&2 != 0 {
					b.RS, b.CS = 1, k
				}
				for i := range a.Data {
					a.Data[i] = rand.Float32() - 0.5
				}
				for i := range b.Data {
					b.Data[i] = rand.Float32() - 0.5
				}
				c := Matrix[float32]{make([]float32, m*n), n, 1}
				w := Matrix[float32]{make([]float32, m*n), n, 1}
				for i := range c.Data {
					c.Data[i] = 1
					w.Data[i] = 1
				}
				Gemm32(m, n, k, 2, a, b, 0.5, c)
				GemmGo(m, n, k, 2, a, b, 0.5, w)
				for i := range c.Data {
					if math.Abs(float64(c.Data[i]-w.Data[i])) > 1e-4 {
						t.Fatalf("%v trans %d at %d: %v want %v", s, trans, i, c.Data[i], w.Data[i])
					}
				}
			}
		}
	})
}

func BenchmarkGemm(b *testing.B) {
	for _, n := range []int{64, 256, 512, 1024} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x := Matrix[float32]{make([]float32, n*n), n, 1}
			y := Matrix[float32]{make([]float32, n*n), n, 1}
			for i := range x.Data {
				x.Data[i] = 1
			}
			for b.Loop() {
				Gemm32(n, n, n, 1, x, x, 0, y)
			}
			b.ReportMetric(2*float64(n*n*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "gflops")
		})
	}
}

func BenchmarkRows(b *testing.B) {
	x, y := make([]float32, 1<<20), make([]float32, 1<<20)
	for i := range x {
		x[i] = float32(i%100) * 0.01
	}
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			Binary32(Add, y, x, x)
		}
	})
	b.Run("exp", func(b *testing.B) {
		for b.Loop() {
			Unary32(Exp, y, x)
		}
	})
	b.Run("sum", func(b *testing.B) {
		for b.Loop() {
			SumRows32(y[:1], x, len(x), len(x))
		}
	})
	b.Run("softmax", func(b *testing.B) {
		for b.Loop() {
			SoftmaxRows32(y, x, 1024, false)
		}
	})
}
