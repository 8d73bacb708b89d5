package torch

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"whittle/capture/fx"
	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
	"whittle/kernels/tensor"
)

// registerStorage binds what torch.storage and the legacy constructors are made of. Native code knows a storage as the flat uint8 tensor over it.
func (t *Torch) registerStorage() {
	t.c.Func("_storage_bytes", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		p, err := t.tensorArg("_storage_bytes", a, 0)
		if err != nil {
			return nil, err
		}
		return t.Wrap(overStorage(p.T)), nil
	})
	t.c.Func("_storage_id", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		p, err := t.tensorArg("_storage_id", a, 0)
		if err != nil {
			return nil, err
		}
		return vm.MakeInt(int64(uintptr(unsafe.Pointer(p.T.Storage)))), nil
	})
	t.c.Func("_bytes_of", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		p, err := t.tensorArg("_bytes_of", a, 0)
		if err != nil {
			return nil, err
		}
		if p.T.Fake {
			return nil, &DataDependent{Op: "torch.save"}
		}
		return vm.Bytes(p.T.Bytes()), nil
	})
	t.c.Func("_tensor_over", func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return t.tensorOver(a) })
	clinic.Def(t.c, "frombuffer", "buffer, *, dtype, count:int=-1, offset:int=0, requires_grad:bool=False", t.fromBuffer)
	t.c.Func("_legacy_tensor", func(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		d, ok := a[0].(*DType)
		if !ok {
			return nil, in.Errorf(in.Exc.TypeError, "_legacy_tensor() needs a dtype")
		}
		return t.legacyNew(t.TensorType, d.D, a[1:])
	})
}

// tensorArg is an argument that has to be a tensor.
func (t *Torch) tensorArg(name string, a []vm.Object, i int) (*Tensor, error) {
	if i < len(a) {
		if p, ok := a[i].(*Tensor); ok {
			return p, nil
		}
	}
	return nil, t.In.Errorf(t.In.Exc.TypeError, "%s(): argument %d must be Tensor", name, i+1)
}

// overStorage is the flat tensor of all bytes of x's storage.
func overStorage(x *tensor.Tensor) *tensor.Tensor {
	return &tensor.Tensor{Storage: x.Storage, DType: tensor.UInt8, Shape: []int64{x.Storage.NBytes}, Stride: []int64{1}, Fake: x.Fake}
}

// tensorOver is (bytes, dtype, offset, size, stride) as a tensor over the storage of bytes.
func (t *Torch) tensorOver(a []vm.Object) (vm.Object, error) {
	in := t.In
	if len(a) != 5 {
		return nil, in.Errorf(in.Exc.TypeError, "_tensor_over() takes 5 arguments (%d given)", len(a))
	}
	p, err := t.tensorArg("_tensor_over", a, 0)
	if err != nil {
		return nil, err
	}
	d, ok := a[1].(*DType)
	offset, isInt := vm.AsInt(a[2])
	if !ok || !isInt {
		return nil, in.Errorf(in.Exc.TypeError, "_tensor_over() needs a dtype and an offset")
	}
	size, err := t.dims(a[3])
	if err != nil {
		return nil, err
	}
	stride, err := t.dims(a[4])
	if err != nil {
		return nil, err
	}
	if len(size) != len(stride) {
		return nil, in.Errorf(in.Exc.RuntimeError, "mismatch in length of strides and shape")
	}
	need, item := int64(0), int64(d.D.Size())
	if tensor.Numel(size) > 0 {
		last := offset
		for i, n := range size {
			if n < 0 || stride[i] < 0 {
				return nil, in.Errorf(in.Exc.RuntimeError, "as_strided: Negative strides are not supported at the moment, got strides: [%s]", joined(stride))
			}
			last += (n - 1) * stride[i]
		}
		need = (last + 1) * item
	}
	if offset < 0 || need > p.T.Storage.NBytes {
		return nil, in.Errorf(in.Exc.RuntimeError, "setStorage: sizes [%s], strides [%s], storage offset %d, and itemsize %d requiring a storage size of %d are out of bounds for storage of size %d",
			joined(size), joined(stride), offset, item, need, p.T.Storage.NBytes)
	}
	return t.Wrap(&tensor.Tensor{Storage: p.T.Storage, DType: d.D, Shape: size, Stride: stride, Offset: offset, Fake: p.T.Fake}), nil
}

