package lowering

import (
	"fmt"
	"slices"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/fx/interp"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
	"whittle/lowering/ir"
	"whittle/lowering/sched"
)

// lowerer turns one graph into steps. Values start lazy (an expression per index) and are
// realised into buffers when somebody needs them in memory.
type lowerer struct {
	cfg   Config
	graph *fx.Graph
	steps []sched.Step
	vals  map[*fx.Node]*value
	uses  map[*fx.Node]int
	nbuf  int
	// results of lowered nodes with several, for their getitem nodes
	results map[*fx.Node][]*value
}

// value is what a node computes: a buffer once realised, before that a loader.
type value struct {
	t    *tensor.Tensor // metadata: shape, stride, dtype
	buf  *ir.Buffer     // nil => lazy
	load func(ix []ir.Index) *ir.Expr
	from []string // node names that the loader fuses
	cost int      // calls in the loader
}

// extern is a step that runs an operator's eager kernel.
type extern struct {
	node *fx.Node
}

// viewStep makes a tensor that shares another's storage.
type viewStep struct {
	buf *ir.Buffer
	of  *ir.Buffer
}

// maxInline is how large an expression may grow before a value with several readers is stored.
const maxInline = 32

// lower walks the graph once.
func lower(gm *fx.GraphModule, cfg Config) (l *lowerer, err error) {
	l = &lowerer{cfg: cfg, graph: gm.Graph, vals: map[*fx.Node]*value{}, uses: map[*fx.Node]int{}, results: map[*fx.Node][]*value{}}
	for n, us := range gm.Graph.Users() {
		l.uses[n] = len(us)
	}
	for _, n := range gm.Graph.Nodes {
		switch n.Op {
		case fx.Placeholder, fx.GetAttr:
			if t, ok := n.Val.(*tensor.Tensor); ok && t != nil {
				l.vals[n] = &value{t: t, buf: &ir.Buffer{Name: n.Name, DType: t.DType, Shape: t.Shape, Stride: t.Stride}}
			}
		case fx.CallFunction:
			if err := l.call(n); err != nil {
				return nil, err
			}
		case fx.Output:
			n.WalkInputs(func(in *fx.Node) {
				if v := l.vals[in]; v != nil {
					l.realise(in, v)
				}
			})
		default:
			return nil, &LoweringError{Type: "AssertionError", Msg: "unexpected node kind " + string(n.Op), Target: n.Target}
		}
	}
	return l, nil
}

// call lowers one node: to a lazy view of a lazy value, a lazy expression, a reduction, or a view by strides, whatever comes first; and to a
// call of the eager kernel when nothing else fits. A row may decline a call that generated code would get wrong, such as integer division,
// which has to raise.
func (l *lowerer) call(n *fx.Node) error {
	if n.Target == "aten._foobar.default" {
		// Registered so that tools for failing compilers have something to find.
		return &LoweringError{Type: "AssertionError", Msg: "", Target: "aten._foobar.default",
			Args: describeArgs(n, func(m *fx.Node) string { return l.bufName(m) })}
	}
	t, ok := n.Val.(*tensor.Tensor)
	if !l.chosen("lowerings", n) {
		return l.extern(n, t)
	}
	if ok && t != nil {
		if f, ok := views[n.Target]; ok {
			if done := f(l, n, t); done {
				return nil
			}
			return l.view(n, t)
		}
		if f, ok := table[n.Target]; ok && supported(n, t) {
			v, err := f(l, n, t)
			if err != nil {
				return err
			}
			if v != nil {
				v.t = t
				l.vals[n] = v
				l.settle(n, v)
				return nil
			}
		}
		if f, ok := reductions[n.Target]; ok && supported(n, t) && f(l, n, t) {
			return nil
		}
		if f, ok := assembled[n.Target]; ok && supported(n, t) && f(l, n, t) {
			return nil
		}
		if op := n.Operator(); op != nil && op.Tags&aten.View != 0 && len(n.Args) > 0 && !lazyBits[n.Target] {
			return l.view(n, t)
		}
	} else if f, ok := multiple[n.Target]; ok && f(l, n) {
		return nil
	}
	if n.Target == "operator.getitem" {
		if in, ok := n.Args[0].(*fx.Node); ok {
			if i, ok := n.Args[1].(int64); ok && l.results[in] != nil {
				l.vals[n] = l.results[in][i]
				l.settle(n, l.vals[n])
				return nil
			}
		}
	}
	return l.extern(n, t)
}

