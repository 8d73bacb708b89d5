package aten

import (
	"math"
	"slices"
	"strings"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Writing, adding and reducing at indexed places. An operator lists the position in storage of every place that it writes to, in row-major
// order of the index, and then stores there one after another: where an index repeats, the last value wins, and sums are added in that order.
// Negative indices count from the end for the operators whose index is a vector, as index_add; scatter and gather refuse them, as PyTorch
// does.

// dimPositions is, for each element of ix, the storage position in t with dimension d replaced by the index.
func (c *Call) dimPositions(t, ix *tensor.Tensor, d int64) ([]int64, error) {
	vals := c.ints(ix)
	size, st := int64(1), int64(1)
	if t.Dim() > 0 {
		size, st = t.Shape[d], t.Stride[d]
	}
	base := &tensor.Tensor{Shape: ix.Shape, Stride: make([]int64, ix.Dim())}
	for i := range base.Stride {
		if int64(i) != d && i < t.Dim() {
			base.Stride[i] = t.Stride[i]
		}
	}
	pos := offsets(base)
	for i, v := range vals {
		if v < 0 || v >= size {
			return nil, errf("index %d is out of bounds for dimension %d with size %d", v, d, size)
		}
		pos[i] += t.Offset + v*st
	}
	return pos, nil
}

// storeRows is scatter along the last dimension of a contiguous o that may have more rows than the index. It reports whether it could: the general way words
// what is wrong, and nothing is written then.
func storeRows(o, ix *tensor.Tensor, d int64, v *tensor.Tensor) bool {
	if o.Dim() == 0 || int(d) != o.Dim()-1 || ix.Dim() != o.Dim() || o.DType != v.DType || ix.DType != tensor.Int64 || !o.IsContiguous(tensor.ContiguousFormat) || o.Numel() == 0 {
		return false
	}
	switch o.DType.Size() {
	case 4:
		return storeRowsOf[uint32](o, ix, v)
	case 8:
		return storeRowsOf[uint64](o, ix, v)
	}
	return false
}

func storeRowsOf[T any](o, ix, v *tensor.Tensor) bool {
	rows, done := lent(ix)
	defer done()
	index := rows.Int64s()
	n, size := int(ix.Shape[ix.Dim()-1]), o.Shape[o.Dim()-1]
	for _, i := range index {
		if i < 0 || i >= size {
			return false
		}
	}
	lead := ix.Shape[:ix.Dim()-1]
	v, back := lent(v)
	defer back()
	to, from := tensor.Raw[T](o), tensor.Raw[T](v)
	parallel.For(len(index)/n, int(grain/4)/n+1, func(lo, hi int) {
		pos := make([]int64, len(lead))
		for r := lo; r < hi; r++ {
			unravel(int64(r), lead, pos)
			at := int64(0)
			for i, p := range pos {
				at += p * o.Stride[i]
			}
			row, in := to[at:at+size], from[r*n:(r+1)*n]
			for j, i := range index[r*n : (r+1)*n] {
				row[i] = in[j]
			}
		}
	})
	return true
}

// gatherAt fills o, in row-major order, from t's storage at pos.
func gatherAt(o, t *tensor.Tensor, pos []int64) {
	to := o
	if !o.IsContiguous(tensor.ContiguousFormat) {
		to = tensor.EmptyUnset(o.DType, o.Shape, tensor.ContiguousStrides(o.Shape))
	}
	switch t.DType.Size() {
	case 1:
		gatherWordsAt[uint8](to, t, pos)
	case 2:
		gatherWordsAt[uint16](to, t, pos)
	case 4:
		gatherWordsAt[uint32](to, t, pos)
	case 8:
		gatherWordsAt[uint64](to, t, pos)
	case 16:
		gatherWordsAt[[2]uint64](to, t, pos)
	}
	if to != o {
		tensor.Copy(o, to)
	}
}

func gatherWordsAt[T any](o, t *tensor.Tensor, pos []int64) {
	if len(pos) == 0 {
		return
	}
	to, from := tensor.Raw[T](o), tensor.Whole[T](t)
	parallel.For(len(pos), grain, func(lo, hi int) {
		for i, p := range pos[lo:hi] {
			to[lo+i] = from[p]
		}
	})
}

// scatterAt stores v's elements, in row-major order, into o's storage at pos, adding if accumulate.
func scatterAt(o *tensor.Tensor, pos []int64, v *tensor.Tensor, accumulate bool) {
	switch {
	case o.DType == v.DType && o.DType == tensor.Float32:
		putWordsAt[float32](o, pos, v, accumulate)
	case o.DType == v.DType && o.DType == tensor.Float64:
		putWordsAt[float64](o, pos, v, accumulate)
	case o.DType == v.DType && o.DType == tensor.Int64:
		putWordsAt[int64](o, pos, v, accumulate)
	case o.DType.IsFloat():
		putAt(o, pos, v.Floats(), accumulate, tensor.LoadFloat, tensor.StoreFloat)
	case o.DType.Kind() == tensor.KindComplex:
		putAt(o, pos, v.Complexes(), accumulate, tensor.LoadComplex, tensor.StoreComplex)
	default:
		putAt(o, pos, v.Ints(), accumulate, tensor.LoadInt, tensor.StoreInt)
	}
}

// putWordsAt is scatterAt for elements that Go computes with as they are in memory.
func putWordsAt[T float32 | float64 | int64](o *tensor.Tensor, pos []int64, v *tensor.Tensor, accumulate bool) {
	if len(pos) == 0 {
		return
	}
	v, done := lent(v)
	defer done()
	to, from := tensor.Whole[T](o), tensor.Raw[T](v)
	for i, p := range pos {
		if accumulate {
			to[p] += from[i]
		} else {
			to[p] = from[i]
		}
	}
}

// putAt is scatterAt for elements of one kind.
func putAt[T float64 | complex128 | int64](o *tensor.Tensor, pos []int64, xs []T, accumulate bool, load, store func(t *tensor.Tensor, off, stride int64, b []T)) {
	b := make([]T, 1)
	for i, p := range pos {
		x := xs[i]
		if accumulate {
			load(o, p, 0, b)
			x += b[0]
		}
		b[0] = x
		store(o, p, 0, b)
	}
}

// reducer combines values at one place; count is how many came before, including self's own.
func reducer(name string) func(old, x float64) float64 {
	switch name {
	case "sum", "add", "mean":
		return func(o, x float64) float64 { return o + x }
	case "prod", "multiply":
		return func(o, x float64) float64 { return o * x }
	case "amax":
		return func(o, x float64) float64 { return max(o, x) }
	case "amin":
		return func(o, x float64) float64 { return min(o, x) }
	}
	return nil
}

// reduceAt combines v into o at pos. Without includeSelf the first value at a place replaces what was there.
func reduceAt(o *tensor.Tensor, pos []int64, v *tensor.Tensor, name string, includeSelf bool) {
	switch {
	case o.DType == v.DType && o.DType == tensor.Float32:
		reduceWordsAt[float32](o, pos, v, name, includeSelf)
		return
	case o.DType == v.DType && o.DType == tensor.Float64:
		reduceWordsAt[float64](o, pos, v, name, includeSelf)
		return
	}
	f, xs := reducer(name), v.Floats()
	acc, cnt := map[int64]float64{}, map[int64]float64{}
	var b [1]float64
	round := func(x float64) float64 { return x }
	if o.DType.IsFloat() && o.DType != tensor.Float64 {
		round = func(x float64) float64 { return float64(float32(x)) } // what the kernels of PyTorch accumulate in
	}
	for i, p := range pos {
		old, ok := acc[p]
		if !ok && includeSelf {
			tensor.LoadFloat(o, p, 0, b[:])
			old, ok = b[0], true
			cnt[p] = 1
		}
		if ok {
			acc[p] = round(f(old, xs[i]))
		} else {
			acc[p] = xs[i]
		}
		cnt[p]++
	}
	for p, v := range acc {
		if name == "mean" {
			if o.DType.IsFloat() {
				v /= cnt[p]
			} else {
				v = math.Floor(v / cnt[p])
			}
		}
		b[0] = v
		tensor.StoreFloat(o, p, 0, b[:])
	}
}

// reduceComplexAt is reduceAt for complex numbers.
func reduceComplexAt(o *tensor.Tensor, pos []int64, xs []complex128, name string, includeSelf bool) {
	f := func(a, b complex128) complex128 { return a + b }
	if name == "prod" || name == "multiply" {
		f = func(a, b complex128) complex128 { return a * b }
	}
	count := map[int64]float64{}
	var b [1]complex128
	for i, p := range pos {
		tensor.LoadComplex(o, p, 0, b[:])
		if count[p] > 0 || includeSelf {
			b[0] = f(b[0], xs[i])
		} else {
			b[0] = xs[i]
		}
		tensor.StoreComplex(o, p, 0, b[:])
		count[p]++
	}
	if name != "mean" {
		return
	}
	for p, n := range count {
		if includeSelf {
			n++
		}
		tensor.LoadComplex(o, p, 0, b[:])
		b[0] /= complex(n, 0)
		tensor.StoreComplex(o, p, 0, b[:])
	}
}

func scatters() {
	// Both the in-place and functional forms; the functional one starts from a clone.
	both := func(names string, f func(c *Call, o *tensor.Tensor) error) {
		for _, n := range strings.Fields(names) {
			base, ov, dot := strings.Cut(n, ".")
			ip := base + "_"
			if dot {
				ip += "." + ov
			}
			def(n, func(c *Call) (Value, error) {
				src := c.T(0)
				if base == "masked_scatter" {
					sh, err := tensor.BroadcastShapes(src.Shape, c.T(1).Shape)
					if err != nil {
						return nil, errf("%s", err)
					}
					src = src.Expand(sh)
				}
				o, err := c.doT("clone", src, tensor.PreserveFormat)
				if err != nil {
					return nil, err
				}
				if err := f(c, o); err != nil {
					return nil, err
				}
				return o, nil
			})
			def(ip, func(c *Call) (Value, error) {
				if err := f(c, c.T(0)); err != nil {
					return nil, err
				}
				c.bump(c.T(0))
				return c.T(0), nil
			})
		}
	}
	sc := func(c *Call, o *tensor.Tensor, mode string, include bool) error {
		d, err := wrapDim(c.I(1), int64(o.Dim()))
		if err != nil {
			return err
		}
		ix := c.T(2)
		if ix.Numel() == 0 {
			return nil
		}
		if ix.DType != tensor.Int64 && ix.DType != tensor.Int32 {
			return errf("scatter(): Expected dtype int64 for index")
		}
		src, isT := c.Args[3].(*tensor.Tensor)
		if max(ix.Dim(), 1) != max(o.Dim(), 1) {
			return errf("Index tensor must have the same number of dimensions as self tensor")
		}
		if isT {
			if max(ix.Dim(), 1) != max(src.Dim(), 1) {
				return errf("Index tensor must have the same number of dimensions as src tensor")
			}
			if src.DType != o.DType {
				return errf("scatter(): Expected self.dtype to be equal to src.dtype")
			}
		}
		for i := range ix.Shape {
			if i < o.Dim() && (int64(i) != d && ix.Shape[i] > o.Shape[i] || isT && i < src.Dim() && ix.Shape[i] > src.Shape[i]) {
				if isT {
					return errf("Expected index %s to be smaller than self %s apart from dimension %d and to be smaller size than src %s", tensor.ShapeText(ix.Shape), tensor.ShapeText(o.Shape), d, tensor.ShapeText(src.Shape))
				}
				return errf("Expected index %s to be smaller than self %s apart from dimension %d", tensor.ShapeText(ix.Shape), tensor.ShapeText(o.Shape), d)
			}
		}
		if !c.real {
			return nil
		}
		var v *tensor.Tensor
		if isT {
			v = tensor.NewView(src, ix.Shape, src.Stride, src.Offset)
			if src.Dim() == 0 {
				v = tensor.NewView(src, ix.Shape, make([]int64, ix.Dim()), src.Offset)
			}
		} else {
			v = tensor.Empty(o.DType, ix.Shape...)
			fillScalar(v, c.Args[3])
		}
		how := storing
		if mode != "" {
			how = joiningOf[mode]
		}
		if (mode == "" || include && mode != "mean") && joinRows(o, ix, d, v, how) {
			return nil
		}
		if mode == "" && storeRows(o, ix, d, v) {
			return nil
		}
		pos, err := c.dimPositions(o, ix, d)
		if err != nil {
			return err
		}
		switch {
		case mode == "":
			scatterAt(o, pos, v, false)
		case mode == "add" && include && !(o.DType.IsSmallFloat() && o.DType != tensor.Float32):
			scatterAt(o, pos, v, true)
		case o.DType.Kind() == tensor.KindComplex:
			if mode == "amax" || mode == "amin" {
				return errf("\"scatter_gather_tensor_cpu_reduce_%s\" not implemented for '%s'", mode, cName(o.DType))
			}
			reduceComplexAt(o, pos, v.Complexes(), mode, include)
		default:
			reduceAt(o, pos, v, mode, include)
		}
		return nil
	}
	both("scatter.src scatter.value", func(c *Call, o *tensor.Tensor) error { return sc(c, o, "", true) })
	both("scatter.reduce scatter.value_reduce", func(c *Call, o *tensor.Tensor) error {
		m := c.Str(4)
		if m != "add" && m != "multiply" {
			return errf("reduce argument must be either add or multiply.")
		}
		return sc(c, o, m, true)
	})
	both("scatter_add", func(c *Call, o *tensor.Tensor) error { return sc(c, o, "add", true) })
	both("scatter_reduce.two", func(c *Call, o *tensor.Tensor) error {
		if reducer(c.Str(4)) == nil {
			return errf("reduce argument must be either sum, prod, mean, amax or amin, got %s.", c.Str(4))
		}
		return sc(c, o, c.Str(4), c.B(5))
	})
	// slicesOf are the slices of o along an axis that a vector names, counted from the first; nil where nothing is computed.
	slicesOf := func(c *Call, o *tensor.Tensor, ix *tensor.Tensor) (d int64, at []int64, err error) {
		if d, err = wrapDim(c.I(1), int64(o.Dim())); err != nil {
			return 0, nil, err
		}
		if ix.Dim() > 1 {
			return 0, nil, kindf(IndexError, "%s(): Index is supposed to be a vector", strings.TrimSuffix(c.Op.Sig().Name, "_"))
		}
		if ix.DType != tensor.Int64 && ix.DType != tensor.Int32 {
			return 0, nil, errf("%s(): Expected dtype int32/int64 for index", strings.TrimSuffix(c.Op.Sig().Name, "_"))
		}
		if !c.real {
			return d, nil, nil
		}
		at = ix.Ints()
		size := int64(1)
		if o.Dim() > 0 {
			size = o.Shape[d]
		}
		for i, v := range at {
			if v < -size || v >= size {
				return 0, nil, kindf(IndexError, "index out of range in self")
			}
			if v < 0 {
				at[i] += size
			}
		}
		return d, at, nil
	}
	// placesOf are the places of the elements of slices, and the shape of these together.
	placesOf := func(c *Call, o *tensor.Tensor, d int64, at []int64) (pos, shape []int64, err error) {
		shape = slicesShape(o, d, int64(len(at)))
		st := make([]int64, len(shape))
		st[d] = 1
		pos, err = c.dimPositions(o, tensor.NewView(tensor.FromInt64s(at, int64(len(at))), shape, st, 0), d)
		return pos, shape, err
	}
	both("index_add", func(c *Call, o *tensor.Tensor) error {
		d, at, err := slicesOf(c, o, c.T(2))
		if err != nil {
			return err
		}
		src := c.T(3)
		if src.DType != o.DType {
			return errf("index_add_(): self (%s) and source (%s) must have the same scalar type", cName(o.DType), cName(src.DType))
		}
		if err := addsTo(o, src, c.I(1), c.T(2).Numel()); err != nil || !c.real {
			return err
		}
		v := src
		if one, ok := c.Args[4].(int64); !ok || one != 1 {
			if v, err = c.doT("mul.Tensor", src, c.Args[4]); err != nil {
				return err
			}
		}
		if joinSlices(o, d, at, v, adding, false) {
			return nil
		}
		pos, _, err := placesOf(c, o, d, at)
		if err != nil {
			return err
		}
		scatterAt(o, pos, v, true)
		return nil
	})
	both("index_copy", func(c *Call, o *tensor.Tensor) error {
		d, at, err := slicesOf(c, o, c.T(2))
		if err != nil || !c.real || joinSlices(o, d, at, c.T(3), storing, false) {
			return err
		}
		pos, shape, err := placesOf(c, o, d, at)
		if err != nil {
			return err
		}
		if c.T(3).Numel() != tensor.Numel(shape) {
			return errf("index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: %s at dimension %d and source slice shape: %s at dimension 0.", tensor.ShapeText(o.Shape), c.I(1), tensor.ShapeText(c.T(3).Shape))
		}
		scatterAt(o, pos, c.T(3), false)
		return nil
	})
	both("index_fill.int_Scalar index_fill.int_Tensor", func(c *Call, o *tensor.Tensor) error {
		d, at, err := slicesOf(c, o, c.T(2))
		if err != nil || !c.real {
			return err
		}
		shape := slicesShape(o, d, int64(len(at)))
		v := tensor.Empty(o.DType, shape...)
		x := c.Args[3]
		if t, ok := x.(*tensor.Tensor); ok {
			if t.Dim() != 0 {
				return errf("index_fill_ only supports a 0-dimensional value tensor, but got tensor with %d dimension(s).", t.Dim())
			}
			x = t.Item()
		}
		fillScalar(v, x)
		if joinSlices(o, d, at, v, storing, false) {
			return nil
		}
		pos, _, err := placesOf(c, o, d, at)
		if err != nil {
			return err
		}
		scatterAt(o, pos, v, false)
		return nil
	})
	both("index_reduce", func(c *Call, o *tensor.Tensor) error {
		d, at, err := slicesOf(c, o, c.T(2))
		if err != nil || !c.real {
			return err
		}
		if n := c.Str(4); reducer(n) == nil || n == "sum" {
			return errf("index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got %s.", n)
		}
		if o.DType.IsFloat() && joinSlices(o, d, at, c.T(3), joiningOf[c.Str(4)], !c.B(5)) {
			if c.Str(4) == "mean" {
				divideSlices(o, d, at, c.B(5))
			}
			return nil
		}
		pos, _, err := placesOf(c, o, d, at)
		if err != nil {
			return err
		}
		if src := c.T(3); src.Numel() != int64(len(pos)) {
			return errf("index_reduce(): Number of indices (%d) should be equal to source.size(dim), but source has size %s", c.T(2).Numel(), tensor.ShapeText(src.Shape))
		}
		reduceAt(o, pos, c.T(3), c.Str(4), c.B(5))
		return nil
	})
	both("masked_scatter", func(c *Call, o *tensor.Tensor) error {
		if c.T(1).Dim() > 0 {
			sh, err := tensor.BroadcastShapes(o.Shape, c.T(1).Shape)
			if err != nil {
				return errf("%s", err)
			}
			if !slices.Equal(sh, o.Shape) {
				return errf("output with shape %s doesn't match the broadcast shape %s", tensor.ShapeText(o.Shape), tensor.ShapeText(sh))
			}
		}
		m, src := c.T(1), c.T(2)
		if m.DType != tensor.Bool && m.DType != tensor.UInt8 {
			return errf("masked_scatter_ only supports boolean masks, but got mask with dtype %s", cName(m.DType))
		}
		if src.DType != o.DType {
			return errf("masked_scatter: expected self and source to have same dtypes but got %s and %s", cName(o.DType), cName(src.DType))
		}
		if !c.real {
			return nil
		}
		ms := m.Expand(o.Shape).Bytes()
		parts := maskedParts(ms)
		if parts[len(parts)-1].first > src.Numel() {
			return errf("masked_scatter: expected self and source to have at least as many elements as the number of ones in mask")
		}
		if src.Storage == o.Storage {
			parts = []maskedPart{{}, parts[len(parts)-1]} // what is read may have been replaced: from front to back
		}
		src, done := lent(src)
		defer done()
		to, back := lent(o)
		defer back()
		switch o.DType.Size() {
		case 1:
			replaceMasked[uint8](to, ms, src, parts)
		case 2:
			replaceMasked[uint16](to, ms, src, parts)
		case 4:
			replaceMasked[uint32](to, ms, src, parts)
		case 8:
			replaceMasked[uint64](to, ms, src, parts)
		case 16:
			replaceMasked[[2]uint64](to, ms, src, parts)
		}
		if to != o {
			tensor.Copy(o, to)
		}
		return nil
	})
	both("put", func(c *Call, o *tensor.Tensor) error {
		if ix, src := c.T(1), c.T(2); ix.DType != tensor.Int64 {
			return errf("put_(): Expected a long tensor for index, but got %s", cName(ix.DType))
		} else if ix.Numel() != src.Numel() {
			return errf("put_(): Expected source and index to have the same number of elements, but got source.numel() = %d, index.numel() = %d", src.Numel(), ix.Numel())
		} else if src.DType != o.DType {
			return errf("put_(): self and source expected to have the same dtype, but got self.dtype = %s and source.dtype = %s", cName(o.DType), cName(src.DType))
		}
		if !c.real {
			return nil
		}
		pos := c.T(1).Ints()
		n := o.Numel()
		for i, p := range pos {
			if p < -n || p >= n {
				return kindf(IndexError, "out of range: tried to access index %d on a tensor of %d elements.", p, n)
			}
			if p < 0 {
				p += n
			}
			pos[i] = o.Offset
			for d := o.Dim() - 1; d >= 0; d-- {
				pos[i] += p % o.Shape[d] * o.Stride[d]
				p /= o.Shape[d]
			}
		}
		scatterAt(o, pos, c.T(2), c.B(3))
		return nil
	})
}

// A maskedPart is where a part of a mask begins, and how many elements of the mask are set before it.
type maskedPart struct{ at, first int64 }

// maskedParts divides a mask into parts that can be walked through side by side; the last is empty, at its end.
func maskedParts(mask []byte) []maskedPart {
	const size = 1 << 14
	parts := make([]maskedPart, (len(mask)+size-1)/size+1)
	parallel.For(len(parts)-1, 4, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			count := int64(0)
			for _, x := range mask[k*size : min((k+1)*size, len(mask))] {
				if x != 0 {
					count++
				}
			}
			parts[k+1] = maskedPart{int64(min((k+1)*size, len(mask))), count}
		}
	})
	for k := range parts[1:] {
		parts[k+1].first += parts[k].first
	}
	return parts
}

