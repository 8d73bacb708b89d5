package pypickle

import (
	"maps"
	"slices"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// unpickler is what an Unpickler holds.
type unpickler struct {
	source
	*module
	in         *vm.Interp
	self       vm.Object // the Unpickler, whose find_class is asked; nil in load and loads
	ready      bool
	proto      int
	fixImports bool
	encoding   string
	errors     string
	buffers    vm.Object // iterator over out-of-band buffers, nil for none
	persistent vm.Object // persistent_load
	stack      []vm.Object
	marks      []int
	memo       map[int64]vm.Object
}

func (s *module) newUnpickler(in *vm.Interp) *unpickler { return &unpickler{module: s, in: in} }

// setUp is __init__, of a file or of data.
func (u *unpickler) setUp(file vm.Object, data []byte, fixImports bool, encoding, errors string, buffers vm.Object) error {
	in := u.in
	src := source{data: data}
	if file != nil {
		var err error
		if src.read, err = in.GetAttrOpt(file, "read"); err != nil {
			return err
		}
		if src.readline, err = in.GetAttrOpt(file, "readline"); err != nil {
			return err
		}
		if src.read == nil || src.readline == nil {
			return in.Errorf(in.Exc.TypeError, "file must have 'read' and 'readline' attributes")
		}
	}
	*u = unpickler{source: src, module: u.module, in: in, self: u.self, fixImports: fixImports, encoding: encoding, errors: errors, memo: map[int64]vm.Object{}}
	if buffers != vm.None {
		it, err := in.Iter(buffers)
		if err != nil {
			return err
		}
		u.buffers = it
	}
	u.ready = true
	return nil
}

func unpicklerOf(o vm.Object) *unpickler { return o.(*vm.Instance).Native.(*unpickler) }

// makeUnpickler makes Unpickler and the class of its memo.
func (s *module) makeUnpickler(in *vm.Interp) {
	s.makeUnpicklerMemo(in)
	s.unpickler = in.NewNativeType(vm.Spec{Name: "Unpickler", Module: "_pickle", NoDict: true, Strict: true,
		Doc: "This takes a binary file for reading a pickle data stream.",
		New: func(in *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.NewInstance(cls, &unpickler{module: s, in: in}), nil
		},
		Methods: map[string]vm.GoFunc{
			"__init__": clinic.Method("Unpickler", "file, *, fix_imports:bool=True, encoding:str='ASCII', errors:str='strict', buffers=None", func(c *clinic.Call) (vm.Object, error) {
				u := unpicklerOf(c.Self)
				u.self = c.Self
				if err := u.setUp(c.Args[0], nil, c.Bool(1), c.Str(2), c.Str(3), c.Args[4]); err != nil {
					return nil, err
				}
				var err error
				u.persistent, err = c.GetAttrOpt(c.Self, "persistent_load")
				return vm.None, err
			}),
			"load": clinic.Method("load", "", func(c *clinic.Call) (vm.Object, error) {
				u := unpicklerOf(c.Self)
				if !u.ready {
					return nil, c.Errorf(s.unpickling, "Unpickler.__init__() was not called by %s.__init__()", vm.TypeName(c.Self))
				}
				return u.load()
			}),
			"find_class": clinic.Method("find_class", "module_name, global_name, /", func(c *clinic.Call) (vm.Object, error) {
				mod, mok := vm.AsStr(c.Args[0])
				name, nok := vm.AsStr(c.Args[1])
				if !mok || !nok {
					return nil, c.Errorf(c.Exc.TypeError, "find_class() arguments must be str")
				}
				return unpicklerOf(c.Self).findClass(mod, name)
			}),
			"__sizeof__": clinic.Method("__sizeof__", "", func(c *clinic.Call) (vm.Object, error) {
				u := unpicklerOf(c.Self)
				return vm.MakeInt(int64(unpicklerSize + 8*len(u.memo) + 8*len(u.marks) + len(u.encoding) + len(u.errors))), nil
			}),
		},
		GetSet: []*vm.GetSet{
			hook("persistent_load", func(o vm.Object) *vm.Object { return &unpicklerOf(o).persistent }),
			{Name: "memo", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
				return vm.NewInstance(s.unpicklerMemo, unpicklerOf(o)), nil
			}, Set: func(in *vm.Interp, o, v vm.Object) error { return s.setLoadMemo(in, unpicklerOf(o), v) }},
		}})
}

const unpicklerSize = 288

func (s *module) makeUnpicklerMemo(in *vm.Interp) {
	s.unpicklerMemo = memoClass(in, "UnpicklerMemoProxy", func(o vm.Object) { clear(unpicklerOf(o).memo) }, func(in *vm.Interp, o vm.Object) (*vm.Dict, error) {
		d := vm.NewDict()
		memo := unpicklerOf(o).memo
		for _, i := range slices.Sorted(maps.Keys(memo)) {
			if err := d.Set(in, vm.MakeInt(i), memo[i]); err != nil {
				return nil, err
			}
		}
		return d, nil
	})
}

// setLoadMemo gives an unpickler the memo of another one, or what a copy of one holds.
func (s *module) setLoadMemo(in *vm.Interp, u *unpickler, v vm.Object) error {
	if v == nil {
		return in.Errorf(in.Exc.TypeError, "attribute deletion is not supported")
	}
	memo := map[int64]vm.Object{}
	if v.Type() == s.unpicklerMemo {
		maps.Copy(memo, unpicklerOf(v).memo)
		u.memo = memo
		return nil
	}
	d, ok := vm.AsDict(v)
	if !ok {
		return in.Errorf(in.Exc.TypeError, "'memo' attribute must be an UnpicklerMemoProxy object or dict, not %s", vm.TypeName(v))
	}
	var err error
	d.Each(func(k, v vm.Object) bool {
		i, ok := vm.AsInt(k)
		switch {
		case !ok:
			err = in.Errorf(in.Exc.TypeError, "memo key must be integers")
		case i < 0:
			err = in.Errorf(in.Exc.ValueError, "memo key must be positive integers.")
		}
		memo[i] = v
		return err == nil
	})
	if err == nil {
		u.memo = memo
	}
	return err
}
