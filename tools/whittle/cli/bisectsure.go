package cli

import (
	"context"
	"fmt"
	"time"

	"whittle/minify/bisect"
	"whittle/replay"
)

// sure makes one answer of several tests, where tests are wrong now and then and the points have no order. The tests of a point are its attempts from 1 on; what they
// come to is its attempt 0.
type sure struct {
	noise     bisect.Noise
	want      replay.Signature // the failure
	good, bad bisect.Count     // of the points where it does not come, and where it does
}

func (s *sure) ask(ctx context.Context, j *bisectJournal, point string) (reply, error) {
	x, err := s.noise.Settle(ctx, func(ctx context.Context, attempt int) (bisect.Verdict, error) {
		r, err := j.single(ctx, asked{point, attempt + 1})
		return j.verdict(r).Verdict, err
	})
	return reply{Answer: bisect.Answer{Verdict: x.Verdict, Text: fmt.Sprintf("bad in %d of %s", x.Count.Bad, replay.Count(x.Count.Bad+x.Count.Good, "run"))}}, err
}

// single is the outcome of one test, from the store or kept there.
func (j *bisectJournal) single(ctx context.Context, q asked) (reply, error) {
	r, ok, err := j.known(ctx, q)
	if ok || err != nil {
		return r, err
	}
	begin := time.Now()
	if r, err = j.b.test(ctx, q.point, q.attempt); err == nil {
		err = ctx.Err()
	}
	if r.took = time.Since(begin); err == nil {
		err = j.keep(ctx, q, r)
	}
	return r, err
}

// How many runs say how often a failure comes: so many, and more until so many of them fail, but no more than the last; of a start that does not fail so many.
const (
	rateRuns     = 20
	rateFails    = 8
	rateFruitful = 40
	rateMost     = 100
)

// measure finds the failure of the point bad, and how often it comes there and, where there is such a point, at good. The error is a *bisect.EndsError where
// these do not differ.
func (s *sure) measure(ctx context.Context, j *bisectJournal, good, bad string) error {
	runs := 0
	for ; runs < rateMost && (runs < rateRuns || s.bad.Bad < rateFails) && (runs < rateFruitful || s.bad.Bad > 0); runs++ {
		if err := s.count(ctx, j, asked{bad, runs + 1}, &s.bad); err != nil {
			return err
		}
	}
	if s.bad.Bad == 0 {
		return &bisect.EndsError{First: bisect.Answer{Verdict: bisect.Good}, Last: bisect.Answer{Verdict: bisect.Good}}
	}
	for i := 0; i < runs && good != ""; i++ {
		if err := s.count(ctx, j, asked{good, i + 1}, &s.good); err != nil {
			return err
		}
	}
	if 2*share(s.good) > share(s.bad) {
		return &bisect.EndsError{First: bisect.Answer{Verdict: bisect.Bad}, Last: bisect.Answer{Verdict: bisect.Bad}}
	}
	if s.noise.Rates == nil {
		r := bisect.RatesOf(s.good, s.bad)
		s.noise.Rates = &r
	}
	return nil
}

// count runs a point once.
func (s *sure) count(ctx context.Context, j *bisectJournal, q asked, into *bisect.Count) error {
	r, err := j.single(ctx, q)
	if err != nil {
		return err
	}
	if s.want.IsZero() && r.outcome != nil && fails(r.outcome.Status) {
		s.want = r.outcome.Signature
		s.want.Frame = "" // as for one that comes every time
		j.want = s.want
	}
	into.Add(j.verdict(r).Verdict)
	return nil
}

// fails reports whether an outcome has a failure that can be looked for.
func fails(s replay.Status) bool {
	return s == replay.Failed || s == replay.Timeout || s == replay.OOM || s == replay.Killed
}

func share(c bisect.Count) float64 { return float64(c.Bad) / float64(max(c.Bad+c.Good, 1)) }

// text says how often it fails.
func (s *sure) text(good string) string {
	out := fmt.Sprintf("it fails in %.0f %% of %s", 100*share(s.bad), replay.Count(s.bad.Bad+s.bad.Good, "run"))
	if n := s.good.Bad + s.good.Good; n > 0 {
		out += fmt.Sprintf(", and with %s in %.0f %% of %d", good, 100*share(s.good), n)
	}
	return out + fmt.Sprintf("; each answer is right with a probability of at least %v", s.noise.Confidence)
}
