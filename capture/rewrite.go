package capture

import (
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
