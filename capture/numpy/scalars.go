package numpy

import (
	"math"
	"math/big"
	"strings"

	"whittle/capture/python/vm"
	"whittle/kernels/ndarray"
)

// binaryDunders are the operators of arrays and scalars: the special method and the universal function.
var binaryDunders = map[string]string{"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide", "mod": "remainder", "pow": "power",
	"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "left_shift", "rshift": "right_shift", "matmul": "matmul"}

var compareDunders = map[string]string{"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}

// operatorMethods are the special methods of operators, by universal functions.
func (np *NumPy) operatorMethods() map[string]vm.GoFunc {
	m := map[string]vm.GoFunc{}
	for d, uf := range binaryDunders {
		m["__"+d+"__"] = np.operator(uf, false, false)
		m["__r"+d+"__"] = np.operator(uf, true, false)
	}
	for d, uf := range compareDunders {
		m["__"+d+"__"] = np.operator(uf, false, true)
	}
	for d, uf := range map[string]string{"neg": "negative", "pos": "positive", "invert": "invert", "abs": "absolute"} {
		m["__"+d+"__"] = func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return np.ufunc(uf).call(a[:1], call{})
		}
	}
	divmod := func(flip bool) vm.GoFunc {
		return func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			x, y := a[0], a[1]
			if flip {
				x, y = y, x
			}
			q, err := np.ufunc("floor_divide").call([]vm.Object{x, y}, call{})
			if err != nil {
				return nil, err
			}
			r, err := np.ufunc("remainder").call([]vm.Object{x, y}, call{})
			return vm.NewTuple(q, r), err
		}
	}
	m["__divmod__"], m["__rdivmod__"] = divmod(false), divmod(true)
	return m
}

// operator is an operator by a universal function. What knows better (a tensor, an object that says so) is asked first.
func (np *NumPy) operator(name string, flip, compares bool) vm.GoFunc {
	return func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if len(a) < 2 {
			return nil, in.Errorf(in.Exc.TypeError, "expected 1 argument, got 0")
		}
		x, y := a[0], a[1]
		if !flip && defers(in, y, x) || name == "multiply" && repeats(x, y) || compares && apart(x, y) {
			return vm.NotImplemented, nil
		}
		if flip {
			x, y = y, x
		}
		v, err := np.ufunc(name).call([]vm.Object{x, y}, call{})
		if err != nil && compares && (name == "equal" || name == "not_equal") {
			return np.unequal(x, y, name, err)
		}
		return v, err
	}
}

// apart says that a scalar is compared with what is no number: Python then knows that they differ.
func apart(x, y vm.Object) bool {
	if _, isArray := x.(*Array); isArray {
		return false
	}
	if y == vm.None {
		return true
	}
	_, isText := vm.AsStr(y)
	_, own := vm.AsStr(x)
	return isText && !own
}

// repeats says that a scalar times a sequence is what Python makes of it.
func repeats(x, y vm.Object) bool {
	switch y.(type) {
	case *vm.List, *vm.Tuple:
		_, isArray := x.(*Array)
		return !isArray
	}
	return false
}

// unequal is == of what cannot be compared: shapes that do not fit raise, other things are different.
func (np *NumPy) unequal(x, y vm.Object, name string, err error) (vm.Object, error) {
	if _, isArray := x.(*Array); isArray || np.In.Matches(err, np.In.Exc.ValueError) {
		return nil, err
	}
	return vm.NotImplemented, nil
}

// defers says that an operand computes with arrays itself: it has __array_ufunc__ = None, or a higher __array_priority__ and the method.
func defers(in *vm.Interp, o, self vm.Object) bool {
	switch o.(type) {
	case *Array, vm.Int, vm.Float, vm.Bool, *vm.List, *vm.Tuple, vm.Str, vm.Complex:
		return false
	}
	if i, ok := o.(*vm.Instance); ok {
		for _, t := range i.Class.MRO {
			if _, scalar := t.Native.(*ndarray.DType); scalar {
				return false
			}
		}
	}
	if v := o.Type().Lookup("__array_ufunc__"); v != nil {
		return v == vm.None
	}
	if v := o.Type().Lookup("__array_priority__"); v != nil {
		if _, isArray := self.(*Array); isArray {
			f, _ := vm.AsFloat(v)
			return f > 0
		}
		return true
	}
	return false
}

