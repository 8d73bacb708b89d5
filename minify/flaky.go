package minify

import (
	"context"
	"fmt"
	"math"

	"whittle/replay"
)

const (
	startTries = 6     // more runs of a start that passes
	flakyRuns  = 10    // runs that measure a rate; more where almost none fails
	flakyMore  = 50    // at most so many
	flakyFloor = 0.02  // rates below it are refused
	doubt      = 0.001 // the odds at which a candidate counts as failing or as passing
	maxRuns    = 400   // of one candidate
	rerunTimes = 5     // runs of the result before it is proved
)

// flakiness is how often a failure comes.
type flakiness struct {
	fails, runs           int // of a state that has the failure
	falseFails, falseRuns int // of one that has it not
	round                 int // numbers the measurements
}

func (f flakiness) rate() float64 { return ratio(f.fails, f.runs) }

func (f flakiness) falseRate() float64 { return ratio(f.falseFails, f.falseRuns) }

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// odds are the steps by which a failed and a passed run change the log odds that a candidate has the failure. The rate
// is taken one standard error lower than measured: to take a failing candidate for a passing one costs more than a few runs.
func (f flakiness) odds() (fail, pass float64) {
	p := f.rate()
	p = min(max(p-math.Sqrt(p*(1-p)/float64(max(f.runs, 1))), flakyFloor), 0.99)
	q := max(f.falseRate(), 1e-4)
	if q >= p {
		q = p / 2
	}
	return math.Log(p / q), math.Log((1 - p) / (1 - q))
}

// FlakyError says that a failure is too rare to be minified.
type FlakyError struct {
	Rate float64
	Runs int
}

func (e *FlakyError) Error() string {
	return fmt.Sprintf("the failure comes in %.0f%% of %d runs: too rare to be minified (%.0f%% is the least)", 100*e.Rate, e.Runs, 100*flakyFloor)
}

// runsOf counts how often a state fails in runs from..to-1.
// Idle workers begin with later questions.
func (d *driver) runsOf(ctx context.Context, s State, edit string, from, to int, later ...*trial) (fails, runs int, err error) {
	var ts []*trial
	for i := from; i < to; i++ {
		ts = append(ts, d.question(Candidate{State: s, Reduction: "measure", Edit: edit, Attempt: i}))
	}
	ahead := append(append([]*trial{}, ts...), later...)
	for i, t := range ts {
		if err := d.await(ctx, ahead[i:]); err != nil {
			return fails, runs, err
		}
		switch t.verdict {
		case replay.Reproduced:
			fails++
			runs++
		case replay.Passed:
			runs++
		}
	}
	return fails, runs, nil
}

// measure finds out how often the current state fails, and how often one without the failure; from then on candidates are run repeatedly.
func (d *driver) measure(ctx context.Context) error {
	row := d.row
	d.row = "measure"
	defer func() { d.row = row }()
	round := d.measured.round + 1
	rate := func(s State) (f flakiness, err error) {
		f.round = round
		for from, to := 1, 1+flakyRuns; ; from, to = to, 1+flakyMore {
			fails, runs, err := d.runsOf(ctx, s, "how often it fails", from, to)
			f.fails += fails
			f.runs += runs
			if err != nil || f.fails > 1 || to > flakyMore {
				return f, err
			}
		}
	}
	f, err := rate(d.cur)
	if err != nil {
		return err
	}
	if f.rate() < flakyFloor && d.taken > 0 { // it was taken by chance
		d.cur, d.taken = d.start, 0
		if d.w.gen > 0 {
			d.w = newWorld(d.s.Values)
			d.w.base = fmt.Sprintf("r%d/", round)
			if err := d.learn(ctx, values); err != nil {
				return err
			}
		}
		if f, err = rate(d.cur); err != nil {
			return err
		}
	}
	if f.rate() < flakyFloor {
		return &FlakyError{f.rate(), f.runs}
	}
	if healthy, ok := d.healthy(); ok {
		if f.falseFails, f.falseRuns, err = d.runsOf(ctx, healthy, "how often it fails without the calls at fault", 1, 1+flakyRuns/2); err != nil {
			return err
		}
	}
	d.measured = f
	d.flaky = &f
	d.event(Event{Kind: EventFlaky, Rate: f.rate(), FalseRate: f.falseRate()})
	return nil
}

