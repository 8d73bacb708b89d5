package bisect

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// Rates are how often a test says bad: of a point with the change and of one without.
type Rates struct{ Fail, False float64 }

// Noise says what is known of tests that are wrong now and then, and when to stop. Confidence and rates are shares, from 0 to 1.
type Noise struct {
	Rates      *Rates  // nil => learned while the search runs
	Confidence float64 // stop where an answer is this likely; 0 => 0.998
	MaxTests   int     // stop after so many answers, undecided; 0 => 100 for each point
}

// usual is the confidence where nobody says another. It is what the posterior has to reach: of searches that stop at 0.99, about one in a hundred is
// wrong, as often as that says, and with this one fewer than one in a hundred, as far as 500 can show.
const usual = 0.998

// Likely is what a noisy bisection came to.
type Likely struct {
	Found
	Probability float64   // that the change is in Suspects
	Rates       Rates     // as given, or the mean of what was learned
	Posterior   []float64 // of each point: that it is the first bad one; the rest of 1 is for no change at all
	Answers     int       // that were used
}

// Noisy finds the first bad of n points by tests that are wrong now and then: a bad point is said to be good, or a good one bad. It
// keeps, for each point, the probability that it is the first bad one, asks next where the answer is expected to leave least entropy, and stops where one point, or a
// run of points that cannot be told apart because those between them are skipped, is as likely as is wanted.
//
// Without rates it takes each rate to be one of a table's (failRates, falseRates), all weighed by how well they fit what was seen. That the first
// point is bad already, or the last is not, are two further places for the change: the error is an *EndsError where one of these is the likely one.
//
// Idle workers ask what is likely to be asked next. Answers are used in the order in which one worker would ask, so that the result is the same
// for any number of them if the test's is.
func (s *Search) Noisy(ctx context.Context, n int, o Noise) (Likely, error) {
	if n < 2 {
		return Likely{}, ErrTooFew
	}
	if o.Confidence == 0 {
		o.Confidence = usual
	}
	if o.MaxTests == 0 {
		o.MaxTests = 100 * n
	}
	b := newBelief(n, o.Rates)
	answers := 0
	for {
		b.update()
		lo, hi, prob := b.likeliest()
		point, _ := b.next()
		if prob >= o.Confidence || answers >= o.MaxTests || point < 0 {
			if prob < o.Confidence {
				lo, hi, prob = b.credible(o.Confidence)
			}
			return b.result(lo, hi, prob, answers, s.cost)
		}
		t := Trial{Point: point, Attempt: b.asked[point]}
		if s.memo[t.key()] == nil {
			if err := s.fetch(ctx, nil, s.ahead(b, o.Confidence)); err != nil {
				return Likely{}, err
			}
		}
		b.learn(point, s.use(t).Verdict)
		answers++
	}
}

// ahead is the next trial, and as many as there are workers of those that are likeliest to follow it.
func (s *Search) ahead(b *belief, confidence float64) []Trial {
	type future struct {
		b    *belief
		prob float64
	}
	var out []Trial
	futures := []future{{b, 1}}
	for looked := 0; len(out) < s.workers() && len(futures) > 0 && looked < 4*s.workers(); looked++ {
		best := 0
		for i, f := range futures {
			if f.prob > futures[best].prob {
				best = i
			}
		}
		f := futures[best]
		futures = slices.Delete(futures, best, best+1)
		if _, _, p := f.b.likeliest(); p >= confidence && looked > 0 {
			continue
		}
		point, bad := f.b.next()
		if point < 0 {
			continue
		}
		t := Trial{Point: point, Attempt: f.b.asked[point]}
		if s.memo[t.key()] == nil && !slices.ContainsFunc(out, func(o Trial) bool { return o.key() == t.key() }) {
			out = append(out, t)
		}
		if s.workers() == 1 {
			break
		}
		prob := map[Verdict]float64{Bad: f.prob * bad, Good: f.prob * (1 - bad)}
		if r := s.memo[t.key()]; r != nil {
			prob = map[Verdict]float64{r.Verdict: f.prob}
		}
		for _, v := range []Verdict{Bad, Good, Skip} {
			if prob[v] > 0 {
				c := f.b.clone()
				c.learn(point, v)
				c.update()
				futures = append(futures, future{c, prob[v]})
			}
		}
	}
	return out
}

