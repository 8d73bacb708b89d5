package aot

import (
	"fmt"
	"slices"

	"whittle/aot/autograd"
	"whittle/aot/build"
	"whittle/capture/fx"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Cond records torch.cond: both branches are traced into subgraphs of their own, and one node picks between them. Where gradients are recorded,
// the backward pass is another such node, whose branches compute the gradients of these. d is the dispatcher of a trace, as a Function got it.
func Cond(d aten.Dispatcher, pred *tensor.Tensor, operands []aten.Value, branches [2]Function) ([]aten.Value, error) {
	f := functionalOf(d)
	if f == nil {
		return nil, fmt.Errorf("torch.cond: no trace is in progress")
	}
	tr, ok := f.Below.(*Tracer)
	if !ok {
		return nil, fmt.Errorf("torch.cond: unexpected layer %T below functionalisation", f.Below)
	}
	c := &condition{f: f, tr: tr, pred: pred, operands: operands, branches: branches, wrt: make([]*tensor.Tensor, len(operands))}
	training := false
	if eng, ok := d.(*autograd.Engine); ok && eng.Mode.Enabled {
		for i, v := range operands {
			if t, ok := v.(*tensor.Tensor); ok && autograd.RequiresGrad(t) {
				c.wrt[i], training = t, true
			}
		}
	}
	outs, err := c.record(operands, func(i int, inner []aten.Value) (*fx.GraphModule, []aten.Value, error) {
		return traceBranch(branches[i], inner, tr.Decomp)
	})
	if err != nil || !training {
		return outs, err
	}
	var floats []*tensor.Tensor // the results that gradients flow to
	var at []int
	for i, o := range outs {
		if t, ok := o.(*tensor.Tensor); ok && t.DType.Kind() >= tensor.KindFloat {
			floats, at = append(floats, t), append(at, i)
		}
	}
	return outs, RecordFunction(d, "CondAutogradOpBackward", c.wrt, floats, func(grads []*tensor.Tensor) ([]*tensor.Tensor, error) {
		return c.backward(floats, at, grads)
	})
}

// condition is one torch.cond of a trace.
type condition struct {
	f        *Functional
	tr       *Tracer
	pred     *tensor.Tensor
	operands []aten.Value
	branches [2]Function
	wrt      []*tensor.Tensor // per operand: itself where a gradient is asked for, else nil
}

// record adds the node of a torch.cond to the graph, with the subgraphs that branch makes of what the operands stand for, and gives its results.
func (c *condition) record(operands []aten.Value, branch func(i int, inner []aten.Value) (*fx.GraphModule, []aten.Value, error)) ([]aten.Value, error) {
	f, tr := c.f, c.tr
	inner, err := f.unwrapAll(operands)
	if err != nil {
		return nil, err
	}
	p, err := f.Inner(c.pred)
	if err != nil {
		return nil, err
	}
	var graphs [2]*fx.GraphModule
	var outs []aten.Value
	names := [2]string{"true_graph", "false_graph"}
	for i, name := range names {
		gm, res, err := branch(i, inner)
		if err != nil {
			return nil, fmt.Errorf("torch.cond, %s: %w", name, err)
		}
		if i == 1 && len(res) != len(outs) {
			return nil, fmt.Errorf("torch.cond: one branch gives %d tensors, the other %d", len(outs), len(res))
		}
		gm.ClassName = "<lambda>"
		outs, graphs[i] = res, gm
	}
	if tr.GM.Submodules == nil {
		tr.GM.Submodules = map[string]*fx.GraphModule{}
	}
	number := len(tr.GM.Submodules) / 2
	var subs [2]*fx.Node
	for i, name := range names {
		name = fmt.Sprintf("%s_%d", name, number)
		subs[i] = tr.GM.Graph.GetAttr(name)
		tr.GM.Submodules[name] = graphs[i]
	}
	pa, err := tr.arg(p)
	if err != nil {
		return nil, err
	}
	ops, err := tr.arg(inner)
	if err != nil {
		return nil, err
	}
	n := tr.GM.Graph.CallFunction("torch.ops.higher_order.cond", pa, subs[0], subs[1], fx.Tuple(ops.(fx.List)))
	n.SetOrigin(tr.origin())
	vals := make([]aten.Value, len(outs))
	for i, o := range outs {
		vals[i] = o
		if t, ok := o.(*tensor.Tensor); ok {
			vals[i] = tensor.FakeLike(t)
		}
	}
	n.Val = vals
	tr.results(n, vals)
	wrapped := make([]aten.Value, len(vals))
	for i, v := range vals {
		wrapped[i] = v
		if t, ok := v.(*tensor.Tensor); ok {
			wrapped[i] = f.Wrap(t)
		}
	}
	return wrapped, nil
}

// backward records the torch.cond that computes gradients: its operands are the gradients of those results that have some, and then the operands
// of the forward one, as in PyTorch. What one branch alone depends on has a gradient of zeros in the other; what none does has none.
func (c *condition) backward(results []*tensor.Tensor, at []int, grads []*tensor.Tensor) ([]*tensor.Tensor, error) {
	var flowing []int // the results, by position in what the branches give
	var operands []aten.Value
	for k, g := range grads {
		if g != nil {
			flowing, operands = append(flowing, at[k]), append(operands, g)
		}
	}
	if len(flowing) == 0 {
		return make([]*tensor.Tensor, len(c.wrt)), nil
	}
	operands = append(operands, c.operands...)
	inner, err := c.f.unwrapAll(operands)
	if err != nil {
		return nil, err
	}
	used := make([]bool, len(c.wrt))
	for _, b := range c.branches {
		_, got, err := c.traceGradients(b, inner, flowing, nil)
		if err != nil {
			return nil, fmt.Errorf("torch.cond, gradients: %w", err)
		}
		for i, g := range got {
			used[i] = used[i] || g != nil
		}
	}
	outs, err := c.record(operands, func(i int, inner []aten.Value) (*fx.GraphModule, []aten.Value, error) {
		return c.traceGradients(c.branches[i], inner, flowing, used)
	})
	if err != nil {
		return nil, err
	}
	gradients := make([]*tensor.Tensor, len(c.wrt))
	for i := range gradients {
		if used[i] {
			gradients[i] = outs[0].(*tensor.Tensor)
			outs = outs[1:]
		}
	}
	return gradients, nil
}

// traceGradients traces the gradients of a branch by itself. inner are what the gradients of its flowing results, and its operands, stand for. Given
// used, the results are the gradients of those operands, of zeros where this branch does not depend on them; without, they are what there is, per
// operand, and the graph is of no use.
func (c *condition) traceGradients(branch Function, inner []aten.Value, flowing []int, used []bool) (*fx.GraphModule, []aten.Value, error) {
	t := newBranch(inner, c.tr.Decomp)
	t.eng.Mode.Enabled = true
	tangents, operands := t.outer[:len(flowing)], t.outer[len(flowing):]
	var wrt []*tensor.Tensor
	for i, v := range operands {
		if c.wrt[i] != nil {
			x := v.(*tensor.Tensor)
			autograd.Ensure(x).RequiresGrad = true
			wrt = append(wrt, x)
		}
	}
	// A branch that writes to its operand, or gives it back, does so to a value of its own.
	given := slices.Clone(operands)
	for i, v := range operands {
		if c.wrt[i] != nil {
			given[i] = t.fn.result(v.(*tensor.Tensor))
		}
	}
	outs, err := branch(t.eng, given)
	if err != nil {
		return nil, nil, err
	}
	var roots, seeds []*tensor.Tensor
	for k, i := range flowing {
		if o, ok := outs[i].(*tensor.Tensor); ok && autograd.RequiresGrad(o) {
			roots, seeds = append(roots, o), append(seeds, tangents[k].(*tensor.Tensor))
		}
	}
	got := make([]*tensor.Tensor, len(wrt))
	if len(roots) > 0 {
		if got, err = t.eng.Backward(roots, seeds, autograd.Options{Inputs: wrt, AllowUnused: true}); err != nil {
			return nil, nil, err
		}
	}
	var results []aten.Value
	for i, w := range c.wrt {
		var g *tensor.Tensor
		if w != nil {
			g, got = got[0], got[1:]
		}
		switch {
		case used == nil && g == nil:
			results = append(results, nil)
		case used == nil || used[i] && g != nil:
			results = append(results, g)
		case used[i]:
			z, err := build.Call(t.fn, "aten.zeros_like.default", operands[i].(*tensor.Tensor))
			if err != nil {
				return nil, nil, err
			}
			results = append(results, z)
		}
	}
	if used == nil {
		return nil, results, nil
	}
	return t.finish(results)
}

// branchTrace is the trace of one branch of a torch.cond.
type branchTrace struct {
	tr    *Tracer
	fn    *Functional
	eng   *autograd.Engine
	outer []aten.Value // the operands, as the branch gets them
}

// newBranch sets up a trace without gradients.
func newBranch(operands []aten.Value, decomp map[string]Decomposition) *branchTrace {
	t := &branchTrace{tr: NewTracer(decomp), outer: make([]aten.Value, len(operands))}
	t.fn = NewFunctional(t.tr)
	t.eng = &autograd.Engine{Below: t.fn, Mode: &autograd.GradMode{}, Traced: true}
	t.fn.Mode = t.eng.Mode
	for i, v := range operands {
		in := t.tr.Input(fmt.Sprintf("arg%d_1", i), v)
		t.outer[i] = in
		if x, ok := in.(*tensor.Tensor); ok {
			t.outer[i] = t.fn.Wrap(x)
		}
	}
	return t
}

// finish ends the graph, and gives what its results stand for.
func (t *branchTrace) finish(results []aten.Value) (*fx.GraphModule, []aten.Value, error) {
	inner, err := t.fn.unwrapAll(results)
	if err != nil {
		return nil, nil, err
	}
	return t.tr.GM, inner, t.tr.Return(inner)
}

// traceBranch traces one branch by itself, for inference.
func traceBranch(f Function, operands []aten.Value, decomp map[string]Decomposition) (*fx.GraphModule, []aten.Value, error) {
	t := newBranch(operands, decomp)
	res, err := f(t.eng, t.outer)
	if err != nil {
		return nil, nil, err
	}
	return t.finish(res)
}
