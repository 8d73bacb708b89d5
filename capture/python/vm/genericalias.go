package vm

import "strings"

// list[int] and the like (PEP 585), with the type variables in them put in as PEP 646 and PEP 612 have it.

// GenericAlias is list[int] and the like.
type GenericAlias struct {
	Origin Object
	Args   *Tuple

	unpacked bool  // it is *alias
	class    *Type // of a class that derives from GenericAlias; nil for its own
}

// Type implements Object.
func (a *GenericAlias) Type() *Type {
	if a.class != nil {
		return a.class
	}
	return GenericAliasType
}

// aliasOwn are the attributes that an alias has itself; all others are its origin's.
var aliasOwn = map[string]bool{
	"__class__": true, "__origin__": true, "__args__": true, "__unpacked__": true, "__parameters__": true, "__typing_unpacked_tuple_args__": true,
	"__mro_entries__": true, "__reduce_ex__": true, "__reduce__": true, "__copy__": true, "__deepcopy__": true, "__bases__": true,
}

// newAlias is origin[key].
func newAlias(origin, key Object) *GenericAlias {
	t, ok := key.(*Tuple)
	if !ok {
		t = NewTuple(key)
	}
	return &GenericAlias{Origin: origin, Args: t}
}

// parametersOf are the type variables among the arguments of an alias or a union, each once: what can be substituted, and what is in what has parameters.
func (in *Interp) parametersOf(args *Tuple) (*Tuple, error) {
	var out []Object
	add := func(o Object) {
		for _, x := range out {
			if Is(x, o) {
				return
			}
		}
		out = append(out, o)
	}
	for _, a := range args.Items {
		if _, ok := a.(*Type); ok {
			continue
		}
		subst, err := in.GetAttrOpt(a, "__typing_subst__")
		if err != nil {
			return nil, err
		}
		if subst != nil {
			add(a)
			continue
		}
		sub, err := in.tupleAttr(a, "__parameters__")
		if err != nil {
			return nil, err
		}
		for _, p := range sub {
			add(p)
		}
	}
	return NewTuple(out...), nil
}

// tupleAttr are the items of an attribute that is a tuple; none for any other.
func (in *Interp) tupleAttr(o Object, name string) ([]Object, error) {
	v, err := in.GetAttrOpt(o, name)
	if err != nil || v == nil {
		return nil, err
	}
	if t, ok := v.(*Tuple); ok {
		return t.Items, nil
	}
	return nil, nil
}

// substitute gives the arguments of self with key's items for its parameters.
func (in *Interp) substitute(self Object, args, params *Tuple, key Object) (*Tuple, error) {
	if len(params.Items) == 0 {
		s, err := in.Repr(self)
		if err != nil {
			return nil, err
		}
		return nil, in.Errorf(in.Exc.TypeError, "%s is not a generic class", s)
	}
	item, err := in.flattened(key)
	if err != nil {
		return nil, err
	}
	for _, p := range params.Items {
		prepare, err := in.GetAttrOpt(p, "__typing_prepare_subst__")
		if err != nil {
			return nil, err
		}
		if prepare == nil || prepare == None {
			continue
		}
		v, err := in.Call(prepare, []Object{self, item}, nil)
		if err != nil {
			return nil, err
		}
		t, ok := v.(*Tuple)
		if !ok {
			t = NewTuple(v)
		}
		item = t
	}
	if n, want := len(item.Items), len(params.Items); n != want {
		s, err := in.Repr(self)
		if err != nil {
			return nil, err
		}
		few := "few"
		if n > want {
			few = "many"
		}
		return nil, in.Errorf(in.Exc.TypeError, "Too %s arguments for %s; actual %d, expected %d", few, s, n, want)
	}
	var out []Object
	for _, a := range args.Items {
		if _, ok := a.(*Type); ok {
			out = append(out, a)
			continue
		}
		v, err := in.substituteIn(a, params, item)
		if err != nil {
			return nil, err
		}
		unpack, err := in.GetAttrOpt(a, "__typing_is_unpacked_typevartuple__")
		if err != nil {
			return nil, err
		}
		if yes, err := in.Truth(orNil(unpack)); err != nil {
			return nil, err
		} else if t, ok := v.(*Tuple); ok && yes {
			out = append(out, t.Items...)
			continue
		}
		out = append(out, v)
	}
	return NewTuple(out...), nil
}

