package minify

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"whittle/capture/fx"
)

var word = regexp.MustCompile(`[A-Za-z_][\w.]*`)

// units lists the calls in order, each with the getitems that take its several results apart: alone, such a call gives a
// tuple that no graph can return.
func units(g *fx.Graph) [][]string {
	at := map[*fx.Node]int{}
	var out [][]string
	for _, n := range g.Calls() {
		if n.Target == "operator.getitem" && len(n.Args) == 2 {
			if p, ok := n.Args[0].(*fx.Node); ok && p.IsCall() {
				if i, ok := at[p]; ok {
					if _, single := n.Args[1].(int64); single {
						out[i] = append(out[i], n.Name)
						at[n] = i
						continue
					}
				}
			}
		}
		at[n] = len(out)
		out = append(out, []string{n.Name})
	}
	return out
}

func join(us [][]string) []string {
	var out []string
	for _, u := range us {
		out = append(out, u...)
	}
	return out
}

// named lists the units that a failure's message names, in order; best are those among them that most likely fail alone: first
// those whose operator is named, then the last.
func named(us [][]string, g *fx.Graph, message string) (all, best [][]string) {
	words := map[string]bool{}
	for _, w := range word.FindAllString(message, -1) {
		words[strings.TrimRight(w, ".")] = true
	}
	var both, byTarget [][]string
	targets, ops := map[string]int{}, map[string]int{}
	for _, u := range us {
		name, target := false, false
		for _, c := range u {
			n := g.Node(c)
			name = name || words[c] && len(c) > 1
			target = target || words[n.Target] || words["torch.ops."+n.Target] || words["torch."+n.Target]
		}
		if target {
			// A few of each target: they often fail all or none.
			t := g.Node(u[0]).Target
			targets[t]++
			target = targets[t] <= 4
		}
		op := false
		if o := opName(g.Node(u[0])); words[o] && len(o) > 3 && !everyday[o] && ops[o] < maxNamed+1 {
			ops[o]++
			op = true
		}
		switch {
		case name && target:
			both = append(both, u)
		case target:
			byTarget = append(byTarget, u)
		}
		if name || target || op {
			all = append(all, u)
		}
	}
	best = append(both, byTarget...)
	if len(best) == 0 && len(all) > 0 {
		best = all[len(all)-1:]
	}
	return all, best
}

// everyday are operators whose names are words of any message.
var everyday = setOf([]string{"view", "size", "where", "copy", "index", "select", "type", "item", "full", "empty", "split", "expand", "slice", "call", "mean", "range", "float",
	"bool", "long", "half", "double", "sort", "round", "sign", "getitem", "getattr", "setitem", "compile", "clone", "contiguous"})

// unverified is how many times smaller than a window that is known to fail a window may get that only must fail if the failure is
// local: then it is asked.
const unverified = 4

// localise looks for one call that fails alone, on its real inputs: those that the error names, those where the
// executions part, then by halving windows. A failure in one operator ends here.
func localise(ctx context.Context, d *driver) error { return d.walk(ctx, d.place()) }

// place is the decision tree of localise, for the current state.
func (d *driver) place() *ask {
	g := d.cur.Module.Graph
	us := units(g)
	if len(us) < 2 {
		return nil
	}
	base := d.cur
	var hints []edit
	seen := map[string]bool{}
	hint := func(us ...[]string) {
		if names := join(us); len(names) > 0 && !seen[strings.Join(names, " ")] {
			seen[strings.Join(names, " ")] = true
			hints = append(hints, d.w.keepOnly(names))
		}
	}
	for _, name := range d.suspects[:min(len(d.suspects), maxSuspects)] {
		for _, u := range us {
			if slices.Contains(u, name) {
				hint(u)
			}
		}
	}
	all, best := named(us, g, d.message)
	for _, u := range best[:min(len(best), maxNamed)] {
		hint(u)
	}
	if len(all) == 2 {
		hint(all[0])
		hint(all[1])
	}
	for _, name := range d.s.Suspects[:min(len(d.s.Suspects), maxSuspects)] {
		for i, u := range us {
			if slices.Contains(u, name) { // alone, then with what stands around it
				hint(u)
				hint(us[max(0, i-3):min(len(us), i+2)]...)
			}
		}
	}
	whole := func() *ask { return d.halve(base, us, 0, len(us), 0, len(us)) }
	if len(all) > 1 { // several operators in one kernel: the failure is in one of them, or needs some
		together := func() *ask {
			return &ask{edit: d.w.keepOnly(join(all)), chance: 0.7, yes: func() *ask { return d.halve(base, all, 0, len(all), 0, len(all)) }, no: whole}
		}
		return anyOf("", 0.5, hints, nil, together)
	}
	return anyOf("", 0.5, hints, nil, whole)
}

