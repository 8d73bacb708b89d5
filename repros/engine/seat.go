package engine

import (
	"context"
	"sync"

	"github.com/sourcegraph/conc"
)

// Process is what a Seat starts and ends.
type Process interface {
	comparable
	// Over reports whether no query is to go to it any more. It may be asked by many goroutines at once, and does not wait.
	Over() bool
	// End ends it, if it did not end by itself, and returns when it is gone with all that it held. What it had under way fails with why; nil for
	// one that is over. It may be called more than once.
	End(why error)
}

// Seat is a place for one process after another: the one way in which processes of both engines are started, replaced and closed. Its methods
// may be called from many goroutines.
//
// The processes of a seat follow each other as generations. Whoever finds the present one over begins the next, which is started by a goroutine of
// its own and by nobody's context: a caller who gives up does not spoil it for the others. All who ask meanwhile wait for that one start. What a
// process knows it is told when a query turns out to need it, so nothing has to be repeated at a restart.
//
// What holds: there is never more than one process; the one before is gone, with all that it had, when the next begins; and once Close has
// returned there is none, and never will be.
type Seat[P Process] struct {
	// start starts a process in place of before, the one that ended last, the zero P for the first one. It ends with life's error when that ends.
	start func(life context.Context, before P) (P, error)

	life context.Context // of all generations; Close ends it
	stop context.CancelFunc
	wg   conc.WaitGroup

	mu     sync.Mutex // nothing under it waits
	gen    *generation[P]
	last   P // that was started
	closed bool
}

// generation is one process, from the decision to start it.
type generation[P Process] struct {
	ready chan struct{} // closed when p or err is set
	p     P
	err   error
}

// over reports whether the next generation is needed.
func (g *generation[P]) over() bool {
	if g == nil {
		return true
	}
	select {
	case <-g.ready:
		return g.err != nil || g.p.Over()
	default:
		return false // it is being started
	}
}

// NewSeat makes an empty seat. start starts a process in place of before, which is gone, and is the zero P for the first one; it gives up when
// life ends, and then leaves nothing behind. An error of it goes to all who wait, and the next who asks has it try again.
func NewSeat[P Process](start func(life context.Context, before P) (P, error)) *Seat[P] {
	s := &Seat[P]{start: start}
	s.life, s.stop = context.WithCancel(context.Background())
	return s
}

// Get is the process of the present generation, started if need be. It may be over a moment later. The error is start's, ctx's cause, or ErrClosed.
func (s *Seat[P]) Get(ctx context.Context) (P, error) {
	var none P
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return none, ErrClosed
	}
	if s.gen.over() {
		g, last := &generation[P]{ready: make(chan struct{})}, s.last
		s.gen = g
		s.wg.Go(func() {
			defer close(g.ready)
			if last != none {
				last.End(nil)
			}
			if g.p, g.err = s.start(s.life, last); g.err == nil {
				s.mu.Lock()
				s.last = g.p
				s.mu.Unlock()
			}
		})
	}
	g := s.gen
	s.mu.Unlock()
	select {
	case <-g.ready:
		return g.p, g.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

// Empty reports whether Get would have to start a process.
func (s *Seat[P]) Empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gen.over()
}

// Close ends the process, or the start under way, and waits for that. What is asked of it afterwards ends with ErrClosed.
func (s *Seat[P]) Close() {
	s.mu.Lock()
	g := s.gen
	s.closed = true
	s.mu.Unlock()
	s.stop()
	if g != nil {
		<-g.ready
		if g.err == nil {
			g.p.End(ErrClosed)
		}
	}
	s.wg.Wait()
}
