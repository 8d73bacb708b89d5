package vm

import (
	"slices"
	"sync"
)

// Call calls a callable. Neither args nor kw are changed, and the callee does not keep args.
func (in *Interp) Call(callable Object, args []Object, kw []KwArg) (Object, error) {
	switch f := callable.(type) {
	case *Function:
		return f.call(in, args, kw)
	case *Builtin:
		return f.call(in, args, kw)
	case *BoundMethod:
		full := make([]Object, 0, len(args)+1)
		full = append(append(full, f.Self), args...)
		return in.Call(f.Func, full, kw)
	case *Type:
		return f.call(in, args, kw)
	}
	return in.callOther(callable, args, kw)
}

// Caller is implemented by embedder's own Go objects that can be called.
type Caller interface {
	Call(in *Interp, args []Object, kw []KwArg) (Object, error)
}

// callOther calls what is none of the common kinds: an embedder's Caller, a static method, an alias such as list[int], and what has
// __call__.
func (in *Interp) callOther(callable Object, args []Object, kw []KwArg) (Object, error) {
	switch f := callable.(type) {
	case Caller:
		return f.Call(in, slices.Clone(args), kw)
	case *StaticMethod:
		return in.Call(f.Func, args, kw)
	case *GenericAlias:
		return f.call(in, args, kw)
	}
	c := callable.Type().Lookup("__call__")
	if c == nil {
		return nil, in.Errorf(in.Exc.TypeError, "'%s' object is not callable", TypeName(callable))
	}
	if err := in.enter(); err != nil {
		return nil, err
	}
	defer in.leave()
	if takesSelf(c) {
		full := make([]Object, 0, len(args)+1)
		full = append(append(full, callable), args...)
		return in.Call(c, full, kw)
	}
	b, err := in.bindDescr(c, callable, callable.Type())
	if err != nil {
		return nil, err
	}
	return in.Call(b, args, kw)
}

// takesSelf reports whether a function that is found in a class gets the instance as its first argument. A function of Go's that is no method
// does not.
func takesSelf(f Object) bool {
	switch x := f.(type) {
	case *Function:
		return true
	case *Builtin:
		return x.Method
	}
	return false
}

// call calls a Go function. The arguments may lie on the caller's stack, where the next call overwrites them: they are copied unless the
// function is known not to keep them.
func (b *Builtin) call(in *Interp, args []Object, kw []KwArg) (v Object, err error) {
	if b.Method && b.Self == nil && b.Owner != nil {
		if len(args) == 0 && b.slot {
			return nil, in.Errorf(in.Exc.TypeError, "descriptor '%s' of '%s' object needs an argument", b.Name, b.Owner.errName())
		}
		if len(args) == 0 {
			return nil, in.Errorf(in.Exc.TypeError, "unbound method %s.%s() needs an argument", b.Owner.errName(), b.Name)
		}
		if b.strict {
			if err := b.checkSelf(in, args[0]); err != nil {
				return nil, err
			}
		}
	}
	if b.NoKw || b.bounded && len(kw) == 0 {
		n := len(args)
		if b.Method && b.Self == nil || b.ofClass {
			n--
		}
		if len(kw) > 0 || n < b.Min || b.Max >= 0 && n > b.Max {
			return nil, b.wrongArgs(in, n, len(kw) > 0)
		}
	}
	if b.Self != nil && b.Method {
		all := make([]Object, 1+len(args))
		all[0] = b.Self
		copy(all[1:], args)
		args = all
	} else if !b.shared {
		args = slices.Clone(args)
	}
	if err := in.enter(); err != nil {
		return nil, err
	}
	v, err = b.Fn(in, args, kw)
	in.depth--
	if v == nil && err == nil {
		v = None
	}
	return v, err
}

// Uncreatable is the constructor of a type whose instances only the interpreter makes.
func Uncreatable(in *Interp, cls *Type, _ []Object, _ []KwArg) (Object, error) {
	return nil, in.Errorf(in.Exc.TypeError, "cannot create '%s' instances", cls.FullName())
}

