package cli

import (
	"testing"
	"time"
)

func TestPatience(t *testing.T) {
	for _, c := range []struct {
		given       time.Duration
		slow        float64
		calls       int
		taken       time.Duration
		first, more time.Duration
	}{
		{2 * time.Second, 50, 100, 2 * time.Second, 2 * time.Second, 0}, // what the user says is said
		{0, 1, 0, 30 * time.Second, 30 * time.Second, 0},
		{0, 0.2, 0, 30 * time.Second, 30 * time.Second, 0}, // a fast machine takes nothing away
		{0, 1, 400, 130 * time.Second, 130 * time.Second, 0},
		{0, 6, 0, 30 * time.Second, 30 * time.Second, 150 * time.Second},
		{0, 6, 0, 179 * time.Second, 30 * time.Second, time.Second},
		{0, 6, 0, 181 * time.Second, 30 * time.Second, 0},
	} {
		p := patience{given: c.given, slow: func() float64 { return c.slow }}
		if first, more := p.first(c.calls), p.more(c.calls, c.taken); first != c.first || more != c.more {
			t.Errorf("%+v: %v and %v more", c, first, more)
		}
	}
	if s := slowness(); s < 1 {
		t.Errorf("a machine of slowness %v", s)
	}
}
