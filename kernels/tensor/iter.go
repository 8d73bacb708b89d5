package tensor

import (
	"slices"

	"whittle/kernels/parallel"
)

// Loop is a nest of loops over operands of one shape, with dimensions ordered and
// merged so that the inner loop is long and its strides small.
type Loop struct {
	Shape  []int64   // slowest first; at least one dimension
	Stride [][]int64 // per operand, in elements
	Start  []int64   // per operand, storage position of the first element
}

// NewLoop builds the loop over shape in which each operand is broadcast to it.
// The first operand (normally the output) decides the order of the dimensions first.
func NewLoop(shape []int64, ops ...*Tensor) *Loop {
	l := &Loop{Stride: make([][]int64, len(ops)), Start: make([]int64, len(ops))}
	raw := make([][]int64, len(ops))
	allContig := true
	for i, t := range ops {
		raw[i] = BroadcastStrides(t, shape)
		l.Start[i] = t.Offset
		if allContig && !(len(t.Shape) == len(shape) && Numel(t.Shape) == Numel(shape) && isContiguous(t.Shape, t.Stride)) {
			allContig = false
		}
	}
	if allContig || len(shape) == 0 {
		l.Shape = []int64{Numel(shape)}
		for i := range ops {
			l.Stride[i] = []int64{1}
			if len(shape) == 0 {
				l.Stride[i][0] = 0
			}
		}
		return l
	}
	perm := StrideOrder(shape, raw)
	// perm is fastest first; build slowest first, merging where every operand allows it.
	for k := len(perm) - 1; k >= 0; k-- {
		d := perm[k]
		if shape[d] == 1 && Numel(shape) != 0 {
			continue
		}
		last := len(l.Shape) - 1
		if last >= 0 {
			merge := true
			for i := range ops {
				if l.Stride[i][last] != raw[i][d]*shape[d] {
					merge = false
					break
				}
			}
			if merge {
				l.Shape[last] *= shape[d]
				for i := range ops {
					l.Stride[i][last] = raw[i][d]
				}
				continue
			}
		}
		l.Shape = append(l.Shape, shape[d])
		for i := range ops {
			l.Stride[i] = append(l.Stride[i], raw[i][d])
		}
	}
	if len(l.Shape) == 0 {
		l.Shape = []int64{1}
		for i := range ops {
			l.Stride[i] = []int64{0}
		}
	}
	return l
}

// Numel is the number of iterations.
func (l *Loop) Numel() int64 { return Numel(l.Shape) }

// Inner is the inner loop's stride of each operand.
func (l *Loop) Inner() []int64 {
	in := make([]int64, len(l.Stride))
	for i, s := range l.Stride {
		in[i] = s[len(s)-1]
	}
	return in
}

// swapped is l with dimensions a and b in each other's place.
func (l *Loop) swapped(a, b int) *Loop {
	turned := func(xs []int64) []int64 {
		xs = slices.Clone(xs)
		xs[a], xs[b] = xs[b], xs[a]
		return xs
	}
	s := &Loop{Shape: turned(l.Shape), Stride: make([][]int64, len(l.Stride)), Start: l.Start}
	for i := range s.Stride {
		s.Stride[i] = turned(l.Stride[i])
	}
	return s
}

// Rows calls f once per inner loop with the operands' storage positions; n is its length. f must not keep off.
func (l *Loop) Rows(f func(off []int64, n int64)) {
	if l.Numel() == 0 {
		return
	}
	nd := len(l.Shape)
	n := l.Shape[nd-1]
	off := append([]int64(nil), l.Start...)
	if nd == 1 {
		f(off, n)
		return
	}
	idx := make([]int64, nd-1)
	for {
		f(off, n)
		d := nd - 2
		for ; d >= 0; d-- {
			idx[d]++
			for i := range off {
				off[i] += l.Stride[i][d]
			}
			if idx[d] < l.Shape[d] {
				break
			}
			for i := range off {
				off[i] -= idx[d] * l.Stride[i][d]
			}
			idx[d] = 0
		}
		if d < 0 {
			return
		}
	}
}

// grain is the number of elements that are worth a thread.
const grain = 32768

// Parts calls f for loops that together are l, several at once where l is long enough to be worth it. Each element of the first operand must
// be written by one iteration alone.
func (l *Loop) Parts(f func(part *Loop)) {
	n := l.Numel()
	d := 0
	for d < len(l.Shape)-1 && l.Shape[d] < 8 { // a dimension with enough to share out
		d++
	}
	if n < 2*grain || l.Shape[d] < 2 {
		f(l)
		return
	}
	each := n / l.Shape[d]
	parallel.For(int(l.Shape[d]), int((grain+each-1)/each), func(lo, hi int) {
		part := &Loop{Shape: slices.Clone(l.Shape), Stride: l.Stride, Start: slices.Clone(l.Start)}
		part.Shape[d] = int64(hi - lo)
		for i := range part.Start {
			part.Start[i] += int64(lo) * l.Stride[i][d]
		}
		f(part)
	})
}
