package aten

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Reductions over dimensions. Every operator here sees its input as rows: for each position that is kept, the elements that are reduced, in
// row-major order (eachRow), whatever the strides.
//
// Sums of floats are accumulated in float64, pairwise, or by SIMD kernels, so that their error grows with the logarithm of their number; PyTorch's cascade sum is
// as accurate but rounds elsewhere, which is why short float32 sums follow its order exactly (sumShort). Integers and bools are summed in
// int64. NaN wins every comparison, and of equal elements the first is taken. Results lie in memory in the order of their input's strides, as
// TensorIterator has them (reduceStrides).

// reduceShape is the result's shape for the reduced dimensions in mask.
func reduceShape(t *tensor.Tensor, mask []bool, keepdim bool) []int64 {
	out := []int64{}
	for i, s := range t.Shape {
		switch {
		case !mask[i]:
			out = append(out, s)
		case keepdim:
			out = append(out, 1)
		}
	}
	return out
}

// rows views t as [kept..., reduced...] and calls f for each kept position (row-major) with the reduced elements' offsets
// loader. It returns the number of reduced elements.
func reduceSplit(t *tensor.Tensor, mask []bool) (kept, red *tensor.Tensor) {
	kept = &tensor.Tensor{Storage: t.Storage, DType: t.DType, Offset: t.Offset}
	red = &tensor.Tensor{Storage: t.Storage, DType: t.DType}
	for i, s := range t.Shape {
		if mask[i] {
			red.Shape, red.Stride = append(red.Shape, s), append(red.Stride, t.Stride[i])
		} else {
			kept.Shape, kept.Stride = append(kept.Shape, s), append(kept.Stride, t.Stride[i])
		}
	}
	return kept, red
}

// offsets lists the storage offsets of a tensor's elements in row-major order, relative to its Offset.
func offsets(t *tensor.Tensor) []int64 {
	n := t.Numel()
	out := make([]int64, 0, n)
	if n == 0 {
		return out
	}
	out = append(out, 0)
	for d := 0; d < len(t.Shape); d++ {
		next := make([]int64, 0, int64(len(out))*t.Shape[d])
		for _, o := range out {
			for i := int64(0); i < t.Shape[d]; i++ {
				next = append(next, o+i*t.Stride[d])
			}
		}
		out = next
	}
	return out
}

// eachRow calls f(k, row) for every kept position k with the reduced elements, read by load, in row-major order: for several positions at once,
// so that f may write what belongs to its k alone. row is f's own until it returns.
func eachRow[T float64 | int64](t *tensor.Tensor, mask []bool, load func(t *tensor.Tensor, off, stride int64, dst []T), f func(k int64, row []T)) {
	kept, red := reduceSplit(t, mask)
	n := red.Numel()
	step, even := oneStride(red)
	var offs []int64 // of the reduced elements, unless a step says it
	if !even {
		offs = offsets(red)
	}
	at := offsets(kept)
	// Neighbours in memory that belong to different rows are read together.
	side := 1
	if k := len(kept.Shape) - 1; even && step > 1 && k >= 0 && kept.Stride[k] == 1 && kept.Shape[k]%16 == 0 {
		side = 16
	}
	parallel.For(len(at)/side, int(grain/(n*int64(side)+1)+1), func(lo, hi int) {
		rows, across := make([]T, n*int64(side)), make([]T, side)
		for k := lo * side; k < hi*side; k += side {
			from := t.Offset + at[k]
			switch {
			case side > 1:
				for i := range n {
					load(t, from+i*step, 1, across)
					for j, x := range across {
						rows[int64(j)*n+i] = x
					}
				}
			case even:
				load(t, from, step, rows)
			default:
				for i, p := range offs {
					load(t, from+p, 0, rows[i:i+1])
				}
			}
			for j := range side {
				f(int64(k+j), rows[int64(j)*n:int64(j+1)*n])
			}
		}
	})
}

// oneStride is the distance between neighbours in row-major order, where it is the same for all.
func oneStride(t *tensor.Tensor) (int64, bool) {
	step, run, first := int64(1), int64(0), true // run: how far the dimensions seen so far go
	for d := len(t.Shape) - 1; d >= 0; d-- {
		switch {
		case t.Shape[d] == 1:
		case first:
			step, run, first = t.Stride[d], t.Stride[d]*t.Shape[d], false
		case t.Stride[d] == run:
			run *= t.Shape[d]
		default:
			return 0, false
		}
	}
	return step, true
}

