package torch

import (
	"strings"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// operators maps a special method to the operator it stands for and the packet that computes it.
var operators = []struct {
	dunder, target, packet string
	reflected              bool // arguments are swapped
}{
	{"__add__", "operator.add", "add", false}, {"__radd__", "operator.add", "add", true},
	{"__sub__", "operator.sub", "sub", false}, {"__rsub__", "operator.sub", "sub", true},
	{"__mul__", "operator.mul", "mul", false}, {"__rmul__", "operator.mul", "mul", true},
	{"__truediv__", "operator.truediv", "div", false}, {"__rtruediv__", "operator.truediv", "div", true}, {"__rdiv__", "operator.truediv", "div", true},
	{"__floordiv__", "operator.floordiv", "floor_divide", false}, {"__rfloordiv__", "operator.floordiv", "floor_divide", true},
	{"__mod__", "operator.mod", "remainder", false}, {"__rmod__", "operator.mod", "remainder", true},
	{"__pow__", "operator.pow", "pow", false}, {"__rpow__", "operator.pow", "pow", true},
	{"__matmul__", "operator.matmul", "matmul", false}, {"__rmatmul__", "operator.matmul", "matmul", true},
	{"__and__", "operator.and_", "bitwise_and", false}, {"__rand__", "operator.and_", "bitwise_and", true},
	{"__or__", "operator.or_", "bitwise_or", false}, {"__ror__", "operator.or_", "bitwise_or", true},
	{"__xor__", "operator.xor", "bitwise_xor", false}, {"__rxor__", "operator.xor", "bitwise_xor", true},
	{"__lshift__", "operator.lshift", "bitwise_left_shift", false}, {"__rshift__", "operator.rshift", "bitwise_right_shift", false},
	{"__iadd__", "operator.iadd", "add_", false}, {"__isub__", "operator.isub", "sub_", false}, {"__imul__", "operator.imul", "mul_", false},
	{"__itruediv__", "operator.itruediv", "div_", false}, {"__ifloordiv__", "operator.ifloordiv", "floor_divide_", false},
	{"__ipow__", "operator.ipow", "pow_", false}, {"__imod__", "operator.imod", "remainder_", false},
	{"__iand__", "operator.iand", "bitwise_and_", false}, {"__ior__", "operator.ior", "bitwise_or_", false}, {"__ixor__", "operator.ixor", "bitwise_xor_", false},
	{"__eq__", "operator.eq", "eq", false}, {"__ne__", "operator.ne", "ne", false}, {"__lt__", "operator.lt", "lt", false},
	{"__le__", "operator.le", "le", false}, {"__gt__", "operator.gt", "gt", false}, {"__ge__", "operator.ge", "ge", false},
	{"__neg__", "operator.neg", "neg", false}, {"__abs__", "operator.abs", "abs", false}, {"__invert__", "operator.invert", "bitwise_not", false},
	{"__pos__", "operator.pos", "positive", false},
}

// converts names the methods of our own that give another tensor, or the tensor itself.
var converts = map[string]bool{"to": true, "type": true, "type_as": true, "float": true, "double": true, "half": true, "bfloat16": true, "int": true, "long": true, "short": true,
	"char": true, "byte": true, "bool": true, "cfloat": true, "cdouble": true, "cpu": true, "new_tensor": true, "unique": true, "unique_consecutive": true}

func (t *Torch) tensorType() {
	ms, fresh := map[string]vm.GoFunc{}, map[string]bool{}
	for _, op := range aten.All() {
		s := op.Sig()
		if s.Namespace == "aten" && len(s.Args) > 0 && s.Args[0].Name == "self" && ms[s.Name] == nil {
			ms[s.Name], fresh[s.Name] = t.making(t.method(s.Name)), true
		}
	}
	for _, op := range aten.All() { // after the others: an overload that has it first decides
		s := op.Sig()
		if at := s.Arg("self"); s.Namespace == "aten" && at > 0 && !s.Args[at].KwOnly && s.Args[at].Type.Base == "Tensor" && ms[s.Name] == nil && len(aten.Signatures(s.Name, true)) > 0 {
			ms[s.Name], fresh[s.Name] = t.making(t.methodAt(s.Name, at)), true
		}
	}
	for _, o := range operators {
		ms[o.dunder], fresh[o.dunder] = t.making(func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			if len(args) == 2 {
				_, isT := args[1].(*Tensor)
				i, other := args[1].(*vm.Instance)
				overrides := other && !t.plainClass(i.Class)
				if !overrides && (!t.operand(args[1]) || o.packet == "matmul" && !isT) {
					return vm.NotImplemented, nil
				}
				if o.reflected {
					args = []vm.Object{args[1], args[0]}
				}
			}
			return t.call(fx.CallFunction, o.target, args, kw, func(args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
				if o.packet == "sub" && o.reflected {
					return t.Packet("aten", "rsub", []vm.Object{args[1], args[0]}, nil)
				}
				if _, first := args[0].(*Tensor); !first && (o.packet != "pow" && o.packet != "remainder" && o.packet != "floor_divide" && o.packet != "div") {
					return t.Packet("aten", o.packet, []vm.Object{args[1], args[0]}, nil)
				}
				if _, first := args[0].(*Tensor); !first && o.packet == "div" {
					r, err := t.Packet("aten", "reciprocal", args[1:2], nil)
					if err != nil {
						return nil, err
					}
					return t.Packet("aten", "mul", []vm.Object{r, args[0]}, nil)
				}
				return t.Packet("aten", o.packet, args, nil)
			})
		}), true
	}
	for name, f := range t.special() {
		f = t.checked(name, f)
		if fresh[name] = converts[name]; fresh[name] {
			f = t.making(f)
		}
		ms[name] = f
	}
	ms["as_subclass"] = t.asSubclass
	t.TensorType = t.In.NewNativeType(vm.Spec{Name: "Tensor", Module: "torch", Methods: ms, GetSet: t.properties(), Attrs: map[string]vm.Object{"__array_priority__": vm.MakeInt(1000)},
		New: func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			return t.legacyNew(cls, t.DefaultDType, args)
		},
		Class: map[string]vm.GoFunc{"__torch_function__": t.defaultFunction, "__torch_dispatch__": t.defaultDispatch},
		Static: map[string]vm.GoFunc{
			"_make_wrapper_subclass": t.wrapperSubclass,
			"_make_subclass": bound("_make_subclass", "cls, data, require_grad=nil", func(_ *vm.Interp, args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return t.call(fx.CallFunction, MakeSubclass, args, nil, t.makeSubclass)
			}),
		}})
	t.In.Operates = t.TensorType
	for name, is := range fresh {
		if b, ok := t.TensorType.Lookup(name).(*vm.Builtin); ok {
			b.Fresh = is
		}
	}
}

