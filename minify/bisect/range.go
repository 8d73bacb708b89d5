package bisect

import (
	"context"
	"maps"
	"slices"
)

// Found is what a bisection came to.
type Found struct {
	// Suspects are the points that can be the first of the other kind, ascending. One: it is the first. More: those between that cannot be
	// tested hide which it is.
	Suspects []int
	Fixed    bool // the change goes from bad to good: Suspects are the first good
	// Doubts are pairs that do not go with one change: the first of a pair is past the change, the second comes after it and is as before the change.
	// What is found is a change all the same; there is another one.
	Doubts [][2]int
	Cost   Cost
}

// Decided reports whether one point is left.
func (f Found) Decided() bool { return len(f.Suspects) == 1 }

// Range finds the first bad of n points, of which the first is good and the last is bad; or the first good one, if the ends are the other way round.
// The ends are tested before anything is concluded. parents gives the points that one was made from, which have lower numbers; a point without
// parents counts as made from something good. nil stands for a chain.
//
// W workers ask W points at a time, which takes a chain of n points in log n to the base W+1 rounds. The error is an *EndsError where the ends do not
// differ.
func (s *Search) Range(ctx context.Context, n int, parents func(i int) []int) (Found, error) {
	if n < 2 {
		return Found{}, ErrTooFew
	}
	h := &hunt{s: s, order: order{parents}, n: n, trial: func(i int) Trial { return Trial{Point: i} }, tested: map[int]Verdict{}}
	if err := h.ends(ctx); err != nil {
		return Found{Cost: s.cost}, err
	}
	err := h.run(ctx)
	return Found{Suspects: h.left, Fixed: h.fixed, Doubts: h.doubts, Cost: s.cost}, err
}

// hunt is the search for the first bad point.
//
// What holds all the time: one of left is known to be bad, and the others come before it; nothing of left comes before a point that is known to be
// good. So the first bad point is one of them. A bad answer leaves those that come before it, itself included, a good one those that do not,
// and a skip leaves them all.
type hunt struct {
	s      *Search
	order  order
	n      int
	trial  func(i int) Trial // that asks about a point
	fixed  bool              // good and bad have changed places
	left   []int             // ascending
	tested map[int]Verdict   // as said, or as the ends have it where fixed
	skips  int               // in a row, since left became smaller
	doubts [][2]int
}

// ends tests both ends; workers beyond two begin with points in between.
func (h *hunt) ends(ctx context.Context) error {
	h.left = make([]int, 0, h.n-1)
	for i := 1; i < h.n; i++ {
		h.left = append(h.left, i)
	}
	first, last := 0, h.n-1
	h.tested[last] = Bad // for now, so that it is not picked
	probes := append([]int{last, first}, h.pick(h.s.workers()-2)...)
	delete(h.tested, last)
	answers, err := h.ask(ctx, probes)
	if err != nil {
		return err
	}
	a, b := answers[1], answers[0]
	switch {
	case a.Verdict == Good && b.Verdict == Bad:
	case a.Verdict == Bad && b.Verdict == Good:
		h.fixed = true
	default:
		return &EndsError{a, b}
	}
	h.narrow(probes, answers)
	return nil
}

func (h *hunt) ask(ctx context.Context, points []int) ([]Answer, error) {
	trials := make([]Trial, len(points))
	for i, p := range points {
		trials[i] = h.trial(p)
	}
	return h.s.ask(ctx, func(so map[string]Verdict) []Trial { return h.likely(points, so) }, trials...)
}

