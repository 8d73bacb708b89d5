package stack

import (
	"errors"
	"slices"

	"whittle/aot/autograd"
	"whittle/capture/torch"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// gradient presents the autograd engine as capture/torch wants to see it.
type gradient struct {
	eager *autograd.Engine
	fake  *autograd.Engine
	mode  *autograd.GradMode
	trace *autograd.Engine // of the trace of operators at work; nil => none
}

func newGradient() *gradient {
	m := &autograd.GradMode{Enabled: true}
	return &gradient{eager: &autograd.Engine{Below: aten.Default, Mode: m}, fake: &autograd.Engine{Below: aten.Fake, Mode: m}, mode: m}
}

// tracing has gradients that the program asks for computed by the engine of a trace, whose dispatcher d is, until it is undone.
func (g *gradient) tracing(d aten.Dispatcher) (undo func()) {
	before := g.trace
	g.trace, _ = d.(*autograd.Engine)
	return func() { g.trace = before }
}

func (g *gradient) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	return g.eager.Dispatch(op, args)
}

// DispatchFake computes metadata, requires_grad included.
func (g *gradient) DispatchFake(op *aten.Op, args []aten.Value) (aten.Value, error) {
	return g.fake.Dispatch(op, args)
}

func (g *gradient) Enabled() bool                      { return g.mode.Enabled }
func (g *gradient) SetEnabled(on bool)                 { g.mode.Enabled = on }
func (g *gradient) RequiresGrad(t *tensor.Tensor) bool { return autograd.RequiresGrad(t) }
func (g *gradient) IsLeaf(t *tensor.Tensor) bool       { return autograd.IsLeaf(t) }
func (g *gradient) RetainGrad(t *tensor.Tensor)        { autograd.RetainGrad(t) }
func (g *gradient) RetainsGrad(t *tensor.Tensor) bool {
	m := autograd.MetaOf(t)
	return m != nil && m.RetainGrad
}
func (g *gradient) Detach(t *tensor.Tensor) { autograd.Detach(t) }

func (g *gradient) SetRequiresGrad(t *tensor.Tensor, on bool) error {
	if on && t.DType.Kind() < tensor.KindFloat {
		return errors.New("only Tensors of floating point dtype can require gradients")
	}
	if !on && !autograd.IsLeaf(t) {
		return errors.New("you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach().")
	}
	if !on && autograd.MetaOf(t) == nil {
		return nil
	}
	if on && !autograd.IsLeaf(t) {
		return nil
	}
	autograd.Ensure(t).RequiresGrad = on
	return nil
}

func (g *gradient) GradFn(t *tensor.Tensor) string {
	if n := autograd.GradFn(t); n != nil {
		return n.Name
	}
	return ""
}

func (g *gradient) Node(t *tensor.Tensor) torch.GradNode {
	if n := autograd.GradFn(t); n != nil {
		return node{n}
	}
	return nil
}

// node shows a recorded operator to the torch package.
type node struct{ n *autograd.Node }

func (n node) Name() string { return n.n.Name }
func (n node) Face() *any   { return &n.n.Face }

func (n node) Next() []torch.GradEdge {
	es := n.n.Edges()
	out := make([]torch.GradEdge, len(es))
	for i, e := range es {
		out[i] = edge(e)
	}
	return out
}

// edge shows an edge of the graph to the torch package.
func edge(e autograd.Edge) torch.GradEdge {
	if e == (autograd.Edge{}) {
		return torch.GradEdge{}
	}
	return torch.GradEdge{Node: node{e.Target()}, Nr: e.Nr}
}

// edges are edges as the engine knows them.
func edges(es []torch.GradEdge) []autograd.Edge {
	out := make([]autograd.Edge, len(es))
	for i, e := range es {
		if e.Node == nil {
			continue
		}
		n := e.Node.(node).n
		if out[i] = (autograd.Edge{Node: n, Nr: e.Nr}); n.Leaf() != nil {
			out[i] = autograd.Edge{Leaf: n.Leaf()}
		}
	}
	return out
}