// substituteIn is one argument with what stands for its parameters.
func (in *Interp) substituteIn(a Object, params, item *Tuple) (Object, error) {
	subst, err := in.GetAttrOpt(a, "__typing_subst__")
	if err != nil {
		return nil, err
	}
	if subst != nil {
		return in.Call(subst, []Object{item.Items[indexIn(params, a)]}, nil)
	}
	sub, err := in.tupleAttr(a, "__parameters__")
	if err != nil || len(sub) == 0 {
		return a, err
	}
	var key []Object
	for _, p := range sub {
		i := indexIn(params, p)
		if i < 0 {
			key = append(key, p)
			continue
		}
		if t, ok := item.Items[i].(*Tuple); ok && p.Type().Lookup("__iter__") != nil { // a TypeVarTuple
			key = append(key, t.Items...)
			continue
		}
		key = append(key, item.Items[i])
	}
	return in.GetItem(a, NewTuple(key...))
}

func indexIn(t *Tuple, o Object) int {
	for i, x := range t.Items {
		if Is(x, o) {
			return i
		}
	}
	return -1
}

// flattened are the items of a subscript; a *tuple[...] in it counts as what is in that, unless that is open.
func (in *Interp) flattened(key Object) (*Tuple, error) {
	items := newAlias(nil, key).Args.Items
	var out []Object
	for _, o := range items {
		if _, ok := o.(*Type); !ok {
			v, err := in.GetAttrOpt(o, "__typing_unpacked_tuple_args__")
			if err != nil {
				return nil, err
			}
			if t, ok := v.(*Tuple); ok && (len(t.Items) == 0 || t.Items[len(t.Items)-1] != Ellipsis) {
				out = append(out, t.Items...)
				continue
			}
		}
		out = append(out, o)
	}
	return NewTuple(out...), nil
}

// getItem is alias[key].
func (a *GenericAlias) getItem(in *Interp, key Object) (Object, error) {
	params, err := in.parametersOf(a.Args)
	if err != nil {
		return nil, err
	}
	args, err := in.substitute(a, a.Args, params, key)
	if err != nil {
		return nil, err
	}
	return &GenericAlias{Origin: a.Origin, Args: args, unpacked: a.unpacked}, nil
}

// call makes an object of the origin, which remembers the alias if it can.
func (a *GenericAlias) call(in *Interp, args []Object, kw []KwArg) (Object, error) {
	v, err := in.Call(a.Origin, args, kw)
	if err != nil {
		return nil, err
	}
	if err := in.SetAttr(v, "__orig_class__", a); err != nil && !in.Matches(err, in.Exc.AttributeError) && !in.Matches(err, in.Exc.TypeError) {
		return nil, err
	}
	return v, nil
}

