package minify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/conc"
	"github.com/sourcegraph/conc/panics"

	"whittle/replay"
)

// An executor gets questions answered: it owns the cache of answers, what is under way, and the workers.
//
// What holds, whatever the number of workers:
//   - An answer is in the store before it is known, and known before it is used.
//   - Answers are used by await alone, one question at a time and in the order in which the search asks them. One that came ahead of its time
//     waits in known until its question's turn comes, and counts only then. So what a search concludes, and what it counts, does not
//     depend on how many workers there are, nor on who was faster.
//   - An answer says how its candidate ended because the engine proved it (see repros/engine): reproduced means that this candidate, with these
//     inputs, failed in the way that is looked for; passed, that it went through all stages. All else says nothing about the failure.
//   - In a search for a failure that comes and goes an answer stands for as many runs as its odds took (sample).
//
// Where the oracle takes small candidates together for little more than the price of one (Search.Together), a question is asked with those that are
// likely to follow it, and the search goes on when all are answered. Then what is asked together depends on the
// search alone, too; unless one of them takes far longer than the others and is left behind (company), which changes counts, and no result.
type executor struct {
	*insight // of which it needs what is looked for
	s        *Search
	h        hasher
	landing  func()     // called when an answer came
	few      bool       // the best state has few calls
	until    string     // step at which candidates are stopped, as the failure that is looked for comes before it: see short.go
	proving  bool       // the deadline no longer counts
	flaky    *flakiness // nil => every run of a state is taken to give the same
	measured flakiness

	known     map[string]*answer
	looked    map[string]bool // in the store
	flights   map[string]*flight
	meanwhile func() error // done once when there is nothing to do but to wait
	landed    chan *flight
	workers   conc.WaitGroup
	sampled   sync.Map     // outcomes of single runs in a flaky search, by query
	queries   atomic.Int64 // asked of the oracle
	used      int          // questions whose answers were used
	ran       int          // candidates whose outcomes were
	hits      int          // answers that were there already
}

func newExecutor(s *Search, know *insight) *executor {
	return &executor{insight: know, s: s, landing: func() {}, known: map[string]*answer{}, looked: map[string]bool{}, flights: map[string]*flight{}, landed: make(chan *flight, max(widest, s.Workers))}
}

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
	with    *together
}

// together are candidates that went out as one question.
type together struct{ used bool }

// flight is a query under way.
type flight struct {
	key     string
	stop    context.CancelFunc
	stopped bool
	late    bool // those that it went out with were answered long ago
	a       answer
	err     error
}

// mark tells the key of a query apart from that of the same query in a fresh process, of its repeated runs, or of its run to the end: their answers are
// kept under keys of their own.
func (x *executor) mark(k replay.QueryKey, c Candidate) replay.QueryKey {
	if c.Fresh {
		k.Config = replay.HashOf(k.Config, "fresh")
	}
	if c.Attempt > 0 {
		k.Config = replay.HashOf(k.Config, fmt.Sprintf("attempt %d", c.Attempt))
	}
	if c.Until != "" {
		k.Config = replay.HashOf(k.Config, "until "+c.Until)
	}
	return k
}

func keyText(k replay.QueryKey) string {
	return replay.HashOf(k.Graph, k.Inputs, k.Config, k.Fingerprint)
}

// name is under what a trial's answer is remembered: in a flaky search an answer stands for many runs.
func (x *executor) name(t *trial) string {
	if x.flaky != nil && !t.c.Fresh && t.c.Attempt == 0 {
		return fmt.Sprintf("%s sampled %d", keyText(t.key), x.flaky.round)
	}
	return keyText(t.key)
}

// peek finds the answer to a trial if it is there, in memory or in the store.
func (x *executor) peek(ctx context.Context, t *trial) (*answer, error) {
	name := x.name(t)
	if a, ok := x.known[name]; ok {
		return a, nil
	}
	if x.s.Store == nil || x.looked[name] || x.flaky != nil && !t.c.Fresh && t.c.Attempt == 0 {
		return nil, nil
	}
	x.looked[name] = true
	o, hit, err := x.s.Store.CachedOutcome(ctx, t.key)
	if err != nil || !hit {
		return nil, err
	}
	a := &answer{outcome: o, stored: true}
	x.known[name] = a
	return a, nil
}