func (n node) Number() uint64       { return n.n.Number() }
func (n node) Leaf() *tensor.Tensor { return n.n.Leaf() }

func (n node) Results() []*tensor.Tensor { return n.n.Results() }

func (n node) Before(f func(inputs, outputs []*tensor.Tensor) ([]*tensor.Tensor, error)) func() {
	return n.n.Before(&autograd.NodeHook{Call: f})
}

func (n node) After(f func(inputs, outputs []*tensor.Tensor) ([]*tensor.Tensor, error)) func() {
	return n.n.After(&autograd.NodeHook{Call: f})
}

// Saved is what the node keeps for its backward pass.
func (n node) Saved() ([]torch.SavedTensor, error) {
	saved, err := n.n.Saved()
	out := make([]torch.SavedTensor, len(saved))
	for i, s := range saved {
		out[i] = savedTensor{s}
	}
	return out, err
}

func (n node) Scalars() map[string]aten.Value { return n.n.Scalars() }

func (n node) Keep(saved []torch.SavedTensor) {
	for _, s := range saved {
		n.n.Kept = append(n.n.Kept, s.(savedTensor).s)
	}
}

// savedTensor shows a saved tensor to the torch package.
type savedTensor struct{ s *autograd.Saved }

func (s savedTensor) Name() string                   { return s.s.Name }
func (s savedTensor) Get() (*tensor.Tensor, error)   { return s.s.Get() }
func (s savedTensor) Hook(h *torch.SavedHooks) error { return s.s.Hook((*autograd.Hooks)(h)) }

func (g *gradient) Save(t *tensor.Tensor) (torch.SavedTensor, error) {
	s, err := autograd.NewSaved("", t, g.eager.SavedHooks())
	if err != nil {
		return nil, err
	}
	return savedTensor{s}, nil
}

func (g *gradient) UseHooks(top func() *torch.SavedHooks) {
	g.eager.Hooks = func() *autograd.Hooks { return (*autograd.Hooks)(top()) }
}

func (g *gradient) Grad(t *tensor.Tensor) *tensor.Tensor {
	if m := autograd.MetaOf(t); m != nil {
		return m.Grad
	}
	return nil
}

func (g *gradient) SetGrad(t, v *tensor.Tensor) { autograd.Ensure(t).Grad = v }

func (g *gradient) AddHook(t *tensor.Tensor, h func(*tensor.Tensor) (*tensor.Tensor, error)) func() {
	return autograd.AddHook(t, h)
}

func (g *gradient) AddPostHook(t *tensor.Tensor, h func(*tensor.Tensor) error) (remove func()) {
	m, off := autograd.Ensure(t), false
	m.PostHooks = append(m.PostHooks, func(t *tensor.Tensor) error {
		if off {
			return nil
		}
		return h(t)
	})
	return func() { off = true }
}

func (g *gradient) Backward(roots, grads []*tensor.Tensor, o torch.BackwardOptions) ([]*tensor.Tensor, error) {
	return g.pass(o, func(e *autograd.Engine, opt autograd.Options) ([]*tensor.Tensor, error) {
		return e.Backward(roots, grads, opt)
	})
}

func (g *gradient) BackwardFrom(roots []torch.GradEdge, grads []*tensor.Tensor, o torch.BackwardOptions) ([]*tensor.Tensor, error) {
	return g.pass(o, func(e *autograd.Engine, opt autograd.Options) ([]*tensor.Tensor, error) {
		return e.BackwardFrom(edges(roots), grads, opt)
	})
}

// pass runs a backward pass.
func (g *gradient) pass(o torch.BackwardOptions, run func(*autograd.Engine, autograd.Options) ([]*tensor.Tensor, error)) ([]*tensor.Tensor, error) {
	e := g.engine()
	was := *g.mode
	g.mode.Enabled = o.CreateGraph // which the program's hooks and functions see
	defer func() { g.mode.Enabled = was.Enabled }()
	return run(e, autograd.Options{RetainGraph: o.RetainGraph, CreateGraph: o.CreateGraph, Accumulate: o.Accumulate, AllowUnused: o.AllowUnused, Inputs: o.Inputs, At: edges(o.At), On: o.On, Alone: o.Alone})
}

