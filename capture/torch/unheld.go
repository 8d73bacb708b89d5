package torch

import (
	"whittle/capture/python/vm"
	"whittle/kernels/tensor"
)

// Memory of results that a program drops at once, as the first of two calls does whose result nobody takes, is given back at once. It is large and would
// otherwise stay until Go's collector comes: the next results would each get other memory, none of which is in the processor's caches.

// making is f, an operator of PyTorch's own, that says whether somebody else has its result; see vm.Untaken.
func (t *Torch) making(f vm.GoFunc) vm.GoFunc {
	return func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
		v, err := f(in, args, kw)
		in.Made = nil
		if err != nil {
			return v, err
		}
		if x, ok := v.(*Tensor); ok {
			if t.unshared(x, args, kw) {
				in.Made = v
			}
		} else if tuple, ok := vm.AsTuple(v); ok && t.unsharedAll(tuple.Items, args, kw) {
			in.Made = v
		}
		return v, nil
	}
}

// unheld gives back the memory of a result that nobody has.
func unheld(o vm.Object) {
	if x, ok := o.(*Tensor); ok {
		x.T.Storage.Recycle()
		return
	}
	tuple, _ := vm.AsTuple(o)
	for _, item := range tuple.Items {
		if x, ok := item.(*Tensor); ok && x.T.Storage != nil {
			x.T.Storage.Recycle()
		}
	}
}

// Unshared reports whether x, which compiled code made of args and gave to nobody else, can be given back where it is dropped: it has memory of its own,
// and nobody was told of it.
func (t *Torch) Unshared(x *Tensor, args []vm.Object) bool { return t.unshared(x, args, nil) }

// unsharedAll reports whether each of the results is unshared, or a tensor that has no memory to give back, and one has.
func (t *Torch) unsharedAll(results []vm.Object, args []vm.Object, kw []vm.KwArg) bool {
	some := false
	for _, v := range results {
		x, ok := v.(*Tensor)
		if !ok {
			return false
		}
		if x.T.Storage != nil && x.T.Storage.Recyclable() {
			if some = true; !t.unshared(x, args, kw) {
				return false
			}
		}
	}
	return some
}

// unshared reports whether x, the result of an operator on args, has memory of its own, and nobody was told of it: no trace, mode, level or graph.
func (t *Torch) unshared(x *Tensor, args []vm.Object, kw []vm.KwArg) bool {
	y := x.T
	if !y.Storage.Recyclable() || x.class != t.TensorType || y.Fake || !t.onlyView(y) || y.Wraps != nil || y.Mode != nil || x.dict != nil {
		return false
	}
	if !t.unwatched() {
		return false
	}
	for _, a := range args {
		if !t.apart(y, a) {
			return false
		}
	}
	for _, k := range kw {
		if !t.apart(y, k.Value) {
			return false
		}
	}
	return true
}

// onlyView reports whether y has no history, and is a view of nothing, or of what an operator made on its way to it: Python never had that.
func (t *Torch) onlyView(y *tensor.Tensor) bool {
	if y.Base == nil {
		return y.Autograd == nil
	}
	b := y.Base
	return b.Py == nil && b.Storage == y.Storage && b.Base == nil && b.Autograd == nil && b.Wraps == nil && t.Grad.Node(y) == nil && !t.Grad.RequiresGrad(y)
}

// unwatched reports whether nobody is told of what operators make: no trace, mode, level or graph.
func (t *Torch) unwatched() bool {
	return t.Hook == nil && t.Dispatch == t.Eagerly() && t.Running == nil && !t.Levels.Active() && len(t.Functions.Stack) == 0 && len(t.python.modes) == 0 && t.python.handling == 0 && t.profiler == nil
}

// apart reports whether an argument is a value, or tensors of which none is recorded or shares y's memory.
func (t *Torch) apart(y *tensor.Tensor, a vm.Object) bool {
	switch a := a.(type) {
	case vm.Int, vm.Float, vm.Bool, vm.Str, *DType, *Device, *MemoryFormat, *Layout:
		return true
	case *Tensor:
		return a.class == t.TensorType && a.T.Storage != y.Storage && !(t.Grad.Enabled() && t.Grad.RequiresGrad(a.T))
	case *vm.Tuple:
		return t.allApart(y, a.Items)
	case *vm.List:
		return t.allApart(y, a.Items)
	}
	return a == vm.None
}

func (t *Torch) allApart(y *tensor.Tensor, items []vm.Object) bool {
	for _, a := range items {
		if !t.apart(y, a) {
			return false
		}
	}
	return true
}