// foldRows fills out with f of each row, f being one that may be applied to the parts of a row and then to what it gave for them.
func foldRows[T float64 | int64](out []T, t *tensor.Tensor, mask []bool, load func(t *tensor.Tensor, off, stride int64, dst []T), f func(row []T) T) {
	kept, red := reduceSplit(t, mask)
	n := red.Numel()
	step, even := oneStride(red)
	if !even || n < 4*grain {
		eachRow(t, mask, load, func(k int64, row []T) { out[k] = f(row) })
		return
	}
	parts := make([]T, (n+grain-1)/grain)
	if whole, ok := any(tensor.Whole[T](t)).([]int64); ok && t.DType == tensor.Int64 && step == 1 { // no copy of it is wanted
		for k, at := range offsets(kept) {
			row := any(whole[t.Offset+at : t.Offset+at+n]).([]T)
			parallel.For(len(parts), 1, func(lo, hi int) {
				for p := int64(lo); p < int64(hi); p++ {
					parts[p] = f(row[p*grain : min((p+1)*grain, n)])
				}
			})
			out[k] = f(parts)
		}
		return
	}
	for k, at := range offsets(kept) {
		parallel.For(len(parts), 1, func(lo, hi int) {
			row := make([]T, grain)
			for p := int64(lo); p < int64(hi); p++ {
				r := row[:min(grain, n-p*grain)]
				load(t, t.Offset+at+p*grain*step, step, r)
				parts[p] = f(r)
			}
		})
		out[k] = f(parts)
	}
}

// outStrides is TensorIterator's layout for a reduction: dimensions in the input's order of strides.
func reduceStrides(t *tensor.Tensor, mask []bool, keepdim bool) []int64 {
	// The iterator permutes dimensions by the input's strides (the output has stride 0 in reduced ones) and lays the
	// output out densely in that order with reduced sizes taken as 1.
	perm := tensor.StrideOrder(t.Shape, [][]int64{t.Stride})
	full := make([]int64, len(t.Shape))
	n := int64(1)
	for _, d := range perm {
		full[d] = n
		if !mask[d] {
			n *= max(t.Shape[d], 1)
		}
	}
	if t.Numel() == 0 || isDefaultOrder(perm) {
		sh := slices.Clone(t.Shape)
		for i := range sh {
			if mask[i] {
				sh[i] = 1
			}
		}
		full = tensor.ContiguousStrides(sh)
	}
	out := []int64{}
	for i := range t.Shape {
		if !mask[i] || keepdim {
			out = append(out, full[i])
		}
	}
	return out
}

func isDefaultOrder(perm []int) bool {
	for i, d := range perm {
		if d != len(perm)-1-i {
			return false
		}
	}
	return true
}

// reduce makes the output of a reduction and fills it by f, one row at a time.
func (c *Call) reduce(t *tensor.Tensor, mask []bool, keepdim bool, out tensor.DType, f func(row []float64) float64) *tensor.Tensor {
	return c.reduced(t, mask, keepdim, out, func(buf []float64) {
		eachRow(t, mask, tensor.LoadFloat, func(k int64, row []float64) { buf[k] = f(row) })
	})
}

// fold is reduce for an f that may be applied to parts of a row, and then to what it gave for them.
func (c *Call) fold(t *tensor.Tensor, mask []bool, keepdim bool, out tensor.DType, f func(row []float64) float64) *tensor.Tensor {
	return c.reduced(t, mask, keepdim, out, func(buf []float64) { foldRows(buf, t, mask, tensor.LoadFloat, f) })
}

// reduced makes the output of a reduction, and stores what fill computes for its elements in row-major order.
func (c *Call) reduced(t *tensor.Tensor, mask []bool, keepdim bool, out tensor.DType, fill func(buf []float64)) *tensor.Tensor {
	o := c.New(out, reduceShape(t, mask, keepdim), reduceStrides(t, mask, keepdim))
	if c.real && o.Numel() > 0 {
		buf := c.zeros(o.Numel())
		fill(buf)
		o.SetFloats(buf)
	}
	return o
}

// foldInt is fold for integers.
func (c *Call) foldInt(t *tensor.Tensor, mask []bool, keepdim bool, out tensor.DType, f func(row []int64) int64) *tensor.Tensor {
	o := c.New(out, reduceShape(t, mask, keepdim), reduceStrides(t, mask, keepdim))
	if c.real && o.Numel() > 0 {
		buf := make([]int64, o.Numel())
		if len(buf) == 1 && t.Numel() > 0 && t.IsNonOverlappingAndDense() { // all of it, in any order
			t, mask = tensor.NewView(t, []int64{t.Numel()}, []int64{1}, t.Offset), []bool{true}
		}
		foldRows(buf, t, mask, tensor.LoadInt, f)
		o.SetInts(buf)
	}
	return o
}