// chosen reports whether a choice about a node is taken. What takes a result of a call goes with it.
func (l *lowerer) chosen(kind string, n *fx.Node) bool {
	if n.Target == "operator.getitem" {
		return true
	}
	return l.cfg.Choices.Take(kind, n.Target, n.Name+" = "+n.Target, n.Origin().Where())
}

// lazyBits are the operators that PyTorch does by a bit on a view. Their elements differ from those in memory.
var lazyBits = map[string]bool{"aten._conj.default": true, "aten._neg_view.default": true}

// bufName is what messages call the value of a node.
func (l *lowerer) bufName(n *fx.Node) string {
	if v := l.vals[n]; v != nil && v.buf != nil {
		return v.buf.Name
	}
	return n.Name
}

// supported says whether generated code can compute n: dense real dtypes.
func supported(n *fx.Node, t *tensor.Tensor) bool {
	ok := t.DType.Kind() != tensor.KindComplex && t.DType != tensor.Invalid
	n.WalkInputs(func(in *fx.Node) {
		if x, is := in.Val.(*tensor.Tensor); is && x != nil && x.DType.Kind() == tensor.KindComplex {
			ok = false
		}
	})
	return ok
}

// settle stores a lazy value at once where recomputing it for each reader would cost more than a pass over memory.
func (l *lowerer) settle(n *fx.Node, v *value) {
	if v.buf == nil && (l.uses[n] > 1 && v.cost > 2 || v.cost > maxInline || l.uses[n] > 0 && !l.chosen("inlining", n)) {
		l.realise(n, v)
	}
}

// newBuffer makes memory for a value of t's metadata, under the next name.
func (l *lowerer) newBuffer(t *tensor.Tensor) *ir.Buffer {
	b := &ir.Buffer{Name: fmt.Sprintf("buf%d", l.nbuf), DType: t.DType, Shape: t.Shape, Stride: t.Stride}
	l.nbuf++
	return b
}

// axes are the plain loop indices of an n-dimensional space.
func axes(n int) []ir.Index {
	ix := make([]ir.Index, n)
	for i := range ix {
		ix[i] = ir.Axis(i)
	}
	return ix
}

// loop adds loops as a step of their own.
func (l *lowerer) loop(loops *ir.Loops) {
	loops.Simplify()
	l.steps = append(l.steps, sched.Step{Loops: []*ir.Loops{loops}})
}

// realise gives v memory, computing it with a loop of its own.
func (l *lowerer) realise(n *fx.Node, v *value) *ir.Buffer {
	if v.buf != nil {
		return v.buf
	}
	b := l.newBuffer(v.t)
	if !v.t.IsNonOverlappingAndDense() {
		b.Stride = tensor.ContiguousStrides(v.t.Shape)
	}
	l.loop(&ir.Loops{Out: b, At: b.StoreAt(), Ranges: v.t.Shape, Value: v.load(axes(len(v.t.Shape))), Origins: append([]string(nil), v.from...)})
	v.buf, v.load, v.cost, v.from = b, nil, 0, nil
	return b
}

// at loads v at an index of its own shape.
func (v *value) at(ix []ir.Index) *ir.Expr {
	if v.buf == nil {
		return v.load(ix)
	}
	e := ir.Index{Const: v.buf.Offset}
	for d, x := range ix {
		if v.buf.Shape[d] == 1 {
			continue
		}
		e = e.Plus(x, v.buf.Stride[d])
	}
	return &ir.Expr{Kind: ir.Load, DType: compute(v.buf.DType), Buf: v.buf, At: e}
}

