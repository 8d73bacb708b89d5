package main

import (
	"fmt"
	"slices"
	"strings"
)

// A timing is what one row took, ours and theirs: of each round the times of its calls.
type timing struct {
	row          string
	ours, theirs [][]float64
	failed       string // what a side failed by
	gone         bool   // it was theirs
}

// figures are what is said of a timing.
type figures struct {
	ours, theirs float64 // the best
	best, median float64 // ours by theirs
	low, high    float64 // of the best of each round
}

// figures compares the best of all calls, their medians, and the best of each round.
func (t *timing) figures() figures {
	f := figures{ours: slices.Min(slices.Concat(t.ours...)), theirs: slices.Min(slices.Concat(t.theirs...))}
	f.best = f.ours / f.theirs
	f.median = median(slices.Concat(t.ours...)) / median(slices.Concat(t.theirs...))
	for i := range min(len(t.ours), len(t.theirs)) {
		r := slices.Min(t.ours[i]) / slices.Min(t.theirs[i])
		if i == 0 {
			f.low, f.high = r, r
		}
		f.low, f.high = min(f.low, r), max(f.high, r)
	}
	return f
}

// median is the middle one of xs, or the mean of the two that are.
func median(xs []float64) float64 {
	xs = slices.Sorted(slices.Values(xs))
	n := len(xs)
	return (xs[(n-1)/2] + xs[n/2]) / 2
}

// turns prints rows that were measured in turns, and sums them up: by the best times and by the medians, the median of the ratios, the share of rows
// at most 2, and the worst. A row that we fail in counts as one that is slower than any.
func turns(ts []timing, other string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-44s %12s %12s %8s %8s %17s\n", "row", "whittle ms", other+" ms", "best", "median", "rounds")
	var best, middle []figures
	var failed, gone []string
	name := map[figures]string{}
	for i := range ts {
		t := &ts[i]
		switch {
		case t.gone:
			gone = append(gone, t.row+": "+t.failed)
			continue
		case t.failed != "":
			failed = append(failed, t.row+": "+t.failed)
			continue
		}
		f := t.figures()
		name[f] = t.row
		best, middle = append(best, f), append(middle, f)
		fmt.Fprintf(&b, "%-44s %12.4f %12.4f %8.3f %8.3f %8.3f-%8.3f\n", t.row, 1e3*f.ours, 1e3*f.theirs, f.best, f.median, f.low, f.high)
	}
	for _, f := range failed {
		fmt.Fprintln(&b, "failed:", f)
	}
	for _, f := range gone {
		fmt.Fprintf(&b, "failed in %s: %s\n", other, f)
	}
	sum := func(what string, fs []figures, by func(figures) float64) {
		if len(fs) == 0 {
			return
		}
		slices.SortFunc(fs, func(a, b figures) int {
			if by(a) < by(b) {
				return -1
			}
			return 1
		})
		var rs []float64
		two, five := 0, len(failed)
		for _, f := range fs {
			rs = append(rs, by(f))
			if by(f) <= 2 {
				two++
			}
			if by(f) > 5 {
				five++
			}
		}
		worst := fs[len(fs)-1]
		fmt.Fprintf(&b, "ratio by %s: median %.3f, at most 2: %.1f %%, over 5: %d, worst %.3f (%s), of %d rows, %d failed\n",
			what, median(rs), 100*float64(two)/float64(len(fs)+len(failed)), five, by(worst), name[worst], len(fs), len(failed))
	}
	sum("best", best, func(f figures) float64 { return f.best })
	sum("median", middle, func(f figures) float64 { return f.median })
	return b.String()
}

// limits prints rows with what they move or compute in a second, and the part that it is of what the machine can.
func limits(rows []row, bytes, flops float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-24s %12s %10s %6s\n", "row", "ms", "G/s", "part")
	fmt.Fprintf(&b, "%-24s %12s %10.2f\n%-24s %12s %10.2f\n", "a copy (bytes)", "", bytes/1e9, "multiply and add (flops)", "", flops/1e9)
	for _, r := range rows {
		of, what := bytes, r.Bytes
		if r.Flops > 0 {
			of, what = flops, r.Flops
		}
		fmt.Fprintf(&b, "%-24s %12.4f %10.2f %4.0f %%\n", r.Row, 1e3*r.Seconds, what/r.Seconds/1e9, 100*what/r.Seconds/of)
	}
	return b.String()
}
