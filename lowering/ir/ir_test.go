package ir_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/kernels/tensor"
	"whittle/lowering/ir"
)

var (
	x    = &ir.Buffer{Name: "x", DType: tensor.Float32, Shape: []int64{2, 3}, Stride: []int64{3, 1}}
	view = &ir.Buffer{Name: "view", DType: tensor.Float32, Shape: []int64{3, 2}, Stride: []int64{1, 3}, Root: x}
)

func load(b *ir.Buffer, constant int64, coef ...int64) *ir.Expr {
	return &ir.Expr{Kind: ir.Load, DType: b.DType, Buf: b, At: ir.Index{Coef: coef, Const: constant}}
}

func call(op string, args ...*ir.Expr) *ir.Expr {
	return &ir.Expr{Kind: ir.Call, DType: tensor.Float32, Op: op, Args: args}
}

// TestIndexText shows indices as C has them.
func TestIndexText(t *testing.T) {
	for _, c := range []struct {
		ix   ir.Index
		want string
	}{
		{ir.Index{}, "0"},
		{ir.Index{Const: 7}, "7"},
		{ir.Index{Coef: []int64{0, 0}}, "0"},
		{ir.Index{Coef: []int64{1}}, "i0"},
		{ir.Index{Coef: []int64{12, 0, 1}}, "12*i0 + i2"},
		{ir.Index{Coef: []int64{0, -1}, Const: 4}, "-1*i1 + 4"},
		{ir.Index{Coef: []int64{3}, Const: -2}, "3*i0 + -2"},
	} {
		if diff := cmp.Diff(c.want, c.ix.Text()); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.ix, diff)
		}
	}
}

// TestString shows the text of every kind of expression and of loops.
func TestString(t *testing.T) {
	one := &ir.Expr{Kind: ir.Const, DType: tensor.Float32, Value: int64(1)}
	axis := &ir.Expr{Kind: ir.AxisValue, DType: tensor.Int64, At: ir.Index{Coef: []int64{0, 2}, Const: 1}}
	sum := call("add", call("mul", load(x, 0, 3, 1), one), load(view, 2))
	for _, c := range []struct {
		what interface{ String() string }
		want string
	}{
		{load(x, 0, 3, 1), "x[3*i0 + i1]"},
		{load(view, 2), "view[2]"},
		{one, "1"},
		{axis, "(2*i1 + 1)"},
		{sum, "add.f32(mul.f32(x[3*i0 + i1], 1), view[2])"},
		{&ir.Loops{Out: &ir.Buffer{Name: "out"}, Ranges: []int64{2, 3}, Value: sum}, "out = over [2 3]: add.f32(mul.f32(x[3*i0 + i1], 1), view[2])"},
		{&ir.Loops{Out: &ir.Buffer{Name: "out"}, Ranges: []int64{2}, Reduction: []int64{3}, Reduce: "amax", Value: load(x, 0, 3, 1)}, "out = amax[3] over [2]: x[3*i0 + i1]"},
		{&ir.Loops{Out: &ir.Buffer{Name: "out"}, Value: one}, "out = over []: 1"},
	} {
		if diff := cmp.Diff(c.want, c.what.String()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestShared: an expression is a graph; what several calls read is met, and counted, once.
func TestShared(t *testing.T) {
	a, b := load(x, 0, 3, 1), load(view, 0, 1, 3)
	again := load(x, 0, 3, 1) // equal to a, and another
	square := call("mul", a, a)
	for _, c := range []struct {
		name  string
		e     *ir.Expr
		reads []*ir.Expr
		size  int
	}{
		{"a load", a, []*ir.Expr{a}, 0},
		{"one operand twice", square, []*ir.Expr{a}, 1},
		{"a call that two calls read", call("add", call("exp", square), call("neg", square)), []*ir.Expr{a}, 4},
		{"operands in order", call("sub", b, call("neg", a)), []*ir.Expr{b, a}, 2},
		{"equal loads that are two", call("add", a, again), []*ir.Expr{a, again}, 1},
	} {
		var reads []*ir.Expr
		c.e.Reads(func(e *ir.Expr) { reads = append(reads, e) })
		if diff := cmp.Diff(c.reads, reads, cmp.Comparer(func(a, b *ir.Expr) bool { return a == b })); diff != "" {
			t.Errorf("%s: reads (-want +got):\n%s", c.name, diff)
		}
		if got := c.e.Size(); got != c.size {
			t.Errorf("%s: size %d, want %d", c.name, got, c.size)
		}
	}
}

// TestOwner: a view's memory is its root's.
func TestOwner(t *testing.T) {
	if x.Owner() != x || view.Owner() != x {
		t.Errorf("%s and %s own the memory, want x twice", x.Owner().Name, view.Owner().Name)
	}
}
