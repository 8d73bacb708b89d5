package sched_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"whittle/kernels/tensor"
	"whittle/lowering/ir"
	"whittle/lowering/sched"
)

// buffer is a contiguous one.
func buffer(name string, shape ...int64) *ir.Buffer {
	return &ir.Buffer{Name: name, DType: tensor.Float32, Shape: shape, Stride: tensor.ContiguousStrides(shape)}
}

// read loads b where the axes stand, coefficient by coefficient.
func read(b *ir.Buffer, coef ...int64) *ir.Expr {
	return &ir.Expr{Kind: ir.Load, DType: b.DType, Buf: b, At: ir.Index{Coef: coef}}
}

// plus is the sum of expressions.
func plus(args ...*ir.Expr) *ir.Expr {
	return &ir.Expr{Kind: ir.Call, DType: tensor.Float32, Op: "add", Args: args}
}

// loop stores e for every element of out.
func loop(out *ir.Buffer, e *ir.Expr) *ir.Loops {
	return &ir.Loops{Out: out, At: out.StoreAt(), Ranges: out.Shape, Value: e}
}

// sum adds e up over axes of the given sizes.
func sum(out *ir.Buffer, e *ir.Expr, over ...int64) *ir.Loops {
	l := loop(out, e)
	l.Reduce, l.Reduction = "sum", over
	return l
}

// TestNests shows what runs together: "2: a b | c" is a nest with two outer ranges, a and b in one stage, c in the next.
func TestNests(t *testing.T) {
	x, y := buffer("x", 64, 100), buffer("y", 64, 100)
	a, b, c := buffer("a", 64, 100), buffer("b", 64, 100), buffer("c", 64, 100)
	row, row2, col := buffer("row", 64), buffer("row2", 64), buffer("col", 100)
	view := buffer("view", 16, 4, 100)
	s, u := buffer("s", 64, 10, 10), buffer("u", 64, 10, 10)
	all := buffer("all")
	for _, test := range []struct {
		name  string
		group []*ir.Loops
		want  string
	}{
		{"one space", []*ir.Loops{loop(a, read(x, 100, 1)), loop(b, read(a, 100, 1))}, "2: a b"},
		{"softmax", []*ir.Loops{sum(row, read(x, 100, 1), 100), loop(a, plus(read(x, 100, 1), read(row, 1))), sum(row2, read(a, 100, 1), 100), loop(b, plus(read(a, 100, 1), read(row2, 1)))},
			"1: row | a row2 | b"},
		{"two sums of one row", []*ir.Loops{sum(row, read(x, 100, 1), 100), sum(row2, plus(read(x, 100, 1), read(y, 100, 1)), 100)}, "1: row row2"},
		{"a result of a row", []*ir.Loops{sum(row, read(x, 100, 1), 100), loop(row2, read(row, 1))}, "1: row | row2"},
		{"columns wait for no row", []*ir.Loops{loop(a, read(x, 100, 1)), sum(col, read(a, 1, 100), 64), loop(b, read(a, 100, 1))}, "2: a b; 0: col"},
		{"what needs all of it", []*ir.Loops{loop(a, read(x, 100, 1)), sum(all, read(a, 100, 1), 64, 100), loop(b, plus(read(a, 100, 1), read(all)))}, "2: a; 0: all; 2: b"},
		{"nothing passes what it needs", []*ir.Loops{loop(a, read(x, 100, 1)), sum(col, read(a, 1, 100), 64), loop(b, plus(read(a, 100, 1), read(col, 0, 1)))}, "2: a; 0: col; 2: b"},
		{"transposed", []*ir.Loops{loop(a, read(x, 100, 1)), loop(buffer("t", 100, 64), read(a, 1, 100))}, "2: a; 2: t"},
		{"turned within rows", []*ir.Loops{loop(s, read(x, 100, 10, 1)), loop(u, read(s, 100, 1, 10))}, "1: s | u"},
		{"one space, cut in two ways", []*ir.Loops{sum(row, read(x, 100, 1), 100), loop(view, plus(read(x, 400, 100, 1), read(row, 4, 1)))}, "2: row | view"},
		{"rows that are too few", []*ir.Loops{sum(buffer("few", 2), read(x, 100, 1), 100), loop(buffer("two", 2, 100), read(x, 100, 1))}, "1: few; 2: two"},
		{"parts side by side", []*ir.Loops{part(c, 0, 40, x), part(c, 40, 60, y)}, "1: c | c"},
		{"parts whose rows are cut in few points", []*ir.Loops{part(buffer("wide", 64, 300), 0, 200, buffer("z", 64, 200)), part(buffer("wide", 64, 300), 200, 100, x)}, "2: wide; 2: wide"},
		{"empty", []*ir.Loops{loop(buffer("e", 0, 4), read(x)), loop(buffer("f", 0, 4), read(x))}, "2: e; 2: f"},
	} {
		var nests []string
		for _, n := range sched.CPU.Nests(test.group) {
			var stages []string
			for _, s := range n.Stages {
				var names []string
				for _, l := range s.Loops {
					names = append(names, l.Out.Name)
				}
				stages = append(stages, strings.Join(names, " "))
			}
			nests = append(nests, fmt.Sprintf("%d: %s", n.Outer, strings.Join(stages, " | ")))
		}
		if diff := cmp.Diff(test.want, strings.Join(nests, "; ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// part writes some columns of out.
func part(out *ir.Buffer, from, n int64, x *ir.Buffer) *ir.Loops {
	b := &ir.Buffer{Name: out.Name, DType: out.DType, Shape: []int64{64, n}, Stride: out.Stride, Offset: from, Root: out}
	return &ir.Loops{Out: b, At: b.StoreAt(), Ranges: b.Shape, Value: read(x, 100, 1), Part: true}
}