// bound is a function with parameters, as vm.NewParams reads them: it gets one argument for each, those at the end aside that were not given and have
// no default.
func bound(name, sig string, f vm.GoFunc) vm.GoFunc {
	p := vm.NewParams(name, sig)
	return func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		all, err := p.Bind(in, args, kw)
		if err != nil {
			return nil, err
		}
		for len(all) > 0 && all[len(all)-1] == nil {
			all = all[:len(all)-1]
		}
		return f(in, all, nil)
	}
}

// asSubclass is Tensor.as_subclass: the tensor, with its history, as an object of another class.
func (t *Torch) asSubclass(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	if len(args) != 2 || len(kw) != 0 {
		return nil, in.Errorf(in.Exc.TypeError, "as_subclass() takes 1 positional argument but %d were given", len(args)-1)
	}
	cls, ok := args[1].(*vm.Type)
	if !ok || !cls.IsSubtype(t.TensorType) {
		return nil, in.Errorf(in.Exc.TypeError, "as_subclass(): argument 'cls' must be a subclass of Tensor")
	}
	v, err := t.Packet("aten", "alias", args[:1], nil)
	if err != nil {
		return nil, err
	}
	return t.WrapAs(v.(*Tensor).T, cls), nil
}

// MakeSubclass is the target under which the construction of a Parameter reaches the hook.
const MakeSubclass = "torch.Tensor._make_subclass"

// makeSubclass is a new tensor over the same storage, of class args[0], with autograd state of its own.
func (t *Torch) makeSubclass(args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	in := t.In
	cls, ok := args[0].(*vm.Type)
	src, ok2 := args[1].(*Tensor)
	if !ok || !ok2 {
		return nil, in.Errorf(in.Exc.TypeError, "_make_subclass() needs a class and a Tensor")
	}
	x := src.T.Alias()
	x.Base = nil
	if t.profiler != nil {
		t.profiler.Operator(aten.Lookup("aten.detach.default"), []aten.Value{src.T}, -1)(nil)
	}
	if t.Grad.IsInference(src.T) {
		t.Grad.MarkInference(x)
	}
	p := t.WrapAs(x, cls)
	if len(args) > 2 {
		on, err := in.Truth(args[2])
		if err != nil {
			return nil, err
		}
		if err := t.requireGrad(x, on); err != nil {
			return nil, t.Error(err)
		}
	}
	return p, nil
}

// operand says whether a Tensor operator accepts o as its other side.
func (t *Torch) operand(o vm.Object) bool {
	switch o.(type) {
	case *Tensor, *Scalar, vm.Int, vm.Float, vm.Bool, vm.Complex:
		return true
	}
	if _, ok := vm.AsInt(o); ok {
		return true
	}
	return t.plainNumber(o) != o
}

// partProperty is the real or the imaginary part of a tensor, a view that can be assigned to.
func (t *Torch) partProperty(name string) *vm.GetSet {
	p := t.viewProperty(name, name)
	p.Set = func(in *vm.Interp, self, v vm.Object) error {
		part, err := p.Get(in, self)
		if err != nil {
			return err
		}
		if _, ok := v.(*Tensor); ok {
			_, err = in.CallMethod(part, "copy_", v)
		} else {
			_, err = in.CallMethod(part, "fill_", v)
		}
		return err
	}
	return p
}

// property reads a tensor attribute through the hook, as PyTorch does for T and the like.
func (t *Torch) viewProperty(name, packet string, extra ...vm.Object) *vm.GetSet {
	return &vm.GetSet{Name: name, Get: func(in *vm.Interp, self vm.Object) (vm.Object, error) {
		return t.call(fx.CallFunction, "getattr", []vm.Object{self, vm.Str(name)}, nil, func(args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return t.Packet("aten", packet, append([]vm.Object{args[0]}, extra...), nil)
		})
	}}
}