// fromBuffer is torch.frombuffer: a tensor over the memory of an object.
func (t *Torch) fromBuffer(c *clinic.Call) (vm.Object, error) {
	in := t.In
	d, ok := c.Args[1].(*DType)
	if !ok {
		return nil, in.Errorf(in.Exc.TypeError, "frombuffer(): argument 'dtype' must be torch.dtype, not %s", c.Args[1].Type().Name)
	}
	data, writable := vm.WritableBytes(c.Args[0])
	if !writable {
		if data, ok = vm.AsBytes(c.Args[0]); !ok {
			return nil, in.Errorf(in.Exc.ValueError, "object does not implement Python buffer protocol.")
		}
	}
	n, count, offset, item := int64(len(data)), c.Int(2), c.Int(3), int64(d.D.Size())
	switch {
	case n == 0 || count == 0:
		return nil, in.Errorf(in.Exc.ValueError, "both buffer length (%d) and count (%d) must not be 0", n, count)
	case offset < 0 || offset >= n:
		return nil, in.Errorf(in.Exc.ValueError, "offset (%d bytes) must be non-negative and no greater than buffer length (%d bytes) minus 1", offset, n)
	case count > 0 && count*item > n-offset:
		return nil, in.Errorf(in.Exc.ValueError, "requested buffer length (%d * %d bytes) after offset (%d bytes) must not be greater than actual buffer length (%d bytes)", count, item, offset, n)
	case count < 0 && (n-offset)%item != 0:
		return nil, in.Errorf(in.Exc.ValueError, "buffer length (%d bytes) after offset (%d bytes) must be a multiple of element size (%d)", n-offset, offset, item)
	case count < 0:
		count = (n - offset) / item
	}
	if !writable {
		data = slices.Clone(data) // what cannot be written must not change
	}
	data = data[offset : offset+count*item]
	if uintptr(unsafe.Pointer(unsafe.SliceData(data)))%uintptr(item) != 0 {
		return nil, in.Errorf(in.Exc.ValueError, "the buffer at offset %d is not aligned to elements of %d bytes", offset, item)
	}
	x := &tensor.Tensor{Storage: &tensor.Storage{Data: data, NBytes: int64(len(data))}, DType: d.D, Shape: []int64{count}, Stride: []int64{1}}
	return t.Wrap(x), t.Error(t.Grad.SetRequiresGrad(x, c.Bool(4)))
}

// dims are the integers of a sequence.
func (t *Torch) dims(o vm.Object) ([]int64, error) {
	items, err := t.In.IterAll(o)
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(items))
	for i, x := range items {
		n, ok := vm.AsInt(x)
		if !ok {
			return nil, t.In.Errorf(t.In.Exc.TypeError, "'%s' object cannot be interpreted as an integer", x.Type().Name)
		}
		out[i] = n
	}
	return out, nil
}

func joined(ns []int64) string {
	s := make([]string, len(ns))
	for i, n := range ns {
		s[i] = fmt.Sprint(n)
	}
	return strings.Join(s, ", ")
}

