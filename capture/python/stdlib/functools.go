package stdlib

import (
	"strings"

	"whittle/capture/python/vm"
)

// functoolsModule is _functools: what CPython has of functools in C.
func functoolsModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_functools", "Tools that operate on functions.")
	m.Set("partial", partialType(in))
	m.Set("_lru_cache_wrapper", lruType(in))
	key := keyType(in)
	params := vm.NewParams("cmp_to_key", "mycmp")
	m.Func("cmp_to_key", func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		a, err := params.Bind(in, args, kw)
		if err != nil {
			return nil, err
		}
		return newSlotted(key, a[0], nil), nil
	})
	m.FuncN("reduce", 2, 3, reduce).Module = "_functools"
	return m, nil
}

// newSlotted makes an instance whose state lies in slots, where those who copy or write down instances find it.
func newSlotted(cls *vm.Type, slots ...vm.Object) *vm.Instance {
	i := vm.NewInstance(cls, nil)
	copy(i.Slots, slots)
	return i
}

// slotOf is a slot of self as an attribute.
func slotOf(name string, i int) *vm.GetSet {
	return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) {
		if v := self.(*vm.Instance).Slots[i]; v != nil {
			return v, nil
		}
		return vm.None, nil
	}}
}

// instanceDict is __dict__ of a native class whose instances have one.
func instanceDict() *vm.GetSet {
	return &vm.GetSet{Name: "__dict__",
		Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) { return self.(*vm.Instance).AttrDict(true), nil },
		Set: func(in *vm.Interp, self, v vm.Object) error {
			d, ok := vm.AsDict(v)
			if !ok {
				return in.Errorf(in.Exc.TypeError, "__dict__ must be set to a dictionary, not a '%s'", typeName(v))
			}
			self.(*vm.Instance).Dict = d
			return nil
		}}
}

func typeName(o vm.Object) string {
	if o == nil {
		return "NULL"
	}
	return vm.TypeName(o)
}

// callableObject is callable(o).
func callableObject(o vm.Object) bool {
	switch o.(type) {
	case *vm.Function, *vm.Builtin, *vm.BoundMethod, *vm.Type, vm.Caller:
		return true
	}
	return o.Type().Lookup("__call__") != nil
}

// genericAlias is __class_getitem__ of classes that may be parametrised.
func genericAlias(_ *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	t, ok := args[1].(*vm.Tuple)
	if !ok {
		t = vm.NewTuple(args[1])
	}
	return &vm.GenericAlias{Origin: args[0], Args: t}, nil
}

func reduce(in *vm.Interp, a []vm.Object) (vm.Object, error) {
	it, err := in.Iter(a[1])
	if err != nil {
		if in.Matches(err, in.Exc.TypeError) {
			return nil, in.Errorf(in.Exc.TypeError, "reduce() arg 2 must support iteration")
		}
		return nil, err
	}
	var acc vm.Object
	if len(a) > 2 {
		acc = a[2]
	} else if acc, err = in.Next(it); err != nil {
		return nil, err
	} else if acc == nil {
		return nil, in.Errorf(in.Exc.TypeError, "reduce() of empty iterable with no initial value")
	}
	for {
		v, err := in.Next(it)
		if err != nil {
			return nil, err
		}
		if v == nil {
			return acc, nil
		}
		if acc, err = in.Call(a[0], []vm.Object{acc, v}, nil); err != nil {
			return nil, err
		}
	}
}

// The slots of a partial: the function, the tuple of its first arguments, and the dict of its keywords.
const (
	partialFunc = iota
	partialArgs
	partialKeywords
	partialSlots
)

// partialType makes functools.partial.
func partialType(in *vm.Interp) *vm.Type {
	var t *vm.Type
	t = in.NewNativeType(vm.Spec{Strict: true, Name: "partial", Module: "functools",
		Doc: "partial(func, *args, **keywords) - new function with partial application\n    of the given arguments and keywords.\n",
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			return newPartial(in, t, cls, args, kw)
		},
		Methods: map[string]vm.GoFunc{"__init__": noInit, "__call__": callPartial, "__repr__": reprPartial, "__reduce__": reducePartial, "__setstate__": setPartial},
		Class:   map[string]vm.GoFunc{"__class_getitem__": genericAlias},
		GetSet:  []*vm.GetSet{slotOf("func", partialFunc), slotOf("args", partialArgs), slotOf("keywords", partialKeywords), instanceDict()}})
	t.NumSlots = partialSlots
	return t
}

// noInit is the __init__ of types that are complete once they are made.
func noInit(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.None, nil }

// newPartial flattens a partial of a partial into one.
func newPartial(in *vm.Interp, own, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	if len(args) < 1 {
		return nil, in.Errorf(in.Exc.TypeError, "type 'partial' takes at least one argument")
	}
	f := args[0]
	if !callableObject(f) {
		return nil, in.Errorf(in.Exc.TypeError, "the first argument must be callable")
	}
	rest := append([]vm.Object(nil), args[1:]...)
	keywords := vm.NewDict()
	if p, ok := f.(*vm.Instance); ok && p.Class == own && (p.Dict == nil || p.Dict.Len() == 0) {
		f = p.Slots[partialFunc]
		rest = append(append([]vm.Object(nil), p.Slots[partialArgs].(*vm.Tuple).Items...), rest...)
		if d, ok := vm.AsDict(p.Slots[partialKeywords]); ok {
			keywords = d.Copy()
		}
	}
	for _, k := range kw {
		keywords.SetStr(k.Name, k.Value)
	}
	return newSlotted(cls, f, vm.NewTuple(rest...), keywords), nil
}