// checkSelf is the TypeError for a method of a native type that is called with an object of another.
func (b *Builtin) checkSelf(in *Interp, self Object) error {
	t := self.Type()
	switch {
	case t == b.Owner || t.IsSubtype(b.Owner):
		return nil
	case b.slot:
		return in.Errorf(in.Exc.TypeError, "descriptor '%s' requires a '%s' object but received a '%s'", b.Name, b.Owner.FullName(), t.FullName())
	}
	return in.Errorf(in.Exc.TypeError, "descriptor '%s' for '%s' objects doesn't apply to a '%s' object", b.Name, b.Owner.FullName(), t.FullName())
}

// WrongArgs is the TypeError for n arguments, self not counted, that a function does not take, or for keywords where there are none.
func WrongArgs(in *Interp, b *Builtin, n int, kw bool) error { return b.wrongArgs(in, n, kw) }

// wrongArgs is the TypeError for a wrong number of arguments, or for keywords where there are none. n does not count self.
func (b *Builtin) wrongArgs(in *Interp, n int, kw bool) error {
	name := b.Name
	switch {
	case b.Owner != nil:
		name = b.Owner.Name + "." + name
	case b.Module != "" && b.Module != "builtins":
		name = b.Module + "." + name
	}
	if n < 0 {
		return in.Errorf(in.Exc.TypeError, "unbound method %s() needs an argument", name)
	}
	switch {
	case kw && b.slot:
		name = "wrapper " + b.Name
	case kw && b.parsed:
		name = b.Name
	}
	if kw {
		return in.Errorf(in.Exc.TypeError, "%s() takes no keyword arguments", name)
	}
	pl := func(k int) string {
		if k == 1 {
			return ""
		}
		return "s"
	}
	switch {
	case b.slot && b.Min == b.Max:
		return in.Errorf(in.Exc.TypeError, "%sexpected %d argument%s, got %d", b.unpacked(), b.Min, pl(b.Min), n)
	case b.parsed && n < b.Min:
		return in.Errorf(in.Exc.TypeError, "%s() takes at least %d argument%s (%d given)", b.Name, b.Min, pl(b.Min), n)
	case b.parsed:
		return in.Errorf(in.Exc.TypeError, "%s() takes at most %d argument%s (%d given)", b.Name, b.Max, pl(b.Max), n)
	case b.Max == 0:
		return in.Errorf(in.Exc.TypeError, "%s() takes no arguments (%d given)", name, n)
	case b.Min == b.Max && b.Min == 1:
		return in.Errorf(in.Exc.TypeError, "%s() takes exactly one argument (%d given)", name, n)
	}
	name = b.Name
	switch {
	case b.slot && b.Name == "__init__":
		name = b.Owner.Name
	case b.slot:
		name = ""
	}
	switch {
	case b.Min == b.Max:
		return in.Errorf(in.Exc.TypeError, "%s expected %d argument%s, got %d", name, b.Min, pl(b.Min), n)
	case n < b.Min:
		return in.Errorf(in.Exc.TypeError, "%s expected at least %d argument%s, got %d", name, b.Min, pl(b.Min), n)
	}
	return in.Errorf(in.Exc.TypeError, "%s expected at most %d argument%s, got %d", name, b.Max, pl(b.Max), n)
}

// unpacked is what errors about the arguments of a method in a slot begin with: those that CPython unpacks under an empty name, two of them or the
// count of a repetition, begin with the space that follows it.
func (b *Builtin) unpacked() string {
	switch b.Name {
	case "__mul__", "__rmul__", "__imul__":
		if b.Owner == nil || b.Owner.own("__getitem__") == nil {
			return ""
		}
		return " "
	}
	if b.Min == 2 {
		return " "
	}
	return ""
}

// call calls a Python function on a frame of its own.
func (fn *Function) call(in *Interp, args []Object, kw []KwArg) (Object, error) {
	f := in.pushFrame(fn)
	if err := fn.bind(in, f.LocalsPlus, args, kw); err != nil {
		in.popFrame(f)
		return nil, err
	}
	if fn.Override != nil {
		if v, done, err := fn.Override(in, f); done || err != nil {
			in.popFrame(f)
			in.passed = nil
			return v, err
		}
	}
	return in.finish(f, true)
}

// callTwo is call with two arguments, which are not gathered where the function just takes them.
func (fn *Function) callTwo(in *Interp, a, b Object) (Object, error) {
	if !fn.Code.simple || fn.Code.ArgCount != 2 || fn.Override != nil {
		return fn.call(in, []Object{a, b}, nil)
	}
	f := in.pushFrame(fn)
	f.LocalsPlus[0], f.LocalsPlus[1] = a, b
	return in.finish(f, true)
}