// maxNamed and maxSuspects bound the calls that are tried alone because the message, or the caller, names them.
const (
	maxNamed    = 3
	maxSuspects = 3
)

// halve knows that the window [from, to) of units fails, and that [lo, hi) in it must fail if the failure is local.
func (d *driver) halve(base State, us [][]string, from, to, lo, hi int) *ask {
	alone := func(lo, hi int) edit { return d.w.keepOnly(join(us[lo:hi])) }
	n, known := hi-lo, to-from
	switch {
	case n == known && n == 1:
		return nil
	case n == 1, n*unverified <= known && n < known:
		return &ask{edit: alone(lo, hi), chance: 0.5, yes: func() *ask { return d.halve(base, us, lo, hi, lo, hi) },
			no: func() *ask { return d.ends(base, us, from, to) }}
	}
	mid := lo + (hi-lo)/2
	return &ask{edit: alone(lo, mid), chance: 0.4, yes: func() *ask { return d.halve(base, us, lo, mid, lo, mid) },
		no: func() *ask { return d.halve(base, us, from, to, mid, hi) }}
}

// maxBridges bounds how many operands of the last call are tried.
const maxBridges = 6

// bridges lets the first unit of a window feed the last one directly, through at most one adapter.
func (w *world) bridges(s State, us [][]string, lo, hi int) []edit {
	g := s.Module.Graph
	last := setOf(us[hi-1])
	var same, adapted []edit
	for _, name := range us[hi-1] {
		for _, in := range g.Node(name).Inputs() {
			to := isTensor(w.meta(s, in))
			if !in.IsCall() || to == nil || last[in.Name] {
				continue
			}
			for _, f := range us[lo] {
				from := isTensor(w.meta(s, g.Node(f)))
				if from == nil || f == in.Name {
					continue
				}
				mk := adapt(s, from, to)
				if mk == nil {
					continue
				}
				window, link := w.keepOnly(join(us[lo:hi])), w.rewire(in.Name, f, mk)
				e := edit{reshapes: true, desc: f + " feeds " + name, apply: func(s State) (State, bool) {
					s, ok := window.apply(s)
					if !ok {
						return State{}, false
					}
					gm, _ := s.Module.Clone()
					var left fx.Tuple
					for _, a := range outputs(gm.Graph) {
						if n, ok := a.(*fx.Node); ok && last[n.Name] {
							left = append(left, a)
						}
					}
					gm.Graph.OutputNode().Args = []fx.Arg{left}
					return link.apply(State{Module: gm, Inputs: s.Inputs, Config: s.Config})
				}}
				if slices.Equal(from.Shape, to.Shape) && from.DType == to.DType {
					same = append(same, e)
				} else {
					adapted = append(adapted, e)
				}
			}
		}
	}
	all := append(same, adapted...)
	return all[:min(len(all), maxBridges)]
}

// ends finds the smallest prefix of a window that fails, then its smallest suffix, by binary search: then the first and the last
// call are needed, as far as failing is monotonic, and the two are tried without what is between them.
func (d *driver) ends(base State, us [][]string, from, to int) *ask {
	alone := func(lo, hi int) edit { return d.w.keepOnly(join(us[lo:hi])) }
	both := func(lo, hi int) *ask {
		if hi-lo < 3 {
			return nil
		}
		return &ask{row: "ends", edit: d.w.keepOnly(join([][]string{us[lo], us[hi-1]})), chance: 0.5,
			no: func() *ask { return anyOf("ends", 0.5, d.w.bridges(base, us, lo, hi), nil, nil) }}
	}
	suffix := func(hi int) *ask {
		found := func(p int) *ask { return both(hi-p, hi) }
		probe := func(p int) edit { return alone(hi-p, hi) }
		// The failure is most often near its last call: look there first, at 1 and 4 calls.
		var near func(size, fails int) *ask
		near = func(size, fails int) *ask {
			if size >= hi-from || size > 4 {
				return bisect("suffix", fails, hi-from, probe, found)
			}
			return &ask{row: "suffix", edit: probe(size), chance: 0.3,
				yes: func() *ask { return bisect("suffix", fails, size, probe, found) }, no: func() *ask { return near(4*size, size) }}
		}
		return near(1, 0)
	}
	return bisect("prefix", from, to, func(p int) edit { return alone(from, p) }, suffix)
}
