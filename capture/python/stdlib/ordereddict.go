package stdlib

import "whittle/capture/python/vm"

// orderedDict is what an interpreter needs to make ordered dicts: their class and those of their views. A dict keeps the order of its keys
// anyway; an ordered one is equal to another only in the same order, and can move a key to either end.
type orderedDict struct {
	cls, iter, keys, values, items *vm.Type
}

// orderedDictType makes collections.OrderedDict.
func orderedDictType(in *vm.Interp) *vm.Type {
	od := &orderedDict{}
	// The class of iterators is what dict's own have, but for the hint of a length.
	od.iter = in.NewNativeType(vm.Spec{Strict: true, Name: "odict_iterator", Module: "builtins", NoDict: true, Final: true, New: vm.Uncreatable, Methods: map[string]vm.GoFunc{
		"__iter__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return a[0], nil },
		"__next__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			v, err := in.Next(a[0])
			if v == nil && err == nil {
				err = in.RaiseObj(in.Exc.StopIteration)
			}
			return v, err
		},
		"__reduce__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return a[0].(*vm.GoIter).Reduce(in, od.iter)
		}},
		Arity: map[string][2]int{"__iter__": {0, 0}, "__next__": {0, 0}, "__reduce__": {0, 0}}})
	walk := func(kind int, backwards bool) vm.GoFunc {
		return func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			d, _, ok := vm.ViewOf(a[0])
			if !ok {
				d, _ = vm.AsDict(a[0])
			}
			return vm.NewOrderedIter(d, kind, backwards, od.iter), nil
		}
	}
	none := [2]int{0, 0}
	view := func(name string, base *vm.Type, kind int) *vm.Type {
		return in.NewNativeType(vm.Spec{Strict: true, Name: name, Module: "builtins", Bases: []*vm.Type{base}, NoDict: true, Final: true,
			Methods: map[string]vm.GoFunc{"__iter__": walk(kind, false), "__reversed__": walk(kind, true)}, Arity: map[string][2]int{"__iter__": none, "__reversed__": none}})
	}
	od.keys = view("odict_keys", vm.DictKeysType, 0)
	od.values = view("odict_values", vm.DictValuesType, 1)
	od.items = view("odict_items", vm.DictItemsType, 2)
	od.cls = in.NewNativeType(vm.Spec{Strict: true, Name: "OrderedDict", NoModule: true, Module: "collections", Bases: []*vm.Type{vm.DictType}, Doc: "Dictionary that remembers insertion order",
		New: func(_ *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.NewInstance(cls, vm.NewDict()), nil
		},
		Arity: map[string][2]int{"keys": {0, 0}, "values": {0, 0}, "items": {0, 0}, "copy": {0, 0}, "__reduce__": {0, 0}, "__repr__": {0, 0}, "__iter__": none, "__reversed__": none, "__eq__": {1, 1}, "__ne__": {1, 1},
			"__or__": {1, 1}, "__ror__": {1, 1}, "__ior__": {1, 1}},
		Methods: map[string]vm.GoFunc{
			"__init__": func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				if len(a) > 2 {
					return nil, in.Errorf(in.Exc.TypeError, "expected at most 1 arguments, got %d", len(a)-1)
				}
				return od.update(in, a, kw)
			},
			"update": func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				if len(a) > 2 {
					return nil, in.Errorf(in.Exc.TypeError, "update() takes at most 1 positional argument (%d given)", len(a)-1)
				}
				return od.update(in, a, kw)
			},
			"keys":   od.view(0, &od.keys),
			"values": od.view(1, &od.values),
			"items":  od.view(2, &od.items),
			"copy": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return in.Call(a[0].Type(), a[:1:1], nil)
			},
			"__iter__":     walk(0, false),
			"__reversed__": walk(0, true),
			"pop":          dictMethod("pop", "key, default=nil"),
			"setdefault":   dictMethod("setdefault", "key, default=None"),
			"popitem":      od.popItem(),
			"move_to_end":  od.moveToEnd(),
			"__reduce__":   od.reduce,
			"__repr__":     od.repr,
			"__eq__":       od.equal,
			"__ne__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				v, err := od.equal(in, a, nil)
				if err != nil || v == vm.NotImplemented {
					return v, err
				}
				return vm.MakeBool(v == vm.False), nil
			},
			"__or__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return od.merge(in, a[0].Type(), a[0], a[1])
			},
			"__ror__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return od.merge(in, a[0].Type(), a[1], a[0])
			},
			"__ior__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				_, err := od.update(in, a, nil)
				return a[0], err
			},
		},
		Class:  map[string]vm.GoFunc{"fromkeys": od.fromKeys()},
		GetSet: []*vm.GetSet{instanceDict()}})
	return od.cls
}

// dictMethod is a method of dict whose arguments may go by name.
func dictMethod(name, sig string) vm.GoFunc {
	params := vm.NewParams(name, sig)
	return func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		b, err := params.Bind(in, a[1:], kw)
		if err != nil {
			return nil, err
		}
		if b[1] == nil {
			b = b[:1]
		}
		return in.Call(vm.DictType.Lookup(name), append([]vm.Object{a[0]}, b...), nil)
	}
}

