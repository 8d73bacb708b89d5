package vm

import (
	"slices"
	"strings"
)

// initType gives classes their attributes.
func initType() {
	t := TypeType
	t.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		if len(args) == 1 && len(kw) == 0 && cls == TypeType {
			return args[0].Type(), nil
		}
		if len(args) != 3 {
			if cls != TypeType {
				return nil, in.Errorf(in.Exc.TypeError, "type.__new__() takes exactly 3 arguments (%d given)", len(args))
			}
			return nil, in.Errorf(in.Exc.TypeError, "type() takes 1 or 3 arguments")
		}
		name, ok := AsStr(args[0])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "type.__new__() argument 1 must be str, not %s", ArgName(args[0]))
		}
		if err := checkTypeName(in, name); err != nil {
			return nil, err
		}
		bases, ok := AsTuple(args[1])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "type.__new__() argument 2 must be tuple, not %s", ArgName(args[1]))
		}
		ns, ok := AsDict(args[2])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "type.__new__() argument 3 must be dict, not %s", ArgName(args[2]))
		}
		return typeNew(in, cls, name, bases.Items, ns, kw)
	}
	addMethod(t, "__init__", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) { return None, nil })
	typeSetattr, typeDelattr = addSetters(t)
	typeCall = addMethod(t, "__call__", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		return args[0].(*Type).instantiate(in, slices.Clone(args[1:]), kw)
	})
	typeInstanceCheck = addMethod(t, "__instancecheck__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return answer(in.instanceOf(args[1], args[0]))
	})
	typeSubclassCheck = addMethod(t, "__subclasscheck__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return answer(in.subclassOf(args[1], args[0]))
	})
	addMethod(t, "mro", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		t := args[0].(*Type)
		mro, err := t.linearize(in, t.Bases)
		if err != nil {
			return nil, err
		}
		l := &List{}
		for _, b := range mro {
			l.Items = append(l.Items, b)
		}
		return l, nil
	})
	addMethod(t, "__subclasses__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		l := &List{}
		for _, b := range in.subclassesOf(args[0].(*Type)) {
			l.Items = append(l.Items, b)
		}
		return l, nil
	})
	addMethod(t, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return Str("<class '" + args[0].(*Type).FullName() + "'>"), nil
	})
	addMethod(t, "__or__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return makeUnion(args[0], args[1]), nil })
	addMethod(t, "__ror__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return makeUnion(args[1], args[0]), nil })
	addClass(t, "__prepare__", func(in *Interp, args []Object, kw []KwArg) (Object, error) { return NewDict(), nil })
	str := func(name string, get func(t *Type) string, set func(t *Type, s string)) {
		addGetSet(t, name, func(in *Interp, self Object) (Object, error) { return Str(get(self.(*Type))), nil }, func(in *Interp, self, v Object) error {
			c := self.(*Type)
			if !c.Heap {
				return in.Errorf(in.Exc.TypeError, "cannot set '%s' attribute of immutable type '%s'", name, c.errName())
			}
			s, ok := AsStr(v)
			if !ok {
				return in.Errorf(in.Exc.TypeError, "can only assign string to %s.%s, not '%s'", c.Name, name, TypeName(v))
			}
			if name == "__name__" {
				if err := checkTypeName(in, s); err != nil {
					return err
				}
			}
			set(c, s)
			return nil
		})
	}
	str("__name__", func(t *Type) string { return t.Name }, func(t *Type, s string) { t.Name = s })
	str("__qualname__", func(t *Type) string { return t.Qualname }, func(t *Type, s string) { t.Qualname = s })
	addGetSet(t, "__module__", func(in *Interp, self Object) (Object, error) {
		if v, ok := self.(*Type).Dict.GetStr("__module__"); ok {
			if _, isDescr := v.(*GetSet); !isDescr {
				return self.(*Type).bindOwn(in, v)
			}
		}
		return Str(self.(*Type).Module), nil
	}, func(in *Interp, self, v Object) error {
		c := self.(*Type)
		if s, ok := AsStr(v); ok {
			c.Module = s
		}
		c.SetAttr("__module__", v)
		return nil
	})
	addGetSet(t, "__mro__", func(in *Interp, self Object) (Object, error) {
		var items []Object
		for _, b := range self.(*Type).MRO {
			items = append(items, b)
		}
		return NewTuple(items...), nil
	}, nil)
	addGetSet(t, "__bases__", func(in *Interp, self Object) (Object, error) {
		var items []Object
		for _, b := range self.(*Type).Bases {
			items = append(items, b)
		}
		return NewTuple(items...), nil
	}, func(in *Interp, self, v Object) error { return self.(*Type).setBases(in, v) })
	addGetSet(t, "__base__", func(in *Interp, self Object) (Object, error) {
		if b := self.(*Type).extends(); b != nil {
			return b, nil
		}
		return None, nil
	}, nil)
	addGetSet(t, "__dict__", func(in *Interp, self Object) (Object, error) { return &MappingProxy{self.(*Type).Dict}, nil }, nil)
	addGetSet(t, "__basicsize__", func(in *Interp, self Object) (Object, error) {
		return MakeInt(16 + 8*int64(self.(*Type).NumSlots)), nil
	}, nil)
	addGetSet(t, "__itemsize__", func(in *Interp, self Object) (Object, error) {
		return MakeInt(itemSizes[self.(*Type).solid().Name]), nil
	}, nil)
	addGetSet(t, "__dictoffset__", func(in *Interp, self Object) (Object, error) { return MakeInt(dictOffset(self.(*Type))), nil }, nil)
	addGetSet(t, "__weakrefoffset__", func(in *Interp, self Object) (Object, error) { return MakeInt(dictOffset(self.(*Type))), nil }, nil)
	addGetSet(t, "__flags__", func(in *Interp, self Object) (Object, error) {
		n := int64(0)
		if self.(*Type).Heap {
			n |= 1 << 9
		}
		return MakeInt(n), nil
	}, nil)
	addDeletable(t, "__annotations__", func(in *Interp, self Object) (Object, error) {
		c := self.(*Type)
		if v, ok := c.Dict.GetStr("__annotations__"); ok {
			return v, nil
		}
		if !c.Heap {
			return nil, in.noAttr(c, "__annotations__")
		}
		d := NewDict()
		c.Dict.SetStr("__annotations__", d)
		return d, nil
	}, func(in *Interp, self, v Object) error {
		c := self.(*Type)
		if !c.Heap {
			return in.Errorf(in.Exc.TypeError, "cannot set '__annotations__' attribute of immutable type '%s'", c.errName())
		}
		if v != nil {
			c.SetAttr("__annotations__", v)
		} else if !c.Dict.DelStr("__annotations__") {
			return in.Errorf(in.Exc.AttributeError, "__annotations__")
		}
		c.modified()
		return nil
	})
	addGetSet(t, "__doc__", func(in *Interp, self Object) (Object, error) {
		if v, ok := self.(*Type).Dict.GetStr("__doc__"); ok {
			if _, isDescr := v.(*GetSet); !isDescr {
				return self.(*Type).bindOwn(in, v)
			}
		}
		return None, nil
	}, func(in *Interp, self, v Object) error {
		c := self.(*Type)
		if !c.Heap || c.fixed {
			return in.Errorf(in.Exc.TypeError, "cannot set '__doc__' attribute of immutable type '%s'", c.errName())
		}
		c.SetAttr("__doc__", v)
		return nil
	})
	addDeletable(t, "__abstractmethods__", func(in *Interp, self Object) (Object, error) {
		if v, ok := self.(*Type).Dict.GetStr("__abstractmethods__"); ok && self != TypeType {
			return v, nil
		}
		return nil, in.attrError(self, "__abstractmethods__", "__abstractmethods__")
	}, func(in *Interp, self, v Object) error {
		c := self.(*Type)
		if v == nil {
			if c == TypeType || !c.Dict.DelStr("__abstractmethods__") {
				return in.attrError(self, "__abstractmethods__", "__abstractmethods__")
			}
			c.modified()
			return nil
		}
		c.SetAttr("__abstractmethods__", v)
		return nil
	})
	addGetSet(t, "__text_signature__", func(in *Interp, self Object) (Object, error) { return self.(*Type).textSig(), nil }, nil)
}

// makeUnion is a | b of types, without repetitions; NotImplemented for what is none.
func makeUnion(a, b Object) Object {
	var items []Object
	add := func(o Object) {
		if u, ok := o.(*UnionType); ok {
			items = append(items, u.Args.Items...)
			return
		}
		if o == None {
			o = NoneTypeType
		}
		items = append(items, o)
	}
	switch b.(type) {
	case *Type, *UnionType, *GenericAlias, *NoneType:
	default:
		return NotImplemented
	}
	switch a.(type) {
	case *Type, *UnionType, *GenericAlias, *NoneType:
	default:
		return NotImplemented
	}
	add(a)
	add(b)
	var out []Object
	for _, it := range items {
		dup := false
		for _, o := range out {
			dup = dup || Is(o, it) || sameAlias(o, it)
		}
		if !dup {
			out = append(out, it)
		}
	}
	if len(out) == 1 {
		return out[0]
	}
	return &UnionType{NewTuple(out...)}
}

// dir is dir(o): the names of __dir__, in order.
func (in *Interp) dir(o Object) (*List, error) {
	v, ok, err := Object(nil), false, error(nil)
	if t, isType := o.(*Type); isType && t.Type().Lookup("__dir__") == TypeType.Lookup("__dir__") {
		v, err = dirOf(in, t)
	} else if v, ok, err = in.Special(o, "__dir__"); err == nil && !ok {
		return nil, in.Errorf(in.Exc.TypeError, "object does not provide __dir__")
	}
	if err != nil {
		return nil, err
	}
	items, err := in.IterAll(v)
	if err != nil {
		return nil, err
	}
	return &List{items}, sortItems(in, items, None, false)
}

// dirOf is what object.__dir__, type.__dir__ and module.__dir__ give for an object.
func dirOf(in *Interp, o Object) (Object, error) {
	names := map[string]bool{}
	addDict := func(d *Dict) {
		d.Each(func(k, _ Object) bool {
			if s, ok := k.(Str); ok {
				names[string(s)] = true
			}
			return true
		})
	}
	switch o := o.(type) {
	case *Type:
		for _, b := range o.MRO {
			addDict(b.Dict)
		}
	case *Module:
		v, err := in.GetAttr(o, "__dict__")
		if err != nil {
			return nil, err
		}
		d, ok := AsDict(v)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "<module>.__dict__ is not a dictionary")
		}
		addDict(d)
	default:
		v, err := in.GetAttrOpt(o, "__dict__")
		if err != nil {
			return nil, err
		}
		if d, ok := AsDict(v); ok {
			addDict(d)
		}
		if v, err = in.GetAttrOpt(o, "__class__"); err != nil {
			return nil, err
		}
		if t, ok := v.(*Type); ok {
			for _, b := range t.MRO {
				addDict(b.Dict)
			}
		}
	}
	l := &List{}
	for _, n := range sortedKeys(names) {
		l.Items = append(l.Items, Str(n))
	}
	return l, nil
}

// checkTypeName refuses names that C could not hold.
func checkTypeName(in *Interp, s string) error {
	if strings.IndexByte(s, 0) >= 0 {
		return in.Errorf(in.Exc.ValueError, "type name must not contain null characters")
	}
	_, err := in.Encode(s, "utf-8", "strict")
	return err
}

// itemSizes are __itemsize__ of the types whose objects are longer the more they hold, as in CPython on a machine of 64 bits.
var itemSizes = map[string]int64{"int": 4, "bool": 4, "tuple": 8, "bytes": 1, "type": 40}

// dictOffset is not zero for classes whose instances have a __dict__.
func dictOffset(t *Type) int64 {
	if t.HasDict {
		return 16
	}
	return 0
}