func (g *gradient) EdgeOf(t *tensor.Tensor) torch.GradEdge { return edge(autograd.EdgeOf(t)) }
func (g *gradient) Ambiguous(t *tensor.Tensor) error       { return autograd.Ambiguous(t) }
func (g *gradient) MadeByFunction(t *tensor.Tensor, several bool) {
	autograd.MadeByFunction(t, several)
}
func (g *gradient) SetInference(on bool)              { g.mode.Inference = on }
func (g *gradient) MarkInference(t *tensor.Tensor)    { autograd.Ensure(t).Inference = true }
func (g *gradient) IsInference(t *tensor.Tensor) bool { return autograd.IsInference(t) }

// engine is the one that runs backward passes now.
func (g *gradient) engine() *autograd.Engine {
	if g.trace != nil {
		return g.trace
	}
	return g.eager
}

func (g *gradient) Running() torch.GradNode {
	if n := g.engine().Running(); n != nil {
		return node{n}
	}
	return nil
}

func (g *gradient) CallNode(n torch.GradNode, grads []*tensor.Tensor) ([]*tensor.Tensor, error) {
	return g.engine().Call(n.(node).n, grads, g.mode.Enabled)
}
func (g *gradient) WillRun(n torch.GradNode) (runs, ok bool) { return g.engine().WillRun(n.(node).n) }

func (g *gradient) Order() ([]torch.GradNode, bool) {
	ns, ok := g.engine().Order()
	out := make([]torch.GradNode, len(ns))
	for i, n := range ns {
		out[i] = node{n}
	}
	return out, ok
}

func (g *gradient) Watch(w torch.Watcher) {
	g.eager.Watch = nil
	if w != nil {
		g.eager.Watch = w
	}
}

func (g *gradient) DetectAnomaly(a *torch.Anomaly) {
	g.eager.Anomaly = nil
	if a == nil {
		return
	}
	g.eager.Anomaly = &autograd.Anomaly{CheckNaN: a.CheckNaN, Trace: a.Trace, Failed: func(n *autograd.Node) {
		var chain []torch.AnomalyNode
		for ; n != nil; n = n.Parent {
			chain = append(chain, torch.AnomalyNode{Name: n.Name, Trace: n.Trace})
		}
		a.Failed(chain)
	}}
}

// Recorder makes an engine over another dispatcher.
func (g *gradient) Recorder(below aten.Dispatcher, always bool) aten.Dispatcher {
	e := &autograd.Engine{Below: below, Mode: g.mode}
	if always {
		e.Mode = nil
	}
	return e
}

func (g *gradient) Record(name string, inputs, outs []*tensor.Tensor, apply func([]*tensor.Tensor) ([]*tensor.Tensor, error)) {
	if !slices.ContainsFunc(inputs, func(t *tensor.Tensor) bool { return t != nil && autograd.RequiresGrad(t) }) {
		return
	}
	n := autograd.NewNode(name, inputs, len(outs), func(d aten.Dispatcher, grads []*tensor.Tensor, need []bool) ([]*tensor.Tensor, error) {
		return apply(grads)
	})
	n.Checked = true
	g.eager.Anomaly.Made(n)
	for i, t := range outs {
		n.Describe(i, t)
		if in := slices.Index(inputs, t); in >= 0 {
			g.eager.Written(t, n, in, i)
		} else {
			autograd.SetHistory(t, n, i)
		}
	}
}

// Beneath puts another dispatcher beneath the engine that runs on data.
func (g *gradient) Beneath(put func(below aten.Dispatcher) aten.Dispatcher) {
	g.eager.Below = put(g.eager.Below)
}

// Below is the dispatcher beneath that engine.
func (g *gradient) Below() aten.Dispatcher { return g.eager.Below }

// Fakes is a dispatcher that computes metadata alone, requires_grad included.
func (s *Session) Fakes() aten.Dispatcher { return fakes{s.grad} }

type fakes struct{ g *gradient }

// Dispatch implements aten.Dispatcher.
func (f fakes) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	return f.g.DispatchFake(op, args)
}