// replaceMasked replaces the elements of o that the mask names by those of src, one after the other. Both are contiguous.
func replaceMasked[T any](o *tensor.Tensor, mask []byte, src *tensor.Tensor, parts []maskedPart) {
	if parts[len(parts)-1].first == 0 {
		return
	}
	to, from := tensor.Raw[T](o), tensor.Raw[T](src)
	parallel.For(len(parts)-1, 4, func(lo, hi int) {
		for k, p := range parts[lo:hi] {
			row, next := to[p.at:parts[lo+k+1].at], p.first
			for i, x := range mask[p.at:parts[lo+k+1].at] {
				if x != 0 {
					row[i] = from[next]
					next++
				}
			}
		}
	})
}

// divideSlices divides the slices of o along dim that have been written to by how often they have, once more where what was there counts.
func divideSlices(o *tensor.Tensor, d int64, at []int64, includeSelf bool) {
	shape := make([]int64, o.Dim())
	for i := range shape {
		shape[i] = 1
	}
	shape[d] = o.Shape[d]
	times := make([]float64, o.Shape[d])
	for _, p := range at {
		if times[p]++; times[p] == 1 && includeSelf {
			times[p]++
		}
	}
	for p, n := range times {
		times[p] = max(n, 1)
	}
	by := tensor.EmptyUnset(o.DType, shape, tensor.ContiguousStrides(shape))
	by.SetFloats(times)
	run([]*tensor.Tensor{o, o, by.Expand(o.Shape)}, o.DType, f2(func(x, n float64) float64 { return x / n }).simd(native.Div))
}

