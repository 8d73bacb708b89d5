package native

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// operands is how many a kernel of Point takes.
func operands(op Op) int {
	switch {
	case op < AddTimes:
		return 1
	case op < OuterAdd:
		return 2
	}
	return 3
}

// mixed are numbers of all sizes around 0, among them NaN, infinities and zeros.
func mixed[T float32 | float64](n int) []T {
	out := special[T](n)
	for i := range out {
		if rand.IntN(5) > 0 {
			out[i] = T((rand.Float64() - 0.5) * math.Pow(10, float64(rand.IntN(4)-1)))
		}
	}
	return out
}

func near(got, want, scale float64) bool {
	return got == want || got != got && want != want || math.Abs(got-want) <= scale*max(1e-30, math.Abs(want))
}

func testPoint[T float32 | float64](t *testing.T, tolerance float64) {
	numbers := map[Op][]float64{Scaled: {3, 7}, Leaky: {0.1}, Hardtanh: {-1, 2}, Elu: {1.5, 1.1, 0.7}, Softplus: {2, 20}, Hardshrink: {0.5}, Softshrink: {0.5}, Threshold: {0.3, 9},
		Logit: {0.1, 1}, NanToNum: {1, 2, 3}, RoundUp: {100}, RoundDown: {10}, AddTimes: {0.7}, SubTimes: {0.7}, RsubTimes: {0.7}, Lerp: {0.3}, Times: {3}, LeakyBack: {0.1},
		EluBack: {1.5, 1.1, 0.7, 0}, HardtanhBack: {-1, 2}, SoftplusBack: {2, 20}, ShrinkBack: {0.5}, ThresholdBack: {0.3}, SoftmaxBack: {0.4}, LogSoftmaxBack: {0.4}, LogitBack: {0.1, 1}, SmoothL1: {0.5}, Huber: {0.5},
		OuterAdd: {0.7, 0.3}, AddCMul: {0.7}, AddCDiv: {0.7}, MSEBack: {0.1}, SmoothL1Back: {0.1, 0.5}, HuberBack: {0.1, 0.5}, SoftMarginBack: {0.1}, BCEBack: {0.1}}
	for op := Frac; op <= BCELogitsWeighed; op++ {
		for _, n := range []int{1, 7, 256, 1003} {
			all := [][]T{mixed[T](n), mixed[T](n), mixed[T](n)}
			if op == BCE || op == BCEBack { // of probabilities
				for i := range n {
					all[0][i], all[1][i] = T(rand.Float64()), T(rand.Float64())
				}
				all[0][0] = 1
				all[0][n-1] = T(1e-6)
			}
			if op == SoftMargin || op == SoftMarginBack { // beyond what exp holds the order of the factors shows
				for _, x := range all {
					for i := range x {
						x[i] = T(rand.Float64()*10 - 5)
					}
				}
			}
			k := operands(op)
			for repeated := -1; repeated < k; repeated++ {
				in := append([][]T{}, all[:k]...)
				if repeated >= 0 {
					in[repeated] = in[repeated][:1]
				}
				for _, past := range []Op{0, Streamed} {
					got, want := make([]T, n+9), make([]T, n)
					Point(op|past, got[3:n+3], in, numbers[op])
					PointGo(op, want, in, numbers[op])
					for i := range want {
						size := 1e-6 // of the parts, as they may cancel: of sums the largest operand, of products its square
						for _, v := range in {
							size = max(size, math.Abs(float64(at(v, i))))
						}
						if math.IsInf(size, 0) || size > 1e6 {
							size = 1
						}
						g, w := float64(got[i+3]), float64(want[i])
						if !near(g, w, tolerance) && !(math.Abs(g-w) <= tolerance*max(size, size*size)*10) && !(math.Abs(w) < 1e-37 && math.Abs(g) < 1e-37) {
							var xs []T
							for _, v := range in {
								xs = append(xs, at(v, i))
							}
							t.Fatalf("%T op %d of %v: got %v want %v", g, op, xs, got[i+3], w)
						}
					}
					if got[2] != 0 || got[n+3] != 0 {
						t.Fatalf("op %d writes beyond its %d elements", op, n)
					}
				}
			}
		}
	}
}

func TestPoint(t *testing.T) {
	levels(t, func(t *testing.T) {
		testPoint[float32](t, 1e-6) // several roundings: what is calculated in float32, not in double, is as good as PyTorch's
		testPoint[float64](t, 1e-14)
	})
}

