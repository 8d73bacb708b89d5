package minify

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"whittle/capture/fx"
	"whittle/kernels/aten"
	"whittle/replay"
)

// optional lists the arguments that could be left out, or be the schema's default: all keyword arguments, and positional ones
// with a default. Of functions and methods without a schema, the last positional argument, unless every overload of their name needs it.
func optional(v *view) []string {
	var out []string
	for _, n := range v.cur.Module.Graph.Calls() {
		sch := schemaOf(n)
		for i, a := range n.Args {
			switch {
			case sch != nil:
				if i < len(sch.Args) && sch.Args[i].HasDefault && (i == len(n.Args)-1 || !sameArg(a, fromDefault(sch.Args[i]))) && expressible(sch.Args[i]) {
					out = append(out, place{node: n.Name, arg: i, elem: -1}.String())
				}
			case i > 0 && i == len(n.Args)-1 && !strings.HasPrefix(n.Target, "operator.") && !higherOrder(n) && takes(n, i):
				out = append(out, place{node: n.Name, arg: i, elem: -1}.String())
			}
		}
		if higherOrder(n) {
			continue
		}
		for _, kw := range n.Kwargs {
			if sch != nil {
				if i := sch.Arg(kw.Name); i < 0 || !sch.Args[i].HasDefault {
					continue
				}
			}
			out = append(out, place{node: n.Name, kw: kw.Name, elem: -1}.String())
		}
	}
	return out
}

// schemaOf is the schema of an operator overload, nil for anything else.
func schemaOf(n *fx.Node) *aten.Schema {
	if n.Op != fx.CallFunction || !fx.IsOverload(n.Target) {
		return nil
	}
	if op := n.Operator(); op != nil {
		return op.Sig()
	}
	return nil
}

// takes reports whether a method, or function of torch, may be called with count positional arguments, by the overloads of its name. Where there are
// none nothing is known, and it may.
func takes(n *fx.Node, count int) bool {
	name := strings.TrimPrefix(n.Target, "torch.")
	if n.Op != fx.CallMethod && name == n.Target {
		return true
	}
	packet := aten.Packet("aten", name)
	return len(packet) == 0 || slices.ContainsFunc(packet, func(op *aten.Op) bool {
		least, most := 0, 0
		for _, a := range op.Sig().Args {
			switch {
			case a.KwOnly:
			case a.Type.List && a.Type.Base != "Tensor": // sizes and dimensions may stand one by one
				most = count
			default:
				most++
			}
			if !a.KwOnly && !a.HasDefault {
				least++
			}
		}
		return least <= count && count <= most
	})
}

func higherOrder(n *fx.Node) bool { return strings.Contains(n.Target, "higher_order.") }

// expressible reports whether an argument's default can be written as an argument.
func expressible(a aten.Arg) bool {
	switch a.Default.(type) {
	case nil, bool, int64, float64, string, []aten.Value:
		return true
	}
	return false
}

func fromDefault(a aten.Arg) fx.Arg {
	if l, ok := a.Default.([]aten.Value); ok {
		out := fx.List{}
		for _, x := range l {
			out = append(out, x)
		}
		return out
	}
	return a.Default
}

func sameArg(a, b fx.Arg) bool { return fx.FormatArg(a) == fx.FormatArg(b) }

// Defaults gives arguments their defaults, and drops the last ones that have it. Arguments are named by call and place: add.1, sum.dim.
type Defaults struct{ Args []string }

func (e Defaults) String() string { return "default for argument " + list(e.Args) }
func (e Defaults) reshapes() bool { return true }

