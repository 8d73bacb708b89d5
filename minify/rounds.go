package minify

import (
	"context"

	"whittle/replay"
)

// rounds evaluates edits round by round and adopts what wins together. A round has a fixed number of edits, whatever the number of workers, and they
// are all edits of the state that was best when it began: so its result does not depend on who is asked first.
func (d *driver) rounds(ctx context.Context, edits []Edit) error {
	for len(edits) > 0 {
		k := min(d.atOnce, len(edits))
		trials, err := d.round(ctx, edits[:k], edits[k:], false)
		if err != nil {
			return err
		}
		edits = edits[k:]
		if err := d.merge(ctx, trials); err != nil {
			return err
		}
	}
	return nil
}

// round evaluates edits of the current state, all of one base. Workers that have nothing left to do begin with later ones,
// as most rounds change nothing, and with the questions that will follow the whole row; where the first edit is likely to be adopted, with those
// that follow then.
func (d *driver) round(ctx context.Context, edits, later []Edit, first bool) ([]*trial, error) {
	base := d.cur
	trials := make([]*trial, len(edits))
	for i, e := range edits {
		t, err := d.prepare(ctx, &d.view, base, e)
		if err != nil {
			return nil, err
		}
		trials[i] = t
	}
	var ahead []*trial
	for i, t := range trials {
		want := trials[i:]
		if need := d.width() - len(want); need > 0 && d.width() > 1 && !t.skip && !t.settled {
			for len(ahead) < need && len(later) > 0 {
				a, err := d.prepare(ctx, &d.view, base, later[0])
				if err != nil {
					return nil, err
				}
				ahead, later = append(ahead, a), later[1:]
			}
			want = append(append([]*trial{}, want...), ahead...)
			var won *trial
			if first && d.grouped() {
				won = t
			}
			if len(ahead) == 0 || !d.grouped() || won != nil {
				more, err := d.beyond(ctx, &d.view, won, d.width(), 0)
				if err != nil {
					return nil, err
				}
				want = d.join(want, more)
			}
		}
		if err := d.await(ctx, want); err != nil {
			return nil, err
		}
	}
	return trials, nil
}

// merge joins the winners of a round: all together if that fails too, else in halves, else one by one. Each of them keeps the failure alone, and
// most often they do together; where two of them are each other's replacement, as two operands of which one is needed, only one stays.
func (d *driver) merge(ctx context.Context, trials []*trial) error {
	var wins []int
	for i, t := range trials {
		if !t.skip && t.verdict == replay.Reproduced {
			wins = append(wins, i)
		}
	}
	if len(wins) == 0 {
		return d.note(ctx, trials, nil)
	}
	best := trials[wins[0]]
	kept := []int{wins[0]}
	var extra []*trial
	// with is best, and what the winners of a list make of it; nil where that is nothing.
	with := func(list []int) Edit {
		// An edit names what it changes, so that it can be made of what another one left, if there is anything of it.
		st, parts := best.c.State, []Edit{best.edit}
		for _, i := range list {
			if next, ok := trials[i].edit.apply(d.w, st); ok && CostOf(next).Less(CostOf(st)) {
				st, parts = next, append(parts, trials[i].edit)
			}
		}
		if len(parts) == 1 {
			return nil
		}
		return made{Together{Parts: parts, Only: true}, st}
	}
	var join func(list []int) error
	join = func(list []int) error {
		all := with(list)
		if all == nil {
			return nil
		}
		edits := []Edit{all}
		if d.grouped() && len(list) > 1 { // those that are asked if they do not go together
			for _, half := range [][]int{list[:len(list)/2], list[len(list)/2:]} {
				if e := with(half); e != nil {
					edits = append(edits, e)
				}
			}
		}
		ts, err := d.round(ctx, edits[:1], edits[1:], true)
		if err != nil {
			return err
		}
		extra = append(extra, ts...)
		if !ts[0].skip && ts[0].verdict == replay.Reproduced {
			best = ts[0]
			kept = append(kept, list...)
			return nil
		}
		if len(list) == 1 {
			return nil
		}
		if err := join(list[:len(list)/2]); err != nil {
			return err
		}
		return join(list[len(list)/2:])
	}
	if err := join(wins[1:]); err != nil {
		return err
	}
	all := append(trials, extra...)
	for i, t := range all {
		if t == best && i >= len(trials) {
			kept = append(kept, i)
		}
	}
	return d.adopt(ctx, all, kept, best)
}

