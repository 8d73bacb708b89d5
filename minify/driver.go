package minify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"whittle/replay"
)

// A driver goes through a search: the first proof, the table of reductions, the last proofs. It adopts what fails and is smaller, and journals all.
// Reductions hold only their ideas.
type driver struct {
	view    // what reductions see
	planner // of what may follow, with the executor that asks
	journal
	s     *Search
	start State
	began time.Time

	read struct { // the last time that elements were
		of string // hash of the best state then
		WrittenDown
	}

	outcome    replay.Outcome // of the best state
	taken      int            // candidates adopted
	confirmed  int            // runs of the best state in fresh processes that failed
	complete   bool           // 1-minimal, and proved
	workaround []Setting
	stopped    string // why it ended early
	partial    error  // not all values of the start are known
	resumed    bool
}

func newDriver(s *Search, start State) *driver {
	know := &insight{want: s.Want, hinted: s.Suspects, anyWrong: s.AnyWrong, sizes: boundSizes(start), check: s.Check, needed: map[string]bool{}, edges: map[string]bool{}, lost: map[string]bool{}, kept: map[string]kept{}, off: map[string]bool{}}
	d := &driver{s: s, start: start, view: view{cur: start, w: newWorld(s.Values), atOnce: s.Round, insight: know},
		planner: planner{executor: newExecutor(s, know), queues: map[queueKey]*queue{}}, journal: journal{s: s, found: map[replay.Signature]bool{}, timeouts: map[string]int{}}}
	if d.atOnce == 0 {
		d.atOnce = 8
	}
	know.together = d.shares
	d.landing, d.few = d.progress, CostOf(start).Calls <= fewCalls
	d.began = d.now()
	return d
}

// errDeadline ends the reductions when the time is up.
var errDeadline = errors.New("minify: the time is up")

// errRowOff ends one reduction.
var errRowOff = errors.New("minify: the reduction is switched off")

// run is the whole search: the first proof, the world, the table, the last proofs.
func (d *driver) run(ctx context.Context) error {
	key := d.h.key(d.start, d.s.Fingerprint)
	if d.s.Store != nil {
		id := replay.HashOf(key.Graph, key.Inputs, key.Config, key.Fingerprint, d.want.String(), fmt.Sprint(d.atOnce))
		var err error
		if d.id, d.resumed, err = d.s.Store.BeginMinification(ctx, id, d.s.render(d.start), d.want); err != nil {
			return err
		}
	}
	if d.s.Resume {
		if err := d.mustResume(ctx); err != nil {
			return err
		}
	}
	d.row, d.proving = "start", true // whatever the deadline says: without a start that fails there is no result
	if err := d.fail(ctx); err != nil {
		return err
	}
	d.proving = false
	d.message = d.outcome.Message + " " + d.outcome.Detail + " " + strings.Join(d.outcome.Region, " ")
	d.suspects = d.outcome.Suspects
	d.event(Event{Kind: EventStart, Outcome: d.outcome, ID: d.id, Resumed: d.resumed})
	for again := true; again; {
		err := d.reduce(ctx)
		if errors.Is(err, errDeadline) {
			d.stopped = "deadline"
		} else if err != nil {
			return err
		}
		d.proving = true
		if again, err = d.doubtShort(ctx); err == nil && !again {
			again, err = d.confirm(ctx)
		}
		if err != nil {
			return err
		}
		d.proving = again
		again = again && d.stopped == ""
	}
	if err := d.reduceFindings(ctx); err != nil {
		return err
	}
	d.complete = d.stopped == ""
	d.event(Event{Kind: EventDone, Outcome: d.outcome})
	if d.s.Store == nil || !d.complete || d.id == 0 {
		return nil
	}
	return d.s.Store.FinishMinification(ctx, d.id, d.s.render(d.cur), certificateText(d.certificate))
}

