package lowering

import (
	"slices"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/lowering/ir"
)

// views holds the view operators that can stay lazy: they rearrange the index of an unrealised operand.
// A function returns false when the operand is in memory already, where strides do the same for free.
var views = map[string]func(l *lowerer, n *fx.Node, t *tensor.Tensor) bool{
	"aten.permute.default":   permute,
	"aten.expand.default":    expand,
	"aten.unsqueeze.default": dropAxes,
	"aten.squeeze.dim":       dropAxes,
	"aten.squeeze.dims":      dropAxes,
	"aten.squeeze.default":   dropAxes,
	"aten.view.default":      reshape,
	"aten.slice.Tensor":      slice,
	"aten.select.int":        pick,
	"aten.alias.default":     alias,
	"aten.detach.default":    alias,
}

// lazyOperand is the operand of a view when it is not in memory.
func (l *lowerer) lazyOperand(n *fx.Node) *value {
	in, ok := n.Args[0].(*fx.Node)
	if !ok {
		return nil
	}
	v := l.vals[in]
	if v == nil || v.buf != nil {
		return nil
	}
	return v
}

// lazyView gives n the elements of v, where f says for each index which.
func (l *lowerer) lazyView(n *fx.Node, t *tensor.Tensor, v *value, f func(ix []ir.Index) []ir.Index) bool {
	l.vals[n] = &value{t: t, cost: v.cost, from: append(append([]string(nil), v.from...), n.Name),
		load: func(ix []ir.Index) *ir.Expr { return v.at(f(ix)) }}
	return true
}

// alias is the operand itself.
func alias(l *lowerer, n *fx.Node, t *tensor.Tensor) bool {
	v := l.lazyOperand(n)
	return v != nil && l.lazyView(n, t, v, func(ix []ir.Index) []ir.Index { return ix })
}

// permute reorders the axes of the index.
func permute(l *lowerer, n *fx.Node, t *tensor.Tensor) bool {
	v := l.lazyOperand(n)
	if v == nil {
		return false
	}
	dims, ok := ints(n.Args[1])
	if !ok {
		return false
	}
	return l.lazyView(n, t, v, func(ix []ir.Index) []ir.Index {
		out := make([]ir.Index, len(dims))
		for i, d := range dims {
			if d < 0 {
				d += int64(len(dims))
			}
			out[d] = ix[i]
		}
		return out
	})
}

// expand reads the one element of an axis of size 1 for all of the new axis.
func expand(l *lowerer, n *fx.Node, t *tensor.Tensor) bool {
	v := l.lazyOperand(n)
	if v == nil {
		return false
	}
	return l.lazyView(n, t, v, func(ix []ir.Index) []ir.Index { return broadcast(ix, v.t.Shape) })
}

// dropAxes serves squeeze and unsqueeze: axes of size 1 come and go, the others keep their order.
func dropAxes(l *lowerer, n *fx.Node, t *tensor.Tensor) bool {
	v := l.lazyOperand(n)
	if v == nil {
		return false
	}
	return l.lazyView(n, t, v, func(ix []ir.Index) []ir.Index {
		out := make([]ir.Index, len(v.t.Shape))
		j := 0
		for i, s := range v.t.Shape {
			if s == 1 {
				continue
			}
			for t.Shape[j] == 1 {
				j++
			}
			out[i] = ix[j]
			j++
		}
		return out
	})
}

// reshape reads the element that has the same place in row-major order.
func reshape(l *lowerer, n *fx.Node, t *tensor.Tensor) bool {
	v := l.lazyOperand(n)
	if v == nil || t.Numel() == 0 {
		return false
	}
	flat := ir.Index{}
	for d, s := range tensor.ContiguousStrides(t.Shape) {
		flat = flat.Plus(ir.Axis(d), s)
	}
	at := make([]ir.Index, len(v.t.Shape))
	for d, s := range tensor.ContiguousStrides(v.t.Shape) {
		at[d] = flat.Quotient(s, v.t.Shape[d], t.Shape)
	}
	return l.lazyView(n, t, v, func(ix []ir.Index) []ir.Index {
		out := make([]ir.Index, len(at))
		for d := range at {
			out[d] = at[d].Of(ix)
		}
		return out
	})
}

// slice reads every so many of an axis.
func slice(l *lowerer, n *fx.Node, t *tensor.Tensor) bool {
	v := l.lazyOperand(n)
	if v == nil {
		return false
	}
	number := func(i int, name string, otherwise int64) (int64, bool) {
		switch x := arg(n, i, name).(type) {
		case nil:
			return otherwise, true
		case int64:
			return x, true
		}
		return 0, false
	}
	dim, ok := number(1, "dim", 0)
	start, ok2 := number(2, "start", 0)
	step, ok3 := number(4, "step", 1)
	if !ok || !ok2 || !ok3 {
		return false
	}
	if dim < 0 {
		dim += int64(len(v.t.Shape))
	}
	size := v.t.Shape[dim]
	if start < 0 {
		start += size
	}
	start = min(max(start, 0), size)
	return l.lazyView(n, t, v, func(ix []ir.Index) []ir.Index {
		out := slices.Clone(ix)
		out[dim] = ir.Index{Const: start}.Plus(ix[dim], step)
		return out
	})
}

// pick reads one element of an axis, which goes.
func pick(l *lowerer, n *fx.Node, t *tensor.Tensor) bool {
	v := l.lazyOperand(n)
	dim, ok := n.Args[1].(int64)
	at, ok2 := n.Args[2].(int64)
	if v == nil || !ok || !ok2 {
		return false
	}
	if dim < 0 {
		dim += int64(len(v.t.Shape))
	}
	if at < 0 {
		at += v.t.Shape[dim]
	}
	return l.lazyView(n, t, v, func(ix []ir.Index) []ir.Index { return slices.Insert(slices.Clone(ix), int(dim), ir.Index{Const: at}) })
}

// ints reads an argument that is an integer or a list of them; ok is false where one is not known, and true, for none, where there is no
// argument.
func ints(a fx.Arg) ([]int64, bool) {
	l, ok := a.(fx.List)
	if !ok {
		if t, ok := a.(fx.Tuple); ok {
			l = fx.List(t)
		} else if i, ok := a.(int64); ok {
			return []int64{i}, true
		} else {
			return nil, a == nil
		}
	}
	out := make([]int64, len(l))
	for i, x := range l {
		v, ok := x.(int64)
		if !ok {
			return nil, false
		}
		out[i] = v
	}
	return out, true
}
