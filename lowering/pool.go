package lowering

import (
	"fmt"
	"math"
	"slices"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/lowering/ir"
)

// maxTaps is how many elements of a window are written out one by one: then the lanes of vectors are neighbouring windows. Of more, an average is a
// reduction, and a maximum is left to the kernel.
const maxTaps = 36

// A pool is windows over the last axes of a value.
type pool struct {
	x                          *value  // what windows lie in: the operand, framed where they reach beyond it
	in, out                    []int64 // sizes of the operand and of the result along these axes
	k, stride, pad, after, dil []int64
	lead                       int  // axes before them
	clipped                    bool // windows reach beyond the operand
	overflowing                bool // and beyond its padding
}

// multiple holds the operators with several results that become loops; false sends the call to the eager kernel.
var multiple = map[string]func(l *lowerer, n *fx.Node) bool{"aten.var_mean.correction": (*lowerer).varMean}

func init() {
	for nd := 2; nd <= 3; nd++ {
		multiple[fmt.Sprintf("aten.max_pool%dd_with_indices.default", nd)] = func(l *lowerer, n *fx.Node) bool { return l.maxPool(n, nd, false) }
		multiple[fmt.Sprintf("aten.adaptive_max_pool%dd.default", nd)] = func(l *lowerer, n *fx.Node) bool { return l.maxPool(n, nd, true) }
		table[fmt.Sprintf("aten.avg_pool%dd.default", nd)] = func(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) { return l.avgPool(n, t, nd, false), nil }
		table[fmt.Sprintf("aten._adaptive_avg_pool%dd.default", nd)] = func(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) {
			return l.avgPool(n, t, nd, true), nil
		}
	}
}

// perAxis is an argument that has an entry for each of nd axes, or one for all of them, or none.
func perAxis(a fx.Arg, nd int, otherwise int64) ([]int64, bool) {
	given, ok := ints(a)
	out := make([]int64, nd)
	for d := range out {
		switch len(given) {
		case 0:
			out[d] = otherwise
		case 1:
			out[d] = given[0]
		case nd:
			out[d] = given[d]
		default:
			return nil, false
		}
	}
	return out, ok
}

// pool reads a node's windows over nd axes: its own, or adaptive ones where all are of one size.
func (l *lowerer) pool(n *fx.Node, t *tensor.Tensor, nd int, adaptive, dilated bool) (p *pool, ok bool) {
	in, isNode := n.Args[0].(*fx.Node)
	if !isNode || l.vals[in] == nil || t.Numel() == 0 || l.vals[in].t.Numel() == 0 || len(l.vals[in].t.Shape) != len(t.Shape) || len(t.Shape) < nd {
		return nil, false
	}
	p = &pool{x: l.vals[in], lead: len(t.Shape) - nd}
	p.in, p.out = p.x.t.Shape[p.lead:], t.Shape[p.lead:]
	ok = true
	read := func(a fx.Arg, otherwise int64) []int64 {
		v, fine := perAxis(a, nd, otherwise)
		ok = ok && fine
		return v
	}
	p.pad, p.dil = read(nil, 0), read(nil, 1)
	if adaptive {
		for d := range p.in {
			p.k = append(p.k, p.in[d]/p.out[d])
			ok = ok && p.in[d]%p.out[d] == 0
		}
		p.stride = p.k
	} else {
		p.k, p.pad = read(arg(n, 1, "kernel_size"), 1), read(arg(n, 3, "padding"), 0)
		p.stride = p.k
		if s, _ := ints(arg(n, 2, "stride")); len(s) > 0 {
			p.stride = read(arg(n, 2, "stride"), 1)
		}
		if dilated {
			p.dil = read(arg(n, 4, "dilation"), 1)
		}
	}
	if !ok {
		return nil, false
	}
	for d := range p.in {
		p.after = append(p.after, max((p.out[d]-1)*p.stride[d]-p.pad[d]+p.dil[d]*(p.k[d]-1)-(p.in[d]-1), 0))
		p.overflowing = p.overflowing || p.after[d] > p.pad[d]
		p.clipped = p.clipped || p.pad[d] > 0 || p.after[d] > 0
	}
	return p, true
}