// sumInts is foldInt of sums. What is repeated is multiplied, and of what is dense rows are added to each other where the sums run across.
func (c *Call) sumInts(t *tensor.Tensor, mask []bool, keepdim bool, d tensor.DType) *tensor.Tensor {
	times, shape := int64(1), slices.Clone(t.Shape)
	for i := range shape {
		if mask[i] && t.Stride[i] == 0 && shape[i] > 1 {
			times *= shape[i]
			shape[i] = 1
		}
	}
	if !c.real || t.Numel() < grain || !slices.Contains(mask, true) {
		return c.foldInt(t, mask, keepdim, d, native.SumInts)
	}
	o := c.New(d, reduceShape(t, mask, keepdim), reduceStrides(t, mask, keepdim))
	sums := make([]int64, o.Numel())
	t = tensor.NewView(t, shape, t.Stride, t.Offset)
	first, last := slices.Index(mask, true), len(mask)
	for last > 0 && !mask[last-1] {
		last--
	}
	inner := tensor.Numel(shape[last:])
	if inner > 1 && !slices.Contains(mask[first:last], false) {
		x, rows := c.dense(t, tensor.Int64).Int64s(), tensor.Numel(shape[first:last])
		parallel.For(int(tensor.Numel(shape[:first])), int(grain/(rows*inner+1)+1), func(lo, hi int) {
			for q := int64(lo); q < int64(hi); q++ {
				to := sums[q*inner : (q+1)*inner]
				for r := range rows {
					native.Ints(native.Add, to, to, x[(q*rows+r)*inner:][:inner])
				}
			}
		})
	} else {
		sums = c.foldInt(t, mask, keepdim, d, native.SumInts).Ints()
	}
	for i := range sums {
		sums[i] *= times
	}
	o.SetInts(sums)
	return o
}

// sumFast sums float32 tensors whose reduced dimensions are the trailing or the leading ones, or neighbours between, contiguously; those of 16 bits in
// float32.
func sumFast(o, t *tensor.Tensor, mask []bool) bool {
	if t.DType != tensor.Float32 && t.DType.IsSmallFloat() && t.DType == o.DType {
		y := asFloat32(o)
		if !sumFast(y, inFloat32(t), mask) {
			return false
		}
		tensor.Copy(o, y)
		return true
	}
	x := t.Float32s()
	if x == nil || o.DType != tensor.Float32 || !o.IsContiguous(tensor.ContiguousFormat) || o.Numel() == 0 || len(x) < 32 {
		return false
	}
	y := o.Float32s()
	n := len(t.Shape)
	cols, i := int64(1), n-1
	for ; i >= 0 && mask[i]; i-- {
		cols *= t.Shape[i]
	}
	trailing := i < n-1
	for j := i; trailing && j >= 0; j-- {
		if mask[j] {
			return false
		}
	}
	if trailing {
		native.SumRows32(y, x, int(cols), int(cols))
		return true
	}
	rows, i := int64(1), 0
	for ; i < n && mask[i]; i++ {
		rows *= t.Shape[i]
	}
	outer := int64(1)
	if i == 0 { // those between
		for ; i < n && !mask[i]; i++ {
			outer *= t.Shape[i]
		}
		for ; i < n && mask[i]; i++ {
			rows *= t.Shape[i]
		}
	}
	for j := i; j < n; j++ {
		if mask[j] {
			return false
		}
	}
	cols = int64(len(y)) / outer
	for k := range outer {
		native.SumCols32(y[k*cols:(k+1)*cols], x[k*rows*cols:(k+1)*rows*cols], int(rows), int(cols))
	}
	return true
}

// pairwise sums in float64 with error growing only logarithmically.
func pairwise(x []float64) float64 {
	if len(x) <= 64 {
		s := 0.0
		for _, v := range x {
			s += v
		}
		return s
	}
	h := len(x) / 2
	return pairwise(x[:h]) + pairwise(x[h:])
}

func (c *Call) sum(t *tensor.Tensor, mask []bool, keepdim bool, d tensor.DType) (*tensor.Tensor, error) {
	if d == tensor.Invalid {
		d = t.DType
		if d.Kind() < tensor.KindFloat {
			d = tensor.Int64
		}
	}
	if d.Kind() < tensor.KindFloat {
		if t.DType.IsFloat() && c.real {
			t = t.To(d)
		}
		return c.sumInts(t, mask, keepdim, d), nil
	}
	if c.real && t.DType.IsSmallFloat() && d == t.DType {
		o := c.New(d, reduceShape(t, mask, keepdim), reduceStrides(t, mask, keepdim))
		if sumFast(o, t, mask) {
			return o, nil
		}
	}
	if d.Kind() == tensor.KindComplex {
		return c.reduceComplex(t, mask, keepdim, d, sumComplex), nil
	}
	if d == tensor.Float32 && t.DType == tensor.Float32 {
		if count(t, mask) > 4 {
			if o := c.quick(t, mask, keepdim, d, native.Sum, nil); o != nil {
				return o, nil
			}
		}
		return c.reduce(t, mask, keepdim, d, sumShort), nil
	}
	return c.fold(t, mask, keepdim, d, pairwise), nil
}

// sumShort is pairwise, save that a few float32 numbers are added in their order and precision: where they cancel, what is left is
// the rounding, and it should be PyTorch's.
func sumShort(x []float64) float64 {
	if len(x) > 4 {
		return pairwise(x)
	}
	s := float32(0)
	for _, v := range x {
		s += float32(v)
	}
	return float64(s)
}

