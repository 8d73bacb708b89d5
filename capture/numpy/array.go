package numpy

import (
	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
	"whittle/kernels/ndarray"
)

// Array is an ndarray object, or an instance of a subclass of it.
type Array struct {
	A     *ndarray.Array
	class *vm.Type
	dict  *vm.Dict
	base  vm.Object // whose memory it is; nil if its own
	np    *NumPy
}

// Type is the object's class.
func (a *Array) Type() *vm.Type { return a.class }

// AttrDict is the object's __dict__, which instances of ndarray itself do not have.
func (a *Array) AttrDict(create bool) *vm.Dict {
	if a.class == a.np.ArrayType {
		return nil
	}
	if a.dict == nil && create {
		a.dict = vm.NewDict()
	}
	return a.dict
}

// View is the array's memory for memoryview: one that does not lie in C order is shown as a copy.
func (a *Array) View() *vm.MemoryView {
	format := a.A.DType.Char()
	if a.A.DType.Num == ndarray.Object || a.A.DType.Flexible() || a.A.DType.Kind == 'c' || a.A.DType.Num == ndarray.Float16 {
		return vm.NewMemoryView(a, a.A.Bytes(), 'B', a.A.ReadOnly)
	}
	return vm.NewShapedView(a, a.A.Bytes(), format, a.A.ReadOnly, a.A.Shape)
}

// WrapView is an ndarray object over memory that belongs to base.
func (np *NumPy) WrapView(a *ndarray.Array, base vm.Object) vm.Object {
	return &Array{A: a, class: np.ArrayType, np: np, base: base}
}

func (np *NumPy) newArray(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	p, err := in.ParseArgs("ndarray", args, kw, "shape, dtype=None, buffer=None, offset=0, strides=None, order=None")
	if err != nil {
		return nil, err
	}
	shape, err := np.shapeArg(p[0])
	if err != nil {
		return nil, err
	}
	d, err := np.ToDType(p[1])
	if err != nil {
		return nil, err
	}
	if p[2] == vm.None {
		return &Array{A: ndarray.NewOrder(d, shape, fortran(p[5], len(shape))), class: cls, np: np}, nil
	}
	src, _, err := np.arrayOf(p[2])
	if err != nil {
		return nil, err
	}
	if src == nil {
		raw, ok := vm.AsBytes(p[2])
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "a bytes-like object is required, not '%s'", p[2].Type().Name)
		}
		src = overBytes(raw, ndarray.Of(ndarray.UInt8), []int{len(raw)}, p[2])
		src.ReadOnly = true
	}
	off, err := in.Index(p[3])
	if err != nil {
		return nil, err
	}
	strides := ndarray.CStrides(d.Size, shape)
	if p[4] != vm.None {
		if strides, err = np.ints(p[4]); err != nil {
			return nil, err
		}
	}
	a := &ndarray.Array{Buf: src.Buf, DType: d, Shape: shape, Strides: strides, Offset: src.Offset + int(off), ReadOnly: src.ReadOnly}
	need := a.Offset + d.Size
	for i, n := range shape {
		if n > 0 && strides[i] > 0 {
			need += (n - 1) * strides[i]
		}
	}
	if a.Len() > 0 && need > len(src.Buf.Bytes) {
		return nil, in.Errorf(in.Exc.TypeError, "buffer is too small for requested array")
	}
	return &Array{A: a, class: cls, np: np, base: p[2]}, nil
}

// fortran is the order of axes that an order argument asks for.
func fortran(o vm.Object, n int) []int {
	if s, _ := vm.AsStr(o); s != "F" && s != "f" {
		return nil
	}
	perm := make([]int, n)
	for i := range perm {
		perm[i] = n - 1 - i
	}
	return perm
}

func self(o vm.Object) *ndarray.Array { return o.(*Array).A }

func (np *NumPy) arrayType() {
	methods := np.operatorMethods()
	for d, uf := range binaryDunders {
		methods["__i"+d+"__"] = np.inplace(uf)
	}
	np.containerMethods(methods)
	np.numberMethods(methods)
	np.pickleMethods(methods)
	for name, m := range np.arrayMethods() {
		methods[name] = clinic.Method(name, m.params, m.fn)
	}
	np.ArrayType = np.In.NewNativeType(vm.Spec{Name: "ndarray", Module: "numpy", Strict: true, New: np.newArray, Methods: np.traceable(methods), GetSet: np.traceableAttrs(np.arrayGetSets()),
		Class: map[string]vm.GoFunc{"__class_getitem__": vm.ClassGetItem}, Attrs: map[string]vm.Object{"__hash__": vm.None, "__array_priority__": vm.Float(0)}})
}

