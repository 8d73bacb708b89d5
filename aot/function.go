package aot

import (
	"fmt"
	"slices"

	"whittle/aot/autograd"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// RecordFunction notes in a trace that outs come from inputs by a function of the program whose gradient apply computes: it takes
// one gradient per output, nil for none, and gives one per input. outs must be fresh values or views. d is the dispatcher of the trace, as a Function got it. Without gradients it does nothing.
func RecordFunction(d aten.Dispatcher, name string, inputs, outs []*tensor.Tensor, apply func(grads []*tensor.Tensor) ([]*tensor.Tensor, error)) error {
	eng, ok := d.(*autograd.Engine)
	f := functionalOf(d)
	if !ok || f == nil {
		return fmt.Errorf("%s: no trace is in progress", name)
	}
	if eng.Mode != nil && !eng.Mode.Enabled || !slices.ContainsFunc(inputs, func(t *tensor.Tensor) bool { return t != nil && autograd.RequiresGrad(t) }) {
		return nil
	}
	n := autograd.NewNode(name, inputs, len(outs), func(_ aten.Dispatcher, grads []*tensor.Tensor, _ []bool) ([]*tensor.Tensor, error) {
		return apply(grads)
	})
	for i, t := range outs {
		n.Describe(i, t)
		autograd.SetHistory(t, n, i)
		if ss := f.storage[t.Storage]; ss != nil && ss.mutated {
			ss.graded = true // what the function wrote has a gradient now
		}
	}
	return nil
}

// NeedsGrad reports whether gradients are asked for of a tensor of the trace that d is the dispatcher of; outside of one they are not.
func NeedsGrad(d aten.Dispatcher, t *tensor.Tensor) bool {
	return functionalOf(d) != nil && autograd.RequiresGrad(t)
}

// custom reports whether a value comes from a function of the program with a gradient of its own, directly or through views: it cannot be made
// from what it views without losing that gradient.
func custom(v *tensor.Tensor) bool {
	for n := autograd.GradFn(v); n != nil; n = n.Next[0].Node {
		if n.Custom {
			return true
		}
		if len(n.Next) != 1 {
			return false
		}
	}
	return false
}
