package aot

import (
	"errors"
	"fmt"

	"whittle/aot/autograd"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// RecordFunction notes in a trace that outs come from inputs by a function of the program whose gradient apply computes: it takes
// one gradient per output, nil for none, and gives one per input. All are values as the program holds them; outs must be
// fresh values or views. d is the dispatcher of the trace, as a Function got it. Without gradients it does nothing.
func RecordFunction(d aten.Dispatcher, name string, inputs, outs []*tensor.Tensor, apply func(grads []*tensor.Tensor) ([]*tensor.Tensor, error)) error {
	f, ok := d.(*Functional)
	if !ok {
		return fmt.Errorf("%s: no trace is in progress", name)
	}
	eng, ok := f.Below.(*autograd.Engine)
	if !ok {
		return fmt.Errorf("%s: unexpected layer %T below functionalisation", name, f.Below)
	}
	if eng.Mode != nil && !eng.Mode.Enabled {
		return nil
	}
	from := make([]*tensor.Tensor, len(inputs))
	need := false
	for i, t := range inputs {
		if t == nil {
			continue
		}
		var err error
		if from[i], err = f.Inner(t); err != nil {
			return err
		}
		need = need || autograd.RequiresGrad(from[i])
	}
	if !need {
		return nil
	}
	n := autograd.NewNode(name, from, len(outs), func(_ aten.Dispatcher, grads []*tensor.Tensor, _ []bool) ([]*tensor.Tensor, error) {
		given := make([]*tensor.Tensor, len(grads))
		for i, g := range grads {
			if g != nil {
				given[i] = f.Wrap(g)
			}
		}
		res, err := apply(given)
		if err != nil {
			return nil, err
		}
		for i, g := range res {
			if g == nil {
				continue
			}
			if res[i], err = f.Inner(g); err != nil {
				return nil, err
			}
		}
		return res, nil
	})
	for i, t := range outs {
		inner, err := f.Inner(t)
		if err != nil {
			return err
		}
		n.Describe(i, inner)
		autograd.SetHistory(inner, n, i)
		if ss := f.storage[t.Storage]; ss != nil && ss.mutated {
			ss.graded = true // what the function wrote has a gradient now
		}
	}
	return nil
}

// Detach takes a value of the program out of the history, as Tensor.detach_ does, in a trace that d is the dispatcher of.
func Detach(d aten.Dispatcher, t *tensor.Tensor) error {
	f, ok := d.(*Functional)
	if !ok {
		return errors.New("detach_: no trace is in progress")
	}
	for _, o := range []*tensor.Tensor{t, f.whole(t)} {
		inner, err := f.Inner(o)
		if err != nil {
			return err
		}
		autograd.Detach(inner)
		autograd.Detach(o)
	}
	return nil
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