// someDims reads (dim, keepdim) from position 1 on, of an overload with more than n arguments; for another it is all dimensions.
func (c *Call) someDims(n int, allIfEmpty bool) (mask []bool, keep bool, err error) {
	if len(c.Args) <= n {
		return allMask(c.T(0)), false, nil
	}
	return c.dimArgs(1, allIfEmpty)
}

// dimArgs reads (dim, keepdim) at positions i and i+1.
func (c *Call) dimArgs(i int, allIfEmpty bool) (mask []bool, keep bool, err error) {
	mask, err = wrapDims(c.Ints(i), c.T(0).Dim(), allIfEmpty)
	if len(c.Args) > i+1 {
		keep = c.B(i + 1)
	}
	return
}

func allMask(t *tensor.Tensor) []bool {
	m := make([]bool, max(t.Dim(), 1))
	for i := range m {
		m[i] = true
	}
	return m
}

func init() {
	def("sum sum.dim_IntList", func(c *Call) (Value, error) {
		mask, keep, err := allMask(c.T(0)), false, error(nil)
		if len(c.Args) > 2 {
			mask, keep, err = c.dimArgs(1, true)
		}
		if err != nil {
			return nil, err
		}
		d, _ := c.opt("dtype").(tensor.DType)
		return c.tv(c.sum(c.T(0), mask, keep, d))
	})
	def("nansum", func(c *Call) (Value, error) {
		mask, keep, err := c.dimArgs(1, true)
		if err != nil {
			return nil, err
		}
		t := c.T(0)
		d := c.optDT(tensor.Invalid)
		if t.DType.Kind() < tensor.KindFloat {
			return c.tv(c.sum(t, mask, keep, d))
		}
		if d == tensor.Invalid {
			d = t.DType
		}
		if o := c.quick(t, mask, keep, d, native.NanSum, nil); o != nil {
			return o, nil
		}
		return c.reduce(t, mask, keep, d, func(row []float64) float64 {
			s := 0.0
			for _, x := range row {
				if x == x {
					s += x
				}
			}
			return s
		}), nil
	})
	def("mean mean.dim", func(c *Call) (Value, error) {
		t := c.T(0)
		mask, keep, err := c.someDims(2, true)
		if err != nil {
			return nil, err
		}
		d := c.optDT(t.DType)
		if d.Kind() < tensor.KindFloat {
			what := "Input"
			if c.opt("dtype") != nil {
				what = "Optional"
			}
			return nil, errf("mean(): could not infer output dtype. %s dtype must be either a floating point or complex dtype. Got: %s", what, cName(d))
		}
		o := c.New(d, reduceShape(t, mask, keep), reduceStrides(t, mask, keep))
		if c.real && t.DType == tensor.Float32 && sumFast(o, t, mask) {
			n := float32(t.Numel() / o.Numel())
			y := o.Float32s()
			for i := range y {
				y[i] /= n
			}
			return o, nil
		}
		if d.Kind() == tensor.KindComplex {
			return c.reduceComplex(t, mask, keep, d, func(row []complex128) complex128 { return sumComplex(row) / complex(float64(len(row)), 0) }), nil
		}
		if n := count(t, mask); t.DType == tensor.Float32 {
			if o := c.quick(t, mask, keep, d, native.Sum, func(x float64) float64 { return x / n }); o != nil {
				return o, nil
			}
		}
		return c.reduce(t, mask, keep, d, func(row []float64) float64 { return pairwise(row) / float64(len(row)) }), nil
	})
	def("prod prod.dim_int", func(c *Call) (Value, error) {
		t := c.T(0)
		mask, keep, err := c.someDims(2, false)
		if err != nil {
			return nil, err
		}
		d := t.DType
		if d.Kind() < tensor.KindFloat {
			d = tensor.Int64
		}
		d = c.optDT(d)
		if d.Kind() < tensor.KindFloat {
			return c.foldInt(t, mask, keep, d, func(row []int64) int64 {
				p := int64(1)
				for _, x := range row {
					p *= x
				}
				return p
			}), nil
		}
		if o := c.quick(t, mask, keep, d, native.Prod, nil); o != nil {
			return o, nil
		}
		return c.reduce(t, mask, keep, d, func(row []float64) float64 {
			p := 1.0
			for _, x := range row {
				p *= x
			}
			return p
		}), nil
	})
	extreme := func(name, names string, f func(a, b float64) float64, fi func(a, b int64) int64) {
		def(names, func(c *Call) (Value, error) {
			t := c.T(0)
			mask, keep, err := c.someDims(1, true)
			if err != nil {
				return nil, err
			}
			if t.Numel() == 0 {
				for i, s := range t.Shape {
					if mask[i] && s == 0 {
						if len(c.Args) == 1 {
							return nil, errf("%s(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.", name)
						}
						if len(c.Ints(1)) == 0 {
							return nil, errf("%s(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.", name)
						}
						return nil, kindf(IndexError, "%s(): Expected reduction dim %d to have non-zero size.", name, i)
					}
				}
			}
			if t.DType.Kind() < tensor.KindFloat {
				return c.foldInt(t, mask, keep, t.DType, func(row []int64) int64 {
					m := row[0]
					for _, x := range row {
						m = fi(m, x)
					}
					return m
				}), nil
			}
			if name == "amax" && c.real && t.DType == tensor.Float32 && t.Numel() > 0 {
				if o := c.maxRows(t, mask, keep); o != nil {
					return o, nil
				}
			}
			op := native.Greatest
			if strings.HasSuffix(name, "min") {
				op = native.Least
			}
			if o := c.quick(t, mask, keep, t.DType, op, nil); o != nil {
				return o, nil
			}
			return c.fold(t, mask, keep, t.DType, func(row []float64) float64 {
				m := row[0]
				for _, x := range row {
					m = f(m, x)
				}
				return m
			}), nil
		})
	}
	fmax, fmin := func(a, b float64) float64 { return max(a, b) }, func(a, b float64) float64 { return min(a, b) }
	imax, imin := func(a, b int64) int64 { return max(a, b) }, func(a, b int64) int64 { return min(a, b) }
	extreme("max", "max", fmax, imax)
	extreme("min", "min", fmin, imin)
	extreme("amax", "amax", fmax, imax)
	extreme("amin", "amin", fmin, imin)
	logical := func(names string, all bool) {
		def(names, func(c *Call) (Value, error) {
			t := c.T(0)
			mask, keep, err := allMask(t), false, error(nil)
			if len(c.Args) > 1 {
				mask, keep, err = c.dimArgs(1, c.None(1))
				if c.Op.Sig().Overload == "dims" && !c.None(1) && len(c.Ints(1)) == 0 {
					mask, err = make([]bool, max(t.Dim(), 1)), nil
				}
			}
			if err != nil {
				return nil, err
			}
			out := tensor.Bool
			if t.DType == tensor.UInt8 {
				out = tensor.UInt8
			}
			if c.real && !slices.Contains(mask[:t.Dim()], false) && t.Numel() >= grain && t.IsNonOverlappingAndDense() && (t.DType == tensor.Float32 || t.DType == tensor.Bool) {
				found := false
				if t.DType == tensor.Bool {
					found = anyIs(tensor.Whole[uint8](t)[t.Offset:][:t.Numel()], !all)
				} else {
					found = anyIs(tensor.Whole[float32](t)[t.Offset:][:t.Numel()], !all)
				}
				o := c.New(out, reduceShape(t, mask, keep), reduceStrides(t, mask, keep))
				o.Fill(b2f(found != all))
				return o, nil
			}
			if c.real && t.DType == tensor.Bool {
				if o := c.logicalCols(t, mask, keep, all); o != nil {
					return o, nil
				}
			}
			return c.fold(t, mask, keep, out, func(row []float64) float64 {
				for _, x := range row {
					if (x != 0) != all {
						return b2f(!all)
					}
				}
				return b2f(all)
			}), nil
		})
	}
	logical("any any.dim any.dims", false)
	logical("all all.dim all.dims", true)
	arg := func(name string, less func(a, b float64) bool) {
		def(name, func(c *Call) (Value, error) {
			t := c.T(0)
			mask := allMask(t)
			if !c.None(1) {
				var err error
				if mask, err = wrapDims(c.Ints(1), t.Dim(), false); err != nil {
					return nil, err
				}
			}
			if t.Numel() == 0 {
				if c.None(1) {
					return nil, kindf(IndexError, "%s(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.", name)
				}
				if d, _ := wrapDim(c.I(1), int64(t.Dim())); t.Shape[d] == 0 {
					return nil, kindf(IndexError, "%s(): Expected reduction dim %d to have non-zero size.", name, d)
				}
			}
			if c.None(1) && c.real && t.DType == tensor.Float32 && !c.B(2) { // the place is among the elements as they are counted
				t = c.dense(t, t.DType)
			}
			if o := c.argRows(t, mask, c.B(2), name == "argmin"); o != nil {
				return o, nil
			}
			if !c.None(1) && c.real && t.Numel() >= 64 {
				d, _ := wrapDim(c.I(1), int64(t.Dim()))
				o := c.New(tensor.Int64, reduceShape(t, mask, c.B(2)), reduceStrides(t, mask, c.B(2)))
				if inMemory(o, t, mask, c.B(2)) {
					if at, _ := argBlocks(t, d, name == "argmin"); at != nil {
						copy(tensor.Raw[int64](o), at)
						return o, nil
					}
				}
			}
			o := c.reduce(t, mask, c.B(2), tensor.Int64, func(row []float64) float64 { return float64(argBest(row, less)) })
			if c.None(1) {
				o.Stride = tensor.ContiguousStrides(o.Shape)
			}
			return o, nil
		})
	}
	gt, lt := func(a, b float64) bool { return a > b }, func(a, b float64) bool { return a < b }
	arg("argmax", gt)
	arg("argmin", lt)
	maxDim := func(name string, better func(a, b float64) bool) {
		def(name, func(c *Call) (Value, error) {
			t := c.T(0)
			mask, keep, err := c.dimArgs(1, false)
			if err != nil {
				return nil, err
			}
			if d, _ := wrapDim(c.I(1), int64(t.Dim())); t.Dim() > 0 && t.Shape[d] == 0 {
				return nil, kindf(IndexError, "%s: Expected reduction dim %d to have non-zero size.", name[:3]+"()", d)
			}
			shape := reduceShape(t, mask, keep)
			v, ix := c.newCUnset(t.DType, shape...), c.newCUnset(tensor.Int64, shape...)
			if c.real && v.Numel() > 0 && t.Numel() >= 64 && inMemory(v, t, mask, keep) {
				d, _ := wrapDim(c.I(1), int64(t.Dim()))
				if at, best := argBlocks(t, d, name == "min.dim"); at != nil {
					copy(v.Float32s(), best)
					copy(ix.Int64s(), at)
					return []Value{v, ix}, nil
				}
			}
			if c.real && v.Numel() > 0 {
				bi := make([]int64, v.Numel())
				bv := c.zeros(v.Numel())
				eachRow(t, mask, tensor.LoadFloat, func(k int64, row []float64) {
					bi[k] = argBest(row, better)
					bv[k] = row[bi[k]]
				})
				v.SetFloats(bv)
				ix.SetInts(bi)
				if t.DType == tensor.Int64 {
					iv := make([]int64, v.Numel())
					eachRow(t, mask, tensor.LoadInt, func(k int64, row []int64) { iv[k] = row[bi[k]] })
					v.SetInts(iv)
				}
			}
			return []Value{v, ix}, nil
		})
	}
	maxDim("max.dim", gt)
	maxDim("min.dim", lt)
	comp("max.other", func(c *Call) (Value, error) { return c.via("maximum", c.Args...) })
	comp("min.other", func(c *Call) (Value, error) { return c.via("minimum", c.Args...) })
	def("aminmax", func(c *Call) (Value, error) {
		t := c.T(0)
		if c.None(1) {
			a, err := c.do("amin", t, []Value{}, c.B(2))
			if err != nil {
				return nil, err
			}
			b, err := c.do("amax", t, []Value{}, c.B(2))
			return []Value{a, b}, err
		}
		a, err := c.do("amin", t, []Value{c.Args[1]}, c.B(2))
		if err != nil {
			return nil, err
		}
		b, err := c.do("amax", t, []Value{c.Args[1]}, c.B(2))
		return []Value{a, b}, err
	})
	def("count_nonzero count_nonzero.dim_IntList", func(c *Call) (Value, error) {
		mask, err := wrapDims(c.Ints(1), c.T(0).Dim(), true)
		if err != nil {
			return nil, err
		}
		if o := c.quick(c.T(0), mask, false, tensor.Int64, native.Nonzeros, nil); o != nil {
			return o, nil
		}
		b, err := c.doT("ne.Scalar", c.Args[0], int64(0))
		if err != nil {
			return nil, err
		}
		return c.tv(c.sum(b, mask, false, tensor.Invalid))
	})
	variances()
	norms()
	scans()
}

