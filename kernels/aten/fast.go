package aten

import (
	"math"
	"slices"

	"whittle/kernels/native"
	"whittle/kernels/tensor"
)

// The paths here serve contiguous tensors of everyday sizes; what they do not take goes the general way, with the same result.

// blocksOf sees a contiguous tensor as outer blocks of size[d] rows of inner elements; ok is false for others.
func blocksOf(t *tensor.Tensor, d int64) (outer, rows, inner int64, ok bool) {
	if t.Dim() == 0 || !t.IsContiguous(tensor.ContiguousFormat) {
		return 0, 0, 0, false
	}
	return tensor.Numel(t.Shape[:d]), t.Shape[d], tensor.Numel(t.Shape[d+1:]), true
}

// selectRows copies rows of t along d, by index, to o, which is contiguous. It reports whether it could: the general way words what is wrong.
func selectRows(o, t *tensor.Tensor, d int64, index []int64) bool {
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
	src, dst := t.Bytes(), o.Bytes()
	at := int64(0)
	for b := int64(0); b < outer; b++ {
		from := src[b*rows*size:]
		for _, i := range index {
			copy(dst[at:at+size], from[i*size:])
			at += size
		}
	}
	return true
}

// gatherRows is gather for contiguous t and o whose sizes differ along d alone. It reports whether it could: the general way words what is wrong.
func gatherRows(o, t, ix *tensor.Tensor, d int64) bool {
	outer, rows, inner, ok := blocksOf(t, d)
	if !ok || o.DType != t.DType {
		return false
	}
	index := ix.Int64s()
	if index == nil {
		index = ix.Ints()
	}
	switch t.DType.Size() {
	case 4:
		return gatherWords(tensor.Raw[uint32](o), tensor.Raw[uint32](t), index, outer, rows, ix.Shape[d], inner)
	case 8:
		return gatherWords(tensor.Raw[uint64](o), tensor.Raw[uint64](t), index, outer, rows, ix.Shape[d], inner)
	}
	return false
}

func gatherWords[T any](dst, src []T, index []int64, outer, rows, count, inner int64) bool {
	n := int64(0)
	for b := int64(0); b < outer; b++ {
		from := src[b*rows*inner : (b+1)*rows*inner]
		if inner == 1 {
			to := dst[n : n+count]
			for i, k := range index[n : n+count] {
				if uint64(k) >= uint64(len(from)) {
					return false
				}
				to[i] = from[k]
			}
			n += count
			continue
		}
		for range count {
			for j := range inner {
				k := index[n]
				if k < 0 || k >= rows {
					return false
				}
				dst[n] = from[k*inner+j]
				n++
			}
		}
	}
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
func radixOrder(keys []uint64) []int64 {
	p, q := make([]int64, len(keys)), make([]int64, len(keys))
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

// maxRows is amax over the trailing dimensions of a contiguous float32 tensor; nil where it is something else.
func (c *Call) maxRows(t *tensor.Tensor, mask []bool, keep bool) *tensor.Tensor {
	x := t.Float32s()
	cols, trailing := int64(1), t.Dim()
	for trailing > 0 && mask[trailing-1] {
		trailing--
		cols *= t.Shape[trailing]
	}
	if x == nil || cols < 8 || t.Dim() == 0 || slices.Contains(mask[:trailing], true) {
		return nil
	}
	o := c.New(t.DType, reduceShape(t, mask, keep), reduceStrides(t, mask, keep))
	y := o.Float32s()
	if y == nil {
		return nil
	}
	native.MaxRows32(y, x, int(cols), int(cols))
	return o
}
