package torch

import (
	"slices"

	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// __torch_dispatch__: beneath autograd, a mode that the program entered performs each operator, and the class of a tensor those that its
// objects are arguments of.

// pythonDispatch is what a program does of the work of the dispatcher.
type pythonDispatch struct {
	modes    []vm.Object // entered, the innermost last
	handling int         // handlers that run: what they call is beneath autograd
	off      int         // > 0: classes perform nothing
}

// beneath runs operators beneath autograd.
type beneath struct {
	t    *Torch
	real aten.Dispatcher
}

// Dispatch implements aten.Dispatcher.
func (b beneath) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	t := b.t
	if n := len(t.python.modes); n > 0 {
		modes := t.python.modes
		t.python.modes = modes[: n-1 : n-1]
		defer func() { t.python.modes = modes }()
		return t.perform(modes[n-1], op, args)
	}
	if t.python.off == 0 {
		if ps := t.performers(args); len(ps) > 0 {
			return t.perform(ps[0].class, op, args)
		}
	}
	if mode, _ := modeAmong(args); mode != nil { // in a backward pass
		return mode.Beneath(op, args, func(args []aten.Value) (aten.Value, error) { return b.real.Dispatch(op, args) })
	}
	return b.real.Dispatch(op, args)
}

// Forgets implements aten.Forgetful: no code of the program's runs operators on args.
func (b beneath) Forgets(args []aten.Value) bool {
	t := b.t
	real, ok := b.real.(aten.Forgetful)
	if !ok || len(t.python.modes) > 0 || t.python.off == 0 && len(t.performers(args)) > 0 {
		return false
	}
	mode, _ := modeAmong(args)
	return mode == nil && real.Forgets(args)
}

// PerformsItself reports whether the Python object of a tensor is of a class whose __torch_dispatch__ runs operators.
func (t *Torch) PerformsItself(x *tensor.Tensor) bool {
	o, ok := x.Py.(*Tensor)
	return ok && t.performsItself(o.Type())
}

// performsItself reports whether a class has a __torch_dispatch__ of its own.
func (t *Torch) performsItself(c *vm.Type) bool {
	if c == t.TensorType {
		return false
	}
	switch f := c.Lookup("__torch_dispatch__").(type) {
	case nil:
		return false
	case *vm.StaticMethod:
		return f.Func != t.disabledDispatch
	default:
		return f != t.disabledDispatch && f != t.TensorType.Lookup("__torch_dispatch__")
	}
}

// performers are the tensors among args whose classes perform operators, one of each class.
func (t *Torch) performers(args []aten.Value) []*Tensor {
	var out []*Tensor
	for _, a := range args {
		switch a := a.(type) {
		case *tensor.Tensor:
			if a == nil {
				continue
			}
			p, ok := a.Py.(*Tensor)
			if ok && p.class != t.TensorType && t.performsItself(p.class) && !slices.ContainsFunc(out, func(q *Tensor) bool { return q.class == p.class }) {
				out = append(out, p)
			}
		case []aten.Value:
			out = append(out, t.performers(a)...)
		}
	}
	return out
}

// perform has a mode or a class perform an operator.
func (t *Torch) perform(by vm.Object, op *aten.Op, args []aten.Value) (aten.Value, error) {
	in := t.In
	f, err := t.Resolve(op.Name())
	if err != nil {
		return nil, err
	}
	types := &vm.Tuple{}
	for _, p := range t.performers(args) {
		types.Items = append(types.Items, p.class)
	}
	places, named := op.Sig().Shown(args)
	given := &vm.Tuple{}
	for _, a := range args[:places] {
		given.Items = append(given.Items, t.argument(a))
	}
	kw := vm.NewDict()
	for _, i := range named {
		kw.SetStr(op.Sig().Args[i].Name, t.argument(args[i]))
	}
	if op.Sig().Factory() { // calls from Python say where, and that memory is pageable
		kw.SetStr("device", t.Object(tensor.CPU))
		kw.SetStr("pin_memory", vm.False)
	}
	t.python.handling++
	defer func() { t.python.handling-- }()
	handler, err := in.GetAttr(by, "__torch_dispatch__")
	if err != nil {
		return nil, err
	}
	v, err := in.Call(handler, []vm.Object{f, types, given, kw}, nil)
	if err != nil {
		return nil, err
	}
	if v == vm.NotImplemented {
		return nil, in.Errorf(in.Exc.TypeError, "Multiple dispatch failed for '%s'; all __torch_dispatch__ handlers returned NotImplemented", op.Name())
	}
	if op.Tags&aten.Inplace != 0 && len(args) > 0 {
		return args[0], nil
	}
	return t.performed(op, v)
}

// argument is an argument of an operator as Python gets it: sequences are lists.
func (t *Torch) argument(v aten.Value) vm.Object {
	switch v := v.(type) {
	case []aten.Value:
		l := vm.NewList()
		for _, x := range v {
			l.Items = append(l.Items, t.argument(x))
		}
		return l
	case *tensor.Generator:
		return vm.None
	}
	return t.Object(v)
}

