package aot

import (
	"fmt"

	"whittle/aot/autograd"
	"whittle/capture/fx"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Cond records torch.cond: both branches are traced into subgraphs of their own, and one node picks between them.
// d is the dispatcher of a trace, as a Function got it.
func Cond(d aten.Dispatcher, pred *tensor.Tensor, operands []aten.Value, branches [2]Function) ([]aten.Value, error) {
	f := functionalOf(d)
	if f == nil {
		return nil, fmt.Errorf("torch.cond: no trace is in progress")
	}
	tr, ok := f.Below.(*Tracer)
	if !ok {
		return nil, fmt.Errorf("torch.cond: unexpected layer %T below functionalisation", f.Below)
	}
	if eng, ok := d.(*autograd.Engine); ok && eng.Mode.Enabled {
		for _, v := range operands {
			if t, ok := v.(*tensor.Tensor); ok && autograd.RequiresGrad(t) {
				return nil, fmt.Errorf("torch.cond: gradients through a compiled cond are not supported")
			}
		}
	}
	inner, err := f.unwrapAll(operands)
	if err != nil {
		return nil, err
	}
	p, err := f.Inner(pred)
	if err != nil {
		return nil, err
	}
	var subs [2]*fx.Node
	var outs []aten.Value
	for i, name := range []string{"true_graph", "false_graph"} {
		gm, res, err := traceBranch(branches[i], inner, tr.Decomp)
		if err != nil {
			return nil, fmt.Errorf("torch.cond, %s: %w", name, err)
		}
		if i == 1 && len(res) != len(outs) {
			return nil, fmt.Errorf("torch.cond: one branch gives %d tensors, the other %d", len(outs), len(res))
		}
		outs = res
		name = fmt.Sprintf("%s_%d", name, len(tr.GM.Submodules)/2)
		subs[i] = tr.GM.Graph.GetAttr(name)
		gm.ClassName = "<lambda>"
		defer func() {
			if tr.GM.Submodules == nil {
				tr.GM.Submodules = map[string]*fx.GraphModule{}
			}
			tr.GM.Submodules[name] = gm
		}()
	}
	pa, err := tr.arg(p)
	if err != nil {
		return nil, err
	}
	ops, err := tr.arg(inner)
	if err != nil {
		return nil, err
	}
	n := tr.GM.Graph.CallFunction("torch.ops.higher_order.cond", pa, subs[0], subs[1], ops)
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

// traceBranch traces one branch by itself, for inference.
func traceBranch(f Function, operands []aten.Value, decomp map[string]Decomposition) (*fx.GraphModule, []aten.Value, error) {
	tr := NewTracer(decomp)
	fn := NewFunctional(tr)
	outer := make([]aten.Value, len(operands))
	for i, v := range operands {
		in := tr.Input(fmt.Sprintf("arg%d_1", i), v)
		outer[i] = in
		if t, ok := in.(*tensor.Tensor); ok {
			outer[i] = fn.Wrap(t)
		}
	}
	res, err := f(&autograd.Engine{Below: fn, Mode: &autograd.GradMode{}, Traced: true}, outer)
	if err != nil {
		return nil, nil, err
	}
	inner, err := fn.unwrapAll(res)
	if err != nil {
		return nil, nil, err
	}
	return tr.GM, inner, tr.Return(inner)
}
