package stdlib

import (
	"fmt"

	"whittle/capture/python/vm"
)

// The slots of a weak reference: its object and the function to call when that dies.
const (
	refObject = iota
	refCallback
	refSlots
)

// weakrefModule is _weakref. An object that only weak references refer to dies at the next gc.collect().
func weakrefModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_weakref", "Weak-reference support module.")
	ref := refType(in)
	in.FirstWeakRef = func(o vm.Object) vm.Object {
		if refs := weakRefsOf(in).to(in, o); len(refs) > 0 {
			return refs[0]
		}
		return vm.None
	}
	m.Set("ref", ref)
	m.Set("ReferenceType", ref)
	proxy := proxyType(in, "ProxyType", proxyDunders)
	callable := proxyType(in, "CallableProxyType", append([]string{"__call__"}, proxyDunders...))
	m.Set("ProxyType", proxy)
	m.Set("CallableProxyType", callable)
	m.FuncN("proxy", 1, 2, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		if err := refersTo(in, a[0]); err != nil {
			return nil, err
		}
		t, callback := proxy, vm.Object(vm.None)
		if callableObject(a[0]) {
			t = callable
		}
		if len(a) > 1 {
			callback = a[1]
		}
		return weakRefsOf(in).refer(in, newSlotted(t), a[0], callback), nil
	})
	m.FuncN("getweakrefcount", 1, 1, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		in.Ask()
		return vm.MakeInt(int64(len(weakRefsOf(in).to(in, a[0])))), nil
	})
	m.FuncN("getweakrefs", 1, 1, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		return vm.NewList(weakRefsOf(in).to(in, a[0])...), nil
	})
	m.FuncN("_remove_dead_weakref", 2, 2, func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		d, ok := vm.AsDict(a[0])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "_remove_dead_weakref() argument 1 must be dict, not %s", vm.ArgName(a[0]))
		}
		v, ok, err := d.Get(in, a[1])
		if r, isRef := v.(*vm.Instance); err == nil && ok && isRef && r.Class.IsSubtype(ref) && r.Slots[refObject].(*referent).object == nil {
			_, err = d.Del(in, a[1])
		}
		return vm.None, err
	})
	return m, nil
}

// refersTo fails for objects that no weak reference can be made of.
func refersTo(in *vm.Interp, o vm.Object) error {
	if t := o.Type(); !t.HasWeak && !t.Embedded() {
		return in.Errorf(in.Exc.TypeError, "cannot create weak reference to '%s' object", vm.TypeName(o))
	}
	return nil
}

// refType makes weakref.ref.
func refType(in *vm.Interp) *vm.Type {
	referentOf := func(o vm.Object) *referent { return o.(*vm.Instance).Slots[refObject].(*referent) }
	object := func(o vm.Object) vm.Object { return orNone(referentOf(o).object) }
	var t *vm.Type
	compare := func(op string) vm.GoFunc {
		return func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			if !a[1].Type().IsSubtype(t) {
				return vm.NotImplemented, nil
			}
			if referentOf(a[0]).object == nil || referentOf(a[1]).object == nil {
				return vm.MakeBool((a[0] == a[1]) == (op == "==")), nil
			}
			return in.Compare(op, object(a[0]), object(a[1]))
		}
	}
	t = in.NewNativeType(vm.Spec{Strict: true, Name: "ReferenceType", NoModule: true, Module: "weakref", NoDict: true,
		New: func(in *vm.Interp, cls *vm.Type, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			if len(a) < 1 {
				return nil, in.Errorf(in.Exc.TypeError, "ReferenceType expected at least 1 argument, got 0")
			}
			if err := refersTo(in, a[0]); err != nil {
				return nil, err
			}
			callback := vm.Object(vm.None)
			if len(a) > 1 {
				callback = a[1]
			}
			if cls == t && callback == vm.None { // one is enough
				for _, r := range weakRefsOf(in).to(in, a[0]) {
					if r := r.(*vm.Instance); r.Class == t && r.Slots[refCallback] == nil {
						return r, nil
					}
				}
			}
			return weakRefsOf(in).refer(in, newSlotted(cls), a[0], callback), nil
		},
		Methods: map[string]vm.GoFunc{
			"__init__": func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				if len(kw) > 0 {
					return nil, in.Errorf(in.Exc.TypeError, "ReferenceType() takes no keyword arguments")
				}
				if len(a) > 3 {
					return nil, in.Errorf(in.Exc.TypeError, "__init__ expected at most 2 arguments, got %d", len(a)-1)
				}
				return vm.None, nil
			},
			"__call__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				in.Ask()
				return object(a[0]), nil
			},
			"__hash__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				r := referentOf(a[0])
				if !r.hashed {
					if r.object == nil {
						return nil, in.Errorf(in.Exc.TypeError, "weak object has gone away")
					}
					h, err := in.Hash(r.object)
					if err != nil {
						return nil, err
					}
					r.hash, r.hashed = h, true
				}
				return vm.MakeInt(int64(r.hash)), nil
			},
			"__eq__": compare("=="), "__ne__": compare("!="),
			"__repr__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				o := referentOf(a[0]).object
				if o == nil {
					return vm.Str(fmt.Sprintf("<weakref at 0x%x; dead>", in.ID(a[0]))), nil
				}
				return vm.Str(fmt.Sprintf("<weakref at 0x%x; to '%s' at 0x%x>", in.ID(a[0]), o.Type().Name, in.ID(o))), nil
			}},
		Class:  map[string]vm.GoFunc{"__class_getitem__": genericAlias},
		GetSet: []*vm.GetSet{slotOf("__callback__", refCallback)}})
	t.NumSlots = refSlots
	return t
}

