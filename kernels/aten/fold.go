package aten

import (
	"cmp"
	"math"
	"slices"

	"whittle/kernels/native"
	"whittle/kernels/tensor"
)

// Reductions by SIMD kernels. What is dense in memory, in whatever order of its dimensions, is a sequence of blocks that are kept and blocks that are
// reduced: neighbours of one kind are one block. The innermost of those that are reduced is gathered first, by rows or by columns, and what that gave by
// the next.

// A span is a block of neighbouring dimensions that are kept or reduced together.
type span struct {
	size    int64
	reduced bool
}

// runsOf is t as runs, slowest first; ok is false where t is not dense.
func runsOf(t *tensor.Tensor, mask []bool) (runs []span, ok bool) {
	type dim struct {
		size, stride int64
		reduced      bool
	}
	var dims []dim
	for i, s := range t.Shape {
		if s != 1 {
			dims = append(dims, dim{s, t.Stride[i], mask[i]})
		}
	}
	slices.SortStableFunc(dims, func(a, b dim) int { return cmp.Compare(b.stride, a.stride) })
	n := int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i].stride != n {
			return nil, false
		}
		n *= dims[i].size
	}
	for _, d := range dims {
		if k := len(runs); k > 0 && runs[k-1].reduced == d.reduced {
			runs[k-1].size *= d.size
		} else {
			runs = append(runs, span{d.size, d.reduced})
		}
	}
	return runs, true
}

// gathered is a reduction of each position that is kept, in the order of memory; nil where t is not dense, or its dtype has no kernel. center has a
// number for each of them where the reduction takes one.
func gathered(t *tensor.Tensor, mask []bool, op native.Reduction, center []float64) []float64 {
	runs, ok := runsOf(t, mask)
	if !ok || t.Numel() == 0 {
		return nil
	}
	switch t.DType {
	case tensor.Float32:
		return gatherRuns(tensor.Raw[float32](t)[:t.Numel()], runs, op, center)
	case tensor.Float64:
		return gatherRuns(tensor.Raw[float64](t)[:t.Numel()], runs, op, center)
	}
	return nil
}

func gatherRuns[T float32 | float64](x []T, runs []span, op native.Reduction, center []float64) []float64 {
	last := len(runs) - 1
	for last >= 0 && !runs[last].reduced {
		last--
	}
	if last < 0 { // each is one element
		runs, last = append(runs, span{1, true}), len(runs)
	}
	if center != nil && last >= 2 {
		return nil // the number would be wanted of the parts
	}
	inner, n := int64(1), runs[last].size
	if last < len(runs)-1 {
		inner = runs[last+1].size
	}
	outer := int64(len(x)) / (n * inner)
	out := make([]float64, outer*inner)
	switch {
	case inner == 1:
		native.ReduceRows(op, out, x, center, int(n), int(n))
	case outer > 64 && n*inner < 4096:
		eachPlane(outer, n*inner, func(q int64) {
			native.ReduceCols(op, out[q*inner:(q+1)*inner], x[q*n*inner:(q+1)*n*inner], part(center, q*inner), int(n), int(inner))
		})
	default:
		for q := range outer {
			native.ReduceCols(op, out[q*inner:(q+1)*inner], x[q*n*inner:(q+1)*n*inner], part(center, q*inner), int(n), int(inner))
		}
	}
	rest := slices.Delete(slices.Clone(runs), last, last+1)
	if last > 0 && last < len(runs)-1 { // the neighbours are kept, and one block now
		rest[last-1].size *= rest[last].size
		rest = slices.Delete(rest, last, last+1)
	}
	if !slices.ContainsFunc(rest, func(r span) bool { return r.reduced }) {
		return out
	}
	return gatherRuns(out, rest, op.Joined(), nil)
}

// part is s from i on, or nil.
func part(s []float64, i int64) []float64 {
	if s == nil {
		return nil
	}
	return s[i:]
}

// inMemory says that the elements of o, the result of a reduction of t, lie in the order of those of t that are kept.
func inMemory(o, t *tensor.Tensor, mask []bool, keep bool) bool {
	type place struct{ from, to int64 }
	var at []place
	k := 0
	for i, s := range t.Shape {
		if mask[i] && !keep {
			continue
		}
		if !mask[i] && s != 1 {
			at = append(at, place{t.Stride[i], o.Stride[k]})
		}
		k++
	}
	slices.SortFunc(at, func(a, b place) int { return cmp.Compare(a.from, b.from) })
	return slices.IsSortedFunc(at, func(a, b place) int { return cmp.Compare(a.to, b.to) }) && o.IsNonOverlappingAndDense()
}

// stored puts numbers, in the order of memory, into o, a dense tensor.
func stored(o *tensor.Tensor, xs []float64) {
	flat := tensor.NewView(o, []int64{int64(len(xs))}, []int64{1}, o.Offset)
	flat.SetFloats(xs)
}

// quick is a reduction by SIMD kernels: op of each position that is kept, and of what it gave finish, which may be nil. It is nil where there are none for t.
func (c *Call) quick(t *tensor.Tensor, mask []bool, keep bool, out tensor.DType, op native.Reduction, finish func(x float64) float64) *tensor.Tensor {
	return c.quickly(t, mask, keep, out, func() []float64 {
		xs := gathered(t, mask, op, nil)
		if finish != nil {
			for i, x := range xs {
				xs[i] = finish(x)
			}
		}
		return xs
	})
}

