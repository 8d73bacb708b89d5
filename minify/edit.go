package minify

import (
	"fmt"
	"slices"
	"strings"

	"whittle/capture/fx"
	"whittle/kernels/tensor"
)

// An Edit is a change of a state, as a value: its fields say what it does, and its String says it in the journal. It names nodes and holds no
// pointers to them, so that edits that were made for one base apply to what other edits left of it.
type Edit interface {
	// apply makes another state. w is what is known of the values in s. ok is false where nothing is left to do.
	apply(w *world, s State) (out State, ok bool)
	String() string
}

// A reshaper is an Edit after which values in the middle of the graph may look different.
type reshaper interface{ reshapes() bool }

func reshapes(e Edit) bool {
	r, ok := e.(reshaper)
	return ok && r.reshapes()
}

// A taker is an Edit that takes calls away: takes is the one call that it is about, whatever goes with it, "" where there are several.
type taker interface{ takes() string }

func takesAway(e Edit) string {
	if t, ok := e.(taker); ok {
		return t.takes()
	}
	return ""
}

// subject is what an edit changes, where a row has several edits of the same thing of which one is enough, as zeros or ones for one input; "" where
// it has not.
func subject(e Edit) string {
	if f, ok := e.(Fills); ok && len(f.Inputs) == 1 {
		return f.Inputs[0]
	}
	return ""
}

// meta is what is known of a node's value.
func (w *world) meta(s State, n *fx.Node) any {
	if n.Op == fx.Placeholder {
		for i, p := range s.Module.Graph.Placeholders() {
			if p == n && i < len(s.Inputs) {
				return s.Inputs[i].Value
			}
		}
	}
	if n.Op == fx.GetAttr {
		if t := s.Module.Attrs[n.Target]; t != nil {
			return t
		}
	}
	if v, ok := w.known(n.Name); ok {
		return v
	}
	return n.Meta["adapter"] // put in by a shortcut: like the value that it stands for
}

// several reports whether n gives a list of values, which cannot be an input.
func (w *world) several(n *fx.Node) bool {
	v, _ := w.known(n.Name)
	_, list := v.([]any)
	return list
}

// result is the number of the first tensor among a call's several results, -1 for a call that has one result.
func (w *world) result(n *fx.Node) int {
	v, _ := w.known(n.Name)
	l, _ := v.([]any)
	for i, x := range l {
		if isTensor(x) != nil {
			return i
		}
	}
	return -1
}

// extract keeps the calls that keep names: what they need from others becomes inputs with real values, what
// nobody uses any more becomes outputs. Original outputs that are still there stay when outs is set.
func (w *world) extract(s State, keep func(n *fx.Node) bool, outs bool) (State, bool) {
	g := s.Module.Graph
	kept := w.keepable(g, keep)
	if len(kept) == 0 {
		return State{}, false
	}
	need := make(map[*fx.Node]bool, len(g.Nodes)) // by the kept calls, and by the outputs that stay
	used := make(map[*fx.Node]bool, len(g.Nodes)) // by the kept calls
	for n := range kept {
		n.WalkInputs(func(in *fx.Node) { need[in], used[in] = true, true })
	}
	var results []fx.Arg // outputs that stay
	if outs {
		for _, o := range outputs(g) {
			there := true
			fx.WalkArg(o, func(n *fx.Node) { there = there && (kept[n] || n.Op == fx.Placeholder || n.Op == fx.GetAttr) })
			if there {
				results = append(results, o)
				fx.WalkArg(o, func(n *fx.Node) { need[n] = true })
			}
		}
	}
	out := fx.NewGraph()
	m := make(map[*fx.Node]*fx.Node, len(g.Nodes)) // nodes of g => their copies in out
	inputs, ok := w.extractInputs(s, out, m, func(n *fx.Node) bool { return need[n] && !kept[n] })
	if !ok {
		return State{}, false
	}
	look := func(n *fx.Node) fx.Arg { return m[n] }
	for _, n := range g.Nodes {
		if n.Op == fx.GetAttr && need[n] || kept[n] {
			c := copyNode(n, look)
			out.Adopt(c)
			m[n] = c
		}
	}
	var final fx.Tuple
	listed := map[*fx.Node]bool{}
	for _, r := range results {
		if n, ok := r.(*fx.Node); ok {
			listed[n] = true
		}
		final = append(final, fx.MapArg(r, look))
	}
	for _, n := range g.Nodes {
		if !kept[n] || used[n] || listed[n] {
			continue
		}
		if i := w.result(n); i >= 0 { // several results cannot be returned as they are
			final = append(final, out.CreateNode(fx.CallFunction, "operator.getitem", []fx.Arg{m[n], int64(i)}, nil, ""))
			continue
		}
		final = append(final, m[n])
	}
	out.Output(final)
	return State{Module: module(s.Module, out), Inputs: inputs, Config: s.Config}, true
}