// plainNew are the types whose constructors take no keywords.
var plainNew = sync.OnceValue(func() map[*Type]bool {
	m := map[*Type]bool{}
	for _, t := range []*Type{BoolType, FloatType, TupleType, FrozenSetType, RangeType, SliceType, MapType, FilterType, ReversedType} {
		m[t] = true
	}
	return m
})

// call is a call of a class: its metaclass's __call__ if that has one of its own, else instantiate.
func (t *Type) call(in *Interp, args []Object, kw []KwArg) (Object, error) {
	if t.Meta != nil {
		if c := t.Meta.Lookup("__call__"); c != nil && c != typeCall {
			b, err := in.bindDescr(c, t, t.Meta)
			if err != nil {
				return nil, err
			}
			return in.Call(b, args, kw)
		}
	}
	return t.instantiate(in, args, kw)
}

// instantiate is type.__call__: __new__, and then __init__ of what it made, if that is an instance of t. The usual cases (object's __new__,
// the constructor of a built-in type, a Python __init__) go straight to what they do.
func (t *Type) instantiate(in *Interp, args []Object, kw []KwArg) (Object, error) {
	if t == TypeType && len(args) == 1 && len(kw) == 0 {
		return args[0].Type(), nil
	}
	if err := in.enter(); err != nil {
		return nil, err
	}
	defer in.leave()
	nw, initf := t.makes, t.inits
	if nw == nil {
		nw, initf = t.Lookup("__new__"), t.Lookup("__init__")
	}
	var o Object
	var err error
	if b, ok := nw.(*Builtin); ok {
		if b == objectNewB {
			if t.solid() != ObjectType {
				return nil, in.Errorf(in.Exc.TypeError, "cannot create '%s' instances", t.FullName())
			}
			if (len(args) > 0 || len(kw) > 0) && initf == objectInit {
				return nil, in.Errorf(in.Exc.TypeError, "%s() takes no arguments", t.errName())
			}
			o, err = objectNew(in, t, nil, nil)
		} else if b.Owner != nil && b.Owner.New != nil && b.Name == "__new__" {
			if !b.shared {
				args = slices.Clone(args)
			}
			if len(kw) > 0 && plainNew()[b.Owner] {
				if t == b.Owner || initf == b.Owner.Lookup("__init__") {
					return nil, in.Errorf(in.Exc.TypeError, "%s() takes no keyword arguments", b.Owner.Name)
				}
				o, err = b.Owner.New(in, t, args, nil) // they are for an __init__ of the class's own
			} else {
				o, err = b.Owner.New(in, t, args, kw)
			}
		} else {
			o, err = in.Call(b, append([]Object{t}, args...), kw)
		}
	} else {
		f := nw
		if s, ok := nw.(*StaticMethod); ok {
			f = s.Func
		} else if _, ok := nw.(*Function); !ok && nw != nil {
			if f, err = t.bindOwn(in, nw); err != nil {
				return nil, err
			}
		}
		if f == nil {
			return nil, in.Errorf(in.Exc.TypeError, "cannot create '%s' instances", t.FullName())
		}
		full := make([]Object, 0, len(args)+1)
		o, err = in.Call(f, append(append(full, t), args...), kw)
	}
	if err != nil {
		return nil, err
	}
	ot := o.Type()
	if ot != t {
		if !ot.IsSubtype(t) {
			return o, nil
		}
		initf = ot.Lookup("__init__")
	}
	if initf == nil || initf == objectInit || initf == excInitBuiltin {
		return o, nil
	}
	var r Object
	switch f := initf.(type) {
	case *Function:
		full := make([]Object, 0, 8)
		r, err = f.call(in, append(append(full, o), args...), kw)
	case *Builtin:
		full := make([]Object, 0, len(args)+1)
		r, err = f.call(in, append(append(full, o), args...), kw)
	default:
		var b Object
		if b, err = in.bindDescr(initf, o, ot); err == nil {
			r, err = in.Call(b, args, kw)
		}
	}
	if err != nil {
		return nil, err
	}
	if r != None && r != nil {
		return nil, in.Errorf(in.Exc.TypeError, "__init__() should return None, not '%s'", TypeName(r))
	}
	return o, nil
}
