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

// The windows of a search, by an example: 16 calls, of which 5 and 9 fail only together.
//
//	0 . . . . 5 . . . 9 . . . . . 15
//	[--------------) no                   halve: the first half passes
//	               [---------------) no   so does the second, so the failure is in neither half: ends
//	[------------------) yes              prefix: what is needed last is at 9 or before it
//	[----------------) no                 ... and at 9
//	          [--------) yes              suffix: what is needed first is at 5
//	          5       9  yes              ends: the two alone
//
// Each line is one question. Answers for larger windows are not asked where a smaller one that fails is likely: see unverified.

// unverified is how many times smaller than a window that is known to fail a window may get that only must fail if the failure is
// local: then it is asked. In a window of few calls it is asked at once, which saves a question or two where the failure is not.
const unverified = 4

// localise looks for one call that fails alone, on its real inputs: those that the error names, those where the
// executions part, then by halving windows. A failure in one operator ends here.
func localise(ctx context.Context, d *driver) error {
	for again := true; again; {
		wrong, some := d.onlyWrong()
		if err := d.walk(ctx, d.place(&d.view)); err != nil {
			return err
		}
		last := d.steps[len(d.steps)-1]
		again = some && last.Taken && last.Edit == wrong.String()
	}
	return nil
}

// onlyWrong keeps of the outputs those that the engine found to be wrong, if there are others: what belongs to these alone goes at once, and a
// wrong result often is right again when a part of the graph becomes an output.
func (v *view) onlyWrong() (Edit, bool) {
	all := outputs(v.cur.Module.Graph)
	keep := map[string]bool{}
	for _, i := range v.outputs {
		if i < len(all) {
			keep[fx.FormatArg(all[i])] = true
		}
	}
	var rest []string
	for _, o := range all {
		if t := fx.FormatArg(o); !keep[t] {
			rest = append(rest, t)
		}
	}
	return DropOutputs{rest}, len(keep) > 0 && len(rest) > 0
}

// suspected is the decision tree of localise over units us of the best state: the calls that somebody suspects, each alone; then the first of them with
// its neighbours; those that the message names, together; then the outputs that are wrong, alone; then halves. nil for fewer than two units: there is
// nothing to find.
//
// Who suspects a call: the engine, by what its compiler was at (insight.suspects); the failure's message, by names of nodes and operators (named);
// the caller (Search.Suspects). A wrong suspicion costs one question, a right one saves all those of halving.
func (v *view) suspected(us [][]string) *ask {
	base, g := v.cur, v.cur.Module.Graph
	if len(us) < 2 {
		return nil
	}
	var hints []Edit
	seen := map[string]bool{}
	hint := func(us ...[]string) {
		if names := join(us); len(names) > 0 && !seen[strings.Join(names, " ")] {
			seen[strings.Join(names, " ")] = true
			hints = append(hints, Alone{names})
		}
	}
	for _, name := range v.suspects[:min(len(v.suspects), maxSuspects)] {
		for _, u := range us {
			if slices.Contains(u, name) {
				hint(u)
			}
		}
	}
	fromEngine := len(hints)
	all, best := named(us, g, v.message)
	for _, u := range best[:min(len(best), maxNamed)] {
		hint(u)
	}
	if len(all) == 2 {
		hint(all[0])
		hint(all[1])
	}
	for _, name := range v.hinted[:min(len(v.hinted), maxSuspects)] {
		for i, u := range us {
			if slices.Contains(u, name) { // alone, then with what stands around it
				hint(u)
				hint(us[max(0, i-3):min(len(us), i+2)]...)
			}
		}
	}
	whole := func() *ask {
		halves := func() *ask { return v.halve(base, us, 0, len(us), 0, len(us)) }
		if wrong, ok := v.onlyWrong(); ok {
			return &ask{edit: wrong, chance: likely, no: halves}
		}
		return halves()
	}
	near := func(rest func() *ask) *ask { // what is suspected may be nothing that can fail alone
		us := v.beside(us)
		if len(us) < 2 || len(us) > fewCalls || seen[strings.Join(join(us), " ")] {
			return rest()
		}
		return &ask{edit: Alone{join(us)}, chance: 0.5, yes: func() *ask { return v.halve(base, us, 0, len(us), 0, len(us)) }, no: rest}
	}
	together := func() *ask { return near(whole) }
	if len(all) > 1 { // several operators in one kernel: the failure is in one of them, or needs some
		together = func() *ask {
			return &ask{edit: Alone{join(all)}, chance: 0.7, yes: func() *ask { return v.halve(base, all, 0, len(all), 0, len(all)) }, no: func() *ask { return near(whole) }}
		}
	}
	switch {
	case v.accuracy() && (fromEngine > 0 || len(hints) == 1): // the value of the first is what was seen to be wrong, be it for what it is computed together with
		return &ask{edit: hints[0], chance: likely, no: func() *ask { return anyOf("", 0.25, hints[1:], nil, together) }}
	case fromEngine == 0:
		return anyOf("", 0.5, hints, nil, together)
	}
	return anyOf("", 0.5, hints[:fromEngine], nil, func() *ask {
		return near(func() *ask { return anyOf("", 0.5, hints[fromEngine:], nil, together) })
	})
}

