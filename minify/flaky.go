package minify

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"whittle/replay"
)

// A failure that comes and goes is searched for by a sequential test of probabilities (Wald, Sequential Tests of Statistical Hypotheses, 1945): after each run
// of a candidate the log odds that it has the failure move by what that run says, and it is run again until they pass a bound. A candidate with
// the failure is most often settled by its first failing run; one without it takes log(1/doubt) / -log(1-rate) passing ones.
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
	slips                 int // states without the failure that were taken
}

func (f flakiness) rate() float64 { return ratio(f.fails, f.runs) }

func (f flakiness) falseRate() float64 { return ratio(f.falseFails, f.falseRuns) }

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// low is a rate that the real one is most likely not below: a standard error less than measured, and never certain.
func (f flakiness) low() float64 {
	n := float64(f.runs) + 2
	p := (float64(f.fails) + 0.5) / n
	return max(p-math.Sqrt(p*(1-p)/n), flakyFloor)
}

// odds are the steps by which a failed and a passed run change the log odds that a candidate has the failure. The rate is taken
// low: to take a failing candidate for a passing one costs more than a few runs.
func (f flakiness) odds() (fail, pass float64) {
	p := f.low()
	q := max(ratio(f.falseFails+f.slips, f.falseRuns+f.slips), 1e-4)
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
	return fmt.Sprintf("the failure comes in %.0f%% of %s: too rare to be minified (%.0f%% is the least)", 100*e.Rate, replay.Count(e.Runs, "run"), 100*flakyFloor)
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

// measure finds out how often the failure comes, and how often a state without it fails; from then on candidates are run
// repeatedly. A current state that fails much more seldom than the start was taken by chance: then the search begins again.
func (d *driver) measure(ctx context.Context) error {
	d.full()
	row := d.row
	d.row = "measure"
	defer func() { d.row = row }()
	rate := func(s State) (f flakiness, err error) {
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
	if d.taken > 0 {
		start, err := rate(d.start)
		if err != nil {
			return err
		}
		if 3*f.rate() < start.rate() {
			f, d.taken = start, 0
			d.restart()
			if err := d.learn(ctx, values); err != nil {
				return err
			}
		}
	}
	if f.rate() < flakyFloor {
		return &FlakyError{f.rate(), f.runs}
	}
	for _, s := range d.healthy() {
		fails, runs, err := d.runsOf(ctx, s, "how often it fails without the calls at fault", 1, 1+flakyRuns)
		if err != nil {
			return err
		}
		if ratio(fails, runs) <= f.rate()/2 && runs > 0 { // the failure is elsewhere
			f.falseFails += fails
			f.falseRuns += runs
		}
	}
	if d.flaky != nil { // a state without the failure was taken: it failed falsely at least once
		f.slips = d.measured.slips + 1
	}
	f.round = d.measured.round + 1
	d.measured = f
	d.flaky = &f
	d.event(Event{Kind: EventFlaky, Rate: f.rate(), FalseRate: f.falseRate()})
	return nil
}

// healthy lists states that most likely do not have the failure: the start without the calls that are left; and single calls,
// of which at most one or two can have it.
func (d *driver) healthy() []State {
	var out []State
	add := func(s State, ok bool) {
		if ok && len(s.Module.Graph.Calls()) > 0 {
			out = append(out, s)
		}
	}
	left := map[string]bool{}
	for _, n := range d.cur.Module.Graph.Calls() {
		left[n.Name] = true
	}
	if d.w.origin == nil {
		return nil
	}
	if d.taken > 0 {
		add(Cut{slices.Sorted(maps.Keys(left))}.apply(d.w.origin, d.start))
	}
	us := units(d.start.Module.Graph)
	for _, u := range [][]string{us[0], us[len(us)/2], us[len(us)-1]} {
		if d.taken == 0 || !left[u[0]] {
			add(Alone{u}.apply(d.w.origin, d.start))
		}
	}
	return out
}

// confirm proves the result again where nothing ran before. again is set where the failure turned out to be flaky, and the search
// should go on with repeated runs.
//
// In order: the result is run a few times where that was not said to be needless (doubtful); a flaky result is compared with the start's rate, as one
// that fails far more seldom was taken by chance; then it has to fail in as many fresh processes as were asked for. One that fails only where
// something ran before is told apart from one that is rare: by more proofs, then by measuring.
func (d *driver) confirm(ctx context.Context) (again bool, err error) {
	d.row = "confirm"
	if d.stopped == "" && d.doubtful() {
		fails, runs, err := d.runsOf(ctx, d.cur, "the result again", 1, 1+rerunTimes, d.question(d.proof(d.cur, 0)))
		if err != nil {
			return false, err
		}
		if fails < runs {
			return true, d.measure(ctx)
		}
	}
	if d.flaky != nil && d.stopped == "" && d.measured.round < maxRounds && d.taken > 0 { // as often as the start?
		fails, runs, err := d.runsOf(ctx, d.cur, "how often the result fails", 1, 1+flakyRuns)
		if err != nil {
			return false, err
		}
		if 3*ratio(fails, runs) < d.measured.rate() {
			return true, d.measure(ctx)
		}
	}
	proofs := max(1, d.s.Confirm)
	most := proofs
	if d.flaky != nil {
		most = min(maxRuns, proofs*int(math.Ceil(math.Log(doubt)/math.Log(1-d.flaky.low()))))
	}
	var ts []*trial
	for i := range most {
		ts = append(ts, d.question(d.proof(d.cur, i)))
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
		if err := d.step(ctx, replay.Step{Parent: t.parent, Reduction: "confirm", Candidate: t.c.Hash, Edit: t.c.Edit, Verdict: t.verdict, Cached: t.cached, Duration: t.took, Calls: CostOf(t.c.State).Calls}, nil); err != nil {
			return false, err
		}
		d.event(Event{Kind: EventConfirm, Outcome: t.outcome, Verdict: t.verdict, Run: i + 1, Of: most})
		switch t.verdict {
		case replay.Reproduced:
			d.reached(t.outcome)
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
	switch {
	case d.flaky != nil && done > 0:
		return false, nil
	case d.stopped != "" || passed == 0:
		return false, &UnconfirmedError{last}
	case d.flaky != nil && d.measured.round < maxRounds:
		return true, d.measure(ctx)
	case d.flaky != nil:
		return false, &UnconfirmedError{last}
	}
	for i := 0; done == 0 && i < rerunTimes; i++ { // never in a fresh process, or not always?
		t := d.question(d.proof(d.cur, most+i))
		if err := d.await(ctx, []*trial{t}); err != nil {
			return false, err
		}
		if t.verdict == replay.Reproduced {
			done++
		}
	}
	if err := d.measure(ctx); err != nil {
		return false, err
	}
	if d.flaky.rate() < 0.95 || done > 0 {
		return true, nil
	}
	d.flaky = nil // it always fails where something ran before, and never in a fresh process
	return false, &UnconfirmedError{last}
}

// maxRounds is how often a flaky failure is measured and reduced from the start again.
const maxRounds = 3

// slow reports whether a failure takes all the time or memory there is: it is not run more often than needed.
func slow(typ string) bool { return typ == "timeout" || typ == "oom" }
