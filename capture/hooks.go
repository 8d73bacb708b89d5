package capture

import (
	"slices"

	"whittle/capture/breaks"
	"whittle/capture/effects"
	"whittle/capture/fx"
	"whittle/capture/python/vm"
	"whittle/capture/torch"
)

// tensorHooks are the methods of tensors that register a function on the backward pass.
var tensorHooks = []string{"register_hook", "register_post_accumulate_grad_hook"}

// hook puts a hook on a tensor from outside off until the graph has run: whoever runs the backward pass does so later. A tensor that the graph
// computes is none that a program could hook when the graph has run.
func (tr *tracer) hook(c *torch.Call) (v vm.Object, done bool, err error) {
	if c.Op != fx.CallMethod || !slices.Contains(tensorHooks, c.Target) || len(c.Args) != 2 {
		return nil, false, nil
	}
	x, ok := c.Args[0].(*torch.Tensor)
	if !ok {
		return nil, false, nil
	}
	if x.T.Fake || tr.world.sources[x] == nil {
		return nil, false, unsupported(breaks.IntermediateHook)
	}
	if err := tr.standIns.useValue(x); err != nil {
		return nil, false, err
	}
	call := &effects.Call{Fn: x.Type().Lookup(c.Target), Args: []vm.Object{x, c.Args[1]}}
	call.Result = tr.t.Handle(func() { tr.effects.Cancel(call) })
	tr.effects.PutOff(call)
	return call.Result, true, nil
}
