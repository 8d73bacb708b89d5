package torch

import (
	"testing"
	"time"
)

// How long compiling may take, by what is known of the failure and of the queries before.
func TestTimeForCompiling(t *testing.T) {
	for _, c := range []struct {
		name    string
		given   time.Duration
		stuck   string
		slowest time.Duration
		fresh   bool
		calls   int
		want    time.Duration
	}{
		{name: "the first of a small graph", calls: 4, want: 31 * time.Second},
		{name: "the first of a large graph", calls: 1000, want: 280 * time.Second},
		{name: "no more than ten minutes", calls: 100000, want: 10 * time.Minute},
		{name: "as given", given: time.Hour, calls: 4, want: time.Hour},
		{name: "a fresh process", fresh: true, calls: 4, want: 10 * time.Minute},
		{name: "after a hang, none has ended", stuck: "compile", calls: 1000, want: 10 * time.Second},
		{name: "after a hang, others were quick", stuck: "compile", slowest: 50 * time.Millisecond, want: 3 * time.Second},
		{name: "after a hang, others took a while", stuck: "compile", slowest: 2 * time.Second, want: 20 * time.Second},
		{name: "after a hang, a fresh process", stuck: "compile", slowest: 50 * time.Millisecond, fresh: true, want: 10 * time.Second},
		{name: "after a hang at run, a fresh process", stuck: "run", slowest: 2 * time.Second, fresh: true, want: 20 * time.Second},
		{name: "after a hang at run", stuck: "run", slowest: time.Second, calls: 4, want: 31 * time.Second},
		{name: "less was given", given: 5 * time.Second, stuck: "compile", slowest: 2 * time.Second, want: 5 * time.Second},
	} {
		e := &Client{slowest: c.slowest, stuck: c.stuck, guess: c.given == 0}
		e.o.Limits = fill(Limits{Compile: c.given})
		if got := e.limits(c.fresh, c.calls).Compile; got != c.want.Seconds() {
			t.Errorf("%s: %v s, want %v", c.name, got, c.want)
		}
	}
}