// beside are the units of the first call that the engine suspects, of those that it reads, and of those that read it; nil where it suspects none.
func (v *view) beside(us [][]string) [][]string {
	if len(v.suspects) == 0 {
		return nil
	}
	n := v.cur.Module.Graph.Node(v.suspects[0])
	if n == nil {
		return nil
	}
	names := map[string]bool{n.Name: true}
	for _, other := range append(n.Inputs(), v.cur.Module.Graph.Users()[n]...) {
		names[other.Name] = true
	}
	return slices.DeleteFunc(slices.Clone(us), func(u []string) bool {
		return !slices.ContainsFunc(u, func(name string) bool { return names[name] })
	})
}

// maxNamed and maxSuspects bound the calls that are tried alone because the message, or the caller, names them.
const (
	maxNamed    = 3
	maxSuspects = 3
)

// halve knows that the window [from, to) of units fails, and that [lo, hi) in it must fail if the failure is local: its other parts were asked about
// and passed. It goes on with half of [lo, hi) without asking about all of it first, until that is so small that being wrong would cost more
// than the question (unverified).
func (v *view) halve(base State, us [][]string, from, to, lo, hi int) *ask {
	halves := func() *ask { return v.halves(base, us, from, to, lo, hi) }
	n := hi - lo
	if n != to-from || n <= 2 || n > 2*piecemeal || !v.together() {
		return halves()
	}
	near := func() *ask { return v.around(base, us, lo, hi, false, halves) }
	if n > piecemeal {
		return near()
	}
	return v.pieces(us, lo, hi, near)
}

// piecemeal is up to how many units of a window that fails are tried each alone, where candidates are asked together: then that is one question. In one
// of twice as many, too, the last is tried with its neighbours before halves are.
const piecemeal = 16

// pieces asks about each unit of a window that fails alone; rest is asked if none does. Given right values, a later one is the likelier to be what makes
// the results wrong that were wrong, most often with its real inputs; what is wrong where a compiler makes no vectors fails alone only if it is small. What
// raises seldom needs its inputs, so that the simplest are asked about first: that is little to compile, and leaves nothing to make plain.
func (v *view) pieces(us [][]string, lo, hi int, rest func() *ask) *ask {
	n := hi - lo
	at := func(i int) int {
		if v.accuracy() && !v.anyWrong {
			return hi - 1 - i
		}
		return lo + i
	}
	real := func(i int) ask { return alone("", 1/float64(n+1), us, at(i), at(i)+1) }
	forms := []func(i int) ask{func(i int) ask { return ask{edit: AlonePlain{us[at(i)]}, chance: 1 / float64(n-i+1)} }, real}
	if v.accuracy() {
		forms = []func(i int) ask{real, func(i int) ask { return ask{edit: AloneSmall{us[at(i)], small}, chance: 1 / float64(n+1)} }}
	}
	var try func(i int) *ask
	try = func(i int) *ask {
		if i == len(forms)*n {
			return rest()
		}
		a := forms[i/n](i % n)
		a.no = func() *ask { return try(i + 1) }
		return &a
	}
	return try(0)
}

// small is a size below that of any vector.
const small = 2

// halves is halve for windows that are not asked about piece by piece.
func (v *view) halves(base State, us [][]string, from, to, lo, hi int) *ask {
	n, known := hi-lo, to-from
	again := func(lo, hi int) *ask {
		if known <= piecemeal && v.together() { // each was tried
			return v.halves(base, us, lo, hi, lo, hi)
		}
		return v.halve(base, us, lo, hi, lo, hi)
	}
	switch {
	case n == known && n == 1:
		return nil
	case n == 1, n < known && (n*unverified <= known || known <= fewCalls):
		a := alone("", 0.5, us, lo, hi)
		a.yes = func() *ask { return again(lo, hi) }
		if known >= fewCalls || !v.accuracy() { // else the sweep, which asks about each call, takes fewer questions
			a.no = func() *ask { return v.ends(base, us, from, to) }
		}
		return &a
	}
	mid := lo + (hi-lo)/2
	first, second := [2]int{lo, mid}, [2]int{mid, hi}
	if v.accuracy() && !v.anyWrong {
		// Given right values, the later half makes the results wrong that were wrong. What the earlier half makes wrong may be another thing,
		// which no result shows.
		first, second = second, first
	}
	a := alone("", 0.4, us, first[0], first[1])
	a.yes = func() *ask { return again(first[0], first[1]) }
	a.no = func() *ask { return v.halves(base, us, from, to, second[0], second[1]) }
	return &a
}

