package aten

import (
	"slices"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Rows and slices written at indexed places, without a list of positions. What repeats is written in the order of the index, whatever the number of
// threads: each thread has places of its own.

// A joining says how an element is written where there is one.
type joining int

const (
	storing joining = iota
	adding
	multiplying
	greatest
	least
)

// joiningOf is the joining that a reduction goes by; what a mean divides by is another matter.
var joiningOf = map[string]joining{"sum": adding, "add": adding, "mean": adding, "prod": multiplying, "multiply": multiplying, "amax": greatest, "amin": least}

// joiningOp are the kernels of joinings that are slow element by element.
var joiningOp = [...]native.Op{greatest: native.Max, least: native.Min}

type worded interface{ float32 | float64 | int64 }

// join is what becomes of old where x is written.
func join[T worded](how joining, old, x T) T {
	switch how {
	case adding:
		return old + x
	case multiplying:
		return old * x
	case greatest:
		return max(old, x)
	case least:
		return min(old, x)
	}
	return x
}

// joinRow writes x over y, which is as long.
func joinRow[T worded](how joining, y, x []T) {
	x = x[:len(y)]
	if op := joiningOp[how]; op != 0 && len(y) >= 32 {
		switch y := any(y).(type) {
		case []float32:
			native.Binary32(op, y, y, any(x).([]float32))
			return
		case []float64:
			native.Binary64(op, y, y, any(x).([]float64))
			return
		}
	}
	switch how {
	case storing:
		copy(y, x)
	case adding:
		for i := range y {
			y[i] += x[i]
		}
	case multiplying:
		for i := range y {
			y[i] *= x[i]
		}
	case greatest:
		for i := range y {
			y[i] = max(y[i], x[i])
		}
	case least:
		for i := range y {
			y[i] = min(y[i], x[i])
		}
	}
}

// joinSlices writes slice j of v along dim to slice at[j] of o: false for types and shapes that it does not know. With fresh, the first slice that is
// written to a place replaces what was there.
func joinSlices(o *tensor.Tensor, d int64, at []int64, v *tensor.Tensor, how joining, fresh bool) bool {
	if o.DType != v.DType || o.Dim() == 0 || o.Dim() != v.Dim() || o.HasInternalOverlap() || v.Shape[d] != int64(len(at)) || !sameBut(o.Shape, v.Shape, d) {
		return false
	}
	to, done := lent(o)
	defer done()
	switch o.DType {
	case tensor.Float32:
		joinSlicesOf[float32](to, d, at, v, how, fresh)
	case tensor.Float64:
		joinSlicesOf[float64](to, d, at, v, how, fresh)
	case tensor.Int64:
		joinSlicesOf[int64](to, d, at, v, how, fresh)
	default:
		return false
	}
	if to != o {
		tensor.Copy(o, to)
	}
	return true
}

func joinSlicesOf[T worded](o *tensor.Tensor, d int64, at []int64, v *tensor.Tensor, how joining, fresh bool) {
	if v.Numel() == 0 {
		return
	}
	v, done := lent(v)
	defer done()
	to, from := tensor.Raw[T](o), tensor.Raw[T](v)
	outer, inner := int(tensor.Numel(o.Shape[:d])), int(tensor.Numel(o.Shape[d+1:]))
	size, n := int(o.Shape[d]), len(at)
	first := make([]bool, n) // the place is written to for the first time
	if fresh {
		seen := make([]bool, size)
		for j, p := range at {
			first[j], seen[p] = !seen[p], true
		}
	}
	// Columns are shared out where there are few blocks to share.
	cuts := 1
	if outer < 8 {
		cuts = min(16, (inner+63)/64)
	}
	width := (inner + cuts - 1) / cuts
	parallel.For(outer*cuts, int(grain/int64(n*width)+1), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			a, c := k/cuts, k%cuts*width
			w := min(width, inner-c)
			if w <= 0 {
				continue
			}
			block, rows := to[a*size*inner:(a+1)*size*inner], from[a*n*inner:(a+1)*n*inner]
			if inner == 1 && how == storing {
				for j, p := range at {
					block[p] = rows[j]
				}
				continue
			}
			if inner == 1 {
				for j, p := range at {
					if first[j] {
						block[p] = rows[j]
					} else {
						block[p] = join(how, block[p], rows[j])
					}
				}
				continue
			}
			for j, p := range at {
				h := how
				if first[j] {
					h = storing
				}
				joinRow(h, block[int(p)*inner+c:][:w], rows[j*inner+c:][:w])
			}
		}
	})
}