// legacyNew is torch.Tensor and its like: of sizes, of a torch.Size, of data, or of a tensor of the same dtype.
func (t *Torch) legacyNew(cls *vm.Type, d tensor.DType, args []vm.Object) (vm.Object, error) {
	if len(args) == 1 {
		if p, ok := args[0].(*Tensor); ok {
			if p.T.DType != d {
				return nil, t.In.Errorf(t.In.Exc.TypeError, "expected %s (got %s)", optionsText(d), optionsText(p.T.DType))
			}
			if t.Hook != nil && cls == t.TensorType {
				return t.In.CallMethod(p, "detach") // which a trace sees
			}
			x := p.T.Alias()
			x.Base = nil
			return t.WrapAs(x, cls), nil
		}
		_, isInt := vm.AsInt(args[0])
		if isSize := args[0].Type() == t.SizeType; !isInt && !isSize {
			if _, isFloat := vm.AsFloat(args[0]); isFloat {
				return nil, t.In.Errorf(t.In.Exc.TypeError, "new(): data must be a sequence (got %s)", args[0].Type().Name)
			}
			return t.legacyOf(cls, d, args)
		} else if isSize {
			items, err := t.In.IterAll(args[0])
			if err != nil {
				return nil, err
			}
			args = items
			if len(args) == 0 {
				return t.WrapAs(tensor.Empty(d), cls), nil
			}
		}
	}
	dims := make([]int64, len(args))
	for i, a := range args {
		n, ok := vm.AsInt(a)
		if !ok {
			return nil, t.In.Errorf(t.In.Exc.TypeError, "new() received an invalid combination of arguments - got (%s), but expected one of:\n * (*, torch.device device)\n * (torch.Storage storage)\n * (Tensor other)\n * (tuple of ints size, *, torch.device device)\n * (object data, *, torch.device device)\n", classNames(args))
		}
		if n < 0 {
			return nil, t.In.Errorf(t.In.Exc.RuntimeError, "Trying to create tensor with negative dimension %d: [%s]", n, t.texts(args))
		}
		dims[i] = n
	}
	if len(args) == 0 {
		dims = []int64{0}
	}
	return t.WrapAs(tensor.Empty(d, dims...), cls), nil
}

// legacyOf is legacyNew of data: args is a list of numbers, or of more lists. Who listens hears of it as a call of the class, as a trace would otherwise
// take what the data are now for what they always are.
func (t *Torch) legacyOf(cls *vm.Type, d tensor.DType, args []vm.Object) (vm.Object, error) {
	run := func(args []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		x, err := t.fromData(args[0], d)
		if err == nil && t.Lift != nil {
			x, err = t.Lift(x)
		}
		if err != nil {
			return nil, t.Error(err)
		}
		return t.WrapAs(x, cls), nil
	}
	if t.Hook == nil || cls != t.TensorType {
		return run(args, nil)
	}
	target := "torch." + legacyName(d)
	if d == t.DefaultDType {
		target = "torch.Tensor"
	}
	return t.Hook(&Call{Op: fx.CallFunction, Target: target, Args: args, Run: run})
}

func classNames(args []vm.Object) string {
	s := make([]string, len(args))
	for i, a := range args {
		s[i] = a.Type().Name
	}
	return strings.Join(s, ", ")
}

func (t *Torch) texts(args []vm.Object) string {
	s := make([]string, len(args))
	for i, a := range args {
		n, _ := vm.AsInt(a)
		s[i] = fmt.Sprint(n)
	}
	return strings.Join(s, ", ")
}

// optionsText is how PyTorch's C++ prints what a tensor of a dtype is made with.
func optionsText(d tensor.DType) string {
	name := map[tensor.DType]string{tensor.Float32: "float", tensor.Float64: "double", tensor.Float16: "c10::Half", tensor.BFloat16: "c10::BFloat16", tensor.Int64: "long int", tensor.Int32: "int",
		tensor.Int16: "short int", tensor.Int8: "signed char", tensor.UInt8: "unsigned char", tensor.Bool: "bool", tensor.Complex64: "c10::complex<float>", tensor.Complex128: "c10::complex<double>"}[d]
	return "TensorOptions(dtype=" + name + ", device=cpu, layout=Strided, requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
}

// inPython makes a method of a function of one of torch's Python modules.
func (t *Torch) inPython(module, name string) vm.GoFunc {
	return func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		m, err := in.Import(module)
		if err != nil {
			return nil, err
		}
		f, err := in.GetAttr(m, name)
		if err != nil {
			return nil, err
		}
		return in.Call(f, args, kw)
	}
}

// setStorage is Tensor.set_: with a storage the tensor is one over that, with its own dtype.
func (t *Torch) setStorage(in *vm.Interp, a []vm.Object, kw []vm.KwArg) (vm.Object, error) {
	var source vm.Object
	if len(a) > 1 {
		source = a[1]
	}
	for _, k := range kw {
		if k.Name == "source" {
			source = k.Value
		}
	}
	if _, isTensor := source.(*Tensor); source != nil && !isTensor {
		m, err := in.Import("torch.storage")
		if err != nil {
			return nil, err
		}
		f, err := in.GetAttr(m, "_set")
		if err != nil {
			return nil, err
		}
		return in.Call(f, a, kw)
	}
	return t.method("set_")(in, a, kw)
}
