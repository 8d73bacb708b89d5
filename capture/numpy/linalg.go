package numpy

import (
	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/ndarray"
	"whittle/kernels/tensor"
)

// tensors are the dtypes that arrays and tensors have in common.
var tensors = map[ndarray.Num]tensor.DType{ndarray.Bool: tensor.Bool, ndarray.Int8: tensor.Int8, ndarray.UInt8: tensor.UInt8, ndarray.Int16: tensor.Int16, ndarray.Int32: tensor.Int32, ndarray.Int64: tensor.Int64,
	ndarray.UInt16: tensor.UInt16, ndarray.UInt32: tensor.UInt32, ndarray.UInt64: tensor.UInt64, ndarray.Float16: tensor.Float16, ndarray.Float32: tensor.Float32, ndarray.Float64: tensor.Float64,
	ndarray.Complex64: tensor.Complex64, ndarray.Complex128: tensor.Complex128}

// TensorDType is the dtype of tensors that has the elements of d; false if there is none.
func TensorDType(d *ndarray.DType) (tensor.DType, bool) {
	t, ok := tensors[d.Num]
	return t, ok && !d.Swapped
}

// ArrayDType is the dtype of arrays that has the elements of a tensor's; nil if there is none.
func ArrayDType(t tensor.DType) *ndarray.DType {
	for n, d := range tensors {
		if d == t {
			return ndarray.Of(n)
		}
	}
	return nil
}

// FromTensor is the array of a tensor's memory.
func FromTensor(t *tensor.Tensor) *ndarray.Array {
	d := ArrayDType(t.DType)
	a := &ndarray.Array{Buf: &ndarray.Buffer{Bytes: t.Storage.Data, Holder: t.Storage}, DType: d, Offset: int(t.Offset) * d.Size, Shape: []int{}, Strides: []int{}}
	for i, n := range t.Shape {
		a.Shape, a.Strides = append(a.Shape, int(n)), append(a.Strides, int(t.Stride[i])*d.Size)
	}
	return a
}

// ToTensor is the tensor of an array's memory. Strides are multiples of the size of elements, and none is negative.
func ToTensor(a *ndarray.Array) *tensor.Tensor {
	d, _ := TensorDType(a.DType)
	st, ok := a.Buf.Holder.(*tensor.Storage)
	off := a.Offset
	if !ok {
		data := a.Buf.Bytes[off:]
		st, off = &tensor.Storage{Data: data, NBytes: int64(len(data))}, 0
	}
	t := &tensor.Tensor{Storage: st, DType: d, Offset: int64(off / a.DType.Size), Shape: []int64{}, Stride: []int64{}}
	for i, n := range a.Shape {
		t.Shape, t.Stride = append(t.Shape, int64(n)), append(t.Stride, int64(a.Strides[i]/a.DType.Size))
	}
	return t
}

// fourier gives our own Python the kernels of tensors: _aten(name, arrays and numbers) calls an operator.
func (np *NumPy) fourier(m *vm.Module) {
	clinic.Def(m, "_aten", "name:str, *args, **kwargs", func(c *clinic.Call) (vm.Object, error) {
		var args []aten.Value
		for _, o := range mustTuple(c.Args[1]) {
			v, err := np.atenValue(o)
			if err != nil {
				return nil, err
			}
			args = append(args, v)
		}
		kwargs := map[string]aten.Value{}
		kw, _ := vm.AsDict(c.Args[2])
		for _, k := range keywords(kw) {
			v, err := np.atenValue(k.Value)
			if err != nil {
				return nil, err
			}
			kwargs[k.Name] = v
		}
		v, err := aten.CallKw(aten.Eager, "aten."+c.Str(0)+".default", args, kwargs)
		if err != nil {
			if e, ok := err.(*aten.Error); ok && e.Kind == aten.LinAlgError {
				return nil, c.Errorf(np.exception("LinAlgError"), "%s", e.Msg)
			}
			return nil, c.Errorf(c.Exc.ValueError, "%s", err.Error())
		}
		return np.fromAten(v), nil
	})
}

func (np *NumPy) atenValue(o vm.Object) (aten.Value, error) {
	switch x := o.(type) {
	case *Array:
		a, err := x.A.As(x.A.DType.Native(), 'C')
		if err != nil {
			return nil, np.err(err)
		}
		if _, ok := TensorDType(a.DType); !ok {
			return nil, np.In.Errorf(np.In.Exc.TypeError, "array type %s is unsupported in linalg", a.DType.Name())
		}
		return ToTensor(a), nil
	case vm.Int:
		return int64(x), nil
	case vm.Float:
		return float64(x), nil
	case vm.Bool:
		return bool(x), nil
	case vm.Str:
		return string(x), nil
	case *vm.NoneType:
		return nil, nil
	case *vm.List:
		var out []aten.Value
		for _, it := range x.Items {
			v, err := np.atenValue(it)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	}
	return nil, np.In.Errorf(np.In.Exc.TypeError, "%s is no argument of a kernel", o.Type().Name)
}

func (np *NumPy) fromAten(v aten.Value) vm.Object {
	switch v := v.(type) {
	case *tensor.Tensor:
		return np.Wrap(FromTensor(v))
	case []aten.Value:
		items := make([]vm.Object, len(v))
		for i, x := range v {
			items[i] = np.fromAten(x)
		}
		return vm.NewTuple(items...)
	case int64:
		return vm.MakeInt(v)
	case float64:
		return vm.Float(v)
	case bool:
		return vm.MakeBool(v)
	}
	return vm.None
}