// dataOf is a tensor's data as a tensor that autograd knows nothing of.
func (t *Torch) dataOf(args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	p, ok := args[0].(*Tensor)
	if !ok {
		return nil, t.In.Errorf(t.In.Exc.TypeError, "expected a tensor, not %s", args[0].Type().Name)
	}
	if p.T.Fake { // what traces it sees the operator
		data, err := t.Packet("aten", "detach", args, nil)
		if d, ok := data.(*Tensor); ok && err == nil && d != p {
			d.T.Writes = new(int64) // as below
		}
		return data, err
	}
	x := p.T.Alias()
	x.Base, x.Writes = nil, new(int64) // what is written to it is hidden from autograd
	return t.Wrap(x), nil
}

func (t *Torch) properties() []*vm.GetSet {
	T := func(o vm.Object) *tensor.Tensor { return o.(*Tensor).T }
	return []*vm.GetSet{
		getter("shape", func(o vm.Object) vm.Object { return t.sizeOf(T(o)) }),
		getter("dtype", func(o vm.Object) vm.Object { return t.DTypeObject(T(o).DType) }),
		getter("device", func(o vm.Object) vm.Object { return &Device{deviceOf(T(o)), t} }),
		getter("layout", func(o vm.Object) vm.Object { return t.layout }),
		getter("ndim", func(o vm.Object) vm.Object { return vm.MakeInt(int64(len(T(o).Shape))) }),
		getter("itemsize", func(o vm.Object) vm.Object { return vm.MakeInt(int64(T(o).DType.Size())) }),
		getter("nbytes", func(o vm.Object) vm.Object { return vm.MakeInt(T(o).Numel() * int64(T(o).DType.Size())) }),
		getter("is_leaf", func(o vm.Object) vm.Object { return vm.MakeBool(t.Grad.IsLeaf(T(o))) }),
		getter("retains_grad", func(o vm.Object) vm.Object { return vm.MakeBool(t.Grad.RetainsGrad(T(o))) }),
		{Name: "_version", Get: func(in *vm.Interp, o vm.Object) (vm.Object, error) {
			if t.Grad.IsInference(T(o)) {
				return nil, in.Errorf(in.Exc.RuntimeError, "Inference tensors do not track version counter.")
			}
			return vm.MakeInt(T(o).Version()), nil
		}},
		getter("is_cuda", func(vm.Object) vm.Object { return vm.False }),
		getter("is_cpu", func(o vm.Object) vm.Object { return vm.MakeBool(!isMeta(T(o))) }),
		getter("is_meta", func(o vm.Object) vm.Object { return vm.MakeBool(isMeta(T(o))) }),
		getter("is_sparse", func(vm.Object) vm.Object { return vm.False }),
		getter("is_sparse_csr", func(vm.Object) vm.Object { return vm.False }),
		getter("is_xpu", func(vm.Object) vm.Object { return vm.False }),
		getter("is_mps", func(vm.Object) vm.Object { return vm.False }),
		getter("is_mtia", func(vm.Object) vm.Object { return vm.False }),
		getter("is_xla", func(vm.Object) vm.Object { return vm.False }),
		getter("is_ipu", func(vm.Object) vm.Object { return vm.False }),
		getter("is_vulkan", func(vm.Object) vm.Object { return vm.False }),
		getter("is_maia", func(vm.Object) vm.Object { return vm.False }),
		getter("name", func(vm.Object) vm.Object { return vm.None }),
		getter("is_quantized", func(vm.Object) vm.Object { return vm.False }),
		getter("is_mkldnn", func(vm.Object) vm.Object { return vm.False }),
		getter("is_nested", func(vm.Object) vm.Object { return vm.False }),
		getter("names", func(o vm.Object) vm.Object {
			items := make([]vm.Object, len(T(o).Shape))
			for i := range items {
				items[i] = vm.None
			}
			return vm.NewTuple(items...)
		}),
		getter("_base", func(o vm.Object) vm.Object {
			if b := T(o).Base; b != nil {
				return t.Wrap(b)
			}
			return vm.None
		}),
		{Name: "grad_fn", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
			if err := t.Grad.Ambiguous(T(o)); err != nil {
				return nil, t.Error(err)
			}
			return t.nodeObject(t.Grad.Node(T(o))), nil
		}},
		getter("output_nr", func(o vm.Object) vm.Object {
			if t.Grad.Node(T(o)) == nil {
				return vm.MakeInt(0)
			}
			return vm.MakeInt(int64(t.Grad.EdgeOf(T(o)).Nr))
		}),
		{Name: "requires_grad", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
			return vm.MakeBool(t.Grad.RequiresGrad(T(o))), nil
		}, Set: func(in *vm.Interp, o, v vm.Object) error {
			b, err := in.Truth(v)
			if err != nil {
				return err
			}
			return t.Error(t.requireGrad(T(o), b))
		}},
		{Name: "grad", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
			if g := t.Grad.Grad(T(o)); g != nil {
				return t.Wrap(g), nil
			}
			return vm.None, nil
		}, Set: func(in *vm.Interp, o, v vm.Object) error {
			if v == nil || v == vm.None {
				t.Grad.SetGrad(T(o), nil)
				return nil
			}
			g, ok := v.(*Tensor)
			if !ok {
				return in.Errorf(in.Exc.TypeError, "assigned grad expected to be a Tensor or None but got grad of type %s", v.Type().Name)
			}
			if err := gradFits(in, T(o), g.T); err != nil {
				return err
			}
			t.Grad.SetGrad(T(o), g.T)
			return nil
		}},
		{Name: "data", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
			return t.call(fx.CallFunction, "torch._C._autograd._get_data_attr", []vm.Object{o}, nil, t.dataOf)
		}, Set: func(in *vm.Interp, o, v vm.Object) error {
			s, ok := v.(*Tensor)
			if !ok {
				return in.Errorf(in.Exc.TypeError, "Variable data has to be a tensor, but got %s", v.Type().Name)
			}
			x := T(o)
			if t.Grad.RequiresGrad(x) && s.T.DType.Kind() < tensor.KindFloat {
				return in.Errorf(in.Exc.RuntimeError, "data set to a tensor that requires gradients must be floating point or complex dtype")
			}
			x.Fake, x.Mode = s.T.Fake, s.T.Mode
			x.Storage, x.DType, x.Offset, x.Base = s.T.Storage, s.T.DType, s.T.Offset, nil
			x.Shape, x.Stride = append([]int64(nil), s.T.Shape...), append([]int64(nil), s.T.Stride...)
			return nil
		}},
		t.viewProperty("T", "numpy_T"), t.viewProperty("mT", "mT"),
		t.viewProperty("H", "matrix_H"), t.viewProperty("mH", "mH"),
		t.partProperty("real"), t.partProperty("imag"),
	}
}