// keepable are the calls of a graph that keep names, but for those that take one of several results of a call that goes: their own value can be an
// input, their operand's cannot.
func (w *world) keepable(g *fx.Graph, keep func(n *fx.Node) bool) map[*fx.Node]bool {
	kept := make(map[*fx.Node]bool, len(g.Nodes))
	for _, n := range g.Nodes {
		if !n.IsCall() || !keep(n) {
			continue
		}
		if n.Target == "operator.getitem" && len(n.Args) == 2 {
			if p, ok := n.Args[0].(*fx.Node); ok && p.IsCall() && !kept[p] && w.several(p) {
				continue
			}
		}
		kept[n] = true
	}
	return kept
}

// extractInputs makes the placeholders of out: those of s that are needed, then one for each needed call, with its real value. m gets the copies. ok is
// false where a value is not known.
func (w *world) extractInputs(s State, out *fx.Graph, m map[*fx.Node]*fx.Node, needed func(n *fx.Node) bool) (inputs []Input, ok bool) {
	targets := map[string]bool{}
	for i, p := range s.Module.Graph.Placeholders() {
		if needed(p) {
			c := &fx.Node{Op: p.Op, Name: p.Name, Target: p.Target, Type: p.Type, Args: p.Args}
			out.Adopt(c)
			m[p], targets[c.Target] = c, true
			inputs = append(inputs, s.Inputs[i])
		}
	}
	for _, n := range s.Module.Graph.Nodes {
		if !n.IsCall() || !needed(n) {
			continue
		}
		in, ok := w.input(n)
		if !ok || targets[n.Name] { // a placeholder of that target exists under another name
			return nil, false
		}
		c := &fx.Node{Op: fx.Placeholder, Name: n.Name, Target: n.Name}
		if t, ok := in.Value.(*tensor.Tensor); ok {
			in.RequiresGrad, in.Made = w.grads[n.Name] && t.DType.IsFloat(), false
		}
		out.Adopt(c)
		m[n], targets[c.Target] = c, true
		inputs = append(inputs, in)
	}
	return inputs, true
}

func copyNode(n *fx.Node, look func(*fx.Node) fx.Arg) *fx.Node {
	c := &fx.Node{Op: n.Op, Name: n.Name, Target: n.Target, Custom: n.Custom, Type: n.Type, Val: n.Val, Meta: n.Meta}
	for _, a := range n.Args {
		c.Args = append(c.Args, fx.MapArg(a, look))
	}
	for _, kw := range n.Kwargs {
		c.Kwargs = append(c.Kwargs, fx.Kwarg{Name: kw.Name, Val: fx.MapArg(kw.Val, look)})
	}
	return c
}

// module is gm with another graph, and without the attributes that it does not name.
func module(gm *fx.GraphModule, g *fx.Graph) *fx.GraphModule {
	used := map[string]bool{}
	for _, n := range g.Nodes {
		if n.Op == fx.GetAttr || n.Op == fx.CallModule {
			used[n.Target] = true
		}
	}
	has := func(name string) bool {
		if used[name] {
			return true
		}
		for u := range used {
			if strings.HasPrefix(u, name+".") {
				return true
			}
		}
		return false
	}
	out := &fx.GraphModule{Graph: g, ClassName: gm.ClassName}
	for k, v := range gm.Attrs {
		if has(k) {
			set(&out.Attrs, k, v)
		}
	}
	for k, v := range gm.Modules {
		if has(k) {
			set(&out.Modules, k, v)
		}
	}
	for k, v := range gm.Submodules {
		if has(k) {
			set(&out.Submodules, k, v)
		}
	}
	for _, l := range gm.Init {
		if has(l.Name) {
			out.Init = append(out.Init, l)
		}
	}
	return out
}

func set[V any](m *map[string]V, k string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[k] = v
}

// Alone runs the named calls alone, on their real inputs.
type Alone struct{ Calls []string }

func (e Alone) String() string { return "run alone: " + list(e.Calls) }

func (e Alone) apply(w *world, s State) (State, bool) {
	in := setOf(e.Calls)
	return w.extract(s, func(n *fx.Node) bool { return in[n.Name] }, false)
}

