package torch

import (
	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/kernels/tensor"
)

// Scalar is a number that a traced program reads from a tensor: its value is not known, arithmetic on it is recorded.
type Scalar struct {
	Kind  tensor.DType // Int64, Float64 or Bool
	class *vm.Type
}

// Type is torch.SymInt, SymFloat or SymBool.
func (s *Scalar) Type() *vm.Type { return s.class }

// hint is a value of the right type, for computing metadata.
func (s *Scalar) hint() any {
	switch s.Kind {
	case tensor.Int64:
		return int64(2)
	case tensor.Bool:
		return true
	}
	return 1.5
}

// NewScalar is the unknown value of a 0-d tensor of dtype d.
func (t *Torch) NewScalar(d tensor.DType) *Scalar {
	k := tensor.Float64
	switch {
	case d == tensor.Bool:
		k = tensor.Bool
	case !d.IsFloat():
		k = tensor.Int64
	}
	return &Scalar{k, t.scalarType(k)}
}

func (t *Torch) scalarType(k tensor.DType) *vm.Type {
	if c := t.scalars[k]; c != nil {
		return c
	}
	methods := map[string]vm.GoFunc{}
	for dunder, op := range map[string]string{"add": "add", "sub": "sub", "mul": "mul", "truediv": "truediv", "floordiv": "floordiv", "mod": "mod", "pow": "pow"} {
		methods["__"+dunder+"__"] = t.scalarOp("operator."+op, false)
		methods["__r"+dunder+"__"] = t.scalarOp("operator."+op, true)
	}
	for _, op := range []string{"lt", "le", "gt", "ge", "eq", "ne"} {
		methods["__"+op+"__"] = t.scalarOp("operator."+op, false)
	}
	for _, op := range []string{"neg", "abs", "pos"} {
		methods["__"+op+"__"] = t.scalarOp("operator."+op, false)
	}
	for _, m := range []string{"__bool__", "__int__", "__float__", "__index__", "__hash__", "__str__", "__repr__", "__format__", "__round__", "__trunc__"} {
		methods[m] = func(*vm.Interp, []vm.Object, []vm.KwArg) (vm.Object, error) {
			return nil, &DataDependent{Op: "aten._local_scalar_dense.default"}
		}
	}
	name := map[tensor.DType]string{tensor.Int64: "SymInt", tensor.Float64: "SymFloat", tensor.Bool: "SymBool"}[k]
	c := t.In.NewNativeType(vm.Spec{Name: name, Module: "torch", NoDict: true, Methods: methods})
	if t.scalars == nil {
		t.scalars = map[tensor.DType]*vm.Type{}
	}
	t.scalars[k] = c
	return c
}

// scalarOp is one operator on unknown numbers; tensors know themselves what to do with one.
func (t *Torch) scalarOp(target string, reflected bool) vm.GoFunc {
	return func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) {
		kind := tensor.Int64
		for _, x := range a {
			switch v := x.(type) {
			case *Scalar:
				if v.Kind == tensor.Float64 {
					kind = tensor.Float64
				}
			case vm.Float:
				kind = tensor.Float64
			case vm.Int, vm.Bool:
			default:
				return vm.NotImplemented, nil
			}
		}
		switch target {
		case "operator.truediv":
			kind = tensor.Float64
		case "operator.lt", "operator.le", "operator.gt", "operator.ge", "operator.eq", "operator.ne":
			kind = tensor.Bool
		}
		if reflected {
			a = []vm.Object{a[1], a[0]}
		}
		return t.call(fx.CallFunction, target, a, nil, func([]vm.Object, []vm.KwArg) (vm.Object, error) {
			return &Scalar{kind, t.scalarType(kind)}, nil
		})
	}
}