// plain makes a method that needs no hook: it reads metadata.
func plain(f func(x *tensor.Tensor, args []vm.Object, kw []vm.KwArg) (vm.Object, error)) vm.GoFunc {
	return func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		return f(args[0].(*Tensor).T, args[1:], kw)
	}
}

// hooked makes a method that capture sees.
func (t *Torch) hooked(name string, f func(args []vm.Object, kw []vm.KwArg) (vm.Object, error)) vm.GoFunc {
	return func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		return t.call(fx.CallMethod, name, args, kw, f)
	}
}

// toDevice is the method that copies a tensor to a kind of device, of which there is none; a device of another kind is refused as such.
func (t *Torch) toDevice(kind string) vm.GoFunc {
	return t.hooked(kind, func(a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		var to vm.Object = vm.None
		for _, k := range kw {
			if k.Name == "device" {
				to = k.Value
			}
		}
		if len(a) > 1 {
			to = a[1]
		}
		if _, isIndex := vm.AsInt(to); isIndex {
			return nil, t.noAccelerator()
		}
		if to != vm.None {
			text, err := t.In.Str(to)
			if err != nil {
				return nil, err
			}
			if of, _, _ := strings.Cut(text, ":"); of != kind {
				return nil, t.In.Errorf(t.In.Exc.RuntimeError, "Invalid device, must be %s device", kind)
			}
		}
		return nil, t.Error(aten.NoDevice(kind))
	})
}

