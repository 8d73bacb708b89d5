package torch

import (
	"slices"
	"strings"

	"whittle/capture/python/vm"
	"whittle/kernels/tensor"
)

// nodeObject is what programs see of a node of the graph, None for none. It is the same object each time.
func (t *Torch) nodeObject(n GradNode) vm.Object {
	if n == nil {
		return vm.None
	}
	face := n.Face()
	if *face == nil {
		*face = &vm.Instance{Class: t.nodeClass(n.Name()), Native: n}
	}
	return (*face).(vm.Object)
}

// nodeOf is the node that an object stands for, nil where it is none.
func nodeOf(o vm.Object) GradNode {
	if i, ok := o.(*vm.Instance); ok {
		n, _ := i.Native.(GradNode)
		return n
	}
	return nil
}

// nodeClass is the class of an autograd node, <AddBackward0 object at 0x...>.
func (t *Torch) nodeClass(name string) *vm.Type {
	k := "node " + name
	if c := t.returns[k]; c != nil {
		return c
	}
	in := t.In
	module := "builtins"
	switch {
	case name == "_FunctionBase":
		module = "torch._C"
	case strings.HasSuffix(name, "Backward"): // of a function of Python's; those of operators are numbered
		module = "torch.autograd.function"
	}
	leaf := name == "AccumulateGrad"
	method := func(takes int, fn string, f func(n GradNode, a []vm.Object) (vm.Object, error)) vm.GoFunc {
		return func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			if len(a)-1 != takes {
				return nil, in.Errorf(in.Exc.TypeError, "%s() takes %d arguments (%d given)", fn, takes, len(a)-1)
			}
			n := nodeOf(a[0])
			if n == nil { // the context of a call that is not, or not yet, in the graph
				return nil, in.Errorf(in.Exc.RuntimeError, "Attribute '%s' is invalid for this instance of %s. It is not in the graph.", fn, a[0].Type().Name)
			}
			return f(n, a[1:])
		}
	}
	get := func(name string, f func(n GradNode) vm.Object) *vm.GetSet {
		return getter(name, func(o vm.Object) vm.Object {
			n := nodeOf(o)
			if n == nil {
				return vm.None
			}
			return f(n)
		})
	}
	sets := []*vm.GetSet{
		get("next_functions", func(n GradNode) vm.Object {
			next := n.Next()
			items := make([]vm.Object, len(next))
			for i, e := range next {
				items[i] = vm.NewTuple(t.nodeObject(e.Node), vm.MakeInt(int64(e.Nr)))
			}
			return vm.NewTuple(items...)
		}),
		get("_input_metadata", func(n GradNode) vm.Object {
			results := n.Results()
			items := make([]vm.Object, len(results))
			for i, r := range results {
				items[i] = t.resultOf(r)
			}
			return vm.NewTuple(items...)
		}),
		get("requires_grad", func(GradNode) vm.Object { return vm.True }),
		getter("metadata", func(o vm.Object) vm.Object {
			i := o.(*vm.Instance)
			if i.Dict == nil {
				i.Dict = vm.NewDict()
			}
			d, ok := i.Dict.GetStr("_metadata")
			if !ok {
				d = vm.NewDict()
				i.Dict.SetStr("_metadata", d)
			}
			return d
		}),
	}
	if leaf {
		sets = append(sets, get("variable", func(n GradNode) vm.Object { return t.Wrap(n.Leaf()) }))
	}
	methods := map[string]vm.GoFunc{
		"name": method(0, "name", func(n GradNode, _ []vm.Object) (vm.Object, error) {
			switch name := n.Name(); name {
			case "AccumulateGrad", "CopySlices", "Error", "NotImplemented": // no operators'
				return vm.Str("torch::autograd::" + name), nil
			}
			return vm.Str(n.Name()), nil
		}),
		"register_hook": method(1, "register_hook", func(n GradNode, a []vm.Object) (vm.Object, error) {
			return t.Handle(n.After(t.afterHook(a[0]))), nil
		}),
		"register_prehook": method(1, "register_prehook", func(n GradNode, a []vm.Object) (vm.Object, error) {
			return t.Handle(n.Before(t.beforeHook(a[0]))), nil
		}),
		"_register_hook_dict": method(1, "_register_hook_dict", func(n GradNode, a []vm.Object) (vm.Object, error) {
			hooks := a[0]
			n.After(func(inputs, outputs []*tensor.Tensor) (out []*tensor.Tensor, err error) {
				v, err := in.CallMethod(hooks, "values")
				if err != nil {
					return nil, err
				}
				fs, err := in.IterAll(v)
				for _, f := range fs {
					var next []*tensor.Tensor
					if next, err = t.afterHook(f)(inputs, outputs); err != nil {
						return nil, err
					}
					if next != nil {
						inputs, out = next, next
					}
				}
				return out, err
			})
			return vm.None, nil
		}),
		"_sequence_nr": method(0, "_sequence_nr", func(n GradNode, _ []vm.Object) (vm.Object, error) { return vm.MakeInt(int64(n.Number())), nil }),
		"__getattr__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			attr, _ := vm.AsStr(args[1])
			if n := nodeOf(args[0]); n != nil {
				if v, ok, err := t.savedAttr(n, attr); ok || err != nil {
					return v, err
				}
			}
			if slices.Contains(contextAttrs, attr) && args[0].Type().IsSubtype(t.functionBase()) {
				return vm.None, nil
			}
			return nil, in.Errorf(in.Exc.AttributeError, "'%s' object has no attribute '%s'", args[0].Type().Name, attr)
		},
		"__dir__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			v, err := in.CallMethod(vm.ObjectType, "__dir__", args[0])
			if err != nil {
				return nil, err
			}
			names, err := in.IterAll(v)
			if n := nodeOf(args[0]); n != nil && err == nil {
				for _, s := range savedAttrs(n) {
					names = append(names, vm.Str(s))
				}
			}
			return vm.NewList(names...), err
		},
	}
	if module == "builtins" {
		methods["__call__"] = t.callNode
	}
	c := in.NewNativeType(vm.Spec{Name: name, Module: module, Methods: methods, GetSet: sets})
	t.returns[k] = c
	return c
}