// alone asks whether the window [lo, hi) of units fails by itself.
func alone(row string, chance float64, us [][]string, lo, hi int) ask {
	return ask{row: row, window: window{us, lo, hi}, chance: chance}
}

// maxBridges bounds how many operands of the last call are tried.
const maxBridges = 6

// bridges lets the first unit of a window feed the last one directly, through at most one adapter: of a window whose two ends are needed, most
// often what stands between them is only the way from one to the other. Links that need no adapter come first.
func (w *world) bridges(s State, us [][]string, lo, hi int) []Edit {
	g := s.Module.Graph
	last := setOf(us[hi-1])
	var same, adapted []Edit
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
				by := adapt(s, from, to)
				if by == nil {
					continue
				}
				e := Bridge{Window: join(us[lo:hi]), Last: us[hi-1], To: name, Link: Shortcut{in.Name, f, *by}}
				if e.reshapes() {
					adapted = append(adapted, e)
				} else {
					same = append(same, e)
				}
			}
		}
	}
	all := append(same, adapted...)
	return all[:min(len(all), maxBridges)]
}

// Bridge runs the calls of a window alone, of whose results only those of the last calls are returned, and has an earlier value feed one of
// these.
type Bridge struct {
	Window, Last []string
	To           string // the call that is fed
	Link         Shortcut
}

func (e Bridge) String() string { return e.Link.From + " feeds " + e.To }
func (e Bridge) reshapes() bool { return e.Link.By.Overload+e.Link.By.Method != "" }

func (e Bridge) apply(w *world, s State) (State, bool) {
	s, ok := Alone{e.Window}.apply(w, s)
	if !ok {
		return State{}, false
	}
	last := setOf(e.Last)
	gm, _ := s.Module.Clone()
	var left fx.Tuple
	for _, a := range outputs(gm.Graph) {
		if n, ok := a.(*fx.Node); ok && last[n.Name] {
			left = append(left, a)
		}
	}
	gm.Graph.OutputNode().Args = []fx.Arg{left}
	return e.Link.apply(w, State{Module: gm, Inputs: s.Inputs, Config: s.Config})
}

// side is how much closer than the window the end of the smallest prefix is known before the suffix is looked for.
const side = 8

// ends finds the smallest prefix of a window that fails: as far as failing is monotonic its last call is needed. What else is needed is most
// often near it in the graph, as operators fail together when one kernel is made of them; else the smallest suffix is looked for, whose
// first call is needed. Once the prefix is known roughly the two searches take turns: none waits for the other's answers, so two workers
// have work for sure.
func (v *view) ends(base State, us [][]string, from, to int) *ask {
	// Nothing fails alone, so at least two calls are needed: at random places, the last of two is before p with the chance (p/n)^2.
	square := func(p int) float64 { return float64(p-from) * float64(p-from) }
	prefix := func(lo, p, hi int) ask {
		return alone("prefix", (square(p)-square(lo))/(square(hi)-square(lo)), us, from, p)
	}
	// Both brackets are counted from their own end: p from the window's beginning, s from end, up to which a prefix is known to fail.
	// met says that the neighbours of the prefix's last call were tried. Whichever search was asked less is asked next.
	var turns func(end int, p, s bracket, met bool) *ask
	turns = func(end int, p, s bracket, met bool) *ask {
		var a ask
		switch {
		case p.closed() && !met:
			return v.around(base, us, from, p.hi, true, func() *ask { return turns(end, p, s, true) })
		case p.closed() && s.closed():
			return v.between(base, us, from, end-s.hi, p.hi, end)
		case !p.closed() && (p.asked <= s.asked || s.closed()):
			a = prefix(p.lo, p.mid(), p.hi)
			a.yes = func() *ask { return turns(end, p.below(), s, met) }
			a.no = func() *ask { return turns(end, p.above(), s, met) }
		default:
			a = alone("suffix", 0.5, us, end-s.mid(), end)
			a.yes = func() *ask { return turns(end, p, s.below(), met) }
			a.no = func() *ask { return turns(end, p, s.above(), met) }
		}
		return &a
	}
	return narrow(from, to, max(1, (to-from)/side), prefix, func(lo, hi int) *ask {
		return turns(hi, bracket{lo: lo, hi: hi}, bracket{lo: 0, hi: hi - from}, false)
	})
}

