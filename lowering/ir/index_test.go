package ir_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/kernels/tensor"
	"whittle/lowering/ir"
)

// value is x at a point.
func value(x ir.Index, at []int64) int64 {
	v := x.Const
	for i, c := range x.Coef {
		if c != 0 {
			v += c * at[i]
		}
	}
	for _, t := range x.More {
		q := value(t.Of, at) / t.Div
		if t.Mod > 0 {
			q %= t.Mod
		}
		v += t.Coef * q
	}
	return v
}

// points calls f for all points of a space.
func points(sizes []int64, f func(at []int64)) {
	at := make([]int64, len(sizes))
	for range tensor.Numel(sizes) {
		f(at)
		for i := len(sizes) - 1; i >= 0; i-- {
			if at[i]++; at[i] < sizes[i] {
				break
			}
			at[i] = 0
		}
	}
}

// TestQuotients makes random indices out of quotients of quotients: whatever is simplified, the values stay, and keep to their bounds.
func TestQuotients(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		sizes := make([]int64, 1+r.IntN(3))
		for i := range sizes {
			sizes[i] = 1 + r.Int64N(6)
		}
		x := ir.Index{}
		for i := range sizes {
			x = x.Plus(ir.Axis(i), r.Int64N(7))
		}
		x.Const = r.Int64N(5)
		for range 1 + r.IntN(3) {
			div, mod := 1+r.Int64N(6), r.Int64N(6)
			y := x.Quotient(div, mod, sizes)
			lo, hi := y.Bounds(sizes)
			points(sizes, func(at []int64) {
				want := value(x, at) / div
				if mod > 0 {
					want %= mod
				}
				if got := value(y, at); got != want || got < lo || got > hi {
					t.Fatalf("(%s)/%d%%%d over %v at %v is %d, and %s is %d, of %d to %d", x.Text(), div, mod, sizes, at, want, y.Text(), got, lo, hi)
				}
			})
			x = y.Plus(ir.Axis(0), r.Int64N(3)).Plus(y, r.Int64N(2))
		}
	}
}

// TestSimplify shows the axes of loops that read a buffer under other shapes: each load's index is one of plain axes again.
func TestSimplify(t *testing.T) {
	// What [8, 3] reads of [2, 3, 2, 2], whose memory is that of [2, 2, 3, 2].
	flat := ir.Index{Coef: []int64{3, 1}}
	sizes := []int64{8, 3}
	of := []ir.Index{flat.Quotient(12, 2, sizes), flat.Quotient(4, 3, sizes), flat.Quotient(2, 2, sizes), flat.Quotient(1, 2, sizes)}
	at := ir.Index{}.Plus(of[0], 12).Plus(of[2], 6).Plus(of[1], 2).Plus(of[3], 1)
	in := &ir.Buffer{Name: "in", DType: tensor.Float32, Shape: []int64{24}, Stride: []int64{1}}
	out := &ir.Buffer{Name: "out", DType: tensor.Float32, Shape: sizes, Stride: []int64{3, 1}}
	for _, c := range []struct {
		name string
		l    *ir.Loops
		want string
	}{
		{"two axes out of three", &ir.Loops{Out: out, At: ir.Index{Coef: []int64{1}}, Ranges: []int64{24},
			Value: &ir.Expr{Kind: ir.Load, DType: tensor.Float32, Buf: in, At: ir.Index{}.Plus(ir.Axis(0).Quotient(4, 0, []int64{24}), 1).Plus(ir.Axis(0).Quotient(1, 4, []int64{24}), 6)}},
			"out = over [6 4]: in[i0 + 6*i1]"},
		{"axes of size 1", &ir.Loops{Out: out, At: ir.Index{Coef: []int64{3, 1, 9}}, Ranges: []int64{8, 3, 1}, Reduction: []int64{1, 5}, Reduce: "sum", Value: load(in, 0, 3, 1, 7, 9, 2)},
			"out = sum[5] over [8 3]: in[3*i0 + i1 + 2*i2]"},
		{"a reduction over one", &ir.Loops{Out: out, At: ir.Index{Coef: []int64{1}}, Ranges: []int64{8}, Reduction: []int64{1}, Reduce: "sum", Value: load(in, 0, 3, 1)}, "out = sum[1] over [8]: in[3*i0 + i1]"},
		{"the order of memory", &ir.Loops{Out: out, At: ir.Index{Coef: []int64{1, 8}}, Ranges: []int64{8, 3}, Value: load(in, 0, 3, 1)}, "out = over [3 8]: in[i0 + 3*i1]"},
	} {
		c.l.Simplify()
		if diff := cmp.Diff(c.want, c.l.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	// Rows of three meet rows of four: what cannot be cut stays a quotient, with the same values.
	l := &ir.Loops{Out: out, At: out.StoreAt(), Ranges: sizes, Value: &ir.Expr{Kind: ir.Load, DType: tensor.Float32, Buf: in, At: at}}
	l.Simplify()
	got := map[int64]int64{}
	points(l.Ranges, func(p []int64) { got[value(l.At, p)] = value(l.Value.At, p) })
	points(sizes, func(p []int64) {
		if w := value(at, p); got[value(out.StoreAt(), p)] != w {
			t.Fatalf("at %v: %d, want %d: %s", p, got[value(out.StoreAt(), p)], w, l)
		}
	})
}
