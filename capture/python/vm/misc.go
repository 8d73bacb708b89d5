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
	for _, t := range []*Type{IteratorType, ListIterType, TupleIterType, RangeIterType, StrIterType, SetIterType, BytesIterType, ByteArrayIterType, LongRangeIterType,
		ListReverseIterType, DictKeyIterType, DictValueIterType, DictItemIterType, ReversedType} {
		hinted[t] = true
	}
	for _, t := range []*Type{IteratorType, ListIterType, TupleIterType, RangeIterType, StrIterType, SetIterType, BytesIterType, ByteArrayIterType, CallableIterType, LongRangeIterType, ListReverseIterType, MemoryIterType, DictKeyIterType, DictValueIterType, DictItemIterType, EnumerateType, ZipType, MapType, FilterType, ReversedType} {
		addMethod(t, "__iter__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return args[0], nil })
		addMethod(t, "__next__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			it, ok := unwrap(args[0]).(Iterator)
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "'%s' object is not an iterator", args[0].Type().Name)
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
					return MakeInt(int64(x.Left())), nil
				}
			case *tupleIter:
				return MakeInt(int64(len(x.items) - x.i)), nil
			case *strIter:
				return MakeInt(int64(wtf8.RuneCountInString(x.s[x.i:]))), nil
			}
			return MakeInt(0), nil
		})
	}
	for t, own := range map[*Type]bool{ListIterType: true, TupleIterType: true, StrIterType: true, RangeIterType: true, BytesIterType: true, ByteArrayIterType: true,
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
					err = in.Errorf(in.Exc.TypeError, "'%s' object is not iterable", x.Type().Name)
				}
				return nil, err
			}
		}
		done := false
		return wrap(cls, ZipType, &GoIter{T: ZipType, Reduce: func(_ *Interp, cls *Type) (Object, error) {
			if strict {
				return NewTuple(cls, NewTuple(slices.Clone(its)...), True), nil
			}
			return NewTuple(cls, NewTuple(slices.Clone(its)...)), nil
		}, SetState: func(in *Interp, state Object) (err error) {
			strict, err = in.Truth(state)
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
		}}), nil
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
			return nil, in.Errorf(in.Exc.TypeError, "'%s' object is not reversible", o.Type().Name)
		}
		if v, ok, err := in.special(o, "__reversed__"); ok || err != nil {
			return v, err
		}
		if t := o.Type(); t.Heap && t.Lookup("__getitem__") != nil && t.Lookup("__len__") == nil {
			return nil, in.Errorf(in.Exc.TypeError, "object of type '%s' has no len()", t.Name)
		}
		if o.Type().Lookup("__getitem__") == nil || o.Type().Lookup("__len__") == nil || o.Type() == DictType {
			return nil, in.Errorf(in.Exc.TypeError, "'%s' object is not reversible", o.Type().Name)
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
		addGetSet(p, name, func(in *Interp, o Object) (Object, error) { return orNone(get(prop(o))), nil }, func(in *Interp, o, v Object) error {
			if name == "__doc__" {
				prop(o).Doc = v
			}
			return nil
		})
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
	addMethod(p, "__get__", 1, 2, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
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
		for _, n := range []string{"__func__", "__wrapped__"} {
			addGetSet(d.t, n, func(in *Interp, o Object) (Object, error) { return d.get(o), nil }, nil)
		}
		for _, n := range []string{"__name__", "__qualname__", "__doc__", "__isabstractmethod__", "__annotations__", "__module__"} {
			addGetSet(d.t, n, func(in *Interp, o Object) (Object, error) { return in.GetAttr(d.get(o), n) }, nil)
		}
		addMethod(d.t, "__get__", 1, 2, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			if d.t == StaticMethodType {
				return d.get(args[0]), nil
			}
			cls := args[1]
			if len(args) > 2 && args[2] != None {
				cls = args[2]
			} else {
				cls = cls.Type()
			}
			t, ok := cls.(*Type)
			if !ok {
				return &BoundMethod{d.get(args[0]), cls}, nil
			}
			return unwrap(args[0]).(*ClassMethod).bind(in, t)
		})
		addMethod(d.t, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			s, err := in.Repr(d.get(args[0]))
			return Str("<" + d.t.Name + "(" + s + ")>"), err
		})
	}
	addMethod(StaticMethodType, "__call__", 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		return in.Call(unwrap(args[0]).(*StaticMethod).Func, slices.Clone(args[1:]), kw)
	})
	addMethod(GetSetType, "__get__", 1, 2, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if args[1] == None {
			return args[0], nil
		}
		x := args[0].(*GetSet)
		if err := x.checkSelf(in, args[1]); err != nil {
			return nil, err
		}
		return x.Get(in, args[1])
	})
	for name, n := range map[string]int{"__set__": 2, "__delete__": 1} {
		addMethod(GetSetType, name, n, n, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			x := args[0].(*GetSet)
			if err := x.checkSelf(in, args[1]); err != nil {
				return nil, err
			}
			var v Object
			if n == 2 {
				v = args[2]
			}
			_, err := in.setDescr(x, args[1], x.Name, v)
			return None, err
		})
	}
	initDescriptorNames()
	addGetSet(GetSetType, "__name__", func(in *Interp, o Object) (Object, error) { return Str(o.(*GetSet).Name), nil }, nil)
	addGetSet(GetSetType, "__doc__", func(in *Interp, o Object) (Object, error) { return Str(o.(*GetSet).Doc), nil }, nil)
	for _, d := range []*Type{GetSetType, MemberType} {
		own := func(in *Interp, o Object, name string) (*Type, string, error) {
			t, n := (*Type)(nil), ""
			switch x := o.(type) {
			case *GetSet:
				t, n = x.own, x.Name
			case *Member:
				t, n = x.Own, x.Name
			}
			if t == nil {
				return nil, "", in.noAttr(o, name)
			}
			return t, n, nil
		}
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
	addGetSet(MemberType, "__name__", func(in *Interp, o Object) (Object, error) { return Str(o.(*Member).Name), nil }, nil)
	addMethod(MemberType, "__get__", 1, 2, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		if args[1] == None {
			return args[0], nil
		}
		return in.bindDescr(args[0], args[1], args[1].Type())
	})
	addMethod(MemberType, "__set__", 2, 2, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return None, in.genericSetAttr(args[1], args[0].(*Member).Name, args[2])
	})

	initSuper()
	addBasics(SuperType, "repr")

	initModule()
	for _, t := range []*Type{ModuleType, NoneTypeType, EllipsisTypeType, NotImplementedTypeType, GenericAliasType, UnionTypeType, CellType, FrameType, GetSetType, MemberType} {
		addBasics(t, "repr")
	}
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
		if !ok || len(x.Args.Items) != len(y.Args.Items) {
			return MakeBool(false), nil
		}
		for _, a := range x.Args.Items {
			found, err := in.Contains(y.Args, a)
			if err != nil || !found {
				return False, err
			}
		}
		return True, nil
	})
	addMethod(NoneTypeType, "__ror__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return makeUnion(args[1], args[0]), nil })
	addMethod(NoneTypeType, "__or__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return makeUnion(args[0], args[1]), nil })
}