// AloneSmall runs the named calls alone, on the first elements of their real inputs: no size is above Most.
type AloneSmall struct {
	Calls []string
	Most  int64
}

func (e AloneSmall) String() string {
	return fmt.Sprintf("run alone, sizes of at most %d: %s", e.Most, list(e.Calls))
}
func (e AloneSmall) reshapes() bool { return true }

func (e AloneSmall) apply(w *world, s State) (State, bool) {
	s, ok := Alone{e.Calls}.apply(w, s)
	if !ok {
		return State{}, false
	}
	of := w.extentsOf(s)
	var above []string
	for _, c := range of.classes() {
		if c.size > e.Most {
			above = append(above, c.label)
		}
	}
	if len(above) == 0 {
		return State{}, false
	}
	return Resize{e.Most, above, of}.apply(w, s)
}

// AlonePlain runs the named calls alone, on the simplest inputs: sizes of 1, contiguous zeros without gradients.
type AlonePlain struct{ Calls []string }

func (e AlonePlain) String() string { return "run alone, on the simplest inputs: " + list(e.Calls) }
func (e AlonePlain) reshapes() bool { return true }

func (e AlonePlain) apply(w *world, s State) (State, bool) {
	s, ok := Alone(e).apply(w, s)
	if !ok {
		return State{}, false
	}
	return Together{Parts: plainInputs(&view{cur: s, w: w, insight: &insight{}})}.apply(w, s)
}

// Cut turns the named calls into inputs, or drops them where nobody needs them.
type Cut struct{ Calls []string }

func (e Cut) String() string { return "cut " + list(e.Calls) }
func (e Cut) takes() string  { return sole(e.Calls) }

func (e Cut) apply(w *world, s State) (State, bool) {
	in := setOf(e.Calls)
	hit := false
	out, ok := w.extract(s, func(n *fx.Node) bool {
		hit = hit || in[n.Name]
		return !in[n.Name]
	}, true)
	return out, ok && hit
}

// Bypass gives the users of each named call its operand of the same shape and dtype.
type Bypass struct{ Calls []string }

func (e Bypass) String() string { return "bypass " + list(e.Calls) }
func (e Bypass) takes() string  { return sole(e.Calls) }

func (e Bypass) apply(w *world, s State) (State, bool) {
	gm, _ := s.Module.Clone()
	out := State{Module: gm, Inputs: s.Inputs, Config: s.Config}
	hit := false
	for _, name := range e.Calls {
		n := gm.Graph.Node(name)
		if n == nil {
			continue
		}
		for _, in := range w.standIns(out, n) {
			gm.Graph.ReplaceUses(in.of, in.by)
			gm.Graph.Erase(in.of)
			hit = true
		}
	}
	if !hit || len(gm.Graph.Calls()) == 0 {
		return State{}, false
	}
	return prune(out) // what only the bypassed calls needed goes with them
}

// standIn is a value, and the operand that can stand in for it.
type standIn struct{ of, by *fx.Node }

// standIns lists what stands in for the result of n, or for each of its several results; nil if for one of them there is nothing of its
// shape and dtype among n's operands, and for calls that take one of several results.
func (w *world) standIns(s State, n *fx.Node) []standIn {
	if !n.IsCall() || part(n) {
		return nil
	}
	if _, several := w.meta(s, n).([]any); !several {
		if in := w.operandLike(s, n, n, -1); in != nil {
			return []standIn{{n, in}}
		}
		return nil
	}
	var out []standIn
	for _, p := range s.Module.Graph.Nodes {
		if !slices.Contains(p.Inputs(), n) {
			continue
		}
		i := -1
		if part(p) {
			k, _ := p.Args[1].(int64)
			i = int(k)
		}
		in := w.operandLike(s, n, p, i)
		if i < 0 || in == nil {
			return nil
		}
		out = append(out, standIn{p, in})
	}
	return out
}

// operandLike is an operand of n with the shape and dtype of v, nil if there is none: the one at place i of n's operands, as operators on lists
// take them apart; else the first that is computed, so that calls stay connected; else the first.
func (w *world) operandLike(s State, n, v *fx.Node, i int) *fx.Node {
	like, ok := w.meta(s, v).(*tensor.Tensor)
	if !ok || like == nil {
		return nil
	}
	var first, computed *fx.Node
	for k, in := range n.Inputs() {
		o, ok := w.meta(s, in).(*tensor.Tensor)
		if !ok || o == nil || o.DType != like.DType || !slices.Equal(o.Shape, like.Shape) {
			continue
		}
		if k == i {
			return in
		}
		if computed == nil && in.IsCall() {
			computed = in
		}
		if first == nil {
			first = in
		}
	}
	if computed != nil {
		return computed
	}
	return first
}

