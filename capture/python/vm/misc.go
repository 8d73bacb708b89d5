package vm

import (
	"math"
	"math/big"
	"slices"

	"whittle/capture/python/wtf8"
)

// initIterators makes enumerate, zip, map, filter and reversed.
func initIterators() {
	hinted := map[*Type]bool{}
	for _, t := range []*Type{IteratorType, ListIterType, TupleIterType, RangeIterType, StrIterType, strWideIterType, SetIterType, BytesIterType, ByteArrayIterType, LongRangeIterType,
		ListReverseIterType, DictKeyIterType, DictValueIterType, DictItemIterType, DictReverseKeyIterType, DictReverseValueIterType, DictReverseItemIterType, ReversedType} {
		hinted[t] = true
	}
	for _, t := range []*Type{IteratorType, ListIterType, TupleIterType, RangeIterType, StrIterType, strWideIterType, SetIterType, BytesIterType, ByteArrayIterType, CallableIterType, LongRangeIterType, ListReverseIterType, MemoryIterType, genericAliasIterType, DictKeyIterType, DictValueIterType, DictItemIterType, DictReverseKeyIterType, DictReverseValueIterType, DictReverseItemIterType, EnumerateType, ZipType, MapType, FilterType, ReversedType} {
		addMethod(t, "__iter__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return args[0], nil })
		addMethod(t, "__next__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			it, ok := unwrap(args[0]).(Iterator)
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "'%s' object is not an iterator", TypeName(args[0]))
			}
			v, err := it.Next(in)
			if err == nil && v == nil {
				err = in.stopIteration(None)
			}
			return v, err
		})
		if t != MemoryIterType {
			addMethod(t, "__reduce__", 0, 0, reduceIterator)
		}
		if !hinted[t] {
			continue
		}
		addMethod(t, "__length_hint__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			switch x := args[0].(type) {
			case *rangeIter:
				return MakeInt(x.n), nil
			case *listIter:
				if x.l != nil {
					return MakeInt(int64(max(len(x.l.Items)-x.i, 0))), nil
				}
			case *dictIter:
				return MakeInt(int64(x.left())), nil
			case *GoIter:
				if x.Left != nil {
					if n := x.Left(); n >= 0 {
						return MakeInt(int64(n)), nil
					}
					return NotImplemented, nil
				}
			case *tupleIter:
				return MakeInt(int64(len(x.rest()))), nil
			case *strIter:
				return MakeInt(int64(wtf8.RuneCountInString(x.rest()))), nil
			}
			return MakeInt(0), nil
		})
	}
	for t, own := range map[*Type]bool{ListIterType: true, TupleIterType: true, StrIterType: true, strWideIterType: true, RangeIterType: true, BytesIterType: true, ByteArrayIterType: true,
		LongRangeIterType: true, ListReverseIterType: true, ReversedType: true, ZipType: true, IteratorType: true} {
		if own {
			addMethod(t, "__setstate__", 1, 1, setIteratorState)
		}
	}
	EnumerateType.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		a, err := in.ParseArgs("enumerate", args, kw, "iterable, start=0")
		if err != nil {
			return nil, err
		}
		it, err := in.Iter(a[0])
		if err != nil {
			return nil, err
		}
		start, err := in.IndexBig(a[1])
		if err != nil {
			return nil, err
		}
		if next := start; !start.IsInt64() || start.Int64() > math.MaxInt64/2 {
			return wrap(cls, EnumerateType, &GoIter{T: EnumerateType, Reduce: func(_ *Interp, cls *Type) (Object, error) {
				return NewTuple(cls, NewTuple(it, MakeBig(next))), nil
			}, NextFn: func(in *Interp) (Object, error) {
				v, err := in.Next(it)
				if v == nil || err != nil {
					return nil, err
				}
				i := MakeBig(next)
				next = new(big.Int).Add(next, big.NewInt(1))
				return newPair(i, v), nil
			}}), nil
		}
		n := start.Int64()
		return wrap(cls, EnumerateType, &GoIter{T: EnumerateType, Reduce: func(_ *Interp, cls *Type) (Object, error) {
			return NewTuple(cls, NewTuple(it, MakeInt(n))), nil
		}, NextFn: func(in *Interp) (Object, error) {
			v, err := in.Next(it)
			if v == nil || err != nil {
				return nil, err
			}
			n++
			return newPair(in.boxInt(n-1), v), nil
		}, pair: func(in *Interp) (a, b Object, err error) {
			if b, err = in.Next(it); b == nil || err != nil {
				return nil, nil, err
			}
			n++
			return in.boxInt(n - 1), b, nil
		}}), nil
	}
	ZipType.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		a, err := in.ParseArgs("zip", args, kw, "*iterables, strict=False")
		if err != nil {
			return nil, err
		}
		strict, err := in.Truth(a[1])
		if err != nil {
			return nil, err
		}
		its := make([]Object, len(args))
		for i, x := range args {
			if its[i], err = in.Iter(x); err != nil {
				if in.Matches(err, in.Exc.TypeError) && x.Type().Lookup("__iter__") == nil {
					err = in.Errorf(in.Exc.TypeError, "'%s' object is not iterable", TypeName(x))
				}
				return nil, err
			}
		}
		done := false
		zip := &GoIter{T: ZipType}
		*zip = GoIter{T: ZipType, Reduce: func(_ *Interp, cls *Type) (Object, error) {
			if strict {
				return NewTuple(cls, NewTuple(slices.Clone(its)...), True), nil
			}
			return NewTuple(cls, NewTuple(slices.Clone(its)...)), nil
		}, SetState: func(in *Interp, state Object) (err error) {
			strict, err = in.Truth(state)
			zip.pair = nil
			return err
		}, NextFn: func(in *Interp) (Object, error) {
			if done || len(its) == 0 {
				return nil, nil
			}
			out := newItems(len(its))
			for i, it := range its {
				v, err := in.Next(it)
				if err != nil {
					return nil, err
				}
				if v == nil {
					done = true
					if strict {
						if i > 0 {
							pl := ""
							if i > 1 {
								pl = "s 1-" + itoa(i)
							} else {
								pl = " 1"
							}
							return nil, in.Errorf(in.Exc.ValueError, "zip() argument %d is shorter than argument%s", i+1, pl)
						}
						for j, it := range its[1:] {
							v, err := in.Next(it)
							if err != nil {
								return nil, err
							}
							if v != nil {
								pl := " 1"
								if j > 0 {
									pl = "s 1-" + itoa(j+1)
								}
								return nil, in.Errorf(in.Exc.ValueError, "zip() argument %d is longer than argument%s", j+2, pl)
							}
						}
					}
					return nil, nil
				}
				out.Items[i] = v
			}
			return out, nil
		}}
		if len(its) == 2 && !strict {
			zip.pair = func(in *Interp) (a, b Object, err error) {
				if done {
					return nil, nil, nil
				}
				if a, err = in.Next(its[0]); a != nil && err == nil {
					b, err = in.Next(its[1])
				}
				if err != nil {
					return nil, nil, err
				}
				if b == nil {
					done = true
					return nil, nil, nil
				}
				return a, b, nil
			}
		}
		return wrap(cls, ZipType, zip), nil
	}
	MapType.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		if err := noKeywords(in, "map", cls, kw); err != nil {
			return nil, err
		}
		if len(args) < 2 {
			return nil, in.Errorf(in.Exc.TypeError, "map() must have at least two arguments.")
		}
		f := args[0]
		its := make([]Object, len(args)-1)
		var err error
		for i, x := range args[1:] {
			if its[i], err = in.Iter(x); err != nil {
				return nil, err
			}
		}
		return wrap(cls, MapType, &GoIter{T: MapType, Reduce: func(_ *Interp, cls *Type) (Object, error) {
			return NewTuple(cls, NewTuple(append([]Object{f}, its...)...)), nil
		}, NextFn: func(in *Interp) (Object, error) {
			a := make([]Object, len(its))
			for i, it := range its {
				v, err := in.Next(it)
				if v == nil || err != nil {
					return nil, err
				}
				a[i] = v
			}
			return in.Call(f, a, nil)
		}}), nil
	}
	FilterType.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		if err := noKeywords(in, "filter", cls, kw); err != nil {
			return nil, err
		}
		if len(args) != 2 {
			return nil, in.Errorf(in.Exc.TypeError, "filter expected 2 arguments, got %d", len(args))
		}
		f := args[0]
		it, err := in.Iter(args[1])
		if err != nil {
			return nil, err
		}
		return wrap(cls, FilterType, &GoIter{T: FilterType, Reduce: func(_ *Interp, cls *Type) (Object, error) {
			return NewTuple(cls, NewTuple(f, it)), nil
		}, NextFn: func(in *Interp) (Object, error) {
			for {
				v, err := in.Next(it)
				if v == nil || err != nil {
					return nil, err
				}
				r := v
				if f != None {
					if r, err = in.Call(f, []Object{v}, nil); err != nil {
						return nil, err
					}
				}
				ok, err := in.Truth(r)
				if err != nil {
					return nil, err
				}
				if ok {
					return v, nil
				}
			}
		}}), nil
	}
	ReversedType.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		if err := noKeywords(in, "reversed", cls, kw); err != nil {
			return nil, err
		}
		if len(args) != 1 {
			return nil, in.Errorf(in.Exc.TypeError, "reversed expected 1 argument, got %d", len(args))
		}
		o := args[0]
		if o.Type().Lookup("__reversed__") == None {
			return nil, in.Errorf(in.Exc.TypeError, "'%s' object is not reversible", TypeName(o))
		}
		if v, ok, err := in.Special(o, "__reversed__"); ok || err != nil {
			return v, err
		}
		if t := o.Type(); t.Heap && t.Lookup("__getitem__") != nil && t.Lookup("__len__") == nil {
			return nil, in.Errorf(in.Exc.TypeError, "object of type '%s' has no len()", t.errName())
		}
		if o.Type().Lookup("__getitem__") == nil || o.Type().Lookup("__len__") == nil || o.Type() == DictType {
			return nil, in.Errorf(in.Exc.TypeError, "'%s' object is not reversible", TypeName(o))
		}
		n, err := in.Len(o)
		if err != nil {
			return nil, err
		}
		return wrap(cls, ReversedType, reversedIter(o, int64(n))), nil
	}
}