// inplace is an operator that stores its result in its left operand.
func (np *NumPy) inplace(name string) vm.GoFunc {
	return func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if defers(in, a[1], a[0]) {
			return vm.NotImplemented, nil
		}
		_, err := np.ufunc(name).call(a[:2], call{outs: []vm.Object{a[0]}})
		return a[0], err
	}
}

func (np *NumPy) containerMethods(m map[string]vm.GoFunc) {
	m["__getitem__"] = func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		return np.getItem(a[0].(*Array), a[1])
	}
	m["__setitem__"] = func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		return vm.None, np.setItem(a[0].(*Array), a[1], a[2])
	}
	m["__delitem__"] = func(in *vm.Interp, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		return nil, in.Errorf(in.Exc.ValueError, "cannot delete array elements")
	}
	m["__len__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if self(a[0]).NDim() == 0 {
			return nil, in.Errorf(in.Exc.TypeError, "len() of unsized object")
		}
		return vm.MakeInt(int64(self(a[0]).Shape[0])), nil
	}
	m["__iter__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		x := a[0].(*Array)
		if x.A.NDim() == 0 {
			return nil, in.Errorf(in.Exc.TypeError, "iteration over a 0-d array")
		}
		i := 0
		return &vm.GoIter{NextFn: func(in *vm.Interp) (vm.Object, error) {
			if i >= x.A.Shape[0] {
				return nil, nil
			}
			i++
			return np.getItem(x, vm.MakeInt(int64(i-1)))
		}}, nil
	}
	m["__contains__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		eq, err := np.ufunc("equal").call(a[:2], call{})
		if err != nil {
			return nil, err
		}
		r, err := np.FromObject(eq, nil, false)
		if err != nil {
			return nil, err
		}
		for _, f := range ndarray.Nonzero(r) {
			return vm.MakeBool(f.Len() > 0), nil
		}
		return vm.MakeBool(r.NDim() == 0 && ndarray.AsBool(r.Get(r.Offset))), nil
	}
	m["__repr__"] = func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		s, err := np.repr(a[0].(*Array))
		return vm.Str(s), err
	}
	m["__str__"] = func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		s, err := np.str(self(a[0]))
		return vm.Str(s), err
	}
	m["__format__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		x := self(a[0])
		spec, _ := vm.AsStr(a[1])
		switch {
		case x.NDim() == 0:
			s, err := in.Format(np.Python(x.Get(x.Offset)), spec)
			return vm.Str(s), err
		case spec != "":
			return nil, in.Errorf(in.Exc.TypeError, "unsupported format string passed to numpy.ndarray.__format__")
		}
		s, err := np.str(x)
		return vm.Str(s), err
	}
}

// only is the one element of an array, for conversions to Python's numbers.
func (np *NumPy) only(o vm.Object) (vm.Object, error) {
	a := self(o)
	if a.Len() != 1 {
		return nil, np.In.Errorf(np.In.Exc.TypeError, "only length-1 arrays can be converted to Python scalars")
	}
	return np.Python(a.Get(a.Offset)), nil
}

func (np *NumPy) numberMethods(m map[string]vm.GoFunc) {
	m["__bool__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		x := self(a[0])
		switch {
		case x.Len() > 1:
			return nil, in.Errorf(in.Exc.ValueError, "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()")
		case x.Len() == 0:
			return nil, in.Errorf(in.Exc.ValueError, "The truth value of an empty array is ambiguous. Use `array.size > 0` to check that an array is not empty.")
		}
		t, err := in.Truth(np.Python(x.Get(x.Offset)))
		return vm.MakeBool(t), err
	}
	m["__int__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		v, err := np.only(a[0])
		if err != nil {
			return nil, err
		}
		return in.Call(vm.IntType, []vm.Object{v}, nil)
	}
	m["__float__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		v, err := np.only(a[0])
		if err != nil {
			return nil, err
		}
		return in.Call(vm.FloatType, []vm.Object{v}, nil)
	}
	m["__complex__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		v, err := np.only(a[0])
		if err != nil {
			return nil, err
		}
		return in.Call(vm.ComplexType, []vm.Object{v}, nil)
	}
	m["__index__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		x := self(a[0])
		if x.NDim() != 0 || x.DType.Kind != 'i' && x.DType.Kind != 'u' {
			return nil, in.Errorf(in.Exc.TypeError, "only integer scalar arrays can be converted to a scalar index")
		}
		return np.Python(x.Get(x.Offset)), nil
	}
}