// quickly makes the result of a reduction of t, and fills it with what compute gives in the order of memory; nil if that is nil.
func (c *Call) quickly(t *tensor.Tensor, mask []bool, keep bool, out tensor.DType, compute func() []float64) *tensor.Tensor {
	if !c.real || t.Dim() == 0 || t.Numel() < 64 || t.DType != tensor.Float32 && t.DType != tensor.Float64 {
		return nil
	}
	shape, st := reduceShape(t, mask, keep), reduceStrides(t, mask, keep)
	o := c.NewUnset(out, shape, st)
	if !inMemory(o, t, mask, keep) {
		return nil
	}
	xs := compute()
	if xs == nil {
		return nil
	}
	stored(o, xs)
	return o
}

// count is how many elements of t are reduced to one.
func count(t *tensor.Tensor, mask []bool) float64 {
	n := 1.0
	for i, s := range t.Shape {
		if mask[i] {
			n *= float64(s)
		}
	}
	return n
}

// moments are the variances, or where root their roots, of t over the dimensions of mask, and the means; nil where there are no kernels for t.
func moments(t *tensor.Tensor, mask []bool, corr float64, root bool) (v, mean []float64) {
	n := count(t, mask)
	mean = gathered(t, mask, native.Sum, nil)
	for i := range mean {
		mean[i] /= n
	}
	if mean == nil {
		return nil, nil
	}
	v = gathered(t, mask, native.Deviations, mean)
	for i := range v {
		v[i] /= max(n-corr, 0)
		if root {
			v[i] = math.Sqrt(v[i])
		}
	}
	return v, mean
}

// logSumExps are the logarithms of the sums of the powers of e; nil where there are no kernels for t.
func logSumExps(t *tensor.Tensor, mask []bool) []float64 {
	most := gathered(t, mask, native.Greatest, nil)
	about := slices.Clone(most)
	for i, m := range about {
		if math.IsInf(m, 0) || m != m {
			about[i] = 0
		}
	}
	sums := gathered(t, mask, native.Exps, about)
	if sums == nil {
		return nil
	}
	for i, m := range most {
		if sums[i] = m + math.Log(sums[i]); math.IsInf(m, 0) || m != m {
			sums[i] = m
		}
	}
	return sums
}

// argBlocks finds in a dense tensor the position along d of the best element of each line, in the order of memory, and that element; nil where t is not
// dense, or its lines have no kernel.
func argBlocks(t *tensor.Tensor, d int64, least bool) (at []int64, best []float32) {
	if t.DType != tensor.Float32 || t.Numel() == 0 || t.Dim() == 0 {
		return nil, nil
	}
	mask := make([]bool, t.Dim())
	mask[d] = true
	runs, ok := runsOf(t, mask)
	last := slices.IndexFunc(runs, func(r span) bool { return r.reduced })
	if !ok || last < 0 {
		return nil, nil
	}
	x, n, inner := tensor.Raw[float32](t)[:t.Numel()], runs[last].size, int64(1)
	if last < len(runs)-1 {
		inner = runs[last+1].size
	}
	outer := t.Numel() / (n * inner)
	at, best = make([]int64, outer*inner), make([]float32, outer*inner)
	if inner == 1 {
		native.ArgRows32(at, x, int(n), least)
		for i, k := range at {
			best[i] = x[int64(i)*n+k]
		}
		return at, best
	}
	eachPlane(outer, n*inner, func(q int64) {
		native.ArgCols(at[q*inner:(q+1)*inner], best[q*inner:(q+1)*inner], x[q*n*inner:(q+1)*n*inner], int(n), int(inner), least)
	})
	return at, best
}

// scanned fills o, which lies in memory as t does, with what op runs of t along d, where t is dense; else it reports false.
func scanned(o, t *tensor.Tensor, d int64, op native.Running) bool {
	mask := make([]bool, t.Dim())
	if t.Dim() == 0 || o.DType != t.DType || !slices.Equal(o.Stride, t.Stride) || t.Shape[d] == 1 {
		return false
	}
	mask[d] = true
	runs, ok := runsOf(t, mask)
	if !ok {
		return false
	}
	switch t.DType {
	case tensor.Float32:
		return scanRuns(tensor.Raw[float32](o)[:t.Numel()], tensor.Raw[float32](t)[:t.Numel()], runs, op)
	case tensor.Float64:
		return scanRuns(tensor.Raw[float64](o)[:t.Numel()], tensor.Raw[float64](t)[:t.Numel()], runs, op)
	}
	return false
}

func scanRuns[T float32 | float64](y, x []T, runs []span, op native.Running) bool {
	last := slices.IndexFunc(runs, func(r span) bool { return r.reduced })
	n, inner := runs[last].size, int64(1)
	if last == len(runs)-1 {
		native.ScanRows(op, y, x, int(n))
		return true
	}
	inner = runs[last+1].size
	if block := n * inner; block == int64(len(x)) {
		native.ScanCols(op, y, x, int(inner))
	} else {
		eachPlane(int64(len(x))/block, block, func(q int64) {
			native.ScanCols(op, y[q*block:(q+1)*block], x[q*block:(q+1)*block], int(inner))
		})
	}
	return true
}