// tv is a (tensor, error) pair as (Value, error), keeping nil nil.
func (c *Call) tv(t *tensor.Tensor, err error) (Value, error) {
	if err != nil {
		return nil, err
	}
	return t, nil
}

// argBest is the first position of the best element; NaN beats everything.
func argBest(row []float64, better func(a, b float64) bool) int64 {
	b := 0
	for i, x := range row {
		if x != x {
			return int64(i)
		}
		if better(x, row[b]) {
			b = i
		}
	}
	return int64(b)
}

// variance takes two passes, the mean and then the squared distances from it: numbers far from zero lose nothing. The divisor is n-corr, and
// no less than 0, by which the result is infinite or NaN.
func variance(row []float64, corr float64) (v, mean float64) {
	n := float64(len(row))
	mean = pairwise(row) / n
	for _, x := range row {
		v += (x - mean) * (x - mean)
	}
	return v / max(n-corr, 0), mean
}

func variances() {
	run := func(c *Call, dims Value, corr Value, keep, sqrt, withMean bool) (Value, error) {
		t := c.T(0)
		if t.DType.Kind() < tensor.KindFloat {
			name := c.Op.Sig().Name
			if name == "std" || name == "var" {
				name = "std and var"
			}
			return nil, errf("%s only support floating point and complex dtypes", name)
		}
		mask, err := wrapDims(toInts(dims), t.Dim(), true)
		if err != nil {
			return nil, err
		}
		k := 1.0
		if corr != nil {
			k = toFloat(corr)
		}
		shape, st := reduceShape(t, mask, keep), reduceStrides(t, mask, keep)
		v := c.New(t.DType, shape, st)
		var m *tensor.Tensor
		if withMean {
			m = c.New(t.DType, shape, st)
		}
		if c.real && v.Numel() > 0 && t.Numel() >= 64 && (t.DType == tensor.Float32 || t.DType == tensor.Float64) && inMemory(v, t, mask, keep) {
			if bv, bm := moments(t, mask, k, sqrt); bv != nil {
				stored(v, bv)
				if m == nil {
					return v, nil
				}
				stored(m, bm)
				return []Value{v, m}, nil
			}
		}
		if c.real && v.Numel() > 0 {
			bv, bm := make([]float64, v.Numel()), make([]float64, v.Numel())
			eachRow(t, mask, tensor.LoadFloat, func(i int64, row []float64) {
				bv[i], bm[i] = variance(row, k)
				if sqrt {
					bv[i] = math.Sqrt(bv[i])
				}
			})
			v.SetFloats(bv)
			if m != nil {
				m.SetFloats(bm)
			}
		}
		if m != nil {
			return []Value{v, m}, nil
		}
		return v, nil
	}
	for _, n := range []string{"var", "std", "var_mean", "std_mean"} {
		sqrt, withMean := n[:3] == "std", len(n) > 3
		def(n+".correction", func(c *Call) (Value, error) { return run(c, c.Args[1], c.Args[2], c.B(3), sqrt, withMean) })
		comp(n, func(c *Call) (Value, error) {
			return c.via(n+".correction", c.Args[0], nil, b2i(c.B(1)), false)
		})
		comp(n+".dim", func(c *Call) (Value, error) {
			return c.via(n+".correction", c.Args[0], c.Args[1], b2i(c.B(2)), c.Args[3])
		})
	}
}

