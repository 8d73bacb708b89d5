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
		won, err := d.first(ctx, seldom, d.untried(shortcutSingles(&d.view)))
		if won < 0 || err != nil {
			return err
		}
	}
}

// shortcutSingles is what the sweep tries.
func shortcutSingles(v *view) []Edit {
	if n := len(v.cur.Module.Graph.Calls()); n < 2 || n > maxShortcut {
		return nil
	}
	return v.possible(v.w.shortcuts(v.cur))
}

// shortcuts lists edits that leave fewer calls, largest savings first. Of the earlier values of one kind, which differ in no more than how
// much goes with them, the nearest and the farthest are tried.
func (w *world) shortcuts(s State) []Edit {
	type idea struct {
		e     Edit
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
			by := adapt(s, from, to)
			if by == nil {
				continue
			}
			e := Shortcut{n.Name, a.Name, *by}
			if out, ok := e.apply(w, s); ok {
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
	out := make([]Edit, len(ideas))
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

// Adapter is the one call that turns a value into one of another look. Its zero value is no call: the value itself.
type Adapter struct {
	Overload string // of aten or prims
	Method   string // the same as a method, in graphs of torch functions
	Args     []fx.Arg
}

// call puts the adapter into a graph, behind x.
func (a Adapter) call(g *fx.Graph, x *fx.Node) *fx.Node {
	switch args := append([]fx.Arg{x}, a.Args...); {
	case a.Overload != "":
		return g.CallFunction(a.Overload, args...)
	case a.Method != "":
		return g.CallMethod(a.Method, args...)
	}
	return x
}

// adapt is the adapter that makes a value like to of one like from; nil where one call cannot. It speaks the language of the graph: overloads of aten
// in a graph after AOTAutograd, methods in one after Dynamo. Numbers are not kept, only looks: whether the failure needs them is for the
// oracle to say.
func adapt(s State, from, to *tensor.Tensor) *Adapter {
	aten := true
	for _, n := range s.Module.Graph.Calls() {
		if n.Op == fx.CallMethod || n.Op == fx.CallFunction && !fx.IsOverload(n.Target) && n.Target != "operator.getitem" {
			aten = false
		}
	}
	call := func(overload, method string, args ...fx.Arg) *Adapter {
		if aten {
			return &Adapter{Overload: overload, Args: args}
		}
		return &Adapter{Method: method, Args: args}
	}
	sizes := fx.List{}
	for _, k := range to.Shape {
		sizes = append(sizes, k)
	}
	same := slices.Equal(from.Shape, to.Shape)
	switch {
	case same && from.DType == to.DType:
		return &Adapter{}
	case same:
		return call("prims.convert_element_type.default", "to", to.DType)
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
			return call("aten.slice.Tensor", "narrow", int64(dim), int64(0), to.Shape[dim])
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

// Shortcut gives the users of a call what an adapter makes of an earlier value.
type Shortcut struct {
	Call, From string
	By         Adapter
}

func (e Shortcut) String() string { return "shortcut from " + e.From + " to " + e.Call }
func (e Shortcut) reshapes() bool { return true }
func (e Shortcut) takes() string  { return e.Call }

func (e Shortcut) apply(w *world, s State) (State, bool) {
	gm, _ := s.Module.Clone()
	n, x := gm.Graph.Node(e.Call), gm.Graph.Node(e.From)
	if n == nil || x == nil || !n.IsCall() {
		return State{}, false
	}
	var y *fx.Node
	gm.Graph.InsertBefore(n, func() { y = e.By.call(gm.Graph, x) })
	if y != x {
		y.Meta = map[string]any{"adapter": w.meta(s, n)}
	}
	gm.Graph.ReplaceUses(n, y)
	gm.Graph.Erase(n)
	return prune(State{Module: gm, Inputs: s.Inputs, Config: s.Config})
}
