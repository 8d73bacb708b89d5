package native

import (
	"math"
	"math/rand/v2"
	"testing"
)

// wellOrdered is a matrix whose triangles are easy to solve.
func wellOrdered(r *rand.Rand, n, m int) []float64 {
	a := make([]float64, n*m)
	for i := range a {
		a[i] = r.Float64() - 0.5
	}
	for i := range min(n, m) {
		a[i*m+i] += float64(n)
	}
	return a
}

func close64(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 1e-10*max(1, math.Abs(want[i]))) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func TestFactors(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	levels(t, func(t *testing.T) {
		for _, size := range [][2]int{{1, 1}, {2, 2}, {9, 9}, {33, 33}, {70, 70}, {5, 9}, {40, 17}, {3, 130}} {
			n, m := size[0], size[1]
			k := min(n, m)
			a := wellOrdered(r, n, m)
			for i := range n { // rows out of order
				j := r.IntN(n)
				for c := range m {
					a[i*m+c], a[j*m+c] = a[j*m+c], a[i*m+c]
				}
			}
			lu, piv := append([]float64{}, a...), make([]int64, k)
			LU(lu, n, m, piv)
			product := make([]float64, n*m)
			for i := range n {
				for j := range m {
					for l := range min(i+1, j+1, k) {
						f := lu[i*m+l]
						if l == i {
							f = 1
						}
						product[i*m+j] += f * lu[l*m+j]
					}
				}
			}
			for i := k - 1; i >= 0; i-- {
				for c, q := 0, int(piv[i]-1); c < m; c++ {
					product[i*m+c], product[q*m+c] = product[q*m+c], product[i*m+c]
				}
			}
			close64(t, "factors", product, a)
		}
		a := []float64{0, 1, 0, 2}
		piv := make([]int64, 2)
		if LU(a, 2, 2, piv); a[0] != 0 || a[3] != 2 && a[3] != 1 {
			t.Fatalf("a column of zeros gives %v", a)
		}
	})
}

func TestCholesky(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	levels(t, func(t *testing.T) {
		for _, n := range []int{0, 1, 2, 7, 30, 65} {
			for _, upper := range []bool{false, true} {
				l := wellOrdered(r, n, n)
				at := func(i, j int) float64 { // of the factor
					if upper {
						i, j = j, i
					}
					if j > i {
						return 0
					}
					if upper {
						i, j = j, i
					}
					return l[i*n+j]
				}
				a := make([]float64, n*n)
				for i := range n {
					for j := range n {
						for k := range n {
							if upper {
								a[i*n+j] += at(k, i) * at(k, j)
							} else {
								a[i*n+j] += at(i, k) * at(j, k)
							}
						}
					}
				}
				if info := Cholesky(a, n, upper); info != 0 {
					t.Fatalf("%d: info %d", n, info)
				}
				for i := range n {
					for j := range n {
						if want := at(i, j); want != 0 && math.Abs(a[i*n+j]-want) > 1e-10*float64(n) {
							t.Fatalf("%d %v: (%d, %d) is %v, want %v", n, upper, i, j, a[i*n+j], want)
						}
					}
				}
			}
		}
		for _, bad := range []float64{0, -1, math.NaN()} {
			for _, upper := range []bool{false, true} {
				a := []float64{1, 0, 0, 0, bad, 0, 0, 0, 1}
				if info := Cholesky(a, 3, upper); info != 2 {
					t.Fatalf("%v: info %d", bad, info)
				}
			}
		}
	})
}

func TestSolveTriangle(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	levels(t, func(t *testing.T) {
		for _, n := range []int{1, 2, 11, 40} {
			for _, k := range []int{1, 3, 37} {
				for how := range 8 {
					upper, unit, trans := how&1 > 0, how&2 > 0, how&4 > 0
					a, x := wellOrdered(r, n, n), wellOrdered(r, n, k)
					if unit { // the solution must not grow
						for i := range a {
							a[i] /= float64(n)
						}
					}
					b := make([]float64, n*k)
					for i := range n {
						for l := range n {
							row, col := i, l
							if trans {
								row, col = l, i
							}
							f := a[row*n+col]
							switch {
							case row == col && unit:
								f = 1
							case upper && col < row, !upper && col > row:
								f = 0
							}
							for j := range k {
								b[i*k+j] += f * x[l*k+j]
							}
						}
					}
					SolveTriangle(a, b, n, k, upper, unit, trans)
					close64(t, "solution", b, x)
				}
			}
		}
	})
}