// vectorNorm is (sum |x|^p)^(1/p), and its limits: the greatest or least magnitude for an infinite p, and how many are not zero for 0.
func vectorNorm(row []float64, p float64) float64 {
	switch {
	case math.IsInf(p, 1):
		m := 0.0
		for _, x := range row {
			m = max(m, math.Abs(x))
		}
		return m
	case math.IsInf(p, -1):
		m := math.Inf(1)
		for _, x := range row {
			m = min(m, math.Abs(x))
		}
		return m
	case p == 0:
		n := 0.0
		for _, x := range row {
			n += b2f(x != 0)
		}
		return n
	case p == 1:
		s := 0.0
		for _, x := range row {
			s += math.Abs(x)
		}
		return s
	case p == 2:
		s := 0.0
		for _, x := range row {
			s += x * x
		}
		return math.Sqrt(s)
	}
	s := 0.0
	for _, x := range row {
		s += math.Pow(math.Abs(x), p)
	}
	return math.Pow(s, 1/p)
}

// normKernel is what a norm gathers, and what is made of it; 0 for those that have no kernel.
func normKernel(p float64) (op native.Reduction, finish func(x float64) float64) {
	switch {
	case math.IsInf(p, 1):
		return native.Largest, nil
	case math.IsInf(p, -1):
		return native.Smallest, nil
	case p == 0:
		return native.Nonzeros, nil
	case p == 1:
		return native.Sizes, nil
	case p == 2:
		return native.Squares, math.Sqrt
	}
	return 0, nil
}

