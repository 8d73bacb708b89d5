package reduce

import (
	"context"
	"time"

	"github.com/sourcegraph/conc"

	"whittle/minify"
	"whittle/replay"
	"whittle/repros"
	"whittle/repros/engine"
)

// mostAhead is for how long a start is run ahead before it counts as one that may not end: then its search, which comes to it, asks for itself.
const mostAhead = 20 * time.Second

// A Begun is the start of a repro that is loaded, and run for the first time, while another search is under way and leaves processors idle.
type Begun struct {
	began time.Time
	stop  context.CancelFunc
	wg    conc.WaitGroup
	ended chan struct{} // closed when what follows is known: it has run, or cannot

	start minify.State
	err   error
	out   *replay.Outcome // see idly
}

// Begin begins with a repro whose file lies in dir, and calls then when it has Ended. The engine has to be one that Yields, and is the repro's own.
func Begin(ctx context.Context, e engine.Engine, r *repros.Repro, dir string, then func()) *Begun {
	b := &Begun{began: time.Now(), ended: make(chan struct{})}
	ctx, b.stop = context.WithCancel(ctx)
	b.wg.Go(func() {
		defer then()
		defer close(b.ended)
		if b.start, b.err = e.Load(ctx, r, dir); b.err != nil {
			return
		}
		b.out = idly(ctx, func(ctx context.Context, c minify.Candidate) (replay.Outcome, error) {
			return machine(e.Run(ctx, r, c))
		}, minify.Candidate{State: b.start, Reduction: "start"})
	})
	return b
}

// Ended reports whether the start has run, or cannot.
func (b *Begun) Ended() bool {
	select {
	case <-b.ended:
		return true
	default:
		return false
	}
}

// loaded waits for the start, as far as that can be expected to come.
func (b *Begun) loaded() (minify.State, *replay.Outcome, error) {
	late := time.AfterFunc(mostAhead-time.Since(b.began), b.stop)
	defer late.Stop()
	b.wg.Wait()
	return b.start, b.out, b.err
}

// Close is for when nobody wants to know any more.
func (b *Begun) Close() {
	b.stop()
	b.wg.Wait()
}
