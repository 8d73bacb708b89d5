package lowering

import (
	"slices"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/lowering/ir"
)

// reductions holds the operators that become a loop with a reduced inner part; false sends the call to the eager kernel.
var reductions = map[string]func(l *lowerer, n *fx.Node, t *tensor.Tensor) bool{
	"aten.sum.default": func(l *lowerer, n *fx.Node, t *tensor.Tensor) bool { return l.reduce(n, t, "sum", nil, nil) },
	"aten.sum.dim_IntList": func(l *lowerer, n *fx.Node, t *tensor.Tensor) bool {
		return l.reduce(n, t, "sum", arg(n, 1, "dim"), nil)
	},
	"aten.mean.default": func(l *lowerer, n *fx.Node, t *tensor.Tensor) bool { return l.reduce(n, t, "sum", nil, average) },
	"aten.mean.dim": func(l *lowerer, n *fx.Node, t *tensor.Tensor) bool {
		return l.reduce(n, t, "sum", arg(n, 1, "dim"), average)
	},
	"aten.amax.default": func(l *lowerer, n *fx.Node, t *tensor.Tensor) bool {
		return l.reduce(n, t, "amax", arg(n, 1, "dim"), nil)
	},
	"aten.amin.default": func(l *lowerer, n *fx.Node, t *tensor.Tensor) bool {
		return l.reduce(n, t, "amin", arg(n, 1, "dim"), nil)
	},
	"aten.any.dim": func(l *lowerer, n *fx.Node, t *tensor.Tensor) bool {
		return l.reduce(n, t, "any", arg(n, 1, "dim"), nil)
	},
	"aten.any.default": func(l *lowerer, n *fx.Node, t *tensor.Tensor) bool { return l.reduce(n, t, "any", nil, nil) },
	"aten.var.correction": func(l *lowerer, n *fx.Node, t *tensor.Tensor) bool {
		v, _ := l.moments(n, t, nil)
		if v != nil {
			l.vals[n] = v
		}
		return v != nil
	},
	"aten.all.default": func(l *lowerer, n *fx.Node, t *tensor.Tensor) bool { return l.reduce(n, t, "all", nil, nil) },
}

// arg is argument i of a node, by place or by name; nil if it is not given.
func arg(n *fx.Node, i int, name string) fx.Arg {
	if len(n.Args) > i {
		return n.Args[i]
	}
	v, _ := n.Kwarg(name)
	return v
}

// average divides what a sum has come to, rounded, by how many there are, as the operator does.
func average(count int64, d tensor.DType) *ir.Expr {
	n, _ := constant(float64(count), d)
	return call("div", d, &ir.Expr{Kind: ir.Acc, DType: d}, n)
}

// split sorts the axes of shape into kept and reduced ones; no dims means all.
func split(shape []int64, dims []int64) (kept, red []int) {
	is := map[int]bool{}
	for _, d := range dims {
		if d < 0 {
			d += int64(len(shape))
		}
		is[int(d)] = true
	}
	for i := range shape {
		if is[i] || len(dims) == 0 {
			red = append(red, i)
		} else {
			kept = append(kept, i)
		}
	}
	return kept, red
}

// space is the iteration space of a reduction: kept axes, then reduced ones, and the operand's index in it.
func space(x *value, kept, red []int) (ranges, inner []int64, ix []ir.Index) {
	ix = make([]ir.Index, len(x.t.Shape))
	ax := axes(len(kept) + len(red))
	for k, d := range kept {
		ranges = append(ranges, x.t.Shape[d])
		ix[d] = ax[k]
	}
	for k, d := range red {
		inner = append(inner, x.t.Shape[d])
		ix[d] = ax[len(kept)+k]
	}
	return ranges, inner, ix
}

// reduce makes a loop over the kept axes with an inner one over the reduced axes. The operand is fused into the inner loop, unless it is so
// long an expression that it is better stored first. It declines empty operands, whose results are start values that the kernel knows, and
// integers where final divides.
func (l *lowerer) reduce(n *fx.Node, t *tensor.Tensor, op ir.Reduce, dimArg fx.Arg, final func(count int64, d tensor.DType) *ir.Expr) bool {
	in, ok := n.Args[0].(*fx.Node)
	if !ok || l.vals[in] == nil {
		return false
	}
	dims, ok := ints(dimArg)
	x := l.vals[in]
	if !ok || x.t.Numel() == 0 || len(x.t.Shape) == 0 {
		return false
	}
	if (op == "amax" || op == "amin") && x.t.DType == tensor.Bool {
		return false
	}
	kept, red := split(x.t.Shape, dims)
	ranges, inner, ix := space(x, kept, red)
	if x.cost > maxInline/2 {
		l.realise(in, x)
	}
	d := compute(t.DType)
	if op == "any" || op == "all" {
		d = tensor.Bool
	}
	out := l.newBuffer(t)
	out.Stride = keptStrides(t, kept, len(x.t.Shape))
	loop := &ir.Loops{Out: out, At: out.StoreAt(), Ranges: ranges, Reduction: inner, Reduce: op, Value: cast(x.at(ix), d), Origins: append(append([]string(nil), x.from...), n.Name)}
	if final != nil {
		if !t.DType.IsFloat() {
			return false
		}
		loop.Final = final(tensor.Numel(inner), d)
	}
	l.loop(loop)
	l.vals[n] = &value{t: t, buf: restore(out, t)}
	return true
}

