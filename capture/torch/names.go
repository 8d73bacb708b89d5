package torch

import (
	"fmt"
	"slices"
	"strings"

	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// registerQuestions binds functions that ask torch about itself: types that operators give, what is switched on, what was built in.
func (t *Torch) registerQuestions() {
	c := t.c
	for _, n := range []string{"sparse_csc", "sparse_bsr", "sparse_bsc", "_mkldnn", "jagged"} {
		c.Set(n, &Layout{tensor.Layout(n), t.layout.class})
	}
	ask := func(name, target string, f func(in *vm.Interp, a []vm.Object) (vm.Object, error)) {
		b := c.Func(name, func(in *vm.Interp, a []vm.Object, _ []vm.KwArg) (vm.Object, error) { return f(in, a) })
		b.Module = target
	}
	ask("promote_types", "torch", func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		if len(a) != 2 {
			return nil, in.Errorf(in.Exc.TypeError, "promote_types() takes 2 arguments but %d were given", len(a))
		}
		x, ok1 := a[0].(*DType)
		y, ok2 := a[1].(*DType)
		if !ok1 || !ok2 {
			bad, at := a[0], 1
			if ok1 {
				bad, at = a[1], 2
			}
			return nil, in.Errorf(in.Exc.TypeError, "promote_types(): argument 'type%d' (position %d) must be torch.dtype, not %s", at, at, bad.Type().Name)
		}
		d, err := promoted(x.D, y.D)
		if err != nil {
			return nil, in.Errorf(in.Exc.RuntimeError, "%s", err)
		}
		return t.DTypeObject(d), nil
	})
	ask("result_type", "torch", func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		if len(a) != 2 {
			return nil, in.Errorf(in.Exc.TypeError, "result_type() takes 2 arguments but %d were given", len(a))
		}
		vals := make([]any, 2)
		for i, o := range a {
			switch o := o.(type) {
			case *Tensor:
				vals[i] = o.T
			case vm.Bool:
				vals[i] = bool(o)
			case vm.Float:
				vals[i] = float64(o)
			case vm.Complex:
				vals[i] = complex128(o)
			default:
				n, ok := vm.AsInt(o)
				if !ok {
					return nil, in.Errorf(in.Exc.TypeError, "result_type(): argument %d must be Tensor or Number, not %s", i+1, o.Type().Name)
				}
				vals[i] = n
			}
		}
		return t.DTypeObject(tensor.ResultTypeDefault(t.DefaultDType, vals...)), nil
	})
	ask("_is_any_autocast_enabled", "torch._C", func(*vm.Interp, []vm.Object) (vm.Object, error) {
		return vm.MakeBool(t.Autocast.Enabled), nil
	})
	for name, v := range map[string]vm.Object{"_llvm_enabled": vm.False, "_is_tracing": vm.False,
		"_get_privateuse1_backend_name": vm.Str("privateuseone"), "_has_cuda": vm.False, "_cuda_getCompiledVersion": vm.MakeInt(0), "_is_mps_available": vm.False} {
		ask(name, "torch._C", func(*vm.Interp, []vm.Object) (vm.Object, error) { return v, nil })
	}
	ask("_return_type", "torch._C", func(in *vm.Interp, a []vm.Object) (vm.Object, error) {
		name, _ := vm.AsStr(a[0])
		cls := t.returnTypeOf(name)
		if cls == nil {
			return vm.None, nil
		}
		return cls, nil
	})
	ask("_return_type_names", "torch._C", func(*vm.Interp, []vm.Object) (vm.Object, error) {
		out := vm.NewList()
		for _, n := range t.returnTypeNames() {
			out.Items = append(out.Items, vm.Str(n))
		}
		return out, nil
	})
	t.autogradNames()
}

// returnTypeNames are the operators of aten whose results have names, in order.
func (t *Torch) returnTypeNames() []string {
	var names []string
	for _, op := range aten.All() {
		s := op.Sig()
		if s.Namespace == "aten" && len(s.Returns) > 1 && s.Returns[0].Name != "" && !slices.Contains(names, s.Name) && s.Returns[0].Alias == "" {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return names
}

// returnTypeOf is the class of the results of an operator; nil where they have no names.
func (t *Torch) returnTypeOf(name string) *vm.Type {
	if cls := t.returns[name]; cls != nil {
		return cls
	}
	for _, op := range aten.Packet("aten", name) {
		rets := op.Sig().Returns
		if len(rets) > 1 && rets[0].Name != "" {
			return t.returnClass(name, rets)
		}
	}
	return nil
}

// autogradNames binds what torch._C._autograd has.
func (t *Torch) autogradNames() {
	m, _ := t.c.Dict.GetStr("_autograd")
	autograd := m.(*vm.Module)
	t.savedNames(autograd)
	t.profilerNames(autograd)
	t.anomalyNames()
	t.passNames()
}

// promoted is the dtype that holds what two others hold, an error for pairs that PyTorch has none for.
func promoted(a, b tensor.DType) (tensor.DType, error) {
	wide := func(d tensor.DType) bool { return d == tensor.UInt16 || d == tensor.UInt32 || d == tensor.UInt64 }
	small := func(d tensor.DType) bool { return strings.HasPrefix(d.String(), "float8") }
	text := "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote %s and %s"
	switch {
	case a == b:
		return a, nil
	case small(a) || small(b):
		text = "Promotion for Float8 Types is not supported, attempted to promote %s and %s"
	case wide(a) && b.IsFloat():
		return b, nil
	case wide(b) && a.IsFloat():
		return a, nil
	case wide(a) || wide(b):
	case a == tensor.Complex32 || b == tensor.Complex32:
		other := a
		if a == tensor.Complex32 {
			other = b
		}
		switch other {
		case tensor.Complex64, tensor.Complex128:
			return other, nil
		case tensor.Float32, tensor.BFloat16:
			return tensor.Complex64, nil
		case tensor.Float64:
			return tensor.Complex128, nil
		}
		return tensor.Complex32, nil
	default:
		return tensor.Promote(a, b), nil
	}
	return tensor.Invalid, fmt.Errorf(text, aten.ScalarTypeName(a), aten.ScalarTypeName(b))
}
