package ops

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
	"whittle/tools/whittle/stack"
)

//go:embed prelude.py
var prelude string

// callable is a Python object that can be called.
type callable = vm.Object

// python calls what records name through whittle's torch package, as a script would.
type python struct {
	s       *stack.Session
	prelude *vm.Module
	graphs  int // how many the inductor backend has had since the last call of compiled
}

func newPython(ctx context.Context, cacheDir string) (*python, error) {
	p := &python{s: stack.New(ctx, cacheDir)}
	p.s.AOT = func(string, *fx.GraphModule) { p.graphs++ }
	if _, err := p.s.In.Import("torch"); err != nil {
		return nil, err
	}
	if err := p.s.In.RunSource("prelude.py", prelude); err != nil {
		return nil, err
	}
	m, err := p.s.In.Import("__main__")
	if err != nil {
		return nil, err
	}
	p.prelude = m
	return p, nil
}

// function is the callable that a record's call names: a path from torch, or a method or property of the first argument.
func (p *python) function(call string) (vm.Object, error) {
	in := p.s.In
	if name, ok := strings.CutPrefix(call, "Tensor."); ok {
		f := "method"
		if name == "T" || name == "H" || name == "mT" || name == "mH" {
			f = "attribute"
		}
		return p.run(f, vm.Str(name))
	}
	m, err := in.Import("torch")
	if err != nil {
		return nil, err
	}
	o := vm.Object(m)
	for _, name := range strings.Split(call, ".")[1:] {
		if o, err = in.GetAttr(o, name); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// run calls a function of the prelude.
func (p *python) run(name string, args ...vm.Object) (vm.Object, error) {
	f, err := p.s.In.GetAttr(p.prelude, name)
	if err != nil {
		return nil, err
	}
	return p.s.In.Call(f, args, nil)
}

// call runs f on decoded arguments.
func (p *python) call(f vm.Object, args []aten.Value, kw map[string]aten.Value) (aten.Value, error) {
	objs := make([]vm.Object, len(args))
	for i, a := range args {
		objs[i] = p.object(a)
	}
	var kws []vm.KwArg
	for _, k := range sortedKeys(kw) {
		kws = append(kws, vm.KwArg{Name: k, Value: p.object(kw[k])})
	}
	out, err := p.s.In.Call(f, objs, kws)
	if err != nil {
		return nil, err
	}
	return p.value(out)
}

// fake runs f with whittle's meta functions alone.
func (p *python) fake(f vm.Object, args []aten.Value, kw map[string]aten.Value) (aten.Value, error) {
	defer p.s.Torch.Push(func(a *torch.Ambient) { a.Dispatch = p.s.Fakes() })()
	return p.call(f, args, kw)
}

// compiled is f under torch.compile.
func (p *python) compiled(f vm.Object) (vm.Object, error) {
	p.graphs = 0
	return p.run("compiled", f)
}

// object is a decoded value as a script's.
func (p *python) object(v aten.Value) vm.Object {
	list := func(l []aten.Value) []vm.Object {
		out := make([]vm.Object, len(l))
		for i, x := range l {
			out[i] = p.object(x)
		}
		return out
	}
	switch v := v.(type) {
	case Tuple:
		return vm.NewTuple(list(v)...)
	case []aten.Value:
		return vm.NewList(list(v)...)
	case Slice:
		return &vm.Slice{Start: p.object(v.Start), Stop: p.object(v.Stop), Step: p.object(v.Step)}
	case Ellipsis:
		return vm.Ellipsis
	case complex128:
		return vm.Complex(v)
	}
	return p.s.Torch.Object(v)
}

// value is a script's result as decoded records have it.
func (p *python) value(o vm.Object) (aten.Value, error) {
	var items []vm.Object
	switch o := o.(type) {
	case vm.Complex:
		return complex128(o), nil
	case *vm.Tuple:
		items = o.Items
	case *vm.List:
		items = o.Items
	case *vm.Instance:
		tup, ok := vm.AsTuple(o)
		if !ok {
			break
		}
		items = tup.Items
	}
	if items == nil {
		switch o.(type) {
		case *vm.Tuple, *vm.List:
			return []aten.Value{}, nil
		}
		v, ok := p.s.Torch.Value(o)
		if !ok {
			return nil, fmt.Errorf("a result of type %s", o.Type().Name)
		}
		return v, nil
	}
	out := make([]aten.Value, len(items))
	for i, x := range items {
		v, err := p.value(x)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// gradients differentiates the weighted sum of the given result leaves with respect to inputs; nil where an input has no influence.
func (p *python) gradients(out []aten.Value, which []int, inputs []*tensor.Tensor) ([]*tensor.Tensor, error) {
	var roots, grads []*tensor.Tensor
	for _, j := range which {
		if j >= len(out) {
			return nil, fmt.Errorf("there is no result %d", j)
		}
		t, ok := out[j].(*tensor.Tensor)
		if !ok {
			return nil, fmt.Errorf("result %d is not a tensor", j)
		}
		if t.DType.Kind() == tensor.KindComplex {
			v, err := aten.Run(p.s.Torch.Grad, "aten.view_as_real", t)
			if err != nil {
				return nil, err
			}
			t = v.(*tensor.Tensor)
		}
		if !p.s.Torch.Grad.RequiresGrad(t) {
			return nil, fmt.Errorf("result %d does not require a gradient", j)
		}
		w := tensor.Empty(t.DType, t.Shape...)
		for i := range w.Numel() {
			w.Set(i, float64(2*((7*i+3*int64(j))%13)-13)/16)
		}
		roots, grads = append(roots, t), append(grads, w)
	}
	return p.s.Torch.Grad.Backward(roots, grads, torch.BackwardOptions{Inputs: inputs, AllowUnused: true})
}
