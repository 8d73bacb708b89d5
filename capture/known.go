package capture

import (
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// knownValues are the values of fakes that are known without a run: tensors of one element that were made of Python's numbers, and what
// operators make of such alone. By them a fake is a constant, as in torch/_subclasses/fake_tensor.py.
type knownValues map[*tensor.Tensor]*tensor.Tensor

// lift is the fake of a tensor that was made of Python's numbers.
func (k knownValues) lift(x *tensor.Tensor) *tensor.Tensor {
	f := tensor.FakeLike(x)
	if x.Numel() == 1 {
		k[f] = x
	}
	return f
}

// wrote forgets the value of what op writes.
func (k knownValues) wrote(op *aten.Op, args []aten.Value) {
	if len(args) == 0 || op.Tags&aten.Inplace == 0 {
		return
	}
	if x, ok := args[0].(*tensor.Tensor); ok && x != nil {
		for f, v := range k {
			if f.Storage == x.Storage || v.Storage == x.Storage {
				delete(k, f)
			}
		}
	}
}

// follow finds the value of res, which op made of args: it is known if those of all tensors among args are.
func (k knownValues) follow(on aten.Dispatcher, op *aten.Op, args []aten.Value, res aten.Value) {
	f, ok := res.(*tensor.Tensor)
	if !ok || f == nil || f.Numel() != 1 || len(k) == 0 || op.Tags&aten.Inplace != 0 || op.Effect != aten.Pure {
		return
	}
	values, some := make([]aten.Value, len(args)), false
	for i, a := range args {
		values[i] = a
		if x, isTensor := a.(*tensor.Tensor); isTensor && x != nil {
			v := k[x]
			if v == nil {
				return
			}
			values[i], some = v, true
		}
		if l, isList := a.([]aten.Value); isList && len(l) > 0 {
			return
		}
	}
	if !some {
		return
	}
	if v, err := on.Dispatch(op, values); err == nil {
		if x, ok := v.(*tensor.Tensor); ok && x != nil {
			k[f] = x
		}
	}
}
