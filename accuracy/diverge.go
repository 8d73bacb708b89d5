package accuracy

import (
	"context"
	"errors"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// Divergence is where two executions of a graph part.
type Divergence struct {
	Node   *fx.Node // first node whose value differs; nil when none does
	Index  int      // its place among the graph's nodes
	Report Report
	Err    error // the second execution failed at Node
}

// Mode says what the second execution's nodes are fed with.
type Mode int

// The modes.
const (
	Chained  Mode = iota // its own values: errors add up, as in a real run
	Lockstep             // the first execution's values: each node is judged alone
)

// Diverge runs gm by a, then by b, and names the first node at which they part. inputs are cloned for
// each, as graphs may write to them.
func Diverge(ctx context.Context, gm *fx.GraphModule, inputs []any, a, b fx.Resolver, mode Mode, o Options) (Divergence, error) {
	values := map[*fx.Node]any{}
	_, err := fx.RunObserved(ctx, gm, Clone(inputs).([]any), a, func(n *fx.Node, v any) (any, error) {
		values[n] = Clone(v) // later nodes may write to it
		return v, nil
	})
	if err != nil {
		return Divergence{}, err
	}
	place := map[*fx.Node]int{}
	for i, n := range gm.Graph.Nodes {
		place[n] = i
	}
	var d Divergence
	_, err = fx.RunObserved(ctx, gm, Clone(inputs).([]any), b, func(n *fx.Node, v any) (any, error) {
		if n.IsCall() {
			if r := Compare(values[n], v, nil, o); !r.Same {
				d = Divergence{Node: n, Index: place[n], Report: r}
				return nil, errFound
			}
		}
		if mode == Lockstep && n.IsCall() {
			return Clone(values[n]), nil
		}
		return v, nil
	})
	if errors.Is(err, errFound) {
		return d, nil
	}
	var ne *fx.NodeError
	if errors.As(err, &ne) && ctx.Err() == nil {
		return Divergence{Node: ne.Node, Index: place[ne.Node], Err: ne.Err}, nil
	}
	return d, err
}

var errFound = errors.New("accuracy: divergence found")

// Clone copies the tensors in a value. Views of one storage keep sharing within one call.
func Clone(v any) any {
	return clone(v, map[*tensor.Storage]*tensor.Storage{})
}

func clone(v any, seen map[*tensor.Storage]*tensor.Storage) any {
	switch v := v.(type) {
	case *tensor.Tensor:
		if v == nil || v.Fake {
			return v
		}
		st, ok := seen[v.Storage]
		if !ok {
			st = tensor.NewStorage(v.Storage.NBytes)
			copy(st.Data, v.Storage.Data)
			seen[v.Storage] = st
		}
		return &tensor.Tensor{Storage: st, DType: v.DType, Shape: append([]int64{}, v.Shape...), Stride: append([]int64{}, v.Stride...), Offset: v.Offset}
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = clone(x, seen)
		}
		return out
	case fx.Dict:
		out := make(fx.Dict, len(v))
		for i, it := range v {
			out[i] = fx.DictItem{Key: it.Key, Val: clone(it.Val, seen)}
		}
		return out
	}
	return v
}

// Double is gm in float64: floating inputs and constants are cast, and floating dtypes among the arguments become float64.
func Double(gm *fx.GraphModule, inputs []any) (*fx.GraphModule, []any) {
	c, _ := gm.Clone()
	for _, n := range c.Graph.Nodes {
		for i, a := range n.Args {
			n.Args[i] = doubleArg(a)
		}
		for i, kw := range n.Kwargs {
			n.Kwargs[i].Val = doubleArg(kw.Val)
		}
	}
	for k, t := range c.Attrs {
		if t != nil && t.DType.IsFloat() {
			c.Attrs[k] = t.To(tensor.Float64)
		}
	}
	for k, sub := range c.Submodules {
		c.Submodules[k], _ = Double(sub, nil)
	}
	out := make([]any, len(inputs))
	for i, v := range inputs {
		out[i] = v
		if t, ok := v.(*tensor.Tensor); ok && t.DType.IsFloat() {
			out[i] = t.To(tensor.Float64)
		}
	}
	return c, out
}

func doubleArg(a fx.Arg) fx.Arg {
	if d, ok := a.(tensor.DType); ok && d.IsFloat() {
		return tensor.Float64
	}
	return a
}