// proxyDunders are the special methods that a proxy passes on.
var proxyDunders = []string{"__str__", "__bool__", "__len__", "__iter__", "__next__", "__contains__", "__getitem__", "__setitem__", "__delitem__", "__bytes__", "__reversed__",
	"__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__", "__index__", "__int__", "__float__", "__neg__", "__pos__", "__abs__", "__invert__",
	"__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__", "__divmod__", "__pow__", "__lshift__", "__rshift__", "__and__", "__or__", "__xor__", "__matmul__",
	"__radd__", "__rsub__", "__rmul__", "__rtruediv__", "__rfloordiv__", "__rmod__", "__rdivmod__", "__rpow__", "__rlshift__", "__rrshift__", "__rand__", "__ror__", "__rxor__",
	"__rmatmul__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__imod__", "__ipow__", "__ilshift__", "__irshift__", "__iand__", "__ior__", "__ixor__",
	"__imatmul__"}

// proxyType makes a type whose instances stand for another object in all that is done with them.
func proxyType(in *vm.Interp, name string, dunders []string) *vm.Type {
	var t *vm.Type
	// object is what an argument stands for: nil for a proxy whose object is dead.
	object := func(o vm.Object) vm.Object {
		if i, ok := o.(*vm.Instance); ok && i.Class == t {
			return i.Slots[refObject].(*referent).object
		}
		return o
	}
	gone := func(in *vm.Interp) error {
		return in.Errorf(in.Exc.ReferenceError, "weakly-referenced object no longer exists")
	}
	methods := map[string]vm.GoFunc{
		"__getattribute__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			o := object(a[0])
			if o == nil {
				return nil, gone(in)
			}
			return in.GetAttr(o, str(a[1]))
		},
		"__setattr__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			o := object(a[0])
			if o == nil {
				return nil, gone(in)
			}
			return vm.None, in.SetAttr(o, str(a[1]), a[2])
		},
		"__delattr__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			o := object(a[0])
			if o == nil {
				return nil, gone(in)
			}
			return vm.None, in.DelAttr(o, str(a[1]))
		},
		"__repr__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			o := orNone(object(a[0]))
			return vm.Str(fmt.Sprintf("<weakproxy at 0x%x to %s at 0x%x>", in.ID(a[0]), o.Type().Name, in.ID(o))), nil
		},
		"__hash__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return nil, in.Errorf(in.Exc.TypeError, "unhashable type: 'weakref.%s'", name)
		}}
	for _, d := range dunders {
		methods[d] = func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			args := make([]vm.Object, 0, len(a))
			for _, x := range a {
				o := object(x)
				if o == nil {
					return nil, gone(in)
				}
				args = append(args, o)
			}
			return proxyCall(in, d, args, kw)
		}
	}
	t = in.NewNativeType(vm.Spec{Strict: true, Name: name, NoModule: true, Module: "weakref", NoDict: true, Final: true, New: vm.Uncreatable, Methods: methods})
	t.NumSlots = refSlots
	return t
}

// proxyCall does what a special method of a proxy stands for with the objects themselves.
func proxyCall(in *vm.Interp, name string, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	switch name {
	case "__call__":
		return in.Call(a[0], a[1:], kw)
	case "__str__":
		s, err := in.Str(a[0])
		return vm.Str(s), err
	case "__bool__":
		b, err := in.Truth(a[0])
		return vm.MakeBool(b), err
	case "__iter__":
		return in.Iter(a[0])
	}
	f := a[0].Type().Lookup(name)
	if f == nil {
		switch name {
		case "__contains__":
			ok, err := in.Contains(a[0], a[1])
			return vm.MakeBool(ok), err
		case "__getitem__", "__setitem__", "__delitem__", "__len__", "__next__":
			return nil, in.Errorf(in.Exc.TypeError, "'%s' object has no %s", vm.TypeName(a[0]), name)
		}
		return vm.NotImplemented, nil
	}
	return in.CallMethod(a[0], name, a[1:]...)
}