func (t *Torch) special() map[string]vm.GoFunc {
	in := t.In
	dimArg := func(x *tensor.Tensor, o vm.Object) (int, error) {
		d, ok := vm.AsInt(o)
		if !ok {
			return 0, in.Errorf(in.Exc.TypeError, "size(): argument 'dim' (position 1) must be int, not %s", o.Type().Name)
		}
		n := int64(len(x.Shape))
		if d < -n || d >= n {
			m := max(n, 1)
			return 0, in.Errorf(in.Exc.IndexError, "Dimension out of range (expected to be in range of [%d, %d], but got %d)", -m, m-1, d)
		}
		if d < 0 {
			d += n
		}
		return int(d), nil
	}
	metaList := func(stride bool, whole func(items []vm.Object) vm.Object) vm.GoFunc {
		return plain(func(x *tensor.Tensor, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			for _, k := range kw {
				args = append(args, k.Value)
			}
			if len(args) == 0 || args[0] == vm.None {
				return whole(t.extents(x, stride, nil)), nil
			}
			which := args[0]
			if s, ok := which.(*Scalar); ok { // a dimension is one or another, and no size
				v, err := t.Specialize(s)
				if err != nil {
					return nil, err
				}
				which = v
			}
			if p, ok := which.(*Tensor); ok && len(p.T.Shape) == 0 && wholeTensor(p) {
				v, err := t.item(p.T)
				if err != nil {
					return nil, err
				}
				which = v
			}
			d, err := dimArg(x, which)
			if err != nil {
				return nil, err
			}
			return t.extents(x, stride, []int{d})[0], nil
		})
	}
	to := func(d tensor.DType) vm.GoFunc {
		return t.hooked(shortName(d), func(args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			_, _, _, mf, err := t.parseTo(args[1:], kw)
			if err != nil {
				return nil, err
			}
			return t.to(args[0].(*Tensor).T, d, false, mf)
		})
	}
	// Methods that PyTorch writes in Python around functions of torch.functional.
	written := func(name string) vm.GoFunc {
		return t.hooked(name, func(args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			m, err := in.Import("torch.functional")
			if err != nil {
				return nil, err
			}
			f, err := in.GetAttr(m, name)
			if err != nil {
				return nil, err
			}
			return in.Call(f, args, kw)
		})
	}
	m := map[string]vm.GoFunc{
		"size":   metaList(false, t.sizeTuple),
		"stride": metaList(true, func(items []vm.Object) vm.Object { return vm.NewTuple(items...) }),
		"dim": plain(func(x *tensor.Tensor, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.MakeInt(int64(len(x.Shape))), nil
		}),
		"numel": plain(func(x *tensor.Tensor, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			if t.Numel != nil {
				if n := t.Numel(x); n != nil {
					return n, nil
				}
			}
			if m := modeOf(x); m != nil {
				return t.product(t.sizes(x))
			}
			return vm.MakeInt(x.Numel()), nil
		}),
		"element_size": plain(func(x *tensor.Tensor, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.MakeInt(int64(x.DType.Size())), nil
		}),
		"storage_offset": plain(func(x *tensor.Tensor, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.MakeInt(x.Offset), nil
		}),
		"storage":           t.inPython("torch.storage", "_typed"),
		"_typed_storage":    t.inPython("torch.storage", "_typed_quietly"),
		"untyped_storage":   t.inPython("torch.storage", "_untyped"),
		"storage_type":      t.inPython("torch.storage", "_storage_type"),
		"share_memory_":     t.inPython("torch.storage", "_share"),
		"is_shared":         t.inPython("torch.storage", "_is_shared"),
		"__dlpack__":        t.inPython("torch._tensor", "_dlpack"),
		"__dlpack_device__": t.inPython("torch._tensor", "_dlpack_device"),
		"get_device":        t.inPython("torch._tensor", "_get_device"),
		"dim_order":         t.inPython("torch._tensor", "_dim_order"),
		"map_":              t.inPython("torch._tensor", "_map"),
		"map2_":             t.inPython("torch._tensor", "_map2"),
		"resize":            t.inPython("torch._tensor", "_resized"),
		"resize_as":         t.inPython("torch._tensor", "_resized_as"),
		"is_pinned":         t.inPython("torch._tensor", "_is_pinned"),
		"module_load":       t.inPython("torch._tensor", "_module_load"),
		"set_":              t.setStorage,
		"lu":                t.inPython("torch._tensor", "_lu"),
		"reinforce":         t.inPython("torch._tensor", "_reinforce"),
		"has_names":         t.inPython("torch._tensor", "_has_names"),
		"eig":               t.inPython("torch._tensor", "eig"),
		"symeig":            t.inPython("torch._tensor", "symeig"),
		"lstsq":             t.inPython("torch._tensor", "lstsq"),
		"solve":             t.inPython("torch._tensor", "solve"),
		"new":               t.inPython("torch._legacy", "_new"),
		"__reduce_ex__":     t.inPython("torch._utils", "_reduce"),
		"data_ptr": plain(func(x *tensor.Tensor, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			if m := modeOf(x); x.Fake && (m == nil || !m.Addressed()) {
				return nil, in.Errorf(in.Exc.RuntimeError, noAddress)
			}
			return vm.MakeInt(int64(uintptr(x.Ptr()))), nil
		}),
		"is_inference": func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.MakeBool(t.Grad.IsInference(a[0].(*Tensor).T)), nil
		},
		"is_contiguous": plain(func(x *tensor.Tensor, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			f := tensor.ContiguousFormat
			for _, k := range kw {
				args = append(args, k.Value)
			}
			if len(args) > 0 {
				if mf, ok := args[0].(*MemoryFormat); ok {
					f = mf.F
				}
			}
			return vm.MakeBool(x.IsContiguous(f)), nil
		}),
		"is_floating_point": plain(func(x *tensor.Tensor, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.MakeBool(x.DType.IsFloat()), nil
		}),
		"is_complex": plain(func(x *tensor.Tensor, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.MakeBool(x.DType.Kind() == tensor.KindComplex), nil
		}),
		"_is_view": plain(func(x *tensor.Tensor, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.MakeBool(x.Base != nil), nil
		}),
		"__len__": plain(func(x *tensor.Tensor, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			if len(x.Shape) == 0 {
				return nil, in.Errorf(in.Exc.TypeError, "len() of a 0-d tensor")
			}
			return t.sizes(x, 0)[0], nil
		}),
		"__hash__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return vm.MakeInt(in.ID(a[0])), nil
		},
		"__repr__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return t.repr(a[0].(*Tensor)) },
		"__format__": bound("Tensor.__format__", "self, format_spec", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			x := a[0].(*Tensor)
			spec, _ := vm.AsStr(a[1])
			if class := x.Type(); class != t.TensorType && class.Name != "Parameter" || len(x.T.Shape) == 0 && !x.T.Fake && class == t.TensorType {
				if class != t.TensorType {
					s, err := in.Str(x)
					if err == nil {
						s, err = in.Format(vm.Str(s), spec)
					}
					return vm.Str(s), err
				}
				v, err := t.item(x.T)
				if err != nil {
					return nil, err
				}
				s, err := in.Format(v, spec)
				return vm.Str(s), err
			}
			if spec != "" {
				return nil, in.Errorf(in.Exc.TypeError, "unsupported format string passed to %s.__format__", x.Type().Name)
			}
			s, err := in.Str(x)
			return vm.Str(s), err
		}),
		"__getitem__": func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			return t.call(fx.CallFunction, "operator.getitem", a, nil, func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return t.getItem(a[0].(*Tensor).T, a[1])
			})
		},
		"__setitem__": func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			return t.call(fx.CallFunction, "operator.setitem", a, nil, func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return vm.None, t.setItem(a[0].(*Tensor).T, a[1], a[2])
			})
		},
		"__iter__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			x := a[0].(*Tensor).T
			if len(x.Shape) == 0 {
				return nil, in.Errorf(in.Exc.TypeError, "iteration over a 0-d tensor")
			}
			i := int64(0)
			return &vm.GoIter{NextFn: func(in *vm.Interp) (vm.Object, error) {
				if i >= x.Shape[0] {
					return nil, nil
				}
				i++
				return in.GetItem(a[0], vm.MakeInt(i-1))
			}}, nil
		},
		"__contains__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			eq, err := t.Packet("aten", "eq", a[:2], nil)
			if err != nil {
				return nil, err
			}
			any, err := t.Packet("aten", "any", []vm.Object{eq}, nil)
			if err != nil {
				return nil, err
			}
			return t.item(any.(*Tensor).T)
		},
		"item": t.hooked("item", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return t.notedItem(a, func() (vm.Object, error) { return t.item(a[0].(*Tensor).T) })
		}),
		"__bool__": t.hooked("__bool__", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return t.noted("aten::is_nonzero", a, func() (vm.Object, error) {
				return t.notedItem(a, func() (vm.Object, error) { return t.truth(a[0].(*Tensor).T) })
			})
		}),
		"__float__": t.hooked("__float__", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return t.notedItem(a, func() (vm.Object, error) { return t.number(a[0].(*Tensor).T, vm.FloatType) })
		}),
		"__int__": t.hooked("__int__", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return t.notedItem(a, func() (vm.Object, error) { return t.number(a[0].(*Tensor).T, vm.IntType) })
		}),
		"__index__": t.hooked("__index__", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			if x := a[0].(*Tensor).T; x.DType.IsFloat() || x.Numel() != 1 && !x.Fake {
				return nil, in.Errorf(in.Exc.TypeError, "only integer tensors of a single element can be converted to an index")
			}
			return t.number(a[0].(*Tensor).T, vm.IntType)
		}),
		"tolist":    t.hooked("tolist", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return t.toList(a[0].(*Tensor).T) }),
		"numpy":     t.hooked("numpy", func(a []vm.Object, kw []vm.KwArg) (vm.Object, error) { return t.toNumpy(a, kw) }),
		"__array__": t.hooked("__array__", t.arrayMethod),
		"__array_wrap__": bound("Tensor.__array_wrap__", "self, array", func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return t.fromNumpy(a[1:], nil)
		}),
		"requires_grad_": t.hooked("requires_grad_", func(a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			on := true
			for _, k := range kw {
				a = append(a, k.Value)
			}
			if len(a) > 1 {
				var err error
				if on, err = in.Truth(a[1]); err != nil {
					return nil, err
				}
			}
			if err := t.guardLevels(); err != nil {
				return nil, t.Error(err)
			}
			return a[0], t.Error(t.requireGrad(a[0].(*Tensor).T, on))
		}),
		"detach_": t.hooked("detach_", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			x := a[0].(*Tensor).T
			if x.Base != nil {
				return nil, in.Errorf(in.Exc.RuntimeError, "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for training, and "+
					"gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be called on these gradients. "+
					"To fix this error, please refer to the Optimizer.zero_grad() function in torch/optim/optimizer.py as the solution.")
			}
			t.Grad.Detach(x)
			return a[0], nil
		}),
		"retain_grad": t.hooked("retain_grad", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			if !t.Grad.RequiresGrad(a[0].(*Tensor).T) {
				return nil, in.Errorf(in.Exc.RuntimeError, "can't retain_grad on Tensor that has requires_grad=False")
			}
			t.Grad.RetainGrad(a[0].(*Tensor).T)
			return vm.None, nil
		}),
		"register_hook": bound("Tensor.register_hook", "self, hook", t.hooked("register_hook", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return t.registerHook(a[0].(*Tensor).T, a[1])
		})),
		"register_post_accumulate_grad_hook": bound("Tensor.register_post_accumulate_grad_hook", "self, hook",
			t.hooked("register_post_accumulate_grad_hook", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
				return t.registerPostHook(a[0].(*Tensor).T, a[1])
			})),
		"backward": t.hooked("backward", t.backward),
		"to": t.hooked("to", func(a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			dev, dt, cp, mf, err := t.parseTo(a[1:], kw)
			if err != nil {
				return nil, err
			}
			d := a[0].(*Tensor).T.DType
			if dt != nil {
				d = *dt
			}
			if dev != nil && dev.D.Type == "meta" {
				return t.toMeta(a[0].(*Tensor), d)
			}
			if dev != nil && dev.D.Type == "cpu" && isMeta(a[0].(*Tensor).T) {
				return nil, t.noMetaData()
			}
			if dev != nil {
				if err := aten.NoDevice(dev.D.Type); err != nil {
					return nil, t.Error(err)
				}
			}
			return t.noted("aten::to", a, func() (vm.Object, error) { return t.to(a[0].(*Tensor).T, d, cp, mf) })
		}),
		"type": t.hooked("type", t.typeMethod),
		"type_as": t.hooked("type_as", func(a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			return t.to(a[0].(*Tensor).T, a[1].(*Tensor).T.DType, false, nil)
		}),
		"float": to(tensor.Float32), "double": to(tensor.Float64), "half": to(tensor.Float16), "bfloat16": to(tensor.BFloat16),
		"int": to(tensor.Int32), "long": to(tensor.Int64), "short": to(tensor.Int16), "char": to(tensor.Int8), "byte": to(tensor.UInt8), "bool": to(tensor.Bool),
		"cfloat": to(tensor.Complex64), "cdouble": to(tensor.Complex128), "unique": written("unique"), "unique_consecutive": written("unique_consecutive"),
		"cpu": t.hooked("cpu", func(a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			if isMeta(a[0].(*Tensor).T) {
				return nil, t.noMetaData()
			}
			return a[0], nil
		}),
		"cuda": t.toDevice("cuda"), "xpu": t.toDevice("xpu"),
		"pin_memory": t.hooked("pin_memory", func([]vm.Object, []vm.KwArg) (vm.Object, error) { return nil, t.noAccelerator() }),
		"new_tensor": t.hooked("new_tensor", func(a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			given := false
			for _, k := range kw {
				given = given || k.Name == "dtype" && k.Value != vm.None
			}
			if !given {
				kw = append(kw[:len(kw):len(kw)], vm.KwArg{Name: "dtype", Value: t.DTypeObject(a[0].(*Tensor).T.DType)})
			}
			return t.tensorFn(a[1:], kw)
		}),
		"__deepcopy__": func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			x := a[0].(*Tensor)
			if !t.Grad.IsLeaf(x.T) {
				return nil, in.Errorf(in.Exc.RuntimeError, "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001")
			}
			c := x.T.Clone()
			c.Mode = x.T.Mode
			p := t.WrapAs(c, x.class)
			if len(a) > 1 {
				if memo, ok := vm.AsDict(a[1]); ok {
					if err := memo.Set(in, vm.MakeInt(in.ID(a[0])), p); err != nil {
						return nil, err
					}
				}
			}
			return p, t.Error(t.Grad.SetRequiresGrad(c, t.Grad.RequiresGrad(x.T)))
		},
		"apply_": bound("TensorBase.apply_", "self, callable, /", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			x := a[0].(*Tensor).T
			for i := int64(0); i < x.Numel(); i++ {
				r, err := in.Call(a[1], []vm.Object{vm.Float(x.At(i))}, nil)
				if err != nil {
					return nil, err
				}
				f, _ := vm.AsFloat(r)
				x.Set(i, f)
			}
			x.Bump()
			return a[0], nil
		}),
		"unflatten": t.hooked("unflatten", func(a []vm.Object, kw []vm.KwArg) (vm.Object, error) { return t.Packet("aten", "unflatten", a, kw) }),
		"split":     t.hooked("split", func(a []vm.Object, kw []vm.KwArg) (vm.Object, error) { return t.split(a, kw) }),
	}
	m["nelement"], m["ndimension"] = m["numel"], m["dim"]
	return m
}

