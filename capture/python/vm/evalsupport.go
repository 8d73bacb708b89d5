package vm

// What the evaluator's longer instructions do.

import (
	"slices"

	"whittle/capture/python/code"
)

// binaryArg is a binary operator by the argument of BINARY_OP.
func (in *Interp) binaryArg(a, b Object, arg int32) (Object, error) {
	if arg >= code.InPlace {
		return in.InplaceOp(code.BinOps[arg-code.InPlace], a, b)
	}
	return in.BinaryOp(code.BinOps[arg], a, b)
}

// constructs says whether calling the class does no more than make a plain object and run a Python __init__. Classes that are not a program's own
// belong to all interpreters of the process: nothing is noted in them.
func (t *Type) constructs() bool {
	if !t.Heap {
		return false
	}
	if !t.ctorKnown {
		t.ctorKnown, t.ctor = true, nil
		if fn, ok := t.Lookup("__init__").(*Function); ok && t.Meta == nil && t.Native == nil && t.Lookup("__new__") == objectNewB {
			t.ctor = fn
		}
	}
	return t.ctor != nil
}

// construct makes an object of a class that constructs.
func (t *Type) construct(in *Interp, args []Object) (Object, error) {
	o := NewInstance(t, nil)
	fn := t.ctor
	nf := in.pushFrame(fn)
	if fc := fn.Code; fc.simple && len(args)+1 == fc.ArgCount {
		nf.LocalsPlus[0] = o
		copy(nf.LocalsPlus[1:], args)
	} else {
		var few [8]Object
		if err := fn.bind(in, nf.LocalsPlus, append(append(few[:0], o), args...), nil); err != nil {
			in.popFrame(nf)
			return nil, err
		}
	}
	r, err := in.finish(nf, true)
	if err != nil {
		return nil, err
	}
	if r != None {
		return nil, in.Errorf(in.Exc.TypeError, "__init__() should return None, not '%s'", TypeName(r))
	}
	return o, nil
}

// loadName is LOAD_NAME: the namespace of a class or module body, the globals, the builtins. The namespace may be any mapping that a
// metaclass prepared.
func (f *Frame) loadName(in *Interp, name string) (Object, error) {
	switch d := f.Locals.(type) {
	case *Dict:
		if v, ok := d.GetStr(name); ok {
			return v, nil
		}
	case nil:
	default:
		v, err := in.GetItem(d, Str(name))
		if err == nil {
			return v, nil
		}
		if !in.Matches(err, in.Exc.KeyError) {
			return nil, err
		}
	}
	if v, ok := f.Globals.GetStr(name); ok {
		return v, nil
	}
	if v, ok := f.Builtins.GetStr(name); ok {
		return v, nil
	}
	return nil, in.nameError(name)
}

// unbound is the NameError for a cell or free variable, slot i, that has no value.
func (c *Code) unbound(in *Interp, i int) error {
	n := c.LocalsPlusName(i)
	if slices.Contains(c.FreeVars, n) {
		return in.Errorf(in.Exc.NameError, "cannot access free variable '%s' where it is not associated with a value in enclosing scope", n)
	}
	return in.Errorf(in.Exc.UnboundLocalError, "cannot access local variable '%s' where it is not associated with a value", n)
}

// callVector calls with the trailing arguments named by kwnames.
func (in *Interp) callVector(callable Object, args []Object, kwnames *Tuple) (Object, error) {
	if kwnames == nil {
		return in.Call(callable, args, nil)
	}
	n := len(args) - len(kwnames.Items)
	fn, ok := callable.(*Function)
	if !ok || fn.Override != nil {
		kw := make([]KwArg, 0, len(kwnames.Items))
		return in.Call(callable, args[:n], namedArgs(kw, kwnames, args[n:]))
	}
	f := in.pushFrame(fn)
	in.named = namedArgs(in.named[:0], kwnames, args[n:]) // binding runs no code that could call
	err := fn.bind(in, f.LocalsPlus, args[:n], in.named)
	clear(in.named)
	if err != nil {
		in.popFrame(f)
		return nil, err
	}
	return in.finish(f, true)
}

// namedArgs appends keyword arguments to kw.
func namedArgs(kw []KwArg, names *Tuple, values []Object) []KwArg {
	for i, k := range names.Items {
		kw = append(kw, KwArg{string(k.(Str)), values[i]})
	}
	return kw
}

