package capture

import (
	"fmt"
	"strings"

	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// Guard is one fact about the surroundings that compiled code relies on.
type Guard struct {
	Kind   string // TENSOR_MATCH, EQUALS_MATCH, ...: PyTorch's names
	Expr   string // the Python expression that logs show
	Source source.Source
	hidden bool  // checked, but not shown
	made   place // where the trace was when it relied on the fact
	// relate checks several values against each other, those of the sources among.
	relate func(vs []vm.Object) (ok bool, why string)
	among  []source.Source
	// check reports whether the fact still holds; why says what failed, "" for the expression itself.
	check func(e *source.Env, v vm.Object) (ok bool, why string)
	// late completes the guard when the trace has ended: only then is known which sizes are fixed. nil => it is complete.
	late func(g *Guard)
}

func lengthGuard(kind string, src source.Source, n int, size func(vm.Object) int) *Guard {
	expr := fmt.Sprintf("len(%s) == %d", src.Name(), n)
	if n == 0 {
		expr = "not " + src.Name()
	}
	return &Guard{Kind: kind, Expr: expr, Source: src, check: func(_ *source.Env, now vm.Object) (bool, string) { return size(now) == n, "" }}
}

func (tr *tracer) typeGuard(v vm.Object, src source.Source) *Guard {
	t := v.Type()
	return &Guard{Kind: "TYPE_MATCH", Expr: fmt.Sprintf("___check_type_id(%s, <id>)", src.Name()), Source: src,
		check: func(_ *source.Env, now vm.Object) (bool, string) { return now.Type() == t, "" }}
}

func (tr *tracer) tensorGuard(p *torch.Tensor, src source.Source) *Guard {
	x := p.T
	cls, dt := p.Type(), x.DType
	rg := tr.d.T.Grad.RequiresGrad(x)
	keys := "CPU, BackendSelect, ADInplaceOrView, AutogradCPU"
	switch {
	case p.Inference:
		keys = "CPU, BackendSelect"
	case tr.inference:
		keys = "CPU, BackendSelect, ADInplaceOrView"
	}
	if tr.autocasting {
		keys += ", AutocastCPU"
	}
	n := src.Name()
	in := tr.sizesAt(p, src)
	return &Guard{Kind: "TENSOR_MATCH", Expr: "check_tensor(" + n + ")", Source: src, late: func(g *Guard) {
		shape, stride := tr.fixed(in.size), tr.fixed(in.stride)
		g.Expr = fmt.Sprintf("check_tensor(%s, %s, DispatchKeySet(%s), torch.%s, device=None, requires_grad=%s, size=%s, stride=%s)",
			n, cls.Name, keys, dt, pyBool(rg), dims(shape), dims(stride))
		g.check = tr.checkTensor(n, cls, dt, rg, shape, stride)
	}}
}

// free marks a size that a tensor guard does not check.
const free = int64(-1)

// checkTensor checks type, dtype and layout of a tensor; free sizes and strides are left to other guards.
func (tr *tracer) checkTensor(n string, cls *vm.Type, dt tensor.DType, rg bool, shape, stride []int64) func(*source.Env, vm.Object) (bool, string) {
	return func(_ *source.Env, now vm.Object) (bool, string) {
		q, ok := now.(*torch.Tensor)
		if !ok || q.Type() != cls {
			return false, fmt.Sprintf("expected type of '%s' to be a tensor type, but found %s", n, now.Type())
		}
		y := q.T
		switch {
		case y.DType != dt:
			return false, fmt.Sprintf("tensor '%s' dtype mismatch. expected %s, actual %s", n, cName(dt), cName(y.DType))
		case tr.d.T.Grad.RequiresGrad(y) != rg:
			return false, fmt.Sprintf("tensor '%s' requires_grad mismatch. expected requires_grad=%d", n, map[bool]int{true: 1, false: 0}[rg])
		case len(y.Shape) != len(shape):
			return false, fmt.Sprintf("tensor '%s' rank mismatch. expected %d, actual %d", n, len(shape), len(y.Shape))
		}
		for i := range shape {
			if y.Shape[i] != shape[i] && shape[i] != free {
				return false, fmt.Sprintf("tensor '%s' size mismatch at index %d. expected %d, actual %d", n, i, shape[i], y.Shape[i])
			}
		}
		for i := range stride {
			if y.Stride[i] != stride[i] && stride[i] != free {
				return false, fmt.Sprintf("tensor '%s' stride mismatch at index %d. expected %d, actual %d", n, i, stride[i], y.Stride[i])
			}
		}
		return true, ""
	}
}

// cName is the name by which C++ messages call a dtype.
func cName(d tensor.DType) string {
	return map[tensor.DType]string{tensor.Float32: "Float", tensor.Float64: "Double", tensor.Float16: "Half", tensor.BFloat16: "BFloat16", tensor.Int64: "Long",
		tensor.Int32: "Int", tensor.Int16: "Short", tensor.Int8: "Char", tensor.UInt8: "Byte", tensor.Bool: "Bool"}[d]
}

func pyBool(b bool) string {
	if b {
		return "True"
	}
	return "False"
}

func dims(s []int64) string {
	p := make([]string, len(s))
	for i, v := range s {
		p[i] = fmt.Sprint(v)
		if v == free {
			p[i] = "None"
		}
	}
	return "[" + strings.Join(p, ", ") + "]"
}