// frame puts with around the operand where windows reach beyond it, and stores one that would be computed too often.
func (l *lowerer) frame(n *fx.Node, p *pool, with *ir.Expr) {
	x := p.x
	if !p.clipped {
		if overlap := tensor.Numel(p.k) / tensor.Numel(p.stride); x.cost > 2 && overlap > 1 || x.cost*int(tensor.Numel(p.k)) > maxInline {
			l.realise(n.Args[0].(*fx.Node), x)
		}
		return
	}
	shape := slices.Clone(x.t.Shape)
	sides := make([]side, len(shape))
	for d := range p.k {
		sides[p.lead+d] = side{p.pad[d], p.after[d]}
		shape[p.lead+d] += p.pad[d] + p.after[d]
	}
	wide := &tensor.Tensor{DType: x.t.DType, Shape: shape, Stride: tensor.ContiguousStrides(shape)}
	p.x = &value{t: wide, buf: l.framed(n, x, wide, sides, nil, with)}
}

// lowest is the constant that no element of d is below.
func lowest(d tensor.DType) (*ir.Expr, bool) {
	if d.IsFloat() {
		return constant(math.Inf(-1), compute(d))
	}
	least, ok := map[tensor.DType]int64{tensor.UInt8: 0, tensor.Int8: math.MinInt8, tensor.Int16: math.MinInt16, tensor.Int32: math.MinInt32, tensor.Int64: math.MinInt64}[d]
	if !ok {
		return nil, false
	}
	return constant(least, d)
}

// each calls f for the elements of a window in order, with their place in it.
func (p *pool) each(f func(at []int64)) {
	at := make([]int64, len(p.k))
	for range tensor.Numel(p.k) {
		f(at)
		for d := len(at) - 1; d >= 0; d-- {
			if at[d]++; at[d] < p.k[d] {
				break
			}
			at[d] = 0
		}
	}
}

// first is where the window of a result begins along an axis of the operand.
func (p *pool) first(ix []ir.Index, d int) ir.Index {
	return ir.Index{Const: -p.pad[d]}.Plus(ix[p.lead+d], p.stride[d])
}

// tap is an element of the window of a result; place has the one in the window, along each axis.
func (p *pool) tap(ix []ir.Index, place []ir.Index) *ir.Expr {
	at := append([]ir.Index(nil), ix...)
	for d := range p.k {
		at[p.lead+d] = ir.Index{}.Plus(ix[p.lead+d], p.stride[d]).Plus(place[d], p.dil[d])
	}
	return p.x.at(at)
}

// fixed are places that are numbers.
func fixed(at []int64) []ir.Index {
	out := make([]ir.Index, len(at))
	for d, v := range at {
		out[d].Const = v
	}
	return out
}

// maxPool lowers maxima over windows, and where they are: of equals the first, of NaNs the last.
func (l *lowerer) maxPool(n *fx.Node, nd int, adaptive bool) bool {
	res, ok := n.Val.([]any)
	if !ok || len(res) != 2 {
		return false
	}
	vt, ok := res[0].(*tensor.Tensor)
	it, ok2 := res[1].(*tensor.Tensor)
	if !ok || !ok2 || !supported(n, vt) || vt.DType == tensor.Bool {
		return false
	}
	p, ok := l.pool(n, vt, nd, adaptive, true)
	if !ok || tensor.Numel(p.k) > maxTaps || tensor.Numel(p.in) > math.MaxInt32 {
		return false
	}
	for d := range p.k {
		if p.pad[d] > 0 && p.dil[d] > 1 {
			return false // where the first element of a window is has no formula
		}
	}
	with, ok := lowest(vt.DType)
	if !ok {
		return false
	}
	l.frame(n, p, with)
	d := compute(vt.DType)
	from := append(slices.Clone(p.x.from), n.Name)
	taps := int(tensor.Numel(p.k))
	v := &value{t: vt, cost: taps * (1 + p.x.cost), from: from, load: func(ix []ir.Index) *ir.Expr {
		var best *ir.Expr
		p.each(func(at []int64) {
			e := p.tap(ix, fixed(at))
			if best != nil {
				e = call("maximum", d, e, best)
			}
			best = e
		})
		return best
	}}
	where := &value{t: it, cost: taps * (3 + p.x.cost), from: from, load: func(ix []ir.Index) *ir.Expr { return p.position(ix, d) }}
	l.multi(n, []*value{v, where})
	return true
}