// made is an edit that was made already.
type made struct {
	Together
	state State
}

func (e made) apply(*world, State) (State, bool) { return e.state, true }

// chunked tries an edit on all items, then on halves, quarters ... and at last on each. Each chunk is tried once;
// what later makes single items go is the sweep's business.
func chunked(items func(*view) []string, mk func([]string) Edit) func(context.Context, *driver) error {
	return func(ctx context.Context, d *driver) error {
		all := d.hopeful(items(&d.view), mk)
		for size := len(all); size >= 1; size /= 2 {
			if err := d.rounds(ctx, chunks(all, size, mk)); err != nil {
				return err
			}
			// What went needs no more tries.
			left := setOf(items(&d.view))
			var rest []string
			for _, x := range all {
				if left[x] {
					rest = append(rest, x)
				}
			}
			all = rest
			size = min(size, len(all)+1)
		}
		return nil
	}
}

func chunks(all []string, size int, mk func([]string) Edit) []Edit {
	var edits []Edit
	for lo := 0; lo < len(all); lo += size {
		edits = append(edits, mk(all[lo:min(lo+size, len(all))]))
	}
	return edits
}

// singles is an edit for each item alone: what the sweep tries.
func singles(items func(*view) []string, mk func([]string) Edit) func(*view) []Edit {
	return func(v *view) []Edit {
		var out []Edit
		for _, it := range items(v) {
			out = append(out, mk([]string{it}))
		}
		return out
	}
}

// few is up to how many items are tried one by one, once not all of them can go: as many questions as bisecting takes for two.
const few = 4

// needed finds the items that a failure needs: it asks whether those found so far are enough, and if not, bisects for the next, or
// tries the few that are left. k of n take k*log(n)+k questions. drop(names) is the edit that takes items away.
//
// It is the opposite of chunked: right where most items go, as settings, gradients and arguments do. chunked is right where many stay.
func needed(row string, items []string, drop func(names []string) Edit) *ask {
	if len(items) == 0 {
		return nil
	}
	return &ask{row: row, edit: drop(items), chance: 0.6, no: func() *ask { return someNeeded(row, items, nil, drop) }}
}

// someNeeded is needed where it is known that items cannot all go after those that are gone.
func someNeeded(row string, items, gone []string, drop func(names []string) Edit) *ask {
	switch {
	case len(items) < 2:
		return nil
	case len(items) <= few:
		return oneByOne(row, items, gone, drop)
	}
	with := func(more, gone []string) []string { return append(append([]string{}, more...), gone...) }
	return bisect(0, len(items), func(_, p, _ int) ask { return ask{row: row, edit: drop(with(items[p:], gone)), chance: 0.5} }, func(p int) *ask {
		rest, gone := items[:p-1], with(items[p:], gone)
		if len(rest) == 0 {
			return nil
		}
		return &ask{row: row, edit: drop(with(rest, gone)), chance: 0.6, no: func() *ask { return someNeeded(row, rest, gone, drop) }}
	})
}

// oneByOne tries each item with those that are gone already.
func oneByOne(row string, rest, gone []string, drop func(names []string) Edit) *ask {
	if len(rest) == 0 {
		return nil
	}
	with := append([]string{rest[0]}, gone...)
	return &ask{row: row, edit: drop(with), chance: 0.5, yes: func() *ask { return oneByOne(row, rest[1:], with, drop) },
		no: func() *ask { return oneByOne(row, rest[1:], gone, drop) }}
}