// await returns when the first of the trials is settled. Idle workers meanwhile work on the others, first ones
// first; what is under way and not among them is cancelled. It is the one place where a search waits, and the one where an answer is used.
func (x *executor) await(ctx context.Context, want []*trial) error {
	t := want[0]
	for !t.settled && !t.skip {
		// The answer may be there: from an earlier search, or as it was asked ahead of its time.
		a, err := x.peek(ctx, t)
		if err != nil {
			return err
		}
		if a != nil {
			if err := x.company(ctx, a.took); err != nil {
				return err
			}
			x.use(t, a)
			return nil
		}
		if err := x.budget(); err != nil {
			return err
		}
		if err := x.keepBusy(ctx, want); err != nil {
			return err
		}
		if next := x.meanwhile; next != nil && x.busy() {
			x.meanwhile = nil
			if err := next(); err != nil {
				return err
			}
		}
		var f *flight
		select {
		case f = <-x.landed:
		case <-ctx.Done():
			return ctx.Err()
		}
		for f != nil { // what comes in with it, before new questions go out
			if err := x.land(f); err != nil {
				return err
			}
			select {
			case f = <-x.landed:
			case <-time.After(f.a.took / soon):
				f = nil
			}
		}
	}
	return nil
}

// company waits for what was asked together with an answer that took so long. Only who takes far longer is left behind.
func (x *executor) company(ctx context.Context, took time.Duration) error {
	if !x.grouped() {
		return nil
	}
	over := time.After(took + leftBehind)
	for {
		waiting := false
		for _, f := range x.flights {
			waiting = waiting || !f.stopped && !f.late
		}
		if !waiting {
			return nil
		}
		select {
		case f := <-x.landed:
			if err := x.land(f); err != nil {
				return err
			}
		case <-over:
			for _, f := range x.flights {
				f.late = true
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leftBehind is how much more than twice the time of a question's own candidate those may take that were asked with it.
const leftBehind = time.Second

// grouped reports whether candidates are asked together.
func (x *executor) grouped() bool {
	return x.s.Together != nil && x.flaky == nil && !slow(x.want.Type) && x.s.Together(x.want) > 1
}

// width is how many questions are to be prepared at a time.
func (x *executor) width() int {
	if x.grouped() {
		n := x.s.Together(x.want)
		if x.shares() {
			n *= 2 // where a process costs more than what it compiles
		}
		return min(n, widest)
	}
	return x.s.Workers
}

// shares reports whether small candidates cost less together than each by itself: those that are stopped before they are compiled do not.
func (x *executor) shares() bool { return x.grouped() && x.until == "" }

// widest bounds the candidates that are asked together.
const widest = 32

// worth is from what chance on a question is asked with others, ahead of its time: what a small candidate adds is a fifth of what a question of
// its own takes.
func (x *executor) worth(calls int) float64 {
	switch {
	case !x.grouped():
		return 0
	case calls <= fewCalls && x.shares():
		return 0.15
	}
	return 0.4
}

// crowd bounds the calls of candidates that are asked together, the first and more runs of it aside: what large ones cost is not shared.
const crowd = 96

// busy reports whether all that is under way is waited for: nothing is to be launched before something lands.
func (x *executor) busy() bool {
	for _, f := range x.flights {
		if f.stopped {
			return false
		}
	}
	return len(x.landed) == 0
}

// soon is how many times less than an answer took is waited for others that come at the same time: questions that go out before
// they are known are often asked in vain.
const soon = 200

// use settles a trial by an answer.
func (x *executor) use(t *trial, a *answer) {
	t.outcome, t.took, t.cached, t.settled = a.outcome, a.took, a.used || a.stored, true
	t.verdict = replay.Judge(a.outcome, x.want)
	if t.cached {
		x.hits++
	} else {
		x.ran += a.asked
		if a.with == nil || !a.with.used {
			x.used += a.asked
		}
		if a.with != nil {
			a.with.used = true
		}
	}
	a.used = true
}

func (x *executor) keepBusy(ctx context.Context, want []*trial) error {
	names := map[string]bool{}
	for _, t := range want {
		if !t.skip && !t.settled {
			names[x.name(t)] = true
		}
	}
	for _, f := range x.flights {
		if !names[f.key] && !f.stopped {
			f.stopped = true
			f.stop()
		}
	}
	var with *together
	if x.grouped() {
		if x.flights[x.name(want[0])] != nil {
			return nil // the question is out
		}
		with = &together{}
	}
	calls := 0
	for i, t := range want {
		if len(x.flights) >= max(1, x.width()) {
			return nil
		}
		if t.skip || t.settled || x.flights[x.name(t)] != nil {
			continue
		}
		a, err := x.peek(ctx, t)
		if err != nil {
			return err
		}
		if a != nil {
			continue
		}
		if i > 0 && with != nil && t.c.Attempt == 0 && calls+t.cost.Calls > crowd {
			continue // a smaller one may follow
		}
		calls += t.cost.Calls
		x.launch(ctx, t, with)
	}
	return nil
}

// launch starts a query. Its answer is in the store when it lands.
func (x *executor) launch(ctx context.Context, t *trial, with *together) {
	fctx, stop := context.WithCancel(ctx)
	f := &flight{key: x.name(t), stop: stop, a: answer{with: with}}
	x.flights[f.key] = f
	c, key, flaky := t.c, t.key, x.flaky
	x.workers.Go(func() {
		defer stop()
		if r := panics.Try(func() {
			begin := x.now()
			if flaky != nil && !c.Fresh && c.Attempt == 0 {
				f.a, f.err = x.sample(fctx, c, key, flaky)
			} else {
				f.a.outcome, f.a.asked, f.err = x.oracle(fctx, c)
				if f.err == nil {
					f.err = x.remember(ctx, key, f.a.outcome)
				}
			}
			f.a.took = x.now().Sub(begin)
		}); r != nil {
			f.err = fmt.Errorf("minify: the oracle panicked: %w", r.AsError())
		}
		x.landed <- f
	})
}

// land takes in what a flight brings.
func (x *executor) land(f *flight) error {
	delete(x.flights, f.key)
	if f.err != nil {
		if f.stopped {
			return nil // nobody waits for it
		}
		return f.err
	}
	x.known[f.key] = &f.a
	x.sampled.Store(f.key, f.a.outcome)
	x.landing()
	return nil
}

// oracle asks, once more after a fault of the infrastructure. The error is ctx's, or one of the machine, under which no question has an
// answer.
func (x *executor) oracle(ctx context.Context, c Candidate) (o replay.Outcome, asked int, err error) {
	for try := 0; ; try++ {
		x.queries.Add(1)
		o, err := x.s.Oracle.Run(ctx, c)
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

func (x *executor) remember(ctx context.Context, k replay.QueryKey, o replay.Outcome) error {
	if x.s.Store == nil {
		return nil
	}
	return x.s.Store.PutOutcome(ctx, k, o)
}

// question is the trial of a state as it is.
func (x *executor) question(c Candidate) *trial {
	k := x.h.key(c.State, x.s.Fingerprint)
	c.Hash = hashOf(k)
	return &trial{c: c, parent: c.Hash, key: x.mark(k, c), cost: CostOf(c.State)}
}

// budget reports whether more questions may be asked. Only questions that are used count, so that the answer does
// not depend on the number of workers.
func (x *executor) budget() error {
	if x.s.MaxQueries > 0 && x.used >= x.s.MaxQueries {
		return ErrBudget
	}
	if !x.s.Deadline.IsZero() && !x.proving && x.now().After(x.s.Deadline) {
		return errDeadline
	}
	return nil
}

// sample runs a candidate until the odds say whether it has the failure (flaky.go). Each run is a query of its own in the store, so that a search
// which is resumed counts the same runs. It is called on workers.
func (x *executor) sample(ctx context.Context, c Candidate, key replay.QueryKey, f *flakiness) (answer, error) {
	a := answer{outcome: replay.Outcome{Status: replay.Pass}}
	fail, pass := f.odds()
	odds, limit := 0.0, math.Log(1/doubt)
	for c.Attempt = 0; c.Attempt < maxRuns && odds > -limit; c.Attempt++ {
		k := x.mark(key, c)
		var o replay.Outcome
		if prior, ok := x.sampled.Load(keyText(k)); ok {
			o = prior.(replay.Outcome)
		} else {
			hit := false
			var err error
			if x.s.Store != nil {
				if o, hit, err = x.s.Store.CachedOutcome(ctx, k); err != nil {
					return a, err
				}
			}
			if !hit {
				asked := 0
				if o, asked, err = x.oracle(ctx, c); err != nil {
					return a, err
				}
				a.asked += asked
				if err := x.remember(ctx, k, o); err != nil {
					return a, err
				}
			}
			x.sampled.Store(keyText(k), o)
		}
		switch replay.Judge(o, x.want) {
		case replay.Reproduced:
			if odds += fail; odds >= limit {
				a.outcome = o
				return a, nil
			}
		case replay.VerdictInvalid:
			a.outcome = o
			return a, nil
		default:
			odds += pass
		}
	}
	return a, nil
}

// doubtful reports whether the result is run again to see whether its failure comes every time.
func (x *executor) doubtful() bool {
	return x.flaky == nil && !slow(x.want.Type) && (x.s.Steady == nil || !x.s.Steady(x.want))
}

// rerun is the question whether a state, taken to be the result, fails again.
func (x *executor) rerun(s State, i int) *trial {
	return x.question(Candidate{State: s, Reduction: "measure", Edit: "the result again", Attempt: i})
}

// proof is the candidate of one run in a fresh process: another one after each measurement.
func (x *executor) proof(s State, i int) Candidate {
	return Candidate{State: s, Reduction: "confirm", Edit: "the result, in a fresh process", Fresh: true, Attempt: x.measured.round*maxRuns + i}
}

// close ends what is still under way.
func (x *executor) close() {
	for _, f := range x.flights {
		f.stopped = true
		f.stop()
	}
	x.workers.Wait()
}

func (x *executor) now() time.Time {
	if x.s.Now != nil {
		return x.s.Now()
	}
	return time.Now()
}
