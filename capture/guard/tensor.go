package guard

import (
	"fmt"
	"strings"

	"whittle/capture/python/vm"
	"whittle/capture/source"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// Free marks a size or stride that a guard on a tensor leaves to other guards.
const Free = int64(-1)

// TensorFacts are what compiled code relies on of a tensor.
type TensorFacts struct {
	Class        *vm.Type
	DType        tensor.DType
	Keys         KeySet
	RequiresGrad bool
	// Layout gives the sizes and strides when the trace has ended: only then is known which of them are Free.
	Layout func() (shape, stride []int64)
	// Grad says whether a tensor of a later call requires gradients, and KeysOf which keys a call with it has.
	Grad   func(x *tensor.Tensor) bool
	KeysOf func(x *torch.Tensor) KeySet
}

// KeySet says which dispatch keys a call has, of those that differ between the tensors and settings that there are here.
type KeySet struct {
	Inplace  bool // ADInplaceOrView: the tensor was not made in inference mode
	Autograd bool // AutogradCPU: nor is the call in it
	Autocast bool // AutocastCPU: autocast is on
}

// String lists the keys as PyTorch prints a DispatchKeySet.
func (k KeySet) String() string {
	s := "CPU, BackendSelect"
	for _, key := range []struct {
		on   bool
		name string
	}{{k.Inplace, "ADInplaceOrView"}, {k.Autograd, "AutogradCPU"}, {k.Autocast, "AutocastCPU"}} {
		if key.on {
			s += ", " + key.name
		}
	}
	return s
}

// Tensor holds for tensors of which all facts are true.
func Tensor(f TensorFacts, src source.Source) *Guard {
	n := src.Name()
	return &Guard{Kind: TensorMatch, Expr: "check_tensor(" + n + ")", Source: src, late: func(g *Guard) {
		shape, stride := f.Layout()
		f.Layout = nil // it keeps the whole trace
		g.Expr = fmt.Sprintf("check_tensor(%s, %s, DispatchKeySet(%s), torch.%s, device=None, requires_grad=%s, size=%s, stride=%s)",
			n, f.Class.Name, f.Keys, f.DType, pyBool(f.RequiresGrad), dims(shape), dims(stride))
		g.check = f.check(n, shape, stride)
	}}
}

// className is how Python writes a class.
func className(t *vm.Type) string {
	if t.Module == "" || t.Module == "builtins" {
		return "<class '" + t.Name + "'>"
	}
	return "<class '" + t.FullName() + "'>"
}

func (f TensorFacts) check(n string, shape, stride []int64) Check {
	return func(_ *source.Env, now vm.Object) (bool, Failure) {
		q, ok := now.(*torch.Tensor)
		if !ok || q.Type() != f.Class {
			return false, Failure{Text: fmt.Sprintf("expected type of '%s' to be a tensor type, ' but found %s", n, className(now.Type())), Cause: Other}
		}
		y := q.T
		switch keys := f.KeysOf(q); {
		case keys != f.Keys:
			return false, Failure{Text: fmt.Sprintf("tensor '%s' dispatch key set mismatch. expected DispatchKeySet(%s), actual DispatchKeySet(%s)", n, f.Keys, keys), Cause: Other}
		case y.DType != f.DType:
			return false, Failure{Text: fmt.Sprintf("tensor '%s' dtype mismatch. expected %s, actual %s", n, cName(f.DType), cName(y.DType)), Cause: DTypeVaries}
		case f.Grad(y) != f.RequiresGrad:
			return false, Failure{Text: fmt.Sprintf("tensor '%s' requires_grad mismatch. expected requires_grad=%d", n, map[bool]int{true: 1, false: 0}[f.RequiresGrad]), Cause: GradVaries}
		case len(y.Shape) != len(shape):
			return false, Failure{Text: fmt.Sprintf("tensor '%s' rank mismatch. expected %d, actual %d", n, len(shape), len(y.Shape)), Cause: RankVaries}
		}
		for i := range shape {
			if y.Shape[i] != shape[i] && shape[i] != Free {
				return false, Failure{Text: fmt.Sprintf("tensor '%s' size mismatch at index %d. expected %d, actual %d", n, i, shape[i], y.Shape[i]), Cause: SizeVaries}
			}
		}
		for i := range stride {
			if y.Stride[i] != stride[i] && stride[i] != Free {
				return false, Failure{Text: fmt.Sprintf("tensor '%s' stride mismatch at index %d. expected %d, actual %d", n, i, stride[i], y.Stride[i]), Cause: SizeVaries}
			}
		}
		return true, Failure{}
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
		if v == Free {
			p[i] = "None"
		}
	}
	return "[" + strings.Join(p, ", ") + "]"
}
