package minify

import (
	"context"
	"slices"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// maxShortcut is the number of calls up to which shortcuts are tried: their number grows with its square.
const maxShortcut = 80

// shortcut feeds the users of a call with an earlier value instead, through at most one adapter (reshape, slice,
// expand, cast), where that makes the graph smaller. It takes away what stands between two
// operators that fail only together and changes the shape on its way.
func shortcut(ctx context.Context, d *driver) error {
	for {
		won, err := d.first(ctx, seldom, d.untried(shortcutSingles(d)))
		if won < 0 || err != nil {
			return err
		}
	}
}

// shortcutSingles is what the sweep tries.
func shortcutSingles(d *driver) []edit {
	if n := len(d.cur.Module.Graph.Calls()); n < 2 || n > maxShortcut {
		return nil
	}
	return d.possible(d.w.shortcuts(d.cur))
}

// shortcuts lists edits that leave fewer calls, largest savings first. Of the earlier values of one kind, which differ in no more than how
// much goes with them, the nearest and the farthest are tried.
func (w *world) shortcuts(s State) []edit {
	type idea struct {
		e     edit
		saves int
	}
	var ideas []idea
	before := CostOf(s).Calls
	for _, n := range s.Module.Graph.Calls() {
		to, ok := w.meta(s, n).(*tensor.Tensor)
		if !ok || to == nil || adapter(n) {
			continue
		}
		kinds := map[string][]idea{}
		var order []string
		for _, a := range ancestors(n) {
			from, ok := w.meta(s, a).(*tensor.Tensor)
			if !ok || from == nil || a.Op == fx.GetAttr {
				continue
			}
			mk := adapt(s, from, to)
			if mk == nil {
				continue
			}
			e := w.rewire(n.Name, a.Name, mk)
			if out, ok := e.apply(s); ok {
				if k := before - CostOf(out).Calls; k > 0 {
					kind := from.Describe()
					if kinds[kind] == nil {
						order = append(order, kind)
					}
					kinds[kind] = append(kinds[kind], idea{e, k})
				}
			}
		}
		for _, kind := range order {
			l := kinds[kind]
			ideas = append(ideas, l[0])
			if len(l) > 1 {
				ideas = append(ideas, l[len(l)-1])
			}
		}
	}
	slices.SortStableFunc(ideas, func(a, b idea) int { return b.saves - a.saves })
	out := make([]edit, len(ideas))
	for i, x := range ideas {
		out[i] = x.e
	}
	return out
}

// adapter reports whether n was put in by a shortcut.
func adapter(n *fx.Node) bool { return n.Meta["adapter"] != nil }

// ancestors lists what n is computed from, other than directly-used values that bypass has tried, nearest first.
func ancestors(n *fx.Node) []*fx.Node {
	var out []*fx.Node
	seen := map[*fx.Node]bool{}
	queue := n.Inputs()
	for len(queue) > 0 {
		a := queue[0]
		queue = queue[1:]
		if seen[a] {
			continue
		}
		seen[a] = true
		out = append(out, a)
		queue = append(queue, a.Inputs()...)
	}
	return out
}

// adapt makes the one call that turns a value like from into one like to; nil where one call cannot. The
// call's result is the node that it returns: for equal values, its argument.
func adapt(s State, from, to *tensor.Tensor) func(g *fx.Graph, x *fx.Node) *fx.Node {
	aten := true
	for _, n := range s.Module.Graph.Calls() {
		if n.Op == fx.CallMethod || n.Op == fx.CallFunction && !fx.IsOverload(n.Target) && n.Target != "operator.getitem" {
			aten = false
		}
	}
	call := func(overload, method string, extra func() []fx.Arg) func(g *fx.Graph, x *fx.Node) *fx.Node {
		return func(g *fx.Graph, x *fx.Node) *fx.Node {
			args := append([]fx.Arg{x}, extra()...)
			if aten {
				return g.CallFunction(overload, args...)
			}
			return g.CallMethod(method, args...)
		}
	}
	sizes := func() []fx.Arg {
		l := fx.List{}
		for _, k := range to.Shape {
			l = append(l, k)
		}
		return []fx.Arg{l}
	}
	same := slices.Equal(from.Shape, to.Shape)
	switch {
	case same && from.DType == to.DType:
		return func(_ *fx.Graph, x *fx.Node) *fx.Node { return x }
	case same:
		return call("prims.convert_element_type.default", "to", func() []fx.Arg { return []fx.Arg{to.DType} })
	case from.DType != to.DType:
		return nil
	case from.Numel() == to.Numel():
		return call("aten.reshape.default", "reshape", sizes)
	}
	if len(from.Shape) == len(to.Shape) {
		dim, differ := -1, 0
		for i := range to.Shape {
			if from.Shape[i] != to.Shape[i] {
				dim = i
				differ++
			}
		}
		if differ == 1 && from.Shape[dim] > to.Shape[dim] {
			return call("aten.slice.Tensor", "narrow", func() []fx.Arg { return []fx.Arg{int64(dim), int64(0), to.Shape[dim]} })
		}
	}
	if len(from.Shape) <= len(to.Shape) {
		off := len(to.Shape) - len(from.Shape)
		for i, k := range from.Shape {
			if k != 1 && k != to.Shape[off+i] {
				return nil
			}
		}
		return call("aten.expand.default", "expand", sizes)
	}
	return nil
}

// rewire gives the users of node name what mk makes of an earlier node.
func (w *world) rewire(name, from string, mk func(g *fx.Graph, x *fx.Node) *fx.Node) edit {
	return edit{reshapes: true, desc: "shortcut from " + from + " to " + name, takes: name, apply: func(s State) (State, bool) {
		gm, _ := s.Module.Clone()
		n, x := gm.Graph.Node(name), gm.Graph.Node(from)
		if n == nil || x == nil || !n.IsCall() {
			return State{}, false
		}
		var y *fx.Node
		gm.Graph.InsertBefore(n, func() { y = mk(gm.Graph, x) })
		if y != x {
			y.Meta = map[string]any{"adapter": w.meta(s, n)}
		}
		gm.Graph.ReplaceUses(n, y)
		gm.Graph.Erase(n)
		return w.prune(State{Module: gm, Inputs: s.Inputs, Config: s.Config})
	}}
}
