package minify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sourcegraph/conc/panics"

	"whittle/replay"
)

// trial is one candidate and what became of it.
type trial struct {
	edit    Edit
	c       Candidate
	parent  string // identity of the state that was edited
	key     replay.QueryKey
	cost    Cost
	verdict replay.Verdict
	outcome replay.Outcome
	cached  bool
	settled bool // verdict and outcome are set
	took    time.Duration
	skip    bool // the edit did not apply, or makes nothing smaller
}

// answer is what is known of a query. Questions that were asked ahead of their time, and so depend on the number of workers,
// are not used until their turn comes.
type answer struct {
	outcome replay.Outcome
	took    time.Duration
	asked   int  // questions to the oracle that it took
	stored  bool // by an earlier search
	used    bool
}

// flight is a query under way.
type flight struct {
	key     string
	stop    context.CancelFunc
	stopped bool
	a       answer
	err     error
}

// prepare applies an edit to base and checks the result; it asks nothing.
func (d *driver) prepare(ctx context.Context, v *view, base State, e Edit) (*trial, error) {
	t := &trial{edit: e, parent: d.hash(base)}
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
	t.key = d.h.key(st, d.s.Fingerprint)
	t.c = Candidate{State: st, Reduction: v.row, Edit: e.String(), Hash: hashOf(t.key)}
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

// mark makes a key that of the same query in a fresh process, or of a repeated run.
func (d *driver) mark(k replay.QueryKey, c Candidate) replay.QueryKey {
	if c.Fresh {
		k.Config = replay.HashOf(k.Config, "fresh")
	}
	if c.Attempt > 0 {
		k.Config = replay.HashOf(k.Config, fmt.Sprintf("attempt %d", c.Attempt))
	}
	return k
}

func keyText(k replay.QueryKey) string {
	return replay.HashOf(k.Graph, k.Inputs, k.Config, k.Fingerprint)
}

// name is under what a trial's answer is remembered: in a flaky search an answer stands for many runs.
func (d *driver) name(t *trial) string {
	if d.flaky != nil && !t.c.Fresh && t.c.Attempt == 0 {
		return fmt.Sprintf("%s sampled %d", keyText(t.key), d.flaky.round)
	}
	return keyText(t.key)
}

// peek finds the answer to a trial if it is there, in memory or in the store.
func (d *driver) peek(ctx context.Context, t *trial) (*answer, error) {
	name := d.name(t)
	if a, ok := d.known[name]; ok {
		return a, nil
	}
	if d.s.Store == nil || d.looked[name] || d.flaky != nil && !t.c.Fresh && t.c.Attempt == 0 {
		return nil, nil
	}
	d.looked[name] = true
	o, hit, err := d.s.Store.CachedOutcome(ctx, t.key)
	if err != nil || !hit {
		return nil, err
	}
	a := &answer{outcome: o, stored: true}
	d.known[name] = a
	return a, nil
}

// await returns when the first of the trials is settled. Idle workers meanwhile work on the others, first ones
// first; what is under way and not among them is cancelled.
func (d *driver) await(ctx context.Context, want []*trial) error {
	t := want[0]
	for !t.settled && !t.skip {
		a, err := d.peek(ctx, t)
		if err != nil {
			return err
		}
		if a != nil {
			d.use(t, a)
			return nil
		}
		if err := d.budget(); err != nil {
			return err
		}
		if err := d.keepBusy(ctx, want); err != nil {
			return err
		}
		if next := d.meanwhile; next != nil && d.busy() {
			d.meanwhile = nil
			if err := next(); err != nil {
				return err
			}
		}
		var f *flight
		select {
		case f = <-d.landed:
		case <-ctx.Done():
			return ctx.Err()
		}
		for f != nil { // what comes in with it, before new questions go out
			if err := d.land(f); err != nil {
				return err
			}
			select {
			case f = <-d.landed:
			case <-time.After(f.a.took / together):
				f = nil
			}
		}
	}
	return nil
}

// busy reports whether all that is under way is waited for: nothing is to be launched before something lands.
func (d *driver) busy() bool {
	for _, f := range d.flights {
		if f.stopped {
			return false
		}
	}
	return len(d.landed) == 0
}

// together is how many times less than an answer took is waited for others that come at the same time: questions that go out before
// they are known are often asked in vain.
const together = 200

// use settles a trial by an answer.
func (d *driver) use(t *trial, a *answer) {
	t.outcome, t.took, t.cached, t.settled = a.outcome, a.took, a.used || a.stored, true
	t.verdict = replay.Judge(a.outcome, d.want)
	if t.cached {
		d.hits++
	} else {
		d.used += a.asked
	}
	a.used = true
}

func (d *driver) keepBusy(ctx context.Context, want []*trial) error {
	names := map[string]bool{}
	for _, t := range want {
		if !t.skip && !t.settled {
			names[d.name(t)] = true
		}
	}
	for _, f := range d.flights {
		if !names[f.key] && !f.stopped {
			f.stopped = true
			f.stop()
		}
	}
	for _, t := range want {
		if len(d.flights) >= max(1, d.s.Workers) {
			return nil
		}
		if t.skip || t.settled || d.flights[d.name(t)] != nil {
			continue
		}
		a, err := d.peek(ctx, t)
		if err != nil {
			return err
		}
		if a == nil {
			d.launch(ctx, t)
		}
	}
	return nil
}

// launch starts a query. Its answer is in the store when it lands.
func (d *driver) launch(ctx context.Context, t *trial) {
	fctx, stop := context.WithCancel(ctx)
	f := &flight{key: d.name(t), stop: stop}
	d.flights[f.key] = f
	c, key, flaky := t.c, t.key, d.flaky
	d.workers.Go(func() {
		defer stop()
		if r := panics.Try(func() {
			begin := d.now()
			if flaky != nil && !c.Fresh && c.Attempt == 0 {
				f.a, f.err = d.sample(fctx, c, key, flaky)
			} else {
				f.a.outcome, f.a.asked, f.err = d.oracle(fctx, c)
				if f.err == nil {
					f.err = d.remember(ctx, key, f.a.outcome)
				}
			}
			f.a.took = d.now().Sub(begin)
		}); r != nil {
			f.err = fmt.Errorf("minify: the oracle panicked: %w", r.AsError())
		}
		d.landed <- f
	})
}

// land takes in what a flight brings.
func (d *driver) land(f *flight) error {
	delete(d.flights, f.key)
	if f.err != nil {
		if f.stopped {
			return nil // nobody waits for it
		}
		return f.err
	}
	d.known[f.key] = &f.a
	d.sampled.Store(f.key, f.a.outcome)
	d.progress()
	return nil
}

// oracle asks, once more after a fault of the infrastructure. The error is ctx's, or one of the machine, under which no question has an
// answer.
func (d *driver) oracle(ctx context.Context, c Candidate) (o replay.Outcome, asked int, err error) {
	for try := 0; ; try++ {
		d.queries.Add(1)
		o, err := d.s.Oracle.Run(ctx, c)
		if ctx.Err() != nil {
			return o, try + 1, ctx.Err()
		}
		var machine *replay.MachineError
		if errors.As(err, &machine) {
			return o, try + 1, err
		}
		if err != nil {
			o = replay.Outcome{Status: replay.Infrastructure, Message: err.Error()}
		}
		if o.Status != replay.Infrastructure || try == 1 {
			return o, try + 1, nil
		}
	}
}

func (d *driver) remember(ctx context.Context, k replay.QueryKey, o replay.Outcome) error {
	if d.s.Store == nil {
		return nil
	}
	return d.s.Store.PutOutcome(ctx, k, o)
}

// question is the trial of a state as it is.
func (d *driver) question(c Candidate) *trial {
	k := d.h.key(c.State, d.s.Fingerprint)
	c.Hash = hashOf(k)
	return &trial{c: c, parent: c.Hash, key: d.mark(k, c), cost: CostOf(c.State)}
}

// budget reports whether more questions may be asked. Only questions that are used count, so that the answer does
// not depend on the number of workers.
func (d *driver) budget() error {
	if d.s.MaxQueries > 0 && d.used >= d.s.MaxQueries {
		return ErrBudget
	}
	if !d.s.Deadline.IsZero() && !d.proving && d.now().After(d.s.Deadline) {
		return errDeadline
	}
	return nil
}
