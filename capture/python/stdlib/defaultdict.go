package stdlib

import "whittle/capture/python/vm"

// defaultDictType makes collections.defaultdict: a dict whose slot 0 is the function that makes missing values.
func defaultDictType(in *vm.Interp) *vm.Type {
	factory := slotOf("default_factory", 0)
	factory.Doc = "Factory for default value called by __missing__()."
	factory.Set = func(_ *vm.Interp, self, v vm.Object) error {
		self.(*vm.Instance).Slots[0] = v
		return nil
	}
	var t *vm.Type
	// merge is a | b for a defaultdict, whose class and factory the result has.
	merge := func(in *vm.Interp, of, a, b vm.Object) (vm.Object, error) {
		for _, o := range []vm.Object{a, b} {
			if _, ok := vm.AsDict(o); !ok {
				return vm.NotImplemented, nil
			}
		}
		v, err := in.Call(of.Type(), []vm.Object{of.(*vm.Instance).Slots[0], a}, nil)
		if err != nil {
			return nil, err
		}
		_, err = in.CallMethod(v, "update", b)
		return v, err
	}
	dup := func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		i := a[0].(*vm.Instance)
		return in.Call(i.Class, []vm.Object{orNone(i.Slots[0]), i}, nil)
	}
	t = in.NewNativeType(vm.Spec{Strict: true, Name: "defaultdict", NoModule: true, Module: "collections", Bases: []*vm.Type{vm.DictType}, NoDict: true,
		Doc: "defaultdict(default_factory=None, /, [...]) --> dict with default factory\n\nThe default factory is called without arguments to produce\n" +
			"a new value when a key is not present, in __getitem__ only.\nA defaultdict compares equal to a dict with the same items.\n" +
			"All remaining arguments are treated the same as if they were\npassed to the dict constructor, including keyword arguments.\n",
		New: func(in *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.NewInstance(cls, vm.NewDict()), nil
		},
		Methods: map[string]vm.GoFunc{
			"__init__": func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				i := a[0].(*vm.Instance)
				rest := a[1:]
				i.Slots[0] = vm.None
				if len(rest) > 0 {
					if rest[0] != vm.None && !callableObject(rest[0]) {
						return nil, in.Errorf(in.Exc.TypeError, "first argument must be callable or None")
					}
					i.Slots[0] = rest[0]
					rest = rest[1:]
				}
				return in.Call(vm.DictType.Lookup("__init__"), append([]vm.Object{i}, rest...), kw)
			},
			"__missing__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				f := orNone(a[0].(*vm.Instance).Slots[0])
				if f == vm.None {
					return nil, in.KeyError(a[1])
				}
				v, err := in.Call(f, nil, nil)
				if err != nil {
					return nil, err
				}
				return v, in.SetItem(a[0], a[1], v)
			},
			"copy": dup, "__copy__": dup,
			"__reduce__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				i := a[0].(*vm.Instance)
				args := vm.NewTuple()
				if f := orNone(i.Slots[0]); f != vm.None {
					args = vm.NewTuple(f)
				}
				items, err := in.CallMethod(i, "items")
				if err != nil {
					return nil, err
				}
				it, err := in.Iter(items)
				if err != nil {
					return nil, err
				}
				return vm.NewTuple(i.Class, args, vm.None, vm.None, it), nil
			},
			"__repr__": reprDefaultDict,
			"__or__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return merge(in, a[0], a[0], a[1])
			},
			"__ror__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return merge(in, a[0], a[1], a[0])
			},
		},
		Arity:  map[string][2]int{"__missing__": {1, 1}, "copy": {0, 0}, "__copy__": {0, 0}, "__reduce__": {0, 0}},
		Class:  map[string]vm.GoFunc{"__class_getitem__": genericAlias},
		GetSet: []*vm.GetSet{factory}})
	t.NumSlots = 1
	return t
}

// reprDefaultDict shows the factory and the dict; a factory that leads back here is shown as dots.
func reprDefaultDict(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	i := a[0].(*vm.Instance)
	dict, err := in.Call(vm.DictType.Lookup("__repr__"), []vm.Object{i}, nil)
	if err != nil {
		return nil, err
	}
	f := "..."
	_, err = in.ReprGuard(i.Slots[0], func() (err error) {
		f, err = in.Repr(orNone(i.Slots[0]))
		return err
	})
	return vm.Str(i.Class.Name + "(" + f + ", " + str(dict) + ")"), err
}
