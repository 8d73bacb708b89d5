package ir

import (
	"cmp"
	"slices"
)

// reindex gives l other axes: axis i of the old ones is to[i] over the new.
func (l *Loops) reindex(ranges, reduction []int64, to []Index) {
	sizes := slices.Concat(ranges, reduction)
	f := func(x Index) Index { return x.Replace(to, sizes) }
	l.At = f(l.At)
	l.Value = l.Value.Rewrite(f)
	l.Ranges, l.Reduction = ranges, reduction
}

// Indices calls f for the indices of all loads and axis values of l, and of what it writes.
func (l *Loops) Indices(f func(Index)) {
	f(l.At)
	l.Value.visit(func(e *Expr) {
		if e.Kind == Load || e.Kind == AxisValue {
			f(e.At)
		}
	})
}

// Simplify gives l the axes that suit its memory: none of size 1, no axis that loads see in two parts where the parts can be axes, and the axes in
// the order of the memory that they walk, those that are written for what is kept, those that are read for what is reduced.
func (l *Loops) Simplify() {
	to := make([]Index, len(l.Sizes()))
	for i := range to {
		to[i] = Axis(i)
	}
	l.reindex(l.Ranges, l.Reduction, to)
	l.dropOnes()
	for l.split() {
	}
	l.order()
}

// dropOnes removes axes of size 1.
func (l *Loops) dropOnes() {
	if !slices.Contains(l.Ranges, 1) && !slices.Contains(l.Reduction, 1) {
		return
	}
	var to []Index
	var kept [2][]int64
	n := 0
	for k, sizes := range [][]int64{l.Ranges, l.Reduction} {
		for i, s := range sizes {
			if s == 1 && !(k == 1 && len(kept[1]) == 0 && i == len(sizes)-1) { // a reduction keeps an axis
				to = append(to, Index{})
				continue
			}
			to = append(to, Axis(n))
			kept[k] = append(kept[k], s)
			n++
		}
	}
	l.reindex(kept[0], kept[1], to)
}

// split cuts one axis in two where a load takes it apart, and reports whether there was one.
func (l *Loops) split() bool {
	sizes := l.Sizes()
	axis, at := -1, int64(0)
	l.Indices(func(x Index) {
		for _, t := range x.More {
			i := slices.IndexFunc(t.Of.Coef, func(c int64) bool { return c != 0 })
			if axis >= 0 || i < 0 || t.Of.Coef[i] != 1 || t.Of.Const != 0 || !t.Of.Affine() || slices.IndexFunc(t.Of.Coef[i+1:], func(c int64) bool { return c != 0 }) >= 0 {
				continue
			}
			d := t.Div
			if d == 1 {
				d = t.Mod
			}
			if d > 1 && d < sizes[i] && sizes[i]%d == 0 {
				axis, at = i, d
			}
		}
	})
	if axis < 0 {
		return false
	}
	l.Split(axis, at)
	return true
}

// Split makes two axes of one: what was i is then inner*i + the next, which has size inner.
func (l *Loops) Split(axis int, inner int64) {
	to := make([]Index, len(l.Sizes()))
	for i := range to {
		switch {
		case i < axis:
			to[i] = Axis(i)
		case i == axis:
			to[i] = Axis(i+1).Plus(Axis(i), inner)
		default:
			to[i] = Axis(i + 1)
		}
	}
	ranges, reduction := slices.Clone(l.Ranges), slices.Clone(l.Reduction)
	if axis < len(ranges) {
		ranges = slices.Replace(ranges, axis, axis+1, ranges[axis]/inner, inner)
	} else {
		k := axis - len(ranges)
		reduction = slices.Replace(reduction, k, k+1, reduction[k]/inner, inner)
	}
	l.reindex(ranges, reduction, to)
}

// order sorts the ranges by how far apart their elements are written, and the reduced axes by how far apart they are read, the nearest last.
func (l *Loops) order() {
	n := len(l.Ranges)
	perm := make([]int, n+len(l.Reduction))
	for i := range perm {
		perm[i] = i
	}
	if l.At.Affine() {
		slices.SortStableFunc(perm[:n], func(a, b int) int { return cmp.Compare(abs(l.At.At(b)), abs(l.At.At(a))) })
	}
	if x, ok := l.walked(); ok {
		slices.SortStableFunc(perm[n:], func(a, b int) int { return cmp.Compare(abs(x.At(b)), abs(x.At(a))) })
	}
	if slices.IsSorted(perm) {
		return
	}
	sizes := l.Sizes()
	to := make([]Index, len(perm))
	var out []int64
	for at, i := range perm {
		to[i] = Axis(at)
		out = append(out, sizes[i])
	}
	l.reindex(out[:n:n], out[n:], to)
}

// Merge makes one axis of axes a and a+1, which all indices walk as one: their coefficients differ by the size of axis a+1.
func (l *Loops) Merge(a int) {
	drop := func(x Index) Index {
		if a < len(x.Coef) {
			x.Coef = slices.Delete(slices.Clone(x.Coef), a, a+1)
		}
		return x
	}
	l.At, l.Value = drop(l.At), l.Value.Rewrite(drop)
	sizes, n := l.Sizes(), len(l.Ranges)
	sizes = slices.Replace(sizes, a, a+2, sizes[a]*sizes[a+1])
	if a < n {
		n--
	}
	l.Ranges, l.Reduction = sizes[:n:n], sizes[n:]
}

// walked is the index of the load that walks most of the reduced axes; of several the first.
func (l *Loops) walked() (at Index, ok bool) {
	most := 0
	l.Value.Reads(func(e *Expr) {
		n := 0
		for i := range l.Reduction {
			if e.At.At(len(l.Ranges)+i) != 0 {
				n++
			}
		}
		if n > most {
			at, most, ok = e.At, n, true
		}
	})
	return at, ok
}

// Columns reports whether l is a reduction whose neighbours in memory are of different results: its last kept axis walks memory
// in smaller steps than its reduced axes do.
func (l *Loops) Columns() bool {
	x, ok := l.walked()
	if l.Reduce == "" || len(l.Ranges) == 0 || !ok {
		return false
	}
	kept := abs(x.At(len(l.Ranges) - 1))
	if kept == 0 {
		return false
	}
	for i := range l.Reduction {
		if c := abs(x.At(len(l.Ranges) + i)); c != 0 && c < kept {
			return false
		}
	}
	return true
}

func abs(x int64) int64 { return max(x, -x) }

// SharesInner reports whether a and b, which share their first p ranges, may run in one loop over the others: with the same sizes, and with the same of
// them reduced if both reduce. A plain loop runs along with a reduction of a whole row.
func (a *Loops) SharesInner(b *Loops, p int) bool {
	if a.Reduce != "" && b.Reduce != "" {
		return slices.Equal(a.Ranges[p:], b.Ranges[p:]) && slices.Equal(a.Reduction, b.Reduction) && (len(a.Ranges) == p || a.Columns() == b.Columns())
	}
	if a.Reduce != "" && len(a.Ranges) > p || b.Reduce != "" && len(b.Ranges) > p {
		return false
	}
	return slices.Equal(a.Sizes()[p:], b.Sizes()[p:])
}
