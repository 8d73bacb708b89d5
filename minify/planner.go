package minify

import (
	"container/heap"
	"context"
	"math"
	"slices"
	"sort"

	"whittle/capture/fx"
	"whittle/replay"
)

// A planner makes trials of edits, and says which questions are likely to come: for idle workers alone. It speculates on views of its own and
// may be wrong; what it lists is asked early, and used only if the search comes to ask it.
//
// It looks ahead in two ways. Within a decision tree (foresee) it unfolds the tree by probability: a question's chance to be asked is the product of
// the chances of the answers on its path. Beyond the row under way (upcoming) it lists what later rows will open with, first as if this row
// changed nothing, then as if the likely edit of the next one were adopted.
type planner struct {
	*executor
	queues  map[queueKey]*queue // questions that may follow a row
	windows windows             // of the best state's graph
	last    struct {            // hash's
		id   identity
		hash string
	}
}

// prepare applies an edit to base and checks the result; it asks nothing.
func (pl *planner) prepare(ctx context.Context, v *view, base State, e Edit) (*trial, error) {
	t := &trial{edit: e, parent: pl.hash(base)}
	st, ok := e.apply(v.w, base)
	if !ok {
		t.skip = true
		return t, nil
	}
	t.cost = CostOf(st)
	if !t.cost.Less(CostOf(base)) {
		t.skip = true
		return t, nil
	}
	t.key = pl.h.key(st, pl.s.Fingerprint)
	t.c = Candidate{State: st, Reduction: v.row, Edit: e.String(), Hash: hashOf(t.key), Until: pl.until}
	t.key = pl.mark(t.key, t.c)
	if t.c.Hash == t.parent {
		t.skip = true
		return t, nil
	}
	if err := v.static(ctx, st); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		t.verdict, t.outcome, t.settled = replay.VerdictUntestable, replay.Outcome{Status: replay.Invalid, Message: err.Error()}, true
	}
	return t, nil
}

// hash is a state's identity; that of the last state is remembered.
func (pl *planner) hash(s State) string {
	id := identity{s.Module, len(s.Inputs), len(s.Config), nil, nil}
	if len(s.Inputs) > 0 {
		id.in = &s.Inputs[0]
	}
	if len(s.Config) > 0 {
		id.cfg = &s.Config[0]
	}
	if pl.last.id != id {
		pl.last.id, pl.last.hash = id, hashOf(pl.h.key(s, pl.s.Fingerprint))
	}
	return pl.last.hash
}

// identity tells states apart without looking into them.
type identity struct {
	module          *fx.GraphModule
	inputs, setting int
	in              *Input
	cfg             *Setting
}

func hashOf(k replay.QueryKey) string { return k.Candidate() }

// foresee lists the trial of a, then those of the questions that may follow what was seen, likeliest first: count of them. With one worker that is
// the trial of a alone, and nothing is prepared in vain. Where a tree ends early, what is left of count goes to the questions after it,
// in proportion to the chance of each end; where candidates share what they cost, questions after a likely end come before unlikely ones of the tree.
func (pl *planner) foresee(ctx context.Context, v *view, base State, a *ask, seen *past, count int) ([]*trial, error) {
	var want []*trial
	var leaves []prospect // where the walk may end
	q := &outlook{{a, 1, nil, seen}}
	listed := map[string]bool{}
	follow := func(p prospect, yes bool, chance float64) {
		won := p.won
		if yes {
			won = p.a.t
		}
		next := prospect{p.a.then(yes), p.p * chance, won, p.seen.and(p.a, yes)}
		if next.a != nil {
			heap.Push(q, next)
		} else {
			leaves = append(leaves, next)
		}
	}
	soon := func(l prospect, count int) error { // the questions after an end of the walk
		more, err := pl.beyond(ctx, v, l.won, count, 0)
		want = pl.join(want, more)
		return err
	}
	for looked := 0; q.Len() > 0 && len(want) < max(1, count) && looked < 8*count+8; looked++ {
		p := heap.Pop(q).(prospect) // the likeliest question that was not looked at

		// What follows an end may be likelier.
		for pl.shares() && len(leaves) > 0 && len(want) < count && leaves[0].p*likely > max(p.p, pl.worth(0)) {
			if err := soon(leaves[0], (count-len(want)+1)/2); err != nil {
				return nil, err
			}
			leaves = leaves[1:]
		}
		if p.p < pl.worth(0) {
			break
		}
		if p.a.t == nil {
			t, err := pl.trialOf(ctx, v.in(p.a.rowOf(v.row)), base, p.a)
			if err != nil {
				return nil, err
			}
			p.a.t = t
		}
		t := p.a.t
		if len(want) == 0 {
			want = append(want, t)
			listed[pl.name(t)] = true
			if count <= 1 {
				break
			}
		}
		verdict := t.verdict
		if !t.skip && !t.settled {
			k, err := pl.peek(ctx, t)
			if err != nil {
				return nil, err
			}
			if k == nil {
				if name := pl.name(t); !listed[name] && p.p >= pl.worth(t.cost.Calls) { // independent searches ask the same after any answer of the other
					listed[name] = true
					want = append(want, t)
				}
				chance := p.a.expect(p.seen)
				follow(p, false, 1-chance)
				follow(p, true, chance)
				continue
			}
			verdict = replay.Judge(k.outcome, pl.want)
		}
		follow(p, !t.skip && verdict == replay.Reproduced, 1)
	}
	if count <= 1 || want[0].skip || want[0].settled {
		return want, nil
	}
	sort.SliceStable(leaves, func(i, j int) bool { return leaves[i].p > leaves[j].p })
	left := 0.0
	for _, l := range leaves {
		left += l.p
	}
	for _, l := range leaves { // each its share of the workers that are left; ends that hardly ever come get none
		share := math.Ceil(float64(count-len(want)) * l.p / left)
		of := v.cur
		if l.won != nil {
			of = l.won.c.State
		}
		if left -= l.p; share > 0 && l.p > max(0.05, pl.worth(CostOf(of).Calls)) {
			if err := soon(l, int(share)); err != nil {
				return nil, err
			}
		}
	}
	return want, nil
}