func (e Defaults) apply(_ *world, s State) (State, bool) {
	in := setOf(e.Args)
	gm, _ := s.Module.Clone()
	changed := false
	for _, n := range gm.Graph.Calls() {
		sch := schemaOf(n)
		n.Kwargs = slices.DeleteFunc(n.Kwargs, func(kw fx.Kwarg) bool {
			gone := in[place{node: n.Name, kw: kw.Name, elem: -1}.String()]
			changed = changed || gone
			return gone
		})
		hit := false
		for i := range n.Args {
			if !in[place{node: n.Name, arg: i, elem: -1}.String()] {
				continue
			}
			hit = true
			if sch != nil {
				if def := fromDefault(sch.Args[i]); !sameArg(n.Args[i], def) {
					n.Args[i], changed = def, true
				}
			}
		}
		for hit && len(n.Args) > 0 {
			last := len(n.Args) - 1
			if !in[place{node: n.Name, arg: last, elem: -1}.String()] &&
				(sch == nil || last >= len(sch.Args) || !sch.Args[last].HasDefault || !sameArg(n.Args[last], fromDefault(sch.Args[last]))) {
				break
			}
			n.Args, changed = n.Args[:last], true
			hit = sch != nil || last > 0
			if sch == nil {
				break
			}
		}
	}
	if !changed {
		return State{}, false
	}
	return dropInputs(State{Module: module(gm, gm.Graph), Inputs: s.Inputs, Config: s.Config}, nil), true
}

// constants lists the numbers in arguments that are not simply to. Lists count as one.
func constants(v *view, to int64) []string {
	var out []string
	eachArg(v.cur.Module.Graph, func(at place, a fx.Arg) {
		n := v.cur.Module.Graph.Node(at.node)
		if at.elem >= 0 || n.Target == "operator.getitem" || higherOrder(n) {
			return
		}
		if _, ok := number(a, to); ok {
			out = append(out, at.String())
		}
	})
	return out
}

// number is an argument with all its numbers replaced by a simpler one; ok is false where that changes nothing, or
// makes nothing simpler.
func number(a fx.Arg, to int64) (fx.Arg, bool) {
	switch a := a.(type) {
	case int64:
		return to, complexity(a) > complexity(to)
	case float64:
		return float64(to), complexity(a) > complexity(float64(to))
	case fx.List:
		l, ok := numbers(a, to)
		return fx.List(l), ok
	case fx.Tuple:
		l, ok := numbers(a, to)
		return fx.Tuple(l), ok
	}
	return nil, false
}

func numbers(l []fx.Arg, to int64) ([]fx.Arg, bool) {
	out := slices.Clone(l)
	changed := false
	for i, x := range l {
		switch x.(type) {
		case int64, float64:
		default:
			return nil, false
		}
		if y, ok := number(x, to); ok {
			out[i], changed = y, true
		}
	}
	return out, changed
}

// Number makes the numbers in arguments simpler ones.
type Number struct {
	To   int64
	Args []string
}

func (e Number) String() string { return fmt.Sprintf("%d for argument %s", e.To, list(e.Args)) }
func (e Number) reshapes() bool { return true }

func (e Number) apply(_ *world, s State) (State, bool) {
	in := setOf(e.Args)
	gm, _ := s.Module.Clone()
	changed := false
	eachArg(s.Module.Graph, func(at place, a fx.Arg) {
		if v, ok := number(a, e.To); ok && at.elem < 0 && in[at.String()] {
			changed = put(gm.Graph.Node(at.node), at, v) || changed
		}
	})
	return State{Module: gm, Inputs: s.Inputs, Config: s.Config}, changed
}

// arguments leaves out what has a default, and makes numbers 1 or 0: first all at once, then those that the failure does not need. 1 comes first, as
// it is a size, a stride or a factor more often than 0 is, and 0 is then tried from there.
func arguments(ctx context.Context, d *driver) error {
	for range 2 { // functions without a schema lose one positional argument at a time
		before := d.taken
		if err := d.walk(ctx, needed("", d.hopeful(optional(&d.view), leaveOut), leaveOut)); err != nil {
			return err
		}
		if d.taken == before {
			break
		}
	}
	for _, k := range []int64{1, 0} {
		simpler := func(names []string) Edit { return Number{k, names} }
		if err := d.walk(ctx, needed("", d.hopeful(constants(&d.view, k), simpler), simpler)); err != nil {
			return err
		}
	}
	return nil
}