// healthy is the start without the calls that are left: known not to have the failure.
func (d *driver) healthy() (State, bool) {
	if d.w.origin == nil || d.taken == 0 {
		return State{}, false
	}
	var names []string
	for _, n := range d.cur.Module.Graph.Calls() {
		names = append(names, n.Name)
	}
	s, ok := d.w.origin.cut(names).apply(d.start)
	return s, ok && len(s.Module.Graph.Calls()) > 0
}

// sample runs a candidate until the odds say whether it has the failure. It is called on workers.
func (d *driver) sample(ctx context.Context, c Candidate, key replay.QueryKey, f *flakiness) (answer, error) {
	a := answer{outcome: replay.Outcome{Status: replay.Pass}}
	fail, pass := f.odds()
	odds, limit := 0.0, math.Log(1/doubt)
	for c.Attempt = 0; c.Attempt < maxRuns && odds > -limit; c.Attempt++ {
		k := d.mark(key, c)
		var o replay.Outcome
		if prior, ok := d.sampled.Load(keyText(k)); ok {
			o = prior.(replay.Outcome)
		} else {
			hit := false
			var err error
			if d.s.Store != nil {
				if o, hit, err = d.s.Store.CachedOutcome(ctx, k); err != nil {
					return a, err
				}
			}
			if !hit {
				asked := 0
				if o, asked, err = d.oracle(ctx, c); err != nil {
					return a, err
				}
				a.asked += asked
				if err := d.remember(ctx, k, o); err != nil {
					return a, err
				}
			}
			d.sampled.Store(keyText(k), o)
		}
		switch replay.Judge(o, d.want) {
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

// confirm proves the result again where nothing ran before. again is set where the failure turned out to be flaky, and the search
// should go on with repeated runs.
func (d *driver) confirm(ctx context.Context) (again bool, err error) {
	d.row = "confirm"
	if d.flaky == nil && d.stopped == "" && !slow(d.want.Type) {
		fails, runs, err := d.runsOf(ctx, d.cur, "the result again", 1, 1+rerunTimes, d.question(d.proof(0)))
		if err != nil {
			return false, err
		}
		if fails < runs {
			return true, d.measure(ctx)
		}
	}
	proofs := max(1, d.s.Confirm)
	most := proofs
	if d.flaky != nil {
		most = min(maxRuns, proofs*int(math.Ceil(math.Log(doubt)/math.Log(1-min(d.flaky.rate(), 0.99)))))
	}
	var ts []*trial
	for i := range most {
		ts = append(ts, d.question(d.proof(i)))
	}
	done, passed := 0, 0
	var last replay.Outcome
	for i, t := range ts {
		want := ts[i:]
		if d.flaky != nil {
			want = want[:min(len(want), proofs-done)]
		}
		if err := d.await(ctx, want); err != nil {
			return false, err
		}
		if err := d.step(ctx, replay.Step{Parent: t.parent, Reduction: "confirm", Candidate: t.c.Hash, Edit: t.c.Edit, Verdict: t.verdict, Cached: t.cached}); err != nil {
			return false, err
		}
		d.event(Event{Kind: EventConfirm, Outcome: t.outcome, Verdict: t.verdict, Run: i + 1, Of: most})
		switch t.verdict {
		case replay.Reproduced:
			d.outcome = t.outcome
			done++
			d.confirmed = done
		case replay.Passed:
			passed++
			last = t.outcome
		default:
			last = t.outcome
		}
		if done == proofs {
			return false, nil
		}
	}
	if d.flaky != nil && done > 0 {
		return false, nil
	}
	if d.flaky == nil && passed > 0 && d.stopped == "" {
		if err := d.measure(ctx); err != nil {
			return false, err
		}
		if d.flaky.rate() < 0.95 || done > 0 {
			return true, nil
		}
		d.flaky = nil // it always fails where something ran before, and never in a fresh process
	}
	return false, &UnconfirmedError{last}
}

// slow reports whether a failure takes all the time or memory there is: it is not run more often than needed.
func slow(typ string) bool { return typ == "timeout" || typ == "oom" }

// rerun is the question whether the current state fails again.
func (d *driver) rerun(i int) *trial {
	return d.question(Candidate{State: d.cur, Reduction: "measure", Edit: "the result again", Attempt: i})
}

// proof is the candidate of one run in a fresh process.
func (d *driver) proof(i int) Candidate {
	return Candidate{State: d.cur, Reduction: "confirm", Edit: "the result, in a fresh process", Fresh: true, Attempt: i}
}