// trialOf prepares an ask. A window may be asked about more than once: it is prepared once.
func (pl *planner) trialOf(ctx context.Context, v *view, base State, a *ask) (*trial, error) {
	if a.window.us == nil {
		return pl.prepare(ctx, v, base, a.edit)
	}
	t := pl.windows.trials[a.window.at()]
	if t == nil {
		var err error
		if t, err = pl.prepare(ctx, v, base, Alone{join(a.window.us[a.window.lo:a.window.hi])}); err != nil {
			return nil, err
		}
		pl.windows.trials[a.window.at()] = t
	}
	again := *t
	again.c.Reduction, again.settled = v.row, t.verdict == replay.VerdictUntestable
	return &again, nil
}

// beyond lists questions that follow a walk which ends with the adoption of won, nil for none.
func (pl *planner) beyond(ctx context.Context, v *view, won *trial, count, depth int) ([]*trial, error) {
	if won != nil {
		v = v.after(ctx, won)
	}
	return pl.upcoming(ctx, v, count, depth)
}

// upcoming lists questions that follow if the row under way changes nothing: the openings of the rows after it, then the sweep's, and at last
// the proofs. It is for idle workers alone, and may be wrong. What was prepared for a state and a row is kept in a queue, as this is asked
// again after every answer. depth bounds how many adoptions are taken for granted one after the other.
func (pl *planner) upcoming(ctx context.Context, v *view, count, depth int) ([]*trial, error) {
	at := queueKey{v.cur.Module, v.row + v.certify}
	q := pl.queues[at]
	if q == nil {
		q = &queue{seen: map[string]bool{}}
		pl.queues[at] = q
		passed, sweeping := false, v.certify != ""
		q.all = !pl.grouped() || pl.apartIsOver(v)
		for _, r := range reductions {
			switch {
			case r.name == v.row && !sweeping, sweeping && r.name == v.certify:
				passed = true
			case !sweeping && r.large && CostOf(v.cur).Calls <= fewCalls && (r.soon == nil || !r.soon(v)):
			case r.together && !(pl.grouped() && CostOf(v.cur).Calls <= fewCalls):
			case !passed || pl.off[r.name] || !sweeping && !q.all && !r.opensEarly || r.needs > nothing && v.w.outdated || r.needs == values && v.w.hollow:
			case !sweeping && r.opening != nil && !(r.large && CostOf(v.cur).Calls <= fewCalls):
				for _, e := range r.opening(v) {
					q.edits = append(q.edits, early{e, r.name, r.likely})
				}
			case r.singles != nil:
				for _, e := range v.open(r.singles(v)) {
					q.edits = append(q.edits, early{e, r.name, false})
				}
			}
		}
	}
	for len(q.trials) < count {
		if len(q.edits) == 0 {
			if q.swept || v.certify != "" {
				break
			}
			q.swept = true
			if q.all {
				q.edits = pl.swept(v)
			}
			continue
		}
		e := q.edits[0]
		if !q.all && len(q.trials) > 0 && e.row != q.first {
			q.edits = nil // most often the first row that asks something changes what those after it would ask
			continue
		}
		q.edits, q.first = q.edits[1:], e.row
		t, err := pl.prepare(ctx, v, v.cur, e.Edit)
		if err != nil {
			return nil, err
		}
		if t.skip || t.settled {
			continue
		}
		if e.likely && q.next == nil && !(q.all && pl.grouped()) { // after apart it seldom is
			q.next, q.row = t, e.row
		}
		a, err := pl.peek(ctx, t)
		if err != nil {
			return nil, err
		}
		if a == nil && !q.seen[pl.name(t)] {
			q.seen[pl.name(t)] = true
			q.trials = append(q.trials, t)
		}
	}
	answered := func(t *trial) bool { return pl.known[pl.name(t)] != nil }
	q.trials = slices.DeleteFunc(q.trials, answered)
	adopted, lead := 0.0, 0 // the chance that the likely edit is adopted, and how many are asked up to it
	if q.next != nil && depth < 2 {
		adopted, lead = likely, 1+slices.Index(q.trials, q.next)
		if a := pl.known[pl.name(q.next)]; a != nil {
			if adopted = 0; replay.Judge(a.outcome, pl.want) == replay.Reproduced {
				adopted = 1
			}
		}
	}
	if after := int(adopted * float64(count-lead)); after > 0 { // what follows then comes before what follows else
		more, err := pl.beyond(ctx, v.in(q.row), q.next, after, depth+1)
		if err != nil {
			return nil, err
		}
		return slices.Concat(q.trials[:lead], more, q.trials[lead:min(len(q.trials), max(lead, count-len(more)))]), nil
	}
	if len(q.edits) == 0 && (q.swept && q.all && !v.w.outdated && !v.lacksValues() || v.certify != "") && !q.proofs && (v.row == "sweep" || len(q.trials) < count) {
		q.proofs = true
		q.trials = append(q.trials, pl.closing(v.cur)...)
	}
	q.trials = slices.DeleteFunc(q.trials, answered)
	return q.trials[:min(len(q.trials), count)], nil
}

