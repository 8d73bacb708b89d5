package bisect

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSettle: of a thousand questions to tests that are wrong now and then, no more are answered wrongly than the confidence says, and few are not.
func TestSettle(t *testing.T) {
	for _, c := range []struct {
		fail, wrong float64
		most        int // tests for one question, in the mean
	}{{0.3, 0.02, 40}, {0.5, 0, 12}, {0.9, 0.1, 12}, {0.2, 0, 40}} {
		r := rand.New(rand.NewPCG(1, uint64(100*c.fail)))
		right, undecided, tests := 0, 0, 0
		const questions = 1000
		for range questions {
			draw := func(p float64, n int) (out Count) {
				for range n {
					if r.Float64() < p {
						out.Bad++
					} else {
						out.Good++
					}
				}
				return out
			}
			bad := draw(c.fail, 40)
			good := draw(c.wrong, 40)
			rate, want := c.wrong, Good
			if r.IntN(2) == 0 {
				rate, want = c.fail, Bad
			}
			rates := RatesOf(good, bad)
			got, err := Noise{Confidence: 0.99, Rates: &rates}.Settle(context.Background(), func(context.Context, int) (Verdict, error) {
				tests++
				if r.Float64() < rate {
					return Bad, nil
				}
				return Good, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			switch got.Verdict {
			case want:
				right++
			case Skip:
				undecided++
			}
		}
		if wrong := questions - right - undecided; wrong > questions/100 || undecided > questions/20 || tests > c.most*questions {
			t.Errorf("fails in %v, falsely in %v: %d of %d right, %d wrong, by %d tests", c.fail, c.wrong, right, questions, wrong, tests)
		}
	}
}

// TestSettleGivesUp: what cannot be tested is not told, and neither is what stays in doubt.
func TestSettleGivesUp(t *testing.T) {
	asked := 0
	always := func(v Verdict) func(context.Context, int) (Verdict, error) {
		return func(context.Context, int) (Verdict, error) { asked++; return v, nil }
	}
	got, err := Noise{Rates: &Rates{Fail: 0.3}}.Settle(context.Background(), always(Skip))
	if d := cmp.Diff(Settled{Verdict: Skip}, got); d != "" || err != nil || asked != mostSkips {
		t.Error(d, err, asked)
	}
	got, err = Noise{MaxTests: 2, Rates: &Rates{Fail: 0.3, False: 0.2}}.Settle(context.Background(), always(Good))
	if err != nil || got.Verdict != Skip || got.Count != (Count{0, 2}) {
		t.Errorf("%+v %v", got, err)
	}
	got, err = Noise{Rates: &Rates{Fail: 1, False: 0}}.Settle(context.Background(), always(Bad))
	if err != nil || got.Verdict != Bad || got.Count != (Count{1, 0}) {
		t.Errorf("%+v %v", got, err)
	}
}