// powerNorms are norms of t over the dimensions of mask, of any order that is finite; nil where there are no kernels for t.
func powerNorms(t *tensor.Tensor, mask []bool, ord float64) []float64 {
	order := make([]float64, int64(float64(t.Numel())/count(t, mask)))
	for i := range order {
		order[i] = ord
	}
	sums := gathered(t, mask, native.Powers, order)
	for i, s := range sums {
		sums[i] = math.Pow(s, 1/ord)
	}
	return sums
}

func norms() {
	norm := func(c *Call, p Value, dims Value, keep bool, dt Value, name string) (Value, error) {
		t := c.T(0)
		d := t.DType
		if x, ok := dt.(tensor.DType); ok {
			d = x
		}
		if !d.IsFloat() {
			return nil, errf("%s: Expected a floating point or complex tensor as input. Got %s", name, cName(d))
		}
		mask, err := wrapDims(toInts(dims), t.Dim(), true)
		if err != nil {
			return nil, err
		}
		ord := 2.0
		if p != nil {
			ord = toFloat(p)
		}
		if op, finish := normKernel(ord); op != 0 {
			if o := c.quick(t, mask, keep, d, op, finish); o != nil {
				return o, nil
			}
		} else if o := c.quickly(t, mask, keep, d, func() []float64 { return powerNorms(t, mask, ord) }); o != nil {
			return o, nil
		}
		f := func(row []float64) float64 { return vectorNorm(row, ord) }
		if ord == 0 { // the number of parts that are not zero would be another one
			return c.reduce(t, mask, keep, d, f), nil
		}
		return c.fold(t, mask, keep, d, f), nil
	}
	def("linalg_vector_norm", func(c *Call) (Value, error) {
		return norm(c, c.Args[1], c.Args[2], c.B(3), c.Args[4], "linalg.vector_norm")
	})
	def("norm.Scalar", func(c *Call) (Value, error) {
		return norm(c, c.Args[1], nil, false, nil, "linalg.vector_norm")
	})
	def("norm.ScalarOpt_dim", func(c *Call) (Value, error) {
		return norm(c, c.Args[1], c.Args[2], c.B(3), nil, "linalg.vector_norm")
	})
	def("norm.ScalarOpt_dim_dtype", func(c *Call) (Value, error) {
		return norm(c, c.Args[1], c.Args[2], c.B(3), c.Args[4], "linalg.vector_norm")
	})
	def("norm.ScalarOpt_dtype", func(c *Call) (Value, error) {
		return norm(c, c.Args[1], nil, false, c.Args[2], "linalg.vector_norm")
	})
	def("logsumexp", func(c *Call) (Value, error) {
		t := c.T(0)
		mask, keep, err := c.dimArgs(1, true)
		if err != nil {
			return nil, err
		}
		if len(c.Ints(1)) == 0 && !keep && t.Dim() > 0 && t.Numel() > 0 {
			// The maxima are squeezed along the dimensions named, here none.
			ones := make([]int64, t.Dim())
			for i := range ones {
				ones[i] = 1
			}
			return nil, errf("output with shape [] doesn't match the broadcast shape %s", tensor.ShapeText(ones))
		}
		if o := c.quickly(t, mask, keep, t.DType, func() []float64 { return logSumExps(t, mask) }); o != nil {
			return o, nil
		}
		o := c.reduce(t, mask, keep, floatType(t.DType), func(row []float64) float64 {
			m := math.Inf(-1)
			for _, x := range row {
				m = max(m, x)
			}
			if math.IsInf(m, 0) || m != m {
				return m
			}
			s := 0.0
			for _, x := range row {
				s += math.Exp(x - m)
			}
			return m + math.Log(s)
		})
		return o, nil
	})
	def("dist", func(c *Call) (Value, error) {
		d, err := c.doT("sub.Tensor", c.Args[0], c.Args[1])
		if err != nil {
			return nil, err
		}
		return c.do("norm.Scalar", d, c.Args[2])
	})
}