// likely is what is asked after these points, for each that can turn out to be the oldest bad one among them, given the answers so far: the
// one that leaves most comes first, as the change is likeliest there.
func (h *hunt) likely(points []int, so map[string]Verdict) []Trial {
	var futures []*hunt
	for i := range len(points) + 1 { // points[:i] are good, and the next one is bad
		answers := make([]Answer, len(points))
		possible := true
		for j, p := range slices.Sorted(slices.Values(points)) {
			v := Good
			if j >= i {
				v = Bad
			}
			said, ok := so[h.trial(p).key()]
			if ok && h.fixed && said != Skip {
				said = map[Verdict]Verdict{Good: Bad, Bad: Good}[said]
			}
			if ok && said == Skip {
				v = Skip
			}
			possible = possible && (!ok || said == v)
			answers[j].Verdict = v
		}
		if possible {
			f := &hunt{s: h.s, order: h.order, n: h.n, trial: h.trial, left: h.left, skips: h.skips, tested: maps.Clone(h.tested)}
			f.narrow(slices.Sorted(slices.Values(points)), answers)
			futures = append(futures, f)
		}
	}
	slices.SortStableFunc(futures, func(a, b *hunt) int { return len(b.left) - len(a.left) })
	var out []Trial
	for _, f := range futures {
		for _, p := range f.pick(h.s.workers()) {
			out = append(out, h.trial(p))
		}
	}
	return out
}

// run asks until nothing is left to be asked.
func (h *hunt) run(ctx context.Context) error {
	for {
		probes := h.pick(h.s.workers())
		if len(probes) == 0 {
			return nil
		}
		answers, err := h.ask(ctx, probes)
		if err != nil {
			return err
		}
		h.narrow(probes, answers)
	}
}

// pick chooses up to k points to ask next: they divide what is left evenly. After a skip its neighbours are likely to be skipped, too: the next
// points then are far away from it.
func (h *hunt) pick(k int) []int {
	free := func(p int) bool { _, ok := h.tested[p]; return !ok }
	weights := h.order.weights(h.left)
	var out []int
	for i := 1; i <= k; i++ {
		share := float64(i) / float64(k+1)
		if h.skips > 0 {
			share = spread(h.skips + i)
		}
		want, best, gap := share*float64(len(h.left)), -1, 0.0
		for j, p := range h.left {
			if !free(p) || slices.Contains(out, p) {
				continue
			}
			if g := max(float64(weights[j])-want, want-float64(weights[j])); best < 0 || g < gap {
				best, gap = p, g
			}
		}
		if best >= 0 {
			out = append(out, best)
		}
	}
	return out
}

// spread is the i-th of a sequence of shares that fills the range from 0 to 1 evenly: 1/2, 1/4, 3/4, 1/8 and so on (van der Corput's).
func spread(i int) float64 {
	x, step := 0.0, 0.5
	for ; i > 0; i /= 2 {
		x += step * float64(i%2)
		step /= 2
	}
	return x
}

// narrow draws the conclusions from answers about points of left, or about the ends. Where a good point comes after a bad one, the bad one counts.
func (h *hunt) narrow(points []int, answers []Answer) {
	were := len(h.left)
	byPoint := map[int]Verdict{}
	for i, p := range points {
		v := answers[i].Verdict
		if h.fixed && v != Skip {
			v = map[Verdict]Verdict{Good: Bad, Bad: Good}[v]
		}
		h.tested[p], byPoint[p] = v, v
		if v == Skip {
			h.skips++
		}
	}
	slices.Sort(points)
	var before []bool // what comes before the bad point that leaves fewest, the oldest of those that do
	at, fewest := -1, len(h.left)+1
	for _, p := range points {
		if byPoint[p] != Bad {
			continue
		}
		reach := h.order.reach(p, h.n)
		if k := len(h.keep(func(q int) bool { return reach[q] })); k < fewest {
			before, at, fewest = reach, p, k
		}
	}
	if at >= 0 {
		h.left = h.keep(func(q int) bool { return before[q] })
	}
	for _, p := range points {
		if byPoint[p] != Good {
			continue
		}
		reach := h.order.reach(p, h.n)
		if at >= 0 && reach[at] {
			h.doubts = append(h.doubts, [2]int{at, p})
			continue
		}
		h.left = h.keep(func(q int) bool { return !reach[q] })
	}
	if len(h.left) < were {
		h.skips = 0
	}
}

func (h *hunt) keep(ok func(p int) bool) []int {
	var out []int
	for _, p := range h.left {
		if ok(p) {
			out = append(out, p)
		}
	}
	return out
}
