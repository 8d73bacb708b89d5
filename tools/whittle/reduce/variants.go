package reduce

import (
	"context"
	"slices"
	"sync"

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

// A relay asks whether the second variant fails as soon as the first has passed once, while that is run again. What it learns is used if it comes to
// that, and dropped else: it changes no result and no count.
type relay struct {
	oracle minify.OracleFunc
	ctx    context.Context // of all searches
	stop   context.CancelFunc
	starts []minify.State
	begin  sync.Once
	ahead  conc.WaitGroup
	out    replay.Outcome // of the second variant, once ahead is done
	err    error
}

// newRelay has starts run by oracle; close ends what is under way.
func newRelay(ctx context.Context, oracle minify.OracleFunc, starts []minify.State) *relay {
	r := &relay{oracle: oracle, starts: starts}
	r.ctx, r.stop = context.WithCancel(ctx)
	return r
}

// Run implements minify.Oracle.
func (r *relay) Run(ctx context.Context, c minify.Candidate) (replay.Outcome, error) {
	if len(r.starts) < 2 || c.Reduction != "start" {
		return r.oracle(ctx, c)
	}
	switch first := &c.State.Inputs[0] != &r.starts[1].Inputs[0]; {
	case first && c.Attempt == 1:
		second := c
		second.State, second.Hash, second.Attempt = r.starts[1], "", 0 // nobody asks for it by name
		r.begin.Do(func() { r.ahead.Go(func() { r.out, r.err = r.oracle(r.ctx, second) }) })
		return r.oracle(ctx, c)
	case first || c.Attempt > 0:
		return r.oracle(ctx, c)
	}
	asked := true
	r.begin.Do(func() { asked = false })
	if r.ahead.Wait(); asked && r.err == nil && r.ctx.Err() == nil {
		return r.out, nil
	}
	return r.oracle(ctx, c)
}

// close is for when the second variant is not needed any more.
func (r *relay) close() {
	r.stop()
	r.ahead.Wait()
}