// fromKeys is fromkeys(iterable, value=None).
func (od *orderedDict) fromKeys() vm.GoFunc {
	params := vm.NewParams("fromkeys", "iterable, value=None")
	return func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		b, err := params.Bind(in, a[1:], kw)
		if err != nil {
			return nil, err
		}
		d, err := in.Call(a[0], nil, nil)
		if err != nil {
			return nil, err
		}
		it, err := in.Iter(b[0])
		for err == nil {
			var k vm.Object
			if k, err = in.Next(it); k == nil {
				break
			}
			err = in.SetItem(d, k, b[1])
		}
		return d, err
	}
}

func (od *orderedDict) view(kind int, cls **vm.Type) vm.GoFunc {
	return func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		d, ok := vm.AsDict(a[0])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "a collections.OrderedDict is required, not %s", vm.TypeName(a[0]))
		}
		return vm.NewDictView(d, kind, *cls), nil
	}
}

// update stores what a mapping, an iterable of pairs and keywords give. A class that has a __setitem__ of its own gets each pair by it.
func (od *orderedDict) update(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	self := a[0]
	d, ok := vm.AsDict(self)
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "a collections.OrderedDict is required, not %s", vm.TypeName(self))
	}
	if self.Type().Lookup("__setitem__") == vm.DictType.Lookup("__setitem__") {
		return in.Call(vm.DictType.Lookup("update"), append([]vm.Object{d}, a[1:]...), kw)
	}
	all := vm.NewDict()
	if _, err := in.Call(vm.DictType.Lookup("update"), append([]vm.Object{all}, a[1:]...), kw); err != nil {
		return nil, err
	}
	var err error
	all.Each(func(k, v vm.Object) bool {
		err = in.SetItem(self, k, v)
		return err == nil
	})
	return vm.None, err
}

// popItem is popitem(last=True).
func (od *orderedDict) popItem() vm.GoFunc {
	params := vm.NewParams("popitem", "last=True")
	return func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		b, err := params.Bind(in, a[1:], kw)
		if err != nil {
			return nil, err
		}
		last, err := in.Truth(b[0])
		if err != nil {
			return nil, err
		}
		d, _ := vm.AsDict(a[0])
		k, v, ok := d.Pop(last)
		if !ok {
			return nil, in.KeyError(vm.Str("dictionary is empty"))
		}
		return vm.NewTuple(k, v), nil
	}
}

// moveToEnd is move_to_end(key, last=True).
func (od *orderedDict) moveToEnd() vm.GoFunc {
	params := vm.NewParams("move_to_end", "key, last=True")
	return func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		b, err := params.Bind(in, a[1:], kw)
		if err != nil {
			return nil, err
		}
		last, err := in.Truth(b[1])
		if err != nil {
			return nil, err
		}
		d, _ := vm.AsDict(a[0])
		v, ok, err := d.Get(in, b[0])
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, in.KeyError(b[0])
		}
		if end := d.End(last); vm.Is(end, b[0]) {
			return vm.None, nil
		}
		if last {
			if _, err := d.Del(in, b[0]); err != nil {
				return nil, err
			}
			return vm.None, d.Set(in, b[0], v)
		}
		rest := d.Copy()
		if _, err := rest.Del(in, b[0]); err != nil {
			return nil, err
		}
		d.Clear()
		if err := d.Set(in, b[0], v); err != nil {
			return nil, err
		}
		rest.Each(func(k, v vm.Object) bool {
			err = d.Set(in, k, v)
			return err == nil
		})
		return vm.None, err
	}
}

func (od *orderedDict) reduce(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	state, err := in.CallMethod(a[0], "__getstate__")
	if err != nil {
		return nil, err
	}
	items, err := in.CallMethod(a[0], "items")
	if err != nil {
		return nil, err
	}
	it, err := in.Iter(items)
	return vm.NewTuple(a[0].Type(), vm.NewTuple(), state, vm.None, it), err
}

func (od *orderedDict) repr(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	name := a[0].Type().Name
	if d, _ := vm.AsDict(a[0]); d.Len() == 0 {
		return vm.Str(name + "()"), nil
	}
	var text string
	ok, err := in.ReprGuard(a[0], func() error {
		v, err := in.CallMethod(a[0], "items")
		if err != nil {
			return err
		}
		items, err := in.IterAll(v)
		if err != nil {
			return err
		}
		text, err = in.Repr(vm.NewList(items...))
		return err
	})
	if !ok {
		return vm.Str("..."), nil
	}
	return vm.Str(name + "(" + text + ")"), err
}

// equal is ==: of two ordered dicts in the same order, of an ordered and another one in any.
func (od *orderedDict) equal(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	x, _ := vm.AsDict(a[0])
	y, ok := vm.AsDict(a[1])
	if !ok {
		return vm.NotImplemented, nil
	}
	v, err := in.Compare("==", x, y)
	if err != nil || v != vm.True || !a[1].Type().IsSubtype(od.cls) {
		return v, err
	}
	return in.Compare("==", vm.NewList(x.Keys()...), vm.NewList(y.Keys()...))
}

// merge is a | b as an ordered dict of a class.
func (od *orderedDict) merge(in *vm.Interp, cls *vm.Type, a, b vm.Object) (vm.Object, error) {
	for _, o := range []vm.Object{a, b} {
		if _, ok := vm.AsDict(o); !ok {
			return vm.NotImplemented, nil
		}
	}
	v, err := in.Call(cls, []vm.Object{a}, nil)
	if err != nil {
		return nil, err
	}
	_, err = od.update(in, []vm.Object{v, b}, nil)
	return v, err
}