// logicalCols is all or any of bools whose rows go together element by element, eight at a time; nil for others.
func (c *Call) logicalCols(t *tensor.Tensor, mask []bool, keepdim, all bool) *tensor.Tensor {
	const word = 8
	kept, red := reduceSplit(t, mask)
	last := len(kept.Shape) - 1
	if last < 0 || kept.Stride[last] != 1 || kept.Shape[last] < 2*word || red.Numel() == 0 {
		return nil
	}
	o := c.New(tensor.Bool, reduceShape(t, mask, keepdim), reduceStrides(t, mask, keepdim))
	if !o.IsContiguous(tensor.ContiguousFormat) {
		return nil
	}
	n := int(kept.Shape[last])
	starts, rows := offsets(&tensor.Tensor{Shape: kept.Shape[:last], Stride: kept.Stride[:last]}), offsets(red)
	to, from := tensor.Raw[uint8](o), tensor.Whole[uint8](t)
	parallel.For(len(starts)*n, max(word, int(4*grain/(red.Numel()+1))), func(lo, hi int) {
		for lo < hi {
			k, at := lo/n, lo%n
			m := min(hi-lo, n-at)
			joinBools(to[lo:lo+m], from, t.Offset+starts[k]+int64(at), rows, all)
			lo += m
		}
	})
	return o
}

// joinBools sets out to all or any of rows of bools, which begin at from[at+row].
func joinBools(out, from []uint8, at int64, rows []int64, all bool) {
	const word, low, high = 8, 0x7f7f7f7f7f7f7f7f, 0x8080808080808080
	flip := uint64(0) // all are true where not any is false
	if all {
		flip = high
	}
	found := make([]uint64, (len(out)+word-1)/word)
	for _, r := range rows {
		row := from[at+r:][:len(out)]
		for i := range len(row) / word {
			x := binary.LittleEndian.Uint64(row[i*word:])
			found[i] |= (x&low+low|x)&high ^ flip
		}
		for i := len(row) / word * word; i < len(row); i++ {
			if (row[i] == 0) == all {
				found[i/word] |= 0x80 << (i % word * 8)
			}
		}
	}
	for i := range out {
		x := uint8(found[i/word] >> (i%word*8 + 7) & 1)
		if all {
			x ^= 1
		}
		out[i] = x
	}
}

// anyIs reports whether any element is, or is not, other than 0.
func anyIs[T uint8 | float32](xs []T, other bool) bool {
	var found atomic.Bool
	parallel.For(len(xs), grain, func(lo, hi int) {
		for lo < hi && !found.Load() {
			n := min(hi-lo, 4096)
			for _, x := range xs[lo : lo+n] {
				if (x != 0) == other {
					found.Store(true)
					return
				}
			}
			lo += n
		}
	})
	return found.Load()
}