// The rates that are thought of where none are known, each with its weight: most failures come every time, and most tests never fail without one.
var (
	failRates  = weighed(0.2, 1, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98)
	falseRates = weighed(0.4, 0, 0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
)

// rate is one that a test may have, with how likely that is before anything is seen, and the logarithms of it all.
type rate struct{ value, logWeight, log, logRest float64 }

func newRate(value, weight float64) rate {
	return rate{value, math.Log(weight), math.Log(value), math.Log1p(-value)}
}

// weighed gives the first rate its own weight and shares the rest among the others. They are ascending.
func weighed(first, value float64, others ...float64) []rate {
	out := []rate{newRate(value, first)}
	for _, v := range others {
		out = append(out, newRate(v, (1-first)/float64(len(others))))
	}
	slices.SortFunc(out, func(a, b rate) int { return cmp.Compare(a.value, b.value) })
	return out
}

// outside is how likely it is, before anything is seen, that the change is before the first point, and likewise that it is after the last.
const outside = 0.005

// belief is what is known of where the change is. There are n+1 places for it: at place b, the points from b on are bad.
type belief struct {
	n         int
	fail      []rate // of a bad point
	wrong     []rate // of a good one
	asked     []int  // trials of each point
	bad       []int  // those of them that said bad
	good      []int
	skip      []bool
	weight    []float64 // of each place; they add up to 1
	failMean  []float64 // of each place: the mean of the rate, if the change is there
	wrongMean []float64
}

func newBelief(n int, known *Rates) *belief {
	b := &belief{n: n, fail: failRates, wrong: falseRates, asked: make([]int, n), bad: make([]int, n), good: make([]int, n), skip: make([]bool, n)}
	if known != nil {
		b.fail, b.wrong = []rate{newRate(known.Fail, 1)}, []rate{newRate(known.False, 1)}
	}
	return b
}

func (b *belief) clone() *belief {
	c := *b
	c.asked, c.bad, c.good, c.skip = slices.Clone(b.asked), slices.Clone(b.bad), slices.Clone(b.good), slices.Clone(b.skip)
	return &c
}

func (b *belief) learn(point int, v Verdict) {
	b.asked[point]++
	switch v {
	case Bad:
		b.bad[point]++
	case Good:
		b.good[point]++
	default:
		b.skip[point] = true
	}
}

// update works out the weights by Bayes' rule: a place is as likely as it was, times how likely what was seen is if the change is there.
func (b *belief) update() {
	b.weight, b.failMean, b.wrongMean = make([]float64, b.n+1), make([]float64, b.n+1), make([]float64, b.n+1)
	var badBelow, goodBelow, badAbove, goodAbove float64
	for i := range b.n {
		badAbove += float64(b.bad[i])
		goodAbove += float64(b.good[i])
	}
	logs := make([]float64, b.n+1)
	most := math.Inf(-1)
	for place := range b.n + 1 {
		if place > 0 {
			x, y := float64(b.bad[place-1]), float64(b.good[place-1])
			badBelow, goodBelow, badAbove, goodAbove = badBelow+x, goodBelow+y, badAbove-x, goodAbove-y
		}
		prior := outside
		if place > 0 && place < b.n {
			prior = (1 - 2*outside) / float64(b.n-1)
		}
		f, fTop := likelihoods(b.fail, badAbove, goodAbove)
		w, wTop := likelihoods(b.wrong, badBelow, goodBelow)
		var sum, fail, wrong, wSum, wMean float64
		k := 0
		for j, fr := range b.fail {
			for ; k < len(b.wrong) && b.wrong[k].value < fr.value; k++ {
				wSum += w[k]
				wMean += w[k] * b.wrong[k].value
			}
			sum += f[j] * wSum
			fail += f[j] * wSum * fr.value
			wrong += f[j] * wMean
		}
		logs[place] = math.Log(prior) + fTop + wTop + math.Log(sum)
		if sum > 0 {
			b.failMean[place], b.wrongMean[place] = fail/sum, wrong/sum
		} else {
			logs[place] = math.Inf(-1)
		}
		most = max(most, logs[place])
	}
	total := 0.0
	for i, l := range logs {
		if !math.IsInf(most, -1) {
			b.weight[i] = math.Exp(l - most)
		} else {
			b.weight[i] = 1 // what was seen is impossible by the rates that were given: nothing is learned from it
		}
		total += b.weight[i]
	}
	for i := range b.weight {
		b.weight[i] /= total
	}
}

// likelihoods is for each rate how likely so many answers are, times its own weight and e to the power of -top.
func likelihoods(rates []rate, bad, good float64) (out []float64, top float64) {
	out = make([]float64, len(rates))
	top = math.Inf(-1)
	for i, r := range rates {
		l := r.logWeight
		if bad > 0 {
			l += bad * r.log
		}
		if good > 0 {
			l += good * r.logRest
		}
		out[i] = l
		top = max(top, l)
	}
	if math.IsInf(top, -1) {
		top = 0
	}
	for i := range out {
		out[i] = math.Exp(out[i] - top)
	}
	return out, top
}

// next is the point whose answer is expected to leave least entropy, and how likely that answer is bad; -1 where no point can be asked.
func (b *belief) next() (point int, bad float64) {
	// For one answer, let u be a place's weight times how likely the answer is if the change is there. Then the entropy that is left,
	// times how likely the answer is, is S log S - T, with S the sum of all u and T that of all u log u. Places up to the point count by the rate of
	// bad points, those above it by that of good ones.
	type sums struct{ s, t float64 }
	add := func(x sums, u float64) sums {
		if u > 0 {
			x.s += u
			x.t += u * math.Log(u)
		}
		return x
	}
	left := func(x, y sums) float64 {
		s := x.s + y.s
		if s <= 0 {
			return 0
		}
		return s*math.Log(s) - x.t - y.t
	}
	above := make([][2]sums, b.n+2) // from this place on, as good points: said to be bad, to be good
	for i := b.n; i >= 0; i-- {
		above[i] = [2]sums{add(above[i+1][0], b.weight[i]*b.wrongMean[i]), add(above[i+1][1], b.weight[i]*(1-b.wrongMean[i]))}
	}
	var upTo [2]sums
	point = -1
	least := math.Inf(1)
	for i := range b.n {
		upTo = [2]sums{add(upTo[0], b.weight[i]*b.failMean[i]), add(upTo[1], b.weight[i]*(1-b.failMean[i]))}
		if b.skip[i] {
			continue
		}
		if h := left(upTo[0], above[i+1][0]) + left(upTo[1], above[i+1][1]); h < least-1e-12 {
			point, bad, least = i, upTo[0].s+above[i+1][0].s, h
		}
	}
	return point, bad
}

// likeliest is the place with the greatest weight, or the run of places from lo to hi that nothing can tell apart, with its weight.
func (b *belief) likeliest() (lo, hi int, prob float64) {
	for i := 0; i <= b.n; {
		j, sum := i, b.weight[i]
		for j < b.n && b.skip[j] {
			j++
			sum += b.weight[j]
		}
		if sum > prob {
			lo, hi, prob = i, j, sum
		}
		i = j + 1
	}
	return lo, hi, prob
}

// credible is the shortest run of places that is as likely as is wanted.
func (b *belief) credible(confidence float64) (lo, hi int, prob float64) {
	lo, hi, prob = 0, b.n, 1
	i, sum := 0, 0.0
	for j := range b.weight {
		sum += b.weight[j]
		for sum-b.weight[i] >= confidence {
			sum -= b.weight[i]
			i++
		}
		if sum >= confidence && j-i < hi-lo {
			lo, hi, prob = i, j, sum
		}
	}
	return lo, hi, prob
}

func (b *belief) result(lo, hi int, prob float64, answers int, cost Cost) (Likely, error) {
	r := Likely{Found: Found{Cost: cost}, Probability: prob, Posterior: slices.Clone(b.weight[:b.n]), Answers: answers}
	for i := range b.weight {
		r.Rates.Fail += b.weight[i] * b.failMean[i]
		r.Rates.False += b.weight[i] * b.wrongMean[i]
	}
	switch {
	case lo == 0 && hi == 0:
		return r, &EndsError{Answer{Verdict: Bad}, Answer{Verdict: Bad}}
	case lo == b.n:
		return r, &EndsError{Answer{Verdict: Good}, Answer{Verdict: Good}}
	}
	for i := lo; i <= min(hi, b.n-1); i++ {
		r.Suspects = append(r.Suspects, i)
	}
	return r, nil
}