// joinRows writes the elements of v, which has ix's shape, to o where ix says along dim: scatter without a list of positions. false for types that it
// does not know and for an index that is out of bounds, which the general way words.
func joinRows(o, ix *tensor.Tensor, d int64, v *tensor.Tensor, how joining) bool {
	if o.DType != v.DType || o.Dim() == 0 || ix.Dim() != o.Dim() || o.HasInternalOverlap() || !ix.Within(0, o.Shape[d]) {
		return false
	}
	switch o.DType {
	case tensor.Float32:
		joinRowsOf[float32](o, ix, d, v, how)
	case tensor.Float64:
		joinRowsOf[float64](o, ix, d, v, how)
	case tensor.Int64:
		joinRowsOf[int64](o, ix, d, v, how)
	default:
		return false
	}
	return true
}

func joinRowsOf[T worded](o, ix *tensor.Tensor, d int64, v *tensor.Tensor, how joining) {
	index := ix.Int64s()
	if index == nil {
		index = ix.Ints()
	}
	if len(index) == 0 {
		return
	}
	v, done := lent(v)
	defer done()
	to, from := tensor.Whole[T](o), tensor.Raw[T](v)
	last := ix.Dim() - 1
	rows := &tensor.Tensor{Shape: ix.Shape[:last], Stride: slices.Clone(o.Stride[:last])}
	step, across := o.Stride[d], o.Stride[last]
	if int(d) == last {
		across = 0
	} else {
		rows.Stride[d] = 0
	}
	starts, n := offsets(rows), int(ix.Shape[last])
	write := func(k, lo, hi int) {
		base := o.Offset + starts[k] + int64(lo)*across
		ps := index[k*n+lo:][:hi-lo]
		xs := from[k*n+lo:][:len(ps)]
		if row := to[base:]; step == 1 && across == 0 {
			switch how {
			case storing:
				for j, p := range ps {
					row[p] = xs[j]
				}
				return
			case adding:
				for j, p := range ps {
					row[p] += xs[j]
				}
				return
			}
		}
		for j, p := range ps {
			at := base + p*step
			switch how {
			case storing:
				to[at] = xs[j]
			case adding:
				to[at] += xs[j]
			default:
				to[at] = join(how, to[at], xs[j])
			}
			base += across
		}
	}
	if int(d) == last { // rows have places of their own
		parallel.For(len(starts), int(grain/int64(n)+1), func(lo, hi int) {
			for k := lo; k < hi; k++ {
				write(k, 0, n)
			}
		})
		return
	}
	parallel.For(n, int(max(grain/int64(len(starts)), 64)), func(lo, hi int) { // columns have
		for k := range starts {
			write(k, lo, hi)
		}
	})
}

// putRuns is scatterAt of a plan whose last positions lie side by side; it reports whether they do.
func (p *indexPlan) putRuns(o, v *tensor.Tensor, accumulate bool) bool {
	n := int64(len(p.after))
	if n < 8 || p.after[n-1]-p.after[0] != n-1 || !slices.IsSorted(p.after) || o.DType != v.DType {
		return false
	}
	how := storing
	if accumulate {
		how = adding
	}
	switch o.DType {
	case tensor.Float32:
		putRunsOf[float32](p, o, v, how)
	case tensor.Float64:
		putRunsOf[float64](p, o, v, how)
	case tensor.Int64:
		putRunsOf[int64](p, o, v, how)
	default:
		return false
	}
	return true
}

func putRunsOf[T worded](p *indexPlan, o, v *tensor.Tensor, how joining) {
	v, done := lent(v)
	defer done()
	to, from, n := tensor.Whole[T](o), tensor.Raw[T](v), len(p.after)
	for _, x := range p.before {
		for _, y := range p.at {
			joinRow(how, to[x+y+p.after[0]:][:n], from[:n])
			from = from[n:]
		}
	}
}

// reduceWordsAt is reduceAt for elements that Go computes with as they are in memory.
func reduceWordsAt[T float32 | float64](o *tensor.Tensor, pos []int64, v *tensor.Tensor, name string, includeSelf bool) {
	if len(pos) == 0 {
		return
	}
	v, done := lent(v)
	defer done()
	to, from, how := tensor.Whole[T](o), tensor.Raw[T](v), joiningOf[name]
	var count []int32 // how many are at a place
	if name == "mean" || !includeSelf {
		count = make([]int32, len(to))
	}
	for i, p := range pos {
		if count != nil {
			if count[p] == 0 && includeSelf {
				count[p] = 1
			}
			if count[p]++; count[p] == 1 {
				to[p] = from[i]
				continue
			}
		}
		to[p] = join(how, to[p], from[i])
	}
	if name != "mean" {
		return
	}
	for _, p := range pos {
		if n := count[p]; n > 0 {
			to[p] = T(float64(to[p]) / float64(n))
			count[p] = 0
		}
	}
}
