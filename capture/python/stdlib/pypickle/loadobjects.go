package pypickle

import (
	"whittle/capture/python/vm"
)

func init() {
	loaders[opGlobal] = value(func(u *unpickler) (vm.Object, error) { return u.named("utf-8") })
	loaders[opStackGlobal] = value((*unpickler).stackGlobal)
	loaders[opInst] = value((*unpickler).inst)
	loaders[opObj] = value((*unpickler).obj)
	loaders[opNewObj] = value(func(u *unpickler) (vm.Object, error) { return u.newObject("NEWOBJ", false) })
	loaders[opNewObjEx] = value(func(u *unpickler) (vm.Object, error) { return u.newObject("NEWOBJ_EX", true) })
	loaders[opReduce] = value((*unpickler).reduce)
	loaders[opBuild] = (*unpickler).build
	for code, n := range map[byte]int{opExt1: 1, opExt2: 2, opExt4: 4} {
		loaders[code] = value(func(u *unpickler) (vm.Object, error) {
			i, err := u.number(n)
			if err != nil {
				return nil, err
			}
			return u.extension(int64(int32(i)))
		})
	}
	loaders[opPersID] = value(func(u *unpickler) (vm.Object, error) {
		b, err := u.line()
		if err != nil {
			return nil, err
		}
		if u.persistent != nil && !ascii(string(b)) {
			return nil, u.fail("persistent IDs in protocol 0 must be ASCII strings")
		}
		return u.loadPersistent(vm.Str(b[:len(b)-1]))
	})
	loaders[opBinPersID] = value(func(u *unpickler) (vm.Object, error) {
		if u.persistent == nil {
			return u.loadPersistent(nil)
		}
		id, err := u.pop()
		if err != nil {
			return nil, err
		}
		return u.loadPersistent(id)
	})
}

func (u *unpickler) loadPersistent(id vm.Object) (vm.Object, error) {
	if u.persistent == nil {
		return nil, u.fail("A load persistent id instruction was encountered,\nbut no persistent_load function was specified.")
	}
	return u.in.Call(u.persistent, []vm.Object{id}, nil)
}

// named reads the two lines that name a class.
func (u *unpickler) named(encoding string) (vm.Object, error) {
	var names [2]vm.Object
	for i := range names {
		b, err := u.line()
		if err != nil {
			return nil, err
		}
		if len(b) < 2 {
			return nil, u.truncated()
		}
		s, err := u.in.Decode(b[:len(b)-1], encoding, "strict")
		if err != nil {
			return nil, err
		}
		names[i] = vm.Str(s)
	}
	return u.global(names[0], names[1])
}

func (u *unpickler) stackGlobal() (vm.Object, error) {
	name, err := u.pop()
	if err != nil {
		return nil, err
	}
	mod, err := u.pop()
	if err != nil {
		return nil, err
	}
	_, mok := mod.(vm.Str)
	_, nok := name.(vm.Str)
	if !mok || !nok {
		return nil, u.fail("STACK_GLOBAL requires str")
	}
	return u.global(mod, name)
}

// inst and obj make instances as the first protocols did.
func (u *unpickler) inst() (vm.Object, error) {
	at, err := u.marker()
	if err != nil {
		return nil, err
	}
	cls, err := u.named("ascii")
	if err != nil {
		return nil, err
	}
	args, err := u.popTo(at)
	if err != nil {
		return nil, err
	}
	return u.instantiate(cls, args)
}

func (u *unpickler) obj() (vm.Object, error) {
	at, err := u.marker()
	if err != nil {
		return nil, err
	}
	if len(u.stack)-at < 1 {
		return nil, u.underflow()
	}
	args, err := u.popTo(at + 1)
	if err != nil {
		return nil, err
	}
	cls, err := u.pop()
	if err != nil {
		return nil, err
	}
	return u.instantiate(cls, args)
}

// instantiate calls a class; one that needs nothing is made without its __init__.
func (u *unpickler) instantiate(cls vm.Object, args []vm.Object) (vm.Object, error) {
	if _, ok := cls.(*vm.Type); ok && len(args) == 0 {
		f, err := u.in.GetAttrOpt(cls, "__getinitargs__")
		if err != nil {
			return nil, err
		}
		if f == nil {
			return u.in.CallMethod(cls, "__new__", cls)
		}
	}
	return u.in.Call(cls, args, nil)
}

