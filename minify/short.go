package minify

import (
	"context"
	"slices"

	"whittle/replay"
)

// Short runs. Where the start fails before a step of the compiler that costs much (replay.Outcome.Before), a candidate that comes to that step has got
// through what is looked for. It is stopped there (Candidate.Until), and counts as passing.
//
// That is a guess: the same failure may come later in a candidate that lacks what made it come early. A result that fails does so for sure; what a
// wrong guess hides is that it could be smaller. So of each call that the certificate says is needed, one candidate without it runs to its end when
// the search is done. When its answer differs, or the failure turns out to be flaky, nothing is stopped any more, and what was is asked again where the search
// comes to it: the key of a short run is its own.

// noteShort keeps the first of the certificate's candidates without a call that was stopped.
func (d *driver) noteShort(t *trial) {
	call := takesAway(t.edit)
	if t.verdict != replay.Passed || t.outcome.Before == "" || call == "" || slices.ContainsFunc(d.short, func(o *trial) bool { return takesAway(o.edit) == call }) {
		return
	}
	d.short = append(d.short, t)
}

// doubtShort runs the candidates of noteShort to their ends. again is set where one of them fails: then the search goes on without stopping any. Where
// the time is up it asks nothing. Idle workers begin with the proof.
func (d *driver) doubtShort(ctx context.Context) (again bool, err error) {
	if d.until == "" || d.stopped != "" {
		return false, nil
	}
	var ts []*trial
	for _, t := range d.short {
		c := t.c
		c.Until = ""
		ts = append(ts, d.question(c))
	}
	d.row = "whole"
	ahead := append(slices.Clone(ts), d.question(d.proof(d.cur, 0)))
	for i, t := range ts {
		if err := d.await(ctx, ahead[i:]); err != nil {
			return false, err
		}
		step := replay.Step{Parent: t.parent, Reduction: d.row, Candidate: t.c.Hash, Edit: t.c.Edit, Verdict: t.verdict, Cached: t.cached, Duration: t.took, Calls: CostOf(t.c.State).Calls}
		if err := d.step(ctx, step, nil); err != nil {
			return false, err
		}
		if t.verdict == replay.Reproduced {
			d.full()
			return true, nil
		}
	}
	return false, nil
}

// stopAt has candidates stopped at a step from now on. What was prepared was prepared for another one, and is asked anew.
func (pl *planner) stopAt(step string) {
	if pl.until == step {
		return
	}
	pl.until, pl.windows = step, windows{}
	clear(pl.queues)
}

// full has all later candidates run to their ends, and forgets what was concluded from those that were stopped.
func (d *driver) full() {
	if d.until == "" {
		return
	}
	d.stopAt("")
	clear(d.lost)
	clear(d.kept)
	clear(d.needed)
	clear(d.edges)
}
