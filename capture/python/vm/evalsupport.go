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
func (in *Interp) construct(t *Type, args []Object) (Object, error) {
	o := &Instance{Class: t}
	if t.NumSlots > 0 {
		o.Slots = make([]Object, t.NumSlots)
	}
	fn := t.ctor
	nf := in.pushFrame(fn)
	if fc := fn.Code; fc.simple && len(args)+1 == fc.ArgCount {
		nf.LocalsPlus[0] = o
		copy(nf.LocalsPlus[1:], args)
	} else {
		var few [8]Object
		if err := in.bindArgs(fn, nf.LocalsPlus, append(append(few[:0], o), args...), nil); err != nil {
			in.popFrame(nf)
			return nil, err
		}
	}
	r, err := in.runFrame(nf)
	in.popFrame(nf)
	if err != nil {
		return nil, err
	}
	if r != None {
		return nil, in.Errorf(in.Exc.TypeError, "__init__() should return None, not '%s'", r.Type().Name)
	}
	return o, nil
}

// storeNew stores into an instance's dict and notes at which entry.
func storeNew(ic *inlineCache, x *Instance, name Object, h uint64, v Object) {
	if x.Dict == nil {
		x.Dict = &Dict{entries: make([]dictEntry, 0, max(4, x.Class.width))}
	}
	d := x.Dict
	i := d.findStr(string(name.(Str)), h)
	if i >= 0 {
		d.entries[i].val = v
	} else {
		d.insert(h, name, v)
		i = len(d.entries) - 1
		if i >= x.Class.width && i < smallDict {
			x.Class.width = i + 1
		}
	}
	ic.idx, ic.key = int32(i), dataOf(d.entries[i].key)
}

// cacheStore says whether storing an attribute concerns only the instance's dict or one of its slots, and fills the cache.
func (in *Interp) cacheStore(ic *inlineCache, x *Instance, name string) bool {
	t := x.Class
	if t.hooks().setattr != nil || name == "__class__" || name == "__dict__" {
		return false
	}
	switch d := t.Lookup(name).(type) {
	case nil:
		if !t.HasDict {
			return false
		}
		*ic = inlineCache{typ: t, ver: t.version, kind: attrDict}
		return true
	case *Member:
		if d.Index >= len(x.Slots) || !t.IsSubtype(d.Own) {
			return false
		}
		*ic = inlineCache{typ: t, ver: t.version, kind: attrSlot, idx: int32(d.Index)}
		return true
	}
	return false
}

// What an attribute was found to be; see inlineCache.
const (
	attrDict     uint8 = iota // an entry of the instance's dict
	attrSlot                  // one of __slots__
	attrProperty              // a property with a Python getter
	attrClass                 // a value of the class that binds to nothing
)

// cacheAttr finds an attribute in an instance's dict or slots or a plain one of its class, and fills the cache; nil if it is
// anything else. A property fills the cache and gives nil.
func (in *Interp) cacheAttr(ic *inlineCache, x *Instance, name string, h uint64) Object {
	t := x.Class
	hooks := t.hooks()
	if hooks.getattribute != nil {
		return nil
	}
	var plain Object
	switch d := t.Lookup(name).(type) {
	case nil:
	case *Member:
		if d.Index < len(x.Slots) && x.Slots[d.Index] != nil && t.IsSubtype(d.Own) {
			*ic = inlineCache{typ: t, ver: t.version, idx: int32(d.Index), kind: attrSlot}
			return x.Slots[d.Index]
		}
		return nil
	case *Property:
		if fn, ok := d.Get.(*Function); ok && hooks.getattr == nil {
			*ic = inlineCache{typ: t, ver: t.version, val: fn, kind: attrProperty}
		}
		return nil
	case Int, Float, Str, Bool, *NoneType, *Tuple, *List, *Dict, *Set, *FrozenSet, *Type:
		plain = d
	default:
		if isData(d) {
			return nil
		}
	}
	i := -1
	if x.Dict != nil && x.Dict.live > 0 {
		i = x.Dict.findStr(name, h)
	}
	if i < 0 {
		if plain != nil {
			*ic = inlineCache{typ: t, ver: t.version, val: plain, kind: attrClass}
		}
		return plain
	}
	e := &x.Dict.entries[i]
	*ic = inlineCache{typ: t, ver: t.version, idx: int32(i), key: dataOf(e.key), kind: attrDict}
	return e.val
}

func (in *Interp) loadGlobal(f *Frame, ic *inlineCache, i int) Object {
	name, h := f.Code.Names[i], f.Code.hashes[i]
	if f.Globals.live > 0 {
		if j := f.Globals.findStr(name, h); j >= 0 {
			e := &f.Globals.entries[j]
			*ic = inlineCache{dict: f.Globals, idx: int32(j), key: dataOf(e.key)}
			return e.val
		}
	}
	if j := f.Builtins.findStr(name, h); j >= 0 {
		e := &f.Builtins.entries[j]
		*ic = inlineCache{dict: f.Builtins, idx: int32(j), key: dataOf(e.key), ver: f.Globals.keysVer, typ: ObjectType, val: f.Globals}
		return e.val
	}
	return nil
}

