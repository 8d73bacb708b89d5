package torch

import (
	"errors"
	"strings"

	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// metaMode is the FakeMode of tensors on the device meta: they have everything but data.
type metaMode struct{ t *Torch }

// metaDevice is torch.device("meta").
var metaDevice = tensor.Device{Type: "meta", Index: -1}

// isMeta reports whether a tensor is on the device meta.
func isMeta(x *tensor.Tensor) bool {
	_, ok := x.Mode.(metaMode)
	return ok
}

// deviceOf is where a tensor is.
func deviceOf(x *tensor.Tensor) tensor.Device {
	if isMeta(x) {
		return metaDevice
	}
	return tensor.CPU
}

// Object implements FakeMode: there is no such mode in Python.
func (m metaMode) Object() (vm.Object, error) { return vm.None, nil }

// Addressed implements FakeMode.
func (m metaMode) Addressed() bool { return true }

// Class implements FakeMode.
func (m metaMode) Class() *vm.Type { return m.t.TensorType }

// Extents implements FakeMode.
func (m metaMode) Extents(*tensor.Tensor, bool, ...int) []vm.Object { return nil }

// Item implements FakeMode.
func (m metaMode) Item(*tensor.Tensor) (vm.Object, error) {
	return nil, m.t.In.Errorf(m.t.In.Exc.RuntimeError, "Tensor.item() cannot be called on meta tensors")
}

// noMetaData is the error of taking a meta tensor elsewhere.
func (t *Torch) noMetaData() error {
	return t.In.Errorf(t.In.Exc.NotImplementedError, "Cannot copy out of meta tensor; no data!")
}

// asked is the device that a call of op names; ok is false where it names none.
func asked(op *aten.Op, args []aten.Value) (at int, d tensor.Device, ok bool) {
	s := op.Sig()
	for i := range s.Args {
		if s.Args[i].Name == "device" && i < len(args) {
			d, ok := args[i].(tensor.Device)
			return i, d, ok
		}
	}
	return 0, d, false
}

// Dispatch computes the metadata of the results.
func (m metaMode) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	t := m.t
	name := op.Sig().Name
	at, d, named := asked(op, args)
	if named && d.Type != "meta" { // from meta to somewhere else
		if !strings.HasSuffix(name, "_like") && !strings.HasPrefix(name, "new_") {
			return nil, t.noMetaData()
		}
		return t.Grad.Dispatch(op, m.each(args, func(x *tensor.Tensor) *tensor.Tensor {
			if isMeta(x) {
				return tensor.EmptyStrided(x.DType, x.Shape, x.Stride)
			}
			return x
		}))
	}
	if name == "copy_" && len(args) > 1 {
		if x, ok := args[0].(*tensor.Tensor); ok && !isMeta(x) {
			return nil, t.noMetaData()
		}
	} else if err := m.oneDevice(args, named); err != nil {
		return nil, err
	}
	args = m.each(args, func(x *tensor.Tensor) *tensor.Tensor {
		if x.Fake {
			return x
		}
		f := tensor.FakeLike(x)
		if t.Grad.RequiresGrad(x) && name != "copy_" {
			_ = t.Grad.SetRequiresGrad(f, true) // x requires it: its dtype has gradients
		}
		return f
	})
	if named {
		args[at] = tensor.CPU
	}
	v, err := t.Grad.(interface {
		DispatchFake(op *aten.Op, args []aten.Value) (aten.Value, error)
	}).DispatchFake(op, args)
	var ae *aten.Error
	if errors.As(err, &ae) && ae.Kind == aten.DataDependentError {
		of, _, _ := strings.Cut(strings.TrimPrefix(ae.Msg, "aten."), ".")
		return nil, t.In.Errorf(t.In.Exc.NotImplementedError, "aten::%s: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel registered. You may have run into this message while using an operator with PT2 compilation APIs (torch.compile/torch.export); in order to use this operator with those APIs you'll need to add a fake impl. Please see the following for next steps:  https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html", of)
	}
	if err != nil {
		return nil, err
	}
	Own(v, m)
	return v, nil
}

// Beneath implements FakeMode.
func (m metaMode) Beneath(_ *aten.Op, args []aten.Value, below func(args []aten.Value) (aten.Value, error)) (aten.Value, error) {
	v, err := below(args)
	Own(v, m)
	return v, err
}

// each maps the tensors among args, at any depth.
func (m metaMode) each(args []aten.Value, f func(x *tensor.Tensor) *tensor.Tensor) []aten.Value {
	out := make([]aten.Value, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case *tensor.Tensor:
			if a == nil {
				out[i] = a
			} else {
				out[i] = f(a)
			}
		case []aten.Value:
			out[i] = m.each(a, f)
		default:
			out[i] = a
		}
	}
	return out
}

// oneDevice refuses tensors of several devices. Single numbers go with any; a call that names the device takes all there.
func (m metaMode) oneDevice(args []aten.Value, named bool) error {
	var first *tensor.Tensor
	var err error
	m.each(args, func(x *tensor.Tensor) *tensor.Tensor {
		switch {
		case len(x.Shape) == 0 && !isMeta(x) || named:
		case first == nil:
			first = x
		case isMeta(first) != isMeta(x) && err == nil:
			err = m.t.In.Errorf(m.t.In.Exc.RuntimeError, "Tensor on device %s is not on the expected device %s!", deviceOf(x).Type, deviceOf(first).Type)
		}
		return x
	})
	return err
}

// toMeta takes a tensor to the device meta.
func (t *Torch) toMeta(x *Tensor, d tensor.DType) (vm.Object, error) {
	if isMeta(x.T) && x.T.DType == d {
		return x, nil
	}
	return t.Packet("aten", "_to_copy", []vm.Object{x}, []vm.KwArg{{Name: "dtype", Value: t.DTypeObject(d)}, {Name: "device", Value: &Device{metaDevice, t}}})
}
