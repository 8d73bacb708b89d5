package sched

import (
	"slices"

	"whittle/lowering/ir"
)

// A Nest is loops that run together: their first Outer ranges are the same, and for each point of those the stages run one after another. What a
// stage writes, a later one finds in the cache.
type Nest struct {
	Outer  int
	Stages []Stage
}

// A Stage is loops over one inner space, which share its loops: what one computes, a later one of the stage has at hand.
type Stage struct {
	Loops []*ir.Loops
}

// Loops are those of all stages, in order.
func (n Nest) Loops() []*ir.Loops {
	var out []*ir.Loops
	for _, s := range n.Stages {
		out = append(out, s.Loops...)
	}
	return out
}

// A Machine is what nests are made for.
type Machine struct {
	// Outer is how many points the outer space of a nest has at least where other loops join for it: fewer would leave threads without work.
	Outer int64
	// Columns says that reductions of neighbours in memory are computed side by side, so that their last kept axis is no outer one.
	Columns bool
	// Points says that a stage may read what another wrote at the very same point alone, and not all over the row.
	Points bool
	// Fits says of a nest whether the machine can run it as one; nil => any.
	Fits func(Nest) bool
}

// CPU is a processor that runs nests as loops.
var CPU = Machine{Outer: 16, Columns: true}

// maxNest is how many loops a nest has at most: registers and the cache end, and so does the patience of a compiler.
const maxNest = 48

// Nests arranges the loops of a kernel in nests. A loop joins the last nest that has the same outer space, or most of it, where what it reads of
// the nest's results at a point was written at that point, and where no nest in between is in the way; else it begins a nest of its own.
func (m Machine) Nests(group []*ir.Loops) []Nest {
	var out []Nest
loops:
	for _, l := range group {
		for i := len(out) - 1; i >= 0; i-- {
			if n, ok := m.with(out[i], l); ok {
				out[i] = n
				continue loops
			}
			if slices.ContainsFunc(out[i].Loops(), func(w *ir.Loops) bool { return meet(w, l, 0) != never }) {
				break
			}
		}
		n, _ := m.arrange([]*ir.Loops{l}, m.most(l))
		out = append(out, n)
	}
	return out
}

// most is how many ranges of l may be outer ones: all, unless its results are computed in rows.
func (m Machine) most(l *ir.Loops) int {
	if m.Columns && l.Columns() {
		return len(l.Ranges) - 1
	}
	return len(l.Ranges)
}

// with is n and l in one nest, with as many outer ranges as can be.
func (m Machine) with(n Nest, l *ir.Loops) (Nest, bool) {
	have := n.Loops()
	if len(have) >= maxNest || slices.Contains(l.Ranges, 0) || slices.Contains(have[0].Ranges, 0) { // where a size is 0 there is nothing to gain
		return n, false
	}
	if related(have, l) {
		if h, c, p := align(have, l, n.Outer); !(short(h) && !short(have) || short([]*ir.Loops{c}) && !short([]*ir.Loops{l})) || flows(have, l) {
			have, l, n.Outer = h, c, p
		}
	}
	first := have[0]
	p := min(n.Outer, m.most(l))
	for k := range p {
		if first.Ranges[k] != l.Ranges[k] {
			p = k
			break
		}
	}
	for ; p >= 0; p-- {
		plain := p == n.Outer && p == len(l.Ranges) && l.Reduce == "" // over the same space
		if !plain && size(l.Ranges[:p]) < m.Outer || p < n.Outer && !related(have, l) {
			return n, false
		}
		if joined, ok := m.arrange(append(have, l), p); ok && (m.Fits == nil || m.Fits(joined)) {
			return joined, true
		}
	}
	return n, false
}

// align cuts ranges in two where the first p of have, which these share, and those of l are the same space cut differently. It changes copies.
func align(have []*ir.Loops, l *ir.Loops, p int) ([]*ir.Loops, *ir.Loops, int) {
	split := func(x *ir.Loops, axis int, outer int64) *ir.Loops {
		c := *x
		c.Split(axis, x.Ranges[axis]/outer)
		return &c
	}
	for k := 0; k < p && k < len(l.Ranges); k++ {
		a, b := have[0].Ranges[k], l.Ranges[k]
		switch {
		case a == b:
		case a > b && a%b == 0:
			cut := make([]*ir.Loops, len(have))
			for i, h := range have {
				cut[i] = split(h, k, b)
			}
			have = cut
			p++
		case b > a && b%a == 0:
			l = split(l, k, a)
		default:
			return have, l, p
		}
	}
	return have, l, p
}

// fewPoints is how many points along its last axis a plain loop has that is a loop for little more than its own sake.
const fewPoints = 32

