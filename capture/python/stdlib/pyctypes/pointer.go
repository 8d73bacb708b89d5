package pyctypes

import (
	"whittle/capture/python/vm"
)

// newPointer makes a class of pointers; what they point to may be told later, by set_type.
func (c *lib) newPointer(in *vm.Interp, meta *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	cls, _, err := c.newClass(meta, args, kw)
	if err != nil || cls == nil {
		return nil, err
	}
	l := &layout{class: cls, kind: pointerKind, size: 8, align: 8, pointers: true}
	cls.Native = l
	of, err := in.GetAttrOpt(cls, "_type_")
	if err != nil {
		return nil, err
	}
	if of != nil && of != vm.None {
		return cls, c.pointTo(l, of)
	}
	return cls, nil
}

// pointTo says what pointers of a class point to.
func (c *lib) pointTo(l *layout, of vm.Object) error {
	item := layoutOf(of)
	if item == nil {
		return c.in.Errorf(c.in.Exc.TypeError, "_type_ must have storage info")
	}
	l.item = item
	return nil
}

// pointerTo is POINTER(of): one class for each type, and one for each name of a type that is told later.
func (c *lib) pointerTo(of vm.Object) (vm.Object, error) {
	if t, ok, err := c.pointers.Get(c.in, of); err != nil || ok {
		return t, err
	}
	name, isName := vm.AsStr(of)
	ns := vm.NewDict()
	if !isName {
		t, ok := of.(*vm.Type)
		if !ok {
			return nil, c.in.Errorf(c.in.Exc.TypeError, "must be a ctypes type")
		}
		name = t.Name
		ns.SetStr("_type_", of)
	}
	made, err := c.in.Call(c.metaPointer, []vm.Object{vm.Str("LP_" + name), vm.NewTuple(c.pointer), ns}, nil)
	if err != nil {
		return nil, err
	}
	key := of
	if isName {
		key = vm.MakeInt(c.in.ID(made))
	}
	return made, c.pointers.Set(c.in, key, made)
}

// target is what a pointer points to.
func (d *data) target() uint64 { return load(d.mem) }

// pointTo lets a pointer point to an object.
func (d *data) pointTo(v vm.Object) error {
	if d.layout.item == nil {
		return d.in().Errorf(d.in().Exc.TypeError, "Pointer does not have a _type_")
	}
	src := dataOf(v)
	if src == nil { // any object of ctypes is taken, as CPython takes it
		return d.in().Errorf(d.in().Exc.TypeError, "expected %s instead of %s", d.layout.item.class.Name, v.Type().Name)
	}
	store(d.mem, d.lib.address(src))
	d.hold(1, v, src)
	if src.root.objects != nil {
		d.hold(0, src.root.objects, src.root)
	}
	return nil
}

// pointed is the object that stands so many items after the one that a pointer points to.
func (d *data) pointed(i int64) (*data, error) {
	item := d.layout.item
	a := d.target()
	if a == 0 {
		return nil, d.in().Errorf(d.in().Exc.ValueError, "NULL pointer access")
	}
	mem, owner, err := d.lib.piece(a+uint64(i)*uint64(item.size), item.size)
	if err != nil {
		return nil, err
	}
	p := d.lib.over(item, mem)
	p.root, p.base, p.index, p.awaits = d.root, d, int(i), owner
	return p, nil
}

// pointerType is _Pointer.
func (c *lib) pointerType() *vm.Type {
	typed := func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		if l := layoutOf(cls); l == nil || l.item == nil {
			return nil, in.Errorf(in.Exc.TypeError, "Cannot create instance: has no _type_")
		}
		return c.newData(in, cls, args, kw)
	}
	item := func(d *data, i int64) (vm.Object, error) {
		p, err := d.pointed(i)
		if err != nil {
			return nil, err
		}
		return p.read(p.layout, 0, 0)
	}
	return c.in.NewNativeType(vm.Spec{Name: "_Pointer", Module: "_ctypes", Bases: []*vm.Type{c.cdata}, Meta: c.metaPointer, NoDict: true, New: typed,
		GetSet: []*vm.GetSet{{Name: "contents",
			Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
				d := dataOf(o)
				p, err := d.pointed(0)
				if err != nil {
					return nil, err
				}
				return p.self, nil
			},
			Set: func(in *vm.Interp, o, v vm.Object) error {
				if v == nil {
					return in.Errorf(in.Exc.TypeError, "Pointer does not support item deletion")
				}
				return dataOf(o).pointTo(v)
			}}},
		Methods: map[string]vm.GoFunc{
			"__init__": func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				if len(kw) > 0 || len(args) > 2 {
					return nil, in.Errorf(in.Exc.TypeError, "POINTER() takes at most 1 argument (%d given)", len(args)-1+len(kw))
				}
				if len(args) == 2 {
					return vm.None, dataOf(args[0]).pointTo(args[1])
				}
				return vm.None, nil
			},
			"__bool__": func(_ *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return vm.MakeBool(dataOf(args[0]).target() != 0), nil
			},
			"__getitem__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				d := dataOf(args[0])
				if s, ok := args[1].(*vm.Slice); ok {
					start, n, step, err := span(in, s)
					if err != nil {
						return nil, err
					}
					return run(d.layout.item, n, func(i int) (vm.Object, error) { return item(d, start+int64(i)*step) })
				}
				if !hasIndex(args[1]) {
					return nil, in.Errorf(in.Exc.TypeError, "Pointer indices must be integer")
				}
				i, err := in.Index(args[1])
				if err != nil {
					return nil, err
				}
				return item(d, i)
			},
			"__setitem__": func(in *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				i, err := in.Index(args[1])
				if err != nil {
					return nil, err
				}
				d := dataOf(args[0])
				p, err := d.pointed(i)
				if err != nil {
					return nil, err
				}
				return vm.None, d.write(p.layout, int(i), p.mem, args[2])
			},
			"__delitem__": func(in *vm.Interp, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return nil, in.Errorf(in.Exc.TypeError, "Pointer does not support item deletion")
			},
		}})
}

// span reads the slice of a pointer, which has no end of its own: where it starts, how many items it has, and the step.
func span(in *vm.Interp, s *vm.Slice) (start int64, n int, step int64, err error) {
	step = 1
	var stop int64
	if s.Step != vm.None {
		if step, err = in.Index(s.Step); err != nil {
			return
		}
		if step == 0 {
			return 0, 0, 0, in.Errorf(in.Exc.ValueError, "slice step cannot be zero")
		}
	}
	if s.Start == vm.None {
		if step < 0 {
			return 0, 0, 0, in.Errorf(in.Exc.ValueError, "slice start is required for step < 0")
		}
	} else if start, err = in.Index(s.Start); err != nil {
		return
	}
	if s.Stop == vm.None {
		return 0, 0, 0, in.Errorf(in.Exc.ValueError, "slice stop is required")
	}
	if stop, err = in.Index(s.Stop); err != nil {
		return
	}
	switch {
	case step > 0 && stop > start:
		n = int((stop-start-1)/step + 1)
	case step < 0 && stop < start:
		n = int((stop-start+1)/step + 1)
	}
	return start, n, step, nil
}
