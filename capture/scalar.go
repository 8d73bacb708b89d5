package capture

import (
	"strings"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// aotBackends trace the captured graph again into aten operators; that trace holds no unknown numbers.
var aotBackends = map[string]bool{"aot_eager": true, "aot_eager_decomp_partition": true, "inductor": true}

// item is x.item() under config.capture_scalar_outputs: the number stays in the graph. ok is false when it cannot.
func (tr *tracer) item(c *torch.Call) (v vm.Object, ok bool, err error) {
	if c.Target != "item" || c.Op != fx.CallMethod || aotBackends[tr.d.ctx.Backend.Name] {
		return nil, false, nil
	}
	p, isTensor := c.Args[0].(*torch.Tensor)
	if !isTensor || p.T.Numel() != 1 {
		return nil, false, nil
	}
	if on, err := tr.d.configBool("capture_scalar_outputs"); err != nil || !on {
		return nil, false, err
	}
	f, err := tr.fake(p)
	if err != nil {
		return nil, false, err
	}
	n := tr.graph.CreateNode(fx.CallMethod, "item", []fx.Arg{tr.nodes[f]}, nil, "")
	tr.calls++
	s, err := tr.itemNumber(p, n)
	return s, true, err
}

// scalarTargets are the calls that may take an unknown number: those whose results' shapes do not depend on it.
func scalarTarget(c *torch.Call) bool {
	if strings.HasPrefix(c.Target, "operator.") {
		return c.Target != "operator.getitem" && c.Target != "operator.setitem"
	}
	name := strings.TrimSuffix(c.Target[strings.LastIndex(c.Target, ".")+1:], "_")
	switch name {
	case "add", "sub", "mul", "div", "pow", "fill", "clamp", "where", "masked_fill", "lt", "le", "gt", "ge", "eq", "ne":
		return true
	}
	return false
}

// refuseScalars breaks the graph at a call whose meaning depends on an unknown number.
func (tr *tracer) refuseScalars(c *torch.Call) error {
	if len(tr.scalars) == 0 {
		return nil
	}
	allowed := scalarTarget(c)
	for _, a := range c.Args {
		_, direct := a.(*torch.Scalar)
		if direct && allowed {
			continue
		}
		if hasScalar(a) {
			return &Unsupported{Reason: "Unsupported: " + c.Target + " of a data-dependent number"}
		}
	}
	for _, k := range c.Kw {
		if hasScalar(k.Value) {
			return &Unsupported{Reason: "Unsupported: " + c.Target + " of a data-dependent number"}
		}
	}
	return nil
}

func hasScalar(o vm.Object) bool {
	var items []vm.Object
	switch v := o.(type) {
	case *torch.Scalar:
		return !v.Backed()
	case *vm.List:
		items = v.Items
	case *vm.Tuple:
		items = v.Items
	case *vm.Slice:
		items = []vm.Object{v.Start, v.Stop, v.Step}
	}
	for _, x := range items {
		if hasScalar(x) {
			return true
		}
	}
	return false
}

// scalar plans an unknown number: the graph gives it back, floats inside a tensor.
func (p *planner) scalar(s *torch.Scalar) (recipe, error) {
	tr := p.tr
	if src := tr.liftedFrom[s]; src != nil {
		return func(r *rebuild) (vm.Object, error) { return src.Get(r.env) }, nil
	}
	a, err := tr.scalarArg(s)
	if err != nil {
		return nil, err
	}
	n, ok := a.(*fx.Node)
	if !ok {
		return constant(tr.t.Number(s.Expr, tr.unknowns)), nil
	}
	key := p.scalars[s]
	if key == nil {
		key = &tensor.Tensor{Fake: true}
		if s.Kind == tensor.Float64 {
			n = tr.graph.CallFunction("torch.scalar_tensor", n)
			n.Kwargs = []fx.Kwarg{{Name: "dtype", Val: tensor.Float64}}
		}
		tr.nodes[key] = n
		if p.scalars == nil {
			p.scalars = map[*torch.Scalar]*tensor.Tensor{}
		}
		p.scalars[s] = key
		p.idx[key] = len(p.outs)
		p.outs = append(p.outs, key)
	}
	i := p.idx[key]
	return func(r *rebuild) (vm.Object, error) {
		if x, ok := r.outs[i].(*torch.Tensor); ok {
			return tr.in.CallMethod(x, "item")
		}
		return r.outs[i], nil
	}, nil
}