// performed is what a handler gave for an operator.
func (t *Torch) performed(op *aten.Op, o vm.Object) (aten.Value, error) {
	var items []vm.Object
	switch v := o.(type) {
	case *vm.Tuple:
		items = v.Items
	case *vm.List:
		items = v.Items
	case *vm.Instance:
		if tup, ok := vm.AsTuple(v); ok {
			items = tup.Items
		}
	}
	if items == nil {
		v, ok := t.Value(o)
		if !ok {
			return nil, t.In.Errorf(t.In.Exc.TypeError, "Unable to cast %s to what %s returns", o.Type().Name, op.Name())
		}
		return v, nil
	}
	out := make([]aten.Value, len(items))
	for i, x := range items {
		v, err := t.performed(op, x)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

// wrapperSubclass is Tensor._make_wrapper_subclass: a tensor of a class that has metadata only, (cls, size) and what else describes it.
func (t *Torch) wrapperSubclass(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	names := []string{"cls", "size", "strides", "storage_offset", "memory_format", "dtype", "layout", "device", "pin_memory", "requires_grad"}
	given := map[string]vm.Object{}
	for i, a := range args {
		if i < len(names) {
			given[names[i]] = a
		}
	}
	for _, k := range kw {
		if k.Value != vm.None {
			given[k.Name] = k.Value
		}
	}
	cls, ok := given["cls"].(*vm.Type)
	if !ok || !cls.IsSubtype(t.TensorType) {
		return nil, in.Errorf(in.Exc.TypeError, "_make_wrapper_subclass() needs a subclass of Tensor")
	}
	if !t.performsItself(cls) {
		return nil, in.Errorf(in.Exc.RuntimeError, "%s must define __torch_dispatch__ to be made by _make_wrapper_subclass", cls.Name)
	}
	numbers := func(o vm.Object) ([]int64, error) {
		items, err := in.IterAll(o)
		if err != nil {
			return nil, err
		}
		out := make([]int64, len(items))
		for i, x := range items {
			if s, ok := x.(*Scalar); ok {
				x = s.Hint()
			}
			n, ok := vm.AsInt(x)
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "sizes are integers, not %s", x.Type().Name)
			}
			out[i] = n
		}
		return out, nil
	}
	if given["size"] == nil {
		return nil, in.Errorf(in.Exc.TypeError, "_make_wrapper_subclass() needs a size")
	}
	shape, err := numbers(given["size"])
	if err != nil {
		return nil, err
	}
	stride := tensor.ContiguousStrides(shape)
	if o := given["strides"]; o != nil && o != vm.None {
		if stride, err = numbers(o); err != nil {
			return nil, err
		}
	}
	d := t.DefaultDType
	if o, ok := given["dtype"].(*DType); ok {
		d = o.D
	}
	x := tensor.EmptyFake(d, shape, stride)
	if o, ok := vm.AsInt(given["storage_offset"]); ok {
		x.Offset = o
	}
	p := t.WrapAs(x, cls)
	if given["requires_grad"] == vm.True {
		if err := t.Grad.SetRequiresGrad(x, true); err != nil {
			return nil, in.Errorf(in.Exc.RuntimeError, "%s", err.Error())
		}
	}
	return p, nil
}

// defaultDispatch is Tensor.__torch_dispatch__, which classes call for what they leave alone: (cls, func, types, args, kwargs).
func (t *Torch) defaultDispatch(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	if len(a) < 3 {
		return nil, in.Errorf(in.Exc.TypeError, "__torch_dispatch__() takes a function, types and arguments")
	}
	args, kw, err := t.spread(a[min(3, len(a)):])
	if err != nil {
		return nil, err
	}
	t.python.off++
	defer func() { t.python.off-- }()
	return in.Call(a[1], args, kw)
}

// registerDispatch binds the modes of __torch_dispatch__ in torch._C.
func (t *Torch) registerDispatch() {
	m := t.c
	m.Func("_share_wrapper_storage", func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		v, ok1 := a[0].(*Tensor)
		of, ok2 := a[1].(*Tensor)
		if ok1 && ok2 && v.T.Fake && of.T.Fake && t.PerformsItself(v.T) { // a wrapper has no data of its own
			v.T.Storage = of.T.Storage
		}
		return vm.None, nil
	})
	m.Func("_push_on_torch_dispatch_stack", func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		t.python.modes = append(slices.Clone(t.python.modes), a[0])
		return vm.None, nil
	})
	m.Func("_pop_torch_dispatch_stack", func(in *vm.Interp, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		n := len(t.python.modes)
		if n == 0 {
			return nil, in.Errorf(in.Exc.AssertionError, "trying to pop from empty mode stack")
		}
		mode := t.python.modes[n-1]
		t.python.modes = slices.Clone(t.python.modes[:n-1])
		return mode, nil
	})
	m.Func("_performs_itself", func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		c, ok := a[0].(*vm.Type)
		return vm.MakeBool(ok && t.performsItself(c)), nil
	})
	m.Func("_len_torch_dispatch_stack", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		return vm.MakeInt(int64(len(t.python.modes))), nil
	})
	m.Func("_get_dispatch_stack_at", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		i, ok := vm.AsInt(a[0])
		if !ok || i < 0 || int(i) >= len(t.python.modes) {
			return nil, in.Errorf(in.Exc.AssertionError, "there is no mode %v", a[0])
		}
		return t.python.modes[i], nil
	})
}

// DispatchModes is how many modes of __torch_dispatch__ are entered.
func (t *Torch) DispatchModes() int { return len(t.python.modes) }
