package minify

import (
	"context"

	"whittle/replay"
)

// An ask is one question of a search whose next question depends on the answer: a node of a decision tree that is unfolded
// as far as needed. The decisions never depend on the number of workers; idle workers evaluate the
// questions that are most likely to come next, on both branches.
//
// A tree is written as what follows an answer, in closures. This one asks whether a window of four calls fails in its first half, then in its
// second:
//
//	ask [0,2) ── yes ──> ask [0,1) ...
//	          └─ no ───> ask [2,4) ...
//
// All edits of a tree are edits of one state, the base, even after one of them was adopted: an edit says what is left, and not what goes.
type ask struct {
	row    string // reduction, where it is not the row under way
	edit   Edit   // of the state in which the walk began
	window window // instead of an edit: the calls that run alone
	chance float64
	needs  string      // a call that the failure needs, by the answers that led here; "" for nothing new
	yes    func() *ask // after a reproduced failure; nil result: the walk is over
	no     func() *ask

	next  [2]*ask // what followed no, and yes, as far as it was unfolded
	known [2]bool // which of them were: nil in next may mean that the walk ends there
	t     *trial  // nil until it is prepared
}

// window is the part [lo, hi) of a list of units.
type window struct {
	us     [][]string // nil for no window
	lo, hi int
}

// at is a window's identity; zero for none.
type at struct {
	of     *[]string
	lo, hi int
}

func (w window) at() at {
	if w.us == nil {
		return at{}
	}
	return at{&w.us[0], w.lo, w.hi}
}

// past is what became, or is taken to become, of the windows that were asked about, the last one first.
type past struct {
	at
	calls  string // see calls
	fails  bool
	before *past
}

// unlikely is the chance of an answer that goes against those of other windows: most failures are monotonic.
const unlikely = 0.03

// expect is the chance that a's window fails: what contains a failing one does, and no part of a passing one. It decides what idle
// workers look at, and nothing else.
func (a *ask) expect(seen *past) float64 {
	w, calls := a.window.at(), a.calls()
	for p := seen; p != nil; p = p.before {
		switch {
		case calls != "" && calls == p.calls && p.fails:
			return 1 - unlikely
		case calls != "" && calls == p.calls:
			return unlikely
		case w.of == nil || p.of != w.of:
		case p.fails && w.lo <= p.lo && p.hi <= w.hi:
			return 1 - unlikely
		case !p.fails && p.lo <= w.lo && w.hi <= p.hi:
			return unlikely
		}
	}
	return a.chance
}

// and adds an answer.
func (p *past) and(a *ask, fails bool) *past {
	if a.window.us == nil && a.calls() == "" { // it says nothing about others
		return p
	}
	return &past{a.window.at(), a.calls(), fails, p}
}

// calls names the few calls that a runs alone, so that it is known again, as a window or as an edit; "" where it does not, or they are many.
func (a *ask) calls() string {
	e, ok := a.edit.(Alone)
	if us := a.window.us; us != nil && a.window.hi-a.window.lo <= fewCalls {
		e, ok = Alone{join(us[a.window.lo:a.window.hi])}, true
	}
	if !ok || len(e.Calls) > fewCalls {
		return ""
	}
	return list(e.Calls)
}

// then is the ask that follows an answer.
func (a *ask) then(yes bool) *ask {
	i, f := 0, a.no
	if yes {
		i, f = 1, a.yes
	}
	if !a.known[i] {
		a.known[i] = true
		if f != nil {
			a.next[i] = f()
		}
	}
	return a.next[i]
}

// walk follows a decision tree, and adopts every state that fails and is better than the last. It is over where an answer has nothing that
// follows it.
func (d *driver) walk(ctx context.Context, a *ask) error {
	base, row := d.cur, d.row
	defer func() { d.row = row }()
	var seen *past
	for a != nil {
		v := *d.in(row)
		want, err := d.foresee(ctx, &v, base, a, seen, d.width())
		if err != nil {
			return err
		}
		d.row = a.rowOf(row)
		if d.width() >= manyWorkers { // what comes next is prepared while they work
			d.meanwhile = func() error {
				_, err := d.foresee(ctx, &v, base, a, seen, ahead*d.width())
				return err
			}
		}
		err = d.await(ctx, want)
		d.meanwhile = nil
		if err != nil {
			return err
		}
		if a.needs != "" {
			d.edges[a.needs] = true
		}
		won := a.t.verdict == replay.Reproduced && !a.t.skip
		if won && a.t.cost.Less(CostOf(d.cur)) {
			err = d.adopt(ctx, []*trial{a.t}, []int{0}, a.t)
		} else {
			err = d.note(ctx, []*trial{a.t}, nil)
		}
		if err != nil {
			return err
		}
		seen = seen.and(a, won)
		a = a.then(won)
	}
	return nil
}

// rowOf is the row that a is a question of, when row is under way.
func (a *ask) rowOf(row string) string {
	if a.row != "" {
		return a.row
	}
	return row
}

// anyOf asks one edit after the other until one keeps the failure, then goes on with won; after none with lost. nil in their place ends the
// walk.
func anyOf(row string, chance float64, edits []Edit, won, lost func() *ask) *ask {
	if len(edits) == 0 {
		if lost == nil {
			return nil
		}
		return lost()
	}
	return &ask{row: row, edit: edits[0], chance: chance, yes: won, no: func() *ask { return anyOf(row, chance, edits[1:], won, lost) }}
}

// bisect finds the smallest p in (lo, hi] for which probe's ask keeps the failure. hi is known to, lo is taken not to. Then it
// goes on with then(p). probe gives the ask for p without what follows.
func bisect(lo, hi int, probe func(lo, p, hi int) ask, then func(p int) *ask) *ask {
	return narrow(lo, hi, 1, probe, func(_, hi int) *ask { return then(hi) })
}

// narrow is bisect until p is known to be in (lo, hi] with hi-lo <= width: for a search that another one will finish.
func narrow(lo, hi, width int, probe func(lo, p, hi int) ask, then func(lo, hi int) *ask) *ask {
	if hi-lo <= width {
		return then(lo, hi)
	}
	mid := lo + (hi-lo)/2
	a := probe(lo, mid, hi)
	a.yes = func() *ask { return narrow(lo, mid, width, probe, then) }
	a.no = func() *ask { return narrow(mid, hi, width, probe, then) }
	return &a
}

// first asks for edits in order and adopts the first that keeps the failure, without asking for those after it. It
// returns that edit's number, or -1.
func (d *driver) first(ctx context.Context, chance float64, edits []Edit) (int, error) {
	var chain func(i int) *ask
	chain = func(i int) *ask {
		if i == len(edits) {
			return nil
		}
		return &ask{edit: edits[i], chance: chance, no: func() *ask { return chain(i + 1) }}
	}
	a := chain(0)
	if err := d.walk(ctx, a); err != nil {
		return -1, err
	}
	for i := 0; a != nil; i++ {
		if !a.t.skip && a.t.verdict == replay.Reproduced {
			return i, nil
		}
		a = a.then(false)
	}
	return -1, nil
}
