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
	base, g := d.cur, d.cur.Module.Graph
	if d.windows.base != base.Module {
		d.windows.base, d.windows.units, d.windows.trials = base.Module, units(g), map[at]*trial{}
	}
	us := d.windows.units
	if len(us) < 2 {
		return nil
	}
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
	n, known := hi-lo, to-from
	switch {
	case n == known && n == 1:
		return nil
	case n == 1, n*unverified <= known && n < known:
		a := d.alone("", 0.5, us, lo, hi)
		a.yes = func() *ask { return d.halve(base, us, lo, hi, lo, hi) }
		a.no = func() *ask { return d.ends(base, us, from, to) }
		return &a
	}
	mid := lo + (hi-lo)/2
	a := d.alone("", 0.4, us, lo, mid)
	a.yes = func() *ask { return d.halve(base, us, lo, mid, lo, mid) }
	a.no = func() *ask { return d.halve(base, us, from, to, mid, hi) }
	return &a
}

// alone asks whether the window [lo, hi) of units fails by itself.
func (d *driver) alone(row string, chance float64, us [][]string, lo, hi int) ask {
	return ask{row: row, window: window{us, lo, hi}, chance: chance}
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
				e := edit{desc: f + " feeds " + name, apply: func(s State) (State, bool) {
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
					e.reshapes = true
					adapted = append(adapted, e)
				}
			}
		}
	}
	all := append(same, adapted...)
	return all[:min(len(all), maxBridges)]
}

// side is how much closer than the window the end of the smallest prefix is known before the suffix is looked for.
const side = 8

// ends finds the smallest prefix of a window that fails and the smallest suffix, by binary search: then the first and the last
// call are needed, as far as failing is monotonic, and the two are tried without what is between them. Once the prefix is known
// roughly the two searches take turns: none waits for the other's answers, so two workers have work for sure.
func (d *driver) ends(base State, us [][]string, from, to int) *ask {
	// Nothing fails alone, so at least two calls are needed: at random places, the last of two is before p with the chance (p/n)^2.
	square := func(p int) float64 { return float64(p-from) * float64(p-from) }
	prefix := func(lo, p, hi int) ask {
		return d.alone("prefix", (square(p)-square(lo))/(square(hi)-square(lo)), us, from, p)
	}
	var turns func(end int, p, s bracket) *ask
	turns = func(end int, p, s bracket) *ask {
		var a ask
		switch {
		case p.closed() && s.closed():
			return d.between(base, us, from, end-s.hi, p.hi, end)
		case !p.closed() && (p.asked <= s.asked || s.closed()):
			a = prefix(p.lo, p.mid(), p.hi)
			a.yes = func() *ask { return turns(end, p.below(), s) }
			a.no = func() *ask { return turns(end, p.above(), s) }
		default:
			a = d.alone("suffix", 0.5, us, end-s.mid(), end)
			a.yes = func() *ask { return turns(end, p, s.below()) }
			a.no = func() *ask { return turns(end, p, s.above()) }
		}
		return &a
	}
	return narrow(from, to, max(1, (to-from)/side), prefix, func(lo, hi int) *ask {
		if hi-lo <= 1 {
			return d.suffix(base, us, from, hi)
		}
		return turns(hi, bracket{lo: lo, hi: hi}, bracket{lo: 0, hi: hi - from})
	})
}

// bracket is where a binary search is: the number looked for is in (lo, hi].
type bracket struct{ lo, hi, asked int }

func (b bracket) closed() bool   { return b.hi-b.lo <= 1 }
func (b bracket) mid() int       { return b.lo + (b.hi-b.lo)/2 }
func (b bracket) below() bracket { return bracket{b.lo, b.mid(), b.asked + 1} }
func (b bracket) above() bracket { return bracket{b.mid(), b.hi, b.asked + 1} }

// suffix finds the smallest suffix of the window [from, to), which fails without less at its end.
func (d *driver) suffix(base State, us [][]string, from, to int) *ask {
	found := func(size int) *ask { return d.between(base, us, to-size, to-size, to, to) }
	probe := func(_, size, _ int) ask { return d.alone("suffix", 0.5, us, to-size, to) }
	// The failure is most often near its last call: look there first, at 1 and 4 calls.
	var near func(size, fails int) *ask
	near = func(size, fails int) *ask {
		if size >= to-from || size > 4 {
			return bisect(fails, to-from, probe, found)
		}
		a := d.alone("suffix", 0.3, us, to-size, to)
		a.yes = func() *ask { return bisect(fails, size, probe, found) }
		a.no = func() *ask { return near(4*size, size) }
		return &a
	}
	return near(1, 0)
}

// between is asked when the smallest failing prefix of the window [from, to) ends at hi, and the smallest suffix begins at lo.
func (d *driver) between(base State, us [][]string, from, lo, hi, to int) *ask {
	if lo >= hi { // each has a failure of its own
		return d.suffix(base, us, from, hi)
	}
	window := func() *ask {
		if lo == from || hi == to {
			return nil // known to fail
		}
		a := d.alone("ends", 1-unlikely, us, lo, hi)
		a.no = func() *ask { return d.suffix(base, us, from, hi) }
		return &a
	}
	if hi-lo < 3 {
		return window()
	}
	return &ask{row: "ends", edit: d.w.keepOnly(join([][]string{us[lo], us[hi-1]})), chance: 0.5,
		no: func() *ask { return anyOf("ends", 0.7, d.w.bridges(base, us, lo, hi), nil, window) }}
}