func TestInts(t *testing.T) {
	levels(t, func(t *testing.T) {
		for _, n := range []int{1, 5, 64, 65, 1003} {
			a, b := special[int64](n), special[int64](n)
			for _, op := range []Op{Add, Sub, Mul, Max, Min} {
				for _, in := range [][2][]int64{{a, b}, {a[:1], b}, {a, b[:1]}, {a, a}} {
					got, want := make([]int64, n), make([]int64, n)
					Ints(op, got, in[0], in[1])
					IntsGo(op, want, in[0], in[1])
					sameBits(t, "ints", got, want)
					if len(in[0]) == n { // in place
						got := append([]int64{}, in[0]...)
						other := in[1]
						if n > 1 && len(other) == n && &other[0] == &in[0][0] {
							other = got
						}
						Ints(op, got, got, other)
						sameBits(t, "ints in place", got, want)
					}
				}
			}
			want := int64(0)
			for _, x := range a {
				want += x
			}
			if got := SumInts(a); got != want {
				t.Fatalf("the sum of %d is %d, want %d", n, got, want)
			}
		}
		if SumInts(nil) != 0 {
			t.Fatal("the sum of nothing is not 0")
		}
	})
}

// number is x as a D by the rules of Convert.
func number[D, S Number](x S) D {
	f := float64(x)
	switch any(x).(type) {
	case float32, float64:
		bits, least := 32, int64(math.MinInt32)
		switch any(D(0)).(type) {
		case float32, float64:
			return D(x)
		case int64:
			bits, least = 64, math.MinInt64
		}
		if limit := math.Ldexp(1, bits-1); !(f >= -limit && f < limit) && !(bits == 32 && f > -limit-1 && f < limit) {
			return D(least)
		}
		return D(int64(f))
	}
	return D(x)
}

func testConvert[D, S Number](t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{0, 1, 15, 64, 1003, 5000} {
		a := make([]S, n)
		for i := range a {
			switch f := math.Ldexp(r.Float64()-0.5, r.IntN(80)-5); any(S(0)).(type) {
			case float32, float64:
				a[i] = S(append([]float64{f, f, f, f, f, f}, math.NaN(), math.Inf(1), math.Inf(-1), 0, 1<<31, -1<<31, 1<<31-1, -1<<31-0.5, 1<<63, 255.9, -0.9)[r.IntN(17)])
			default:
				a[i] = S(r.Uint64())
			}
		}
		pasts := []Op{0}
		if numberOf[D]() <= 3 {
			pasts = append(pasts, Streamed)
		}
		for _, past := range pasts {
			got, want := make([]D, n+8), make([]D, n)
			Convert(past, got[3:n+3], a)
			for i, x := range a {
				want[i] = number[D](x)
				if g := got[i+3]; g != want[i] && (g == g || want[i] == want[i]) {
					t.Fatalf("%T %v is %T %v, want %v", x, x, g, g, want[i])
				}
			}
			if got[2] != 0 || got[n+3] != 0 {
				t.Fatalf("a conversion to %T writes beyond its %d elements", got[0], n)
			}
		}
	}
}

func TestConvert(t *testing.T) {
	levels(t, func(t *testing.T) {
		to[float32](t)
		to[float64](t)
		to[int64](t)
		to[int32](t)
		to[int16](t)
		to[int8](t)
		to[uint8](t)
	})
}

func to[D Number](t *testing.T) {
	testConvert[D, float32](t)
	testConvert[D, float64](t)
	testConvert[D, int64](t)
	testConvert[D, int32](t)
	testConvert[D, int16](t)
	testConvert[D, int8](t)
	testConvert[D, uint8](t)
}
