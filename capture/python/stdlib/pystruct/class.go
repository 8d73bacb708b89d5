package pystruct

import (
	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// pyStruct is what a Struct holds.
type pyStruct struct{ l *layout } // nil before __init__

func layoutOf(o vm.Object) *layout {
	if l := o.(*vm.Instance).Native.(*pyStruct).l; l != nil {
		return l
	}
	return unready
}

// unready is the layout of a Struct without a format.
var unready = &layout{size: -1, values: -1}

// readFormat reads a format that is a str or bytes.
func (s *state) readFormat(o vm.Object) (*layout, error) {
	if t, ok := vm.AsStr(o); ok {
		b, err := s.in.Encode(t, "ascii", "strict")
		if err != nil {
			return nil, err
		}
		return s.parse(string(b))
	}
	if !s.isBytes(o, false) {
		return nil, s.in.Errorf(s.in.Exc.TypeError, "Struct() argument 1 must be a str or bytes object, not %s", vm.ArgName(o))
	}
	b, _ := vm.AsBytes(o)
	return s.parse(string(b))
}

// pack, packInto, unpack and unpackFrom are the methods, which the module's functions are, too.
func (s *state) pack(l *layout, args []vm.Object) (vm.Object, error) {
	if len(args) != l.values {
		return nil, s.fail("pack expected %d items for packing (got %d)", l.values, len(args))
	}
	p := make([]byte, l.size)
	if err := l.packTo(s, p, args); err != nil {
		return nil, err
	}
	return vm.Bytes(p), nil
}

func (s *state) packInto(l *layout, args []vm.Object) error {
	switch {
	case len(args) == 0:
		return s.fail("pack_into expected buffer argument")
	case len(args) == 1:
		return s.fail("pack_into expected offset argument")
	case len(args)-2 != l.values:
		return s.fail("pack_into expected %d items for packing (got %d)", l.values, len(args)-2)
	}
	p, ok := vm.WritableBytes(args[0])
	if !ok {
		return s.in.Errorf(s.in.Exc.TypeError, "argument must be read-write bytes-like object, not %s", vm.ArgName(args[0]))
	}
	off, err := s.in.IndexBig(args[1])
	if err != nil {
		return err
	}
	if !off.IsInt64() {
		return s.in.Errorf(s.in.Exc.IndexError, "cannot fit '%s' into an index-sized integer", vm.TypeName(args[1]))
	}
	if p, err = s.part(l, p, off.Int64(), packing); err != nil {
		return err
	}
	return l.packTo(s, p, args[2:])
}

func (s *state) notReady() error {
	return s.in.Errorf(s.in.Exc.RuntimeError, "Struct object is not initialized")
}

// direction is how errors name what is done.
type direction struct{ name, doing, tooFew string }

var (
	packing   = direction{"pack_into", "packing", "no space to pack %d bytes at offset %d"}
	unpacking = direction{"unpack_from", "unpacking", "not enough data to unpack %d bytes at offset %d"}
)

// part is the memory at an offset, of the layout's size.
func (s *state) part(l *layout, p []byte, off int64, d direction) ([]byte, error) {
	if l == unready {
		return nil, s.notReady()
	}
	n := int64(len(p))
	if off < 0 {
		if off+int64(l.size) > 0 {
			return nil, s.fail(d.tooFew, l.size, off)
		}
		if off+n < 0 {
			return nil, s.fail("offset %d out of range for %d-byte buffer", off, n)
		}
		off += n
	}
	if n-off < int64(l.size) {
		least := uint64(off) + uint64(l.size)
		return nil, s.fail("%s requires a buffer of at least %d bytes for %s %d bytes at offset %d (actual buffer size is %d)", d.name, least, d.doing, l.size, off, n)
	}
	return p[off : off+int64(l.size)], nil
}

func (s *state) unpack(l *layout, p []byte) (vm.Object, error) {
	if len(p) != l.size {
		return nil, s.fail("unpack requires a buffer of %d bytes", l.size)
	}
	return l.unpack(p), nil
}

func (s *state) unpackFrom(l *layout, c *clinic.Call, i int) (vm.Object, error) {
	p, err := s.part(l, c.Bytes(i), c.Int(i+1), unpacking)
	if err != nil {
		return nil, err
	}
	return l.unpack(p), nil
}

func (s *state) iterUnpack(l *layout, o vm.Object, iter *vm.Type) (vm.Object, error) {
	if l == unready {
		return nil, s.notReady()
	}
	if l.size == 0 {
		return nil, s.fail("cannot iteratively unpack with a struct of length 0")
	}
	p, ok := vm.AsBytes(o)
	if !ok {
		return nil, s.in.Errorf(s.in.Exc.TypeError, "a bytes-like object is required, not '%s'", vm.TypeName(o))
	}
	if len(p)%l.size != 0 {
		return nil, s.fail("iterative unpacking requires a buffer of a multiple of %d bytes", l.size)
	}
	return &vm.GoIter{T: iter, Left: func() int { return len(p) / l.size }, NextFn: func(*vm.Interp) (vm.Object, error) {
		if len(p) == 0 {
			return nil, nil
		}
		v := l.unpack(p[:l.size])
		p = p[l.size:]
		return v, nil
	}}, nil
}

// What an object takes in CPython, and each run with the mark at their end.
const basicSize, runSize = 56, 32

// classes makes Struct and the class of what its iter_unpack gives.
func (s *state) classes() (class, iter *vm.Type) {
	iter = s.in.NewNativeType(vm.Spec{Name: "unpack_iterator", Module: "_struct", NoDict: true, Final: true, Strict: true,
		New: func(in *vm.Interp, _ *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return nil, in.Errorf(in.Exc.TypeError, "Cannot create 'unpack_iterator objects")
		},
		Methods: map[string]vm.GoFunc{
			"__iter__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return a[0], nil },
			"__next__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				v, err := a[0].(*vm.GoIter).Next(in)
				if v == nil && err == nil {
					return nil, in.RaiseObj(in.Exc.StopIteration)
				}
				return v, err
			},
			"__length_hint__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return vm.MakeInt(int64(a[0].(*vm.GoIter).Left())), nil
			},
		}})
	class = s.in.NewNativeType(vm.Spec{Name: "Struct", Module: "_struct", NoDict: true, Strict: true,
		New: func(_ *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.NewInstance(cls, &pyStruct{}), nil
		},
		Methods: map[string]vm.GoFunc{
			"__init__": clinic.Method("Struct", "format", func(c *clinic.Call) (vm.Object, error) {
				l, err := s.readFormat(c.Args[0])
				if err == nil {
					c.Self.(*vm.Instance).Native.(*pyStruct).l = l
				}
				return vm.None, err
			}),
			"pack": func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				if len(kw) > 0 {
					return nil, in.Errorf(in.Exc.TypeError, "Struct.pack() takes no keyword arguments")
				}
				return s.pack(layoutOf(a[0]), a[1:])
			},
			"pack_into": func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				if len(kw) > 0 {
					return nil, in.Errorf(in.Exc.TypeError, "Struct.pack_into() takes no keyword arguments")
				}
				return vm.None, s.packInto(layoutOf(a[0]), a[1:])
			},
			"unpack": clinic.Method("unpack", "buffer:bytes, /", func(c *clinic.Call) (vm.Object, error) {
				return s.unpack(layoutOf(c.Self), c.Bytes(0))
			}),
			"unpack_from": clinic.Method("unpack_from", "buffer:bytes, offset:int=0", func(c *clinic.Call) (vm.Object, error) {
				return s.unpackFrom(layoutOf(c.Self), c, 0)
			}),
			"iter_unpack": clinic.Method("iter_unpack", "buffer, /", func(c *clinic.Call) (vm.Object, error) {
				return s.iterUnpack(layoutOf(c.Self), c.Args[0], iter)
			}),
			"__sizeof__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return vm.MakeInt(int64(basicSize + runSize*(len(layoutOf(a[0]).runs)+1))), nil
			},
		},
		GetSet: []*vm.GetSet{
			{Name: "format", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return vm.Str(layoutOf(o).format), nil }},
			{Name: "size", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
				return vm.MakeInt(int64(layoutOf(o).size)), nil
			}},
		}})
	return class, iter
}
