package vm

import (
	"slices"
)

// Append adds an item. Lists double as they grow: appends are frequent and a larger step saves copying.
func (l *List) Append(v Object) {
	n := len(l.Items)
	if n == 0 && cap(l.Items) == 0 {
		l.Items = make([]Object, 1, 4)
		l.Items[0] = v
		return
	}
	if n == cap(l.Items) && n >= 256 && n < 1<<24 {
		items := make([]Object, n, 2*n)
		copy(items, l.Items)
		l.Items = items
	}
	l.Items = append(l.Items, v)
}

// initSequences gives lists and tuples their methods.
func initSequences() {
	t := ListType
	t.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		if cls != ListType {
			return NewInstance(cls, &List{}), nil
		}
		return &List{}, nil
	}
	list := func(name string, lo, hi int, f func(in *Interp, l *List, args []Object) (Object, error)) {
		addMethod(t, name, lo, hi, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			l, ok := AsList(args[0])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "descriptor '%s' for 'list' objects doesn't apply to a '%s' object", name, TypeName(args[0]))
			}
			return f(in, l, args[1:])
		})
	}
	addKw(t, "__init__", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		l, ok := AsList(args[0])
		if !ok || len(args) > 2 {
			return nil, in.Errorf(in.Exc.TypeError, "list expected at most 1 argument, got %d", len(args)-1)
		}
		if len(kw) > 0 && args[0].Type().Lookup("__new__") == ListType.own("__new__") { // else they are for a __new__ of the class's own
			return nil, in.Errorf(in.Exc.TypeError, "list() takes no keyword arguments")
		}
		l.Items = nil
		if len(args) > 1 {
			items, err := in.IterAll(args[1])
			if err != nil {
				return nil, err
			}
			l.Items = items
		}
		return None, nil
	})
	addOps(t, nil, "+", "*")
	addCompare(t, nil, allCompare...)
	addBasics(t, "repr len iter getitem setitem delitem contains unhash")
	list("append", 1, 1, func(in *Interp, l *List, args []Object) (Object, error) {
		l.Append(args[0])
		return None, nil
	})
	list("extend", 1, 1, func(in *Interp, l *List, args []Object) (Object, error) {
		items, err := in.IterAll(args[0])
		l.Items = append(l.Items, items...)
		return None, err
	})
	list("__iadd__", 1, 1, func(in *Interp, l *List, args []Object) (Object, error) {
		items, err := in.IterAll(args[0])
		l.Items = append(l.Items, items...)
		return l, err
	})
	addMethod(t, "__iadd__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		l, _ := AsList(args[0])
		items, err := in.IterAll(args[1])
		l.Items = append(l.Items, items...)
		return args[0], err
	})
	imul := func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		l, _ := AsList(args[0])
		v, err := nativeBinary(in, "*", l, args[1])
		if v == nil && err == nil {
			v, err = repeated(in, "*", l, args[1])
		}
		if r, ok := v.(*List); ok && err == nil {
			l.Items = r.Items
			return args[0], nil
		}
		return v, err
	}
	addMethod(t, "__imul__", 1, 1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		v, err := imul(in, args, kw)
		if v == NotImplemented {
			return nil, in.Errorf(in.Exc.TypeError, "'%s' object cannot be interpreted as an integer", TypeName(args[1]))
		}
		return v, err
	}).(*Builtin).operand = imul
	list("insert", 2, 2, func(in *Interp, l *List, args []Object) (Object, error) {
		i, err := in.Index(args[0])
		if err != nil {
			return nil, err
		}
		n := int64(len(l.Items))
		if i < 0 {
			i = max(i+n, 0)
		}
		l.Items = slices.Insert(l.Items, int(min(i, n)), args[1])
		return None, nil
	})
	list("pop", 0, 1, func(in *Interp, l *List, args []Object) (Object, error) {
		n := len(l.Items)
		if n == 0 {
			return nil, in.Errorf(in.Exc.IndexError, "pop from empty list")
		}
		i := n - 1
		if len(args) > 0 {
			k, err := in.Index(args[0])
			if err != nil {
				return nil, err
			}
			if k < 0 {
				k += int64(n)
			}
			if k < 0 || k >= int64(n) {
				return nil, in.Errorf(in.Exc.IndexError, "pop index out of range")
			}
			i = int(k)
		}
		v := l.Items[i]
		if i == n-1 {
			l.Items[i] = nil
			l.Items = l.Items[:i]
		} else {
			l.Items = slices.Delete(l.Items, i, i+1)
		}
		return v, nil
	})
	list("remove", 1, 1, func(in *Interp, l *List, args []Object) (Object, error) {
		for i := 0; i < len(l.Items); i++ {
			ok, err := sameKey(in, l.Items[i], args[0])
			if err != nil {
				return nil, err
			}
			if ok {
				l.Items = slices.Delete(l.Items, i, i+1)
				return None, nil
			}
		}
		return nil, in.Errorf(in.Exc.ValueError, "list.remove(x): x not in list")
	})
	list("clear", 0, 0, func(in *Interp, l *List, args []Object) (Object, error) { l.Items = nil; return None, nil })
	list("copy", 0, 0, func(in *Interp, l *List, args []Object) (Object, error) { return &List{slices.Clone(l.Items)}, nil })
	list("reverse", 0, 0, func(in *Interp, l *List, args []Object) (Object, error) { slices.Reverse(l.Items); return None, nil })
	list("__reversed__", 0, 0, func(in *Interp, l *List, args []Object) (Object, error) {
		i := len(l.Items)
		return &GoIter{T: ListReverseIterType, NextFn: func(*Interp) (Object, error) {
			i--
			if i < 0 || i >= len(l.Items) {
				i = -1 // that is the end, whatever the list gets
				return nil, nil
			}
			return l.Items[i], nil
		}, Left: func() int {
			if i < 0 || i > len(l.Items) {
				return 0
			}
			return i
		}, Reduce: func(in *Interp, _ *Type) (Object, error) {
			if i < 0 {
				return remake(in, "reversed", &List{})
			}
			return remake(in, "reversed", l, MakeInt(int64(i-1)))
		}, SetState: func(in *Interp, state Object) error {
			n, err := stateIndex(in, state)
			if err == nil && i >= 0 {
				i = int(min(max(n, -1), int64(len(l.Items)-1))) + 1
			}
			return err
		}}, nil
	})
	addKw(t, "sort", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		if len(args) > 1 {
			return nil, in.Errorf(in.Exc.TypeError, "sort() takes no positional arguments")
		}
		a, err := in.ParseArgs("sort", args, kw, "self, *, key=None, reverse=False")
		if err != nil {
			return nil, err
		}
		l, ok := AsList(a[0])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "descriptor 'sort' for 'list' objects doesn't apply to a '%s' object", TypeName(a[0]))
		}
		rev, err := in.Truth(a[2])
		if err != nil {
			return nil, err
		}
		items := l.Items
		l.Items = nil
		err = sortItems(in, items, a[1], rev)
		if l.Items != nil && err == nil {
			err = in.Errorf(in.Exc.ValueError, "list modified during sort")
		}
		l.Items = items
		return None, err
	})
	index := func(typ *Type, items func(o Object) []Object) {
		addMethod(typ, "index", 1, 3, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			its := items(args[0])
			sl := &Slice{None, None, None}
			if len(args) > 2 {
				sl.Start = args[2]
			}
			if len(args) > 3 {
				sl.Stop = args[3]
			}
			start, stop, _, _, err := sl.indices(in, len(its))
			if err != nil {
				return nil, err
			}
			for i := start; i < stop && i < len(its); i++ {
				ok, err := sameKey(in, its[i], args[1])
				if err != nil {
					return nil, err
				}
				if ok {
					return MakeInt(int64(i)), nil
				}
			}
			if typ == TupleType {
				return nil, in.Errorf(in.Exc.ValueError, "tuple.index(x): x not in tuple")
			}
			s, err := in.Repr(args[1])
			if err != nil {
				return nil, err
			}
			return nil, in.Errorf(in.Exc.ValueError, "%s is not in list", s)
		})
		addMethod(typ, "count", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			n := int64(0)
			for _, it := range items(args[0]) {
				ok, err := sameKey(in, it, args[1])
				if err != nil {
					return nil, err
				}
				if ok {
					n++
				}
			}
			return MakeInt(n), nil
		})
	}
	index(ListType, func(o Object) []Object { l, _ := AsList(o); return l.Items })
	index(TupleType, func(o Object) []Object { l, _ := AsTuple(o); return l.Items })
	addClass(t, "__class_getitem__", genericAlias)
	addClass(TupleType, "__class_getitem__", genericAlias)
	addClass(DictType, "__class_getitem__", genericAlias)
	addClass(SetType, "__class_getitem__", genericAlias)
	addClass(FrozenSetType, "__class_getitem__", genericAlias)
	addClass(MappingProxyType, "__class_getitem__", genericAlias)
	addClass(EnumerateType, "__class_getitem__", genericAlias)

	tt := TupleType
	tt.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		if len(args) > 1 {
			return nil, in.Errorf(in.Exc.TypeError, "tuple expected at most 1 argument, got %d", len(args))
		}
		if len(args) == 0 {
			return wrap(cls, TupleType, emptyTuple), nil
		}
		if x, ok := args[0].(*Tuple); ok && cls == TupleType {
			return x, nil
		}
		items, err := in.IterAll(args[0])
		if err != nil {
			return nil, err
		}
		return wrap(cls, TupleType, NewTuple(items...)), nil
	}
	addOps(tt, nil, "+", "*")
	addCompare(tt, nil, allCompare...)
	addBasics(tt, "repr hash len iter getitem contains")
	addMethod(tt, "__getnewargs__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		x, _ := AsTuple(args[0])
		return NewTuple(x), nil
	})

	initRange()

	s := SliceType
	s.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		switch len(args) {
		case 1:
			return &Slice{None, args[0], None}, nil
		case 2:
			return &Slice{args[0], args[1], None}, nil
		case 3:
			return &Slice{args[0], args[1], args[2]}, nil
		}
		return nil, in.Errorf(in.Exc.TypeError, "slice expected at least 1 argument, got %d", len(args))
	}
	addBasics(s, "repr unhash")
	addGetSet(s, "start", func(in *Interp, o Object) (Object, error) { return o.(*Slice).Start, nil }, nil)
	addGetSet(s, "stop", func(in *Interp, o Object) (Object, error) { return o.(*Slice).Stop, nil }, nil)
	addGetSet(s, "step", func(in *Interp, o Object) (Object, error) { return o.(*Slice).Step, nil }, nil)
	addMethod(s, "__eq__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		x := args[0].(*Slice)
		y, ok := args[1].(*Slice)
		if !ok {
			return NotImplemented, nil
		}
		return compareSeq(in, "==", []Object{x.Start, x.Stop, x.Step}, []Object{y.Start, y.Stop, y.Step})
	})
	addMethod(s, "indices", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		n, err := in.IndexBig(args[1])
		if err != nil {
			return nil, err
		}
		if n.Sign() < 0 {
			return nil, in.Errorf(in.Exc.ValueError, "length should not be negative")
		}
		a, b, c, err := args[0].(*Slice).big(in, n)
		if err != nil {
			return nil, err
		}
		return NewTuple(MakeBig(a), MakeBig(b), MakeBig(c)), nil
	})
}

