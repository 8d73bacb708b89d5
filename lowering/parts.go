package lowering

import (
	"fmt"
	"slices"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/lowering/ir"
)

// assembled holds the operators whose result is written in parts, each by a loop of its own; false sends the call to the eager kernel.
var assembled = map[string]func(l *lowerer, n *fx.Node, t *tensor.Tensor) bool{
	"aten.cat.default":             cat,
	"aten.constant_pad_nd.default": pad,
}

func init() {
	for nd := 1; nd <= 3; nd++ {
		assembled[fmt.Sprintf("aten.reflection_pad%dd.default", nd)] = func(l *lowerer, n *fx.Node, t *tensor.Tensor) bool { return l.pad(n, t, mirror, nil) }
		assembled[fmt.Sprintf("aten.replication_pad%dd.default", nd)] = func(l *lowerer, n *fx.Node, t *tensor.Tensor) bool { return l.pad(n, t, repeatEdge, nil) }
	}
}

// part writes x to the elements of out from an offset on, in out's strides.
func (l *lowerer) part(n *fx.Node, out *ir.Buffer, offset int64, x *value, alone bool) {
	b := &ir.Buffer{Name: out.Name, DType: out.DType, Shape: x.t.Shape, Stride: out.Stride, Offset: offset, Root: out}
	l.loop(&ir.Loops{Out: b, At: b.StoreAt(), Ranges: x.t.Shape, Value: cast(x.at(axes(len(x.t.Shape))), compute(out.DType)), Part: alone,
		Origins: append(slices.Clone(x.from), n.Name)})
}

// cat writes its operands side by side, what is lazy as it is computed.
func cat(l *lowerer, n *fx.Node, t *tensor.Tensor) bool {
	list, ok := n.Args[0].(fx.List)
	dim, ok2 := int64(0), true
	if a := arg(n, 1, "dim"); a != nil {
		dim, ok2 = a.(int64)
	}
	if !ok || !ok2 || !t.IsNonOverlappingAndDense() {
		return false
	}
	var parts []*value
	for _, a := range list {
		in, ok := a.(*fx.Node)
		if !ok || l.vals[in] == nil {
			return false
		}
		if x := l.vals[in]; x.t.Numel() > 0 {
			parts = append(parts, x)
		}
	}
	if dim < 0 {
		dim += int64(len(t.Shape))
	}
	out := l.newBuffer(t)
	at := int64(0)
	for _, x := range parts {
		l.part(n, out, at*t.Stride[dim], x, true)
		at += x.t.Shape[dim]
	}
	l.vals[n] = &value{t: t, buf: out}
	return len(parts) > 0
}

// A side is by how much an axis grows before and after the elements of an operand; below 0, elements go.
type side struct{ before, after int64 }

// A stretch is elements of an axis of a result, from which on and how many, that come from one direction of the operand: the first of them has element
// first, the next one step further.
type stretch struct{ from, size, first, step int64 }

// framed writes x into the middle of a result of metadata t. around says where the elements around it come from, along an axis; where it names none
// they are with.
func (l *lowerer) framed(n *fx.Node, x *value, t *tensor.Tensor, sides []side, around func(d int, s side) []stretch, with *ir.Expr) *ir.Buffer {
	out := l.newBuffer(t)
	var write func(chosen []stretch, filled bool)
	write = func(chosen []stretch, filled bool) {
		d := len(chosen)
		if d < len(sides) && filled {
			write(append(chosen, stretch{size: t.Shape[d]}), true)
			return
		}
		if d < len(sides) {
			s := sides[d]
			middle := stretch{max(s.before, 0), x.t.Shape[d] + min(s.before, 0) + min(s.after, 0), max(-s.before, 0), 1}
			write(append(chosen, middle), false)
			if with != nil {
				write(append(chosen, stretch{size: middle.from}), true)
				write(append(chosen, stretch{from: middle.from + middle.size, size: max(s.after, 0)}), true)
				return
			}
			for _, a := range around(d, s) {
				write(append(chosen, a), false)
			}
			return
		}
		offset := int64(0)
		part := &value{t: &tensor.Tensor{DType: t.DType}, load: func([]ir.Index) *ir.Expr { return with }}
		for d, c := range chosen {
			part.t.Shape = append(part.t.Shape, c.size)
			offset += c.from * out.Stride[d]
		}
		if part.t.Numel() <= 0 {
			return
		}
		if !filled {
			from := slices.Clone(chosen)
			part.from = x.from
			part.load = func(ix []ir.Index) *ir.Expr {
				at := make([]ir.Index, len(ix))
				for d, c := range from {
					at[d] = ir.Index{Const: c.first}.Plus(ix[d], c.step)
				}
				return x.at(at)
			}
		}
		l.part(n, out, offset, part, true)
	}
	write(nil, false)
	return out
}

// pad writes the operand, and a number around it.
func pad(l *lowerer, n *fx.Node, t *tensor.Tensor) bool {
	with := arg(n, 2, "value")
	if with == nil {
		with = int64(0)
	}
	c, ok := constant(with, compute(t.DType))
	return ok && l.pad(n, t, nil, c)
}

// mirror gives the elements around an operand of the given size its own, backwards: the one at the edge is not repeated.
func mirror(size int64, s side) []stretch {
	return []stretch{{0, s.before, s.before, -1}, {s.before + size, s.after, size - 2, -1}}
}

// repeatEdge gives the elements around an operand those at its edges.
func repeatEdge(size int64, s side) []stretch {
	return []stretch{{0, s.before, 0, 0}, {s.before + size, s.after, size - 1, 0}}
}

// pad frames a node's operand by as much as its second argument says, of the last axis first.
func (l *lowerer) pad(n *fx.Node, t *tensor.Tensor, around func(size int64, s side) []stretch, with *ir.Expr) bool {
	in, ok := n.Args[0].(*fx.Node)
	by, ok2 := ints(n.Args[1])
	if !ok || !ok2 || l.vals[in] == nil || !t.IsNonOverlappingAndDense() || t.Numel() == 0 || l.vals[in].t.Numel() == 0 || len(by)%2 != 0 {
		return false
	}
	x := l.vals[in]
	sides := make([]side, len(t.Shape))
	for i := range len(by) / 2 {
		s := side{by[2*i], by[2*i+1]}
		d := len(sides) - 1 - i
		if with == nil && min(s.before, s.after) < 0 || x.t.Shape[d]+min(s.before, 0)+min(s.after, 0) <= 0 {
			return false
		}
		sides[d] = s
	}
	if with == nil && x.cost > 2 {
		l.realise(in, x) // it is read for several parts
	}
	of := func(d int, s side) []stretch { return around(x.t.Shape[d], s) }
	l.vals[n] = &value{t: t, buf: l.framed(n, x, t, sides, of, with)}
	return true
}
