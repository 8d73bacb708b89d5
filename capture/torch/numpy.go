package torch

import (
	"fmt"
	"strings"

	"whittle/capture/fx"
	"whittle/capture/numpy"
	"whittle/capture/python/vm"
	"whittle/kernels/ndarray"
	"whittle/kernels/tensor"
)

// array is an object that is an ndarray, or a scalar of numpy, as an array; nil for all else.
func (t *Torch) array(o vm.Object) *ndarray.Array {
	if a, ok := o.(*numpy.Array); ok {
		return a.A
	}
	if np := numpy.Loaded(t.In); np != nil {
		if v, d, ok := np.ScalarOf(o); ok {
			a := ndarray.New(d)
			if a.Set(0, v) == nil {
				return a
			}
		}
	}
	return nil
}

// plainNumber is a scalar of numpy as the Python number of its value, and any other object itself.
func (t *Torch) plainNumber(o vm.Object) vm.Object {
	i, ok := o.(*vm.Instance)
	if !ok {
		return o
	}
	np := numpy.Loaded(t.In)
	if np == nil {
		return o
	}
	v, d, ok := np.ScalarOf(i)
	if !ok || !d.Numeric() {
		return o
	}
	return np.Python(v)
}

// shared is the tensor over the memory of an array.
func (t *Torch) shared(a *ndarray.Array) (*tensor.Tensor, error) {
	in := t.In
	if _, ok := numpy.TensorDType(a.DType); !ok {
		if a.DType.Swapped {
			return nil, in.Errorf(in.Exc.ValueError, "given numpy array has byte order different from the native byte order. Conversion between byte orders is currently not supported.")
		}
		class := a.DType.Class()
		return nil, in.Errorf(in.Exc.TypeError, "can't convert np.ndarray of type numpy.%s. The only supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool.", class)
	}
	for _, s := range a.Strides {
		if s < 0 {
			return nil, in.Errorf(in.Exc.ValueError, "At least one stride in the given numpy array is negative, and tensors with negative strides are not currently supported. (You can probably work around this by making a copy of your array  with array.copy().) ")
		}
		if s%a.DType.Size != 0 {
			return nil, in.Errorf(in.Exc.ValueError, "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the memory.")
		}
	}
	return numpy.ToTensor(a), nil
}

// fromNumpy is torch.from_numpy.
func (t *Torch) fromNumpy(args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
	in := t.In
	if len(args) != 1 {
		return nil, in.Errorf(in.Exc.TypeError, "_VariableFunctionsClass.from_numpy() takes exactly one argument (%d given)", len(args))
	}
	a, ok := args[0].(*numpy.Array)
	if !ok {
		name := args[0].Type().FullName()
		return nil, in.Errorf(in.Exc.TypeError, "expected np.ndarray (got %s)", name)
	}
	x, err := t.shared(a.A)
	if err != nil {
		return nil, err
	}
	return t.Wrap(x), nil
}