// mustResume refuses a search that is new, or that ended.
func (d *driver) mustResume(ctx context.Context) error {
	if d.s.Store == nil || !d.resumed {
		return ErrNothingToResume
	}
	m, err := d.s.Store.Minification(ctx, d.id)
	if err == nil && m.Finished {
		err = ErrNothingToResume
	}
	return err
}

// reduce goes through the table.
func (d *driver) reduce(ctx context.Context) error {
	for _, r := range reductions {
		if d.s.without[r.name] {
			continue
		}
		d.row = r.name
		d.progress()
		if err := d.learn(ctx, r.needs); err != nil {
			return err
		}
		if err := r.run(ctx, d); err != nil && !errors.Is(err, errRowOff) {
			return err
		}
	}
	return nil
}

// fail asks whether the start fails, and learns the signature if none was given. A start that passes is run again
// a few times: a failure that comes and goes is flaky.
func (d *driver) fail(ctx context.Context) error {
	c := Candidate{State: d.start, Reduction: "start", Edit: "the start"}
	var o replay.Outcome
	var last replay.Step
	for ; c.Attempt <= startTries; c.Attempt++ {
		t := d.question(c)
		want, err := d.headStart(ctx, t)
		if err != nil {
			return err
		}
		err = d.await(ctx, want)
		d.meanwhile = nil
		if err == nil {
			err = d.learn(ctx, values) // what the meantime was for, unless the answer was there
		}
		if err != nil {
			return err
		}
		o = t.outcome
		if d.want.IsZero() && o.Status != replay.Pass && o.Status != replay.Invalid && o.Status != replay.Infrastructure {
			if d.want = o.Signature; !d.s.Seen.Alike(o.Signature) {
				d.want = d.s.Seen
			}
		}
		v := replay.Judge(o, d.want)
		if v == replay.Reproduced && d.want.Frame == "" {
			d.want.Frame = o.Signature.Frame // the search stays with the failure in this place
		}
		hash := hashOf(d.h.key(d.start, d.s.Fingerprint))
		last = replay.Step{Reduction: "start", Candidate: hash, Edit: c.Edit, Verdict: v, Cached: t.cached, Taken: v == replay.Reproduced, Duration: cmp.Or(o.Duration, t.took), Calls: CostOf(c.State).Calls}
		if err := d.step(ctx, last, nil); err != nil {
			return err
		}
		if v == replay.Reproduced {
			d.reached(o)
			if c.Attempt > 0 {
				return d.measure(ctx)
			}
			d.stopAt(o.Before)
			return nil
		}
		if o.Status != replay.Pass || d.s.Once {
			break
		}
	}
	not := &NotFailingError{Outcome: o, Want: d.want, Runs: min(c.Attempt, startTries) + 1}
	last.Reduction, last.Edit = replay.EndNotFailing, not.Error()
	if err := d.step(ctx, last, nil); err != nil {
		return err
	}
	return not
}

// manyWorkers is from how many on the idle ones get large states to run, while nothing is known yet.
const manyWorkers = 4

// light is up to how many calls a start is asked about together with what may follow it.
const light = 32

// ahead is how many questions for each worker are prepared while there is nothing to do but to wait.
const ahead = 3