func (in *Interp) loadName(f *Frame, name string) (Object, error) {
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
	return nil, in.nameError(f, name)
}

func (in *Interp) nameError(f *Frame, name string) error {
	e := &Exception{Class: in.Exc.NameError, Args: NewTuple(Str("name '" + name + "' is not defined"))}
	e.SetField("name", Str(name))
	return in.Raise(e)
}

func (in *Interp) unboundDeref(c *Code, i int) error {
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
	kw := make([]KwArg, len(kwnames.Items))
	for i, k := range kwnames.Items {
		kw[i] = KwArg{string(k.(Str)), args[n+i]}
	}
	return in.Call(callable, args[:n], kw)
}

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

func (in *Interp) starArgs(callable, x Object) ([]Object, error) {
	items, err := in.IterAll(x)
	if err != nil && x.Type().Lookup("__iter__") == nil && x.Type().Lookup("__getitem__") == nil {
		return nil, in.Errorf(in.Exc.TypeError, "%s argument after * must be an iterable, not %s", in.funcStr(callable), x.Type().Name)
	}
	return items, err
}

// funcStr names a callable in error messages.
func (in *Interp) funcStr(o Object) string {
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

func (in *Interp) kwFromMapping(callable, m Object) ([]KwArg, error) {
	d, ok := m.(*Dict)
	if !ok {
		d = NewDict()
		if err := in.dictMerge(d, m, callable); err != nil {
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

func (in *Interp) dictMerge(d *Dict, m, callable Object) error {
	if _, ok := unwrap(m).(*Dict); !ok && m.Type().Lookup("keys") == nil {
		return in.Errorf(in.Exc.TypeError, "%s argument after ** must be a mapping, not %s", in.funcStr(callable), m.Type().Name)
	}
	src := NewDict()
	if err := in.dictUpdate(src, m); err != nil {
		return err
	}
	var err error
	src.Each(func(k, v Object) bool {
		if _, dup, _ := d.Get(in, k); dup {
			s, _ := in.Str(k)
			err = in.Errorf(in.Exc.TypeError, "%s got multiple values for keyword argument '%s'", in.funcStr(callable), s)
			return false
		}
		err = d.Set(in, k, v)
		return err == nil
	})
	return err
}

// send resumes a delegate of yield from.
func (in *Interp) send(it, v Object) (out, ret Object, err error) {
	switch x := it.(type) {
	case *Generator:
		return x.resume(in, v, nil)
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

func (in *Interp) unpack(v Object, before, after int) ([]Object, error) {
	var items []Object
	switch x := v.(type) {
	case *Tuple:
		items = x.Items
	case *List:
		items = x.Items
	default:
		if v.Type().Lookup("__iter__") == nil && v.Type().Lookup("__getitem__") == nil {
			return nil, in.Errorf(in.Exc.TypeError, "cannot unpack non-iterable %s object", v.Type().Name)
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

func (in *Interp) withMethods(m Object) (exit, enter Object, err error) {
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

func (in *Interp) excMatches(exc, class Object) (bool, error) {
	e, ok := exc.(*Exception)
	if !ok {
		return false, nil
	}
	check := func(c Object) (bool, error) {
		t, ok := c.(*Type)
		if !ok || !t.IsSubtype(in.Exc.BaseException) {
			return false, in.Errorf(in.Exc.TypeError, "catching classes that do not inherit from BaseException is not allowed")
		}
		return e.Class.IsSubtype(t), nil
	}
	if t, ok := class.(*Tuple); ok {
		for _, c := range t.Items {
			if nested, isT := c.(*Tuple); isT {
				ok, err := in.excMatches(exc, nested)
				if ok || err != nil {
					return ok, err
				}
				continue
			}
			ok, err := check(c)
			if ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	}
	return check(class)
}

func (in *Interp) raise(o, cause Object) error {
	e, err := in.toException(o)
	if err != nil {
		return err
	}
	if cause != nil {
		if cause == None {
			e.Cause, e.Suppress = None, true
		} else {
			ce, err := in.toException(cause)
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

// pendingNames are the names of keyword arguments of the call at which evaluation begins: of a frame that an embedder goes on with.
func (f *Frame) pendingNames() *Tuple {
	ins := f.Code.Instrs
	if f.PC >= len(ins) || ins[f.PC].Op != code.CALL && ins[f.PC].Op != code.PRECALL {
		return nil
	}
	for i := f.PC - 1; i >= 0; i-- {
		switch ins[i].Op {
		case code.PRECALL, code.CACHE:
		case code.KW_NAMES:
			t, _ := f.Code.Consts[ins[i].Arg].(*Tuple)
			return t
		default:
			return nil
		}
	}
	return nil
}
