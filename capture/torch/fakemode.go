package torch

import (
	"whittle/capture/python/vm"
	"whittle/capture/symbolic"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// FakeMode is a torch._subclasses.fake_tensor.FakeTensorMode: it computes the metadata of fake tensors, their symbolic sizes among it. Those
// that it made have it for their Mode.
type FakeMode interface {
	// Dispatch computes the metadata of an operator's results.
	Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error)
	// Extents are the sizes, or the strides, of a tensor in the given dimensions, or in all; nil when all are plain.
	Extents(x *tensor.Tensor, stride bool, dims ...int) []vm.Object
	// Item is the number in a tensor of one element, if the mode knows one.
	Item(x *tensor.Tensor) (vm.Object, error)
	// Object is the mode in Python.
	Object() (vm.Object, error)
	// Beneath is Dispatch beneath autograd: below computes the metadata.
	Beneath(op *aten.Op, args []aten.Value, below func(args []aten.Value) (aten.Value, error)) (aten.Value, error)
	// Addressed reports whether its tensors' data have the address 0; if not, asking for it is an error: what is traced would take it for a real one.
	Addressed() bool
	// Class is that of its tensors.
	Class() *vm.Type
}

// SymbolicMode is a FakeMode whose tensors may have symbolic sizes.
type SymbolicMode interface {
	FakeMode
	// Adopt makes a fake tensor one of the mode's, with these sizes and strides.
	Adopt(x *tensor.Tensor, size, stride []*symbolic.Expr)
	// Number is a symbolic number of the mode's.
	Number(e *symbolic.Expr) vm.Object
	// Env owns its symbols.
	Env() *symbolic.Env
}

// modeOf is the mode of a fake tensor that a program has in its hands; nil for others.
func modeOf(x *tensor.Tensor) FakeMode {
	m, _ := x.Mode.(FakeMode)
	return m
}

// modal runs operators outside of traces: on fake tensors by their mode, on others on the autograd engine.
type modal struct{ t *Torch }

// Eagerly is the dispatcher outside of traces.
func (t *Torch) Eagerly() aten.Dispatcher { return modal{t} }

// Dispatch implements aten.Dispatcher.
func (m modal) Dispatch(op *aten.Op, args []aten.Value) (aten.Value, error) {
	mode, numbers := modeAmong(args)
	if mode == nil {
		if _, d, ok := asked(op, args); ok && d.Type == "meta" {
			mode = metaMode(m)
		}
	}
	if mode != nil {
		return mode.Dispatch(op, args)
	}
	if numbers {
		args = hints(args)
	}
	if m.t.python.handling > 0 {
		if op.Tags&aten.Composite != 0 && op.Decomp != nil {
			return aten.Decompose(m, op, args)
		}
		return m.t.Grad.Below().Dispatch(op, args)
	}
	return m.t.Grad.Dispatch(op, args)
}

// modeAmong is the mode of the first fake tensor among args that has one, at any depth; numbers says that there are symbolic ones.
func modeAmong(args []aten.Value) (mode FakeMode, numbers bool) {
	for _, a := range args {
		var m FakeMode
		n := false
		switch a := a.(type) {
		case *tensor.Tensor:
			if a != nil && a.Mode != nil {
				m = modeOf(a)
			}
		case SymbolicNumber:
			n = true
		case []aten.Value:
			m, n = modeAmong(a)
		}
		if mode == nil {
			mode = m
		}
		numbers = numbers || n
	}
	return mode, numbers
}

// hints are arguments with the values that symbolic numbers have now.
func hints(args []aten.Value) []aten.Value {
	out := make([]aten.Value, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case SymbolicNumber:
			out[i] = a.Hint()
		case []aten.Value:
			out[i] = hints(a)
		default:
			out[i] = a
		}
	}
	return out
}

// Own makes m the mode of the fake tensors in v, a tensor or a list of values at any depth.
func Own(v aten.Value, m FakeMode) {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v != nil && v.Fake {
			v.Mode = m
		}
	case []aten.Value:
		for _, x := range v {
			Own(x, m)
		}
	}
}
