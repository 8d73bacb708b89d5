package tensor

import "sort"

// ContiguousStrides is the row-major strides of shape; sizes of 0 count as 1, as in PyTorch.
func ContiguousStrides(shape []int64) []int64 {
	st := make([]int64, len(shape))
	n := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		st[i] = n
		n *= max(shape[i], 1)
	}
	return st
}

// ChannelsLastStrides is the NHWC strides of a 4-D shape (NDHWC of a 5-D shape, HWC of a 3-D one); other ranks get row-major strides.
func ChannelsLastStrides(shape []int64) []int64 {
	var order []int
	switch len(shape) {
	case 5:
		order = []int{1, 4, 3, 2, 0}
	case 4:
		order = []int{1, 3, 2, 0}
	case 3:
		order = []int{0, 2, 1}
	default:
		return ContiguousStrides(shape)
	}
	st := make([]int64, len(shape))
	n := int64(1)
	for _, d := range order {
		st[d] = n
		n *= max(shape[d], 1)
	}
	return st
}

// FormatStrides is the strides that shape has in memory format f (preserve means contiguous here).
func FormatStrides(shape []int64, f MemoryFormat) []int64 {
	if f == ChannelsLast || f == ChannelsLast3d {
		return ChannelsLastStrides(shape)
	}
	return ContiguousStrides(shape)
}

func isContiguous(shape, stride []int64) bool {
	n := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] == 0 {
			return true
		}
	}
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] == 1 {
			continue
		}
		if stride[i] != n {
			return false
		}
		n *= shape[i]
	}
	return true
}

func isChannelsLast(shape, stride []int64) bool {
	var order []int
	switch len(shape) {
	case 5:
		order = []int{1, 4, 3, 2, 0}
	case 4:
		order = []int{1, 3, 2, 0}
	default:
		return false
	}
	n := int64(1)
	for _, d := range order {
		if shape[d] == 1 {
			continue
		}
		if stride[d] != n {
			return false
		}
		n *= shape[d]
	}
	return true
}

// IsContiguous reports whether t's elements lie densely in memory format f.
func (t *Tensor) IsContiguous(f MemoryFormat) bool {
	switch f {
	case ChannelsLast:
		return len(t.Shape) == 4 && isChannelsLast(t.Shape, t.Stride)
	case ChannelsLast3d:
		return len(t.Shape) == 5 && isChannelsLast(t.Shape, t.Stride)
	}
	return isContiguous(t.Shape, t.Stride)
}

// stridesLikeChannelsLast is PyTorch's test for "these strides look like NHWC":
// weaker than density, and false where N111 could be both.
func stridesLikeChannelsLast(shape, stride []int64) bool {
	var order []int
	switch len(shape) {
	case 5:
		order = []int{1, 4, 3, 2, 0}
	case 4:
		order = []int{1, 3, 2, 0}
	default:
		return false
	}
	if stride[1] == 0 {
		return false
	}
	m := int64(0)
	for _, d := range order {
		if shape[d] == 0 || stride[d] < m {
			return false
		}
		// N111 falls back to contiguous.
		if d == 0 && m == stride[1] {
			return false
		}
		m = stride[d]
		if shape[d] > 1 {
			m *= shape[d]
		}
	}
	return true
}

// SuggestMemoryFormat is the format that operators preserve for t.
func (t *Tensor) SuggestMemoryFormat() MemoryFormat {
	if stridesLikeChannelsLast(t.Shape, t.Stride) {
		if len(t.Shape) == 5 {
			return ChannelsLast3d
		}
		return ChannelsLast
	}
	return ContiguousFormat
}

// IsNonOverlappingAndDense reports whether t's elements fill a block of memory, each place once.
func (t *Tensor) IsNonOverlappingAndDense() bool { return nonOverlappingDense(t.Shape, t.Stride) }

func nonOverlappingDense(shape, stride []int64) bool {
	if len(shape) == 1 {
		return shape[0] < 2 || stride[0] == 1
	}
	if isContiguous(shape, stride) || isChannelsLast(shape, stride) {
		return true
	}
	perm := make([]int, len(shape))
	for i := range perm {
		perm[i] = i
	}
	sort.SliceStable(perm, func(a, b int) bool {
		x, y := perm[a], perm[b]
		if shape[x] < 2 {
			return false
		} else if shape[y] < 2 {
			return true
		}
		return stride[x] < stride[y]
	})
	n := int64(1)
	for _, d := range perm {
		if shape[d] < 2 {
			return true
		}
		if stride[d] != n {
			return false
		}
		n *= shape[d]
	}
	return true
}

