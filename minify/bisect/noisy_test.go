package bisect

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// draws makes a test whose n-th answer about a point is always the same, however it is asked: bad with the one rate from first on, and with the other
// before it.
func draws(seed uint64, first int, r Rates) func(context.Context, Trial) (Answer, error) {
	return says(func(t Trial) Verdict {
		x := rand.New(rand.NewPCG(seed, uint64(t.Point)<<32|uint64(t.Attempt))).Float64()
		if t.Point >= first {
			return verdict(x < r.Fail)
		}
		return verdict(x < r.False)
	})
}

// bayesect is the published rule of git_bayesect as a reference: both rates have Beta distributions as priors, of mean 0.9 and 0.05, which the
// answers update; it asks where the expected entropy of the posterior is least, and stops where one place has the confidence.
func bayesect(test func(context.Context, Trial) (Answer, error), n int, confidence float64) (first, tests int) {
	bad, all := make([]float64, n), make([]float64, n)
	logBeta := func(a, b float64) float64 {
		x, _ := math.Lgamma(a)
		y, _ := math.Lgamma(b)
		z, _ := math.Lgamma(a + b)
		return x + y - z
	}
	const a1, b1, a0, b0 = 0.9, 0.1, 0.05, 0.95
	add := func(x [2]float64, u float64) [2]float64 {
		if u > 0 {
			x[0], x[1] = x[0]+u, x[1]+u*math.Log(u)
		}
		return x
	}
	entropy := func(x, y [2]float64) float64 {
		if s := x[0] + y[0]; s > 0 {
			return s*math.Log(s) - x[1] - y[1]
		}
		return 0
	}
	var sumBad, sumAll float64
	for ; ; tests++ {
		// At place b the points from b on are bad.
		weight, p1, p0 := make([]float64, n), make([]float64, n), make([]float64, n)
		most := math.Inf(-1)
		var y0, t0 float64
		for b := range n {
			y1, t1 := sumBad-y0, sumAll-t0
			weight[b] = logBeta(a1+y1, b1+t1-y1) + logBeta(a0+y0, b0+t0-y0)
			p1[b], p0[b] = (a1+y1)/(a1+b1+t1), (a0+y0)/(a0+b0+t0)
			most = max(most, weight[b])
			y0, t0 = y0+bad[b], t0+all[b]
		}
		sum := 0.0
		for b := range weight {
			weight[b] = math.Exp(weight[b] - most)
			sum += weight[b]
		}
		for b := range weight {
			weight[b] /= sum
			if weight[b] > weight[first] {
				first = b
			}
		}
		if weight[first] >= confidence {
			return first, tests
		}
		after := make([][2][2]float64, n+1)
		for b := n - 1; b >= 0; b-- {
			after[b] = [2][2]float64{add(after[b+1][0], weight[b]*p0[b]), add(after[b+1][1], weight[b]*(1-p0[b]))}
		}
		best, least := 0, math.Inf(1)
		var upTo [2][2]float64
		for i := range n {
			upTo = [2][2]float64{add(upTo[0], weight[i]*p1[i]), add(upTo[1], weight[i]*(1-p1[i]))}
			if h := entropy(upTo[0], after[i+1][0]) + entropy(upTo[1], after[i+1][1]); h < least {
				best, least = i, h
			}
		}
		a, _ := test(ctx, Trial{Point: best, Attempt: int(all[best])})
		all[best]++
		sumAll++
		if a.Verdict == Bad {
			bad[best]++
			sumBad++
		}
	}
}

