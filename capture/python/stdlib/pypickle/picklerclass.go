package pypickle

import (
	"slices"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// newPickler makes a pickler that writes to a file, or keeps what it writes.
func (s *module) newPickler(in *vm.Interp, file, protocol vm.Object, fixImports bool, callback vm.Object) (*pickler, error) {
	p := &pickler{module: s, in: in}
	return p, p.setUp(file, protocol, fixImports, callback)
}

// setUp is __init__.
func (p *pickler) setUp(file, protocol vm.Object, fixImports bool, callback vm.Object) error {
	in := p.in
	proto := int64(defaultProtocol)
	if protocol != vm.None {
		var err error
		if proto, err = in.Index(protocol); err != nil {
			return err
		}
		if proto < 0 {
			proto = highestProtocol
		} else if proto > highestProtocol {
			return in.Errorf(in.Exc.ValueError, "pickle protocol must be <= %d", highestProtocol)
		}
	}
	var write vm.Object
	if file != nil {
		var err error
		if write, err = in.GetAttrOpt(file, "write"); err != nil {
			return err
		}
		if write == nil {
			return in.Errorf(in.Exc.TypeError, "file must have a 'write' attribute")
		}
	}
	if callback == vm.None {
		callback = nil
	}
	if callback != nil && proto < 5 {
		return in.Errorf(in.Exc.ValueError, "buffer_callback needs protocol >= 5")
	}
	*p = pickler{module: p.module, in: in, ready: true, proto: int(proto), bin: proto > 0, fixImports: fixImports && proto < 3, callback: callback, memo: map[vm.Object]int{}}
	p.frame, p.write = -1, write
	return nil
}

func picklerOf(o vm.Object) *pickler { return o.(*vm.Instance).Native.(*pickler) }

// makePickler makes Pickler and the class of its memo.
func (s *module) makePickler(in *vm.Interp) {
	s.makePicklerMemo(in)
	s.pickler = in.NewNativeType(vm.Spec{Name: "Pickler", Module: "_pickle", NoDict: true, Strict: true,
		Doc: "This takes a binary file for writing a pickle data stream.",
		New: func(in *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.NewInstance(cls, &pickler{module: s, in: in}), nil
		},
		Methods: map[string]vm.GoFunc{
			"__init__": clinic.Method("Pickler", "file, protocol=None, fix_imports:bool=True, buffer_callback=None", func(c *clinic.Call) (vm.Object, error) {
				p := picklerOf(c.Self)
				if err := p.setUp(c.Args[0], c.Args[1], c.Bool(2), c.Args[3]); err != nil {
					return nil, err
				}
				var err error
				if p.persistent, err = c.GetAttrOpt(c.Self, "persistent_id"); err != nil {
					return nil, err
				}
				p.dispatch, err = c.GetAttrOpt(c.Self, "dispatch_table")
				return vm.None, err
			}),
			"dump": clinic.Method("dump", "obj, /", func(c *clinic.Call) (vm.Object, error) {
				p := picklerOf(c.Self)
				if !p.ready {
					return nil, c.Errorf(s.pickling, "Pickler.__init__() was not called by %s.__init__()", vm.TypeName(c.Self))
				}
				var err error
				if p.override, err = c.GetAttrOpt(c.Self, "reducer_override"); err != nil {
					return nil, err
				}
				err = p.dump(c.Args[0])
				p.override = nil
				if err == nil {
					err = p.flush(c.Interp)
				}
				return vm.None, err
			}),
			"clear_memo": clinic.Method("clear_memo", "", func(c *clinic.Call) (vm.Object, error) {
				clear(picklerOf(c.Self).memo)
				return vm.None, nil
			}),
			"__sizeof__": clinic.Method("__sizeof__", "", func(c *clinic.Call) (vm.Object, error) {
				return vm.MakeInt(int64(picklerSize + len(picklerOf(c.Self).memo)*memoEntrySize)), nil
			}),
		},
		GetSet: []*vm.GetSet{
			flag("bin", func(p *pickler) *bool { return &p.bin }),
			flag("fast", func(p *pickler) *bool { return &p.fast }),
			hook("persistent_id", func(o vm.Object) *vm.Object { return &picklerOf(o).persistent }),
			{Name: "dispatch_table", Get: func(in *vm.Interp, o vm.Object) (vm.Object, error) {
				if d := picklerOf(o).dispatch; d != nil {
					return d, nil
				}
				return nil, in.Errorf(in.Exc.AttributeError, "'%s' object has no attribute 'dispatch_table'", vm.TypeName(o))
			}, Set: func(in *vm.Interp, o, v vm.Object) error {
				p := picklerOf(o)
				if v == nil && p.dispatch == nil {
					return in.Errorf(in.Exc.AttributeError, "dispatch_table")
				}
				p.dispatch = v
				return nil
			}},
			{Name: "memo", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
				return vm.NewInstance(s.picklerMemo, picklerOf(o)), nil
			}, Set: func(in *vm.Interp, o, v vm.Object) error { return s.setMemo(in, picklerOf(o), v) }},
		}})
}