// abstract are the abstract classes of scalars with their bases.
var abstract = [][2]string{{"number", "generic"}, {"integer", "number"}, {"signedinteger", "integer"}, {"unsignedinteger", "integer"}, {"inexact", "number"},
	{"floating", "inexact"}, {"complexfloating", "inexact"}, {"flexible", "generic"}, {"character", "flexible"}}

// parents are the abstract classes of concrete ones, by kind.
var parents = map[byte]string{'b': "generic", 'i': "signedinteger", 'u': "unsignedinteger", 'f': "floating", 'c': "complexfloating", 'O': "generic", 'S': "character", 'U': "character"}

// pythonBases are the classes of Python that scalars are instances of.
var pythonBases = map[ndarray.Num]*vm.Type{ndarray.Float64: vm.FloatType, ndarray.Complex128: vm.ComplexType, ndarray.Unicode: vm.StrType, ndarray.String: vm.BytesType}

func (np *NumPy) scalarTypes() {
	methods := np.operatorMethods()
	np.scalarMethods(methods)
	classes := map[string]*vm.Type{}
	np.generic = np.In.NewNativeType(vm.Spec{Name: "generic", Module: "numpy", Strict: true, NoDict: true, Methods: np.traceable(methods), GetSet: np.scalarGetSets(),
		New: func(in *vm.Interp, cls *vm.Type, _ []vm.Object, _ []vm.KwArg) (vm.Object, error) {
			return nil, in.Errorf(in.Exc.TypeError, "cannot create 'numpy.%s' instances", cls.Name)
		}, Class: map[string]vm.GoFunc{"__class_getitem__": vm.ClassGetItem}})
	classes["generic"] = np.generic
	for _, a := range abstract {
		classes[a[0]] = np.In.NewNativeType(vm.Spec{Name: a[0], Module: "numpy", Strict: true, NoDict: true, Bases: []*vm.Type{classes[a[1]]}})
	}
	all := append(append([]ndarray.Num{}, ndarray.Plain...), ndarray.Object, ndarray.String, ndarray.Unicode)
	for _, n := range all {
		d := ndarray.Of(n)
		bases := []*vm.Type{classes[parents[d.Kind]]}
		extra := map[string]vm.GoFunc{}
		if b := pythonBases[n]; b != nil {
			if d.Flexible() { // texts are Python's first
				bases = []*vm.Type{b, bases[0]}
				for _, k := range []string{"__repr__", "__reduce__"} {
					extra[k] = methods[k]
				}
			} else {
				bases = append(bases, b)
			}
		}
		t := np.In.NewNativeType(vm.Spec{Name: d.Class(), Module: "numpy", Strict: true, NoDict: true, Bases: bases, New: np.newScalar(n), Methods: extra})
		t.Native = d
		np.scalars[n] = t
		np.module.Set(d.Class(), t)
	}
	for name, t := range classes {
		np.module.Set(name, t)
	}
	np.module.Set("bool_", np.scalars[ndarray.Bool])
}

// newScalar makes the constructor of a class of scalars.
func (np *NumPy) newScalar(n ndarray.Num) vm.NewFunc {
	return func(in *vm.Interp, cls *vm.Type, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		d := ndarray.Of(n)
		if n == ndarray.Object {
			if len(args) == 0 {
				return vm.None, nil
			}
			return args[0], nil
		}
		if len(args) == 0 {
			z := ndarray.New(d)
			if d.Flexible() {
				return &vm.Instance{Class: cls, Native: payload(map[bool]any{true: "", false: ndarray.Raw("")}[n == ndarray.Unicode], d)}, nil
			}
			return &vm.Instance{Class: cls, Native: payload(z.Get(0), d)}, nil
		}
		if d.Flexible() {
			base := vm.StrType
			if n == ndarray.String {
				base = vm.BytesType
			}
			v, err := in.Call(base, args, kw)
			if err != nil {
				return nil, err
			}
			return &vm.Instance{Class: cls, Native: v}, nil
		}
		a, err := np.FromObject(args[0], d, false)
		if err != nil {
			return nil, err
		}
		if a.NDim() > 0 {
			return np.Wrap(a), nil
		}
		return &vm.Instance{Class: cls, Native: payload(a.Get(a.Offset), d)}, nil
	}
}

