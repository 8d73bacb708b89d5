package engine

import (
	"context"
	"maps"
	"sync"
	"time"
)

// The kinds of what the wall time of a search goes to.
const (
	OnStart    = "start"    // waiting for an engine that starts
	OnPython   = "python"   // of a question, what is none of the others: its process, loading the repro
	OnEager    = "eager"    // eager runs
	OnLowering = "lowering" // compiling, without the C++ compiler
	OnCompiler = "C++"      // the C++ compiler's processes
	OnRun      = "run"      // the compiled callable, and comparing what it gives
	OnTransfer = "transfer" // storages on their way
	OnIdle     = "idle"     // no question was under way
)

// Kinds are all kinds, in order.
var Kinds = []string{OnStart, OnPython, OnEager, OnLowering, OnCompiler, OnRun, OnTransfer, OnIdle}

// A Clock says what the wall time of one search goes to. Engines find it in the context of what they are asked (WithClock), and open a Question for
// each thing that they are asked. A moment in which several are under way is divided among them, so that all shares add up to the time that went by. Its
// methods may be called from many goroutines; those of a nil Clock do nothing.
type Clock struct {
	now func() time.Time

	mu          sync.Mutex // nothing under it waits
	began, last time.Time
	open        map[*Question]bool
	spent       map[string]time.Duration
}

// A Question is one that is under way. It belongs to who began it.
type Question struct {
	clock *Clock
	began time.Time
	rest  string // kind of what is not told
	told  map[string]time.Duration
	share time.Duration // of the wall time, so far; the clock's
}

// NewClock starts a clock; now says what time it is.
func NewClock(now func() time.Time) *Clock {
	t := now()
	return &Clock{now: now, began: t, last: t, open: map[*Question]bool{}, spent: map[string]time.Duration{}}
}

type clockKey struct{}

// WithClock is a context whose questions are counted by c.
func WithClock(ctx context.Context, c *Clock) context.Context {
	return context.WithValue(ctx, clockKey{}, c)
}

// ClockOf is the clock of a context; nil where it has none.
func ClockOf(ctx context.Context) *Clock {
	c, _ := ctx.Value(clockKey{}).(*Clock)
	return c
}

// Begin opens a question. What it is not told at its End is of the kind rest.
func (c *Clock) Begin(rest string) *Question {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	s := &Question{clock: c, began: c.last, rest: rest, told: map[string]time.Duration{}}
	c.open[s] = true
	return s
}

// advance gives the time since the last change to those that were under way. c.mu is held.
func (c *Clock) advance() {
	now := c.now()
	passed := now.Sub(c.last)
	c.last = now
	n := time.Duration(len(c.open))
	if n == 0 {
		c.spent[OnIdle] += passed
		return
	}
	over := passed % n // nanoseconds, to whoever comes first
	for s := range c.open {
		s.share += passed/n + over
		over = 0
	}
}

// Tell notes that so much of the question's own time was of a kind.
func (s *Question) Tell(kind string, d time.Duration) {
	if s != nil && d > 0 {
		s.told[kind] += d
	}
}

// Wait notes a wait of a kind, from now until the function that it gives is called.
func (s *Question) Wait(kind string) (over func()) {
	if s == nil {
		return func() {}
	}
	begin := s.clock.now()
	return func() { s.Tell(kind, s.clock.now().Sub(begin)) }
}

// End closes the question: its share of the wall time is divided as its own time was.
func (s *Question) End() {
	if s == nil {
		return
	}
	c := s.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	delete(c.open, s)
	var told time.Duration
	for _, d := range s.told {
		told += d
	}
	whole := max(c.last.Sub(s.began), told)
	left := s.share
	for kind, d := range s.told {
		part := time.Duration(float64(s.share) * float64(d) / float64(whole))
		c.spent[kind] += part
		left -= part
	}
	c.spent[s.rest] += left
}

// Elapsed is the time since the clock was started.
func (c *Clock) Elapsed() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now().Sub(c.began)
}

// Spent is what the time until now went to, by kind, and that time itself, which is their sum. What is still under way is taken to be what
// is not told of it.
func (c *Clock) Spent() (byKind map[string]time.Duration, elapsed time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance()
	out := maps.Clone(c.spent)
	for s := range c.open {
		out[s.rest] += s.share
	}
	return out, c.last.Sub(c.began)
}
