package aten

import (
	"math"
	"slices"
	"sync/atomic"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// The paths here serve contiguous tensors of everyday sizes; what they do not take goes the general way, with the same result.

// grain is the number of elements that are worth a thread.
const grain = 32768

// blocksOf sees a contiguous tensor as outer blocks of size[d] rows of inner elements; ok is false for others.
func blocksOf(t *tensor.Tensor, d int64) (outer, rows, inner int64, ok bool) {
	if t.Dim() == 0 || !t.IsContiguous(tensor.ContiguousFormat) {
		return 0, 0, 0, false
	}
	return tensor.Numel(t.Shape[:d]), t.Shape[d], tensor.Numel(t.Shape[d+1:]), true
}

// selectRows copies rows of t along d, by index, to o, which is contiguous. It reports whether it could: the general way words what is wrong.
func selectRows(o, t *tensor.Tensor, d int64, index []int64) bool {
	if t.Dim() > 0 && o.Numel() >= t.Numel()/4 {
		x, done := lent(t)
		defer done()
		t = x
	}
	outer, rows, inner, ok := blocksOf(t, d)
	if !ok || o.DType != t.DType {
		return false
	}
	for _, i := range index {
		if i < 0 || i >= rows {
			return false
		}
	}
	size := inner * int64(t.DType.Size())
	at := make([]int64, 0, outer*int64(len(index)))
	for b := range outer {
		for _, i := range index {
			at = append(at, (b*rows+i)*size)
		}
	}
	moveRows(o.Bytes(), t.Bytes(), at, size)
	return true
}

// gatherRows is gather for contiguous t and o whose sizes differ along d alone. It reports whether it could: the general way words what is wrong.
func (c *Call) gatherRows(o, t, ix *tensor.Tensor, d int64) bool {
	outer, rows, inner, ok := blocksOf(t, d)
	if !ok || o.DType != t.DType {
		return false
	}
	index := c.ints(ix)
	switch t.DType.Size() {
	case 4:
		return gatherWords(tensor.Raw[uint32](o), tensor.Raw[uint32](t), index, outer, rows, ix.Shape[d], inner)
	case 8:
		return gatherWords(tensor.Raw[uint64](o), tensor.Raw[uint64](t), index, outer, rows, ix.Shape[d], inner)
	}
	return false
}

func gatherWords[T any](dst, src []T, index []int64, outer, rows, count, inner int64) bool {
	var outside atomic.Bool
	parallel.For(int(outer), int(grain/(count*inner+1)+1), func(lo, hi int) {
		for b := int64(lo); b < int64(hi); b++ {
			from := src[b*rows*inner : (b+1)*rows*inner]
			to, ix := dst[b*count*inner:(b+1)*count*inner], index[b*count*inner:(b+1)*count*inner]
			if !gatherBlock(to, from, ix, inner) {
				outside.Store(true)
				return
			}
		}
	})
	return !outside.Load()
}

func gatherBlock[T any](to, from []T, index []int64, inner int64) bool {
	if inner == 1 {
		for i, k := range index {
			if uint64(k) >= uint64(len(from)) {
				return false
			}
			to[i] = from[k]
		}
		return true
	}
	for n := int64(0); n < int64(len(index)); n += inner {
		for j, k := range index[n : n+inner] {
			at := k*inner + int64(j)
			if uint64(at) >= uint64(len(from)) || k < 0 {
				return false
			}
			to[n+int64(j)] = from[at]
		}
	}
	return true
}

// takeFlat fills o with the elements of t, a vector, that index names. It reports whether all are there.
func takeFlat(o, t *tensor.Tensor, index []int64) bool {
	switch t.DType.Size() {
	case 4:
		return gatherParts(tensor.Raw[uint32](o), tensor.Raw[uint32](t)[:t.Numel()], index)
	case 8:
		return gatherParts(tensor.Raw[uint64](o), tensor.Raw[uint64](t)[:t.Numel()], index)
	}
	return false
}

func gatherParts[T any](to, from []T, index []int64) bool {
	var outside atomic.Bool
	parallel.For(len(index), grain, func(lo, hi int) {
		if !gatherBlock(to[lo:hi], from, index[lo:hi], 1) {
			outside.Store(true)
		}
	})
	return !outside.Load()
}

// selectWithin is selectRows along the last dimension: elements are picked out of each row by one index. It reports whether it could.
func selectWithin(o, t *tensor.Tensor, index []int64) bool {
	if o.DType != t.DType || !o.IsContiguous(tensor.ContiguousFormat) || len(index) < 8 {
		return false
	}
	switch t.DType.Size() {
	case 4:
		return pickWithin[uint32](o, t, index)
	case 8:
		return pickWithin[uint64](o, t, index)
	}
	return false
}

func pickWithin[T any](o, t *tensor.Tensor, index []int64) bool {
	from, done := lent(t)
	defer done()
	n := int(t.Shape[t.Dim()-1])
	for _, i := range index {
		if i < 0 || i >= int64(n) {
			return false
		}
	}
	if o.Numel() == 0 {
		return true
	}
	dst, src := tensor.Raw[T](o), tensor.Raw[T](from)
	parallel.For(int(t.Numel())/n, grain/len(index)+1, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			gatherBlock(dst[r*len(index):][:len(index)], src[r*n:][:n], index, 1)
		}
	})
	return true
}

