package torch

import (
	"fmt"
	"slices"
	"strings"

	"whittle/capture/python/vm"
	"whittle/kernels/tensor"
)

// Tensor is a torch.Tensor, or an instance of a subclass of it.
type Tensor struct {
	T     *tensor.Tensor
	class *vm.Type
	dict  *vm.Dict

	same *Tensor // see StandFor
}

// Weakly implements vm.Mortal.
func (t *Tensor) Weakly() func() vm.Object { return vm.Weakly(t) }

// StandFor makes t count as o wherever Python asks for identity: a trace has objects of its own for the tensors that came in, and a new
// one for each result of a call that gives back the tensor it was given.
func (t *Tensor) StandFor(o *Tensor) {
	if o.same != nil {
		o = o.same
	}
	t.same = o
}

// Identified implements vm.Alias.
func (t *Tensor) Identified() vm.Object {
	if t.same != nil {
		return t.same
	}
	return t
}

// Type is the object's class.
func (t *Tensor) Type() *vm.Type { return t.class }

// SetType makes the object one of another class of tensors, as __class__ = c does.
func (t *Tensor) SetType(c *vm.Type) bool {
	for _, b := range c.MRO {
		if b.Name == "Tensor" && b.Module == "torch" {
			t.class = c
			return true
		}
	}
	return false
}

// AttrDict is the object's __dict__.
func (t *Tensor) AttrDict(create bool) *vm.Dict {
	if t.dict == nil && create {
		t.dict = vm.NewDict()
	}
	return t.dict
}

// Wrap is the Python object of a tensor; one tensor has one object.
func (t *Torch) Wrap(x *tensor.Tensor) vm.Object {
	if x == nil {
		return vm.None
	}
	if p, ok := x.Py.(*Tensor); ok {
		return p
	}
	p := &Tensor{T: x, class: t.TensorType}
	if m := modeOf(x); m != nil {
		p.class = m.Class()
	}
	x.Py = p
	return p
}

// WrapAs is Wrap with a subclass of torch.Tensor.
func (t *Torch) WrapAs(x *tensor.Tensor, cls *vm.Type) *Tensor {
	p := &Tensor{T: x, class: cls}
	x.Py = p
	return p
}

// DType is torch.float32 and the like.
type DType struct {
	D    tensor.DType
	name string
	t    *Torch
}

// Type is torch.dtype.
func (d *DType) Type() *vm.Type { return d.t.DTypeType }

// DTypeObject is the Python object of a dtype.
func (t *Torch) DTypeObject(d tensor.DType) vm.Object {
	o := t.dtypes[d]
	if o == nil {
		o = &DType{D: d, name: d.String(), t: t}
		t.dtypes[d] = o
	}
	return o
}

// Device is a torch.device.
type Device struct {
	D tensor.Device
	t *Torch
}

// Type is torch.device.
func (d *Device) Type() *vm.Type { return d.t.DeviceType }

// MemoryFormat is torch.contiguous_format and the like.
type MemoryFormat struct {
	F     tensor.MemoryFormat
	class *vm.Type
}

// Type is torch.memory_format.
func (m *MemoryFormat) Type() *vm.Type { return m.class }

// Layout is torch.strided.
type Layout struct {
	L     tensor.Layout
	class *vm.Type
}

// Type is torch.layout.
func (l *Layout) Type() *vm.Type { return l.class }

// Generator is a torch.Generator.
type Generator struct {
	G     *tensor.Generator
	class *vm.Type
}

// Type is torch.Generator.
func (g *Generator) Type() *vm.Type { return g.class }

// Size makes a torch.Size.
func (t *Torch) Size(dims []int64) vm.Object { return t.sizeTuple(ints(dims)) }

func ints(dims []int64) []vm.Object {
	items := make([]vm.Object, len(dims))
	for i, d := range dims {
		items[i] = vm.MakeInt(d)
	}
	return items
}

func (t *Torch) sizeTuple(items []vm.Object) vm.Object {
	return &vm.Instance{Class: t.SizeType, Native: &vm.Tuple{Items: items}}
}

// sizes are the sizes of x in the given dimensions, or in all; symbolic where a trace has them so.
func (t *Torch) sizes(x *tensor.Tensor, dims ...int) []vm.Object { return t.extents(x, false, dims) }

