package vm

import (
	"context"
	"fmt"
	"sync/atomic"
)

// Interrupts makes running code stop, or look up from its work, at the request of others: of a context that ends, or of another goroutine.
//
// Both only set a flag. The evaluator reads it where a function begins and where a loop goes back, so that no program runs on for long and
// straight code pays nothing; what to do about it is then decided in stopped, on the interpreter's own goroutine.
type Interrupts struct {
	// OnInterrupt, if not nil, runs after Interrupt was called; what it raises is raised where the code is.
	OnInterrupt func() error

	ctx  context.Context
	stop atomic.Bool // the only field that other goroutines touch
}

// WithContext makes running code stop with ctx's error once ctx ends. The function it returns lifts that.
func (i *Interrupts) WithContext(ctx context.Context) (stop func()) {
	old := i.ctx
	i.ctx = ctx
	i.stop.Store(ctx.Err() != nil)
	cancel := context.AfterFunc(ctx, func() { i.stop.Store(true) })
	return func() {
		cancel()
		i.ctx = old
		i.stop.Store(old.Err() != nil)
	}
}

// Context is what WithContext set.
func (i *Interrupts) Context() context.Context { return i.ctx }

// Interrupt makes running code call OnInterrupt soon, between two instructions. Any goroutine may ask for it.
func (i *Interrupts) Interrupt() { i.stop.Store(true) }

// stopped says what the flag was set for. An ended context is an error that no Python code can catch, and the flag stays set, so that the
// code of finally clauses ends, too. Anything else is for OnInterrupt, once.
func (in *Interp) stopped() error {
	if err := in.ctx.Err(); err != nil {
		return fmt.Errorf("interrupted: %w", context.Cause(in.ctx))
	}
	in.stop.Store(false)
	in.Yield()
	in.RunFallen()
	if in.OnInterrupt == nil {
		return nil
	}
	if !in.OnMainThread() { // signals are handled there
		in.late.Store(true)
		return nil
	}
	return in.OnInterrupt()
}

// Poll is for native functions that wait or run for long: now and then they ask whether to stop, and return the error. Other threads run
// meanwhile.
func (in *Interp) Poll() error {
	if in.stop.Load() {
		return in.stopped()
	}
	return nil
}