// TestRemainders: quotients of any size.
func TestRemainders(t *testing.T) {
	n := 4003
	a, b := make([]float32, n), make([]float32, n)
	for i := range a {
		a[i], b[i] = float32(math.Ldexp(rand.Float64()-0.5, rand.IntN(60)-30)), float32(math.Ldexp(rand.Float64()-0.5, rand.IntN(60)-30))
		if i > n/2 { // small quotients, and whole ones
			a[i], b[i] = float32(rand.IntN(2000)-1000), float32(rand.IntN(20)-10)/2
		}
	}
	levels(t, func(t *testing.T) {
		for _, op := range []Op{Fmod, Remainder, FloorDiv} {
			for from := 0; from < n; from += 501 {
				x, y := a[from:min(n, from+501)], b[from:min(n, from+501)]
				got, want := make([]float32, len(x)), make([]float32, len(x))
				Point(op, got, [][]float32{x, y}, nil)
				PointGo(op, want, [][]float32{x, y}, nil)
				for i := range got {
					if got[i] != want[i] && (got[i] == got[i] || want[i] == want[i]) {
						t.Fatalf("op %d of %v, %v: got %v want %v", op, x[i], y[i], got[i], want[i])
					}
				}
			}
		}
	})
}

func testReductions[T float32 | float64](t *testing.T) {
	for op := Sum; op <= Powers; op++ {
		tolerance := 1e-10
		if _, single := any(T(0)).(float32); single && op >= Exps {
			tolerance = 1e-6 // exp and pow are as good as float32 needs
		}
		for _, size := range [][3]int{{1, 1, 1}, {3, 5, 5}, {7, 64, 70}, {2, 1003, 1003}, {5, 33, 40}, {1, 4*part + 17, 4*part + 17}, {0, 4, 4}, {3, 0, 0}} {
			rows, cols, stride := size[0], size[1], size[2]
			for _, nan := range []bool{false, true} {
				a := make([]T, rows*stride+1)
				for i := range a {
					a[i] = T(rand.Float64()*2 - 1)
					if op == Prod && i%50 > 0 {
						a[i] = 1
					}
					if nan && rand.IntN(100) == 0 {
						a[i] = T(math.NaN())
					}
				}
				center := make([]float64, max(rows, cols))
				for i := range center {
					center[i] = rand.Float64()
				}
				check := func(what string, got, want []float64) {
					t.Helper()
					for i := range got {
						if !near(got[i], want[i], tolerance) && math.Abs(got[i]-want[i]) > 1e-9*float64(rows*cols) {
							t.Fatalf("%s: %T op %d of %v at %d: got %v want %v", what, a, op, size, i, got[i], want[i])
						}
					}
				}
				got, want := make([]float64, rows), make([]float64, rows)
				ReduceRows(op, got, a, center, cols, stride)
				ReduceRowsGo(op, want, a, center, cols, stride)
				check("rows", got, want)
				got, want = make([]float64, cols), make([]float64, cols)
				ReduceCols(op, got, a, center, rows, stride)
				ReduceColsGo(op, want, a, center, rows, stride)
				check("columns", got, want)
			}
		}
	}
}

// softmaxOf is the softmax of a line, or its logarithm.
func softmaxOf(line []float64, logarithm bool) []float64 {
	m, s := math.Inf(-1), 0.0
	for _, x := range line {
		m = max(m, x)
	}
	for _, x := range line {
		s += math.Exp(x - m)
	}
	out := make([]float64, len(line))
	for i, x := range line {
		if out[i] = math.Exp(x-m) / s; logarithm {
			out[i] = x - m - math.Log(s)
		}
	}
	return out
}

// softmaxBackOf is the gradient of a line.
func softmaxBackOf(g, y []float64, logarithm bool) []float64 {
	s := 0.0
	for i := range g {
		if logarithm {
			s += g[i]
		} else {
			s += g[i] * y[i]
		}
	}
	out := make([]float64, len(g))
	for i := range g {
		if out[i] = (g[i] - s) * y[i]; logarithm {
			out[i] = g[i] - math.Exp(y[i])*s
		}
	}
	return out
}