// headStart adds what localise will ask to the question about the start, where there is room for it; where not, the values of all calls are learnt
// while the start runs. A start that passed is run again on all workers.
func (d *driver) headStart(ctx context.Context, t *trial) ([]*trial, error) {
	if t.c.Attempt > 0 {
		want := []*trial{t}
		for c := t.c; c.Attempt < startTries; {
			c.Attempt++
			want = append(want, d.question(c))
		}
		return want, nil
	}
	if d.width() < manyWorkers || d.grouped() && t.cost.Calls > light {
		d.meanwhile = func() error { return d.learn(ctx, values) }
		return []*trial{t}, nil
	}
	if err := d.learn(ctx, values); err != nil {
		return nil, err
	}
	first := d.place(&d.view)
	if first == nil {
		return []*trial{t}, nil
	}
	// Half of them look for one call at fault, half for what comes if there is none.
	want, err := d.foresee(ctx, &d.view, d.cur, first, nil, d.width()/2)
	if err != nil {
		return nil, err
	}
	tree, seen := first, (*past)(nil)
	for tree != nil && tree.row == "" {
		seen, tree = seen.and(tree, false), tree.then(false)
	}
	if tree != nil {
		more, err := d.foresee(ctx, &d.view, d.cur, tree, seen, d.width()-len(want))
		if err != nil {
			return nil, err
		}
		want = d.join(want, more)
		d.meanwhile = func() error {
			_, err := d.foresee(ctx, &d.view, d.cur, tree, seen, ahead*d.width())
			return err
		}
	}
	return append([]*trial{t}, want...), nil
}

// reached notes how the best state fails.
func (d *driver) reached(o replay.Outcome) { d.outcome, d.outputs = o, o.Outputs }

// adopt journals trials and makes the winner, best, the current state. kept are the numbers of the trials that went into it: best, and those whose
// edits it joins.
func (d *driver) adopt(ctx context.Context, trials []*trial, kept []int, best *trial) error {
	took := map[int]bool{}
	for _, i := range kept {
		took[i] = true
	}
	if err := d.note(ctx, trials, took); err != nil && !errors.Is(err, errRowOff) {
		return err
	}
	before := CostOf(d.cur)
	d.cur = best.c.State
	d.few = CostOf(d.cur).Calls <= fewCalls
	d.changed(d.rowOf(best))
	d.reached(best.outcome)
	if reshapes(best.edit) {
		d.w.outdated = true
	}
	for k := range d.queues {
		if k.of != d.cur.Module {
			delete(d.queues, k)
		}
	}
	d.taken++
	d.event(Event{Kind: EventTaken, Edit: best.c.Edit, Before: before, Outcome: best.outcome})
	d.progress()
	return nil
}

// rowOf is the row whose edit a trial is about: in the sweep, one of the others.
func (d *driver) rowOf(t *trial) string { return cmp.Or(d.certify, t.c.Reduction, d.row) }

// rowTimeouts bounds what a row may cost whose candidates hang, as a size that a loop waits for can make them. It is how many candidates of one reduction may hang before it is switched off, where no hang is looked for.
const rowTimeouts = 20

// note journals trials. It ends a reduction of too many hangs.
func (d *driver) note(ctx context.Context, trials []*trial, took map[int]bool) error {
	for i, t := range trials {
		if t.skip {
			continue
		}
		row := t.c.Reduction
		if row == "" {
			row = d.row
		}
		if !took[i] {
			d.keep(d.rowOf(t), t)
		}
		switch t.verdict {
		case replay.VerdictUntestable:
			d.rejected++
		case replay.Different, replay.VerdictOOM, replay.VerdictKilled:
			if err := d.finding(ctx, t); err != nil {
				return err
			}
		case replay.VerdictTimeout:
			d.timeouts[row]++
			d.off[row] = d.off[row] || d.timeouts[row] >= rowTimeouts
		}
		d.conclude(t)
		if d.certify != "" {
			d.certificate = append(d.certificate, Trial{Reduction: d.certify, Edit: t.c.Edit, Verdict: t.verdict})
			d.noteShort(t)
		}
		if err := d.step(ctx, replay.Step{Parent: t.parent, Reduction: row, Candidate: t.c.Hash, Edit: t.c.Edit, Verdict: t.verdict, Cached: t.cached, Taken: took[i], Duration: t.took, Calls: CostOf(t.c.State).Calls}, t.edit); err != nil {
			return err
		}
	}
	if d.off[d.row] {
		return errRowOff
	}
	return nil
}

