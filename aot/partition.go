package aot

import (
	"fmt"
	"strings"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// Parts is a partitioned joint graph.
type Parts struct {
	Forward  *fx.GraphModule // outputs: mutated inputs, outputs, then Saved
	Backward *fx.GraphModule // inputs: Saved, then tangents; outputs: one gradient or None per forward input
	Saved    int
}

// partition splits the joint graph where the fewest bytes have to be kept: a min-cut over the values that
// cross from forward to backward. Cheap pointwise work is recomputed rather than saved.
// Follows min_cut_rematerialization_partition.
func partition(j *Joint) (*Parts, error) {
	g := j.GM.Graph
	index := map[*fx.Node]int{}
	for i, n := range g.Nodes {
		index[n] = i
	}
	users := g.Users()
	out := g.OutputNode()
	outs := out.Args[0].(fx.Tuple)
	fwOuts, bwOuts := outs[:j.NForward], outs[j.NForward:]

	tangents := map[*fx.Node]bool{} // depends on a tangent
	for _, n := range g.Nodes {
		if n.Op == fx.Placeholder {
			tangents[n] = isTangent(n)
			continue
		}
		for _, in := range n.Inputs() {
			tangents[n] = tangents[n] || tangents[in]
		}
	}
	bw := map[*fx.Node]bool{}
	for n, t := range tangents {
		bw[n] = t
	}
	for _, o := range bwOuts {
		if n, ok := o.(*fx.Node); ok {
			bw[n] = true
		}
	}
	needed := map[*fx.Node]bool{} // computed by the forward pass in any case
	var mark func(n *fx.Node)
	mark = func(n *fx.Node) {
		if needed[n] {
			return
		}
		needed[n] = true
		for _, in := range n.Inputs() {
			mark(in)
		}
	}
	for _, o := range fwOuts {
		if n, ok := o.(*fx.Node); ok {
			mark(n)
		}
	}
	for _, n := range g.Nodes {
		if n.IsMutating(fx.UnknownMay) && n.Op == fx.CallFunction && !tangents[n] || n.Op == fx.Placeholder && !tangents[n] {
			mark(n)
		}
	}
	c := &cutter{g: g, users: users, index: index, fw: needed, bw: bw, lost: map[*fx.Node]bool{}}
	for _, i := range j.Fresh {
		c.lost[g.Placeholders()[i]] = true
	}
	saved := c.saved()
	again := false
	for _, n := range saved {
		if c.lost[n] {
			again = true
			copyInput(g, n)
		}
	}
	if again {
		return partition(j)
	}

	fw, err := extract(j.GM, primals(g), nil, appendSaved(fwOuts, saved), func(n *fx.Node) bool { return !tangents[n] })
	if err != nil {
		return nil, fmt.Errorf("forward graph: %w", err)
	}
	// In-place copies into inputs end the forward graph.
	bwd, err := extract(j.GM, nil, append(append([]*fx.Node{}, saved...), tangentNodes(g)...), fx.Tuple(bwOuts), func(n *fx.Node) bool { return !n.IsMutating(fx.UnknownMay) })
	if err != nil {
		return nil, fmt.Errorf("backward graph: %w", err)
	}
	return &Parts{Forward: fw, Backward: bwd, Saved: len(saved)}, nil
}

// copyInput has all that reads p read a copy of it.
func copyInput(g *fx.Graph, p *fx.Node) {
	var first *fx.Node
	for _, n := range g.Nodes {
		if n.Op != fx.Placeholder {
			first = n
			break
		}
	}
	var c *fx.Node
	g.InsertBefore(first, func() { c = g.CallFunction("aten.clone.default", p) })
	t := p.Val.(*tensor.Tensor)
	c.Val = tensor.FakeLike(t)
	for _, n := range g.Nodes {
		if n != c {
			n.MapInputs(func(in *fx.Node) fx.Arg {
				if in == p {
					return c
				}
				return in
			})
		}
	}
}

// appendSaved are the outputs of the forward graph: its results, then what the backward graph gets.
func appendSaved(outs []fx.Arg, saved []*fx.Node) fx.Tuple {
	r := append(fx.Tuple{}, outs...)
	for _, n := range saved {
		r = append(r, n)
	}
	return r
}

// primals are the placeholders of the program's inputs.
func primals(g *fx.Graph) (ps []*fx.Node) {
	for _, n := range g.Placeholders() {
		if !strings.HasPrefix(n.Target, "tangents_") {
			ps = append(ps, n)
		}
	}
	return ps
}

// tangentNodes are the placeholders of the gradients that come in.
func tangentNodes(g *fx.Graph) (ps []*fx.Node) {
	for _, n := range g.Placeholders() {
		if strings.HasPrefix(n.Target, "tangents_") {
			ps = append(ps, n)
		}
	}
	return ps
}

// extract copies what outs need into a graph of its own. inputs stay placeholders; values listed in cuts become placeholders.
func extract(gm *fx.GraphModule, inputs, cuts []*fx.Node, outs fx.Tuple, allow func(*fx.Node) bool) (*fx.GraphModule, error) {
	g := gm.Graph
	cut := map[*fx.Node]bool{}
	for _, n := range cuts {
		cut[n] = true
	}
	need := map[*fx.Node]bool{}
	var visit func(n *fx.Node)
	visit = func(n *fx.Node) {
		if need[n] {
			return
		}
		need[n] = true
		if cut[n] {
			return
		}
		for _, in := range n.Inputs() {
			visit(in)
		}
	}
	for _, o := range outs {
		if n, ok := o.(*fx.Node); ok {
			visit(n)
		}
	}
	if inputs != nil {
		for _, n := range g.Nodes {
			if n.IsMutating(fx.UnknownMay) && n.Op == fx.CallFunction && allow(n) {
				visit(n)
			}
		}
	}
	out := &fx.GraphModule{Graph: fx.NewGraph(), ClassName: gm.ClassName, Attrs: map[string]*tensor.Tensor{}}
	m := map[*fx.Node]*fx.Node{}
	for _, n := range append(append([]*fx.Node{}, inputs...), cuts...) {
		p := out.Graph.Placeholder(n.Name)
		p.Val = n.Val
		m[n] = p
	}
	for _, n := range g.Nodes {
		if !need[n] || m[n] != nil || n.Op == fx.Output {
			continue
		}
		if n.Op == fx.Placeholder {
			return nil, fmt.Errorf("%s is needed on the side that does not have it", n.Name)
		}
		if sub := gm.Submodules[n.Target]; n.Op == fx.GetAttr && sub != nil {
			if out.Submodules == nil {
				out.Submodules = map[string]*fx.GraphModule{}
			}
			out.Submodules[n.Target] = sub
		} else if n.Op == fx.GetAttr {
			out.Attrs[n.Target] = gm.Attrs[n.Target]
		}
		c := out.Graph.CreateNode(n.Op, n.Target, n.Args, n.Kwargs, n.Name)
		if o, ok := n.Meta[fx.MetaOrigin].(fx.Origin); ok {
			c.SetOrigin(o)
		}
		c.Custom, c.Val = n.Custom, n.Val
		c.MapInputs(func(in *fx.Node) fx.Arg { return m[in] })
		m[n] = c
	}
	mapped := make(fx.Tuple, len(outs))
	for i, o := range outs {
		if n, ok := o.(*fx.Node); ok {
			mapped[i] = m[n]
		} else {
			mapped[i] = o
		}
	}
	out.Graph.Output(mapped)
	return out, nil
}