// testSoftmax holds softmax of rows and columns, and the gradient of columns, against plain loops, with lines that have NaN, infinities, or nothing else.
func testSoftmax[T float32 | float64](t *testing.T, tolerance float64) {
	for _, size := range [][2]int{{1, 1}, {1, 300}, {5, 3}, {7, 64}, {129, 131}, {600, 257}, {2, 40000}} {
		rows, cols := size[0], size[1]
		a, g := make([]T, rows*cols), make([]T, rows*cols)
		for i := range a {
			a[i], g[i] = T(rand.Float64()*40-20), T(rand.Float64()-0.5)
			switch i % 977 {
			case 31:
				a[i] = T(math.Inf(-1))
			case 500:
				a[i] = T(math.Inf(1))
			case 777:
				a[i] = T(math.NaN())
			}
		}
		for r := range rows {
			a[r*cols] = T(math.Inf(-1)) // a column, and of one column the rows, of nothing else
		}
		along := func(xs []T, at, step, n int) []float64 {
			out := make([]float64, n)
			for i := range out {
				out[i] = float64(xs[at+i*step])
			}
			return out
		}
		for _, logarithm := range []bool{false, true} {
			check := func(what string, got []T, at, step int, want []float64) {
				t.Helper()
				for i, w := range want {
					if v := float64(got[at+i*step]); !near(v, w, tolerance) && math.Abs(v-w) > tolerance {
						t.Fatalf("%s of %v, logarithm %v: %T at %d+%d*%d: got %v want %v", what, size, logarithm, got, at, i, step, v, w)
					}
				}
			}
			byRows, byCols, back := make([]T, len(a)), make([]T, len(a)), make([]T, len(a))
			SoftmaxRows(byRows, a, cols, logarithm)
			SoftmaxCols(byCols, a, cols, logarithm)
			SoftmaxBackCols(back, g, byCols, cols, logarithm)
			for r := range rows {
				check("rows", byRows, r*cols, 1, softmaxOf(along(a, r*cols, 1, cols), logarithm))
			}
			for j := range cols {
				check("columns", byCols, j, cols, softmaxOf(along(a, j, cols, rows), logarithm))
				check("gradient", back, j, cols, softmaxBackOf(along(g, j, cols, rows), along(byCols, j, cols, rows), logarithm))
			}
		}
	}
}

func testDifferences[T float32 | float64](t *testing.T) {
	for _, size := range [][3]int{{1, 1, 1}, {3, 5, 7}, {4, 300, 300}, {2, 1025, 1030}, {3, 0, 0}} {
		rows, cols, stride := size[0], size[1], size[2]
		for _, nan := range []bool{false, true} {
			x, a := make([]T, cols), make([]T, rows*stride)
			for i := range a {
				a[i] = T(rand.IntN(5)) / 4
				if nan && rand.IntN(70) == 0 {
					a[i] = T([]float64{math.NaN(), math.Inf(1), math.Inf(-1)}[rand.IntN(3)])
				}
			}
			for i := range x {
				x[i] = T(rand.IntN(5)) / 4
			}
			got := make([]float64, rows)
			for kind := ApartNonzeros; kind <= ApartGreatest; kind++ {
				Differences(kind, got, x, a, stride)
				for r := range rows {
					want := 0.0
					for i := range x {
						d := math.Abs(float64(x[i]) - float64(a[r*stride+i]))
						switch kind {
						case ApartNonzeros:
							if d != 0 {
								want++
							}
						case ApartSizes:
							want += d
						case ApartSquares:
							want += d * d
						case ApartGreatest:
							want = max(want, d)
						}
					}
					if !near(got[r], want, 1e-12) {
						t.Errorf("%T, kind %d of %v, row %d: got %v want %v", x, kind, size, r, got[r], want)
					}
				}
			}
		}
	}
}

func testDots[T float32 | float64](t *testing.T) {
	tolerance := 1e-14                // of the products' sizes, as sums may cancel
	if any(T(0)) == any(float32(0)) { // of which some are added in float32
		tolerance = 1e-7
	}
	for _, size := range [][3]int{{1, 1, 1}, {3, 5, 7}, {33, 300, 300}, {2, 4*part + 9, 4*part + 9}, {3, 0, 0}} {
		rows, cols, stride := size[0], size[1], size[2]
		a, v, w := make([]T, rows*stride), make([]T, cols), make([]T, rows)
		for _, xs := range [][]T{a, v, w} {
			for i := range xs {
				xs[i] = T(rand.Float64() - 0.5)
			}
		}
		got, want := make([]float64, rows), make([]float64, rows)
		DotRows(got, a, v, stride)
		DotRowsGo(want, a, v, stride)
		for i := range got {
			var parts float64
			for j, x := range v {
				parts += math.Abs(float64(a[i*stride+j]) * float64(x))
			}
			if math.Abs(got[i]-want[i]) > tolerance*parts {
				t.Errorf("row %d of %v: got %v want %v", i, size, got[i], want[i])
			}
		}
		got, want = make([]float64, cols), make([]float64, cols)
		DotCols(got, a, w, stride)
		DotColsGo(want, a, w, stride)
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-9 {
				t.Errorf("column %d of %v: got %v want %v", i, size, got[i], want[i])
			}
		}
	}
}

