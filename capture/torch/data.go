package torch

import (
	"math"

	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/kernels/tensor"
)

// fromData builds a tensor from numbers and nested sequences. d Invalid => the dtype that the values suggest.
func (t *Torch) fromData(o vm.Object, d tensor.DType) (*tensor.Tensor, error) {
	in := t.In
	var shape []int64
	var leaves []vm.Object
	var walk func(o vm.Object, depth int) error
	items := func(o vm.Object) ([]vm.Object, bool, error) {
		switch o.(type) {
		case *vm.List, *vm.Tuple, *vm.Range:
			it, err := in.IterAll(o)
			return it, true, err
		case *vm.Instance:
			if _, ok := vm.AsTuple(o); ok {
				it, err := in.IterAll(o)
				return it, true, err
			}
			if _, ok := vm.AsList(o); ok {
				it, err := in.IterAll(o)
				return it, true, err
			}
		}
		return nil, false, nil
	}
	walk = func(o vm.Object, depth int) error {
		xs, seq, err := items(o)
		if err != nil {
			return err
		}
		if p, ok := o.(*Tensor); ok && len(p.T.Shape) > 0 {
			l, err := t.toList(p.T)
			if err != nil {
				return err
			}
			return walk(l, depth)
		}
		if !seq {
			if depth < len(shape) {
				return in.Errorf(in.Exc.TypeError, "not a sequence")
			}
			leaves = append(leaves, o)
			return nil
		}
		if depth == len(shape) {
			if len(leaves) > 0 {
				return in.Errorf(in.Exc.ValueError, "only one element tensors can be converted to Python scalars")
			}
			shape = append(shape, int64(len(xs)))
		} else if shape[depth] != int64(len(xs)) {
			return in.Errorf(in.Exc.ValueError, "expected sequence of length %d at dim %d (got %d)", shape[depth], depth, len(xs))
		}
		for _, x := range xs {
			if err := walk(x, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	if p, ok := o.(*Tensor); ok {
		if d == tensor.Invalid || d == p.T.DType {
			return p.T.Clone(), nil
		}
		return p.T.To(d), nil
	}
	if err := walk(o, 0); err != nil {
		return nil, err
	}
	kind := tensor.KindNone
	floats := make([]float64, len(leaves))
	ints := make([]int64, len(leaves))
	complexes := make([]complex128, len(leaves)) // of those that are complex
	dt := tensor.Invalid
	for i, l := range leaves {
		switch v := l.(type) {
		case vm.Bool:
			kind = max(kind, tensor.KindBool)
			if v {
				ints[i], floats[i] = 1, 1
			}
		case vm.Int:
			kind = max(kind, tensor.KindInt)
			ints[i], floats[i] = int64(v), float64(v)
		case vm.Float:
			kind = max(kind, tensor.KindFloat)
			floats[i] = float64(v)
			if !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) {
				ints[i] = int64(v)
			}
		case *Tensor:
			if v.T.Fake {
				return nil, &DataDependent{Op: "aten._local_scalar_dense.default"}
			}
			kind = max(kind, v.T.DType.Kind())
			dt = tensor.Promote(v.T.DType, map[bool]tensor.DType{true: v.T.DType, false: dt}[dt == tensor.Invalid])
			floats[i], ints[i] = v.T.At(0), v.T.AtInt(0)
			if v.T.DType.Kind() == tensor.KindComplex {
				complexes[i] = v.T.Complexes()[0]
			}
		case vm.Complex:
			kind = max(kind, tensor.KindComplex)
			complexes[i], floats[i] = complex128(v), real(complex128(v))
			if d != tensor.Invalid && d.Kind() != tensor.KindComplex && imag(complex128(v)) != 0 {
				return nil, in.Errorf(in.Exc.RuntimeError, "value cannot be converted to type %s without overflow", cScalar(d))
			}
		default:
			n, ok := vm.AsInt(l)
			if ok {
				kind = max(kind, tensor.KindInt)
				ints[i], floats[i] = n, float64(n)
				break
			}
			f, ok := vm.AsFloat(l)
			if !ok {
				if s, isStr := vm.AsStr(l); isStr {
					return nil, in.Errorf(in.Exc.ValueError, "too many dimensions 'str'%s", s[:0])
				}
				return nil, in.Errorf(in.Exc.RuntimeError, "Could not infer dtype of %s", l.Type().Name)
			}
			kind = max(kind, tensor.KindFloat)
			floats[i] = f
		}
	}
	if d == tensor.Invalid {
		switch kind {
		case tensor.KindBool:
			d = tensor.Bool
		case tensor.KindInt:
			d = tensor.Int64
		case tensor.KindComplex:
			d = tensor.Complex64
			if t.DefaultDType == tensor.Float64 || dt == tensor.Complex128 {
				d = tensor.Complex128
			}
		default:
			d = t.DefaultDType
			if dt.IsFloat() {
				d = dt
			}
		}
	}
	x := tensor.Empty(d, shape...)
	if kind == tensor.KindComplex && d.Kind() == tensor.KindComplex {
		for i, f := range floats {
			if complexes[i] == 0 {
				complexes[i] = complex(f, 0)
			}
		}
		x.SetComplexes(complexes)
	} else if d.IsFloat() || d.Kind() == tensor.KindComplex {
		x.SetFloats(floats)
	} else if kind == tensor.KindFloat && d == tensor.Bool {
		for i, f := range floats {
			ints[i] = 0
			if f != 0 {
				ints[i] = 1
			}
		}
		x.SetInts(ints)
	} else {
		x.SetInts(ints)
	}
	return x, nil
}

// tensorFn is torch.tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False).
func (t *Torch) tensorFn(args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	if len(args) == 0 {
		for i, k := range kw {
			if k.Name == "data" {
				args = []vm.Object{k.Value}
				kw = append(append([]vm.KwArg(nil), kw[:i]...), kw[i+1:]...)
				break
			}
		}
	}
	if len(args) != 1 {
		return nil, t.In.Errorf(t.In.Exc.TypeError, "tensor() takes 1 positional argument but %d were given", len(args))
	}
	d := tensor.Invalid
	requires := false
	for _, k := range kw {
		switch k.Name {
		case "dtype":
			if k.Value == vm.None {
				continue
			}
			v, _ := t.Value(k.Value)
			dt, ok := v.(tensor.DType)
			if !ok {
				return nil, t.In.Errorf(t.In.Exc.TypeError, "tensor(): argument 'dtype' must be torch.dtype, not %s", k.Value.Type().Name)
			}
			d = dt
		case "requires_grad":
			var err error
			if requires, err = t.In.Truth(k.Value); err != nil {
				return nil, err
			}
		case "device", "pin_memory":
		default:
			return nil, t.In.Errorf(t.In.Exc.TypeError, "tensor() got an unexpected keyword argument '%s'", k.Name)
		}
	}
	x, err := t.fromData(args[0], d)
	if err != nil {
		return nil, err
	}
	if t.Lift != nil {
		if x, err = t.Lift(x); err != nil {
			return nil, t.Error(err)
		}
	}
	if requires {
		if err := t.Grad.SetRequiresGrad(x, true); err != nil {
			return nil, t.Error(err)
		}
	}
	return t.Wrap(x), nil
}

func (t *Torch) registerTensorFns() {
	add := func(name string, f func(args []vm.Object, kw []vm.KwArg) (vm.Object, error)) {
		target := "torch." + name
		t.c.Dict.SetStr(name, &vm.Builtin{Name: name, Module: "torch", Max: -1, Native: Target(target), Fn: func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			return t.call(fx.CallFunction, target, args, kw, f)
		}})
	}
	add("tensor", t.tensorFn)
	add("as_tensor", func(args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		if p, ok := args[0].(*Tensor); ok {
			for _, k := range kw {
				if d, ok := k.Value.(*DType); ok {
					return t.to(p.T, d.D, false, nil)
				}
			}
			return p, nil
		}
		return t.tensorFn(args, kw)
	})
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