// extents are sizes or strides.
func (t *Torch) extents(x *tensor.Tensor, stride bool, dims []int) []vm.Object {
	if t.Sizes != nil {
		if s := t.Sizes(x, stride, dims...); s != nil {
			return s
		}
	}
	if m := modeOf(x); m != nil {
		if s := m.Extents(x, stride, dims...); s != nil {
			return s
		}
	}
	of := x.Shape
	if stride {
		of = x.Stride
	}
	if len(dims) == 0 {
		return ints(of)
	}
	out := make([]vm.Object, len(dims))
	for i, d := range dims {
		out[i] = vm.MakeInt(of[d])
	}
	return out
}

func (t *Torch) sizeOf(x *tensor.Tensor) vm.Object { return t.sizeTuple(t.sizes(x)) }

// product multiplies sizes.
func (t *Torch) product(items []vm.Object) (vm.Object, error) {
	n := int64(1)
	var sym []vm.Object
	for _, x := range items {
		if v, ok := x.(vm.Int); ok {
			n *= int64(v)
		} else {
			sym = append(sym, x)
		}
	}
	if len(sym) == 0 {
		return vm.MakeInt(n), nil
	}
	out := sym[0]
	var err error
	for _, x := range sym[1:] {
		if out, err = t.In.CallMethod(out, "__mul__", x); err != nil {
			return nil, err
		}
	}
	if n != 1 {
		return t.In.CallMethod(out, "__mul__", vm.MakeInt(n))
	}
	return out, nil
}

