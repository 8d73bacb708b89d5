package pypickle

import (
	"whittle/capture/python/vm"
)

// saveObject saves an object of any other class as the first of these says that knows it: reducer_override, a dispatch table, __reduce_ex__.
func (p *pickler) saveObject(o vm.Object) error {
	v, done, err := p.reduced(o)
	if done || err != nil {
		return err
	}
	if s, ok := vm.AsStr(v); ok {
		return p.saveGlobal(o, s)
	}
	t, ok := v.(*vm.Tuple)
	if !ok {
		return p.in.Errorf(p.pickling, "__reduce__ must return a string or tuple")
	}
	return p.saveReduce(t, o)
}

// reduced is how an object is made anew. done says that it was saved meanwhile.
func (p *pickler) reduced(o vm.Object) (v vm.Object, done bool, err error) {
	if p.override != nil {
		v, err = p.in.Call(p.override, []vm.Object{o}, nil)
		if err != nil || v != vm.NotImplemented {
			return v, false, err
		}
	}
	t, isType := o.(*vm.Type)
	if isType && t.Type() == vm.TypeType {
		return nil, true, p.saveType(t)
	}
	if _, ok := o.(*vm.Function); ok && o.Type() == vm.FunctionType {
		return nil, true, p.saveGlobal(o, "")
	}
	f, err := p.dispatched(o)
	switch {
	case err != nil:
		return nil, false, err
	case f != nil:
		v, err = p.in.Call(f, []vm.Object{o}, nil)
		return v, false, err
	case isType:
		return nil, true, p.saveGlobal(o, "")
	}
	if f, err = p.in.GetAttrOpt(o, "__reduce_ex__"); f != nil {
		v, err = p.in.Call(f, []vm.Object{vm.MakeInt(int64(p.proto))}, nil)
		return v, false, err
	} else if err != nil {
		return nil, false, err
	}
	if f, err = p.in.GetAttrOpt(o, "__reduce__"); f != nil {
		v, err = p.in.Call(f, nil, nil)
		return v, false, err
	} else if err != nil {
		return nil, false, err
	}
	s, err := p.in.Repr(o)
	if err != nil {
		return nil, false, err
	}
	return nil, false, p.in.Errorf(p.pickling, "can't pickle '%s' object: %s", vm.TypeName(o), s)
}

// dispatched is what the dispatch table has for an object's class.
func (p *pickler) dispatched(o vm.Object) (vm.Object, error) {
	if p.dispatch == nil {
		return p.registered(p.in, "dispatch_table", o.Type())
	}
	v, err := p.in.GetItem(p.dispatch, o.Type())
	if err != nil && p.in.Matches(err, p.in.Exc.KeyError) {
		return nil, nil
	}
	return v, err
}

// saveType saves a class; those of the three singletons have no name by which they are found.
func (p *pickler) saveType(t *vm.Type) error {
	for _, o := range []vm.Object{vm.None, vm.Ellipsis, vm.NotImplemented} {
		if t == o.Type() {
			return p.saveReduce(vm.NewTuple(vm.TypeType, vm.NewTuple(o)), t)
		}
	}
	return p.saveGlobal(t, "")
}

// recipe is what __reduce__ gives: how to make an object anew. Parts that are None or missing are nil.
type recipe struct {
	maker               vm.Object
	args                *vm.Tuple
	state, items, pairs vm.Object
	setter              vm.Object
}

// recipeOf reads the tuple that __reduce__ gave.
func (p *pickler) recipeOf(t *vm.Tuple) (r recipe, err error) {
	fail := func(format string, args ...any) (recipe, error) {
		return recipe{}, p.in.Errorf(p.pickling, format, args...)
	}
	if n := len(t.Items); n < 2 || n > 6 {
		return fail("tuple returned by __reduce__ must contain 2 through 6 elements")
	}
	var parts [6]vm.Object
	for i, v := range t.Items {
		if i < 2 || v != vm.None {
			parts[i] = v
		}
	}
	r = recipe{maker: parts[0], state: parts[2], items: parts[3], pairs: parts[4], setter: parts[5]}
	var ok bool
	switch r.args, ok = vm.AsTuple(parts[1]); {
	case !vm.Callable(r.maker):
		return fail("first item of the tuple returned by __reduce__ must be callable")
	case !ok:
		return fail("second item of the tuple returned by __reduce__ must be a tuple")
	case r.items != nil && !isIterator(r.items):
		return fail("fourth element of the tuple returned by __reduce__ must be an iterator, not %s", vm.TypeName(r.items))
	case r.pairs != nil && !isIterator(r.pairs):
		return fail("fifth element of the tuple returned by __reduce__ must be an iterator, not %s", vm.TypeName(r.pairs))
	case r.setter != nil && !vm.Callable(r.setter):
		return fail("sixth element of the tuple returned by __reduce__ must be a function, not %s", vm.TypeName(r.setter))
	}
	return r, nil
}

