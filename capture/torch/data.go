package torch

import (
	"math/cmplx"

	"whittle/capture/fx"
	"whittle/capture/numpy"
	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// fromData builds a tensor from a number, a tensor, or nested sequences of them. d Invalid => the dtype that the values suggest. As in PyTorch,
// the first item of each level says how long all items there are, and only then the values are looked at.
func (t *Torch) fromData(o vm.Object, d tensor.DType) (*tensor.Tensor, error) {
	if p, ok := o.(*Tensor); ok {
		if d == tensor.Invalid || d == p.T.DType {
			return p.T.Clone(), nil
		}
		return p.T.To(d), nil
	}
	if a := t.array(o); a != nil {
		x, err := t.shared(a)
		if err != nil {
			return nil, err
		}
		if d == tensor.Invalid || d == x.DType {
			return x.Clone(), nil
		}
		return x.To(d), nil
	}
	if isText(o) {
		return nil, t.noData(o)
	}
	shape, err := t.sizesOf(o)
	if err != nil {
		return nil, err
	}
	if d == tensor.Invalid {
		if d, err = t.suggested(o); err != nil {
			return nil, err
		}
	}
	e := &elements{t: t, d: d, shape: shape}
	if err := e.read(o, 0); err != nil {
		return nil, err
	}
	x := tensor.Empty(d, shape...)
	switch {
	case d.Kind() == tensor.KindComplex:
		x.SetComplexes(e.complexes)
	case d.IsFloat():
		x.SetFloats(e.floats)
	default:
		x.SetInts(e.ints)
	}
	return x, nil
}

// items are those of a sequence as CPython's C sees one: a list, a tuple, a range, any instance of a class with __getitem__ that is no dict. ok is false for
// all else.
func (t *Torch) items(o vm.Object) (items []vm.Object, ok bool, err error) {
	if !t.isSequence(o) {
		return nil, false, nil
	}
	if o.Type().Heap { // PyTorch asks such a one for its length first
		n, err := t.In.Len(o)
		if err != nil || n == 0 {
			return nil, err == nil, err
		}
	}
	items, err = t.In.IterAll(o)
	return items, true, err
}

// isSequence reports whether a tensor is made of the items of an object, and not of the object as one number.
func (t *Torch) isSequence(o vm.Object) bool {
	switch v := o.(type) {
	case vm.Int, vm.Float, vm.Bool, vm.Complex, *Tensor:
		return false
	case *vm.Range:
		return true
	case *numpy.Array:
		return v.A.NDim() > 0
	}
	if _, isTuple := vm.AsTuple(o); isTuple {
		return true
	}
	if _, isList := vm.AsList(o); isList {
		return true
	}
	if _, isDict := vm.AsDict(o); isDict || isText(o) || t.array(o) != nil {
		return false
	}
	class := o.Type()
	switch {
	case class.Heap:
		return class.Lookup("__getitem__") != nil
	case class == vm.ByteArrayType:
		return true
	}
	return class.Collection() == vm.Sequence
}

// isText reports whether o is a str or bytes.
func isText(o vm.Object) bool {
	_, isStr := vm.AsStr(o)
	return isStr || o.Type() == vm.BytesType
}

// noData is the error of a text where numbers are due.
func (t *Torch) noData(o vm.Object) error {
	return t.In.Errorf(t.In.Exc.TypeError, "new(): invalid data type '%s'", o.Type().Name)
}

// sizesOf are the lengths along the first item of the first item, and so on.
func (t *Torch) sizesOf(o vm.Object) (shape []int64, err error) {
	for {
		items, ok, err := t.items(o)
		if err != nil {
			return nil, err
		}
		if !ok {
			if len(shape) > 0 && isText(o) { // each item of a text is a text, without end
				return nil, t.In.Errorf(t.In.Exc.ValueError, "too many dimensions '%s'", o.Type().Name)
			}
			return shape, nil
		}
		shape = append(shape, int64(len(items)))
		if len(items) == 0 {
			return shape, nil
		}
		o = items[0]
	}
}

// suggested is the dtype that all values are promoted to; that of no values is the default one.
func (t *Torch) suggested(o vm.Object) (tensor.DType, error) {
	items, ok, err := t.items(o)
	if err != nil {
		return tensor.Invalid, err
	}
	if !ok {
		return t.suggestedOne(o)
	}
	d := tensor.Invalid
	for _, it := range items {
		one, err := t.suggested(it)
		if err != nil {
			return tensor.Invalid, err
		}
		d = tensor.Promote(d, one)
	}
	if d == tensor.Invalid {
		d = t.DefaultDType
	}
	return d, nil
}

// suggestedOne is suggested for what is no sequence.
func (t *Torch) suggestedOne(o vm.Object) (tensor.DType, error) {
	if a := t.array(o); a != nil {
		if d, ok := numpy.TensorDType(a.DType); ok {
			return d, nil
		}
	}
	switch v := o.(type) {
	case *Tensor:
		return v.T.DType, nil
	case vm.Bool:
		return tensor.Bool, nil
	case vm.Complex:
		if t.DefaultDType == tensor.Float64 {
			return tensor.Complex128, nil
		}
		return tensor.Complex64, nil
	}
	if isText(o) {
		return tensor.Invalid, t.noData(o)
	}
	if _, ok := vm.AsBig(o); ok {
		return tensor.Int64, nil
	}
	if _, ok := vm.AsFloat(o); ok {
		return t.DefaultDType, nil
	}
	return tensor.Invalid, t.In.Errorf(t.In.Exc.RuntimeError, "Could not infer dtype of %s", o.Type().Name)
}

// elements collects the numbers of nested sequences, in order, for a tensor of dtype d and a shape. One of the slices is filled: that of d's kind.
type elements struct {
	t         *Torch
	d         tensor.DType
	shape     []int64
	ints      []int64 // bools, too
	floats    []float64
	complexes []complex128
}

// read appends the numbers of o, which lies at a depth.
func (e *elements) read(o vm.Object, depth int) error {
	in := e.t.In
	if depth == len(e.shape) {
		return e.number(o)
	}
	items, ok, err := e.t.items(o)
	if p, isTensor := o.(*Tensor); isTensor && len(p.T.Shape) > 0 {
		if o, err = e.t.toList(p.T); err == nil {
			items, ok, err = e.t.items(o)
		}
	}
	switch {
	case err != nil:
		return err
	case isText(o):
		return e.number(o) // which no text is
	case !ok:
		return in.Errorf(in.Exc.TypeError, "not a sequence")
	case int64(len(items)) != e.shape[depth]:
		return in.Errorf(in.Exc.ValueError, "expected sequence of length %d at dim %d (got %d)", e.shape[depth], depth, len(items))
	}
	for _, it := range items {
		if err := e.read(it, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// number appends one number, which has to fit the dtype.
func (e *elements) number(o vm.Object) error {
	if p, ok := o.(*Tensor); ok {
		if p.T.Fake {
			return &DataDependent{Op: "aten._local_scalar_dense.default"}
		}
		kind := e.d.Kind()
		if integral := p.T.DType.Kind() < tensor.KindFloat; !integral && kind < tensor.KindFloat || p.T.Numel() != 1 && kind < tensor.KindFloat {
			return e.t.In.Errorf(e.t.In.Exc.TypeError, "only integer tensors of a single element can be converted to an index")
		}
		if p.T.Numel() != 1 {
			return e.t.In.Errorf(e.t.In.Exc.ValueError, "only one element tensors can be converted to Python scalars")
		}
		var err error
		if o, err = e.t.item(p.T); err != nil {
			return err
		}
	}
	var err error
	if a := e.t.array(o); a != nil && a.NDim() == 0 && a.DType.Numeric() {
		if np := numpy.Loaded(e.t.In); np != nil {
			o = np.Python(a.Get(a.Offset))
		}
	}
	switch {
	case e.d == tensor.Bool:
		var n int64
		if n, err = e.truth(o); err == nil {
			e.ints = append(e.ints, n)
		}
	case e.d.Kind() == tensor.KindComplex:
		c, ok := o.(vm.Complex)
		if !ok {
			var f float64
			f, err = e.real(o)
			c = vm.Complex(complex(f, 0))
		}
		e.complexes = append(e.complexes, complex128(c))
	case e.d.IsFloat():
		var f float64
		f, err = e.real(o)
		e.floats = append(e.floats, f)
	default:
		var n int64
		n, err = e.integer(o)
		e.ints = append(e.ints, n)
	}
	return err
}

// real is a number as a float; complex ones are none.
func (e *elements) real(o vm.Object) (float64, error) {
	f, ok := vm.AsFloat(o)
	if !ok {
		return 0, e.t.In.Errorf(e.t.In.Exc.TypeError, "must be real number, not %s", o.Type().Name)
	}
	return f, nil
}

// truth is 1 for a number that is not zero.
func (e *elements) truth(o vm.Object) (int64, error) {
	f, ok := vm.AsFloat(o)
	if c, isComplex := o.(vm.Complex); isComplex {
		f, ok = cmplx.Abs(complex128(c)), true
	}
	switch {
	case !ok:
		return 0, e.noInteger(o)
	case f != 0:
		return 1, nil
	}
	return 0, nil
}

// integer is a number cut to an integer that the dtype holds. A negative one of an unsigned dtype wraps around, as far as its magnitude fits.
func (e *elements) integer(o vm.Object) (int64, error) {
	overflow := func() (int64, error) {
		return 0, e.t.In.Errorf(e.t.In.Exc.RuntimeError, "value cannot be converted to type %s without overflow", e.d)
	}
	n, ok := vm.AsInt(o)
	if !ok {
		b, isBig := vm.AsBig(o)
		f, isFloat := vm.AsFloat(o)
		switch {
		case isBig && e.d == tensor.UInt64 && b.IsUint64():
			return int64(b.Uint64()), nil
		case isBig:
			return 0, e.t.In.Errorf(e.t.In.Exc.RuntimeError, "Overflow when unpacking long")
		case !isFloat:
			return 0, e.noInteger(o)
		case !(f >= -(1<<63) && f < 1<<63): // nan, too
			return overflow()
		}
		n = int64(f)
	}
	if size := e.d.Size(); size < 8 {
		least, most := int64(-1)<<(8*size-1), int64(1)<<(8*size-1)-1
		if unsigned := e.d == tensor.UInt8 || e.d == tensor.UInt16 || e.d == tensor.UInt32; unsigned {
			most = 2*most + 1
			least = -most
		}
		if n < least || n > most {
			return overflow()
		}
	}
	return n, nil
}

func (e *elements) noInteger(o vm.Object) error {
	return e.t.In.Errorf(e.t.In.Exc.TypeError, "'%s' object cannot be interpreted as an integer", o.Type().Name)
}

// dataArgument is what a function makes its tensor of, given in its place or by its name, and the other keywords.
func (t *Torch) dataArgument(fn string, args []vm.Object, kw []vm.KwArg) (vm.Object, []vm.KwArg, error) {
	if len(args) > 1 {
		return nil, nil, t.In.Errorf(t.In.Exc.TypeError, "%s() takes 1 positional argument but %d were given", fn, len(args))
	}
	if len(args) == 1 {
		return args[0], kw, nil
	}
	for i, k := range kw {
		if k.Name == "data" {
			return k.Value, append(append([]vm.KwArg(nil), kw[:i]...), kw[i+1:]...), nil
		}
	}
	return nil, nil, t.In.Errorf(t.In.Exc.TypeError, "%s() missing 1 required positional arguments: \"data\"", fn)
}

// deviceArgument reports whether a device argument asks for a tensor without data; devices that are not there are errors.
func (t *Torch) deviceArgument(fn string, o vm.Object) (meta bool, err error) {
	kind := "cpu"
	switch v := o.(type) {
	case *vm.NoneType:
	case *Device:
		kind = v.D.Type
	case vm.Int:
		return false, t.noAccelerator()
	default:
		text, ok := vm.AsStr(o)
		if !ok {
			return false, t.In.Errorf(t.In.Exc.TypeError, "%s(): argument 'device' must be torch.device, not %s", fn, o.Type().Name)
		}
		d, err := parseDevice(text)
		if err != nil {
			return false, t.Error(err)
		}
		kind = d.Type
	}
	return kind == "meta", t.Error(aten.NoDevice(kind))
}

// tensorFn is torch.tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False).
func (t *Torch) tensorFn(args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	return t.makeTensor("tensor", args, kw)
}

// makeTensor is tensorFn for functions that take some of its arguments.
func (t *Torch) makeTensor(fn string, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	data, kw, err := t.dataArgument(fn, args, kw)
	if err != nil {
		return nil, err
	}
	d := tensor.Invalid
	requires, meta := false, false
	for _, k := range kw {
		switch k.Name {
		case "dtype":
			if k.Value == vm.None {
				continue
			}
			v, _ := t.Value(k.Value)
			dt, ok := v.(tensor.DType)
			if !ok {
				return nil, t.In.Errorf(t.In.Exc.TypeError, "%s(): argument 'dtype' must be torch.dtype, not %s", fn, k.Value.Type().Name)
			}
			d = dt
		case "requires_grad":
			if requires, err = t.In.Truth(k.Value); err != nil {
				return nil, err
			}
		case "device":
			if meta, err = t.deviceArgument(fn, k.Value); err != nil {
				return nil, err
			}
		case "pin_memory":
		default:
			return nil, t.In.Errorf(t.In.Exc.TypeError, "%s() got an unexpected keyword argument '%s'", fn, k.Name)
		}
	}
	var x *tensor.Tensor
	source, fromTensor := data.(*Tensor)
	symbol, fromSymbol := data.(*Scalar)
	if fromSymbol = fromSymbol && t.Symbolic && !meta; fromSymbol { // its value is not known to the trace
		x, err = t.ofSymbol(symbol, d)
	} else if fromTensor = fromTensor && !meta; fromTensor { // by operators, which a trace sees
		x, err = t.copyOf(source.T, d)
	} else {
		x, err = t.fromData(data, d)
	}
	if err != nil {
		return nil, err
	}
	if meta {
		x = tensor.FakeLike(x)
		x.Mode = metaMode{t}
	}
	if t.Lift != nil && !fromTensor && !fromSymbol {
		if x, err = t.Lift(x); err != nil {
			return nil, t.Error(err)
		}
	}
	if requires {
		if x.DType.Kind() < tensor.KindFloat {
			return nil, t.In.Errorf(t.In.Exc.RuntimeError, "Only Tensors of floating point and complex dtype can require gradients")
		}
		if err := t.Grad.SetRequiresGrad(x, true); err != nil {
			return nil, t.Error(err)
		}
	}
	return t.Wrap(x), nil
}

// ofSymbol is a number of a trace as a tensor without dimensions, by an operator that asks nobody for the value.
func (t *Torch) ofSymbol(s *Scalar, d tensor.DType) (*tensor.Tensor, error) {
	if d == tensor.Invalid {
		if d = s.Kind; d.Kind() == tensor.KindFloat {
			d = t.DefaultDType
		}
	}
	v, _ := t.Value(s)
	out, err := aten.CallKw(t.dispatcher(), "aten.scalar_tensor.default", []aten.Value{v}, map[string]aten.Value{"dtype": d})
	if err != nil {
		return nil, t.Error(err)
	}
	return out.(*tensor.Tensor), nil
}

// copyOf is x with its own memory and no history, of another dtype unless d is Invalid.
func (t *Torch) copyOf(x *tensor.Tensor, d tensor.DType) (*tensor.Tensor, error) {
	if d == tensor.Invalid {
		d = x.DType
	}
	out, err := aten.CallKw(t.dispatcher(), "aten.detach.default", []aten.Value{x}, nil)
	if err == nil {
		out, err = aten.CallKw(t.dispatcher(), "aten._to_copy.default", []aten.Value{out}, map[string]aten.Value{"dtype": d})
	}
	if err != nil {
		return nil, t.Error(err)
	}
	return out.(*tensor.Tensor), nil
}

// asTensor is torch.as_tensor(data, *, dtype=None, device=None): a tensor itself, the memory of an array, where the dtype is right.
func (t *Torch) asTensor(args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	data, kw, err := t.dataArgument("as_tensor", args, kw)
	if err != nil {
		return nil, err
	}
	meta := false
	var d *DType
	for _, k := range kw {
		switch k.Name {
		case "device":
			if meta, err = t.deviceArgument("as_tensor", k.Value); err != nil {
				return nil, err
			}
		case "dtype":
			d, _ = k.Value.(*DType)
		default:
			return nil, t.In.Errorf(t.In.Exc.TypeError, "as_tensor() got an unexpected keyword argument '%s'", k.Name)
		}
	}
	p, isTensor := data.(*Tensor)
	switch {
	case isTensor && meta:
		if d == nil {
			return t.toMeta(p, p.T.DType)
		}
		return t.toMeta(p, d.D)
	case isTensor && d != nil:
		return t.to(p.T, d.D, false, nil)
	case isTensor:
		return p, nil
	}
	if a, ok := data.(*numpy.Array); ok && !meta {
		return t.asArray(a, d)
	}
	return t.makeTensor("as_tensor", []vm.Object{data}, kw)
}

func (t *Torch) registerTensorFns() {
	add := func(name string, f func(args []vm.Object, kw []vm.KwArg) (vm.Object, error)) {
		target := "torch." + name
		t.c.Dict.SetStr(name, &vm.Builtin{Name: name, Module: "torch", Max: -1, Native: Target(target), Fn: func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			return t.call(fx.CallFunction, target, args, kw, f)
		}})
	}
	add("tensor", t.tensorFn)
	add("as_tensor", t.asTensor)
	t.registerNumpy()
	add("split", t.split)
}

// cScalar is the type in C++ that holds an element of a dtype.
func cScalar(d tensor.DType) string {
	names := map[tensor.DType]string{tensor.Float32: "float", tensor.Float64: "double", tensor.Float16: "at::Half", tensor.BFloat16: "at::BFloat16", tensor.Int64: "int64_t", tensor.Int32: "int",
		tensor.Int16: "int16_t", tensor.Int8: "int8_t", tensor.UInt8: "uint8_t", tensor.Bool: "bool"}
	if n := names[d]; n != "" {
		return n
	}
	return d.String()
}
