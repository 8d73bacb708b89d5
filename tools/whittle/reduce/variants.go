package reduce

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sourcegraph/conc"

	"whittle/minify"
	"whittle/replay"
)

// variants are the states to start from, in order, until one fails. A launcher says of parameters that they require gradients, even
// where the program compiled its graph without: then its backward fails in another way, or hides the failure.
func variants(s minify.State) []minify.State {
	out := []minify.State{s}
	plain := minify.State{Module: s.Module, Inputs: slices.Clone(s.Inputs), Config: s.Config}
	for i := range plain.Inputs {
		plain.Inputs[i].RequiresGrad = false
	}
	if slices.ContainsFunc(s.Inputs, func(in minify.Input) bool { return in.RequiresGrad }) {
		out = append(out, plain)
	}
	return out
}

// A relay asks whether the second variant fails while the first is run, on what that leaves of the processors. What it learns is used if it comes to that, and
// dropped else: it changes no result and no count.
type relay struct {
	oracle minify.OracleFunc
	from   int             // with which attempt at the first variant it begins
	ctx    context.Context // of all searches
	stop   context.CancelFunc
	starts []minify.State
	begin  sync.Once
	ahead  conc.WaitGroup
	took   time.Duration   // the first run of the first variant
	out    *replay.Outcome // of the second variant, once ahead is done; nil where its search might see another
}

// newRelay has starts run by oracle; close ends what is under way. Where idle candidates do not yield to others the second variant waits until the first has
// passed once.
func newRelay(ctx context.Context, oracle minify.OracleFunc, yields bool, starts []minify.State) *relay {
	r := &relay{oracle: oracle, starts: starts}
	if !yields {
		r.from = 1
	}
	r.ctx, r.stop = context.WithCancel(ctx)
	return r
}

// Run implements minify.Oracle.
func (r *relay) Run(ctx context.Context, c minify.Candidate) (replay.Outcome, error) {
	if len(r.starts) < 2 || c.Reduction != "start" {
		return r.oracle(ctx, c)
	}
	if first := &c.State.Inputs[0] != &r.starts[1].Inputs[0]; first {
		if c.Attempt >= r.from {
			second := c
			second.State, second.Hash, second.Attempt = r.starts[1], "", 0 // nobody asks for it by name
			r.begin.Do(func() { r.ahead.Go(func() { r.out = idly(r.ctx, r.oracle, second) }) })
		}
		out, err := r.oracle(ctx, c)
		if c.Attempt == 0 {
			r.took = out.Duration
		}
		return out, err
	}
	r.ahead.Wait()
	if c.Attempt > 0 || r.out == nil {
		return r.oracle(ctx, c)
	}
	out := *r.out
	out.Duration = min(out.Duration, r.took) // on a processor of its own it would have been about that: no search is to look better because it was not
	return out, nil
}

// idly runs a candidate on what others leave of the processors, and gives its outcome; nil where it would have had another on its own, as when a limit of time or
// memory ended it, which others' work may have brought about.
func idly(ctx context.Context, oracle minify.OracleFunc, c minify.Candidate) *replay.Outcome {
	c.Idle = true
	out, err := oracle(ctx, c)
	if err != nil || out.Status != replay.Failed && out.Status != replay.Pass {
		return nil
	}
	return &out
}

// close is for when the second variant is not needed any more.
func (r *relay) close() {
	r.stop()
	r.ahead.Wait()
}