func isIterator(o vm.Object) bool {
	if _, ok := o.(vm.Iterator); ok {
		return true
	}
	return o.Type().Lookup("__next__") != nil
}

// saveReduce saves what __reduce__ gave. With a nil o the result is not remembered.
func (p *pickler) saveReduce(t *vm.Tuple, o vm.Object) error {
	r, err := p.recipeOf(t)
	if err != nil {
		return err
	}
	if err := p.saveMade(r, o); err != nil {
		return err
	}
	if o != nil {
		if i, ok := p.memo[o]; ok { // it was saved meanwhile, as a part of itself
			if err := p.op(opPop); err != nil {
				return err
			}
			return p.fetch(i)
		}
		if err := p.remember(o); err != nil {
			return err
		}
	}
	if r.items != nil {
		if err := p.appendAll(r.items); err != nil {
			return err
		}
	}
	if r.pairs != nil {
		if err := p.setAll(r.pairs); err != nil {
			return err
		}
	}
	return p.saveState(r, o)
}

// saveAll saves objects and then writes an instruction.
func (p *pickler) saveAll(code byte, os ...vm.Object) error {
	for _, o := range os {
		if err := p.save(o); err != nil {
			return err
		}
	}
	return p.op(code)
}

func (p *pickler) saveState(r recipe, o vm.Object) error {
	switch {
	case r.state == nil:
		return nil
	case r.setter == nil:
		return p.saveAll(opBuild, r.state)
	}
	for _, x := range []vm.Object{r.setter, o, r.state} {
		if err := p.save(x); err != nil {
			return err
		}
	}
	for _, code := range []byte{opTuple2, opReduce, opPop} {
		if err := p.op(code); err != nil {
			return err
		}
	}
	return nil
}

// saveMade saves the call that makes the object. For calls of __new__ there are instructions from protocol 2 on.
func (p *pickler) saveMade(r recipe, o vm.Object) error {
	if p.proto >= 2 {
		n, err := p.in.GetAttrOpt(r.maker, "__name__")
		if err != nil {
			return err
		}
		switch n {
		case vm.Str("__newobj_ex__"):
			return p.saveNewEx(r)
		case vm.Str("__newobj__"):
			return p.saveNew(r, o)
		}
	}
	return p.saveAll(opReduce, r.maker, r.args)
}

func (p *pickler) saveNew(r recipe, o vm.Object) error {
	if len(r.args.Items) == 0 {
		return p.in.Errorf(p.pickling, "__newobj__ arglist is empty")
	}
	cls, ok := r.args.Items[0].(*vm.Type)
	if !ok {
		return p.in.Errorf(p.pickling, "args[0] from __newobj__ args is not a type")
	}
	if o != nil {
		c, err := p.in.GetAttr(o, "__class__")
		if err != nil {
			return err
		}
		if c != vm.Object(cls) {
			return p.in.Errorf(p.pickling, "args[0] from __newobj__ args has the wrong class")
		}
	}
	return p.saveAll(opNewObj, cls, vm.NewTuple(r.args.Items[1:]...))
}

func (p *pickler) saveNewEx(r recipe) error {
	fail := func(format string, args ...any) error { return p.in.Errorf(p.pickling, format, args...) }
	if n := len(r.args.Items); n != 3 {
		return fail("length of the NEWOBJ_EX argument tuple must be exactly 3, not %d", n)
	}
	c, a, k := r.args.Items[0], r.args.Items[1], r.args.Items[2]
	cls, isType := c.(*vm.Type)
	args, isTuple := vm.AsTuple(a)
	kwargs, isDict := vm.AsDict(k)
	switch {
	case !isType:
		return fail("first item from NEWOBJ_EX argument tuple must be a class, not %s", vm.TypeName(c))
	case !isTuple:
		return fail("second item from NEWOBJ_EX argument tuple must be a tuple, not %s", vm.TypeName(a))
	case !isDict:
		return fail("third item from NEWOBJ_EX argument tuple must be a dict, not %s", vm.TypeName(k))
	}
	if p.proto >= 4 {
		return p.saveAll(opNewObjEx, c, a, k)
	}
	functools, err := p.in.Import("functools")
	if err != nil {
		return err
	}
	partial, err := p.in.GetAttr(functools, "partial")
	if err != nil {
		return err
	}
	maker, err := p.in.GetAttr(cls, "__new__")
	if err != nil {
		return err
	}
	var kw []vm.KwArg
	kwargs.Each(func(k, v vm.Object) bool {
		name, _ := vm.AsStr(k)
		kw = append(kw, vm.KwArg{Name: name, Value: v})
		return true
	})
	call, err := p.in.Call(partial, append([]vm.Object{maker, cls}, args.Items...), kw)
	if err != nil {
		return err
	}
	return p.saveAll(opReduce, call, vm.NewTuple())
}
