package capture

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"whittle/capture/breaks"
	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/symbolic"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// standIns are the fake tensors of a trace. Every tensor from outside that the trace uses has one, which is an input of the graph or
// a constant of it; fakes and reals are each other's inverse.
type standIns struct {
	*ground
	journal *journal
	out     *output
	symbols *symbols
	world   *world

	fakes   map[*tensor.Tensor]*tensor.Tensor // real tensor => its stand-in
	reals   map[*tensor.Tensor]*torch.Tensor  // stand-in => the real tensor's object
	viaAttr map[*tensor.Tensor]source.Source  // views that are attributes of inputs
	known   knownValues
}

func newStandIns(g *ground, j *journal, out *output, sy *symbols, w *world) *standIns {
	return &standIns{ground: g, journal: j, out: out, symbols: sy, world: w, fakes: map[*tensor.Tensor]*tensor.Tensor{}, reals: map[*tensor.Tensor]*torch.Tensor{},
		viaAttr: map[*tensor.Tensor]source.Source{}, known: knownValues{}}
}

// fake is the stand-in of a tensor: itself when it is of this trace, a placeholder's value otherwise. The first use of a tensor from
// outside is what makes it an input of the graph, guards it, and gives its sizes symbols.
func (st *standIns) fake(p *torch.Tensor) (*tensor.Tensor, error) {
	if st.out.branch != nil {
		return st.inside(st.out.branch, p)
	}
	x := p.T
	if st.out.nodes[x] != nil {
		return x, nil
	}
	if f := st.fakes[x]; f != nil {
		return f, nil
	}
	src := st.world.sources[p]
	if src == nil {
		return st.constant(p)
	}
	if st.d.ctx.Export != nil && source.InModule(src) {
		return st.ofModule(p, src)
	}
	name := src.Name()
	st.world.guard(p, src) // a value of the frame's stack is guarded when it is first used
	dims := st.symbols.sizesAt(p, src)
	st.symbols.bindSymbols(dims.bound)
	shown := name
	if np, ok := src.(source.Numpy); ok {
		shown = np.Base.Name()
	}
	n := st.out.placeholder(placeholderName(shown))
	f := tensor.FakeLike(x)
	if len(dims.bound) > 0 || !constants(dims.size) || !constants(dims.stride) {
		st.sizes.Set(f, dims.size, dims.stride)
	}
	n.Val = f
	n.Type = "torch.Tensor"
	if p.Type().Name == "Parameter" {
		n.Type = "torch.nn.parameter.Parameter"
	}
	n.Meta = map[string]any{fx.MetaSource: name}
	st.stand(f, p, n)
	if err := st.asDifferentiable(f, x); err != nil {
		return nil, err
	}
	if st.t.Grad.IsInference(x) {
		st.t.Grad.MarkInference(f)
	}
	in := input{node: n, source: src, val: x}
	if st.d.ctx.Export != nil {
		st.fromOutside(&in)
	}
	st.out.inputs = append(st.out.inputs, in)
	st.journal.logInput(n, x, name)
	return f, nil
}

// constant makes a tensor that the trace reached without passing through a load it watches a constant of the graph.
func (st *standIns) constant(p *torch.Tensor) (*tensor.Tensor, error) {
	if standsIn(p.T) {
		return nil, unsupported(breaks.OtherTraceTensor)
	}
	name := fmt.Sprintf("_tensor_constant%d", len(st.out.attrs))
	st.out.attrs[name] = p.T
	n := st.out.graph.GetAttr(name)
	f := tensor.FakeLike(p.T)
	n.Val = f
	st.stand(f, p, n)
	return f, nil
}

// stand files f, whose node is n, as what stands for a real tensor.
func (st *standIns) stand(f *tensor.Tensor, p *torch.Tensor, n *fx.Node) {
	st.out.nodes[f], st.fakes[p.T], st.reals[f] = n, f, p
	face := st.t.Wrap(f).(*torch.Tensor)
	if isParameter(p) {
		face = st.t.WrapAs(f, p.Type()) // what changes a parameter in place gives a parameter
	}
	face.StandFor(p)
}

var notWord = regexp.MustCompile(`[^a-zA-Z0-9]+`)

// placeholderName is the name that PyTorch gives to a source's graph input: L['x'] is L_x_.
func placeholderName(source string) string {
	return strings.TrimPrefix(notWord.ReplaceAllString(source, "_"), "_")
}

// standsIn reports whether a tensor is of a trace, and has no data. A tensor of a level of torch.func has none of its own either, and is one of the program.
func standsIn(x *tensor.Tensor) bool { return x.Fake && x.Wraps == nil }

// asDifferentiable makes gradients flow to the stand-in f as they do to x: to a leaf, or to the result of an operator, which may be
// written in place.
func (st *standIns) asDifferentiable(f, x *tensor.Tensor) error {
	grad := st.t.Grad
	if !grad.RequiresGrad(x) {
		return nil
	}
	if grad.IsLeaf(x) {
		return grad.SetRequiresGrad(f, true)
	}
	leaf := tensor.FakeLike(x)
	if err := grad.SetRequiresGrad(leaf, true); err != nil {
		return err
	}
	defer st.t.KeepModes()()
	grad.SetEnabled(true)
	grad.Record(grad.GradFn(x), []*tensor.Tensor{leaf}, []*tensor.Tensor{f}, func([]*tensor.Tensor) ([]*tensor.Tensor, error) {
		return nil, errors.New("a tensor of a trace has no gradient") // a backward in a graph breaks it
	})
	return nil
}