// callNode runs a node's formula by itself.
func (t *Torch) callNode(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	n, args := nodeOf(a[0]), a[1:]
	if len(kw) > 0 {
		return nil, in.Errorf(in.Exc.TypeError, "keyword arguments are not supported")
	}
	want := 1
	for i, r := range n.Results() {
		if r != nil && (r.DType.IsFloat() || r.DType.Kind() == tensor.KindComplex) {
			want = i + 1
		}
	}
	if len(args) != want {
		return nil, in.Errorf(in.Exc.TypeError, "expected %d arguments, got %d instead", want, len(args))
	}
	grads := make([]*tensor.Tensor, len(args))
	for i, o := range args {
		x, ok := o.(*Tensor)
		switch {
		case ok:
			grads[i] = x.T
		case o != vm.None:
			return nil, in.Errorf(in.Exc.TypeError, "argument %d is not a Variable", i)
		}
	}
	out, err := t.Grad.CallNode(n, grads)
	switch {
	case err != nil:
		return nil, t.Error(err)
	case len(out) == 1:
		return t.Wrap(out[0]), nil
	}
	return t.tensorTuple(out), nil
}

// contextAttrs are the attributes of a context of an autograd.Function that are None until a program sets them.
var contextAttrs = []string{"to_save", "dirty_tensors", "non_differentiable", "saved_for_forward"}

// functionBase is the class that contexts of autograd.Function inherit from: they are nodes.
func (t *Torch) functionBase() *vm.Type { return t.nodeClass("_FunctionBase") }

// resultOf is what programs see of a result of a node.
func (t *Torch) resultOf(r *tensor.Tensor) vm.Object {
	if r == nil {
		return vm.None
	}
	c := t.returns["node metadata"]
	if c == nil {
		of := func(o vm.Object) *tensor.Tensor { return o.(*vm.Instance).Native.(*tensor.Tensor) }
		c = t.In.NewNativeType(vm.Spec{Name: "_InputMetadata", Module: "torch._C._autograd", GetSet: []*vm.GetSet{
			getter("dtype", func(o vm.Object) vm.Object { return t.DTypeObject(of(o).DType) }),
			getter("shape", func(o vm.Object) vm.Object {
				l := vm.NewList()
				for _, n := range of(o).Shape {
					l.Items = append(l.Items, vm.MakeInt(n))
				}
				return l
			}),
			getter("device", func(vm.Object) vm.Object { return t.Object(tensor.CPU) }),
			getter("is_nested_tensor", func(vm.Object) vm.Object { return vm.False }),
			getter("is_cpp_nested_tensor", func(vm.Object) vm.Object { return vm.False }),
			getter("is_tensor_subclass", func(vm.Object) vm.Object { return vm.False }),
		}})
		t.returns["node metadata"] = c
	}
	return &vm.Instance{Class: c, Native: r}
}

// tensorTuple is a tuple of tensors, None for those that are not there.
func (t *Torch) tensorTuple(ts []*tensor.Tensor) *vm.Tuple {
	items := make([]vm.Object, len(ts))
	for i, x := range ts {
		items[i] = t.Wrap(x)
	}
	return vm.NewTuple(items...)
}

