package stdlib

import "whittle/capture/python/vm"

// addAsync gives sys what an event loop sets: hooks for async generators, and how far back a coroutine notes where it was made.
func addAsync(in *vm.Interp, m *vm.Module) {
	spec := vm.Spec{Name: "asyncgen_hooks", Module: "sys", Bases: []*vm.Type{vm.TupleType}, NoDict: true, Methods: map[string]vm.GoFunc{"__repr__": hooksRepr}}
	for i, n := range hookNames {
		spec.GetSet = append(spec.GetSet, &vm.GetSet{Name: n, Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) {
			t, _ := vm.AsTuple(self)
			return t.Items[i], nil
		}})
	}
	hooks := in.NewNativeType(spec)
	m.FuncN("get_asyncgen_hooks", 0, 0, func(in *vm.Interp, _ []vm.Object) (vm.Object, error) {
		first, final := in.AsyncGenHooks()
		return vm.NewInstance(hooks, vm.NewTuple(orNone(first), orNone(final))), nil
	})
	m.Func("set_asyncgen_hooks", setHooks)
	m.FuncN("get_coroutine_origin_tracking_depth", 0, 0, func(in *vm.Interp, _ []vm.Object) (vm.Object, error) {
		return vm.MakeInt(int64(in.OriginDepth())), nil
	})
	m.FuncN("set_coroutine_origin_tracking_depth", 1, 1, func(in *vm.Interp, args []vm.Object) (vm.Object, error) {
		n, err := in.Index(args[0])
		if err != nil {
			return nil, err
		}
		if n < 0 {
			return nil, in.Errorf(in.Exc.ValueError, "depth must be >= 0")
		}
		in.SetOriginDepth(int(n))
		return vm.None, nil
	})
}

var hookNames = []string{"firstiter", "finalizer"}

// hooksRepr is the repr of what get_asyncgen_hooks gives.
func hooksRepr(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	t, _ := vm.AsTuple(args[0])
	a, err := in.Repr(t.Items[0])
	if err != nil {
		return nil, err
	}
	b, err := in.Repr(t.Items[1])
	return vm.Str("asyncgen_hooks(firstiter=" + a + ", finalizer=" + b + ")"), err
}

// setHooks is sys.set_asyncgen_hooks: a hook that is not given stays, and None is none.
func setHooks(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	given := map[string]vm.Object{}
	for i, v := range args {
		if i >= len(hookNames) {
			return nil, in.Errorf(in.Exc.TypeError, "set_asyncgen_hooks() takes at most 2 arguments (%d given)", len(args))
		}
		given[hookNames[i]] = v
	}
	for _, k := range kw {
		if k.Name != hookNames[0] && k.Name != hookNames[1] {
			return nil, in.Errorf(in.Exc.TypeError, "'%s' is an invalid keyword argument for set_asyncgen_hooks()", k.Name)
		}
		given[k.Name] = k.Value
	}
	first, final := in.AsyncGenHooks()
	for i, h := range []*vm.Object{&first, &final} {
		v, ok := given[hookNames[i]]
		switch {
		case !ok:
		case v == vm.None:
			*h = nil
		case v.Type().Lookup("__call__") == nil:
			return nil, in.Errorf(in.Exc.TypeError, "callable %s expected, got %s", hookNames[i], vm.TypeName(v))
		default:
			*h = v
		}
	}
	in.SetAsyncGenHooks(first, final)
	return vm.None, nil
}

// orNone is an object, or None for none.
func orNone(o vm.Object) vm.Object {
	if o == nil {
		return vm.None
	}
	return o
}