// zeroDim is a scalar as an array without axes.
func (np *NumPy) zeroDim(o vm.Object) *ndarray.Array {
	v, d, ok := np.scalarOf(o)
	if !ok {
		return ndarray.New(np.object)
	}
	a := ndarray.New(d)
	_ = a.Set(0, v)
	return a
}

// scalarText is str() of a scalar.
func (np *NumPy) scalarText(v any, d *ndarray.DType) string {
	switch x := v.(type) {
	case float64:
		return ndarray.FloatText(x, 8*d.Size)
	case complex128:
		return ndarray.ComplexText(x, 4*d.Size)
	}
	return ndarray.ValueText(v)
}

func (np *NumPy) scalarMethods(m map[string]vm.GoFunc) {
	in := np.In
	value := func(o vm.Object) (any, *ndarray.DType) {
		v, d, _ := np.scalarOf(o)
		return v, d
	}
	m["__repr__"] = func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		v, d := value(a[0])
		s := np.scalarText(v, d)
		switch d.Kind {
		case 'b':
			return vm.Str("np." + s + "_"), nil
		case 'c':
			s = strings.TrimSuffix(strings.TrimPrefix(s, "("), ")")
		case 'U', 'S':
			r, err := in.Repr(np.Python(v))
			return vm.Str("np." + d.Class() + "(" + r + ")"), err
		}
		return vm.Str("np." + d.Class() + "(" + s + ")"), nil
	}
	m["__str__"] = func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		v, d := value(a[0])
		return vm.Str(np.scalarText(v, d)), nil
	}
	m["__format__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		v, _ := value(a[0])
		spec, _ := vm.AsStr(a[1])
		if spec == "" {
			s, err := in.Str(a[0])
			return vm.Str(s), err
		}
		s, err := in.Format(np.Python(v), spec)
		return vm.Str(s), err
	}
	m["__bool__"] = func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		v, _ := value(a[0])
		return vm.MakeBool(ndarray.AsBool(v)), nil
	}
	m["__int__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		v, _ := value(a[0])
		if c, ok := v.(complex128); ok {
			v = real(c)
		}
		return in.ToInt(np.Python(v))
	}
	m["__float__"] = func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		v, _ := value(a[0])
		return vm.Float(ndarray.AsFloat(v)), nil
	}
	m["__complex__"] = func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		v, _ := value(a[0])
		return vm.Complex(ndarray.AsComplex(v)), nil
	}
	m["__index__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		v, d := value(a[0])
		if d.Kind != 'i' && d.Kind != 'u' {
			return nil, in.Errorf(in.Exc.TypeError, "'%s' object cannot be interpreted as an integer", a[0].Type().FullName())
		}
		return np.Python(v), nil
	}
	m["__round__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		v, d := value(a[0])
		args := a[1:]
		r, err := in.CallMethod(np.Python(v), "__round__", args...)
		if err != nil || len(args) == 0 || args[0] == vm.None {
			return r, err
		}
		return np.cast0(r, d)
	}
	m["__hash__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		v, _ := value(a[0])
		h, err := in.Hash(np.Python(v))
		return vm.MakeInt(int64(h)), err
	}
	m["__getitem__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		if t, ok := a[1].(*vm.Tuple); ok && len(t.Items) == 0 {
			return a[0], nil
		}
		if a[1] != vm.Ellipsis && a[1] != vm.None {
			return nil, in.Errorf(in.Exc.IndexError, "invalid index to scalar variable.")
		}
		return in.GetItem(np.Wrap(np.zeroDim(a[0])), a[1])
	}
	m["__reduce__"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		mod, err := in.Import("numpy._core.multiarray")
		if err != nil {
			return nil, err
		}
		f, err := in.GetAttr(mod, "scalar")
		if err != nil {
			return nil, err
		}
		z := np.zeroDim(a[0])
		return vm.NewTuple(f, vm.NewTuple(np.DTypeObject(z.DType), vm.Bytes(z.Bytes()))), nil
	}
	m["__array__"] = func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		return np.Wrap(np.zeroDim(a[0])), nil
	}
	m["__copy__"] = func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return a[0], nil }
	m["__deepcopy__"] = m["__copy__"]
	m["is_integer"] = func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		f := ndarray.AsFloat(first(value(a[0])))
		return vm.MakeBool(f == math.Trunc(f) && !math.IsInf(f, 0)), nil
	}
	m["bit_count"] = func(_ *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		return np.ufunc("bitwise_count").call(a[:1], call{})
	}
	m["as_integer_ratio"] = func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		r := new(big.Rat)
		if r.SetFloat64(ndarray.AsFloat(first(value(a[0])))) == nil {
			return nil, in.Errorf(in.Exc.ValueError, "cannot convert NaN to integer ratio")
		}
		return vm.NewTuple(vm.MakeBig(r.Num()), vm.MakeBig(r.Denom())), nil
	}
	// The rest is as for an array without axes.
	for _, name := range []string{"item", "tolist", "astype", "view", "reshape", "ravel", "flatten", "squeeze", "copy", "sum", "prod", "mean", "std", "var", "min", "max", "any", "all", "round",
		"clip", "conj", "conjugate", "tobytes", "transpose", "nonzero", "argmax", "argmin", "cumsum", "cumprod", "repeat", "fill", "take", "swapaxes", "argsort", "byteswap", "dot"} {
		m[name] = func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			f, err := in.GetAttr(np.Wrap(np.zeroDim(a[0])), name)
			if err != nil {
				return nil, err
			}
			v, err := in.Call(f, a[1:], kw)
			if r, ok := v.(*Array); ok && r.A.NDim() == 0 && err == nil {
				return np.Return(r.A), nil
			}
			return v, err
		}
	}
}

