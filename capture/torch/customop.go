package torch

import (
	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// customOp is an operator that a script defined: a row of the session's library whose kernels are Python functions.
type customOp struct {
	t  *Torch
	op *aten.Op
	// py is the Python side, torch.library's _Op: methods run, fake, backward.
	py vm.Object
}

// defineOp registers an operator of a script: (schema, python object). A later definition of the same name replaces it.
func (t *Torch) defineOp(a []vm.Object) (vm.Object, error) {
	schema, _ := vm.AsStr(a[0])
	s, err := aten.ParseSchema(schema)
	if err != nil {
		return nil, t.In.Errorf(t.In.Exc.RuntimeError, "error parsing the schema %q: %s", schema, err)
	}
	if s.Namespace == "aten" || s.Namespace == "prims" || s.Namespace == "" {
		return nil, t.In.Errorf(t.In.Exc.RuntimeError, "torch.library: %s is no name that a program may define", s.FullName())
	}
	c := &customOp{t: t, py: a[1]}
	op := aten.Op{Schema: schema, Meta: c.meta, Eager: c.eager, Derivative: c.derivative}
	if c.op, err = t.Library.Define(op); err != nil {
		return nil, t.In.Errorf(t.In.Exc.RuntimeError, "%s", err)
	}
	delete(t.objects, c.op.Name()) // the overload that graphs have called so far is that of an earlier definition
	return vm.None, nil
}

// quietly runs Python code under an operator: nothing listens, operators go to d.
func (t *Torch) quietly(d aten.Dispatcher, fake bool, f func() (vm.Object, error)) (vm.Object, error) {
	defer t.KeepModes()()
	defer t.Push(func(a *Ambient) {
		Unwatched(a)
		a.Dispatch, a.GradSwitch = d, nil
		if fake {
			a.Lift = func(x *tensor.Tensor) (*tensor.Tensor, error) { return tensor.FakeLike(x), nil }
		}
	})()
	return f()
}

// arguments are bound values as the Python function takes them: lists for lists, keyword-only ones by name.
func (c *customOp) arguments(args []aten.Value) ([]vm.Object, []vm.KwArg) {
	var pos []vm.Object
	var kw []vm.KwArg
	for i, a := range c.op.Sig().Args {
		o := c.t.Object(args[i])
		if tup, ok := o.(*vm.Tuple); ok && a.Type.List {
			o = vm.NewList(tup.Items...)
		}
		if a.Type.Base == "float" {
			if n, ok := o.(vm.Int); ok {
				o = vm.Float(n)
			}
		}
		if a.KwOnly {
			kw = append(kw, vm.KwArg{Name: a.Name, Value: o})
			continue
		}
		pos = append(pos, o)
	}
	return pos, kw
}

// result checks what a Python kernel gave against the schema.
func (c *customOp) result(o vm.Object) (aten.Value, error) {
	rets := c.op.Sig().Returns
	if len(rets) == 0 {
		return nil, nil
	}
	v, ok := c.t.Value(o)
	if l, isList := v.([]aten.Value); ok && (len(rets) == 1 || isList && len(l) == len(rets)) {
		return v, nil
	}
	return nil, c.t.In.Errorf(c.t.In.Exc.RuntimeError, "Unable to cast (%s) to the %d results that the schema of %s promises", o.Type().Name, len(rets), c.op.FullName())
}

func (c *customOp) call(method string, d aten.Dispatcher, fake bool, args []aten.Value) (aten.Value, error) {
	pos, kw := c.arguments(args)
	res, err := c.t.quietly(d, fake, func() (vm.Object, error) {
		c.t.Grad.SetEnabled(false)
		return c.t.callMethod(c.py, method, pos, kw)
	})
	if err != nil {
		return nil, err
	}
	return c.result(res)
}

func (c *customOp) meta(call *aten.Call) (aten.Value, error) {
	return c.call("fake", aten.Fake, true, call.Args)
}

func (c *customOp) eager(call *aten.Call) (aten.Value, error) {
	return c.call("run", c.t.Grad, false, call.Args)
}

// derivative runs the registered backward on dispatcher d.
func (c *customOp) derivative(d aten.Dispatcher, args []aten.Value, out aten.Value, grads []*tensor.Tensor) ([]aten.Value, error) {
	t := c.t
	pos, kw := c.arguments(args)
	kws := vm.NewDict()
	for _, k := range kw {
		kws.SetStr(k.Name, k.Value)
	}
	gs := make([]vm.Object, len(grads))
	for i, g := range grads {
		gs[i] = vm.None
		if g != nil {
			gs[i] = t.Wrap(g)
		}
	}
	on := t.Grad.Enabled()
	res, err := t.quietly(d, aten.AnyFake(args), func() (vm.Object, error) {
		t.Grad.SetEnabled(on)
		return t.callMethod(c.py, "backward", []vm.Object{vm.NewTuple(pos...), kws, t.Object(out), vm.NewTuple(gs...)}, nil)
	})
	if err != nil {
		return nil, err
	}
	v, ok := t.Value(res)
	l, isList := v.([]aten.Value)
	if !ok || !isList {
		return nil, t.In.Errorf(t.In.Exc.RuntimeError, "the backward of %s must return one gradient per input", c.op.FullName())
	}
	return l, nil
}

// callMethod calls a method with keyword arguments.
func (t *Torch) callMethod(o vm.Object, name string, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	m, err := t.In.GetAttr(o, name)
	if err != nil {
		return nil, err
	}
	return t.In.Call(m, args, kw)
}
