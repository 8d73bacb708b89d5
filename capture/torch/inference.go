package torch

import (
	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/kernels/tensor"
)

// InferenceMode is an entered torch.inference_mode region: what _enter_inference_mode gives and _exit_inference_mode takes.
type InferenceMode struct {
	Node      *fx.Node // of the call that entered it, in a trace
	inference bool     // the state before
	grad      bool
	class     *vm.Type
}

// Type is the class of the handle.
func (m *InferenceMode) Type() *vm.Type { return m.class }

// Region is a handle that one call of a graph gives and a later one takes: an entered autocast or inference mode.
type Region interface {
	// EnteredBy is the node of the call that gave it, in a trace.
	EnteredBy() **fx.Node
}

// EnteredBy implements Region.
func (m *InferenceMode) EnteredBy() **fx.Node { return &m.Node }

// EnteredBy implements Region.
func (m *AutocastMode) EnteredBy() **fx.Node { return &m.Node }

// setGrad switches gradients here and in a trace of operators.
func (t *Torch) setGrad(on bool) {
	t.Grad.SetEnabled(on)
	if t.GradSwitch != nil {
		t.GradSwitch(on)
	}
}

// registerInference binds the switches under torch.inference_mode.
func (t *Torch) registerInference() {
	c, in := t.c, t.In
	cls := in.NewNativeType(vm.Spec{Name: "_InferenceMode", Module: "torch._C", NoDict: true})
	def := func(name, target string, f func(args []vm.Object) (vm.Object, error)) {
		b := c.Func(name, func(in *vm.Interp, args []vm.Object, kw []vm.KwArg) (vm.Object, error) {
			return t.call(fx.CallFunction, target, args, kw, func(args []vm.Object, _ []vm.KwArg) (vm.Object, error) { return f(args) })
		})
		b.Native, b.Module = Target(target), "torch._C"
	}
	const module = "torch.autograd.grad_mode."
	def("_enter_inference_mode", module+"_enter_inference_mode", func(a []vm.Object) (vm.Object, error) {
		if len(a) != 1 {
			return nil, in.Errorf(in.Exc.TypeError, "_enter_inference_mode() takes 1 argument (%d given)", len(a))
		}
		on, err := in.Truth(a[0])
		if err != nil {
			return nil, err
		}
		m := &InferenceMode{inference: t.Inference, grad: t.Grad.Enabled(), class: cls}
		t.setInference(on)
		t.setGrad(!on)
		return m, nil
	})
	def("_exit_inference_mode", module+"_exit_inference_mode", func(a []vm.Object) (vm.Object, error) {
		if len(a) == 1 {
			if m, ok := a[0].(*InferenceMode); ok {
				t.setInference(m.inference)
				t.setGrad(m.grad)
				return vm.None, nil
			}
		}
		return nil, in.Errorf(in.Exc.TypeError, "_exit_inference_mode() takes what _enter_inference_mode() gave")
	})
	def("is_inference_mode_enabled", "torch.is_inference_mode_enabled", func([]vm.Object) (vm.Object, error) { return vm.MakeBool(t.Inference), nil })
}

// checkpointRegion runs f as the body of a checkpointed region: a trace of operators notes that it is to be computed again for
// backward.
func (t *Torch) checkpointRegion(f func() (vm.Object, error)) (vm.Object, error) {
	t.regions++
	defer t.Push(func(a *Ambient) { a.Checkpoint = t.regions })()
	return f()
}

// setInference switches inference mode.
func (t *Torch) setInference(on bool) {
	t.Inference = on
	t.Grad.SetInference(on)
}

// requireGrad sets whether a program asks for the gradient of x.
func (t *Torch) requireGrad(x *tensor.Tensor, on bool) error {
	if on && !t.Inference && t.Grad.IsInference(x) {
		return t.In.Errorf(t.In.Exc.RuntimeError, "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
	}
	return t.Grad.SetRequiresGrad(x, on)
}

// markInference marks the tensors that a call made in inference mode; what it was given stays as it is.
func (t *Torch) markInference(args []vm.Object, res vm.Object) {
	switch v := res.(type) {
	case *Tensor:
		for _, a := range args {
			if a == res {
				return
			}
			if p, ok := a.(*Tensor); ok && p.T.Storage == v.T.Storage && !t.Grad.IsInference(p.T) {
				return // a view of a tensor that is none
			}
		}
		t.Grad.MarkInference(v.T)
	case *vm.Tuple:
		for _, x := range v.Items {
			t.markInference(args, x)
		}
	case *vm.List:
		for _, x := range v.Items {
			t.markInference(args, x)
		}
	}
}
