package capture

import "whittle/capture/python/vm"

// bodies are the operators with graphs of their own: torch.cond, checkpointed regions, and the functions of torch.autograd.Function.
type bodies struct {
	*ground
	journal  *journal
	out      *output
	symbols  *symbols
	world    *world
	standIns *standIns
	bindings *bindings

	// call traces a call, as the tracer does for those that bytecode makes.
	call  func(in *vm.Interp, callable vm.Object, args []vm.Object, kw []vm.KwArg) (vm.Object, bool, error)
	conds int // so far
	wraps int // checkpointed regions so far
}

func newBodies(g *ground, j *journal, out *output, sy *symbols, w *world, st *standIns, bn *bindings,
	call func(*vm.Interp, vm.Object, []vm.Object, []vm.KwArg) (vm.Object, bool, error)) *bodies {
	return &bodies{ground: g, journal: j, out: out, symbols: sy, world: w, standIns: st, bindings: bn, call: call}
}