// noKeywords refuses keywords, unless they are for the __init__ of a derived class.
func noKeywords(in *Interp, name string, cls *Type, kw []KwArg) error {
	if len(kw) > 0 && cls.Lookup("__init__") == objectInit {
		return in.Errorf(in.Exc.TypeError, "%s() takes no keyword arguments", name)
	}
	return nil
}

// initMisc gives the small types what they have: slices, cells, modules, properties and other descriptors, super.
func initMisc() {
	p := PropertyType
	initProperty()
	prop := func(o Object) *Property { x, _ := unwrap(o).(*Property); return x }
	for name, get := range map[string]func(p *Property) Object{"fget": func(p *Property) Object { return p.Get }, "fset": func(p *Property) Object { return p.Set },
		"fdel": func(p *Property) Object { return p.Del }, "__doc__": func(p *Property) Object { return p.Doc }} {
		var set func(in *Interp, o, v Object) error
		if name == "__doc__" {
			set = func(in *Interp, o, v Object) error { prop(o).Doc = v; return nil }
		}
		addGetSet(p, name, func(in *Interp, o Object) (Object, error) { return orNone(get(prop(o))), nil }, set)
	}
	addGetSet(p, "__isabstractmethod__", func(in *Interp, o Object) (Object, error) {
		for _, f := range []Object{prop(o).Get, prop(o).Set, prop(o).Del} {
			if f == nil {
				continue
			}
			v, err := in.GetAttrOpt(f, "__isabstractmethod__")
			if err != nil {
				return nil, err
			}
			if yes, err := in.Truth(orNil(v)); err != nil || yes {
				return MakeBool(yes), err
			}
		}
		return False, nil
	}, nil)
	addGet(p, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if args[1] == None {
			return args[0], nil
		}
		return in.bindDescr(prop(args[0]), args[1], args[1].Type())
	})
	addMethod(p, "__set__", 2, 2, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		x := prop(args[0])
		if x.Set == nil {
			return nil, x.lacks(in, args[1].Type(), "setter")
		}
		return in.Call(x.Set, args[1:], nil)
	})
	addMethod(p, "__delete__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		x := prop(args[0])
		if x.Del == nil {
			return nil, x.lacks(in, args[1].Type(), "deleter")
		}
		return in.Call(x.Del, args[1:], nil)
	})
	for _, d := range []struct {
		t   *Type
		mk  func(f Object) Object
		get func(o Object) Object
		set func(o, f Object)
	}{
		{ClassMethodType, func(f Object) Object { return &ClassMethod{Func: f} }, func(o Object) Object { return unwrap(o).(*ClassMethod).Func }, func(o, f Object) { unwrap(o).(*ClassMethod).Func = f }},
		{StaticMethodType, func(f Object) Object { return &StaticMethod{Func: f} }, func(o Object) Object { return unwrap(o).(*StaticMethod).Func }, func(o, f Object) { unwrap(o).(*StaticMethod).Func = f }},
	} {
		d.t.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
			return wrap(cls, d.t, d.mk(None)), nil
		}
		addMethod(d.t, "__init__", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
			if len(kw) > 0 {
				return nil, in.Errorf(in.Exc.TypeError, "%s() takes no keyword arguments", d.t.Name)
			}
			if len(args) != 2 {
				return nil, in.Errorf(in.Exc.TypeError, "%s expected 1 argument, got %d", d.t.Name, len(args)-1)
			}
			d.set(args[0], args[1])
			return None, nil
		})
		names := []string{"__module__", "__name__", "__qualname__", "__doc__", "__annotations__"}
		addGetSet(d.t, "__dict__", func(in *Interp, o Object) (Object, error) {
			hd, ok := unwrap(o).(HasDict)
			if !ok {
				return nil, in.noAttr(o, "__dict__")
			}
			dict := hd.AttrDict(true)
			for _, n := range names { // of the function, as functools.wraps takes them over
				v, err := in.GetAttrOpt(d.get(o), n)
				if err != nil {
					return nil, err
				}
				if v != nil {
					dict.setDefault(n, v)
				}
			}
			return dict, nil
		}, nil)
		for _, n := range []string{"__func__", "__wrapped__"} {
			addGetSet(d.t, n, func(in *Interp, o Object) (Object, error) { return d.get(o), nil }, nil)
		}
		for _, n := range append(names, "__isabstractmethod__") {
			addGetSet(d.t, n, func(in *Interp, o Object) (Object, error) { return in.GetAttr(d.get(o), n) }, nil)
		}
		addGet(d.t, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			if d.t == StaticMethodType {
				return d.get(args[0]), nil
			}
			c := unwrap(args[0]).(*ClassMethod)
			cls := Object(args[1].Type())
			if len(args) > 2 && args[2] != None {
				cls = args[2]
			}
			t, ok := cls.(*Type)
			if !ok {
				return &BoundMethod{c.Func, cls}, nil
			}
			return c.bind(in, t)
		})
		addMethod(d.t, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			s, err := in.Repr(d.get(args[0]))
			return Str("<" + d.t.Name + "(" + s + ")>"), err
		})
	}
	for _, n := range []string{"__name__", "__qualname__", "__doc__", "__text_signature__"} {
		addGetSet(ClassMethodDescrType, n, func(in *Interp, o Object) (Object, error) { return in.GetAttr(o.(*ClassMethod).Func, n) }, nil)
	}
	addGetSet(ClassMethodDescrType, "__objclass__", func(_ *Interp, o Object) (Object, error) { return o.(*ClassMethod).native().Owner, nil }, nil)
	addMethod(ClassMethodDescrType, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		b := args[0].(*ClassMethod).native()
		return Str("<method '" + b.Name + "' of '" + b.Owner.FullName() + "' objects>"), nil
	})
	addMethod(ClassMethodDescrType, "__call__", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		c := args[0].(*ClassMethod)
		b := c.native()
		if len(args) < 2 {
			return nil, in.Errorf(in.Exc.TypeError, "descriptor '%s' of '%s' object needs an argument", b.Name, b.Owner.errName())
		}
		if t, ok := args[1].(*Type); !ok || !t.IsSubtype(b.Owner) {
			return nil, in.Errorf(in.Exc.TypeError, "descriptor '%s' requires a subtype of '%s' but received '%s'", b.Name, b.Owner.errName(), TypeName(args[1]))
		}
		return in.Call(b, slices.Clone(args[1:]), kw)
	})
	addGet(ClassMethodDescrType, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		c, cls := args[0].(*ClassMethod), Object(args[1].Type())
		b := c.native()
		switch {
		case len(args) > 2 && args[2] != None:
			cls = args[2]
		case args[1] == None:
			return nil, in.Errorf(in.Exc.TypeError, "descriptor '%s' for type '%s' needs either an object or a type", b.Name, b.Owner.errName())
		}
		t, ok := cls.(*Type)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "descriptor '%s' for type '%s' needs a type, not a '%s' as arg 2", b.Name, b.Owner.Name, TypeName(cls))
		}
		if !t.IsSubtype(b.Owner) {
			return nil, in.Errorf(in.Exc.TypeError, "descriptor '%s' requires a subtype of '%s' but received '%s'", b.Name, b.Owner.errName(), t.errName())
		}
		return c.bind(in, t)
	})
	addMethod(StaticMethodType, "__call__", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		return in.Call(unwrap(args[0]).(*StaticMethod).Func, slices.Clone(args[1:]), kw)
	})
	for _, d := range []*Type{GetSetType, MemberType} {
		parts := func(o Object) (t *Type, name, doc string) {
			if m, ok := o.(*Member); ok {
				return m.Own, m.Name, ""
			}
			g := o.(*GetSet)
			return g.own, g.Name, g.Doc
		}
		own := func(in *Interp, o Object, name string) (*Type, string, error) {
			t, n, _ := parts(o)
			if t == nil {
				return nil, "", in.noAttr(o, name)
			}
			return t, n, nil
		}
		applies := func(in *Interp, x, o Object) error {
			if own, name, _ := parts(x); own != nil && !o.Type().IsSubtype(own) {
				return in.Errorf(in.Exc.TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", name, own.errName(), o.Type().errName())
			}
			return nil
		}
		addGet(d, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			if args[1] == None {
				return args[0], nil
			}
			if err := applies(in, args[0], args[1]); err != nil {
				return nil, err
			}
			return in.bindDescr(args[0], args[1], args[1].Type())
		})
		for name, n := range map[string]int{"__set__": 2, "__delete__": 1} {
			addMethod(d, name, n, n, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
				if err := applies(in, args[0], args[1]); err != nil {
					return nil, err
				}
				var v Object
				if n == 2 {
					v = args[2]
				}
				_, attr, _ := parts(args[0])
				_, err := in.setDescr(args[0], args[1], attr, v)
				return None, err
			})
		}
		addGetSet(d, "__name__", func(in *Interp, o Object) (Object, error) {
			_, n, _ := parts(o)
			return Str(n), nil
		}, nil)
		addGetSet(d, "__doc__", func(in *Interp, o Object) (Object, error) {
			if _, _, doc := parts(o); doc != "" {
				return Str(doc), nil
			}
			return None, nil
		}, nil)
		addGetSet(d, "__objclass__", func(in *Interp, o Object) (Object, error) {
			t, _, err := own(in, o, "__objclass__")
			if err != nil {
				return nil, err
			}
			return t, nil
		}, nil)
		addGetSet(d, "__qualname__", func(in *Interp, o Object) (Object, error) {
			t, n, err := own(in, o, "__qualname__")
			if err != nil {
				return nil, err
			}
			return Str(t.Name + "." + n), nil
		}, nil)
	}

	initSuper()
	addBasics(SuperType, "repr")

	initModule()
	for _, t := range []*Type{ModuleType, NoneTypeType, EllipsisTypeType, NotImplementedTypeType, GenericAliasType, UnionTypeType, CellType, FrameType, GetSetType, MemberType} {
		addBasics(t, "repr")
	}
	UnionTypeType.byKey = true
	addBasics(NoneTypeType, "bool hash")
	for t, o := range map[*Type]Object{NoneTypeType: None, EllipsisTypeType: Ellipsis, NotImplementedTypeType: NotImplemented} {
		t.Final = true
		t.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
			if len(args)+len(kw) > 0 {
				return nil, in.Errorf(in.Exc.TypeError, "%s takes no arguments", t.Name)
			}
			return o, nil
		}
	}

	initGenericAlias()
	addGetSet(UnionTypeType, "__args__", func(in *Interp, o Object) (Object, error) { return o.(*UnionType).Args, nil }, nil)
	for _, t := range []*Type{GenericAliasType, UnionTypeType} {
		addMethod(t, "__or__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return makeUnion(args[0], args[1]), nil })
		addMethod(t, "__ror__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return makeUnion(args[1], args[0]), nil })
	}
	addMethod(UnionTypeType, "__eq__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		x := args[0].(*UnionType)
		y, ok := args[1].(*UnionType)
		if !ok {
			return NotImplemented, nil // typing.Union has its own idea of equality
		}
		if len(x.Args.Items) != len(y.Args.Items) {
			return False, nil
		}
		for _, a := range x.Args.Items {
			found, err := in.Contains(y.Args, a)
			if err != nil || !found {
				return False, err
			}
		}
		return True, nil
	})
	addMethod(UnionTypeType, "__hash__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		s, err := in.Call(FrozenSetType, []Object{args[0].(*UnionType).Args}, nil)
		if err != nil {
			return nil, err
		}
		h, err := in.Hash(s)
		return MakeInt(int64(h)), err
	})
}
