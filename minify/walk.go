package minify

import (
	"container/heap"
	"context"
	"sort"

	"whittle/replay"
)

// An ask is one question of a search whose next question depends on the answer: a node of a decision tree that is unfolded
// as far as needed. The decisions never depend on the number of workers; idle workers evaluate the
// questions that are most likely to come next, on both branches.
type ask struct {
	row    string // reduction, where it is not the row under way
	edit   edit   // of the state in which the walk began
	chance float64
	yes    func() *ask // after a reproduced failure; nil result: the walk is over
	no     func() *ask

	next  [2]*ask
	known [2]bool
	t     *trial
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

// walk follows a decision tree, and adopts every state that fails.
func (d *driver) walk(ctx context.Context, a *ask) error {
	base, row := d.cur, d.row
	defer func() { d.row = row }()
	for a != nil {
		d.row = row
		want, err := d.foresee(ctx, base, a)
		if err != nil {
			return err
		}
		if a.row != "" {
			d.row = a.row
		}
		if err := d.await(ctx, want); err != nil {
			return err
		}
		won := a.t.verdict == replay.Reproduced && !a.t.skip
		if won && !a.edit.probe {
			err = d.adopt(ctx, []*trial{a.t}, []int{0}, a.t)
		} else {
			err = d.journal(ctx, []*trial{a.t}, nil)
		}
		if err != nil {
			return err
		}
		a = a.then(won)
	}
	return nil
}

// foresee lists the trial of a, then those of the questions that may follow, likeliest first: as many as there are workers.
func (d *driver) foresee(ctx context.Context, base State, a *ask) ([]*trial, error) {
	var want []*trial
	var leaves []prospect // where the walk may end
	row := d.row
	defer func() { d.row = row }()
	q := &outlook{{a, 1, nil}}
	follow := func(p prospect, yes bool, chance float64) {
		won := p.won
		if yes && !p.a.edit.probe {
			won = p.a.t
		}
		next := prospect{p.a.then(yes), p.p * chance, won}
		if next.a != nil {
			heap.Push(q, next)
		} else {
			leaves = append(leaves, next)
		}
	}
	for looked := 0; q.Len() > 0 && len(want) < max(1, d.s.Workers) && looked < 8*d.s.Workers+8; looked++ {
		p := heap.Pop(q).(prospect)
		if p.a.t == nil {
			d.row = row
			if p.a.row != "" {
				d.row = p.a.row
			}
			t, err := d.prepare(ctx, base, p.a.edit)
			if err != nil {
				return nil, err
			}
			p.a.t = t
		}
		t := p.a.t
		if len(want) == 0 {
			want = append(want, t)
			if d.s.Workers <= 1 {
				break
			}
		}
		verdict := t.verdict
		if !t.skip && !t.settled {
			k, err := d.peek(ctx, t)
			if err != nil {
				return nil, err
			}
			if k == nil {
				if t != want[0] {
					want = append(want, t)
				}
				follow(p, false, 1-p.a.chance)
				follow(p, true, p.a.chance)
				continue
			}
			verdict = replay.Judge(k.outcome, d.want)
		}
		follow(p, !t.skip && verdict == replay.Reproduced, 1)
	}
	if d.s.Workers <= 1 || want[0].skip || want[0].settled {
		return want, nil
	}
	d.row = row
	sort.SliceStable(leaves, func(i, j int) bool { return leaves[i].p > leaves[j].p })
	for _, l := range leaves {
		if len(want) < d.s.Workers && l.p > 0.05 {
			more, err := d.beyond(ctx, l.won, d.s.Workers, 0)
			if err != nil {
				return nil, err
			}
			want = d.join(want, more)
		}
	}
	return want, nil
}

// beyond lists questions that follow a walk which ends with the adoption of won, nil for none.
func (d *driver) beyond(ctx context.Context, won *trial, count, depth int) ([]*trial, error) {
	if won != nil {
		cur, w := d.cur, d.w
		defer func() { d.cur, d.w = cur, w }()
		d.cur = won.c.State
		if won.edit.reshapes {
			then := *w
			then.outdated = true
			d.w = &then
			if vals, complete, _ := d.propagate(ctx, d.cur); complete {
				then.fakes, then.held, then.outdated, then.hollow = vals, map[string]Held{}, false, true
			}
		}
	}
	return d.upcoming(ctx, count, depth)
}

// prospect is a question with the probability that it will be asked.
type prospect struct {
	a   *ask
	p   float64
	won *trial // adopted on the way
}

type outlook []prospect

func (o outlook) Len() int           { return len(o) }
func (o outlook) Less(i, j int) bool { return o[i].p > o[j].p }
func (o outlook) Swap(i, j int)      { o[i], o[j] = o[j], o[i] }
func (o *outlook) Push(x any)        { *o = append(*o, x.(prospect)) }
func (o *outlook) Pop() any {
	old := *o
	x := old[len(old)-1]
	*o = old[:len(old)-1]
	return x
}

// anyOf asks one edit after the other until one keeps the failure, then goes on with won; after none with lost.
func anyOf(row string, chance float64, edits []edit, won, lost func() *ask) *ask {
	if len(edits) == 0 {
		if lost == nil {
			return nil
		}
		return lost()
	}
	return &ask{row: row, edit: edits[0], chance: chance, yes: won, no: func() *ask { return anyOf(row, chance, edits[1:], won, lost) }}
}

// bisect finds the smallest p in (lo, hi] for which probe keeps the failure. hi is known to, lo is taken not to. Then it
// goes on with then(p).
func bisect(row string, lo, hi int, probe func(p int) edit, then func(p int) *ask) *ask {
	if hi-lo <= 1 {
		return then(hi)
	}
	mid := lo + (hi-lo)/2
	return &ask{row: row, edit: probe(mid), chance: 0.5,
		yes: func() *ask { return bisect(row, lo, mid, probe, then) },
		no:  func() *ask { return bisect(row, mid, hi, probe, then) }}
}

// first asks for edits in order and adopts the first that keeps the failure, without asking for those after it. It
// returns that edit's number, or -1.
func (d *driver) first(ctx context.Context, edits []edit) (int, error) {
	var chain func(i int) *ask
	chain = func(i int) *ask {
		if i == len(edits) {
			return nil
		}
		return &ask{edit: edits[i], chance: 0.2, no: func() *ask { return chain(i + 1) }}
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
