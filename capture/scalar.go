package capture

import (
	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// item is x.item() under config.capture_scalar_outputs, and x.tolist() of integers: the numbers stay in the graph. ok is false when they cannot.
func (tr *tracer) item(c *torch.Call) (v vm.Object, ok bool, err error) {
	if c.Target != "item" && c.Target != "tolist" || c.Op != fx.CallMethod {
		return nil, false, nil
	}
	p, isTensor := c.Args[0].(*torch.Tensor)
	if isTensor && c.Target == "tolist" {
		if !p.T.DType.IsInt() || p.T.DType == tensor.Bool {
			return nil, false, nil
		}
		return tr.itemList(p)
	}
	if on, err := tr.d.configBool("capture_scalar_outputs"); err != nil || !on {
		return nil, false, err
	}
	if !isTensor {
		return nil, false, nil
	}
	if n := p.T.Numel(); n != 1 {
		tr.refusal = tr.in.Errorf(tr.in.Exc.RuntimeError, "a Tensor with %d elements cannot be converted to Scalar", n)
		return nil, true, tr.failedOnFakes(c, tr.standIns.swap(c.Args), c.Kw, tr.refusal)
	}
	v, err = tr.itemOf(p)
	return v, true, err
}

// itemOf is the number in a tensor of one element, as a node of the graph.
func (tr *tracer) itemOf(p *torch.Tensor) (vm.Object, error) {
	f, err := tr.standIns.fake(p)
	if err != nil {
		return nil, err
	}
	n := tr.out.graph.CreateNode(fx.CallMethod, "item", []fx.Arg{tr.out.nodes[f]}, nil, "")
	n.SetOrigin(tr.trail(n))
	tr.out.calls++
	return tr.itemNumber(p, n)
}

// scalar plans an unknown number: one that came in is read from where it came, of others the graph gives back the node, floats inside a
// tensor. A number that several values need is given back once.
func (p *planner) scalar(s *torch.Scalar) (recipe, error) {
	tr := p.tr
	if src := tr.symbols.liftedFrom[s]; src != nil {
		return func(r *rebuild) (vm.Object, error) { return src.Get(r.env) }, nil
	}
	a, err := tr.out.scalarArg(s)
	if err != nil {
		return nil, err
	}
	n, ok := a.(*fx.Node)
	if !ok {
		return constant(tr.t.Number(s.Expr, tr.unknowns)), nil
	}
	from := n
	key := p.scalars[from]
	if key == nil {
		key = &tensor.Tensor{Fake: true} // stands for the number among the outputs, which are tensors otherwise
		if s.Kind == tensor.Float64 && !tr.out.tensorNumbers[n] && tr.d.ctx.Export == nil {
			n = tr.out.graph.CallFunction("torch.scalar_tensor", n)
			n.Kwargs = []fx.Kwarg{{Name: "dtype", Val: tensor.Float64}}
		}
		tr.out.nodes[key] = n
		if p.scalars == nil {
			p.scalars = map[*fx.Node]*tensor.Tensor{}
		}
		p.scalars[from] = key
		p.idx[key] = len(p.outs)
		p.outs = append(p.outs, key)
	}
	i := p.idx[key]
	return func(r *rebuild) (vm.Object, error) {
		if x, ok := r.outs[i].(*torch.Tensor); ok {
			return r.env.In.CallMethod(x, "item")
		}
		return r.outs[i], nil
	}, nil
}
