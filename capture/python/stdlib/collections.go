package stdlib

import (
	"whittle/capture/python/vm"
)

// collectionsModule is _collections: what CPython has of collections in C.
func collectionsModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_collections", "High performance data structures.\n- deque:        ordered collection accessible from endpoints only\n- defaultdict:  dict subclass with a default value factory\n")
	d := newDequeTypes(in)
	m.Set("deque", d.deque)
	m.Set("_deque_iterator", d.iter)
	m.Set("_deque_reverse_iterator", d.reverse)
	m.Set("defaultdict", defaultDictType(in))
	m.Set("OrderedDict", orderedDictType(in))
	m.Set("_tuplegetter", tupleGetterType(in))
	m.FuncN("_count_elements", 2, 2, countElements)
	return m, nil
}

// countElements counts the items of an iterable in a mapping. A plain dict, or one whose class leaves reading and writing alone, is
// counted in without calls.
func countElements(in *vm.Interp, a []vm.Object) (vm.Object, error) {
	it, err := in.Iter(a[1])
	if err != nil {
		return nil, err
	}
	t := a[0].Type()
	d, isDict := vm.AsDict(a[0])
	plain := isDict && t.Lookup("__setitem__") == vm.DictType.Lookup("__setitem__") && t.Lookup("get") == vm.DictType.Lookup("get")
	one := vm.MakeInt(1)
	for {
		k, err := in.Next(it)
		if k == nil || err != nil {
			return vm.None, err
		}
		var old vm.Object
		if plain {
			if v, ok, err := d.Get(in, k); err != nil {
				return nil, err
			} else if ok {
				old = v
			} else {
				old = vm.MakeInt(0)
			}
		} else if old, err = in.CallMethod(a[0], "get", k, vm.MakeInt(0)); err != nil {
			return nil, err
		}
		n, err := in.BinaryOp("+", old, one)
		if err != nil {
			return nil, err
		}
		if plain {
			err = d.Set(in, k, n)
		} else {
			err = in.SetItem(a[0], k, n)
		}
		if err != nil {
			return nil, err
		}
	}
}

// tupleGetterType makes the descriptor of the fields of named tuples: slot 0 is the index, slot 1 the documentation.
func tupleGetterType(in *vm.Interp) *vm.Type {
	doc := slotOf("__doc__", 1)
	doc.Set = func(_ *vm.Interp, self, v vm.Object) error {
		self.(*vm.Instance).Slots[1] = v
		return nil
	}
	t := in.NewNativeType(vm.Spec{Strict: true, Name: "_tuplegetter", NoModule: true, Module: "_collections", NoDict: true,
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			a, err := vm.NewParams("_tuplegetter", "index, doc, /").Bind(in, args, kw)
			if err != nil {
				return nil, err
			}
			if _, err := in.Index(a[0]); err != nil {
				return nil, err
			}
			return newSlotted(cls, a...), nil
		},
		Methods: map[string]vm.GoFunc{
			"__init__": noInit,
			"__get__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				if len(a) < 2 || a[1] == vm.None {
					return a[0], nil
				}
				slots := a[0].(*vm.Instance).Slots
				t, ok := vm.AsTuple(a[1])
				if !ok {
					i, _ := in.Repr(slots[0])
					return nil, in.Errorf(in.Exc.TypeError, "descriptor for index '%s' for tuple subclasses doesn't apply to '%s' object", i, vm.TypeName(a[1]))
				}
				i, _ := vm.AsInt(slots[0])
				if i < 0 || i >= int64(len(t.Items)) {
					return nil, in.Errorf(in.Exc.IndexError, "tuple index out of range")
				}
				return t.Items[i], nil
			},
			"__set__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return nil, in.Errorf(in.Exc.AttributeError, "can't set attribute")
			},
			"__delete__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return nil, in.Errorf(in.Exc.AttributeError, "can't delete attribute")
			},
			"__repr__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				s, err := in.Repr(vm.NewTuple(a[0].(*vm.Instance).Slots...))
				return vm.Str("_tuplegetter" + s), err
			},
			"__reduce__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				i := a[0].(*vm.Instance)
				return vm.NewTuple(i.Class, vm.NewTuple(i.Slots...)), nil
			}},
		GetSet: []*vm.GetSet{doc}})
	t.NumSlots = 2
	return t
}