func callPartial(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	slots := args[0].(*vm.Instance).Slots
	bound := slots[partialArgs].(*vm.Tuple).Items
	full := append(append(make([]vm.Object, 0, len(bound)+len(args)-1), bound...), args[1:]...)
	d, _ := vm.AsDict(slots[partialKeywords])
	if d == nil || d.Len() == 0 {
		return in.Call(slots[partialFunc], full, kw)
	}
	merged := d.Copy()
	for _, k := range kw {
		merged.SetStr(k.Name, k.Value)
	}
	all := make([]vm.KwArg, 0, merged.Len())
	var err error
	merged.Each(func(k, v vm.Object) bool {
		name, ok := vm.AsStr(k)
		if !ok {
			err = in.Errorf(in.Exc.TypeError, "keywords must be strings")
		}
		all = append(all, vm.KwArg{Name: name, Value: v})
		return ok
	})
	if err != nil {
		return nil, err
	}
	return in.Call(slots[partialFunc], full, all)
}

func reprPartial(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	p := args[0].(*vm.Instance)
	name := p.Class.Qualname
	if p.Class.Module == "functools" {
		name = "functools." + name
	}
	parts := []string{}
	add := func(prefix string, o vm.Object) error {
		r, err := in.Repr(o)
		parts = append(parts, prefix+r)
		return err
	}
	ok, err := in.ReprGuard(p, func() error {
		if err := add("", p.Slots[partialFunc]); err != nil {
			return err
		}
		for _, o := range p.Slots[partialArgs].(*vm.Tuple).Items {
			if err := add("", o); err != nil {
				return err
			}
		}
		var err error
		if d, ok := vm.AsDict(p.Slots[partialKeywords]); ok {
			d.Copy().Each(func(k, v vm.Object) bool {
				var s string
				if s, err = in.Str(k); err == nil {
					err = add(s+"=", v)
				}
				return err == nil
			})
		}
		return err
	})
	if !ok {
		return vm.Str("..."), err
	}
	return vm.Str(name + "(" + strings.Join(parts, ", ") + ")"), err
}

// reducePartial is __reduce__: the class, the function, and the state that setPartial takes.
func reducePartial(_ *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	p := args[0].(*vm.Instance)
	var dict vm.Object = vm.None
	if p.Dict != nil {
		dict = p.Dict
	}
	f := p.Slots[partialFunc]
	return vm.NewTuple(p.Class, vm.NewTuple(f), vm.NewTuple(f, p.Slots[partialArgs], p.Slots[partialKeywords], dict)), nil
}

// setPartial is __setstate__.
func setPartial(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	p := args[0].(*vm.Instance)
	bad := func() (vm.Object, error) { return nil, in.Errorf(in.Exc.TypeError, "invalid partial state") }
	if len(args) != 2 {
		return nil, in.Errorf(in.Exc.TypeError, "partial.__setstate__() takes exactly one argument (%d given)", len(args)-1)
	}
	st, ok := vm.AsTuple(args[1])
	if !ok || len(st.Items) != 4 {
		return bad()
	}
	bound, isTuple := vm.AsTuple(st.Items[1])
	if !isTuple || !callableObject(st.Items[0]) {
		return bad()
	}
	keywords := vm.NewDict()
	if st.Items[2] != vm.None {
		if keywords, ok = vm.AsDict(st.Items[2]); !ok {
			return bad()
		}
		if _, exact := st.Items[2].(*vm.Dict); !exact {
			keywords = keywords.Copy()
		}
	}
	p.Dict = nil
	if st.Items[3] != vm.None {
		d, ok := vm.AsDict(st.Items[3])
		if !ok {
			return bad()
		}
		p.Dict = d
	}
	copy(p.Slots, []vm.Object{st.Items[0], vm.NewTuple(bound.Items...), keywords})
	return vm.None, nil
}

// keyType makes the type of the keys that cmp_to_key gives: slot 0 is the function that compares, slot 1 the object.
func keyType(in *vm.Interp) *vm.Type {
	var t *vm.Type
	params := vm.NewParams("K", "obj")
	methods := map[string]vm.GoFunc{
		"__call__": func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			a, err := params.Bind(in, args[1:], kw)
			if err != nil {
				return nil, err
			}
			return newSlotted(t, args[0].(*vm.Instance).Slots[0], a[0]), nil
		}}
	for name, op := range map[string]string{"__lt__": "<", "__le__": "<=", "__eq__": "==", "__ne__": "!=", "__gt__": ">", "__ge__": ">="} {
		methods[name] = func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			x := args[0].(*vm.Instance)
			y, ok := args[1].(*vm.Instance)
			if !ok || y.Class != t {
				return nil, in.Errorf(in.Exc.TypeError, "other argument must be K instance")
			}
			if x.Slots[1] == nil || y.Slots[1] == nil {
				return nil, in.Errorf(in.Exc.AttributeError, "object")
			}
			r, err := in.Call(x.Slots[0], []vm.Object{x.Slots[1], y.Slots[1]}, nil)
			if err != nil {
				return nil, err
			}
			return in.Compare(op, r, vm.MakeInt(0))
		}
	}
	object := slotOf("obj", 1)
	object.Set = func(_ *vm.Interp, self, v vm.Object) error {
		self.(*vm.Instance).Slots[1] = v
		return nil
	}
	t = in.NewNativeType(vm.Spec{Strict: true, Name: "KeyWrapper", Module: "functools", NoDict: true, Methods: methods, GetSet: []*vm.GetSet{object}})
	t.NumSlots = 2
	return t
}