// keptStrides are the output's strides along the kept axes, whether or not the reduced ones stay as size 1.
func keptStrides(t *tensor.Tensor, kept []int, n int) []int64 {
	var s []int64
	for k, d := range kept {
		if len(t.Shape) == n {
			s = append(s, t.Stride[d])
		} else {
			s = append(s, t.Stride[k])
		}
	}
	return s
}

// restore is the buffer under the result's own shape and strides.
func restore(b *ir.Buffer, t *tensor.Tensor) *ir.Buffer {
	return &ir.Buffer{Name: b.Name, DType: b.DType, Shape: t.Shape, Stride: t.Stride, Root: b}
}

// varMean lowers var_mean.
func (l *lowerer) varMean(n *fx.Node) bool {
	res, ok := n.Val.([]any)
	if !ok || len(res) != 2 {
		return false
	}
	vt, ok := res[0].(*tensor.Tensor)
	mt, ok2 := res[1].(*tensor.Tensor)
	if !ok || !ok2 {
		return false
	}
	variance, mean := l.moments(n, vt, mt)
	if variance == nil {
		return false
	}
	l.multi(n, []*value{variance, mean})
	return true
}

// moments lowers variances, of metadata vt, to two reductions: the mean, and then the squares of what differs from it, which costs a second read,
// and loses no digits where the mean is large. Both are of rows that lie in the cache, where they can be. The mean is a result if mt is given. It
// declines empty operands and those that are not floats.
func (l *lowerer) moments(n *fx.Node, vt, mt *tensor.Tensor) (variance, mean *value) {
	in, ok := n.Args[0].(*fx.Node)
	dims, ok2 := ints(arg(n, 1, "dim"))
	if !ok || !ok2 || l.vals[in] == nil || l.vals[in].t.Numel() == 0 || !vt.DType.IsFloat() || len(l.vals[in].t.Shape) == 0 {
		return nil, nil
	}
	x := l.vals[in]
	corr := 1.0
	if v, ok := n.Kwarg("correction"); ok {
		switch v := v.(type) {
		case int64:
			corr = float64(v)
		case float64:
			corr = v
		}
	}
	kept, red := split(x.t.Shape, dims)
	ranges, inner, ix := space(x, kept, red)
	if x.cost > 2 {
		l.realise(in, x) // read twice
	}
	d := tensor.Float64 // what is subtracted is not rounded
	count := tensor.Numel(inner)
	m := &value{t: &tensor.Tensor{DType: d, Shape: ranges, Stride: tensor.ContiguousStrides(ranges)}}
	m.buf = l.newBuffer(m.t)
	l.loop(&ir.Loops{Out: m.buf, At: m.buf.StoreAt(), Ranges: ranges, Reduction: inner, Reduce: "sum", Value: cast(x.at(ix), d), Final: average(count, d),
		Origins: append(slices.Clone(x.from), n.Name)})
	if mt != nil {
		mean = &value{t: mt, buf: restore(m.buf, mt)}
		if d != mt.DType || !slices.Equal(keptStrides(mt, kept, len(x.t.Shape)), m.buf.Stride) {
			b := l.newBuffer(mt)
			b.Stride = keptStrides(mt, kept, len(x.t.Shape))
			l.loop(&ir.Loops{Out: b, At: b.StoreAt(), Ranges: ranges, Value: m.at(axes(len(ranges))), Origins: []string{n.Name}})
			mean.buf = restore(b, mt)
		}
	}
	out := l.newBuffer(vt)
	out.Stride = keptStrides(vt, kept, len(x.t.Shape))
	off := call("sub", d, cast(x.at(ix), d), m.at(axes(len(ranges))))
	by, _ := constant(max(float64(count)-corr, 0), d)
	l.loop(&ir.Loops{Out: out, At: out.StoreAt(), Ranges: ranges, Reduction: inner, Reduce: "sum", Value: call("mul", d, off, off),
		Final: call("div", d, &ir.Expr{Kind: ir.Acc, DType: d}, by), Origins: []string{n.Name}})
	return &value{t: vt, buf: restore(out, vt)}, mean
}

// multi hands the results of a lowered node to the getitem nodes that pick them.
func (l *lowerer) multi(n *fx.Node, vs []*value) { l.results[n] = vs }
