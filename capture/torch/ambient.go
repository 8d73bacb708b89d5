package torch

import (
	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Ambient is what decides, beside its arguments, how a call of the torch package is performed, and who watches the interpreter.
// Outside of traces and running graphs it is what New makes: operators run on the autograd engine, and nobody listens. Whoever wants
// it otherwise for a while pushes a change and pops it: see Push. What programs themselves switch is not in it: see BlockModes.
type Ambient struct {
	// Dispatch runs operators; never nil. It is Torch.Eagerly, a trace's fakes, or the tracer of operators that a graph runs under.
	Dispatch aten.Dispatcher
	// Hook is asked to perform every public call (PyTorch's torch function mode), and may use Call.Run; a trace sets it. nil =>
	// calls run.
	Hook func(c *Call) (vm.Object, error)
	// Lift turns a tensor made from Python numbers into one that the trace at work can hold; nil outside of traces.
	Lift func(x *tensor.Tensor) (*tensor.Tensor, error)
	// Symbolic says that Dispatch understands symbolic numbers among the arguments (SymbolicNumber).
	Symbolic bool
	// Sizes gives the sizes, or the strides, of a tensor as Python numbers when some are symbolic: those of the given dimensions,
	// or all. A trace with dynamic shapes sets it. nil, or a nil result, for plain ones.
	Sizes func(x *tensor.Tensor, stride bool, dims ...int) []vm.Object
	// Numel gives the number of elements of a tensor when it is symbolic. Set with Sizes; nil, or a nil result, for a plain one.
	Numel func(x *tensor.Tensor) vm.Object
	// Record notes in a trace of operators that outs come from inputs by a function whose gradient apply computes, in the
	// manner of Autograd.Record; nil outside of one.
	Record func(name string, inputs, outs []*tensor.Tensor, apply func(grads []*tensor.Tensor) ([]*tensor.Tensor, error)) error
	// Cond records torch.cond in a trace of operators; nil outside of one.
	Cond func(pred *tensor.Tensor, branches [2]*GraphModule, operands []aten.Value) ([]aten.Value, error)
	// GradSwitch is told when the program that is being traced into operators switches the grad mode; nil outside of such a trace.
	GradSwitch func(bool)
	// Reads says that Dispatch knows the numbers in fake tensors: reading one is an operator.
	Reads bool
	// Checkpoint is the checkpointed region of a graph that runs, counted from 1; 0 for none.
	Checkpoint int
	// Running is the node of a captured graph that runs now; RunGraph sets it. nil => none.
	Running *fx.Node
	// Hooks are the interpreter's: the pointer is to those of Torch.In and stays, what it points to is kept by Push.
	*vm.Hooks
}

// Push lets change alter the ambient state; pop brings back all of it as it was before, whatever happened since. Pops come in the
// opposite order of pushes, which `defer t.Push(...)()` sees to, after errors and panics too.
func (t *Torch) Push(change func(a *Ambient)) (pop func()) {
	before, hooks := t.Ambient, *t.Hooks
	change(&t.Ambient)
	return func() { t.Ambient, *t.Hooks = before, hooks }
}

// Unwatched is a change for Push: Python code that runs under it is seen by no trace.
func Unwatched(a *Ambient) {
	a.Hook, a.Lift, a.CallHook, a.FrameHook, a.ArrayHook, a.ImportHook, a.BindHook = nil, nil, nil, nil, nil, nil, nil
}

// BlockModes are the modes that a program sets for a with block, but for the grad mode, which Torch.Grad keeps. Compiled code is
// guarded on them.
type BlockModes struct {
	// Inference says that torch.inference_mode is on.
	Inference bool
	// Autocast is the state of automatic mixed precision.
	Autocast Autocast
}

// KeepModes remembers the modes of with blocks, the grad mode included; restore brings them back. It is for those who run a part
// of a program that may leave a block open: a trace that ends in one, or an operator that fails in it.
func (t *Torch) KeepModes() (restore func()) {
	modes, grad, hooksOff, hooks, functions, levels, inplace := t.BlockModes, t.Grad.Enabled(), t.savedHooksOff, t.savedHooks, t.Functions, len(t.Levels.Levels), t.inplaceGrad
	return func() {
		t.BlockModes, t.savedHooksOff, t.savedHooks, t.Functions, t.inplaceGrad = modes, hooksOff, hooks, functions, inplace
		t.EndLevels(levels)
		t.Grad.SetEnabled(grad)
	}
}