// apartIsOver reports whether a small graph is through the row that asks about all of it. What the rows after that find to ask is little, and costs
// most where each asks for itself.
func (pl *planner) apartIsOver(v *view) bool {
	row := slices.IndexFunc(reductions, func(r reduction) bool { return r.name == v.row })
	return CostOf(v.cur).Calls <= fewCalls && row >= slices.IndexFunc(reductions, func(r reduction) bool { return r.together })
}

// lacksValues reports whether rows that need values may have something to ask for want of which it cannot be said.
func (v *view) lacksValues() bool {
	return v.w.hollow && (CostOf(v.cur).Calls > 1 || len(unlisted(v.cur)) > 0)
}

// closing lists what is asked of the search's result: the proof, which takes longest, first.
func (pl *planner) closing(s State) []*trial {
	out := []*trial{pl.question(pl.proof(s, 0))}
	if pl.doubtful() {
		for i := range rerunTimes {
			out = append(out, pl.rerun(s, 1+i))
		}
	}
	return out
}

// The chances of an edit that is often adopted, and of one of many that are tried one after the other.
const (
	likely = 0.7
	seldom = 0.2
)

// swept lists what the sweep will ask.
func (pl *planner) swept(v *view) []early {
	var out []early
	for _, r := range reductions {
		if r.singles != nil && !pl.off[r.name] && (r.needs == nothing || !v.w.outdated && (r.needs == looks || !v.w.hollow)) {
			for _, e := range v.open(r.singles(v)) {
				out = append(out, early{e, r.name, false})
			}
		}
	}
	return out
}

// join adds trials to a list for idle workers, as far as others do not ask the same.
func (pl *planner) join(want, more []*trial) []*trial {
	seen := map[string]bool{}
	for _, t := range want {
		seen[pl.name(t)] = true
	}
	for _, t := range more {
		if n := pl.name(t); !seen[n] {
			seen[n] = true
			want = append(want, t)
		}
	}
	return want
}

// prospect is a question with the probability that it will be asked.
type prospect struct {
	a    *ask
	p    float64
	won  *trial // adopted on the way
	seen *past
}

type outlook []prospect

func (o outlook) Len() int { return len(o) }

func (o outlook) Less(i, j int) bool { return o[i].p > o[j].p }

func (o outlook) Swap(i, j int) { o[i], o[j] = o[j], o[i] }

func (o *outlook) Push(x any) { *o = append(*o, x.(prospect)) }

func (o *outlook) Pop() any {
	old := *o
	x := old[len(old)-1]
	*o = old[:len(old)-1]
	return x
}

// queue is what upcoming has prepared for a state and a row.
type queue struct {
	edits  []early
	trials []*trial
	seen   map[string]bool
	all    bool // rows to come are looked at whole, up to the end of the sweep
	swept  bool
	proofs bool
	first  string // row of the trials, where only one is looked at
	next   *trial // likely to be adopted, by row
	row    string
}

// early is an edit of a row to come.
type early struct {
	Edit
	row    string
	likely bool
}

type queueKey struct {
	of  *fx.GraphModule
	row string
}

// windows are the units of a graph, and what was prepared for parts of their list.
type windows struct {
	base   *fx.GraphModule
	units  [][]string
	trials map[at]*trial
}

// of are the units of a state's graph.
func (w *windows) of(s State) [][]string {
	if w.base != s.Module {
		w.base, w.units, w.trials = s.Module, units(s.Module.Graph), map[at]*trial{}
	}
	return w.units
}

// place is the decision tree of localise, for the current state.
func (pl *planner) place(v *view) *ask { return v.suspected(pl.windows.of(v.cur)) }