// reduceFindings gives each other failure a small repro of its own, within a budget of questions for all of them.
func (d *driver) reduceFindings(ctx context.Context) error {
	if d.s.FindingQueries <= 0 {
		return nil
	}
	left := d.s.FindingQueries
	for i := range d.findings {
		f := &d.findings[i]
		if left > 0 && d.stopped == "" {
			s := *d.s
			s.Want, s.Seen, s.MaxQueries, s.FindingQueries, s.Confirm = f.Outcome.Signature, replay.Signature{}, left, 0, 0
			s.Event, s.Progress, s.Suspects, s.Workarounds = nil, nil, nil, nil
			sub := newDriver(&s, f.State)
			sub.w.base = fmt.Sprintf("f%d/", i)
			sub.known = d.known
			sub.id = -1
			err := sub.small(ctx)
			sub.close()
			d.queries.Add(sub.queries.Load())
			d.used += sub.used
			d.ran += sub.ran
			left -= sub.used
			if ctx.Err() != nil {
				return ctx.Err()
			}
			var nf *NotFailingError
			if err != nil && !errors.Is(err, ErrBudget) && !errors.Is(err, errDeadline) && !errors.As(err, &nf) {
				return err
			}
			f.State = sub.cur
			if sub.outcome.Status != "" {
				f.Outcome = sub.outcome
			}
		}
		if err := d.putFinding(ctx, *f); err != nil {
			return err
		}
	}
	return nil
}

// small is run without journal, measurement and proof.
func (d *driver) small(ctx context.Context) error {
	d.row, d.id = "start", 0
	if err := d.fail(ctx); err != nil {
		return err
	}
	d.message = d.outcome.Message + " " + d.outcome.Detail + " " + strings.Join(d.outcome.Region, " ")
	d.suspects = d.outcome.Suspects
	return d.reduce(ctx)
}

func (d *driver) progress() {
	if d.s.Progress != nil {
		d.s.Progress(Progress{Reduction: d.row, Nodes: CostOf(d.cur).Calls, Queries: d.used, CacheHits: d.hits, Elapsed: d.now().Sub(d.began)})
	}
}

func (d *driver) event(e Event) {
	if d.s.Event == nil {
		return
	}
	e.Reduction, e.Cost, e.Used, e.Elapsed, e.Hash = d.row, CostOf(d.cur), d.used, d.now().Sub(d.began), d.hash(d.cur)
	if e.Kind != EventTaken {
		e.Before = e.Cost
	}
	d.s.Event(e)
}

func (d *driver) result() Result {
	r := Result{State: d.cur, Start: CostOf(d.start), Cost: CostOf(d.cur), Signature: d.want, Outcome: d.outcome, Complete: d.complete, Confirmed: d.confirmed,
		Queries: d.used, Candidates: d.ran, Ahead: int(d.queries.Load()) - d.ran, CacheHits: d.hits, Rejected: d.rejected, Steps: d.steps, Certificate: d.certificate, Findings: d.findings, ID: d.id, Resumed: d.resumed,
		Workaround: d.workaround, Stopped: d.stopped, Partial: d.partial, Rate: d.measured.rate(), Runs: d.measured.runs, FalseRate: d.measured.falseRate(), FalseRuns: d.measured.falseRuns}
	for _, row := range reductions {
		if d.off[row.name] {
			r.Off = append(r.Off, row.name)
		}
	}
	return r
}

func (d *driver) finding(ctx context.Context, t *trial) error {
	sig := t.outcome.Signature
	if d.found[sig] || sig.IsZero() {
		return nil
	}
	d.found[sig] = true
	d.findings = append(d.findings, Finding{State: t.c.State, Outcome: t.outcome})
	d.event(Event{Kind: EventFinding, Edit: t.c.Edit, Outcome: t.outcome})
	if d.s.FindingQueries > 0 {
		return nil // stored when it is small
	}
	return d.putFinding(ctx, d.findings[len(d.findings)-1])
}
