package numpy

import (
	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
	"whittle/kernels/ndarray"
)

// DType is a dtype object.
type DType struct {
	D  *ndarray.DType
	np *NumPy
}

// Type is numpy.dtype.
func (d *DType) Type() *vm.Type { return d.np.DTypeType }

// DTypeObject is the object of a dtype; plain ones have one each.
func (np *NumPy) DTypeObject(d *ndarray.DType) vm.Object {
	if d.Flexible() || d.Swapped {
		return &DType{d, np}
	}
	o := np.dtypes[d.Num]
	if o == nil {
		if d.Num == ndarray.Object {
			d = np.object
		}
		o = &DType{d, np}
		np.dtypes[d.Num] = o
	}
	return o
}

// parse is a dtype by its text.
func (np *NumPy) parse(s string) (*ndarray.DType, bool) {
	d, ok := ndarray.ParseDType(s)
	if ok && d.Num == ndarray.Object {
		d = np.object
	}
	return d, ok
}

// ToDType is the dtype that an object means; None is float64.
func (np *NumPy) ToDType(o vm.Object) (*ndarray.DType, error) {
	in := np.In
	switch x := o.(type) {
	case *DType:
		return x.D, nil
	case *vm.NoneType:
		return ndarray.Of(ndarray.Float64), nil
	case *vm.Type:
		return np.typeDType(x)
	case vm.Str:
		if d, ok := np.parse(string(x)); ok {
			return d, nil
		}
		return nil, in.Errorf(in.Exc.TypeError, "data type '%s' not understood", string(x))
	}
	if a, err := in.GetAttrOpt(o, "dtype"); err == nil && a != nil {
		if d, ok := a.(*DType); ok {
			return d.D, nil
		}
	}
	r, err := in.Repr(o)
	if err != nil {
		return nil, err
	}
	return nil, in.Errorf(in.Exc.TypeError, "Cannot interpret '%s' as a data type", r)
}

// typeDType is the dtype that a class means.
func (np *NumPy) typeDType(t *vm.Type) (*ndarray.DType, error) {
	switch t {
	case vm.IntType:
		return ndarray.Of(ndarray.Int64), nil
	case vm.FloatType:
		return ndarray.Of(ndarray.Float64), nil
	case vm.BoolType:
		return ndarray.Of(ndarray.Bool), nil
	case vm.ComplexType:
		return ndarray.Of(ndarray.Complex128), nil
	case vm.StrType:
		return ndarray.Of(ndarray.Unicode), nil
	case vm.BytesType:
		return ndarray.Of(ndarray.String), nil
	case vm.ObjectType:
		return np.object, nil
	}
	for _, b := range t.MRO {
		if d, ok := b.Native.(*ndarray.DType); ok {
			if d.Num == ndarray.Object {
				d = np.object
			}
			return d, nil
		}
	}
	switch t.Name { // abstract classes stand for their default
	case "floating", "inexact":
		return ndarray.Of(ndarray.Float64), nil
	case "integer", "signedinteger":
		return ndarray.Of(ndarray.Int64), nil
	case "unsignedinteger":
		return ndarray.Of(ndarray.UInt64), nil
	case "complexfloating":
		return ndarray.Of(ndarray.Complex128), nil
	}
	return np.object, nil
}

// optDType is ToDType of an argument; nil for None.
func (np *NumPy) optDType(o vm.Object) (*ndarray.DType, error) {
	if o == nil || o == vm.None {
		return nil, nil
	}
	return np.ToDType(o)
}

func dtypeRepr(d *ndarray.DType) string {
	name := d.String()
	if d.Num == ndarray.Object {
		name = "O"
	}
	return "dtype('" + name + "')"
}