func leaveOut(args []string) Edit { return Defaults{args} }

func argumentOpening(v *view) []Edit {
	out := all(optional, leaveOut)(v)
	for _, k := range []int64{1, 0} {
		if items := constants(v, k); len(items) > 0 {
			out = append(out, Number{k, items})
		}
	}
	return out
}

func argumentSingles(v *view) []Edit {
	var out []Edit
	for _, it := range optional(v) {
		out = append(out, Defaults{[]string{it}})
	}
	for _, k := range []int64{1, 0} {
		for _, it := range constants(v, k) {
			out = append(out, Number{k, []string{it}})
		}
	}
	return out
}

// symbolItems are the inputs and calls that are numbers: symbolic sizes, and what is computed from them.
func symbolItems(v *view) []string {
	var out []string
	for _, n := range v.cur.Module.Graph.Nodes {
		if n.Op != fx.Placeholder && !n.IsCall() {
			continue
		}
		switch v.w.meta(v.cur, n).(type) {
		case int64, float64, bool:
			out = append(out, n.Name)
		}
	}
	return out
}

func concrete(names []string) Edit { return Concrete{names} }

// Concrete replaces symbolic numbers, inputs and calls, by their values. Results that were such numbers are no longer returned.
type Concrete struct{ Values []string }

func (e Concrete) String() string { return "a number for " + list(e.Values) }

func (e Concrete) apply(w *world, s State) (State, bool) {
	gm, m := s.Module.Clone()
	in := setOf(e.Values)
	changed := false
	for _, n := range s.Module.Graph.Nodes {
		if !in[n.Name] {
			continue
		}
		v := w.meta(s, n)
		switch v.(type) {
		case int64, float64, bool:
		default:
			continue
		}
		o := gm.Graph.OutputNode()
		all := outputs(gm.Graph)
		left := slices.DeleteFunc(slices.Clone(all), func(a fx.Arg) bool { return a == fx.Arg(m[n]) })
		if len(left) < len(all) {
			o.Args = []fx.Arg{fx.Tuple(left)}
		}
		gm.Graph.ReplaceUses(m[n], v)
		changed = true
	}
	if !changed {
		return State{}, false
	}
	return prune(State{Module: gm, Inputs: s.Inputs, Config: s.Config})
}

// workarounds looks for a known setting, then for two, that make the failure go away: the user's way out until the compiler is mended. It changes nothing
// of the result. The answer that is looked for is the opposite of all others, that the candidate passed, so it is asked by hand.
func workarounds(ctx context.Context, d *driver) error {
	with := func(extra ...Setting) *trial {
		st := State{Module: d.cur.Module, Inputs: d.cur.Inputs}
		var names []string
		for _, x := range extra {
			names = append(names, x.Name+" = "+x.Value)
		}
		for _, c := range d.cur.Config {
			if !slices.ContainsFunc(extra, func(x Setting) bool { return x.Name == c.Name }) {
				st.Config = append(st.Config, c)
			}
		}
		st.Config = append(st.Config, extra...)
		return d.question(Candidate{State: st, Reduction: d.row, Edit: "with " + strings.Join(names, ", ")})
	}
	var sets [][]Setting
	for _, a := range d.s.Workarounds {
		sets = append(sets, []Setting{a})
	}
	for i, a := range d.s.Workarounds {
		for _, b := range d.s.Workarounds[:min(i, maxPairs)] {
			if a.Name != b.Name {
				sets = append(sets, []Setting{b, a})
			}
		}
	}
	var trials []*trial
	for _, set := range sets {
		trials = append(trials, with(set...))
	}
	for i, t := range trials {
		if err := d.await(ctx, trials[i:]); err != nil {
			return err
		}
		if err := d.note(ctx, []*trial{t}, nil); err != nil {
			return err
		}
		if t.verdict == replay.Passed {
			d.workaround = sets[i]
			return nil
		}
	}
	return nil
}

// maxPairs bounds the pairs of workarounds.
const maxPairs = 3
