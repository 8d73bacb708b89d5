package engine

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// watch is a clock that a test winds.
type watch struct{ t time.Time }

func (w *watch) now() time.Time       { return w.t }
func (w *watch) wind(d time.Duration) { w.t = w.t.Add(d) }

// What a second each of some steps goes to.
func TestClock(t *testing.T) {
	s := time.Second
	for _, c := range []struct {
		name string
		run  func(c *Clock, pass func())
		want map[string]time.Duration
	}{
		{"nothing is asked", func(_ *Clock, pass func()) { pass() }, map[string]time.Duration{OnIdle: s}},
		{"one question, told in part", func(c *Clock, pass func()) {
			q := c.Begin(OnPython)
			pass()
			pass()
			q.Tell(OnEager, s/2)
			q.End()
			pass()
		}, map[string]time.Duration{OnEager: s / 2, OnPython: 3 * s / 2, OnIdle: s}},
		{"two at a time share", func(c *Clock, pass func()) {
			a := c.Begin(OnRun)
			pass()
			b := c.Begin(OnTransfer)
			pass()
			a.End()
			pass()
			b.End()
		}, map[string]time.Duration{OnRun: 3 * s / 2, OnTransfer: 3 * s / 2, OnIdle: 0}},
		{"more is told than went by", func(c *Clock, pass func()) {
			q := c.Begin(OnPython)
			pass()
			q.Tell(OnLowering, 2*s)
			q.Tell(OnCompiler, 6*s)
			q.End()
		}, map[string]time.Duration{OnLowering: s / 4, OnCompiler: 3 * s / 4, OnPython: 0, OnIdle: 0}},
		{"a wait", func(c *Clock, pass func()) {
			q := c.Begin(OnPython)
			over := q.Wait(OnStart)
			pass()
			over()
			pass()
			q.End()
		}, map[string]time.Duration{OnStart: s, OnPython: s, OnIdle: 0}},
		{"what is under way counts", func(c *Clock, pass func()) { c.Begin(OnRun); pass() }, map[string]time.Duration{OnRun: s, OnIdle: 0}},
	} {
		w := &watch{time.Unix(0, 0)}
		clock := NewClock(w.now)
		c.run(clock, func() { w.wind(s) })
		got, elapsed := clock.Spent()
		if diff := cmp.Diff(c.want, got); diff != "" || elapsed != clock.Elapsed() || elapsed != sum(got) {
			t.Errorf("%s: %v %s", c.name, elapsed, diff)
		}
	}
}

func sum(m map[string]time.Duration) (all time.Duration) {
	for _, d := range m {
		all += d
	}
	return all
}

// Whatever is begun, told and ended, the shares add up to what went by.
func TestSharesAddUp(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 0))
		w := &watch{time.Unix(0, 0)}
		c := NewClock(w.now)
		var open []*Question
		for range 200 {
			w.wind(time.Duration(rng.IntN(1000)))
			switch k := rng.IntN(3); {
			case k == 0 || len(open) == 0:
				open = append(open, c.Begin(Kinds[rng.IntN(len(Kinds))]))
			case k == 1:
				open[rng.IntN(len(open))].Tell(Kinds[rng.IntN(len(Kinds))], time.Duration(rng.IntN(1500)))
			default:
				open[0].End()
				open = open[1:]
			}
		}
		if spent, elapsed := c.Spent(); elapsed != sum(spent) {
			t.Errorf("seed %d: %v in %v", seed, spent, elapsed)
		}
	}
}

// Who is asked without a clock need not know.
func TestNoClock(t *testing.T) {
	s := ClockOf(context.Background()).Begin(OnRun)
	s.Tell(OnEager, time.Second)
	s.Wait(OnStart)()
	s.End()
	c := NewClock(time.Now)
	if ClockOf(WithClock(context.Background(), c)) != c {
		t.Error("another clock")
	}
}
