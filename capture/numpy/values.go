package numpy

import (
	"math"
	"math/big"

	"whittle/capture/python/vm"
	"whittle/kernels/ndarray"
)

// A number is the payload of scalars whose class is no Python number: an element as ndarray.Array.Get gives it.
type number struct{ v any }

// Scalar is the scalar object of an element.
func (np *NumPy) Scalar(v any, d *ndarray.DType) vm.Object {
	if it, ok := v.(ndarray.Item); ok {
		return object(it)
	}
	cls := np.scalars[d.Num]
	return &vm.Instance{Class: cls, Native: payload(v, d)}
}

func payload(v any, d *ndarray.DType) any {
	switch d.Num {
	case ndarray.Float64:
		return vm.Float(v.(float64))
	case ndarray.Complex128:
		return vm.Complex(v.(complex128))
	case ndarray.Unicode:
		return vm.Str(v.(string))
	case ndarray.String:
		return vm.Bytes(v.(ndarray.Raw))
	}
	return number{v}
}

// object is the Python object of an element of an object array.
func object(it ndarray.Item) vm.Object {
	if o, ok := it.V.(vm.Object); ok && o != nil {
		return o
	}
	return vm.None
}

// Python is an element as a plain Python value, as tolist and item give it.
func (np *NumPy) Python(v any) vm.Object {
	switch v := v.(type) {
	case bool:
		return vm.MakeBool(v)
	case int64:
		return vm.MakeInt(v)
	case uint64:
		return vm.MakeBig(new(big.Int).SetUint64(v))
	case float64:
		return vm.Float(v)
	case complex128:
		return vm.Complex(v)
	case string:
		return vm.Str(v)
	case ndarray.Raw:
		return vm.Bytes(v)
	case ndarray.Item:
		return object(v)
	}
	return vm.None
}

// scalarOf is the value and dtype of a NumPy scalar.
func (np *NumPy) scalarOf(o vm.Object) (v any, d *ndarray.DType, ok bool) {
	i, isInst := o.(*vm.Instance)
	if !isInst {
		return nil, nil, false
	}
	for _, t := range i.Class.MRO {
		if dt, isScalar := t.Native.(*ndarray.DType); isScalar {
			return elementOf(i.Native, dt)
		}
	}
	return nil, nil, false
}

func elementOf(native any, d *ndarray.DType) (any, *ndarray.DType, bool) {
	switch n := native.(type) {
	case number:
		return n.v, d, true
	case vm.Float:
		return float64(n), d, true
	case vm.Complex:
		return complex128(n), d, true
	case vm.Str:
		return string(n), ndarray.Text(len([]rune(string(n)))), true
	case vm.Bytes:
		return ndarray.Raw(n), ndarray.RawText(len(n)), true
	}
	return nil, nil, false
}

// element is the value and natural dtype of a scalar object, of Python or of NumPy; weak says that it is a number of Python's.
func (np *NumPy) element(o vm.Object) (v any, d *ndarray.DType, weak ndarray.Weak, ok bool) {
	switch x := o.(type) {
	case vm.Bool:
		return bool(x), ndarray.Of(ndarray.Bool), 0, true
	case vm.Int:
		return int64(x), ndarray.Of(ndarray.Int64), ndarray.WeakInt, true
	case *vm.BigInt:
		if x.V.IsUint64() {
			return x.V.Uint64(), ndarray.Of(ndarray.UInt64), ndarray.WeakInt, true
		}
		return ndarray.Item{V: o}, np.object, 0, true
	case vm.Float:
		return float64(x), ndarray.Of(ndarray.Float64), ndarray.WeakFloat, true
	case vm.Complex:
		return complex128(x), ndarray.Of(ndarray.Complex128), ndarray.WeakComplex, true
	case vm.Str:
		return string(x), ndarray.Text(len([]rune(string(x)))), 0, true
	case vm.Bytes:
		return ndarray.Raw(x), ndarray.RawText(len(x)), 0, true
	case *vm.Instance:
		if v, d, ok := np.scalarOf(o); ok {
			return v, d, 0, true
		}
		if n, isObj := x.Native.(vm.Object); isObj { // of a subclass of a Python number or text
			switch n.(type) {
			case vm.Int, vm.Float, vm.Bool, vm.Str, vm.Bytes, vm.Complex:
				return np.element(n)
			}
		}
	}
	return nil, nil, 0, false
}

// A language tells the kernels what Python objects are.
type language struct{ np *NumPy }

// ToObject is the object of an element.
func (l language) ToObject(v any) any { return l.np.Python(v) }

// FromObject converts an object for a dtype.
func (l language) FromObject(o any, d *ndarray.DType) (any, error) {
	return l.np.valueFor(o.(vm.Object), d)
}

