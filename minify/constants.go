package minify

import (
	"whittle/capture/fx"
)

// attributes are the tensors that a graph names as attributes of its module, in order: by the target, the first node that names it.
func attributes(gm *fx.GraphModule) (targets []string, first map[string]*fx.Node) {
	first = map[string]*fx.Node{}
	for _, n := range gm.Graph.Nodes {
		if n.Op == fx.GetAttr && gm.Attrs[n.Target] != nil && first[n.Target] == nil {
			targets = append(targets, n.Target)
			first[n.Target] = n
		}
	}
	return targets, first
}

// constantItems are the constants whose values the engine holds.
func constantItems(v *view) []string {
	var out []string
	targets, first := attributes(v.cur.Module)
	for _, t := range targets {
		if _, ok := v.w.input(first[t]); ok {
			out = append(out, t)
		}
	}
	return out
}

// AsInputs turns constants into inputs with their values: all that makes inputs smaller and plainer then holds for them, too. A failure that needs a
// constant, as what is folded, is lost by it.
type AsInputs struct{ Constants []string }

func asInputs(targets []string) Edit { return AsInputs{targets} }

func (e AsInputs) String() string { return "as inputs: " + list(e.Constants) }

func (e AsInputs) apply(w *world, s State) (State, bool) {
	turned := setOf(e.Constants)
	_, first := attributes(s.Module)
	taken := map[string]bool{}
	for _, p := range s.Module.Graph.Placeholders() {
		taken[p.Target] = true
	}
	out := fx.NewGraph()
	m := make(map[*fx.Node]*fx.Node, len(s.Module.Graph.Nodes))
	next := State{Config: s.Config}
	look := func(n *fx.Node) fx.Arg { return m[n] }
	for i, p := range s.Module.Graph.Placeholders() {
		m[p] = copyNode(p, look)
		out.Adopt(m[p])
		next.Inputs = append(next.Inputs, s.Inputs[i])
	}
	given := len(next.Inputs)
	for _, n := range s.Module.Graph.Nodes {
		if n.Op != fx.GetAttr || !turned[n.Target] || first[n.Target] != n {
			continue
		}
		in, ok := w.input(n)
		if !ok || taken[n.Name] {
			return State{}, false
		}
		if t := isTensor(in.Value); t != nil {
			in.RequiresGrad, in.Made = w.grads[n.Name] && t.DType.IsFloat(), false
		}
		m[n] = &fx.Node{Op: fx.Placeholder, Name: n.Name, Target: n.Name}
		out.Adopt(m[n])
		next.Inputs = append(next.Inputs, in)
	}
	for _, n := range s.Module.Graph.Nodes {
		switch {
		case m[n] != nil:
		case n.Op == fx.GetAttr && turned[n.Target] && first[n.Target] != nil:
			m[n] = m[first[n.Target]]
		default:
			m[n] = copyNode(n, look)
			out.Adopt(m[n])
		}
	}
	next.Module = module(s.Module, out)
	return next, len(next.Inputs) > given
}