// swap is swapOne for each of a call's arguments.
func (st *standIns) swap(args []vm.Object) []vm.Object {
	out := make([]vm.Object, len(args))
	for i, a := range args {
		out[i] = st.swapOne(a)
	}
	return out
}

// swapOne puts stand-ins for real tensors, inside containers too.
func (st *standIns) swapOne(o vm.Object) vm.Object {
	switch v := o.(type) {
	case *torch.Tensor:
		if f := st.fakes[v.T]; f != nil {
			return st.t.Wrap(f)
		}
		if st.t.IsFace(v) {
			return st.t.Wrap(v.T)
		}
	case *vm.List:
		return vm.NewList(st.swap(v.Items)...)
	case *vm.Tuple:
		return vm.NewTuple(st.swap(v.Items)...)
	case *vm.Slice:
		return &vm.Slice{Start: st.swapOne(v.Start), Stop: st.swapOne(v.Stop), Step: st.swapOne(v.Step)}
	}
	return o
}

// useValue makes a tensor from outside an input of the graph.
func (st *standIns) useValue(o vm.Object) error {
	p, ok := o.(*torch.Tensor)
	if !ok || standsIn(p.T) || st.world.sources[p] == nil {
		return nil
	}
	_, err := st.fake(p)
	return err
}

// useArguments makes the tensors among a call's arguments inputs of the graph, in the order in which PyTorch comes across them:
// functions and methods of torch look for overrides first, and do so from the last argument to the first.
func (st *standIns) useArguments(c *torch.Call) error {
	if c.Op != fx.CallMethod && c.Op != fx.CallFunction {
		return nil
	}
	if c.Op == fx.CallFunction && (strings.HasPrefix(c.Target, "operator.") || !strings.Contains(c.Target, ".") || c.Stem != "") {
		return nil
	}
	todo := append([]vm.Object(nil), c.Args...)
	for _, k := range c.Kw {
		todo = append(todo, k.Value)
	}
	return st.useAll(todo)
}

// useAll makes the tensors in a list of values inputs of the graph, from the last to the first.
func (st *standIns) useAll(todo []vm.Object) error {
	for len(todo) > 0 {
		o := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		switch v := o.(type) {
		case *vm.List:
			todo = append(todo, v.Items...)
		case *vm.Tuple:
			todo = append(todo, v.Items...)
		default:
			if err := st.useValue(o); err != nil {
				return err
			}
		}
	}
	return nil
}

// sizesOf is torch's hook for sizes and strides of a tensor inside a trace (torch.Ambient.Sizes). Sizes that are all constants are left to
// the tensor itself.
func (st *standIns) sizesOf(x *tensor.Tensor, stride bool, dims ...int) []vm.Object {
	f := st.standIn(x)
	if f == nil || !st.sizes.Symbolic(f) && st.reals[f] == nil {
		return nil
	}
	all := st.sizes.Size(f)
	if stride {
		var err error
		if all, err = st.sizes.Stride(f); err != nil {
			return nil
		}
	}
	if len(dims) > 0 {
		some := make([]*symbolic.Expr, len(dims))
		for i, d := range dims {
			some[i] = all[d]
		}
		all = some
	}
	if constants(all) {
		return nil
	}
	return st.out.numberObjects(all)
}

// standIn is the fake of a tensor whose sizes are asked for: one that comes in is used by that. nil for tensors of no trace.
func (st *standIns) standIn(x *tensor.Tensor) *tensor.Tensor {
	if standsIn(x) {
		return x
	}
	p, ok := x.Py.(*torch.Tensor)
	if !ok || st.world.sources[p] == nil {
		return nil
	}
	f, err := st.fake(p)
	if err != nil {
		return nil
	}
	return f
}

// numelOf is torch's hook for the number of elements of a tensor inside a trace (torch.Ambient.Numel).
func (st *standIns) numelOf(x *tensor.Tensor) vm.Object {
	f := st.standIn(x)
	if f == nil || !st.sizes.Symbolic(f) {
		return nil
	}
	e := symbolic.Mul(st.sizes.Size(f)...)
	o := st.t.Number(e, st.unknowns)
	s, ok := o.(*torch.Scalar)
	if !ok || st.depth > 0 {
		return o
	}
	n := st.out.nodes[f]
	if st.out.exprNodes[e.String()] == nil && n != nil && n.Op == fx.Placeholder { // of anything else, it is computed from the inputs
		m := st.out.graph.CreateNode(fx.CallMethod, "numel", []fx.Arg{n}, nil, "")
		m.Val = fx.SymInt{Expr: e.String(), Hint: st.unknowns.HintInt(e)}
		st.out.exprNodes[e.String()] = m
	}
	st.out.calls++
	st.out.scalars[s] = st.out.exprNode(e)
	return s
}