// callHooked asks CallHook before it calls. The hook may keep the arguments, so they are copied off the stack.
func (in *Interp) callHooked(callable Object, args []Object, kwnames *Tuple) (Object, error) {
	var kw []KwArg
	n := len(args)
	if kwnames != nil {
		n -= len(kwnames.Items)
		for i, k := range kwnames.Items {
			kw = append(kw, KwArg{string(k.(Str)), args[n+i]})
		}
	}
	a := slices.Clone(args[:n])
	v, handled, err := in.CallHook(in, callable, a, kw)
	if handled || err != nil {
		if v == nil && err == nil {
			v = None
		}
		return v, err
	}
	return in.Call(callable, a, kw)
}

// starArgs gives the arguments that f(*x) passes.
func starArgs(in *Interp, callable, x Object) ([]Object, error) {
	items, err := in.IterAll(x)
	if err != nil && x.Type().Lookup("__iter__") == nil && x.Type().Lookup("__getitem__") == nil {
		return nil, in.Errorf(in.Exc.TypeError, "%s argument after * must be an iterable, not %s", funcStr(in, callable), TypeName(x))
	}
	return items, err
}

// funcStr names a callable in error messages.
func funcStr(in *Interp, o Object) string {
	q, err := in.GetAttrOpt(o, "__qualname__")
	if err != nil || q == nil {
		s, _ := in.Str(o)
		return s
	}
	name, _ := AsStr(q)
	m, err := in.GetAttrOpt(o, "__module__")
	if err == nil && m != nil {
		if s, ok := AsStr(m); ok && s != "builtins" {
			return s + "." + name + "()"
		}
	}
	return name + "()"
}

// kwFromMapping gives the keyword arguments that f(**m) passes.
func kwFromMapping(in *Interp, callable, m Object) ([]KwArg, error) {
	d, ok := m.(*Dict)
	if !ok {
		d = NewDict()
		if err := d.merge(in, m, callable); err != nil {
			return nil, err
		}
	}
	kw := make([]KwArg, 0, d.Len())
	bad := false
	d.Each(func(k, v Object) bool {
		s, ok := AsStr(k)
		if !ok {
			bad = true
			return false
		}
		kw = append(kw, KwArg{s, v})
		return true
	})
	if bad {
		return nil, in.Errorf(in.Exc.TypeError, "keywords must be strings")
	}
	return kw, nil
}

// merge adds the items of m to the keyword arguments for callable, in which no name may be there twice.
func (d *Dict) merge(in *Interp, m, callable Object) error {
	add := func(k, v Object) error {
		_, dup, err := d.Get(in, k)
		if err != nil {
			return err
		}
		if !dup {
			return d.Set(in, k, v)
		}
		s, _ := in.Str(k)
		return in.Errorf(in.Exc.TypeError, "%s got multiple values for keyword argument '%s'", funcStr(in, callable), s)
	}
	if src, ok := m.(*Dict); ok {
		var err error
		src.Each(func(k, v Object) bool {
			err = add(k, v)
			return err == nil
		})
		return err
	}
	if m.Type().Lookup("keys") == nil {
		return in.Errorf(in.Exc.TypeError, "%s argument after ** must be a mapping, not %s", funcStr(in, callable), TypeName(m))
	}
	names, err := in.CallMethod(m, "keys")
	if err != nil {
		return err
	}
	it, err := in.IterAll(names)
	if err != nil {
		return err
	}
	for _, k := range it {
		v, err := in.GetItem(m, k)
		if err != nil {
			return err
		}
		if err := add(k, v); err != nil {
			return err
		}
	}
	return nil
}

// send resumes a delegate of yield from: out is what it yields, or ret what it returns. Only a generator can be sent more than None without
// a method of that name.
func send(in *Interp, it, v Object) (out, ret Object, err error) {
	if g := bodyOf(it); g != nil {
		return g.resume(in, v, nil)
	}
	switch x := it.(type) {
	case *asyncCall: // it ends by StopIteration
	case Iterator:
		if v == None {
			out, err = x.Next(in)
			if err == nil && out == nil {
				ret = None
			}
			return out, ret, err
		}
	}
	if v == None {
		out, err = in.CallMethod(it, "__next__")
	} else {
		out, err = in.CallMethod(it, "send", v)
	}
	if err != nil && in.Matches(err, in.Exc.StopIteration) {
		return nil, err.(*Raised).Exc.Field("value"), nil
	}
	return out, nil, err
}