// beforeHook is a function of the program as a hook that sees the gradients of a node's results.
func (t *Torch) beforeHook(f vm.Object) func(inputs, outputs []*tensor.Tensor) ([]*tensor.Tensor, error) {
	return func(_, outputs []*tensor.Tensor) ([]*tensor.Tensor, error) {
		r, err := t.In.Call(f, []vm.Object{t.tensorTuple(outputs)}, nil)
		if err != nil {
			return nil, err
		}
		return t.fromNodeHook(f, r, outputs)
	}
}

// afterHook is one as a hook that sees also what the node gives.
func (t *Torch) afterHook(f vm.Object) func(inputs, outputs []*tensor.Tensor) ([]*tensor.Tensor, error) {
	return func(inputs, outputs []*tensor.Tensor) ([]*tensor.Tensor, error) {
		r, err := t.In.Call(f, []vm.Object{t.tensorTuple(inputs), t.tensorTuple(outputs)}, nil)
		if err != nil {
			return nil, err
		}
		return t.fromNodeHook(f, r, inputs)
	}
}

// fromNodeHook are the gradients that a hook gave in place of those that came, nil for None.
func (t *Torch) fromNodeHook(f, r vm.Object, came []*tensor.Tensor) ([]*tensor.Tensor, error) {
	if r == vm.None {
		return nil, nil
	}
	tup, ok := vm.AsTuple(r)
	if !ok {
		return nil, t.In.Errorf(t.In.Exc.TypeError, "expected tuple, but hook returned '%s'", r.Type().Name)
	}
	if len(tup.Items) != len(came) {
		return nil, t.In.Errorf(t.In.Exc.RuntimeError, "hook '%s' has returned an incorrect number of values (got %d, but expected %d)", t.hookName(f), len(tup.Items), len(came))
	}
	out := slices.Clone(came)
	for i, o := range tup.Items {
		if o == vm.None {
			out[i] = nil
			continue
		}
		p, ok := o.(*Tensor)
		if !ok {
			return nil, t.notFromHook(o)
		}
		if came[i] == nil {
			return nil, t.In.Errorf(t.In.Exc.RuntimeError, "can't replace a None gradient with a non-None value")
		}
		if err := t.sizeFromHook(f, p.T, came[i]); err != nil {
			return nil, err
		}
		out[i] = p.T
	}
	return out, nil
}

// hookName is what messages call a hook.
func (t *Torch) hookName(f vm.Object) string {
	name := "<unknown>"
	if n, err := t.In.GetAttr(f, "__name__"); err == nil {
		name, _ = vm.AsStr(n)
	}
	return name
}

// edgeNames binds what torch.autograd asks the engine about edges and nodes.
func (t *Torch) edgeNames() {
	in := t.In
	t.c.Set("_FunctionBase", t.functionBase())
	t.c.Set("_AccumulateGrad", t.nodeClass("AccumulateGrad"))
	t.c.Func("_gradient_edge", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		x, ok := a[0].(*Tensor)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "_gradient_edge() needs a tensor")
		}
		if err := t.Grad.Ambiguous(x.T); err != nil {
			return nil, t.Error(err)
		}
		e := t.Grad.EdgeOf(x.T)
		return vm.NewTuple(t.nodeObject(e.Node), vm.MakeInt(int64(e.Nr))), nil
	})
	// A function of the program made these, in a call that is recorded with several differentiable results or not: views among them are not to be written.
	t.c.Func("_autograd_made", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		ts, err := t.tensorList(a[0])
		if err != nil {
			return nil, err
		}
		several, err := in.Truth(a[1])
		for _, x := range ts {
			t.Grad.MadeByFunction(x, several)
		}
		return vm.None, err
	})
	t.c.Func("_current_autograd_node", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		return t.nodeObject(t.Grad.Running()), nil
	})
	t.c.Func("_will_engine_execute_node", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		n := nodeOf(a[0])
		if n == nil {
			return nil, in.Errorf(in.Exc.TypeError, "_will_engine_execute_node expects an grad_fn, but got %s", a[0].Type().Name)
		}
		runs, ok := t.Grad.WillRun(n)
		if !ok {
			return nil, in.Errorf(in.Exc.RuntimeError, "_get_should_execute_nodes should only be called during the backward pass")
		}
		return vm.MakeBool(runs), nil
	})
	t.c.Func("_current_graph_task_execution_order", func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
		nodes, ok := t.Grad.Order()
		if !ok {
			return nil, in.Errorf(in.Exc.RuntimeError, "_current_graph_task_execution_order should only be called during the backward pass")
		}
		items := make([]vm.Object, len(nodes))
		for i, n := range nodes {
			items[i] = t.nodeObject(n)
		}
		return vm.NewList(items...), nil
	})
}