// slicesShape is the shape of n slices of o along dim d.
func slicesShape(o *tensor.Tensor, d, n int64) []int64 {
	if o.Dim() == 0 {
		return []int64{n}
	}
	shape := slices.Clone(o.Shape)
	shape[d] = n
	return shape
}

// addsTo checks the source of index_add: as many slices along dim as there are indices, each of the shape of one of o's. A source or a tensor
// without dimensions is one slice, and goes with its like alone.
func addsTo(o, src *tensor.Tensor, dim, indices int64) error {
	d, err := wrapDim(dim, int64(o.Dim()))
	if err != nil {
		return err
	}
	if d > 0 && d >= int64(src.Dim()) {
		return errf("index_add_(): Indexing dim %d is out of bounds of the source tensor with dim %d", d, src.Dim())
	}
	parts := int64(1)
	if src.Dim() > 0 {
		parts = src.Shape[d]
	}
	if indices != parts {
		return errf("index_add_(): Number of indices (%d) should be equal to source.size(dim): (%d), for dim: %d", indices, parts, d)
	}
	want := slices.Clone(o.Shape)
	if o.Dim() > 0 && src.Dim() > 0 {
		want[d] = indices
	}
	if !slices.Equal(want, src.Shape) {
		return errf("source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = %s source.shape = %s",
			tensor.ShapeText(o.Shape), tensor.ShapeText(src.Shape))
	}
	return nil
}
