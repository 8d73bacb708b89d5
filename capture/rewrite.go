package capture

import (
	"slices"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
)

// rewrites are methods that capture replaces by others when they are given a scale, as PyTorch's does.
var rewrites map[string]rewrite

type rewrite struct {
	kw string // the scale's name
	do func(tr *tracer, a []vm.Object, scale vm.Object) (vm.Object, error)
}

func init() {
	rewrites = map[string]rewrite{
		"add_": {"alpha", func(tr *tracer, a []vm.Object, scale vm.Object) (vm.Object, error) {
			return tr.inTorch("mul", a[1], scale)
		}},
		"addcdiv_": {"value", func(tr *tracer, a []vm.Object, scale vm.Object) (vm.Object, error) {
			q, err := tr.inTorch("div", a[1], a[2])
			if err != nil {
				return nil, err
			}
			return tr.inTorch("mul", q, scale)
		}},
		"addcmul_": {"value", func(tr *tracer, a []vm.Object, scale vm.Object) (vm.Object, error) {
			p, err := tr.in.CallMethod(a[1], "__mul__", a[2])
			if err != nil {
				return nil, err
			}
			return tr.in.CallMethod(p, "__mul__", scale)
		}},
	}
}

// rewritten performs a call that capture replaces by others.
func (tr *tracer) rewritten(c *torch.Call) (vm.Object, bool, error) {
	r, ok := rewrites[c.Target]
	if !ok || c.Op != fx.CallMethod || len(c.Kw) != 1 || c.Kw[0].Name != r.kw {
		return nil, false, nil
	}
	v, err := r.do(tr, c.Args, c.Kw[0].Value)
	if err == nil {
		v, err = tr.in.CallMethod(c.Args[0], "add_", v)
	}
	return v, true, err
}

// inTorch calls a function of the torch module.
func (tr *tracer) inTorch(name string, args ...vm.Object) (vm.Object, error) {
	f, err := tr.attribute("torch", name)
	if err != nil {
		return nil, err
	}
	return tr.in.Call(f, args, nil)
}

// tensorOfTensors is torch.tensor of tensors in lists, or of numbers that only the run knows: a graph puts them together by operators.
func (tr *tracer) tensorOfTensors(c *torch.Call) (v vm.Object, done bool, err error) {
	if c.Op != fx.CallFunction || c.Target != "torch.tensor" {
		return nil, false, nil
	}
	data := first(c.Args)
	for _, k := range c.Kw {
		if k.Name == "data" && data == nil {
			data = k.Value
		}
	}
	if _, isTensor := data.(*torch.Tensor); isTensor || !tr.holdsUnknown(data) {
		return nil, false, nil
	}
	f, err := tr.imports(func() (vm.Object, error) { return tr.attribute("torch._refs", "tensor") })
	if err != nil {
		return nil, false, err
	}
	v, err = tr.record(&torch.Call{Op: fx.CallFunction, Target: "torch._refs.tensor", Args: c.Args, Kw: c.Kw,
		Run: func(a []vm.Object, kw []vm.KwArg) (vm.Object, error) { return tr.in.Call(f, a, kw) }})
	return v, true, err
}

// holdsUnknown reports whether a value is a tensor or a number that only the run knows, or a list or tuple that has one at any depth.
func (tr *tracer) holdsUnknown(o vm.Object) bool {
	switch o.(type) {
	case *torch.Tensor, *torch.Scalar:
		return true
	}
	return slices.ContainsFunc(items(o), tr.holdsUnknown)
}