// short reports whether one of the loops is plain and has few points along its last axis.
func short(loops []*ir.Loops) bool {
	return slices.ContainsFunc(loops, func(l *ir.Loops) bool {
		return l.Reduce == "" && len(l.Ranges) > 0 && l.Ranges[len(l.Ranges)-1] < fewPoints
	})
}

// flows reports whether one of the loops and l touch memory that one of the two writes.
func flows(have []*ir.Loops, l *ir.Loops) bool {
	return slices.ContainsFunc(have, func(w *ir.Loops) bool { return meet(w, l, 0) != never })
}

// size is the number of points of a space.
func size(s []int64) int64 {
	n := int64(1)
	for _, v := range s {
		n *= v
	}
	return n
}

// related reports whether l touches memory that the loops touch.
func related(have []*ir.Loops, l *ir.Loops) bool {
	mem := map[*ir.Buffer]bool{}
	for _, h := range have {
		mem[h.Out.Owner()] = true
		h.Value.Reads(func(e *ir.Expr) { mem[e.Buf.Owner()] = true })
	}
	found := mem[l.Out.Owner()]
	l.Value.Reads(func(e *ir.Expr) { found = found || mem[e.Buf.Owner()] })
	return found
}

// arrange puts loops in stages under p outer ranges, each in the first stage that has its inner space and comes after what it needs.
func (m Machine) arrange(loops []*ir.Loops, p int) (Nest, bool) {
	n := Nest{Outer: p}
	at := make([]int, len(loops)) // the stage of each
	for i, l := range loops {
		first := 0
		for k, w := range loops[:i] {
			switch meet(w, l, p) {
			case apart:
				return n, false
			case row:
				if m.Points {
					return n, false
				}
				first = max(first, at[k]+1)
			case point:
				first = max(first, at[k])
				if w.Reduce != "" { // its result is there when its loops have ended
					first = max(first, at[k]+1)
				}
			}
		}
		at[i] = len(n.Stages)
		for s := first; s < len(n.Stages); s++ {
			if n.Stages[s].Loops[0].SharesInner(l, p) {
				at[i] = s
				break
			}
		}
		if at[i] == len(n.Stages) {
			n.Stages = append(n.Stages, Stage{})
		}
		n.Stages[at[i]].Loops = append(n.Stages[at[i]].Loops, l)
	}
	return n, true
}

// meeting says how two loops of a nest meet in memory.
type meeting uint8

const (
	never meeting = iota // they touch no memory of which one of them writes
	point                // what one writes, the other touches at the same point
	row                  // ... at the same point of the outer space
	apart                // ... or anywhere
)

// meet says how w and the later l meet under p outer ranges.
func meet(w, l *ir.Loops, p int) meeting {
	m := never
	l.Value.Reads(func(e *ir.Expr) {
		if e.Buf.Owner() == w.Out.Owner() {
			m = max(m, read(w, e, l.Sizes(), p))
		}
	})
	w.Value.Reads(func(e *ir.Expr) {
		if e.Buf.Owner() == l.Out.Owner() {
			m = max(m, read(l, e, w.Sizes(), p))
		}
	})
	if w.Out.Owner() == l.Out.Owner() && !(w.Part && l.Part) {
		m = max(m, touch(w, l.At, l.Ranges, l.Out.DType.Size(), p))
	}
	return m
}

// read says where a load of another loop with the given sizes touches what w writes: anywhere, if memory says where it reads.
func read(w *ir.Loops, e *ir.Expr, sizes []int64, p int) meeting {
	if !e.Direct() {
		return apart
	}
	return touch(w, e.At, sizes, e.Buf.DType.Size(), p)
}

// touch says where another loop with the given sizes, by an index of elements of some bytes, touches what w writes.
func touch(w *ir.Loops, at ir.Index, sizes []int64, bytes int, p int) meeting {
	if bytes != w.Out.DType.Size() || !at.Affine() || !w.At.Affine() {
		return apart
	}
	// Memory that is never common.
	wlo, whi := w.At.Bounds(w.Ranges)
	if lo, hi := at.Bounds(sizes); hi < wlo || whi < lo {
		return never
	}
	if at.Const != w.At.Const {
		return apart
	}
	for i := range p {
		if at.At(i) != w.At.At(i) {
			return apart
		}
	}
	same := true
	free := map[[2]int64]int{} // the inner axes of w: their steps and sizes
	for i := p; i < len(w.Ranges); i++ {
		free[[2]int64{w.At.At(i), w.Ranges[i]}]++
		same = same && i < len(sizes) && sizes[i] == w.Ranges[i] && at.At(i) == w.At.At(i)
	}
	for i := p; i < len(sizes); i++ {
		if at.At(i) == 0 {
			continue
		}
		same = same && i < len(w.Ranges)
		k := [2]int64{at.At(i), sizes[i]}
		if free[k]--; free[k] < 0 {
			return apart
		}
	}
	if same {
		return point
	}
	return row
}