// compute is the type that arithmetic on d uses: half types widen to float.
func compute(d tensor.DType) tensor.DType {
	if d == tensor.BFloat16 || d == tensor.Float16 {
		return tensor.Float32
	}
	return d
}

// broadcast maps an index of the result's shape to one of an operand's.
func broadcast(ix []ir.Index, shape []int64) []ir.Index {
	lead := len(ix) - len(shape)
	out := make([]ir.Index, len(shape))
	for i := range shape {
		if shape[i] != 1 {
			out[i] = ix[lead+i]
		}
	}
	return out
}

// extern runs n's eager kernel; its tensor operands must be in memory.
func (l *lowerer) extern(n *fx.Node, t *tensor.Tensor) error {
	if !strings.HasPrefix(n.Target, "operator.") && !interp.Runs(n) && n.Operator() == nil {
		return &LoweringError{Type: "MissingOperatorWithoutDecomp", Msg: "missing lowering", Target: n.Target,
			Args: describeArgs(n, func(m *fx.Node) string { return l.bufName(m) })}
	}
	n.WalkInputs(func(in *fx.Node) {
		if v := l.vals[in]; v != nil {
			l.realise(in, v)
		}
	})
	if writes(n) {
		l.settleBefore(n)
	}
	l.steps = append(l.steps, sched.Step{Other: extern{n}})
	if t != nil {
		l.vals[n] = &value{t: t, buf: &ir.Buffer{Name: n.Name, DType: t.DType, Shape: t.Shape, Stride: t.Stride}}
	}
	return nil
}

// writes reports whether a node changes one of its operands.
func writes(n *fx.Node) bool {
	op := n.Operator()
	return op != nil && len(op.Facts().Writes) > 0
}

// settleBefore computes what is lazy and still needed before n, which writes memory that it may read, is done.
func (l *lowerer) settleBefore(n *fx.Node) {
	before := map[*fx.Node]bool{}
	for _, m := range l.graph.Nodes {
		if m == n {
			break
		}
		before[m] = true
	}
	users := l.graph.Users()
	for _, m := range l.graph.Nodes {
		v := l.vals[m]
		if !before[m] || v == nil || v.buf != nil {
			continue
		}
		if slices.ContainsFunc(users[m], func(u *fx.Node) bool { return u != n && !before[u] }) {
			l.realise(m, v)
		}
	}
}

// view makes n an alias of its (realised) first operand, by strides.
func (l *lowerer) view(n *fx.Node, t *tensor.Tensor) error {
	in, ok := n.Args[0].(*fx.Node)
	v := l.vals[in]
	if !ok || v == nil || t.DType != v.t.DType {
		return l.extern(n, t)
	}
	src := l.realise(in, v)
	if !sameLayout(src, v.t) {
		return l.extern(n, t)
	}
	// t's strides were computed on a fake of the same layout, so they hold for the buffer too.
	b := &ir.Buffer{Name: n.Name, DType: t.DType, Shape: t.Shape, Stride: t.Stride, Offset: src.Offset + t.Offset - v.t.Offset, Root: src.Owner()}
	l.steps = append(l.steps, sched.Step{Other: viewStep{b, src}, Free: true})
	l.vals[n] = &value{t: t, buf: b}
	return nil
}

// sameLayout reports whether the strides of b are those that t was propagated with; dimensions of size 1 have any.
func sameLayout(b *ir.Buffer, t *tensor.Tensor) bool {
	for i := range t.Stride {
		if t.Shape[i] > 1 && b.Stride[i] != t.Stride[i] {
			return false
		}
	}
	return true
}

// Kind says what lowering makes of an operator: "loop", "reduction", "parts" or "view" where generated code does it, and "extern" for a call of
// the eager kernel.
func Kind(op *aten.Op) string {
	name := op.Name()
	switch {
	case table[name] != nil:
		return "loop"
	case assembled[name] != nil:
		return "parts"
	case reductions[name] != nil, multiple[name] != nil:
		return "reduction"
	case views[name] != nil, op.Has(aten.View) && !lazyBits[name]:
		return "view"
	}
	return "extern"
}
