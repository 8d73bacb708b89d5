package cli

import (
	"time"
)

// patience is how long a compilation may take before it counts as a hang.
type patience struct {
	given time.Duration  // by the user; 0 => found out
	slow  func() float64 // how many times slower this machine is just now than one with nothing else to do
}

// A compilation on an idle machine takes far less than this for each call of its graph, and a C++ compiler's first start is in the first part.
const (
	firstCompile = 30 * time.Second
	callCompile  = 250 * time.Millisecond
)

// first is after how long a compilation of so many calls is looked at.
func (p patience) first(calls int) time.Duration {
	if p.given > 0 {
		return p.given
	}
	return firstCompile + time.Duration(calls)*callCompile
}

// more is how much longer it may take when first is over, 0 for a hang. The machine is measured then and not before: it is what it is like
// while the compilation runs that counts.
func (p patience) more(calls int, taken time.Duration) time.Duration {
	if p.given > 0 {
		return 0
	}
	return max(0, time.Duration(float64(p.first(calls))*max(1, p.slow()))-taken)
}

// idle is what work takes on a machine with nothing else to do, slow as one may be that PyTorch is used on.
const idle = 200 * time.Millisecond

// slowness measures the machine: a piece of work of one core against what it takes where nothing else runs.
func slowness() float64 {
	begin := time.Now()
	x := uint64(88172645463325252)
	for range 60_000_000 { // a chain of shifts: neither memory nor vector units matter
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	took := time.Since(begin)
	if x == 0 { // never: the work has to be done
		return 1
	}
	return max(1, float64(took)/float64(idle))
}