// sortKey maps a float to an unsigned number of the same order: NaN last, both zeros equal.
func sortKey(x float64) uint64 {
	switch {
	case x != x:
		return math.MaxUint64
	case x == 0:
		return 1 << 63
	}
	b := math.Float64bits(x)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// radixOrder is the stable permutation that sorts keys, by bytes from the last; a byte that all keys share costs one look.
// p and q are room for it, as long as keys, one of which it becomes.
func radixOrder(keys []uint64, p, q []int64) []int64 {
	for i := range p {
		p[i] = int64(i)
	}
	for shift := 0; shift < 64; shift += 8 {
		var count [256]int64
		for _, k := range keys {
			count[byte(k>>shift)]++
		}
		if count[byte(keys[0]>>shift)] == int64(len(keys)) {
			continue
		}
		at := int64(0)
		for i, n := range count {
			count[i] = at
			at += n
		}
		for _, i := range p {
			b := byte(keys[i] >> shift)
			q[count[b]] = i
			count[b]++
		}
		p, q = q, p
	}
	return p
}

// trailingRows is t's elements where it is a contiguous float32 tensor and mask takes its last dimensions, of cols elements together: else nil.
func trailingRows(t *tensor.Tensor, mask []bool) (x []float32, cols int) {
	n, trailing := int64(1), t.Dim()
	for trailing > 0 && mask[trailing-1] {
		trailing--
		n *= t.Shape[trailing]
	}
	if n < 8 || t.Dim() == 0 || slices.Contains(mask[:trailing], true) {
		return nil, 0
	}
	return t.Float32s(), int(n)
}

// maxRows is amax over the trailing dimensions of a contiguous float32 tensor; nil where it is something else.
func (c *Call) maxRows(t *tensor.Tensor, mask []bool, keep bool) *tensor.Tensor {
	x, cols := trailingRows(t, mask)
	if x == nil {
		return nil
	}
	o := c.New(t.DType, reduceShape(t, mask, keep), reduceStrides(t, mask, keep))
	y := o.Float32s()
	if y == nil {
		return nil
	}
	native.MaxRows32(y, x, cols, cols)
	return o
}

// argRows is argmax, or argmin, over the trailing dimensions of a contiguous float32 tensor; nil where it is something else.
func (c *Call) argRows(t *tensor.Tensor, mask []bool, keep, least bool) *tensor.Tensor {
	x, cols := trailingRows(t, mask)
	if x == nil || !c.real {
		return nil
	}
	o := c.NewC(tensor.Int64, reduceShape(t, mask, keep)...)
	native.ArgRows32(o.Int64s(), x, cols, least)
	return o
}
