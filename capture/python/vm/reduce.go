package vm

import (
	"math/big"

	"whittle/capture/python/wtf8"
)

// reduceEx is object.__reduce_ex__: a class's own __reduce__ goes before the ways of the protocols.
func reduceEx(in *Interp, args []Object, _ []KwArg) (Object, error) {
	own := args[0].Type().Lookup("__reduce__")
	if own != ObjectType.Lookup("__reduce__") {
		f, err := in.GetAttr(args[0], "__reduce__")
		if err != nil {
			return nil, err
		}
		return in.Call(f, nil, nil)
	}
	protocol, err := in.Index(args[1])
	if err != nil {
		return nil, err
	}
	if protocol < 2 {
		return reduceOld(in, args[0], protocol)
	}
	return reduceObject(in, args[0])
}

// reduceOld is object.__reduce_ex__ of protocols 0 and 1, which copyreg knows.
func reduceOld(in *Interp, o Object, protocol int64) (Object, error) {
	copyreg, err := in.Import("copyreg")
	if err != nil {
		return nil, err
	}
	return in.CallMethod(copyreg, "_reduce_ex", o, MakeInt(protocol))
}

// builtin is a built-in function, whatever a script has put in its place.
func (in *Interp) builtin(name string) Object {
	v, _ := in.Builtins.Dict.GetStr(name)
	return v
}

// remake is what __reduce__ gives of something that a built-in function of one argument makes, with its state if it has one.
func remake(in *Interp, name string, arg Object, state ...Object) (Object, error) {
	return NewTuple(append([]Object{in.builtin(name), NewTuple(arg)}, state...)...), nil
}

// stateIndex reads the state of an iterator that is a place.
func stateIndex(in *Interp, state Object) (int64, error) {
	if _, ok := AsBig(state); !ok {
		return 0, in.Errorf(in.Exc.TypeError, "an integer is required")
	}
	return in.Index(state)
}

// reduceIterator is __reduce__ of the built-in iterators: how to make one that stands at the same place.
func reduceIterator(in *Interp, args []Object, _ []KwArg) (Object, error) {
	switch x := unwrap(args[0]).(type) {
	case *listIter:
		if x.l == nil {
			return remake(in, "iter", &List{})
		}
		return remake(in, "iter", x.l, MakeInt(int64(x.i)))
	case *tupleIter:
		if x.i < 0 {
			return remake(in, "iter", emptyTuple)
		}
		return remake(in, "iter", NewTuple(x.items...), MakeInt(int64(x.i)))
	case *strIter:
		if x.i < 0 {
			return remake(in, "iter", Str(""))
		}
		return remake(in, "iter", Str(x.s), MakeInt(int64(strLen(x.s[:x.i]))))
	case *rangeIter:
		i := x.all - x.n
		start := new(big.Int).Sub(big.NewInt(x.cur), new(big.Int).Mul(big.NewInt(i), big.NewInt(x.step)))
		stop := new(big.Int).Add(start, new(big.Int).Mul(big.NewInt(x.all), big.NewInt(x.step)))
		return remake(in, "iter", makeRange(start, stop, big.NewInt(x.step)), MakeInt(i))
	case *dictIter:
		at := *x
		items, err := in.IterAll(&at)
		if err != nil {
			return nil, err
		}
		return remake(in, "iter", &List{items})
	case *GoIter:
		if x.Reduce != nil {
			return x.Reduce(in, args[0].Type())
		}
	}
	return nil, in.Errorf(in.Exc.TypeError, "cannot pickle '%s' object", args[0].Type().errName())
}

// setIteratorState is __setstate__ of the built-in iterators: the place where to go on.
func setIteratorState(in *Interp, args []Object, _ []KwArg) (Object, error) {
	o := unwrap(args[0])
	if g, ok := o.(*GoIter); ok {
		if g.SetState == nil {
			return nil, in.attrError(g, "__setstate__", "'%s' object has no attribute '__setstate__'", g.Type().errName())
		}
		return None, g.SetState(in, args[1])
	}
	if x, ok := o.(*rangeIter); ok {
		n, err := in.Index(args[1])
		if err != nil {
			if in.Matches(err, in.Exc.OverflowError) {
				err = in.Errorf(in.Exc.OverflowError, "Python int too large to convert to C long")
			}
			return nil, err
		}
		to := min(max(n, 0), x.all)
		x.cur += (to - (x.all - x.n)) * x.step
		x.n = x.all - to
		return None, nil
	}
	n, err := stateIndex(in, args[1])
	if err != nil {
		return nil, err
	}
	switch x := o.(type) {
	case *listIter:
		if x.l != nil {
			x.i = int(min(max(n, 0), int64(len(x.l.Items))))
		}
	case *tupleIter:
		if x.i >= 0 {
			x.i = int(min(max(n, 0), int64(len(x.items))))
		}
	case *strIter:
		if x.i >= 0 {
			x.i = 0
			for ; n > 0 && x.i < len(x.s); n-- {
				_, size := wtf8.DecodeRuneInString(x.s[x.i:])
				x.i += size
			}
		}
	}
	return None, nil
}