// prune is what follows most edits. It drops pure calls that nothing uses, and inputs likewise. Calls of unknown targets go too: whether the failure needs them is for the
// oracle to say.
func prune(s State) (State, bool) {
	gm, _ := s.Module.Clone()
	gm.Graph.EliminateDeadCode(fx.UnknownDoesNot)
	if len(gm.Graph.Calls()) == 0 {
		return State{}, false
	}
	return dropInputs(State{Module: module(gm, gm.Graph), Inputs: s.Inputs, Config: s.Config}, nil), true
}

// dropInputs drops unused placeholders: the named ones, or all for nil.
func dropInputs(s State, names map[string]bool) State {
	used := map[*fx.Node]bool{}
	for _, n := range s.Module.Graph.Nodes {
		n.WalkInputs(func(in *fx.Node) { used[in] = true })
	}
	gm, m := s.Module.Clone()
	out := State{Module: gm, Config: s.Config}
	for i, p := range s.Module.Graph.Placeholders() {
		if !used[p] && (names == nil || names[p.Name]) {
			gm.Graph.Erase(m[p])
			continue
		}
		out.Inputs = append(out.Inputs, s.Inputs[i])
	}
	return out
}

// DropOutputs drops outputs by the text that they print as; a call that nobody uses then goes as well.
type DropOutputs struct{ Texts []string }

func (e DropOutputs) String() string { return "drop output " + list(e.Texts) }

func (e DropOutputs) apply(_ *world, s State) (State, bool) {
	in := setOf(e.Texts)
	gm, _ := s.Module.Clone()
	o := gm.Graph.OutputNode()
	var left fx.Tuple
	all := outputs(gm.Graph)
	for _, a := range all {
		if !in[fx.FormatArg(a)] {
			left = append(left, a)
		}
	}
	if len(left) == len(all) {
		return State{}, false
	}
	o.Args = []fx.Arg{left}
	return prune(State{Module: gm, Inputs: s.Inputs, Config: s.Config})
}

// DropInputs drops the named inputs, as far as nothing uses them.
type DropInputs struct{ Inputs []string }

func (e DropInputs) String() string { return "drop unused input " + list(e.Inputs) }

func (e DropInputs) apply(_ *world, s State) (State, bool) {
	out := dropInputs(s, setOf(e.Inputs))
	return out, len(out.Inputs) < len(s.Inputs)
}

// DropSettings leaves the named settings at their defaults.
type DropSettings struct{ Settings []string }

func (e DropSettings) String() string { return "default for " + list(e.Settings) }

func (e DropSettings) apply(_ *world, s State) (State, bool) {
	in := setOf(e.Settings)
	out := State{Module: s.Module, Inputs: s.Inputs}
	for _, c := range s.Config {
		if !in[c.Name] {
			out.Config = append(out.Config, c)
		}
	}
	return out, len(out.Config) < len(s.Config)
}

// DeadCode drops calls without an effect whose results nothing uses, and inputs likewise.
type DeadCode struct{}

func (DeadCode) String() string { return "dead code" }

func (DeadCode) apply(_ *world, s State) (State, bool) {
	out, ok := prune(s)
	return out, ok && len(out.Module.Graph.Nodes) < len(s.Module.Graph.Nodes)
}

// Together makes several edits, one after the other, as far as they apply. With Only, those that make the state cheaper.
type Together struct {
	Name  string // for the journal; "" => those of the parts
	Parts []Edit
	Only  bool
}

func (e Together) String() string {
	if e.Name != "" {
		return e.Name
	}
	var parts []string
	for _, p := range e.Parts {
		parts = append(parts, p.String())
	}
	return strings.Join(parts, "; ")
}

func (e Together) reshapes() bool { return slices.ContainsFunc(e.Parts, reshapes) }

func (e Together) apply(w *world, s State) (State, bool) {
	changed := false
	for _, p := range e.Parts {
		if next, ok := p.apply(w, s); ok && (!e.Only || CostOf(next).Less(CostOf(s))) {
			s, changed = next, true
		}
	}
	return s, changed
}

// sole is the one name of a list, "" where there are several.
func sole(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return ""
}

func setOf(names []string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// list is a few names for people.
func list(names []string) string {
	if len(names) <= 4 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s ... %s (%d)", names[0], names[len(names)-1], len(names))
}
