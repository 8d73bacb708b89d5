package aot

import (
	"strings"

	"whittle/capture/fx"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// donated are the places, among the first inputs of the backward graph, of the saved tensors that are the backward graph's alone: they share no memory with
// inputs, results or gradients, so that it may overwrite them. None where a graph changes what memory its tensors have.
func (p *Parts) donated(forward int) []int {
	out := []int{}
	if p.rewires() {
		return out
	}
	shared := map[*tensor.Storage]bool{}
	note := func(n *fx.Node) {
		if t := tensorOf(n); t != nil {
			shared[t.Storage] = true
		}
	}
	for _, n := range p.Forward.Graph.Placeholders() {
		note(n)
	}
	fw, err := Results(p.Forward)
	if err != nil {
		return out
	}
	bw, err := Results(p.Backward)
	if err != nil {
		return out
	}
	for _, r := range append(append(fx.Tuple{}, fw[:forward]...), bw...) {
		if n, ok := r.(*fx.Node); ok {
			note(n)
		}
	}
	numbers := p.numbers()
	for i, r := range fw[forward : len(fw)-numbers] {
		if n, ok := r.(*fx.Node); ok {
			if t := tensorOf(n); t != nil && !shared[t.Storage] {
				out = append(out, numbers+i)
			}
		}
	}
	return out
}

// rewires reports whether a tensor of one of the graphs is given the memory of another.
func (p *Parts) rewires() bool {
	for _, gm := range []*fx.GraphModule{p.Forward, p.Backward} {
		for _, n := range gm.Graph.Nodes {
			if op := n.Operator(); op != nil && strings.HasPrefix(op.Schema, "aten::set_.") {
				return true
			}
		}
	}
	return false
}

// tensorOf is the tensor that a node stands for, nil for any other value.
func tensorOf(n *fx.Node) *tensor.Tensor {
	t, _ := n.Val.(*tensor.Tensor)
	return t
}

// errDonated is the error of a backward pass that is to keep what was saved for it, once it was compiled to overwrite that.
var errDonated = &aten.Error{Kind: aten.RuntimeError, Msg: "This backward function was compiled with non-empty donated buffers which requires create_graph=False and retain_graph=False. Please keep backward(create_graph=False, retain_graph=False) across all backward() function calls, or set torch._functorch.config.donated_buffer=False to disable donated buffer."}