// initGenericAlias gives aliases their methods.
func initGenericAlias() {
	g := GenericAliasType
	self := func(o Object) *GenericAlias { return o.(*GenericAlias) }
	g.New = func(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
		if len(kw) > 0 {
			return nil, in.Errorf(in.Exc.TypeError, "GenericAlias() takes no keyword arguments")
		}
		if len(args) != 2 {
			return nil, in.Errorf(in.Exc.TypeError, "GenericAlias expected 2 arguments, got %d", len(args))
		}
		a := newAlias(args[0], args[1])
		if cls != g {
			a.class = cls
		}
		return a, nil
	}
	get := func(name string, f func(in *Interp, a *GenericAlias) (Object, error)) {
		addGetSet(g, name, func(in *Interp, o Object) (Object, error) { return f(in, self(o)) }, nil)
	}
	get("__origin__", func(_ *Interp, a *GenericAlias) (Object, error) { return a.Origin, nil })
	get("__args__", func(_ *Interp, a *GenericAlias) (Object, error) { return a.Args, nil })
	get("__unpacked__", func(_ *Interp, a *GenericAlias) (Object, error) { return MakeBool(a.unpacked), nil })
	get("__parameters__", func(in *Interp, a *GenericAlias) (Object, error) {
		t, err := in.parametersOf(a.Args)
		return t, err
	})
	get("__typing_unpacked_tuple_args__", func(_ *Interp, a *GenericAlias) (Object, error) {
		if a.unpacked && a.Origin == TupleType {
			return a.Args, nil
		}
		return None, nil
	})
	def := func(name string, lo, hi int, f func(in *Interp, a *GenericAlias, args []Object) (Object, error)) {
		addMethod(g, name, lo, hi, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return f(in, self(args[0]), args[1:]) })
	}
	def("__iter__", 0, 0, func(in *Interp, a *GenericAlias, _ []Object) (Object, error) {
		x := *a
		x.unpacked = true
		done := false
		return &GoIter{T: genericAliasIterType, NextFn: func(in *Interp) (Object, error) {
			if done {
				return nil, in.stopIteration(nil)
			}
			done = true
			return &x, nil
		}, Reduce: func(in *Interp, _ *Type) (Object, error) {
			if done {
				return remake(in, "iter", emptyTuple)
			}
			return remake(in, "iter", a)
		}}, nil
	})
	def("__getitem__", 1, 1, func(in *Interp, a *GenericAlias, args []Object) (Object, error) { return a.getItem(in, args[0]) })
	addKw(g, "__call__", func(in *Interp, args []Object, kw []KwArg) (Object, error) {
		return self(args[0]).call(in, args[1:], kw)
	})
	def("__mro_entries__", 1, 1, func(_ *Interp, a *GenericAlias, _ []Object) (Object, error) { return NewTuple(a.Origin), nil })
	def("__eq__", 1, 1, func(in *Interp, x *GenericAlias, args []Object) (Object, error) {
		y, ok := args[0].(*GenericAlias)
		if !ok {
			return NotImplemented, nil
		}
		if x.unpacked != y.unpacked {
			return False, nil
		}
		if v, err := in.Compare("==", x.Origin, y.Origin); err != nil || v == False {
			return v, err
		}
		return in.Compare("==", x.Args, y.Args)
	})
	def("__hash__", 0, 0, func(in *Interp, a *GenericAlias, _ []Object) (Object, error) {
		h, err := in.Hash(a.Args)
		if err != nil {
			return nil, err
		}
		k, err := in.Hash(a.Origin)
		return MakeInt(int64(h ^ k)), err
	})
	def("__reduce__", 0, 0, func(in *Interp, a *GenericAlias, _ []Object) (Object, error) {
		if !a.unpacked {
			return NewTuple(a.Type(), NewTuple(a.Origin, a.Args)), nil
		}
		x := *a
		x.unpacked = false
		it, err := in.Call(mustBuiltin(in, "iter"), []Object{&x}, nil)
		return NewTuple(mustBuiltin(in, "next"), NewTuple(it)), err
	})
	def("__dir__", 0, 0, func(in *Interp, a *GenericAlias, _ []Object) (Object, error) {
		v, err := dirOf(in, a.Origin)
		if err != nil {
			return nil, err
		}
		l := v.(*List)
		for _, name := range sortedKeys(aliasOwn) {
			if has, _ := in.Contains(l, Str(name)); !has && name != "__bases__" {
				l.Append(Str(name))
			}
		}
		return l, nil
	})
	for name, text := range map[string]string{"__instancecheck__": "isinstance", "__subclasscheck__": "issubclass"} {
		def(name, 1, 1, func(in *Interp, _ *GenericAlias, _ []Object) (Object, error) {
			return nil, in.Errorf(in.Exc.TypeError, "%s() argument 2 cannot be a parameterized generic", text)
		})
	}
	addGetSet(UnionTypeType, "__parameters__", func(in *Interp, o Object) (Object, error) { return in.parametersOf(o.(*UnionType).Args) }, nil)
	addMethod(UnionTypeType, "__getitem__", 1, 1, func(in *Interp, args []Object, _ []KwArg) (Object, error) {
		u := args[0].(*UnionType)
		params, err := in.parametersOf(u.Args)
		if err != nil {
			return nil, err
		}
		t, err := in.substitute(u, u.Args, params, args[1])
		if err != nil {
			return nil, err
		}
		var out Object
		for i, o := range t.Items {
			if i == 0 {
				out = o
			} else if out, err = in.BinaryOp("|", out, o); err != nil {
				return nil, err
			}
		}
		return out, nil
	})
}

// mustBuiltin is a builtin as the module has it.
func mustBuiltin(in *Interp, name string) Object {
	v, _ := in.Builtins.Dict.GetStr(name)
	return v
}

// aliasRepr prints list[int] and the like.
func aliasRepr(in *Interp, x *GenericAlias) (string, error) {
	origin, err := argRepr(in, x.Origin)
	if err != nil {
		return "", err
	}
	parts := []string{"()"}
	if len(x.Args.Items) > 0 {
		parts = nil
	}
	for _, a := range x.Args.Items {
		s, err := argRepr(in, a)
		if err != nil {
			return "", err
		}
		parts = append(parts, s)
	}
	if x.unpacked {
		origin = "*" + origin
	}
	return origin + "[" + strings.Join(parts, ", ") + "]", nil
}

// sameAlias reports whether two arguments of a union are aliases of the same.
func sameAlias(a, b Object) bool {
	x, ok1 := a.(*GenericAlias)
	y, ok2 := b.(*GenericAlias)
	if !ok1 || !ok2 || !Is(x.Origin, y.Origin) || x.unpacked != y.unpacked || len(x.Args.Items) != len(y.Args.Items) {
		return false
	}
	for i, o := range x.Args.Items {
		if !Is(o, y.Args.Items[i]) && !sameAlias(o, y.Args.Items[i]) {
			return false
		}
	}
	return true
}
