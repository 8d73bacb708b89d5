package minify

import (
	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// world is what a search knows of the values in the current graph, by node name. Names are kept by all edits.
type world struct {
	prefix string          // under which the engine holds the values
	held   map[string]Held // what they look like; may lack some
	fakes  map[string]any  // metadata by shape propagation, where the engine could not tell; may lack some
	grads  map[string]bool // the value depends on an input that requires gradients
}

func newWorld() *world {
	return &world{held: map[string]Held{}, fakes: map[string]any{}, grads: map[string]bool{}}
}

// known is what a node's value looks like.
func (w *world) known(name string) (any, bool) {
	if h, ok := w.held[name]; ok {
		return h.Value, true
	}
	v, ok := w.fakes[name]
	return v, ok
}

// input is what a node becomes when it is turned into an input: its real value, random numbers where the engine could not tell.
func (w *world) input(n *fx.Node) (Input, bool) {
	var in Input
	if a, adapted := n.Meta["adapter"]; adapted {
		in = Input{Value: a, Data: Data{Fill: FillRandom}}
	} else if h, ok := w.held[n.Name]; ok {
		in = Input{Value: h.Value, Data: Data{Of: w.prefix + n.Name, Hash: h.Hash}}
	} else if v, ok := w.fakes[n.Name]; ok {
		in = Input{Value: v, Data: Data{Fill: FillRandom}}
	}
	switch v := in.Value.(type) {
	case *tensor.Tensor:
		return in, v != nil
	case int64, float64, bool:
		return Input{Value: v}, true
	}
	return Input{}, false
}