func (np *NumPy) dtypeType() {
	in := np.In
	get := func(name string, f func(d *ndarray.DType) vm.Object) *vm.GetSet {
		return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return f(o.(*DType).D), nil }}
	}
	compare := func(f func(a, b *ndarray.DType) bool) vm.GoFunc {
		return func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			e, err := np.ToDType(a[1])
			if err != nil || a[1] == vm.None {
				return vm.NotImplemented, nil
			}
			return vm.MakeBool(f(a[0].(*DType).D, e)), nil
		}
	}
	np.DTypeType = in.NewNativeType(vm.Spec{Name: "dtype", Module: "numpy", NoDict: true,
		New: func(in *vm.Interp, _ *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			a, err := in.ParseArgs("dtype", args, kw, "dtype, align=False, copy=False, metadata=None")
			if err != nil {
				return nil, err
			}
			d, err := np.ToDType(a[0])
			if err != nil {
				return nil, err
			}
			return np.DTypeObject(d), nil
		},
		Methods: map[string]vm.GoFunc{
			"__repr__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return vm.Str(dtypeRepr(a[0].(*DType).D)), nil
			},
			"__str__": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return vm.Str(a[0].(*DType).D.String()), nil
			},
			"__eq__": compare((*ndarray.DType).Same),
			"__ne__": compare(func(a, b *ndarray.DType) bool { return !a.Same(b) }),
			"__lt__": compare(func(a, b *ndarray.DType) bool { return !a.Same(b) && ndarray.CanCast(a, b, "safe") }),
			"__le__": compare(func(a, b *ndarray.DType) bool { return ndarray.CanCast(a, b, "safe") }),
			"__gt__": compare(func(a, b *ndarray.DType) bool { return !a.Same(b) && ndarray.CanCast(b, a, "safe") }),
			"__ge__": compare(func(a, b *ndarray.DType) bool { return ndarray.CanCast(b, a, "safe") }),
			"__hash__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				h, err := in.Hash(vm.Str(a[0].(*DType).D.Str()))
				return vm.MakeInt(int64(h)), err
			},
			"__bool__": func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) { return vm.True, nil },
			"__reduce__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				d := a[0].(*DType).D
				s := d.Str()[1:]
				if d.Num == ndarray.Object {
					s = "O8"
				}
				order := string(d.ByteOrder())
				if order == "=" {
					order = "<"
				}
				state := vm.NewTuple(vm.MakeInt(3), vm.Str(order), vm.None, vm.None, vm.None, vm.MakeInt(-1), vm.MakeInt(-1), vm.MakeInt(0))
				return vm.NewTuple(np.DTypeType, vm.NewTuple(vm.Str(s), vm.False, vm.True), state), nil
			},
			"__setstate__": clinic.Method("__setstate__", "state", func(c *clinic.Call) (vm.Object, error) {
				if t, ok := vm.AsTuple(c.Args[0]); ok && len(t.Items) > 1 {
					if o, _ := vm.AsStr(t.Items[1]); o == ">" {
						return nil, c.Errorf(c.Exc.ValueError, "a dtype in the other byte order cannot be unpickled")
					}
				}
				return vm.None, nil
			}),
			"newbyteorder": clinic.Method("newbyteorder", "new_order:str='S', /", func(c *clinic.Call) (vm.Object, error) {
				d := *c.Self.(*DType).D
				switch c.Str(0) {
				case "S", "swap":
					d.Swapped = !d.Swapped
				case ">", "B", "big":
					d.Swapped = true
				default:
					d.Swapped = false
				}
				if d.Size == 1 {
					d.Swapped = false
				}
				return np.DTypeObject(&d), nil
			}),
		},
		GetSet: []*vm.GetSet{
			get("name", func(d *ndarray.DType) vm.Object { return vm.Str(d.Name()) }),
			get("str", func(d *ndarray.DType) vm.Object { return vm.Str(d.Str()) }),
			get("kind", func(d *ndarray.DType) vm.Object { return vm.Str(string(rune(d.Kind))) }),
			get("char", func(d *ndarray.DType) vm.Object { return vm.Str(string(rune(d.Char()))) }),
			get("num", func(d *ndarray.DType) vm.Object { return vm.MakeInt(int64(d.Num)) }),
			get("itemsize", func(d *ndarray.DType) vm.Object { return vm.MakeInt(int64(d.Size)) }),
			get("alignment", func(d *ndarray.DType) vm.Object {
				switch {
				case d.Num == ndarray.String:
					return vm.MakeInt(1)
				case d.Num == ndarray.Unicode:
					return vm.MakeInt(4)
				case d.Kind == 'c':
					return vm.MakeInt(int64(d.Size / 2))
				}
				return vm.MakeInt(int64(d.Size))
			}),
			get("byteorder", func(d *ndarray.DType) vm.Object { return vm.Str(string(rune(d.ByteOrder()))) }),
			get("isnative", func(d *ndarray.DType) vm.Object { return vm.MakeBool(!d.Swapped) }),
			get("hasobject", func(d *ndarray.DType) vm.Object { return vm.MakeBool(d.Num == ndarray.Object) }),
			get("type", func(d *ndarray.DType) vm.Object { return np.scalars[d.Num] }),
			get("names", func(*ndarray.DType) vm.Object { return vm.None }),
			get("fields", func(*ndarray.DType) vm.Object { return vm.None }),
			get("subdtype", func(*ndarray.DType) vm.Object { return vm.None }),
			get("shape", func(*ndarray.DType) vm.Object { return vm.NewTuple() }),
			get("ndim", func(*ndarray.DType) vm.Object { return vm.MakeInt(0) }),
			get("metadata", func(*ndarray.DType) vm.Object { return vm.None }),
			get("base", func(d *ndarray.DType) vm.Object { return np.DTypeObject(d) }),
			get("descr", func(d *ndarray.DType) vm.Object {
				return vm.NewList(vm.NewTuple(vm.Str(""), vm.Str(d.Str())))
			}),
			get("flags", func(d *ndarray.DType) vm.Object {
				if d.Num == ndarray.Object {
					return vm.MakeInt(63)
				}
				return vm.MakeInt(0)
			}),
		},
		Class: map[string]vm.GoFunc{"__class_getitem__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.ClassGetItem(in, a, nil)
		}},
	})
}