// unpack gives the items of an iterable for before targets, or, with after >= 0, for a starred one and after more behind it. Of an iterable
// that is too long only one item too many is taken, as the program can see.
func unpack(in *Interp, v Object, before, after int) ([]Object, error) {
	var items []Object
	switch x := v.(type) {
	case *Tuple:
		items = x.Items
	case *List:
		items = x.Items
	default:
		if v.Type().Lookup("__iter__") == nil && v.Type().Lookup("__getitem__") == nil {
			return nil, in.Errorf(in.Exc.TypeError, "cannot unpack non-iterable %s object", TypeName(v))
		}
		it, err := in.Iter(v)
		if err != nil {
			return nil, err
		}
		for after >= 0 || len(items) <= before {
			x, err := in.Next(it)
			if err != nil {
				return nil, err
			}
			if x == nil {
				break
			}
			items = append(items, x)
		}
	}
	if after >= 0 {
		if len(items) < before+after {
			return nil, in.Errorf(in.Exc.ValueError, "not enough values to unpack (expected at least %d, got %d)", before+after, len(items))
		}
		return items, nil
	}
	if len(items) > before {
		return nil, in.Errorf(in.Exc.ValueError, "too many values to unpack (expected %d)", before)
	}
	if len(items) < before {
		return nil, in.Errorf(in.Exc.ValueError, "not enough values to unpack (expected %d, got %d)", before, len(items))
	}
	return items, nil
}

// withMethods looks a context manager's methods up on its class, __enter__ first, and binds them.
func withMethods(in *Interp, m Object) (exit, enter Object, err error) {
	t := m.Type()
	bind := func(name string) (Object, error) {
		d := t.Lookup(name)
		if d == nil {
			s := ""
			if name == "__exit__" {
				s = " (missed __exit__ method)"
			}
			return nil, in.Errorf(in.Exc.TypeError, "'%s' object does not support the context manager protocol%s", t.errName(), s)
		}
		return in.bindDescr(d, m, t)
	}
	if enter, err = bind("__enter__"); err != nil {
		return nil, nil, err
	}
	exit, err = bind("__exit__")
	return exit, enter, err
}

// excMatches is the test of an except clause: the class, or one in a tuple, which may be nested.
func excMatches(in *Interp, exc, class Object) (bool, error) {
	e, ok := exc.(*Exception)
	if !ok {
		return false, nil
	}
	classes := []Object{class}
	if t, ok := class.(*Tuple); ok {
		classes = t.Items
	}
	for _, c := range classes {
		if t, ok := c.(*Type); !ok || !t.IsSubtype(in.Exc.BaseException) {
			return false, in.Errorf(in.Exc.TypeError, "catching classes that do not inherit from BaseException is not allowed")
		}
	}
	return slices.ContainsFunc(classes, func(c Object) bool { return e.Class.IsSubtype(c.(*Type)) }), nil
}

// raise is the raise statement: o is an exception, or a class that is called for one; cause is what stands behind from, nil if there is
// none. The exception's context is what is being handled now.
func (in *Interp) raise(o, cause Object) error {
	e, err := toException(in, o)
	if err != nil {
		return err
	}
	if cause != nil {
		if cause == None {
			e.Cause, e.Suppress = None, true
		} else {
			ce, err := toException(in, cause)
			if err != nil {
				if in.Matches(err, in.Exc.TypeError) {
					return in.Errorf(in.Exc.TypeError, "exception causes must derive from BaseException")
				}
				return err
			}
			e.Cause, e.Suppress = ce, true
		}
	}
	return in.raiseAgain(e)
}

// named says whether call i has keyword arguments, and where the instruction is that has their names.
func (c *Code) named(i int) (at int, ok bool) {
	if c.ops[i].op() != code.CALL {
		return 0, false
	}
	for at = i - 1; at >= 0 && (c.ops[at].op() == code.PRECALL || c.ops[at].op() == code.CACHE); at-- {
	}
	return at, at >= 0 && c.ops[at].op() == code.KW_NAMES
}

// argNames are the names of the keyword arguments of call i.
func (c *Code) argNames(i int) *Tuple {
	at, _ := c.named(i)
	return c.Consts[c.ops[at].arg].(*Tuple)
}

// unset is the error for the i-th local variable, which has no value.
func (c *Code) unset(in *Interp, i int32) error {
	return in.Errorf(in.Exc.UnboundLocalError, "cannot access local variable '%s' where it is not associated with a value", c.LocalsPlusName(int(i)))
}