// HasInternalOverlap reports whether some dimension certainly repeats memory (stride 0, size > 1).
func (t *Tensor) HasInternalOverlap() bool {
	for i, s := range t.Shape {
		if s > 1 && t.Stride[i] == 0 {
			return true
		}
	}
	return false
}

// PreservedStrides is the strides that empty_like(preserve_format) gives: the same when
// dense, otherwise a dense layout in the same order of strides.
func PreservedStrides(shape, stride []int64) []int64 {
	if nonOverlappingDense(shape, stride) {
		return cloneDims(stride)
	}
	return inferDense(shape, stride)
}

// inferDense orders dimensions by stride as PyTorch's infer_dense_strides does and lays them out densely.
func inferDense(shape, stride []int64) []int64 {
	perm := StrideOrder(shape, [][]int64{stride})
	st := make([]int64, len(shape))
	n := int64(1)
	for _, d := range perm {
		st[d] = n
		if shape[d] > 1 {
			n *= shape[d]
		}
	}
	return st
}

// StrideOrder is TensorIterator's order of dimensions, fastest first: an insertion sort that
// compares by the operands' strides in turn and leaves ambiguous pairs as they are. Strides are per
// operand, broadcast dimensions have stride 0; nil operands are skipped.
func StrideOrder(shape []int64, strides [][]int64) []int {
	n := len(shape)
	perm := make([]int, n)
	for i := range perm {
		perm[i] = n - 1 - i
	}
	// shouldSwap: 1 => a after b, -1 => a before b, 0 => ambiguous
	cmp := func(a, b int) int {
		for _, st := range strides {
			if st == nil {
				continue
			}
			sa, sb := st[a], st[b]
			if sa == 0 || sb == 0 {
				continue
			}
			if sa < sb {
				return -1
			}
			if sa > sb {
				return 1
			}
			if shape[a] > shape[b] {
				return 1
			}
		}
		return 0
	}
	for i := 1; i < n; i++ {
		d1 := i
		for d0 := i - 1; d0 >= 0; d0-- {
			c := cmp(perm[d0], perm[d1])
			if c > 0 {
				perm[d0], perm[d1] = perm[d1], perm[d0]
				d1 = d0
			} else if c < 0 {
				break
			}
		}
	}
	return perm
}

// PointwiseStrides is the strides that TensorIterator gives a fresh output of the given (broadcast) shape computed from ins.
func PointwiseStrides(shape []int64, ins ...*Tensor) []int64 {
	// Fast set-up: all operands have the output's shape and one dense layout.
	same, cont, cl := true, true, len(shape) == 4
	var first *Tensor
	dense := true
	for _, t := range ins {
		if t == nil {
			continue
		}
		if len(t.Shape) != len(shape) {
			same = false
			break
		}
		for d := range shape {
			if t.Shape[d] != shape[d] {
				same = false
			}
		}
		if !same {
			break
		}
		cont = cont && isContiguous(t.Shape, t.Stride)
		cl = cl && isChannelsLast(t.Shape, t.Stride)
		dense = dense && nonOverlappingDense(t.Shape, t.Stride)
		if first == nil {
			first = t
		} else {
			for d := range shape {
				if t.Stride[d] != first.Stride[d] {
					dense = false
				}
			}
		}
	}
	if first == nil && same {
		return ContiguousStrides(shape)
	}
	if same {
		switch {
		case cont:
			return ContiguousStrides(shape)
		case cl:
			return ChannelsLastStrides(shape)
		case dense:
			return cloneDims(first.Stride)
		}
	}
	strides := make([][]int64, 0, len(ins))
	for _, t := range ins {
		if t == nil {
			continue
		}
		strides = append(strides, BroadcastStrides(t, shape))
	}
	perm := StrideOrder(shape, strides)
	identity := true
	for i, d := range perm {
		if d != len(perm)-1-i {
			identity = false
		}
	}
	if identity {
		return ContiguousStrides(shape)
	}
	st := make([]int64, len(shape))
	n := int64(1)
	for _, d := range perm {
		st[d] = n
		n *= shape[d]
	}
	return st
}

// BroadcastStrides is t's strides when expanded to shape: 0 along broadcast dimensions.
func BroadcastStrides(t *Tensor, shape []int64) []int64 {
	st := make([]int64, len(shape))
	off := len(shape) - len(t.Shape)
	for i := range t.Shape {
		if t.Shape[i] != 1 || shape[off+i] == 1 {
			st[off+i] = t.Stride[i]
		}
		if t.Shape[i] == 1 && shape[off+i] != 1 {
			st[off+i] = 0
		}
	}
	// A size-1 dimension contributes nothing; PyTorch keeps 0 there when broadcast only.
	return st
}