// genericAlias is __class_getitem__ of the containers.
func genericAlias(in *Interp, args []Object, kw []KwArg) (Object, error) {
	return newAlias(args[0], args[1]), nil
}

// dictView is keys(), values() or items() of a dict.
type dictView struct {
	d    *Dict
	kind uint8
	cls  *Type // nil: the built-in type
}

// NewDictView makes a view of a dict: 0 of its keys, 1 of its values, 2 of both, of a class that derives from that of dict's own.
func NewDictView(d *Dict, kind int, cls *Type) Object { return &dictView{d, uint8(kind), cls} }

// ViewOf is the dict that o is a view of, and what makes a view like o of another dict; ok is false where o is no view.
func ViewOf(o Object) (d *Dict, like func(*Dict) Object, ok bool) {
	v, ok := o.(*dictView)
	if !ok {
		return nil, nil, false
	}
	return v.d, func(d *Dict) Object { return &dictView{d, v.kind, v.cls} }, true
}

// Type implements Object.
func (v *dictView) Type() *Type {
	if v.cls != nil {
		return v.cls
	}
	return v.base()
}

// base is the class of dict's own views of that kind.
func (v *dictView) base() *Type {
	switch v.kind {
	case 1:
		return DictValuesType
	case 2:
		return DictItemsType
	}
	return DictKeysType
}

