package bisect

import (
	"context"
	"slices"
)

// Deciding is what a search among settings came to.
type Deciding struct {
	Set []int // differences that make a good configuration bad: none of them can be left out
	// Workaround is differences that make the bad configuration good when they alone are as in the good one: none of them can be left out. nil: none
	// was found, because too much cannot be tested.
	Workaround []int
	Cost       Cost
}

// Settings finds the smallest set of n differences between a good and a bad configuration that decides, and the smallest workaround. A trial's
// set says which differences are as in the bad configuration.
//
// k differences that are needed together take about k (log n + 2) tests: the shortest beginning of the list that is enough ends in one that is
// needed; with it held, the next is looked for before it. "Smallest" is what delta debugging means by it: nothing can be left out. The error
// is an *EndsError where the configurations do not differ.
func (s *Search) Settings(ctx context.Context, n int) (Deciding, error) {
	d, err := s.Decide(ctx, n)
	if err == nil {
		d.Workaround, err = s.workaround(ctx, upTo(n), d.Set)
		d.Cost = s.cost
	}
	return d, err
}

// Decide is Settings without the workaround, which takes many tests where many differences are each enough.
func (s *Search) Decide(ctx context.Context, n int) (Deciding, error) {
	if n == 0 {
		return Deciding{}, ErrTooFew
	}
	all := upTo(n)
	ends, err := s.ask(ctx, nil, Trial{Set: all}, Trial{})
	if err != nil {
		return Deciding{Cost: s.cost}, err
	}
	if ends[0].Verdict != Bad || ends[1].Verdict != Good {
		return Deciding{Cost: s.cost}, &EndsError{First: ends[1], Last: ends[0]}
	}
	var d Deciding
	d.Set, err = s.fewest(ctx, all, func(set []int) Trial { return Trial{Set: set} }, Bad)
	d.Cost = s.cost
	return d, err
}

// upTo is the numbers below n.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// workaround finds the fewest of all differences without which the configuration is good. Those that decide come first: most often one of them is
// enough.
func (s *Search) workaround(ctx context.Context, all, deciding []int) ([]int, error) {
	without := func(set []int) Trial {
		return Trial{Set: slices.DeleteFunc(slices.Clone(all), func(i int) bool { return slices.Contains(set, i) })}
	}
	for _, i := range deciding {
		a, err := s.ask(ctx, nil, without([]int{i}))
		if err != nil {
			return nil, err
		}
		if a[0].Verdict == Good {
			return []int{i}, nil
		}
	}
	rest := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return slices.Contains(deciding, i) })
	return s.fewest(ctx, append(slices.Clone(deciding), rest...), without, Good)
}

// fewest finds the fewest items for which a trial gives the verdict that is wanted. It is known that all of them give it, and that none do not.
//
// What holds all the time: the items held, with those left, give the verdict; each one held is needed, as far as the tests so far can tell.
func (s *Search) fewest(ctx context.Context, items []int, trial func(set []int) Trial, want Verdict) ([]int, error) {
	held, left := []int{}, items
	with := func(more []int) Trial {
		set := append(slices.Clone(held), more...)
		slices.Sort(set)
		return trial(set)
	}
	for len(left) > 0 {
		if len(held) > 0 {
			a, err := s.ask(ctx, nil, with(nil))
			if err != nil {
				return nil, err
			}
			if a[0].Verdict == want {
				break
			}
		}
		h := &hunt{s: s, n: len(left) + 1, trial: func(i int) Trial { return with(left[:i]) }, fixed: want == Good, tested: map[int]Verdict{0: Good, len(left): Bad}}
		for i := range left {
			h.left = append(h.left, i+1)
		}
		if err := h.run(ctx); err != nil {
			return nil, err
		}
		// Where skips hide which one is needed, all that it can be are held: the sweep tries them one by one.
		first, last := h.left[0], h.left[len(h.left)-1]
		held, left = append(slices.Clone(left[first-1:last]), held...), left[:first-1]
	}
	return s.sweep(ctx, held, trial, want)
}

// sweep takes items away one by one, as long as the verdict stays.
func (s *Search) sweep(ctx context.Context, held []int, trial func(set []int) Trial, want Verdict) ([]int, error) {
	slices.Sort(held)
	for i := 0; i < len(held) && len(held) > 1; {
		var tries []Trial
		for j := i; j < len(held) && j < i+s.workers(); j++ {
			tries = append(tries, trial(slices.Delete(slices.Clone(held), j, j+1)))
		}
		answers, err := s.ask(ctx, nil, tries...)
		if err != nil {
			return nil, err
		}
		if k := slices.IndexFunc(answers, func(a Answer) bool { return a.Verdict == want }); k >= 0 {
			i += k
			held = slices.Delete(held, i, i+1)
			continue
		}
		i += len(tries)
	}
	return held, nil
}