// newObject calls a class's __new__.
func (u *unpickler) newObject(name string, keywords bool) (vm.Object, error) {
	var kw vm.Object = vm.NewDict()
	var err error
	if keywords {
		if kw, err = u.pop(); err != nil {
			return nil, err
		}
	}
	args, err := u.pop()
	if err != nil {
		return nil, err
	}
	c, err := u.pop()
	if err != nil {
		return nil, err
	}
	cls, isType := c.(*vm.Type)
	t, isTuple := vm.AsTuple(args)
	d, isDict := vm.AsDict(kw)
	switch {
	case !isType:
		return nil, u.fail("%s class argument must be a type, not %s", name, vm.TypeName(c))
	case cls.New == nil:
		return nil, u.fail("%s class argument '%s' doesn't have __new__", name, cls.Name)
	case !isTuple:
		return nil, u.fail("%s args argument must be a tuple, not %s", name, vm.TypeName(args))
	case !isDict:
		return nil, u.fail("%s kwargs argument must be a dict, not %s", name, vm.TypeName(kw))
	}
	f, err := u.in.GetAttr(cls, "__new__")
	if err != nil {
		return nil, err
	}
	var kwargs []vm.KwArg
	d.Each(func(k, v vm.Object) bool {
		n, ok := vm.AsStr(k)
		if !ok {
			err = u.in.Errorf(u.in.Exc.TypeError, "keywords must be strings")
			return false
		}
		kwargs = append(kwargs, vm.KwArg{Name: n, Value: v})
		return true
	})
	if err != nil {
		return nil, err
	}
	return u.in.Call(f, append([]vm.Object{cls}, t.Items...), kwargs)
}

func (u *unpickler) reduce() (vm.Object, error) {
	args, err := u.pop()
	if err != nil {
		return nil, err
	}
	f, err := u.pop()
	if err != nil {
		return nil, err
	}
	t, ok := vm.AsTuple(args)
	if !ok {
		return nil, u.in.Errorf(u.in.Exc.TypeError, "argument list must be a tuple")
	}
	return u.in.Call(f, append([]vm.Object(nil), t.Items...), nil)
}

// extension finds what copyreg has under a number.
func (u *unpickler) extension(code int64) (vm.Object, error) {
	if code <= 0 {
		return nil, u.fail("EXT specifies code <= 0")
	}
	key := vm.MakeInt(code)
	if v, err := u.registered(u.in, "_extension_cache", key); v != nil || err != nil {
		return v, err
	}
	pair, err := u.registered(u.in, "_inverted_registry", key)
	if err != nil {
		return nil, err
	}
	if pair == nil {
		return nil, u.in.Errorf(u.in.Exc.ValueError, "unregistered extension code %d", code)
	}
	t, ok := pair.(*vm.Tuple)
	if ok = ok && len(t.Items) == 2; ok {
		_, mok := vm.AsStr(t.Items[0])
		_, nok := vm.AsStr(t.Items[1])
		ok = mok && nok
	}
	if !ok {
		return nil, u.in.Errorf(u.in.Exc.ValueError, "_inverted_registry[%d] isn't a 2-tuple of strings", code)
	}
	v, err := u.global(t.Items[0], t.Items[1])
	if err != nil {
		return nil, err
	}
	copyreg, err := u.importModule(u.in, "copyreg")
	if err != nil {
		return nil, err
	}
	cache, err := u.in.GetAttr(copyreg, "_extension_cache")
	if err != nil {
		return nil, err
	}
	return v, u.in.SetItem(cache, key, v)
}

// build gives an object its state: by __setstate__, or attribute by attribute.
func (u *unpickler) build() error {
	if len(u.stack)-2 < u.fence() {
		return u.underflow()
	}
	state, err := u.pop()
	if err != nil {
		return err
	}
	o := u.stack[len(u.stack)-1]
	set, err := u.in.GetAttrOpt(o, "__setstate__")
	if err != nil {
		return err
	}
	if set != nil {
		_, err := u.in.Call(set, []vm.Object{state}, nil)
		return err
	}
	var slots vm.Object
	if t, ok := vm.AsTuple(state); ok && len(t.Items) == 2 {
		state, slots = t.Items[0], t.Items[1]
	}
	if state != vm.None {
		d, ok := vm.AsDict(state)
		if !ok {
			return u.fail("state is not a dictionary")
		}
		own, err := u.in.GetAttr(o, "__dict__")
		if err != nil {
			return err
		}
		d.Each(func(k, v vm.Object) bool {
			err = u.in.SetItem(own, k, v)
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	if slots == nil {
		return nil
	}
	d, ok := vm.AsDict(slots)
	if !ok {
		return u.fail("slot state is not a dictionary")
	}
	d.Each(func(k, v vm.Object) bool {
		name, ok := vm.AsStr(k)
		if !ok {
			err = u.in.Errorf(u.in.Exc.TypeError, "attribute name must be string, not '%s'", vm.TypeName(k))
			return false
		}
		err = u.in.SetAttr(o, name, v)
		return err == nil
	})
	return err
}
