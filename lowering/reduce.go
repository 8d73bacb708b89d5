package lowering

import (
	"fmt"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/lowering/ir"
	"whittle/lowering/sched"
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

// average rounds the sum before it divides, as the operator does.
func average(count int64, d tensor.DType) func(string) string {
	t := "float"
	if d == tensor.Float64 {
		t = "double"
	}
	return func(acc string) string { return fmt.Sprintf("%s(%s) / %s(%d)", t, acc, t, count) }
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
func (l *lowerer) reduce(n *fx.Node, t *tensor.Tensor, op ir.Reduce, dimArg fx.Arg, final func(count int64, d tensor.DType) func(string) string) bool {
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
	loop := &ir.Loops{Out: out, Ranges: ranges, Reduction: inner, Reduce: op, Value: cast(x.at(ix), d), Origins: append(append([]string(nil), x.from...), n.Name)}
	if final != nil {
		if !t.DType.IsFloat() {
			return false
		}
		loop.Final = final(tensor.Numel(inner), d)
	}
	l.steps = append(l.steps, sched.Step{Loops: []*ir.Loops{loop}})
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

// varMean lowers var_mean to one pass for the mean and one for the variance.
func (l *lowerer) varMean(n *fx.Node) bool {
	in, ok := n.Args[0].(*fx.Node)
	res, ok2 := n.Val.([]any)
	if !ok || !ok2 || l.vals[in] == nil || len(res) != 2 {
		return false
	}
	vt, ok := res[0].(*tensor.Tensor)
	mt, ok2 := res[1].(*tensor.Tensor)
	dims, ok3 := ints(arg(n, 1, "dim"))
	x := l.vals[in]
	if !ok || !ok2 || !ok3 || x.t.Numel() == 0 || !x.t.DType.IsFloat() {
		return false
	}
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
	l.realise(in, x) // read twice
	out, mean := l.newBuffer(vt), l.newBuffer(mt)
	out.Stride, mean.Stride = keptStrides(vt, kept, len(x.t.Shape)), keptStrides(mt, kept, len(x.t.Shape))
	loop := &ir.Loops{Out: out, Ranges: ranges, Reduction: inner, Reduce: "welford", Value: x.at(ix), Origins: []string{n.Name},
		Final: func(string) string { return fmt.Sprintf("m2 / (count - %g)", corr) },
		Extra: []ir.Extra{{Out: mean, Final: func(string) string { return "mean" }}}}
	l.steps = append(l.steps, sched.Step{Loops: []*ir.Loops{loop}})
	l.multi(n, []*value{{t: vt, buf: restore(out, vt)}, {t: mt, buf: restore(mean, mt)}})
	return true
}

// multi hands the results of a lowered node to the getitem nodes that pick them.
func (l *lowerer) multi(n *fx.Node, vs []*value) { l.results[n] = vs }