// items are the members of a view as they are now.
func (v *dictView) items() []Object {
	switch v.kind {
	case 1:
		return v.d.Values()
	case 2:
		out := make([]Object, 0, v.d.live)
		v.d.Each(func(k, x Object) bool { out = append(out, newPair(k, x)); return true })
		return out
	}
	return v.d.Keys()
}

// initDict gives dicts and their views their methods.
func initDict() {
	t := DictType
	t.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		return wrap(cls, DictType, NewDict()), nil
	}
	m := func(name string, lo, hi int, f func(in *Interp, d *Dict, args []Object) (Object, error)) {
		addMethod(t, name, lo, hi, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			d, ok := AsDict(args[0])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "descriptor '%s' for 'dict' objects doesn't apply to a '%s' object", name, TypeName(args[0]))
			}
			return f(in, d, args[1:])
		})
	}
	update := func(name string) GoFunc {
		return func(in *Interp, args []Object, kw []KwArg) (Object, error) {
			d, ok := AsDict(args[0])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "descriptor '%s' requires a 'dict' object", name)
			}
			if len(args) > 2 {
				return nil, in.Errorf(in.Exc.TypeError, "%s expected at most 1 argument, got %d", name, len(args)-1)
			}
			if len(args) > 1 {
				if err := d.update(in, args[1]); err != nil {
					return nil, err
				}
			}
			for _, k := range kw {
				d.SetStr(k.Name, k.Value)
			}
			return None, nil
		}
	}
	addKw(t, "__init__", update("dict"))
	addKw(t, "update", update("update"))
	addOps(t, nil, "|")
	addMethod(t, "__ior__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		d, _ := AsDict(args[0])
		return args[0], d.update(in, args[1])
	})
	addCompare(t, nil, "==", "!=")
	addBasics(t, "repr len iter setitem delitem contains unhash")
	addMethod(t, "__getitem__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		d, ok := AsDict(args[0])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "descriptor '__getitem__' requires a 'dict' object")
		}
		v, found, err := d.Get(in, args[1])
		if err != nil || found {
			return v, err
		}
		if _, sub := args[0].(*Instance); sub {
			if f := args[0].Type().Lookup("__missing__"); f != nil {
				return in.callSpecial(f, args[0], args[1])
			}
		}
		return nil, in.KeyError(args[1])
	})
	m("get", 1, 2, func(in *Interp, d *Dict, args []Object) (Object, error) {
		v, ok, err := d.Get(in, args[0])
		if ok || err != nil {
			return v, err
		}
		if len(args) > 1 {
			return args[1], nil
		}
		return None, nil
	})
	m("setdefault", 1, 2, func(in *Interp, d *Dict, args []Object) (Object, error) {
		v, ok, err := d.Get(in, args[0])
		if ok || err != nil {
			return v, err
		}
		v = None
		if len(args) > 1 {
			v = args[1]
		}
		return v, d.Set(in, args[0], v)
	})
	m("pop", 1, 2, func(in *Interp, d *Dict, args []Object) (Object, error) {
		var v Object
		var ok bool
		var err error
		if d.live > 0 { // the key is not even hashed for an empty dict
			v, ok, err = d.Get(in, args[0])
		}
		if err != nil {
			return nil, err
		}
		if !ok {
			if len(args) > 1 {
				return args[1], nil
			}
			return nil, in.KeyError(args[0])
		}
		_, err = d.Del(in, args[0])
		return v, err
	})
	m("popitem", 0, 0, func(in *Interp, d *Dict, args []Object) (Object, error) {
		if k, v, ok := d.Pop(true); ok {
			return newPair(k, v), nil
		}
		return nil, in.KeyError(Str("popitem(): dictionary is empty"))
	})
	m("clear", 0, 0, func(in *Interp, d *Dict, args []Object) (Object, error) { d.Clear(); return None, nil })
	m("copy", 0, 0, func(in *Interp, d *Dict, args []Object) (Object, error) { return d.Copy(), nil })
	m("keys", 0, 0, func(in *Interp, d *Dict, args []Object) (Object, error) { return &dictView{d: d}, nil })
	m("values", 0, 0, func(in *Interp, d *Dict, args []Object) (Object, error) { return &dictView{d: d, kind: 1}, nil })
	m("items", 0, 0, func(in *Interp, d *Dict, args []Object) (Object, error) { return &dictView{d: d, kind: 2}, nil })
	m("__reversed__", 0, 0, func(in *Interp, d *Dict, args []Object) (Object, error) {
		return reverseDictIter(d, 0), nil
	})
	addClass(t, "fromkeys", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		var v Object = None
		if len(args) > 2 {
			v = args[2]
		}
		switch {
		case len(kw) > 0:
			return nil, in.Errorf(in.Exc.TypeError, "dict.fromkeys() takes no keyword arguments")
		case len(args) < 2:
			return nil, in.Errorf(in.Exc.TypeError, "fromkeys expected at least 1 argument, got 0")
		case len(args) > 3:
			return nil, in.Errorf(in.Exc.TypeError, "fromkeys expected at most 2 arguments, got %d", len(args)-1)
		}
		o, err := in.Call(args[0], nil, nil)
		if err != nil {
			return nil, err
		}
		items, err := in.IterAll(args[1])
		if err != nil {
			return nil, err
		}
		for _, k := range items {
			if err := in.SetItem(o, k, v); err != nil {
				return nil, err
			}
		}
		return o, nil
	})
	for _, vt := range []*Type{DictKeysType, DictValuesType, DictItemsType} {
		view := func(o Object) *dictView { return o.(*dictView) }
		addMethod(vt, "__len__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			return MakeInt(int64(view(args[0]).d.live)), nil
		})
		addMethod(vt, "__iter__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return in.Iter(args[0]) })
		addGetSet(vt, "mapping", func(_ *Interp, o Object) (Object, error) { return &MappingProxy{view(o).d}, nil }, nil)
		addMethod(vt, "__reversed__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			return reverseDictIter(view(args[0]).d, view(args[0]).kind), nil
		})
		addMethod(vt, "__repr__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			s := "..."
			_, err := in.ReprGuard(args[0], func() (err error) {
				s, err = in.Repr(&List{view(args[0]).items()})
				return err
			})
			if s == "..." {
				return Str(s), err
			}
			return Str(args[0].Type().Name + "(" + s + ")"), err
		})
		if vt == DictValuesType {
			continue
		}
		vt.Dict.SetStr("__hash__", None)
		addMethod(vt, "__contains__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			v := view(args[0])
			if v.kind == 0 {
				_, ok, err := v.d.Get(in, args[1])
				return MakeBool(ok), err
			}
			p, ok := args[1].(*Tuple)
			if !ok || len(p.Items) != 2 {
				return False, nil
			}
			x, ok, err := v.d.Get(in, p.Items[0])
			if !ok || err != nil {
				return False, err
			}
			same, err := sameKey(in, x, p.Items[1])
			return MakeBool(same), err
		})
		for _, op := range []string{"|", "&", "-", "^"} {
			f := func(in *Interp, a, b Object) (Object, error) {
				return viewBinary(in, op, a, b)
			}
			addMethod(vt, dunders[op][0], 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return f(in, args[0], args[1]) })
			addMethod(vt, dunders[op][1], 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return f(in, args[1], args[0]) })
		}
		for _, op := range allCompare {
			addMethod(vt, compareDunders[op][0], 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
				if !isSetLike(args[1]) {
					return NotImplemented, nil
				}
				ok, err := compareViews(in, op, args[0], args[1])
				return MakeBool(ok), err
			})
		}
		addMethod(vt, "isdisjoint", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			some, other := args[0], args[1]
			if isSetLike(other) {
				n, err := in.Len(other)
				if err != nil {
					return nil, err
				}
				if n > view(some).d.live {
					some, other = other, some
				}
			}
			items, err := in.IterAll(other)
			if err != nil {
				return nil, err
			}
			for _, it := range items {
				if in, err := in.Contains(some, it); in || err != nil {
					return False, err
				}
			}
			return True, nil
		})
	}
	p := MappingProxyType
	p.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		a, err := in.ParseArgs("mappingproxy", args, kw, "mapping")
		if err != nil {
			return nil, err
		}
		if t := a[0].Type(); t.Lookup("__getitem__") == nil || t.keyless() {
			return nil, in.Errorf(in.Exc.TypeError, "mappingproxy() argument must be a mapping, not %s", TypeName(a[0]))
		}
		return &MappingProxy{a[0]}, nil
	}
	addBasics(p, "repr")
	bare := func(o Object) Object {
		if mp, ok := o.(*MappingProxy); ok {
			return mp.M
		}
		return o
	}
	for n, op := range map[string]string{"__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="} {
		addMethod(p, n, 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			return in.Compare(op, bare(args[0]), args[1])
		})
	}
	addMethod(p, "__or__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return in.BinaryOp("|", bare(args[0]), bare(args[1]))
	})
	addMethod(p, "__ror__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return in.BinaryOp("|", bare(args[1]), bare(args[0]))
	})
	addMethod(p, "__ior__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		return nil, in.Errorf(in.Exc.TypeError, "'|=' is not supported by %s; use '|' instead", TypeName(args[0]))
	})
	p.Dict.SetStr("__hash__", None)
	for _, n := range []string{"get", "keys", "values", "items", "copy", "__len__", "__iter__", "__reversed__", "__contains__", "__getitem__"} {
		addMethod(p, n, 0, -1, func(in *Interp, args []Object, kw []KwArg) (Object, error) {
			return in.CallMethod(args[0].(*MappingProxy).M, n, args[1:]...)
		})
	}
}