func (t *Torch) basicTypes() {
	in := t.In
	t.DTypeType = in.NewNativeType(vm.Spec{Name: "dtype", Module: "torch", NoDict: true, Final: true, Methods: map[string]vm.GoFunc{
		"__repr__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.Str("torch." + a[0].(*DType).name), nil
		},
		"__reduce__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.Str(a[0].(*DType).name), nil
		},
		"__deepcopy__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return a[0], nil },
	}, GetSet: []*vm.GetSet{
		getter("is_floating_point", func(o vm.Object) vm.Object { return vm.MakeBool(o.(*DType).D.IsFloat()) }),
		getter("is_complex", func(o vm.Object) vm.Object { return vm.MakeBool(o.(*DType).D.Kind() == tensor.KindComplex) }),
		getter("is_signed", func(o vm.Object) vm.Object {
			d := o.(*DType).D
			return vm.MakeBool(d != tensor.Bool && !strings.HasPrefix(d.String(), "uint"))
		}),
		getter("itemsize", func(o vm.Object) vm.Object { return vm.MakeInt(int64(o.(*DType).D.Size())) }),
	}})
	t.DeviceType = in.NewNativeType(vm.Spec{Name: "device", Module: "torch", NoDict: true, Final: true,
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			for _, k := range kw {
				args = append(args, k.Value)
			}
			if len(args) == 0 {
				return nil, in.Errorf(in.Exc.TypeError, "Device() missing required argument: type")
			}
			if d, ok := args[0].(*Device); ok {
				return d, nil
			}
			s, ok := vm.AsStr(args[0])
			if !ok {
				return nil, in.Errorf(in.Exc.TypeError, "Device(): argument 'type' must be str, not %s", args[0].Type().Name)
			}
			d, err := parseDevice(s)
			if err != nil {
				return nil, t.Error(err)
			}
			if len(args) > 1 {
				if i, ok := vm.AsInt(args[1]); ok {
					d.Index = int(i)
				}
			}
			return &Device{d, t}, nil
		},
		Methods: map[string]vm.GoFunc{
			"__repr__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				d := a[0].(*Device).D
				if d.Index < 0 {
					return vm.Str(fmt.Sprintf("device(type='%s')", d.Type)), nil
				}
				return vm.Str(fmt.Sprintf("device(type='%s', index=%d)", d.Type, d.Index)), nil
			},
			"__str__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				d := a[0].(*Device).D
				if d.Index < 0 {
					return vm.Str(d.Type), nil
				}
				return vm.Str(fmt.Sprintf("%s:%d", d.Type, d.Index)), nil
			},
			"__eq__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				o, ok := a[1].(*Device)
				return vm.MakeBool(ok && o.D == a[0].(*Device).D), nil
			},
			"__hash__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return vm.MakeInt(int64(len(a[0].(*Device).D.Type))), nil
			},
			"__deepcopy__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return a[0], nil },
			"__reduce__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				d := a[0].(*Device).D
				args := []vm.Object{vm.Str(d.Type)}
				if d.Index >= 0 {
					args = append(args, vm.MakeInt(int64(d.Index)))
				}
				return vm.NewTuple(t.DeviceType, vm.NewTuple(args...)), nil
			},
			"__enter__": t.inPython("torch.utils._device", "_enter"),
			"__exit__":  t.inPython("torch.utils._device", "_leave"),
		}, GetSet: []*vm.GetSet{
			getter("type", func(o vm.Object) vm.Object { return vm.Str(o.(*Device).D.Type) }),
			getter("index", func(o vm.Object) vm.Object {
				if i := o.(*Device).D.Index; i >= 0 {
					return vm.MakeInt(int64(i))
				}
				return vm.None
			}),
		}})
	t.SizeType = in.NewNativeType(vm.Spec{Name: "Size", Module: "torch", Bases: []*vm.Type{vm.TupleType}, NoDict: true,
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			var items []vm.Object
			if len(args) > 0 {
				var err error
				if items, err = in.IterAll(args[0]); err != nil {
					return nil, err
				}
			}
			return &vm.Instance{Class: cls, Native: &vm.Tuple{Items: items}}, nil
		},
		Methods: map[string]vm.GoFunc{
			"__repr__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				tup, _ := vm.AsTuple(a[0])
				s := "torch.Size(["
				for i, x := range tup.Items {
					if i > 0 {
						s += ", "
					}
					r, err := in.Repr(x)
					if err != nil {
						return nil, err
					}
					s += r
				}
				return vm.Str(s + "])"), nil
			},
			"__reduce__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				tup, _ := vm.AsTuple(a[0])
				return vm.NewTuple(t.SizeType, vm.NewTuple(vm.NewTuple(tup.Items...))), nil
			},
			"numel": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				tup, _ := vm.AsTuple(a[0])
				return t.product(tup.Items)
			},
			// What a size and other tuples make together is a size; so is a part of one.
			"__add__":     t.sizeFrom("__add__"),
			"__mul__":     t.sizeFrom("__mul__"),
			"__rmul__":    t.sizeFrom("__rmul__"),
			"__getitem__": t.sizeFrom("__getitem__"),
		}})
	mf := in.NewNativeType(vm.Spec{Name: "memory_format", Module: "torch", NoDict: true, Final: true, Methods: map[string]vm.GoFunc{
		"__repr__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.Str("torch." + string(a[0].(*MemoryFormat).F)), nil
		}}})
	for _, f := range []tensor.MemoryFormat{tensor.ContiguousFormat, tensor.PreserveFormat, tensor.ChannelsLast, tensor.ChannelsLast3d} {
		t.formats[f] = &MemoryFormat{f, mf}
	}
	lt := in.NewNativeType(vm.Spec{Name: "layout", Module: "torch", NoDict: true, Final: true, Methods: map[string]vm.GoFunc{
		"__repr__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.Str("torch." + string(a[0].(*Layout).L)), nil
		}}})
	t.layout = &Layout{tensor.Strided, lt}
	t.SymIntType = t.scalarType(tensor.Int64)
}

// sizeFrom is a method of tuple whose results are sizes where they are tuples.
func (t *Torch) sizeFrom(method string) vm.GoFunc {
	return func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		tup, _ := vm.AsTuple(a[0])
		args := slices.Clone(a[1:])
		for i, x := range args {
			if o, ok := vm.AsTuple(x); ok {
				args[i] = o
			}
		}
		v, err := in.CallMethod(tup, method, args...)
		if r, ok := v.(*vm.Tuple); ok && err == nil {
			if _, one := args[0].(vm.Int); !one || method != "__getitem__" {
				return &vm.Instance{Class: t.SizeType, Native: &vm.Tuple{Items: r.Items}}, nil
			}
		}
		return v, err
	}
}

func getter(name string, f func(o vm.Object) vm.Object) *vm.GetSet {
	return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, self vm.Object) (vm.Object, error) { return f(self), nil }}
}