// reversedIter is reversed(o) of a sequence of n items.
func reversedIter(o Object, n int64) *GoIter {
	return &GoIter{T: ReversedType, NextFn: func(in *Interp) (Object, error) {
		if n <= 0 {
			n, o = -1, None
			return nil, nil
		}
		n--
		v, err := in.GetItem(o, MakeInt(n))
		if err != nil {
			n, o = -1, None
			if in.Matches(err, in.Exc.IndexError) || in.Matches(err, in.Exc.StopIteration) {
				return nil, nil
			}
		}
		return v, err
	}, Reduce: func(in *Interp, cls *Type) (Object, error) {
		if n < 0 {
			return NewTuple(cls, NewTuple(emptyTuple)), nil
		}
		return NewTuple(cls, NewTuple(o), MakeInt(n-1)), nil
	}, SetState: func(in *Interp, state Object) error {
		to, err := stateIndex(in, state)
		if err != nil || n < 0 {
			return err
		}
		size, err := in.Len(o)
		n = min(max(to, -1), int64(size)-1) + 1
		return err
	}, Left: func() int { return int(max(n, 0)) }}
}

// sized are the types whose objects have a length of their own in CPython, which says so.
var sized map[*Type]bool

// initReduce gives built-in types their own __reduce__.
func initReduce() {
	sized = map[*Type]bool{MemoryViewType: true, CodeType: true, TypeType: true}
	own := func(t *Type, f func(in *Interp, o Object) (Object, error)) {
		addMethod(t, "__reduce__", 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return f(in, args[0]) })
	}
	attr := func(in *Interp, o Object, name string) (Object, error) {
		return NewTuple(in.builtin("getattr"), NewTuple(o, Str(name))), nil
	}
	parts := func(in *Interp, o Object) (Object, error) {
		var bounds []Object
		for _, name := range []string{"start", "stop", "step"} {
			v, err := in.GetAttr(o, name)
			if err != nil {
				return nil, err
			}
			bounds = append(bounds, v)
		}
		return NewTuple(o.Type(), NewTuple(bounds...)), nil
	}
	own(RangeType, parts)
	own(SliceType, parts)
	own(EllipsisTypeType, func(*Interp, Object) (Object, error) { return Str("Ellipsis"), nil })
	own(NotImplementedTypeType, func(*Interp, Object) (Object, error) { return Str("NotImplemented"), nil })
	method := func(in *Interp, o Object) (Object, error) {
		if m, ok := o.(*BoundMethod); ok {
			return attr(in, m.Self, m.Func.(*Builtin).Name)
		}
		b := o.(*Builtin)
		if b.Self != nil {
			if _, ok := b.Self.(*Module); !ok {
				return attr(in, b.Self, b.Name)
			}
		} else if b.Owner != nil {
			return attr(in, b.Owner, b.Name)
		}
		return Str(b.Name), nil
	}
	own(BuiltinType, method)
	own(MethodWrapperType, method)
	own(MethodDescrType, method)
	own(WrapperDescrType, method)
	own(MemberType, func(in *Interp, o Object) (Object, error) {
		if g, ok := o.(*GetSet); ok {
			return attr(in, g.own, g.Name)
		}
		return attr(in, o.(*Member).Own, o.(*Member).Name)
	})
	own(MethodType, func(in *Interp, o Object) (Object, error) {
		m := o.(*BoundMethod)
		name, err := in.GetAttr(m.Func, "__name__")
		if err != nil {
			return nil, err
		}
		return NewTuple(in.builtin("getattr"), NewTuple(m.Self, name)), nil
	})
}