// TestNoisy: of 500 lists of 64 versions whose failure comes in 3 of 10 runs, and in 2 of 100 without the change, at least 495 are right, and all together take no
// more tests than bayesect's rule with the same confidence.
func TestNoisy(t *testing.T) {
	const n, lists = 64, 500
	rates := Rates{0.3, 0.02}
	theirs, theirRight := 0, 0
	type sum struct{ right, tests int }
	ours := map[string]sum{}
	for seed := range uint64(lists) {
		first := 1 + rand.New(rand.NewPCG(seed, 99)).IntN(n-1)
		test := draws(seed, first, rates)
		f, k := bayesect(test, n, usual)
		theirs += k
		if f == first {
			theirRight++
		}
		for name, o := range map[string]Noise{"known": {Rates: &rates}, "learned": {}} {
			s := &Search{Test: test}
			got, err := s.Noisy(ctx, n, o)
			x := ours[name]
			if err == nil && slices.Equal(got.Suspects, []int{first}) {
				x.right++
			}
			x.tests += got.Answers
			ours[name] = x
		}
	}
	t.Logf("bayesect: %d of %d right, %.1f tests each", theirRight, lists, float64(theirs)/lists)
	for name, x := range ours {
		t.Logf("%s: %d of %d right, %.1f tests each", name, x.right, lists, float64(x.tests)/lists)
		if x.right < lists*99/100 || x.tests > theirs {
			t.Errorf("rates %s: %d of %d right with %d tests; bayesect's rule takes %d", name, x.right, lists, x.tests, theirs)
		}
	}
}

// TestNoisyWorkers: the result does not depend on how many workers there are, and with more of them there are fewer rounds.
func TestNoisyWorkers(t *testing.T) {
	for seed := range uint64(10) {
		var want Likely
		rounds := 0
		for _, workers := range []int{1, 2, 4} {
			s := &Search{Workers: workers, Test: draws(seed, 20+int(seed), Rates{0.5, 0.05})}
			got, err := s.Noisy(ctx, 64, Noise{})
			if err != nil {
				t.Fatal(err)
			}
			cost := got.Cost
			got.Cost = Cost{}
			if workers == 1 {
				want, rounds = got, cost.Rounds
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("seed %d, %d workers: %s", seed, workers, diff)
			}
			if workers > 1 && cost.Rounds >= rounds {
				t.Errorf("seed %d, %d workers: %d rounds, one worker has %d", seed, workers, cost.Rounds, rounds)
			}
		}
	}
}

func TestNoisyTable(t *testing.T) {
	never, always := &EndsError{Answer{Verdict: Good}, Answer{Verdict: Good}}, &EndsError{Answer{Verdict: Bad}, Answer{Verdict: Bad}}
	for _, c := range []struct {
		name     string
		first    int
		rates    Rates
		skip     []int
		noise    Noise
		suspects []int
		ends     *EndsError
		most     int // answers
	}{
		{name: "no noise at all", first: 40, rates: Rates{1, 0}, suspects: []int{40}, most: 20},
		{name: "no noise at all, known", first: 40, rates: Rates{1, 0}, noise: Noise{Rates: &Rates{1, 0}}, suspects: []int{40}, most: 8},
		{name: "never bad", first: 64, rates: Rates{0.5, 0}, noise: Noise{Rates: &Rates{0.5, 0}}, ends: never, most: 40},
		{name: "always bad", first: 0, rates: Rates{0.9, 0.1}, noise: Noise{Rates: &Rates{0.9, 0.1}}, ends: always, most: 40},
		{name: "skips hide it", first: 30, rates: Rates{0.9, 0.01}, skip: []int{29, 30, 31}, suspects: []int{29, 30, 31, 32}, most: 60},
		{name: "no more tests", first: 30, rates: Rates{0.3, 0.02}, noise: Noise{MaxTests: 3}, suspects: nil, most: 3},
	} {
		test := draws(1, c.first, c.rates)
		s := &Search{Test: func(ctx context.Context, t Trial) (Answer, error) {
			if slices.Contains(c.skip, t.Point) {
				return Answer{Verdict: Skip}, nil
			}
			return test(ctx, t)
		}}
		got, err := s.Noisy(ctx, 64, c.noise)
		var ends *EndsError
		errors.As(err, &ends)
		if diff := cmp.Diff(c.ends, ends); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if diff := cmp.Diff(c.suspects, got.Suspects); c.suspects != nil && diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if c.suspects == nil && c.ends == nil && len(got.Suspects) < 10 {
			t.Errorf("%s: %v", c.name, got.Suspects)
		}
		if got.Answers > c.most || got.Probability < 0.99 {
			t.Errorf("%s: %d answers, probability %v", c.name, got.Answers, got.Probability)
		}
	}
}
