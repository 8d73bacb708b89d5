package capture

import (
	"strings"

	"whittle/capture/numpy"
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
)

// codeOf is the code that a call of a compiled callable starts with; nil when there is none of Python.
func codeOf(fn vm.Object) *code.Code {
	switch f := fn.(type) {
	case *vm.Function:
		return f.Code.Code
	case *vm.BoundMethod:
		return codeOf(f.Func)
	case *vm.Instance:
		if isModule(f) {
			return codeOf(f.Class.Lookup("forward"))
		}
		return codeOf(f.Class.Lookup("__call__"))
	}
	return nil
}

// mayCompute reports whether a frame can have to do with tensors: its code names a module of torch, or it was given tensors or
// modules. Others are left alone, without a word.
func mayCompute(f *vm.Frame) bool {
	if f.Code.Filename == "torch/optim/optimizer.py" { // the wrapper around step() names torch's profiler in PyTorch
		return true
	}
	if strings.HasPrefix(f.Code.Filename, "numpy/") { // numpy's own Python is C or skipped in PyTorch
		return false
	}
	for _, n := range f.Code.Names {
		v, ok := f.Globals.GetStr(n)
		if m, isModule := v.(*vm.Module); ok && isModule && (m.Name == "torch" || m.Name == "numpy" || strings.HasPrefix(m.Name, "torch.")) {
			return true
		}
	}
	seen := map[vm.Object]bool{}
	for _, v := range f.LocalsPlus {
		if c, ok := v.(*vm.Cell); ok {
			v = c.V
		}
		if holdsTensor(v, seen) {
			return true
		}
	}
	if f.Func != nil {
		for _, c := range f.Func.Closure {
			if holdsTensor(c.V, seen) {
				return true
			}
		}
	}
	for _, v := range f.Stack[:f.SP] {
		if holdsTensor(v, seen) {
			return true
		}
	}
	return false
}

// numpyValue reports whether an object is an array or a scalar of numpy.
func numpyValue(o vm.Object) bool {
	switch v := o.(type) {
	case *numpy.Array:
		return true
	case *vm.Instance:
		return v.Class.Module == "numpy"
	}
	return false
}

// holdsTensor looks for tensors and modules in plain containers.
func holdsTensor(o vm.Object, seen map[vm.Object]bool) bool {
	if o == nil {
		return false
	}
	any := func(items []vm.Object) bool {
		for _, x := range items {
			if holdsTensor(x, seen) {
				return true
			}
		}
		return false
	}
	if numpyValue(o) {
		return true
	}
	switch v := o.(type) {
	case *torch.Tensor:
		return true
	case *vm.Type:
		return isA(v, "torch.nn.modules.module", "Module")
	case *vm.Instance:
		if t, ok := vm.AsTuple(v); ok {
			return any(t.Items)
		}
		return isModule(v)
	case *vm.List:
		if seen[o] {
			return false
		}
		seen[o] = true
		return any(v.Items)
	case *vm.Tuple:
		return any(v.Items)
	case *vm.Dict:
		if seen[o] {
			return false
		}
		seen[o] = true
		return any(v.Values())
	case *replayIter:
		return true
	}
	return false
}