// reduceObject is object.__reduce_ex__ from protocol 2 on: copyreg.__newobj__ or __newobj_ex__, what the class's __new__ gets, the state, and
// iterators over the items of a list or a dict.
func reduceObject(in *Interp, o Object) (Object, error) {
	i, ok := o.(*Instance)
	if !ok {
		if sized[o.Type()] {
			return nil, in.Errorf(in.Exc.TypeError, "cannot pickle %s objects", TypeName(o))
		}
		return nil, in.Errorf(in.Exc.TypeError, "cannot pickle '%s' object", o.Type().errName())
	}
	_, isObject := i.Native.(Object)
	if i.Native != nil && !isObject && i.Class.Lookup("__getstate__") == ObjectType.Lookup("__getstate__") {
		return nil, in.Errorf(in.Exc.TypeError, "cannot pickle '%s' object", i.Class.FullName())
	}
	maker, args, err := newArgs(in, i)
	if err != nil {
		return nil, err
	}
	copyreg, err := in.Import("copyreg")
	if err != nil {
		return nil, err
	}
	f, err := in.GetAttr(copyreg, maker)
	if err != nil {
		return nil, err
	}
	state, err := in.CallMethod(o, "__getstate__")
	if err != nil {
		return nil, err
	}
	var list, dict Object = None, None
	switch i.Native.(type) {
	case *List:
		if list, err = in.Iter(o); err != nil {
			return nil, err
		}
	case *Dict:
		items, err := in.CallMethod(o, "items")
		if err != nil {
			return nil, err
		}
		if dict, err = in.Iter(items); err != nil {
			return nil, err
		}
	}
	return NewTuple(f, NewTuple(args...), state, list, dict), nil
}

// newArgs says which function of copyreg makes an instance anew, and with what: what __getnewargs_ex__ or __getnewargs__ gives, or else the
// value of an instance of a subclass of int, str and so on.
func newArgs(in *Interp, i *Instance) (maker string, args []Object, err error) {
	if f := i.Class.Lookup("__getnewargs_ex__"); f != nil {
		v, err := in.callSpecial(f, i)
		if err != nil {
			return "", nil, err
		}
		t, ok := v.(*Tuple)
		if !ok {
			return "", nil, in.Errorf(in.Exc.TypeError, "__getnewargs_ex__ should return a tuple, not '%s'", TypeName(v))
		}
		if len(t.Items) != 2 {
			return "", nil, in.Errorf(in.Exc.ValueError, "__getnewargs_ex__ should return a tuple of length 2, not %d", len(t.Items))
		}
		a, aok := AsTuple(t.Items[0])
		d, dok := AsDict(t.Items[1])
		if !aok || !dok {
			return "", nil, in.Errorf(in.Exc.TypeError, "first item of the tuple returned by __getnewargs_ex__ must be a tuple and the second a dict")
		}
		if d.Len() > 0 {
			return "__newobj_ex__", []Object{i.Class, a, d}, nil
		}
		return "__newobj__", append([]Object{i.Class}, a.Items...), nil
	}
	if f := i.Class.Lookup("__getnewargs__"); f != nil {
		v, err := in.callSpecial(f, i)
		if err != nil {
			return "", nil, err
		}
		t, ok := AsTuple(v)
		if !ok {
			return "", nil, in.Errorf(in.Exc.TypeError, "__getnewargs__ should return a tuple, not '%s'", TypeName(v))
		}
		return "__newobj__", append([]Object{i.Class}, t.Items...), nil
	}
	args = []Object{i.Class}
	switch v := i.Native.(type) {
	case *List, *Dict:
	case Int, Bool, *BigInt, Float, Complex, Str, Bytes, *Tuple:
		args = append(args, v.(Object))
	}
	return "__newobj__", args, nil
}

// reduceItems is __reduce__ of sets: the class, and a list of the items.
func reduceItems(in *Interp, args []Object, _ []KwArg) (Object, error) {
	items, err := in.IterAll(args[0])
	if err != nil {
		return nil, err
	}
	state, err := in.CallMethod(args[0], "__getstate__")
	return NewTuple(args[0].Type(), NewTuple(&List{items}), state), err
}

// reduceBytearray is what a bytearray is made of again: bytes, or what the protocols that have no bytes write instead, a text in Latin-1.
func reduceBytearray(in *Interp, o Object, protocol int64) (Object, error) {
	made := NewTuple()
	switch b := unwrap(o).(*ByteArray).B; {
	case len(b) == 0:
	case protocol < 3:
		text := make([]rune, len(b))
		for i, c := range b {
			text[i] = rune(c)
		}
		made = NewTuple(Str(text), Str("latin-1"))
	default:
		made = NewTuple(Bytes(b))
	}
	state, err := in.CallMethod(o, "__getstate__")
	return NewTuple(o.Type(), made, state), err
}

// instanceState is what object.__getstate__ gives: the attributes, and with slots a pair of both.
func instanceState(i *Instance) Object {
	var state Object = None
	if i.Dict != nil && i.Dict.Len() > 0 {
		state = i.Dict
	}
	if i.Class.NumSlots > 0 {
		sl := NewDict()
		for _, c := range i.Class.MRO {
			c.Dict.Each(func(_, v Object) bool {
				if m, ok := v.(*Member); ok && m.Index < len(i.Slots) && i.Slots[m.Index] != nil {
					sl.SetStr(m.Name, i.Slots[m.Index])
				}
				return true
			})
		}
		if sl.Len() > 0 {
			state = NewTuple(state, sl)
		}
	}
	return state
}
