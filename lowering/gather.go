package lowering

import (
	"slices"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
	"whittle/lowering/ir"
	"whittle/lowering/sched"
)

// bounds is a step that looks at an index before the loops that use it: these cannot raise. Where an element is out of range, the eager kernel of the node
// says so.
type bounds struct {
	node  *fx.Node
	index *ir.Buffer
	size  int64
	below bool // negative elements count from the end
}

// A coordinate is the place along one axis of what is read: an index of the loop, or a number that is read from memory.
type coordinate struct {
	plain ir.Index
	by    *ir.Expr
}

func init() {
	table["aten.embedding.default"] = embedding
	table["aten.index_select.default"] = indexSelect
	table["aten.gather.default"] = gather
	table["aten.index.Tensor"] = index
	table["aten._unsafe_index.Tensor"] = index
}

// embedding reads rows of a matrix.
func embedding(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) {
	return l.gathered(n, n.Args[0], 0, arg(n, 1, "indices"), func(by *value, ix []ir.Index) (*ir.Expr, []ir.Index) {
		k := len(by.t.Shape)
		return by.at(ix[:k]), slices.Concat([]ir.Index{{}}, ix[k:])
	})
}

// indexSelect reads slices along an axis.
func indexSelect(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) {
	dim, ok := arg(n, 1, "dim").(int64)
	if !ok || len(t.Shape) == 0 {
		return nil, nil
	}
	if dim < 0 {
		dim += int64(len(t.Shape))
	}
	return l.gathered(n, n.Args[0], dim, arg(n, 2, "index"), func(by *value, ix []ir.Index) (*ir.Expr, []ir.Index) {
		return by.at(ix[dim : dim+int64(len(by.t.Shape))]), ix
	})
}

// gather reads along an axis the element that the index has at the same place.
func gather(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) {
	dim, ok := arg(n, 1, "dim").(int64)
	if !ok || len(t.Shape) == 0 {
		return nil, nil
	}
	if dim < 0 {
		dim += int64(len(t.Shape))
	}
	return l.gathered(n, n.Args[0], dim, arg(n, 2, "index"), func(by *value, ix []ir.Index) (*ir.Expr, []ir.Index) { return by.at(ix), ix })
}

// gathered is what one index reads along axis dim of a node's value: at gives the element of the index, and the other places, of which that along dim does
// not count. Negative elements are refused.
func (l *lowerer) gathered(n *fx.Node, of any, dim int64, by fx.Arg, at func(by *value, ix []ir.Index) (*ir.Expr, []ir.Index)) (*value, error) {
	x, i := l.source(of), l.indexValue(by)
	if x == nil || i == nil || len(x.t.Shape) == 0 {
		return nil, nil
	}
	b := l.realise(of.(*fx.Node), x)
	l.check(b, bounds{node: n, index: i.buf, size: x.t.Shape[dim]})
	return &value{cost: 2, from: []string{n.Name}, load: func(ix []ir.Index) *ir.Expr {
		e, rest := at(i, ix)
		places := make([]coordinate, len(x.t.Shape))
		for d := range places {
			if places[d].by = cast(e, tensor.Int64); int64(d) != dim {
				places[d] = coordinate{plain: rest[d]}
			}
		}
		return element(b, places)
	}}, nil
}

// index reads by several indices that are broadcast to one shape. It stands where the first of them does, or in front where others stand between them.
func index(l *lowerer, n *fx.Node, t *tensor.Tensor) (*value, error) {
	list, ok := n.Args[1].(fx.List)
	x := l.source(n.Args[0])
	if !ok || x == nil {
		return nil, nil
	}
	by := make([]*value, len(x.t.Shape)) // by axis
	first, last, count, rank := -1, -1, 0, 0
	for d, a := range list {
		if a == nil {
			continue
		}
		if d >= len(by) || l.indexValue(a) == nil {
			return nil, nil
		}
		by[d] = l.indexValue(a)
		if first < 0 {
			first = d
		}
		last, count, rank = d, count+1, max(rank, len(by[d].t.Shape))
	}
	if count == 0 {
		return nil, nil
	}
	if last-first+1 != count {
		first = 0
	}
	b := l.realise(n.Args[0].(*fx.Node), x)
	for d, v := range by {
		if v != nil {
			l.check(b, bounds{node: n, index: v.buf, size: x.t.Shape[d], below: true})
		}
	}
	return &value{cost: 2 * count, from: []string{n.Name}, load: func(ix []ir.Index) *ir.Expr {
		common := ix[first : first+rank]
		rest := slices.Concat(ix[:first], ix[first+rank:])
		places := make([]coordinate, len(by))
		for d, v := range by {
			if v == nil {
				places[d].plain, rest = rest[0], rest[1:]
				continue
			}
			e := cast(v.at(broadcast(common, v.t.Shape)), tensor.Int64)
			zero, _ := constant(int64(0), tensor.Int64)
			size, _ := constant(x.t.Shape[d], tensor.Int64)
			places[d].by = call("where", tensor.Int64, call("lt", tensor.Bool, e, zero), call("add", tensor.Int64, e, size), e)
		}
		return element(b, places)
	}}, nil
}

// source is the value of an operand that is read by an index; nil where it is none.
func (l *lowerer) source(a any) *value {
	in, ok := a.(*fx.Node)
	if !ok || l.cfg.whole {
		return nil
	}
	return l.vals[in]
}

// indexValue is an operand of integers in memory that says where to read; nil where it is none.
func (l *lowerer) indexValue(a fx.Arg) *value {
	v := l.source(a)
	if v == nil || v.t.DType != tensor.Int64 && v.t.DType != tensor.Int32 {
		return nil
	}
	l.realise(a.(*fx.Node), v)
	return v
}

// check adds a step that looks at an index of x. Where the graph is given both, nothing needs to be computed before.
func (l *lowerer) check(x *ir.Buffer, b bounds) {
	given := map[*ir.Buffer]bool{}
	for _, p := range l.graph.Placeholders() {
		if v := l.vals[p]; v != nil {
			given[v.buf] = true
		}
	}
	l.steps = append(l.steps, sched.Step{Other: b, Free: given[b.index] && given[x]})
}

// element is the load of an element of a buffer.
func element(b *ir.Buffer, at []coordinate) *ir.Expr {
	e := &ir.Expr{Kind: ir.Load, DType: compute(b.DType), Buf: b, At: ir.Index{Const: b.Offset}}
	for d, x := range at {
		switch {
		case b.Shape[d] == 1:
		case x.by == nil:
			e.At = e.At.Plus(x.plain, b.Stride[d])
		default:
			e.Args, e.Steps = append(e.Args, x.by), append(e.Steps, b.Stride[d])
		}
	}
	return e
}
