package capture

import (
	"whittle/capture/effects"
	"whittle/capture/fx"
	"whittle/capture/python/vm"
)

// bodies are the operators with graphs of their own: torch.cond, checkpointed regions, and the functions of torch.autograd.Function.
type bodies struct {
	*ground
	journal  *journal
	out      *output
	symbols  *symbols
	effects  *effects.Log
	world    *world
	standIns *standIns
	bindings *bindings

	op   vm.Object   // the operator whose call is under way; nil => none
	open []vm.Object // the operators whose bodies are being traced, the outermost first

	// call traces a call, as the tracer does for those that bytecode makes.
	invoked map[string]string                                    // bodies of invoke_subgraph, by their canonical text
	trail   func(n *fx.Node) fx.Origin                           // where a node that was just made comes from
	onFakes func(f func() (vm.Object, error)) (vm.Object, error) // runs operators on stand-ins, unrecorded
	call    func(in *vm.Interp, callable vm.Object, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error)
}

func newBodies(g *ground, j *journal, out *output, sy *symbols, ef *effects.Log, w *world, st *standIns, bn *bindings,
	call func(*vm.Interp, vm.Object, []vm.Object, []vm.KwArg) (vm.Object, bool, error)) *bodies {
	return &bodies{ground: g, invoked: map[string]string{}, journal: j, out: out, symbols: sy, effects: ef, world: w, standIns: st, bindings: bn, call: call}
}