// typeMethod is Tensor.type(dtype=None, non_blocking=False): the name of the tensor's type, or the tensor as one of another: a dtype, a class as
// torch.LongTensor, or the name of such a class. torch.Tensor is the class of the default dtype.
func (t *Torch) typeMethod(a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	in, x := t.In, a[0].(*Tensor).T
	to := vm.None
	if len(a) > 1 {
		to = a[1]
	}
	for _, k := range kw {
		switch {
		case k.Name == "dtype" && len(a) == 1:
			to = k.Value
		case k.Name == "non_blocking" && len(a) < 3:
		default:
			return nil, in.Errorf(in.Exc.TypeError, "type() got an unexpected keyword argument '%s'", k.Name)
		}
	}
	if to == vm.None {
		return vm.Str("torch." + legacyName(x.DType)), nil
	}
	var name string
	if class, ok := to.(*vm.Type); ok {
		if class == t.TensorType {
			return t.to(x, t.DefaultDType, false, nil)
		}
		if d, err := in.GetAttr(class, "dtype"); err == nil { // torch.FloatTensor and its like
			if d, ok := d.(*DType); ok {
				return t.to(x, d.D, false, nil)
			}
		}
		name = class.Name
	} else if text, ok := vm.AsStr(to); ok {
		if name = text; name == "torch.Tensor" {
			return t.to(x, t.DefaultDType, false, nil)
		}
		for d := tensor.Invalid + 1; d.Computes(); d++ {
			if name == "torch."+legacyName(d) {
				return t.to(x, d, false, nil)
			}
		}
	} else if d, ok := to.(*DType); ok {
		return t.to(x, d.D, false, nil)
	} else {
		return nil, in.Errorf(in.Exc.TypeError, "dtype must be a type, str, or dtype object")
	}
	return nil, in.Errorf(in.Exc.ValueError, "invalid type: '%s'", name)
}

