package native

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestPairs(t *testing.T) {
	a, b := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, []float64{-1, -2, -3, -4, -5, -6, -7, -8, -9}
	for _, step := range [][2]int64{{1, 0}, {1, 1}, {2, 1}, {0, 2}} {
		var want []float64
		for i := range int64(4) {
			want = append(want, a[i*step[0]], b[i*step[1]])
		}
		got := make([]float64, 8)
		Pairs(got, a, step[0], b, step[1])
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("steps %v: %s", step, diff)
		}
	}
}

func TestPickRows(t *testing.T) {
	from := []uint16{0, 10, 20, 30, 40, 50, 60, 70, 80, 90}
	to := make([]uint16, 8)
	PickRows(to, from, []int64{0, 3}, []Run{{0, 1, 1}, {1, 0, 3}}, 4)
	if diff := cmp.Diff([]uint16{10, 0, 10, 20, 40, 30, 40, 50}, to); diff != "" {
		t.Error(diff)
	}
}

// TestWindows: the greatest and the mean of rows, column by column, at every instruction set.
func TestWindows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	levels(t, func(t *testing.T) {
		for _, cols := range []int{1, 7, 64, 300} {
			a := make([]float32, 20*cols)
			for i := range a {
				if a[i] = float32(r.IntN(9)); r.IntN(20) == 0 {
					a[i] = float32(math.NaN())
				}
			}
			w, sizes := Windows{At: []int64{3, 4, 19, 0, 7, 7}, Ends: []int64{0, 3, 4, 6}}, []float32{3, 1, 4}
			best, row, mean := make([]float32, 3*cols), make([]int64, 3*cols), make([]float32, 3*cols)
			MaxWindows32(best, row, a, w, cols)
			MeanWindows32(mean, a, w, sizes, cols)
			var wantBest, wantMean []float32
			var wantRow []int64
			for i, size := range sizes {
				for c := range cols {
					m, at, sum := float32(math.Inf(-1)), w.At[w.Ends[i]], float32(0)
					for _, k := range w.At[w.Ends[i]:w.Ends[i+1]] {
						x := a[int(k)*cols+c]
						if sum += x; x > m || x != x {
							m, at = x, k
						}
					}
					wantBest, wantRow, wantMean = append(wantBest, m), append(wantRow, at), append(wantMean, sum/size)
				}
			}
			for what, pair := range map[string][2]any{"greatest": {wantBest, best}, "rows": {wantRow, row}, "means": {wantMean, mean}} {
				if diff := cmp.Diff(pair[0], pair[1], cmpopts.EquateNaNs()); diff != "" {
					t.Fatalf("%s of %d columns: %s", what, cols, diff)
				}
			}
		}
	})
}

func TestAddOuter(t *testing.T) {
	levels(t, func(t *testing.T) {
		const m, n, lda = 5, 19, 21
		a, x, y := make([]float64, m*lda), make([]float64, m), make([]float64, n)
		for i := range x {
			x[i] = float64(i + 1)
		}
		for j := range y {
			y[j] = float64(j - 3)
		}
		want := slices.Clone(a)
		for i := range m {
			for j := range n {
				want[i*lda+j] = 2 * x[i] * y[j]
			}
		}
		AddOuter(m, n, 2, x, y, a, lda)
		if diff := cmp.Diff(want, a); diff != "" {
			t.Error(diff)
		}
		for i := range m { // of the triangle, back to nothing
			clear(want[i*lda : i*lda+i+1])
		}
		AddOuterLower(m, -2, x, y, a, lda)
		if diff := cmp.Diff(want, a); diff != "" {
			t.Errorf("lower: %s", diff)
		}
	})
}

// Short rows give one by one what BinaryRows gives, which joins them: whether operands follow each other, are repeated, or are numbers.
func TestBinaryRowsJoined(t *testing.T) {
	levels(t, func(t *testing.T) {
		for _, n := range []int64{1, 5, 45, 95} {
			for _, rows := range []int64{8, 23, 300} {
				x := make([]float32, n*rows)
				for i := range x {
					x[i] = float32(i%97) + 1
				}
				lanes := []Lane[float32]{{x, 1, n}, {x, 1, 0}, {x, 0, 0}, {x, 0, 1}}
				for i, a := range lanes {
					for j, b := range lanes {
						got, want := make([]float32, n*rows), make([]float32, n*rows)
						BinaryRows(Div, Lane[float32]{got, 1, n}, a, b, n, rows)
						for r := range rows {
							for k := range n {
								want[r*n+k] = a.From[r*a.Row+k*a.Step] / b.From[r*b.Row+k*b.Step]
							}
						}
						if diff := cmp.Diff(want, got); diff != "" {
							t.Fatalf("%d rows of %d, operands %d and %d: %s", rows, n, i, j, diff)
						}
					}
				}
			}
		}
	})
}
