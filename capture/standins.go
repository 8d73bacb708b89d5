package capture

import (
	"whittle/capture/source"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// standIns are the fake tensors of a trace. Every tensor from outside that the trace uses has one, which is an input of the graph or
// a constant of it; fakes and reals are each other's inverse.
type standIns struct {
	*ground
	journal *journal
	out     *output
	symbols *symbols
	world   *world

	fakes   map[*tensor.Tensor]*tensor.Tensor // real tensor => its stand-in
	reals   map[*tensor.Tensor]*torch.Tensor  // stand-in => the real tensor's object
	viaAttr map[*tensor.Tensor]source.Source  // views that are attributes of inputs
}

func newStandIns(g *ground, j *journal, out *output, sy *symbols, w *world) *standIns {
	return &standIns{ground: g, journal: j, out: out, symbols: sy, world: w, fakes: map[*tensor.Tensor]*tensor.Tensor{}, reals: map[*tensor.Tensor]*torch.Tensor{},
		viaAttr: map[*tensor.Tensor]source.Source{}}
}