// keyless reports whether what a type's instances are asked for in brackets is a place alone: lists and tuples, though slices are keys of theirs, are no mappings.
func (t *Type) keyless() bool { return t.IsSubtype(ListType) || t.IsSubtype(TupleType) }

// isSetLike reports whether a view compares with o: a set, or another view of keys or items.
func isSetLike(o Object) bool {
	if v, ok := o.(*dictView); ok {
		return v.kind != 1
	}
	_, ok := asSet(o)
	return ok
}

// compareViews compares what sets and views hold. It asks whether items are in them: they need no hash.
func compareViews(in *Interp, op string, a, b Object) (bool, error) {
	if op == ">" || op == ">=" {
		a, b = b, a
	}
	n, err := in.Len(a)
	if err != nil {
		return false, err
	}
	m, err := in.Len(b)
	if err != nil {
		return false, err
	}
	within := n <= m
	switch op {
	case "==", "!=":
		within = n == m
	case "<", ">":
		within = n < m
	}
	if within {
		items, err := in.IterAll(a)
		if err != nil {
			return false, err
		}
		for _, it := range items {
			if within, err = in.Contains(b, it); err != nil {
				return false, err
			}
			if !within {
				break
			}
		}
	}
	return within == (op != "!="), nil
}

// initSets gives sets and frozen sets their methods.
func initSets() {
	SetType.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		return wrap(cls, SetType, NewSet()), nil
	}
	FrozenSetType.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		if len(args) > 1 {
			return nil, in.Errorf(in.Exc.TypeError, "frozenset expected at most 1 argument, got %d", len(args))
		}
		f := &FrozenSet{}
		if len(args) > 0 {
			if x, ok := args[0].(*FrozenSet); ok && cls == FrozenSetType {
				return x, nil
			}
			if err := f.update(in, args[0]); err != nil {
				return nil, err
			}
		}
		return wrap(cls, FrozenSetType, f), nil
	}
	for _, t := range []*Type{SetType, FrozenSetType} {
		addMethod(t, "__reduce__", 0, 0, reduceItems)
	}
	addMethod(ByteArrayType, "__reduce__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return reduceBytearray(in, args[0], 2) })
	addMethod(ByteArrayType, "__reduce_ex__", 0, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		protocol := int64(0)
		if len(args) > 1 {
			var err error
			if protocol, err = in.Index(args[1]); err != nil {
				return nil, err
			}
		}
		return reduceBytearray(in, args[0], protocol)
	})
	addMethod(SetType, "__init__", 0, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		s, _ := asSet(args[0])
		*s = setTable{}
		if len(args) > 1 {
			if err := s.update(in, args[1]); err != nil {
				return nil, err
			}
		}
		return None, nil
	})
	iterSet := func(in *Interp, o Object) (*setTable, error) {
		if s, ok := asSet(o); ok {
			return s, nil
		}
		items, err := in.IterAll(o)
		if err != nil {
			return nil, err
		}
		s := &setTable{}
		for _, it := range items {
			if err := s.Add(in, it); err != nil {
				return nil, err
			}
		}
		return s, nil
	}
	for _, t := range []*Type{SetType, FrozenSetType} {
		addOps(t, nil, "|", "&", "-", "^")
		addCompare(t, nil, allCompare...)
		addBasics(t, "repr len iter contains")
		for name, op := range map[string]string{"union": "|", "intersection": "&", "difference": "-", "symmetric_difference": "^"} {
			lo, hi := 0, -1
			if op == "^" {
				lo, hi = 1, 1
			}
			addMethod(t, name, lo, hi, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
				cur := unwrap(args[0])
				if len(args) == 1 {
					s, _ := asSet(cur)
					if t == SetType {
						return &Set{s.clone()}, nil
					}
					return cur, nil
				}
				x, _ := asSet(cur)
				if op == "|" {
					v, err := x.union(in, args[1:]...)
					return likeSet(cur, v), err
				}
				v, err := x.combine(in, op, args[1])
				for _, a := range args[2:] {
					if err != nil {
						break
					}
					if op == "-" {
						err = v.remove(in, a)
					} else {
						v, err = v.combine(in, op, a)
					}
				}
				if err != nil {
					return nil, err
				}
				cur = likeSet(cur, v)
				return cur, nil
			})
		}
		for name, op := range map[string]string{"issubset": "<=", "issuperset": ">="} {
			addMethod(t, name, 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
				x, _ := asSet(args[0])
				y, err := iterSet(in, args[1])
				if err != nil {
					return nil, err
				}
				return x.compare(in, op, y)
			})
		}
		addMethod(t, "isdisjoint", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			x, _ := asSet(args[0])
			y, err := iterSet(in, args[1])
			if err != nil {
				return nil, err
			}
			v, err := x.intersect(in, &Set{*y})
			return MakeBool(v.used == 0), err
		})
		addMethod(t, "copy", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			s, _ := asSet(args[0])
			if t == FrozenSetType {
				return args[0], nil
			}
			return &Set{s.clone()}, nil
		})
	}
	addBasics(FrozenSetType, "hash")
	addBasics(SetType, "unhash")
	m := func(name string, lo, hi int, f func(in *Interp, s *setTable, args []Object) (Object, error)) {
		addMethod(SetType, name, lo, hi, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			s, ok := asSet(args[0])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "descriptor '%s' for 'set' objects doesn't apply to a '%s' object", name, TypeName(args[0]))
			}
			return f(in, s, args[1:])
		})
	}
	m("add", 1, 1, func(in *Interp, s *setTable, args []Object) (Object, error) { return None, s.Add(in, args[0]) })
	m("discard", 1, 1, func(in *Interp, s *setTable, args []Object) (Object, error) {
		_, err := s.removeSet(in, args[0])
		return None, err
	})
	m("remove", 1, 1, func(in *Interp, s *setTable, args []Object) (Object, error) {
		ok, err := s.removeSet(in, args[0])
		if err == nil && !ok {
			err = in.KeyError(args[0])
		}
		return None, err
	})
	m("pop", 0, 0, func(in *Interp, s *setTable, args []Object) (Object, error) {
		for n := range s.table {
			i := (s.popAt + n) & (len(s.table) - 1)
			if k := s.table[i].key; k != nil && k != deletedKey {
				s.table[i] = dictEntry{key: deletedKey}
				s.used--
				s.popAt = i + 1
				return k, nil
			}
		}
		return nil, in.KeyError(Str("pop from an empty set"))
	})
	m("clear", 0, 0, func(in *Interp, s *setTable, args []Object) (Object, error) { *s = setTable{}; return None, nil })
	m("update", 0, -1, func(in *Interp, s *setTable, args []Object) (Object, error) {
		for _, a := range args {
			if err := s.update(in, a); err != nil {
				return nil, err
			}
		}
		return None, nil
	})
	for name, op := range map[string]string{"intersection_update": "&", "difference_update": "-", "symmetric_difference_update": "^"} {
		lo, hi := 0, -1
		if op == "^" {
			lo, hi = 1, 1
		}
		m(name, lo, hi, func(in *Interp, s *setTable, args []Object) (Object, error) {
			to := s
			if op == "&" { // nothing changes where one of the others cannot be walked through
				whole := s.clone()
				to = &whole
			}
			for _, a := range args {
				if err := to.change(in, op, a); err != nil {
					return nil, err
				}
			}
			*s = *to
			return None, nil
		})
	}
	for name, op := range map[string]string{"__ior__": "|", "__iand__": "&", "__isub__": "-", "__ixor__": "^"} {
		addMethod(SetType, name, 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
			s, _ := asSet(args[0])
			if _, ok := asSet(args[1]); !ok {
				return NotImplemented, nil
			}
			if err := s.change(in, op, args[1]); err != nil {
				return nil, err
			}
			return args[0], nil
		})
	}
}

// NewClassMethod makes a class method of a Go function, which gets the class as its first argument.
func NewClassMethod(t *Type, name string, fn GoFunc) *ClassMethod {
	return newClassMethod(t, name, "", fn, nil)
}

// ClassGetItem is __class_getitem__ for generic classes that are written in Go: C[x] is an alias that remembers x.
func ClassGetItem(in *Interp, args []Object, kw []KwArg) (Object, error) {
	return genericAlias(in, args, kw)
}