func first(v any, _ *ndarray.DType) any { return v }

// cast0 is a Python number as a scalar of a dtype.
func (np *NumPy) cast0(o vm.Object, d *ndarray.DType) (vm.Object, error) {
	a, err := np.FromObject(o, d, false)
	if err != nil {
		return nil, err
	}
	return np.Return(a), nil
}

func (np *NumPy) scalarGetSets() []*vm.GetSet {
	get := func(name string, f func(a *ndarray.Array) vm.Object) *vm.GetSet {
		return &vm.GetSet{Name: name, Get: func(_ *vm.Interp, o vm.Object) (vm.Object, error) { return f(np.zeroDim(o)), nil }}
	}
	part := func(name string, imag bool) *vm.GetSet {
		return get(name, func(a *ndarray.Array) vm.Object {
			p, err := a.Part(imag)
			if err != nil {
				return vm.None
			}
			return np.Return(p)
		})
	}
	return []*vm.GetSet{
		get("dtype", func(a *ndarray.Array) vm.Object { return np.DTypeObject(a.DType) }),
		get("shape", func(*ndarray.Array) vm.Object { return vm.NewTuple() }),
		get("strides", func(*ndarray.Array) vm.Object { return vm.NewTuple() }),
		get("ndim", func(*ndarray.Array) vm.Object { return vm.MakeInt(0) }),
		get("size", func(*ndarray.Array) vm.Object { return vm.MakeInt(1) }),
		get("itemsize", func(a *ndarray.Array) vm.Object { return vm.MakeInt(int64(a.DType.Size)) }),
		get("nbytes", func(a *ndarray.Array) vm.Object { return vm.MakeInt(int64(a.DType.Size)) }),
		get("T", func(a *ndarray.Array) vm.Object { return np.Return(a) }),
		get("base", func(*ndarray.Array) vm.Object { return vm.None }),
		part("real", false), part("imag", true),
		get("__array_priority__", func(*ndarray.Array) vm.Object { return vm.Float(-1000000) }),
	}
}

// IsScalarType reports whether a class is one of numpy's scalars.
func (np *NumPy) IsScalarType(c *vm.Type) bool { return c.IsSubtype(np.generic) }