// split takes split_size_or_sections: an int goes to split.Tensor, a list to split_with_sizes.
func (t *Torch) split(a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	args := append([]vm.Object(nil), a...)
	var rest []vm.KwArg
	for _, k := range kw {
		switch k.Name {
		case "split_size_or_sections", "split_size", "tensor", "input":
			args = append(args, k.Value)
		default:
			rest = append(rest, k)
		}
	}
	if len(args) > 1 {
		if p, ok := args[1].(*Tensor); ok && wholeTensor(p) {
			v, err := t.item(p.T)
			if err != nil {
				return nil, err
			}
			args[1] = v
		}
		switch args[1].(type) {
		case vm.Int, *Scalar:
			return t.Packet("aten", "split", args, rest)
		}
	}
	return t.Packet("aten", "split_with_sizes", args, rest)
}

func shortName(d tensor.DType) string {
	return map[tensor.DType]string{tensor.Float32: "float", tensor.Float64: "double", tensor.Float16: "half", tensor.BFloat16: "bfloat16", tensor.Int32: "int",
		tensor.Int64: "long", tensor.Int16: "short", tensor.Int8: "char", tensor.UInt8: "byte", tensor.Bool: "bool",
		tensor.Complex64: "cfloat", tensor.Complex128: "cdouble"}[d]
}