// What an object takes in CPython, and each entry of its memo.
const picklerSize, memoEntrySize = 184, 16

// flag is a number of C that is used as a truth value.
func flag(name string, at func(p *pickler) *bool) *vm.GetSet {
	return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
		p := picklerOf(o)
		if n, ok := p.flags[name]; ok {
			return vm.MakeInt(n), nil
		}
		if *at(p) {
			return vm.MakeInt(1), nil
		}
		return vm.MakeInt(0), nil
	}, Set: func(in *vm.Interp, o, v vm.Object) error {
		if v == nil {
			return in.Errorf(in.Exc.TypeError, "can't delete numeric/char attribute")
		}
		n, err := in.Index(v)
		if err != nil {
			return err
		}
		p := picklerOf(o)
		if p.flags == nil {
			p.flags = map[string]int64{}
		}
		p.flags[name], *at(p) = n, n != 0
		return nil
	}}
}

// hook is an attribute that is a function to be called, which a derived class may have as a method.
func hook(name string, at func(o vm.Object) *vm.Object) *vm.GetSet {
	return &vm.GetSet{Name: name, Get: func(in *vm.Interp, o vm.Object) (vm.Object, error) {
		if f := *at(o); f != nil {
			return f, nil
		}
		return nil, in.Errorf(in.Exc.AttributeError, "%s", name)
	}, Set: func(in *vm.Interp, o, v vm.Object) error {
		if v == nil {
			return in.Errorf(in.Exc.TypeError, "attribute deletion is not supported")
		}
		if !vm.Callable(v) {
			return in.Errorf(in.Exc.TypeError, "%s must be a callable taking one argument", name)
		}
		*at(o) = v
		return nil
	}}
}

// memoClass makes the class of a memo, which is cleared and copied.
func memoClass(in *vm.Interp, name string, clearIt func(o vm.Object), dup func(in *vm.Interp, o vm.Object) (*vm.Dict, error)) *vm.Type {
	return in.NewNativeType(vm.Spec{Name: name, Module: "_pickle", NoDict: true, Strict: true, Attrs: map[string]vm.Object{"__hash__": vm.None},
		New: func(in *vm.Interp, _ *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return nil, in.Errorf(in.Exc.TypeError, "cannot create '_pickle.%s' instances", name)
		},
		Methods: map[string]vm.GoFunc{
			"clear": clinic.Method("clear", "", func(c *clinic.Call) (vm.Object, error) {
				clearIt(c.Self)
				return vm.None, nil
			}),
			"copy": clinic.Method("copy", "", func(c *clinic.Call) (vm.Object, error) {
				d, err := dup(c.Interp, c.Self)
				return d, err
			}),
			"__reduce__": clinic.Method("__reduce__", "", func(c *clinic.Call) (vm.Object, error) {
				d, err := dup(c.Interp, c.Self)
				return vm.NewTuple(vm.DictType, vm.NewTuple(d)), err
			}),
		}})
}

func (s *module) makePicklerMemo(in *vm.Interp) {
	s.picklerMemo = memoClass(in, "PicklerMemoProxy", func(o vm.Object) { clear(picklerOf(o).memo) }, func(in *vm.Interp, o vm.Object) (*vm.Dict, error) {
		d := vm.NewDict()
		memo := picklerOf(o).memo
		objects := make([]vm.Object, 0, len(memo))
		for x := range memo {
			objects = append(objects, x)
		}
		slices.SortFunc(objects, func(a, b vm.Object) int { return memo[a] - memo[b] })
		for _, x := range objects {
			if err := d.Set(in, vm.MakeInt(in.ID(x)), vm.NewTuple(vm.MakeInt(int64(memo[x])), x)); err != nil {
				return nil, err
			}
		}
		return d, nil
	})
}

// setMemo gives a pickler the memo of another one, or what a copy of one holds.
func (s *module) setMemo(in *vm.Interp, p *pickler, v vm.Object) error {
	if v == nil {
		return in.Errorf(in.Exc.TypeError, "attribute deletion is not supported")
	}
	memo := map[vm.Object]int{}
	if v.Type() == s.picklerMemo {
		for x, i := range picklerOf(v).memo {
			memo[x] = i
		}
		p.memo = memo
		return nil
	}
	d, ok := vm.AsDict(v)
	if !ok {
		return in.Errorf(in.Exc.TypeError, "'memo' attribute must be a PicklerMemoProxy object or dict, not %s", vm.TypeName(v))
	}
	for _, v := range d.Values() {
		t, ok := vm.AsTuple(v)
		if !ok || len(t.Items) != 2 {
			return in.Errorf(in.Exc.TypeError, "'memo' values must be 2-item tuples")
		}
		i, ok := vm.AsInt(t.Items[0])
		if !ok {
			return in.Errorf(in.Exc.TypeError, "an integer is required")
		}
		memo[t.Items[1]] = int(i)
	}
	p.memo = memo
	return nil
}
