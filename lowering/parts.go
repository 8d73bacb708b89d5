package lowering

import (
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

// pad fills the result, and writes the operand over it.
func pad(l *lowerer, n *fx.Node, t *tensor.Tensor) bool {
	in, ok := n.Args[0].(*fx.Node)
	by, ok2 := ints(n.Args[1])
	if !ok || !ok2 || l.vals[in] == nil || !t.IsNonOverlappingAndDense() || t.Numel() == 0 {
		return false
	}
	x := l.vals[in]
	offset := int64(0)
	for i, p := range by {
		if p < 0 {
			return false
		}
		if i%2 == 0 {
			offset += p * t.Stride[len(t.Stride)-1-i/2]
		}
	}
	with := arg(n, 2, "value")
	if with == nil {
		with = int64(0)
	}
	c, ok := constant(with, compute(t.DType))
	if !ok {
		return false
	}
	out := l.newBuffer(t)
	l.loop(&ir.Loops{Out: out, At: out.StoreAt(), Ranges: t.Shape, Value: c, Origins: []string{n.Name}})
	if x.t.Numel() > 0 {
		l.part(n, out, offset, x, false)
	}
	l.vals[n] = &value{t: t, buf: out}
	return true
}