func (np *NumPy) pickleMethods(m map[string]vm.GoFunc) {
	m["__reduce__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		mod, err := in.Import("numpy._core.multiarray")
		if err != nil {
			return nil, err
		}
		f, err := in.GetAttr(mod, "_reconstruct")
		if err != nil {
			return nil, err
		}
		x := self(a[0])
		var data vm.Object
		f90 := x.FContiguous() && !x.Contiguous()
		if x.DType.Num == ndarray.Object {
			l := &vm.List{}
			c := x.Copy('C')
			for _, o := range c.Buf.Objects {
				l.Items = append(l.Items, object(ndarray.Item{V: o}))
			}
			data = l
		} else if f90 {
			data = vm.Bytes(x.T().Bytes())
		} else {
			data = vm.Bytes(x.Bytes())
		}
		state := vm.NewTuple(vm.MakeInt(1), tuple(x.Shape), np.DTypeObject(x.DType), vm.MakeBool(f90), data)
		return vm.NewTuple(f, vm.NewTuple(a[0].Type(), vm.NewTuple(vm.MakeInt(0)), vm.Bytes("b")), state), nil
	}
	m["__setstate__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		t, ok := vm.AsTuple(a[1])
		if !ok || len(t.Items) < 4 {
			return nil, in.Errorf(in.Exc.TypeError, "__setstate__() argument must be a state tuple")
		}
		items := t.Items[len(t.Items)-4:]
		shape, err := np.shapeArg(items[0])
		if err != nil {
			return nil, err
		}
		d, err := np.ToDType(items[1])
		if err != nil {
			return nil, err
		}
		order, _ := in.Truth(items[2])
		perm := fortran(vm.Str(map[bool]string{true: "F", false: "C"}[order]), len(shape))
		x := ndarray.NewOrder(d, shape, perm)
		if l, isList := vm.AsList(items[3]); isList {
			for i, o := range l.Items {
				x.Buf.Objects[i] = o
			}
		} else if raw, isBytes := vm.AsBytes(items[3]); isBytes {
			copy(x.Buf.Bytes, raw)
		}
		a[0].(*Array).A = x
		return vm.None, nil
	}
	m["__copy__"] = func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		return np.Wrap(self(a[0]).Copy('K')), nil
	}
	m["__deepcopy__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		c := self(a[0]).Copy('K')
		if c.DType.Num == ndarray.Object {
			mod, err := in.Import("copy")
			if err != nil {
				return nil, err
			}
			f, err := in.GetAttr(mod, "deepcopy")
			if err != nil {
				return nil, err
			}
			for i, o := range c.Buf.Objects {
				v, err := in.Call(f, append([]vm.Object{object(ndarray.Item{V: o})}, a[1:]...), nil)
				if err != nil {
					return nil, err
				}
				c.Buf.Objects[i] = v
			}
		}
		return np.Wrap(c), nil
	}
}