// sameNearly is sameBits but for a rounding or so.
func sameNearly[T float32 | float64](t *testing.T, what string, got, want any) {
	t.Helper()
	g, w := got.([]T), want.([]T)
	for i := range g {
		if !near(float64(g[i]), float64(w[i]), 1e-6) && math.Abs(float64(g[i]-w[i])) > 1e-6 {
			t.Errorf("%s: element %d is %v, want %v", what, i, g[i], w[i])
		}
	}
}

func testScans[T float32 | float64](t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {3, 5}, {9, 300}, {17, 33}, {300, 3}} {
		rows, cols := size[0], size[1]
		a := special[T](rows * cols)
		for _, op := range []Running{RunningSum, RunningProduct, RunningLogSum} {
			same := sameBits
			if op == RunningLogSum {
				same = sameNearly[T]
			}
			got, want := make([]T, len(a)), make([]T, len(a))
			ScanRows(op, got, a, cols)
			for r := range rows {
				ScanGo(op, want[r*cols:], a[r*cols:], cols, 1)
			}
			same(t, fmt.Sprintf("rows of %v, %v", size, op), got, want)
			ScanCols(op, got, a, cols)
			for c := range cols {
				ScanGo(op, want[c:], a[c:], rows, cols)
			}
			same(t, fmt.Sprintf("columns of %v, %v", size, op), got, want)
		}
		for _, least := range []bool{false, true} {
			got, want, best, line := make([]int64, cols), make([]int64, cols), make([]T, cols), make([]T, rows)
			ArgCols(got, best, a, rows, cols, least)
			for c := range cols {
				for r := range line {
					line[r] = a[r*cols+c]
				}
				ArgRowsGo(want[c:c+1], line, rows, least)
				if x := line[want[c]]; best[c] != x && (x == x || best[c] == best[c]) {
					t.Errorf("column %d of %v: best %v, want %v", c, size, best[c], x)
				}
			}
			sameBits(t, fmt.Sprintf("positions in columns of %v, %v", size, least), got, want)
		}
	}
}

func testTurn[T uint32 | uint64](t *testing.T) {
	for _, size := range [][4]int{{1, 1, 1, 1}, {16, 16, 16, 16}, {5, 7, 9, 6}, {70, 130, 131, 71}, {64, 64, 64, 100}, {33, 1, 1, 33}} {
		rows, cols, stride, step := size[0], size[1], size[2], size[3]
		a := make([]T, rows*stride)
		for i := range a {
			a[i] = T(rand.Uint64())
		}
		got, want := make([]T, cols*step), make([]T, cols*step)
		Turn(got, step, a, stride, rows, cols)
		for i := range rows {
			for j := range cols {
				want[j*step+i] = a[i*stride+j]
			}
		}
		sameBits(t, fmt.Sprintf("%T of %v", a, size), got, want)
	}
}

func TestReductions(t *testing.T) {
	levels(t, func(t *testing.T) {
		testReductions[float32](t)
		testReductions[float64](t)
		testDots[float32](t)
		testDots[float64](t)
		testDifferences[float32](t)
		testDifferences[float64](t)
		testSoftmax[float32](t, 2e-6)
		testSoftmax[float64](t, 1e-12)
		testScans[float32](t)
		testScans[float64](t)
		testTurn[uint32](t)
		testTurn[uint64](t)
	})
}

// TestLowProducts: of few rows, with columns that are no whole number of vectors, and sums that are cut.
func TestLowProducts(t *testing.T) {
	levels(t, func(t *testing.T) {
		for m := 1; m <= 13; m++ {
			for _, size := range [][2]int{{64, 50}, {33, 900}, {100, 385}, {7, 800}} {
				n, k := size[0], size[1]
				a, b := make([]float32, m*k), make([]float32, k*n)
				for i := range a {
					a[i] = rand.Float32() - 0.5
				}
				for i := range b {
					b[i] = rand.Float32() - 0.5
				}
				for _, beta := range []float32{0, 0.5} {
					got, want := make([]float32, m*n), make([]float32, m*n)
					for i := range got {
						got[i], want[i] = 2, 2
					}
					A, B := Matrix[float32]{a, k, 1}, Matrix[float32]{b, n, 1}
					Gemm32(m, n, k, 1.5, A, B, beta, Matrix[float32]{got, n, 1})
					GemmGo(m, n, k, 1.5, A, B, beta, Matrix[float32]{want, n, 1})
					for i := range got {
						if math.Abs(float64(got[i]-want[i])) > 1e-4 {
							t.Fatalf("%dx%dx%d, beta %v, at %d: got %v want %v", m, n, k, beta, i, got[i], want[i])
						}
					}
				}
			}
		}
	})
}
