package bisect

import (
	"context"
	"math"
)

// Count is how often tests of one point said bad and good.
type Count struct{ Bad, Good int }

// Add counts a test; one that is skipped says nothing.
func (c *Count) Add(v Verdict) {
	switch v {
	case Bad:
		c.Bad++
	case Good:
		c.Good++
	}
}

// Settled is the answer to one question by tests that are wrong now and then.
type Settled struct {
	Verdict     Verdict // Skip: the tests that were allowed do not tell
	Probability float64 // of the verdict
	Count       Count
}

// mostSkips is how many tests in a row may say nothing before a question counts as one that cannot be told.
const mostSkips = 5

// RatesOf are the rates by which questions can be settled, from how often tests of a good point and of a bad one said bad. They are a standard error nearer to each
// other than what was counted, and never certain: to take one answer for another costs more than a few tests.
func RatesOf(good, bad Count) Rates {
	edge := func(c Count, errors float64) float64 {
		n := float64(c.Bad+c.Good) + 2
		p := (float64(c.Bad) + 0.5) / n
		return p + errors*math.Sqrt(p*(1-p)/n)
	}
	r := Rates{Fail: max(edge(bad, -1), 0.01), False: 0.01} // where no good point is known
	if good != (Count{}) {
		r.False = edge(good, 1)
	}
	r.False = min(r.False, r.Fail/2)
	return r
}

// Settle asks one question until it is as sure as is wanted whether its point is bad or good: by Bayes' rule with the rates, and with either as likely before anything
// is seen. Of Noise.MaxTests 0 stands for 100.
func (o Noise) Settle(ctx context.Context, test func(ctx context.Context, attempt int) (Verdict, error)) (Settled, error) {
	if o.Confidence == 0 {
		o.Confidence = usual
	}
	if o.MaxTests == 0 {
		o.MaxTests = 100
	}
	const never = 1e-4 // no test is right always
	fail, wrong := min(o.Rates.Fail, 1-never), max(o.Rates.False, never)
	var s Settled
	for attempt, skips := 0, 0; attempt < o.MaxTests && skips < mostSkips; attempt++ {
		v, err := test(ctx, attempt)
		if err != nil {
			return s, err
		}
		s.Count.Add(v)
		if v == Skip {
			skips++
			continue
		}
		skips = 0
		odds := float64(s.Count.Bad)*math.Log(fail/wrong) + float64(s.Count.Good)*math.Log((1-fail)/(1-wrong))
		s.Verdict, s.Probability = Bad, 1/(1+math.Exp(-odds))
		if odds < 0 {
			s.Verdict, s.Probability = Good, 1/(1+math.Exp(odds))
		}
		if s.Probability >= o.Confidence {
			return s, nil
		}
	}
	s.Verdict = Skip
	return s, nil
}