func legacyName(d tensor.DType) string {
	s := shortName(d)
	switch d {
	case tensor.BFloat16:
		return "BFloat16Tensor"
	case tensor.Complex64:
		return "ComplexFloatTensor"
	case tensor.Complex128:
		return "ComplexDoubleTensor"
	}
	return strings.ToUpper(s[:1]) + s[1:] + "Tensor"
}

// to converts; a tensor that already fits is returned itself.
func (t *Torch) to(x *tensor.Tensor, d tensor.DType, force bool, mf *MemoryFormat) (vm.Object, error) {
	if x.DType == d && !force && (mf == nil || x.SuggestMemoryFormat() == mf.F || mf.F == tensor.PreserveFormat) {
		return t.Wrap(x), nil
	}
	kw := map[string]aten.Value{"dtype": d}
	if mf != nil {
		kw["memory_format"] = mf.F
	}
	out, err := aten.CallKw(t.dispatcher(), "aten._to_copy.default", []aten.Value{x}, kw)
	if err != nil {
		return nil, t.Error(err)
	}
	return t.Object(out), nil
}

// noAccelerator is the error of a device that is given by its number alone.
func (t *Torch) noAccelerator() error {
	return t.Error(aten.NoDevice(aten.Accelerator))
}

// parseTo reads the forms of Tensor.to: (dtype), (device, dtype), (other), each with keywords.
func (t *Torch) parseTo(args []vm.Object, kw []vm.KwArg) (dev *Device, d *tensor.DType, cp bool, mf *MemoryFormat, err error) {
	all := append([]vm.Object(nil), args...)
	for _, k := range kw {
		switch k.Name {
		case "copy":
			if cp, err = t.In.Truth(k.Value); err != nil {
				return
			}
		case "non_blocking":
		default:
			all = append(all, k.Value)
		}
	}
	flags := 0
	for _, a := range all {
		switch a := a.(type) {
		case vm.Bool: // non_blocking, then copy
			if flags++; flags == 2 {
				cp = bool(a)
			}
		case *DType:
			d = &a.D
		case *Device:
			dev = a
		case *MemoryFormat:
			mf = a
		case *Tensor:
			d = &a.T.DType
		case vm.Str:
			var pd tensor.Device
			if pd, err = parseDevice(string(a)); err != nil {
				err = t.Error(err)
				return
			}
			dev = &Device{pd, t}
		case vm.Int: // of the accelerator's devices
			err = t.noAccelerator()
			return
		case *vm.NoneType:
		default:
			v, _ := t.Value(a)
			dd, ok := v.(tensor.DType)
			if !ok {
				err = (pythonCall{t: t, name: "to", method: true, args: args, kw: kw}).argumentError()
				return
			}
			d = &dd
		}
	}
	return
}

// gradFits says whether a tensor may be assigned as the gradient of x.
func gradFits(in *vm.Interp, x, grad *tensor.Tensor) error {
	wrong := func(what, of, to, same string) error {
		return in.Errorf(in.Exc.RuntimeError, "attempting to assign a gradient %s '%s' to a tensor %s '%s'. Please ensure that the gradient and the tensor %s", what, of, what, to, same)
	}
	cpp := map[tensor.DType]string{tensor.Float32: "float", tensor.Float64: "double", tensor.Float16: "c10::Half", tensor.BFloat16: "c10::BFloat16",
		tensor.Complex64: "c10::complex<float>", tensor.Complex128: "c10::complex<double>"}
	switch {
	case x == grad:
		return in.Errorf(in.Exc.RuntimeError, "can't assign Variable as its own grad")
	case x.DType != grad.DType:
		return wrong("with dtype", cpp[grad.DType], cpp[x.DType], "have the same dtype")
	case deviceOf(x) != deviceOf(grad):
		return wrong("with device type", deviceOf(grad).Type, deviceOf(x).Type, "are on the same device")
	case !tensor.SameShape(grad, x):
		return wrong("of size", tensor.ShapeText(grad.Shape), tensor.ShapeText(x.Shape), "are the same size")
	}
	return nil
}

// noAddress is the error of asking for the address of what has none.
const noAddress = "Cannot access data pointer of Tensor (e.g. FakeTensor, FunctionalTensor). If you're using torch.compile/export/fx, it is likely that we are erroneously tracing into a custom kernel. To fix this, please wrap the custom kernel into an opaque custom op. Please see the following for details: https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html"