// toNumpy is Tensor.numpy: the array over the tensor's memory.
func (t *Torch) toNumpy(args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	in := t.In
	np, err := numpy.Of(in)
	if err != nil {
		return nil, err
	}
	x := args[0].(*Tensor).T
	force := false
	for _, k := range kw {
		if k.Name == "force" {
			if force, err = in.Truth(k.Value); err != nil {
				return nil, err
			}
		}
	}
	if t.Grad.RequiresGrad(x) && t.Grad.Enabled() && !force {
		return nil, in.Errorf(in.Exc.RuntimeError, "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
	}
	if x.Fake {
		if isMeta(x) {
			return nil, in.Errorf(in.Exc.TypeError, "can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.")
		}
		if modeOf(x) != nil {
			return nil, t.In.Errorf(t.In.Exc.RuntimeError, ".numpy() is not supported for tensor subclasses.")
		}
		return nil, &DataDependent{Op: "Tensor.numpy"}
	}
	if numpy.ArrayDType(x.DType) == nil {
		return nil, in.Errorf(in.Exc.TypeError, "Got unsupported ScalarType %s", scalarTypeName(x.DType))
	}
	return np.WrapView(numpy.FromTensor(x), t.Wrap(x.Alias())), nil
}

// scalarTypeName is how PyTorch's C++ names a dtype.
func scalarTypeName(d tensor.DType) string {
	names := map[tensor.DType]string{tensor.BFloat16: "BFloat16", tensor.Complex32: "ComplexHalf", tensor.Float8E4M3FN: "Float8_e4m3fn", tensor.Float8E5M2: "Float8_e5m2"}
	if n := names[d]; n != "" {
		return n
	}
	return fmt.Sprint(d)
}

// arrayMethod is Tensor.__array__.
func (t *Torch) arrayMethod(args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	v, err := t.toNumpy(args[:1], nil)
	if err != nil {
		return nil, err
	}
	d := vm.None
	if len(args) > 1 {
		d = args[1]
	}
	for _, k := range kw {
		if k.Name == "dtype" {
			d = k.Value
		}
	}
	if d == vm.None {
		return v, nil
	}
	return t.In.CallMethod(v, "astype", d)
}

// FromArray is the tensor over the memory of an array, or of a scalar of numpy. One that must not be written has a copy.
func (t *Torch) FromArray(o vm.Object) (vm.Object, error) {
	a := t.array(o)
	if a == nil {
		return nil, t.In.Errorf(t.In.Exc.TypeError, "expected np.ndarray (got %s)", o.Type().FullName())
	}
	x, err := t.shared(a)
	if err != nil {
		return nil, err
	}
	if a.ReadOnly {
		x = x.Clone()
	}
	return t.Wrap(x), nil
}

// IsArray reports whether an object is an array or a scalar of numpy that a tensor can stand for.
func (t *Torch) IsArray(o vm.Object) bool {
	np := numpy.Loaded(t.In)
	if np == nil {
		return false
	}
	switch o := o.(type) {
	case *numpy.Array:
		_, ok := numpy.TensorDType(o.A.DType)
		return ok && o.Type() == np.ArrayType
	case *vm.Instance:
		_, d, ok := np.ScalarOf(o)
		if !ok {
			return false
		}
		_, ok = numpy.TensorDType(d)
		return ok
	}
	return false
}

// Face is an object of class ndarray that stands for a tensor of a trace. The tensor keeps the object that it has.
func (t *Torch) Face(x *tensor.Tensor) *Tensor {
	return &Tensor{T: x, class: numpy.Loaded(t.In).ArrayType}
}

// IsFace reports whether an object is a tensor in the guise of an array.
func (t *Torch) IsFace(o vm.Object) bool {
	p, ok := o.(*Tensor)
	np := numpy.Loaded(t.In)
	return ok && np != nil && p.class == np.ArrayType
}

// ToArray is the array over the memory of a tensor, whether or not that requires gradients.
func (t *Torch) ToArray(p *Tensor) (vm.Object, error) {
	return t.toNumpy([]vm.Object{p}, []vm.KwArg{{Name: "force", Value: vm.True}})
}

func (t *Torch) registerNumpy() {
	t.c.Dict.SetStr("from_numpy", &vm.Builtin{Name: "from_numpy", Module: "torch", Max: -1, Native: Target("torch.from_numpy"), Fn: func(_ *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		return t.call(fx.CallFunction, "torch.from_numpy", args, kw, t.fromNumpy)
	}})
}

// asArray is torch.as_tensor of an array: its own memory if the dtype is its own.
func (t *Torch) asArray(a *numpy.Array, d *DType) (vm.Object, error) {
	x, err := t.shared(a.A)
	if err != nil {
		return nil, err
	}
	if d != nil && d.D != x.DType {
		x = x.To(d.D)
	}
	return t.Wrap(x), nil
}

// oneInteger reports whether an array has no axes and holds an integer.
func oneInteger(a *numpy.Array) bool {
	return len(a.A.Shape) == 0 && (a.A.DType.Kind == 'i' || a.A.DType.Kind == 'u')
}

// isScalar says that an object is a number of a class of its own, as numpy's are: no container and no tensor.
func isScalar(o vm.Object) bool {
	if a, ok := o.(*numpy.Array); ok {
		return oneInteger(a)
	}
	i, ok := o.(*vm.Instance)
	if !ok {
		return false
	}
	_, isTuple := vm.AsTuple(i)
	return !isTuple
}

// ArrayWrapper is the target of a wrapper of torch._dynamo.utils: the expression that makes it. What it wraps is itself a target, but for
// methods, which are known by name.
func ArrayWrapper(class, wrapped string) string {
	return wrapperModule + "." + class + "(" + wrapped + ")"
}

// wrapperModule has the wrappers, and wrappers are their classes with the attributes that hold what they wrap.
const wrapperModule = "torch._dynamo.utils"

var wrappers = map[string]string{"numpy_to_tensor_wrapper": "f", "numpy_method_wrapper": "method", "numpy_operator_wrapper": "op"}

// resolveWrapper makes the wrapper that a target describes; its argument begins behind at.
func (t *Torch) resolveWrapper(target string, at int) (vm.Object, error) {
	class, err := t.Resolve(target[:at])
	if err != nil {
		return nil, err
	}
	text := strings.TrimSuffix(target[at+1:], ")")
	var arg vm.Object = vm.Str(strings.Trim(text, "'"))
	if !strings.HasPrefix(text, "'") {
		if arg, err = t.Resolve(text); err != nil {
			return nil, err
		}
	}
	o, err := t.In.Call(class, []vm.Object{arg}, nil)
	if err == nil {
		t.objects[target] = o
	}
	return o, err
}

// wrapperTarget is the target of an object that is such a wrapper, "" for others.
func (t *Torch) wrapperTarget(o vm.Object) string {
	i, ok := o.(*vm.Instance)
	if !ok || i.Class.Module != wrapperModule || i.Dict == nil {
		return ""
	}
	v, ok := i.Dict.GetStr(wrappers[i.Class.Name])
	if !ok {
		return ""
	}
	wrapped := ""
	switch name, isStr := vm.AsStr(v); {
	case isStr:
		wrapped = "'" + name + "'"
	case i.Class.Name == "numpy_to_tensor_wrapper":
		wrapped = t.arrayFunction(v)
	default:
		wrapped = t.TargetOf(v)
	}
	if wrapped == "" {
		return ""
	}
	return ArrayWrapper(i.Class.Name, wrapped)
}

// arrayFunction is the way to a function of torch._numpy.
func (t *Torch) arrayFunction(f vm.Object) string {
	for _, name := range []string{"torch._numpy", "torch._numpy.linalg", "torch._numpy.fft", "torch._numpy.random"} {
		mod, err := t.In.Import(name)
		if err != nil {
			return ""
		}
		found := ""
		mod.Dict.Each(func(k, v vm.Object) bool {
			if v == f {
				found, _ = vm.AsStr(k)
			}
			return found == ""
		})
		if found != "" {
			return name + "." + found
		}
	}
	return ""
}