// position is where in its plane the maximum of a window is.
func (p *pool) position(ix []ir.Index, d tensor.DType) *ir.Expr {
	const i = tensor.Int32
	steps := tensor.ContiguousStrides(p.in)
	var best, at *ir.Expr
	p.each(func(place []int64) {
		here := ir.Index{}
		for k := range place {
			here = here.Plus(p.first(ix, k), steps[k]).Plus(ir.Index{Const: place[k] * p.dil[k]}, steps[k])
		}
		pos := &ir.Expr{Kind: ir.AxisValue, DType: i, At: here}
		e := p.tap(ix, fixed(place))
		if best == nil {
			best, at = e, pos
			if p.clipped { // the first may be none of the operand
				at = nil
				for k := range place {
					zero, _ := constant(int64(0), i)
					step, _ := constant(steps[k], i)
					row := call("mul", i, call("maximum", i, &ir.Expr{Kind: ir.AxisValue, DType: i, At: p.first(ix, k)}, zero), step)
					if at == nil {
						at = row
					} else {
						at = call("add", i, at, row)
					}
				}
			}
			return
		}
		more := call("gt", tensor.Bool, e, best)
		if d.IsFloat() {
			more = call("or", tensor.Bool, more, call("isnan", tensor.Bool, e))
		}
		at = call("where", i, more, pos, at)
		best = call("maximum", d, e, best)
	})
	return cast(at, tensor.Int64)
}

// avgPool lowers averages over windows. They are summed as the kernel does: in single precision where the operand is, else in double. Sums of many
// elements, which are not added in the kernel's order, are all in double.
func (l *lowerer) avgPool(n *fx.Node, t *tensor.Tensor, nd int, adaptive bool) *value {
	if !t.DType.IsFloat() {
		return nil
	}
	d := tensor.Float64
	include, divisor := true, fx.Arg(nil)
	if !adaptive {
		if b, ok := arg(n, 5, "count_include_pad").(bool); ok {
			include = b
		}
		divisor = arg(n, 6, "divisor_override")
	}
	by, given := divisor.(int64)
	if divisor != nil && (!given || by == 0) {
		return nil
	}
	p, ok := l.pool(n, t, nd, adaptive, false)
	if !ok {
		return nil
	}
	if !given {
		by = tensor.Numel(p.k)
	}
	varies := !given && (p.overflowing || p.clipped && !include)
	taps := int(tensor.Numel(p.k))
	if varies && taps > 4*maxTaps {
		return nil
	}
	zero, _ := constant(float64(0), compute(t.DType))
	l.frame(n, p, zero)
	many := taps > maxTaps && !varies
	if t.DType == tensor.Float32 && !many {
		d = tensor.Float32
	}
	count, _ := constant(float64(by), d)
	size := func(ix []ir.Index) *ir.Expr {
		if !varies {
			return count
		}
		return cast(p.count(ix, include), d)
	}
	from := append(slices.Clone(p.x.from), n.Name)
	if many {
		out := l.newBuffer(t)
		ax := axes(len(t.Shape) + nd)
		l.loop(&ir.Loops{Out: out, At: out.StoreAt(), Ranges: t.Shape, Reduction: p.k, Reduce: "sum", Value: cast(p.tap(ax[:len(t.Shape)], ax[len(t.Shape):]), d),
			Final: call("div", d, &ir.Expr{Kind: ir.Acc, DType: d}, count), Origins: from})
		return &value{t: t, buf: out}
	}
	return &value{cost: taps * (2 + p.x.cost), from: from, load: func(ix []ir.Index) *ir.Expr {
		sum, _ := constant(float64(0), d)
		p.each(func(at []int64) { sum = call("add", d, sum, cast(p.tap(ix, fixed(at)), d)) })
		return cast(call("div", d, sum, size(ix)), compute(t.DType))
	}}
}

// count is how many elements a window has, as far as it lies in the operand, or in its padding, too.
func (p *pool) count(ix []ir.Index, include bool) *ir.Expr {
	const i = tensor.Int32
	var all *ir.Expr
	for d := range p.k {
		number := func(v int64) *ir.Expr { c, _ := constant(v, i); return c }
		axis := func(x ir.Index) *ir.Expr { return &ir.Expr{Kind: ir.AxisValue, DType: i, At: x} }
		first := p.first(ix, d)
		least, most := int64(0), p.in[d]
		if include {
			least, most = -p.pad[d], p.in[d]+p.pad[d]
		}
		n := call("sub", i, call("minimum", i, axis(first.Plus(ir.Index{Const: p.k[d]}, 1)), number(most)), call("maximum", i, axis(first), number(least)))
		one := cast(n, tensor.Float64)
		if all == nil {
			all = one
		} else {
			all = call("mul", tensor.Float64, all, one)
		}
	}
	return all
}