func (np *NumPy) arrayGetSets() []*vm.GetSet {
	get := func(name string, f func(a *Array) vm.Object) *vm.GetSet {
		return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return f(o.(*Array)), nil }}
	}
	part := func(name string, imag bool) *vm.GetSet {
		return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) {
			p, err := self(o).Part(imag)
			if err != nil || p == self(o) {
				return o, np.err(err)
			}
			return np.view(p, o.(*Array)), nil
		}, Set: func(in *vm.Interp, o, v vm.Object) error {
			if self(o).DType.Kind != 'c' && imag {
				return in.Errorf(in.Exc.TypeError, "array does not have imaginary part to set")
			}
			p, err := self(o).Part(imag)
			if err != nil {
				return np.err(err)
			}
			src, err := np.valuesFor(v, p.DType)
			if err != nil {
				return err
			}
			return np.err(p.Assign(src))
		}}
	}
	return []*vm.GetSet{
		{Name: "shape", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return tuple(self(o).Shape), nil }, Set: func(in *vm.Interp, o, v vm.Object) error {
			s, err := np.ints(v)
			if err != nil {
				return err
			}
			r, err := self(o).Reshape(s, 'C')
			if err != nil {
				return np.err(err)
			}
			if r.Buf != self(o).Buf {
				return in.Errorf(in.Exc.AttributeError, "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape.")
			}
			o.(*Array).A = r
			return nil
		}},
		{Name: "dtype", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return np.DTypeObject(self(o).DType), nil }, Set: func(_ *vm.Interp, o, v vm.Object) error {
			d, err := np.ToDType(v)
			if err != nil {
				return err
			}
			r, err := self(o).Reinterpret(d)
			if err == nil {
				o.(*Array).A = r
			}
			return np.err(err)
		}},
		{Name: "flat", Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return np.newFlat(o.(*Array)), nil }, Set: func(_ *vm.Interp, o, v vm.Object) error {
			return np.setFlat(self(o), v)
		}},
		get("strides", func(a *Array) vm.Object { return tuple(a.A.Strides) }),
		get("ndim", func(a *Array) vm.Object { return vm.MakeInt(int64(a.A.NDim())) }),
		get("size", func(a *Array) vm.Object { return vm.MakeInt(int64(a.A.Len())) }),
		get("itemsize", func(a *Array) vm.Object { return vm.MakeInt(int64(a.A.DType.Size)) }),
		get("nbytes", func(a *Array) vm.Object { return vm.MakeInt(int64(a.A.DType.Size * a.A.Len())) }),
		get("base", func(a *Array) vm.Object {
			if a.base == nil {
				return vm.None
			}
			return a.base
		}),
		get("T", func(a *Array) vm.Object { return np.view(a.A.T(), a) }),
		{Name: "mT", Get: func(in *vm.Interp, o vm.Object) (vm.Object, error) {
			n := self(o).NDim()
			if n < 2 {
				return nil, in.Errorf(in.Exc.ValueError, "matrix transpose with ndim < 2 is undefined")
			}
			perm := make([]int, n)
			for i := range perm {
				perm[i] = i
			}
			perm[n-1], perm[n-2] = n-2, n-1
			t, err := self(o).Transpose(perm)
			return np.view(t, o.(*Array)), np.err(err)
		}},
		part("real", false), part("imag", true),
		get("data", func(a *Array) vm.Object { return a.View() }),
		get("flags", func(a *Array) vm.Object { return np.flags(a) }),
		get("ctypes", func(*Array) vm.Object { return vm.None }),
		get("device", func(*Array) vm.Object { return vm.Str("cpu") }),
		get("__array_interface__", func(a *Array) vm.Object { return np.arrayInterface(a) }),
	}
}

func (np *NumPy) arrayInterface(a *Array) vm.Object {
	strides := vm.None
	if !a.A.Contiguous() {
		strides = tuple(a.A.Strides)
	}
	return vm.StrDict("data", vm.NewTuple(vm.MakeInt(int64(a.A.Address())), vm.MakeBool(a.A.ReadOnly)), "strides", strides, "descr", vm.NewList(vm.NewTuple(vm.Str(""), vm.Str(a.A.DType.Str()))),
		"typestr", vm.Str(a.A.DType.Str()), "shape", tuple(a.A.Shape), "version", vm.MakeInt(3))
}

// flags is a.flags: a class of our own Python makes it of the facts.
func (np *NumPy) flags(a *Array) vm.Object {
	mod, err := np.In.Import("numpy._core._flags")
	if err != nil {
		return vm.None
	}
	cls, err := np.In.GetAttr(mod, "flagsobj")
	if err != nil {
		return vm.None
	}
	f, err := np.In.Call(cls, []vm.Object{a, vm.MakeBool(a.A.Contiguous()), vm.MakeBool(a.A.FContiguous()), vm.MakeBool(a.base == nil), vm.MakeBool(!a.A.ReadOnly)}, nil)
	if err != nil {
		return vm.None
	}
	return f
}