// bracket is where a binary search is: the number looked for is in (lo, hi].
type bracket struct{ lo, hi, asked int }

func (b bracket) closed() bool   { return b.hi-b.lo <= 1 }
func (b bracket) mid() int       { return b.lo + (b.hi-b.lo)/2 }
func (b bracket) below() bracket { return bracket{b.lo, b.mid(), b.asked + 1} }
func (b bracket) above() bracket { return bracket{b.mid(), b.hi, b.asked + 1} }

// hops are the distances in the graph at which the neighbours of the last needed call are tried with it, and closer, one that is tried after
// a success.
var hops = []struct{ far, closer int }{{2, 1}, {4, 3}}

// around asks whether the last call of the window [from, to) fails together with its neighbours; far is asked if not. It gives
// up early where the neighbourhood has not grown, or is most of the window: halving does as well there. needed says that the call is known to be.
func (v *view) around(base State, us [][]string, from, to int, needed bool, far func() *ask) *ask {
	last := ""
	if needed {
		last = us[to-1][0]
	}
	near := neighbours(base.Module.Graph, us[from:to])
	within := func(far int) []string {
		var names []string
		for i, u := range us[from:to] {
			if near[i] <= far {
				names = append(names, u...)
			}
		}
		return names
	}
	var try func(i, asked int) *ask
	try = func(i, asked int) *ask {
		if i == len(hops) {
			return far()
		}
		names := within(hops[i].far)
		if len(names) == asked || 2*len(names) > len(join(us[from:to])) {
			return try(len(hops), asked)
		}
		return &ask{row: "around", needs: last, edit: Alone{names}, chance: 0.5, no: func() *ask { return try(i+1, len(names)) }, yes: func() *ask {
			if fewer := within(hops[i].closer); len(fewer) > asked && len(fewer) < len(names) && len(fewer) > 1 {
				return &ask{row: "around", edit: Alone{fewer}, chance: 0.5}
			}
			return nil
		}}
	}
	return try(0, 1)
}

// neighbours says how many edges each of the units is away from the last one, within them and in either direction: len(us) for what does not
// hang together with it.
func neighbours(g *fx.Graph, us [][]string) []int {
	of := map[*fx.Node]int{}
	far := make([]int, len(us))
	for i, u := range us {
		far[i] = len(us)
		for _, name := range u {
			of[g.Node(name)] = i
		}
	}
	next := make([][]int, len(us))
	for n, i := range of {
		n.WalkInputs(func(in *fx.Node) {
			if j, ok := of[in]; ok && i != j {
				next[i], next[j] = append(next[i], j), append(next[j], i)
			}
		})
	}
	far[len(us)-1] = 0
	for queue := []int{len(us) - 1}; len(queue) > 0; queue = queue[1:] {
		for _, j := range next[queue[0]] {
			if far[j] == len(us) {
				far[j] = far[queue[0]] + 1
				queue = append(queue, j)
			}
		}
	}
	return far
}

// suffix finds the smallest suffix of the window [from, to), which fails without less at its end.
func (v *view) suffix(base State, us [][]string, from, to int) *ask {
	return bisect(0, to-from, func(_, size, _ int) ask { return alone("suffix", 0.5, us, to-size, to) },
		func(size int) *ask { return v.between(base, us, to-size, to-size, to, to) })
}

// between is asked when the smallest failing prefix of the window [from, to) ends at hi, and the smallest suffix begins at lo.
func (v *view) between(base State, us [][]string, from, lo, hi, to int) *ask {
	if lo >= hi { // each has a failure of its own
		return v.suffix(base, us, from, hi)
	}
	window := func() *ask {
		if lo == from || hi == to {
			return nil // known to fail
		}
		a := alone("ends", 1-unlikely, us, lo, hi)
		a.no = func() *ask { return v.suffix(base, us, from, hi) }
		return &a
	}
	if hi-lo <= few { // those between the two are soon asked about one by one
		return window()
	}
	return &ask{row: "ends", needs: us[lo][0], edit: Alone{join([][]string{us[lo], us[hi-1]})}, chance: 0.5,
		no: func() *ask { return anyOf("ends", 0.7, v.w.bridges(base, us, lo, hi), nil, window) }}
}
