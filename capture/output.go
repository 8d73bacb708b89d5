package capture

import (
	"whittle/capture/fx"
	"whittle/capture/torch"
	"whittle/kernels/tensor"
)

// output is the graph under construction: its nodes, its inputs, and what its nodes name. While a body of an operator is traced, the
// scope is that body's, and branch leads back to the graph around it; everything else belongs to the whole module.
type output struct {
	*ground
	journal *journal

	scope
	branch *branch // the body that is being traced; nil => the graph itself

	inputs []input                    // in the order of first use
	attrs  map[string]*tensor.Tensor  // constants
	subs   map[string]*fx.GraphModule // the bodies that are done
	calls  int                        // that PyTorch's graph would hold before it is cleaned up; 0 => nothing to compile

	later         map[string]func() *fx.Node // makes the input of a number that was not used yet, by symbol
	fresh         []unknownSize              // sizes that the call under way made unknown
	defined       []definition               // nodes of unbacked symbols
	tensorNumbers map[*fx.Node]bool          // numbers that are 0-d tensors when the graph runs
	variables     map[*torch.Tensor]bool     // tensors that are called after a variable
}

func newOutput(g *ground, j *journal) *output {
	return &output{ground: g, journal: j, scope: newScope(), attrs: map[string]*tensor.Tensor{}, subs: map[string]*fx.GraphModule{}, later: map[string]func() *fx.Node{},
		tensorNumbers: map[*fx.Node]bool{}, variables: map[*torch.Tensor]bool{}}
}