// valueFor is an object as an element of a dtype, converted as assignment does.
func (np *NumPy) valueFor(o vm.Object, d *ndarray.DType) (any, error) {
	in := np.In
	if o == nil {
		o = vm.None
	}
	if d.Num == ndarray.Object {
		return ndarray.Item{V: o}, nil
	}
	v, own, weak, ok := np.element(o)
	if ok && own.Num != ndarray.Object {
		if weak == ndarray.WeakInt {
			return v, np.bounds(v, d)
		}
		if f, isF := v.(float64); isF && weak != 0 && (d.Kind == 'i' || d.Kind == 'u') {
			if math.IsNaN(f) {
				return nil, in.Errorf(in.Exc.ValueError, "cannot convert float NaN to integer")
			}
			if math.IsInf(f, 0) {
				return nil, in.Errorf(in.Exc.OverflowError, "cannot convert float infinity to integer")
			}
		}
		if _, isC := v.(complex128); isC && weak != 0 && d.Kind != 'c' && d.Numeric() && d.Kind != 'b' {
			what := "float() argument must be a string or a real number, not 'complex'"
			if d.Kind != 'f' {
				what = "int() argument must be a string, a bytes-like object or a real number, not 'complex'"
			}
			return nil, in.Errorf(in.Exc.TypeError, "%s", what)
		}
		return v, nil
	}
	if a, isA := o.(*Array); isA && a.A.Len() == 1 {
		return a.A.View(nil, nil, a.A.Offset).Get(a.A.Offset), nil
	}
	switch d.Kind {
	case 'b':
		return in.Truth(o)
	case 'f':
		if o == vm.None {
			return math.NaN(), nil
		}
		f, err := in.Float(o)
		if err != nil && in.Matches(err, in.Exc.TypeError) {
			return nil, in.Errorf(in.Exc.TypeError, "float() argument must be a string or a real number, not '%s'", o.Type().Name)
		}
		return f, err
	case 'c':
		f, err := in.Float(o)
		return complex(f, 0), err
	case 'i', 'u':
		if _, isBig := o.(*vm.BigInt); isBig {
			s, _ := in.Str(o)
			return nil, in.Errorf(in.Exc.OverflowError, "Python integer %s out of bounds for %s", s, d.Name())
		}
		i, err := in.ToInt(o)
		if err != nil {
			return nil, err
		}
		n, err := in.Index(i)
		return n, err
	}
	s, err := in.Str(o)
	return s, err
}

// bounds refuses a Python integer that a dtype does not hold.
func (np *NumPy) bounds(v any, d *ndarray.DType) error {
	ok := true
	switch n := v.(type) {
	case int64:
		switch d.Kind {
		case 'i':
			ok = d.Size == 8 || n >= -1<<(8*d.Size-1) && n < 1<<(8*d.Size-1)
		case 'u':
			ok = n >= 0 && (d.Size == 8 || n < 1<<(8*d.Size))
		}
	case uint64:
		ok = d.Kind != 'i' && (d.Kind != 'u' || d.Size == 8)
	}
	if !ok {
		return np.In.Errorf(np.In.Exc.OverflowError, "Python integer %s out of bounds for %s", ndarray.ValueText(v), d.Name())
	}
	return nil
}

// operators are the operators of Python that universal functions of objects are.
var operators = map[string]string{"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "remainder": "%", "power": "**", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "left_shift": "<<", "right_shift": ">>"}

var relations = map[string]string{"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}

// Apply is a universal function of objects: an operator, or a method of the name.
func (l language) Apply(name string, args []any) (any, error) {
	in := l.np.In
	objs := make([]vm.Object, len(args))
	for i, a := range args {
		o, ok := a.(vm.Object)
		if !ok || o == nil {
			o = vm.None
		}
		objs[i] = o
	}
	if op := operators[name]; op != "" {
		return in.BinaryOp(op, objs[0], objs[1])
	}
	if op := relations[name]; op != "" {
		return in.Compare(op, objs[0], objs[1])
	}
	switch name {
	case "negative":
		return in.UnaryOp("-", objs[0])
	case "positive":
		return in.UnaryOp("+", objs[0])
	case "invert":
		return in.UnaryOp("~", objs[0])
	case "absolute":
		return in.CallMethod(objs[0], "__abs__")
	case "square":
		return in.BinaryOp("*", objs[0], objs[0])
	case "maximum", "minimum":
		op := ">="
		if name == "minimum" {
			op = "<="
		}
		v, err := in.Compare(op, objs[0], objs[1])
		if err != nil {
			return nil, err
		}
		t, err := in.Truth(v)
		if t {
			return objs[0], err
		}
		return objs[1], err
	case "logical_not":
		t, err := in.Truth(objs[0])
		return vm.MakeBool(!t), err
	case "logical_and", "logical_or":
		t, err := in.Truth(objs[0])
		if t == (name == "logical_and") {
			return objs[1], err
		}
		return objs[0], err
	}
	f, err := in.GetAttrOpt(objs[0], name)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, in.Errorf(in.Exc.TypeError, "loop of ufunc does not support argument 0 of type %s which has no callable %s method", objs[0].Type().Name, name)
	}
	return in.Call(f, objs[1:], nil)
}

// Less orders objects.
func (l language) Less(a, b any) (bool, error) {
	v, err := l.np.In.Compare("<", a.(vm.Object), b.(vm.Object))
	if err != nil {
		return false, err
	}
	return l.np.In.Truth(v)
}

// Equal compares objects.
func (l language) Equal(a, b any) (bool, error) { return l.np.In.Eq(a.(vm.Object), b.(vm.Object)) }

// Truth is bool(o); of memory that nobody has written it is false.
func (l language) Truth(o any) (bool, error) {
	if x, ok := o.(vm.Object); ok && x != nil {
		return l.np.In.Truth(x)
	}
	return false, nil
}

// ScalarOf is the value and dtype of a NumPy scalar.
func (np *NumPy) ScalarOf(o vm.Object) (v any, d *ndarray.DType, ok bool) { return np.scalarOf(o) }
