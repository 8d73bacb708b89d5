package capture

import (
	"whittle/capture/python/code"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
)

// substitute is a function in Python that a trace looks into in place of one that is not (torch.compiler.substitute_in_graph).
type substitute struct {
	f     *vm.Function
	folds bool // calls on constants alone run the original
}

// called is what a callable is known by among the substitutes: itself, or the function of a method, as each access makes a method anew.
func called(o vm.Object) vm.Object {
	if m, ok := o.(*vm.BoundMethod); ok {
		return m.Func
	}
	return o
}

// loadPolyfills imports the substitutes of torch._dynamo.polyfills, once.
func (d *Dynamo) loadPolyfills() error {
	if d.polyfilled {
		return nil
	}
	d.polyfilled = true
	defer d.T.Push(torch.Unwatched)()
	_, err := d.In.Import("torch._dynamo.polyfills.loader")
	return err
}

// substituted makes a call of a function through its substitute, which the trace goes into; done is false for what has none.
func (tr *tracer) substituted(callable vm.Object, args []vm.Object, kw []vm.KwArg) (v vm.Object, done bool, err error) {
	s := tr.d.polyfills[called(callable)]
	if s == nil || s.folds && constantArgs(args) {
		return nil, false, nil
	}
	if s.f.Code.Flags&code.Generator != 0 {
		return tr.drain(s.f, args, kw)
	}
	v, err = tr.in.Call(s.f, args, kw)
	return v, err == nil, err
}
