package aten

import (
	"errors"
	"math"
	"slices"
	"strings"

	"whittle/kernels/tensor"
)

// expandIndices turns masks into positions, broadcasts the index tensors, and finds where their dimensions go.
// It returns the indices by dimension of self (nil for a full slice), their common shape, and the position of that shape in the result.
func (c *Call) expandIndices(self *tensor.Tensor, in []*tensor.Tensor) (idx []*tensor.Tensor, shape []int64, at int, err error) {
	for _, t := range in {
		if t == nil {
			idx = append(idx, nil)
			continue
		}
		switch t.DType {
		case tensor.Int64, tensor.Int32:
			idx = append(idx, t)
		case tensor.Bool, tensor.UInt8:
			for j := range t.Shape {
				d := len(idx) + j
				if d >= self.Dim() || t.Shape[j] != self.Shape[d] {
					return nil, nil, 0, kindf(IndexError, "The shape of the mask %s at index %d does not match the shape of the indexed tensor %s at index %d", tensor.ShapeText(t.Shape), j, tensor.ShapeText(self.Shape), d)
				}
			}
			if !c.real || t.Fake {
				return nil, nil, 0, &Error{Kind: DataDependentError, Msg: "aten.nonzero.default"}
			}
			nz, err := c.doT("nonzero", t)
			if err != nil {
				return nil, nil, 0, err
			}
			for j := range t.Shape {
				idx = append(idx, tensor.NewView(nz, nz.Shape[:1], nz.Stride[:1], nz.Offset+int64(j)*nz.Stride[1]))
			}
			if t.Dim() == 0 {
				return nil, nil, 0, kindf(IndexError, "0-dim masks are not supported by index.Tensor")
			}
		default:
			return nil, nil, 0, kindf(IndexError, "tensors used as indices must be long, int, byte or bool tensors")
		}
	}
	if len(idx) > self.Dim() {
		return nil, nil, 0, kindf(IndexError, "too many indices for tensor of dimension %d (got %d)", self.Dim(), len(idx))
	}
	shape = []int64{}
	var shapes []string
	first, last, n := -1, -1, 0
	for d, t := range idx {
		if t == nil {
			continue
		}
		shapes = append(shapes, tensor.ShapeText(t.Shape))
		s, e := tensor.BroadcastShapes(shape, t.Shape)
		if e != nil {
			for _, u := range idx[d+1:] {
				if u != nil {
					shapes = append(shapes, tensor.ShapeText(u.Shape))
				}
			}
			return nil, nil, 0, kindf(IndexError, "shape mismatch: indexing tensors could not be broadcast together with shapes %s", strings.Join(shapes, ", "))
		}
		shape = s
		if first < 0 {
			first = d
		}
		last = d
		n++
	}
	for len(idx) < self.Dim() {
		idx = append(idx, nil)
	}
	at = first
	if n > 0 && last-first+1 != n {
		at = 0 // separated indices move to the front
	}
	return
}

// indexPlan enumerates the storage positions in self that an index expression selects, in row-major order of the result.
type indexPlan struct {
	outShape []int64
	pos      []int64
}

func (c *Call) planIndex(self *tensor.Tensor, in []*tensor.Tensor) (*indexPlan, error) {
	idx, shape, at, err := c.expandIndices(self, in)
	if err != nil {
		return nil, err
	}
	p := &indexPlan{}
	if at < 0 {
		at = 0
	}
	var before, after []int64 // full-slice dimensions
	seen := 0
	for d := range idx {
		if idx[d] != nil {
			continue
		}
		if seen = d; d < at || false {
			before = append(before, int64(d))
		} else {
			after = append(after, int64(d))
		}
	}
	_ = seen
	for _, d := range before {
		p.outShape = append(p.outShape, self.Shape[d])
	}
	p.outShape = append(p.outShape, shape...)
	for _, d := range after {
		p.outShape = append(p.outShape, self.Shape[d])
	}
	if p.outShape == nil {
		p.outShape = []int64{}
	}
	if !c.real {
		return p, nil
	}
	dims := func(ds []int64) []int64 {
		t := &tensor.Tensor{}
		for _, d := range ds {
			t.Shape, t.Stride = append(t.Shape, self.Shape[d]), append(t.Stride, self.Stride[d])
		}
		return offsets(t)
	}
	n := tensor.Numel(shape)
	mid := make([]int64, n)
	for d, t := range idx {
		if t == nil {
			continue
		}
		vals := t.Expand(shape).Ints()
		size := self.Shape[d]
		for i, v := range vals {
			if v < -size || v >= size {
				return nil, kindf(IndexError, "index %d is out of bounds for dimension %d with size %d", v, d, size)
			}
			if v < 0 {
				v += size
			}
			mid[i] += v * self.Stride[d]
		}
	}
	b, a := dims(before), dims(after)
	p.pos = make([]int64, 0, int64(len(b))*n*int64(len(a)))
	for _, x := range b {
		for _, y := range mid {
			for _, z := range a {
				p.pos = append(p.pos, self.Offset+x+y+z)
			}
		}
	}
	return p, nil
}

// indexStrides gives index's output layout: TensorIterator orders dimensions as the restrided self lies in memory.
func (c *Call) indexStrides(self *tensor.Tensor, in []*tensor.Tensor, outShape []int64) []int64 {
	idx, shape, at, err := c.expandIndices(self, in)
	if err != nil || at < 0 {
		return tensor.ContiguousStrides(outShape)
	}
	var st []int64
	for d, t := range idx {
		if t == nil && d < at {
			st = append(st, self.Stride[d])
		}
	}
	lead := len(st)
	for range shape {
		st = append(st, 0)
	}
	for d, t := range idx {
		if t == nil && d >= at {
			st = append(st, self.Stride[d])
		}
	}
	ops := [][]int64{st}
	for _, t := range idx {
		if t == nil {
			continue
		}
		b := tensor.BroadcastStrides(t, shape)
		x := make([]int64, len(st))
		copy(x[lead:], b)
		ops = append(ops, x)
	}
	perm := tensor.StrideOrder(outShape, ops)
	if isDefaultOrder(perm) {
		return tensor.ContiguousStrides(outShape)
	}
	o := make([]int64, len(outShape))
	n := int64(1)
	for _, d := range perm {
		o[d] = n
		n *= outShape[d]
	}
	return o
}

func init() {
	def("index.Tensor _unsafe_index.Tensor", func(c *Call) (Value, error) {
		t := c.T(0)
		p, err := c.planIndex(t, c.Ts(1))
		if err != nil {
			return nil, err
		}
		o := c.New(t.DType, p.outShape, c.indexStrides(t, c.Ts(1), p.outShape))
		if c.real {
			gatherAt(o, t, p.pos)
		}
		return o, nil
	})
	put := func(c *Call, o *tensor.Tensor) error {
		p, err := c.planIndex(o, c.Ts(1))
		if e := (*Error)(nil); errors.As(err, &e) && e.Kind == DataDependentError && !c.real {
			return nil // how many elements a mask writes is not known, and does not matter
		}
		if err != nil {
			return err
		}
		v := c.T(2)
		if v.DType != o.DType {
			return errf("Index put requires the source and destination dtypes match, got %s for the destination and %s for the source.", cName(o.DType), cName(v.DType))
		}
		if sh, err := tensor.BroadcastShapes(v.Shape, p.outShape); err != nil || !slices.Equal(sh, p.outShape) {
			return errf("shape mismatch: value tensor of shape %s cannot be broadcast to indexing result of shape %s", tensor.ShapeText(v.Shape), tensor.ShapeText(p.outShape))
		}
		if c.real {
			scatterAt(o, p.pos, v.Expand(p.outShape), c.B(3))
		}
		return nil
	}
	def("index_put _unsafe_index_put", func(c *Call) (Value, error) {
		t := c.T(0)
		o, err := c.doT("clone", t, tensor.PreserveFormat)
		if err != nil {
			return nil, err
		}
		return o, put(c, o)
	})
	def("index_put_ _index_put_impl_", func(c *Call) (Value, error) {
		err := put(c, c.T(0))
		c.bump(c.T(0))
		return c.T(0), err
	})
	masked := func(c *Call) (Value, error) {
		t, m := c.T(0), c.T(1)
		if m.DType != tensor.Bool && m.DType != tensor.UInt8 {
			return nil, errf("masked_fill_ only supports boolean masks, but got mask with dtype %s", lName(m.DType))
		}
		if v, ok := c.Args[2].(*tensor.Tensor); ok && v.Dim() != 0 {
			return nil, errf("masked_fill only supports a 0-dimensional value tensor, but got tensor with %d dimension(s).", v.Dim())
		}
		if _, ok := c.Args[2].(float64); ok && t.DType.Kind() < tensor.KindFloat {
			return nil, errf("value cannot be converted to type int64_t without overflow")
		}
		v := c.Args[2]
		return c.pwv([]Value{t, m, v}, t.DType, t.DType, f3(func(a, m, v float64) float64 {
			if m != 0 {
				return v
			}
			return a
		}).i3(func(a, m, v int64) int64 {
			if m != 0 {
				return v
			}
			return a
		}))
	}
	def("masked_fill.Scalar masked_fill.Tensor", func(c *Call) (Value, error) {
		v, err := masked(c)
		if err != nil || c.inplace != nil {
			return v, err
		}
		// The functional form clones the expanded self, which keeps self's layout.
		o := v.(*tensor.Tensor)
		st := tensor.PreservedStrides(c.T(0).Expand(o.Shape).Shape, c.T(0).Expand(o.Shape).Stride)
		if !slices.Equal(st, o.Stride) {
			n := c.New(o.DType, o.Shape, st)
			if c.real {
				tensor.Copy(n, o)
			}
			return n, nil
		}
		return o, nil
	})
	def("gather", func(c *Call) (Value, error) {
		t, ix := c.T(0), c.T(2)
		d, err := wrapDim(c.I(1), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		if ix.Numel() > 0 && ix.DType != tensor.Int64 && ix.DType != tensor.Int32 {
			return nil, errf("gather(): Expected dtype int64 for index")
		}
		if ix.Numel() > 0 && max(ix.Dim(), 1) != max(t.Dim(), 1) {
			return nil, errf("Index tensor must have the same number of dimensions as input tensor")
		}
		for i := range ix.Shape {
			if int64(i) != d && i < t.Dim() && ix.Shape[i] > t.Shape[i] {
				return nil, errf("Size does not match at dimension %d expected index %s to be smaller than self %s apart from dimension %d", i, tensor.ShapeText(ix.Shape), tensor.ShapeText(t.Shape), d)
			}
		}
		o := c.NewUnset(t.DType, ix.Shape, tensor.ContiguousStrides(ix.Shape))
		if !c.real {
			return o, nil
		}
		if t.Dim() > 0 && sameBut(t.Shape, ix.Shape, d) {
			if gatherRows(o, t, ix, d) {
				return o, nil
			}
		}
		pos, err := dimPositions(t, ix, d)
		if err != nil {
			return nil, err
		}
		gatherAt(o, t, pos)
		return o, nil
	})
	scatters()
	selects()
	sorts()
	nonzeros()
}

// sameBut reports whether two shapes agree in all dimensions but d.
func sameBut(a, b []int64, d int64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if int64(i) != d && a[i] != b[i] {
			return false
		}
	}
	return true
}

// dimPositions is, for each element of ix, the storage position in t with dimension d replaced by the index.
func dimPositions(t, ix *tensor.Tensor, d int64) ([]int64, error) {
	vals := ix.Ints()
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

// gatherAt fills o, in row-major order, from t's storage at pos.
func gatherAt(o, t *tensor.Tensor, pos []int64) {
	if t.DType.IsFloat() {
		b := make([]float64, len(pos))
		for i, p := range pos {
			tensor.LoadFloat(t, p, 0, b[i:i+1])
		}
		o.SetFloats(b)
		return
	}
	if t.DType.Kind() == tensor.KindComplex {
		b := make([]complex128, len(pos))
		for i, p := range pos {
			tensor.LoadComplex(t, p, 0, b[i:i+1])
		}
		o.SetComplexes(b)
		return
	}
	b := make([]int64, len(pos))
	for i, p := range pos {
		tensor.LoadInt(t, p, 0, b[i:i+1])
	}
	o.SetInts(b)
}

// scatterAt stores v's elements, in row-major order, into o's storage at pos, adding if accumulate.
func scatterAt(o *tensor.Tensor, pos []int64, v *tensor.Tensor, accumulate bool) {
	if o.DType.IsFloat() {
		xs := v.Floats()
		var b [1]float64
		for i, p := range pos {
			x := xs[i]
			if accumulate {
				tensor.LoadFloat(o, p, 0, b[:])
				x += b[0]
			}
			b[0] = x
			tensor.StoreFloat(o, p, 0, b[:])
		}
		return
	}
	if o.DType.Kind() == tensor.KindComplex {
		xs := v.Complexes()
		var b [1]complex128
		for i, p := range pos {
			x := xs[i]
			if accumulate {
				tensor.LoadComplex(o, p, 0, b[:])
				x += b[0]
			}
			b[0] = x
			tensor.StoreComplex(o, p, 0, b[:])
		}
		return
	}
	xs := v.Ints()
	var b [1]int64
	for i, p := range pos {
		x := xs[i]
		if accumulate {
			tensor.LoadInt(o, p, 0, b[:])
			x += b[0]
		}
		b[0] = x
		tensor.StoreInt(o, p, 0, b[:])
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
func reduceAt(o *tensor.Tensor, pos []int64, xs []float64, name string, includeSelf bool) {
	f := reducer(name)
	acc, cnt := map[int64]float64{}, map[int64]float64{}
	var b [1]float64
	for i, p := range pos {
		old, ok := acc[p]
		if !ok && includeSelf {
			tensor.LoadFloat(o, p, 0, b[:])
			old, ok = b[0], true
			cnt[p] = 1
		}
		if ok {
			acc[p] = f(old, xs[i])
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
		pos, err := dimPositions(o, ix, d)
		if err != nil {
			return err
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
		switch {
		case mode == "":
			scatterAt(o, pos, v, false)
		case mode == "add" && include:
			scatterAt(o, pos, v, true)
		default:
			reduceAt(o, pos, v.Floats(), mode, include)
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
	along := func(c *Call, o *tensor.Tensor, ix *tensor.Tensor) ([]int64, []int64, error) {
		d, err := wrapDim(c.I(1), int64(o.Dim()))
		if err != nil {
			return nil, nil, err
		}
		if ix.Dim() > 1 {
			return nil, nil, kindf(IndexError, "%s(): Index is supposed to be a vector", strings.TrimSuffix(c.Op.Sig().Name, "_"))
		}
		if ix.DType != tensor.Int64 && ix.DType != tensor.Int32 {
			return nil, nil, errf("%s(): Expected dtype int32/int64 for index", strings.TrimSuffix(c.Op.Sig().Name, "_"))
		}
		shape := slices.Clone(o.Shape)
		if o.Dim() > 0 {
			shape[d] = ix.Numel()
		} else {
			shape = []int64{ix.Numel()}
		}
		if !c.real {
			return nil, shape, nil
		}
		st := make([]int64, len(shape))
		st[d] = 1
		if ix.Dim() == 1 {
			st[d] = ix.Stride[0]
		}
		full := tensor.NewView(ix, shape, st, ix.Offset)
		vals := full.Ints()
		size := int64(1)
		if o.Dim() > 0 {
			size = o.Shape[d]
		}
		for _, v := range vals {
			if v < -size || v >= size {
				return nil, nil, kindf(IndexError, "index out of range in self")
			}
		}
		for i := range vals {
			if vals[i] < 0 {
				vals[i] += size
			}
		}
		norm := tensor.FromInt64s(vals, shape...)
		pos, err := dimPositions(o, norm, d)
		return pos, shape, err
	}
	both("index_add", func(c *Call, o *tensor.Tensor) error {
		pos, shape, err := along(c, o, c.T(2))
		if err != nil || !c.real {
			return err
		}
		src := c.T(3)
		if src.DType != o.DType {
			return errf("index_add_(): self (%s) and source (%s) must have the same scalar type", cName(o.DType), cName(src.DType))
		}
		v, err := c.doT("mul.Tensor", src, c.Args[4])
		if err != nil {
			return err
		}
		if v.Numel() != tensor.Numel(shape) {
			return errf("index_add_(): Number of indices (%d) should be equal to source.size(dim) (%d)", c.T(2).Numel(), lastOr(src.Shape, 1))
		}
		scatterAt(o, pos, v, true)
		return nil
	})
	both("index_copy", func(c *Call, o *tensor.Tensor) error {
		pos, shape, err := along(c, o, c.T(2))
		if err != nil || !c.real {
			return err
		}
		if c.T(3).Numel() != tensor.Numel(shape) {
			return errf("index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: %s at dimension %d and source slice shape: %s at dimension 0.", tensor.ShapeText(o.Shape), c.I(1), tensor.ShapeText(c.T(3).Shape))
		}
		scatterAt(o, pos, c.T(3), false)
		return nil
	})
	both("index_fill.int_Scalar index_fill.int_Tensor", func(c *Call, o *tensor.Tensor) error {
		pos, shape, err := along(c, o, c.T(2))
		if err != nil || !c.real {
			return err
		}
		v := tensor.Empty(o.DType, shape...)
		x := c.Args[3]
		if t, ok := x.(*tensor.Tensor); ok {
			if t.Dim() != 0 {
				return errf("index_fill_ only supports a 0-dimensional value tensor, but got tensor with %d dimension(s).", t.Dim())
			}
			x = t.Item()
		}
		fillScalar(v, x)
		scatterAt(o, pos, v, false)
		return nil
	})
	both("index_reduce", func(c *Call, o *tensor.Tensor) error {
		pos, _, err := along(c, o, c.T(2))
		if err != nil || !c.real {
			return err
		}
		if n := c.Str(4); reducer(n) == nil || n == "sum" {
			return errf("index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got %s.", n)
		}
		if src := c.T(3); src.Numel() != int64(len(pos)) {
			return errf("index_reduce(): Number of indices (%d) should be equal to source.size(dim), but source has size %s", c.T(2).Numel(), tensor.ShapeText(src.Shape))
		}
		reduceAt(o, pos, c.T(3).Floats(), c.Str(4), c.B(5))
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
		ms := m.Expand(o.Shape).Ints()
		offs := offsets(o)
		var pos []int64
		for i, x := range ms {
			if x != 0 {
				pos = append(pos, o.Offset+offs[i])
			}
		}
		if int64(len(pos)) > src.Numel() {
			return errf("masked_scatter: expected self and source to have at least as many elements as the number of ones in mask")
		}
		s := src.Contiguous()
		scatterAt(o, pos, tensor.NewView(s, []int64{int64(len(pos))}, []int64{1}, s.Offset), false)
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
		offs := offsets(o)
		pos := c.T(1).Ints()
		for i, p := range pos {
			n := int64(len(offs))
			if p < -n || p >= n {
				return kindf(IndexError, "out of range: tried to access index %d on a tensor of %d elements.", p, n)
			}
			if p < 0 {
				p += n
			}
			pos[i] = o.Offset + offs[p]
		}
		scatterAt(o, pos, c.T(2), c.B(3))
		return nil
	})
}

func selects() {
	def("index_select", func(c *Call) (Value, error) {
		t, ix := c.T(0), c.T(2)
		d, err := wrapDim(c.I(1), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		if ix.Dim() > 1 {
			return nil, kindf(IndexError, "index_select(): Index is supposed to be a vector")
		}
		if ix.DType != tensor.Int64 && ix.DType != tensor.Int32 {
			return nil, errf("index_select(): Expected dtype int32 or int64 for index")
		}
		shape := slices.Clone(t.Shape)
		if t.Dim() > 0 {
			shape[d] = ix.Numel()
		}
		o := c.NewUnset(t.DType, shape, tensor.ContiguousStrides(shape))
		if !c.real || o.Numel() == 0 {
			return o, nil
		}
		if selectRows(o, t, d, ix.Ints()) {
			return o, nil
		}
		st := make([]int64, len(shape))
		if t.Dim() > 0 {
			st[d] = 1
			if ix.Dim() == 1 {
				st[d] = ix.Stride[0]
			}
		}
		pos, err := dimPositions(t, tensor.NewView(ix, shape, st, ix.Offset), d)
		if err != nil {
			return nil, kindf(IndexError, "index out of range in self")
		}
		gatherAt(o, t, pos)
		return o, nil
	})
	def("take", func(c *Call) (Value, error) {
		t, ix := c.T(0), c.T(1)
		o := c.New(t.DType, ix.Shape, tensor.PreservedStrides(ix.Shape, ix.Stride))
		if !c.real {
			return o, nil
		}
		offs, pos := offsets(t), ix.Ints()
		for i, p := range pos {
			n := int64(len(offs))
			if p < -n || p >= n {
				return nil, kindf(IndexError, "out of range: tried to access index %d on a tensor of %d elements.", p, n)
			}
			if p < 0 {
				p += n
			}
			pos[i] = t.Offset + offs[p]
		}
		gatherAt(o, t, pos)
		return o, nil
	})
	comp("take_along_dim", func(c *Call) (Value, error) {
		t, ix := c.T(0), c.T(1)
		if c.None(2) {
			return c.via("gather", must(c.via("view", must(c.via("contiguous", t)), ints([]int64{-1}))), int64(0), must(c.via("view", must(c.via("contiguous", ix)), ints([]int64{-1}))))
		}
		if t.Dim() != ix.Dim() {
			return nil, errf("torch.take_along_dim(): input and indices should have the same number of dimensions, but got %d dimensions for input, and %d dimensions for indices", t.Dim(), ix.Dim())
		}
		d, err := wrapDim(c.I(2), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		a, b := slices.Clone(t.Shape), slices.Clone(ix.Shape)
		b[d] = a[d]
		sh, err := tensor.BroadcastShapes(a, b)
		if err != nil {
			return nil, errf("%s", err)
		}
		is := slices.Clone(sh)
		is[d] = ix.Shape[d]
		ts := slices.Clone(sh)
		return c.via("gather", must(c.via("expand", t, ints(ts))), d, must(c.via("expand", ix, ints(is))))
	})
	def("masked_select", func(c *Call) (Value, error) {
		t, m := c.T(0), c.T(1)
		if m.DType != tensor.Bool {
			return nil, errf("masked_select: expected BoolTensor for mask")
		}
		if !c.real {
			return nil, &Error{Kind: DataDependentError, Msg: c.Op.Name()}
		}
		sh, err := tensor.BroadcastShapes(t.Shape, m.Shape)
		if err != nil {
			return nil, errf("%s", err)
		}
		e := t.Expand(sh)
		offs := offsets(e)
		var pos []int64
		for i, x := range m.Expand(sh).Ints() {
			if x != 0 {
				pos = append(pos, e.Offset+offs[i])
			}
		}
		o := c.NewC(t.DType, int64(len(pos)))
		gatherAt(o, e, pos)
		return o, nil
	})
	whereScalar := func(c *Call) (Value, error) {
		wrap := func(v, other Value) Value {
			if _, ok := v.(*tensor.Tensor); ok {
				return v
			}
			// The number becomes a 0-dim tensor of the dtype that promotion with the other operand gives it.
			return must(c.via("scalar_tensor", v, scalarDType(v)))
		}
		return c.via("where.self", c.Args[0], wrap(c.Args[1], c.Args[2]), wrap(c.Args[2], c.Args[1]))
	}
	comp("where.ScalarOther where.ScalarSelf where.Scalar", whereScalar)
	comp("where", func(c *Call) (Value, error) { return c.via("nonzero_numpy", c.Args[0]) })
	comp("nonzero_numpy", func(c *Call) (Value, error) {
		if c.T(0).Dim() == 0 {
			v := must(c.via("nonzero", must(c.via("unsqueeze", c.Args[0], int64(0)))))
			return c.via("unbind.int", v, int64(1))
		}
		v := must(c.via("nonzero", c.Args[0]))
		return c.via("unbind.int", v, int64(1))
	})
	def("cat", func(c *Call) (Value, error) {
		ts := c.Ts(0)
		if len(ts) == 0 {
			return nil, errf("expected a non-empty list of Tensors")
		}
		var real []*tensor.Tensor
		for _, t := range ts {
			if t.Dim() == 0 {
				return nil, errf("zero-dimensional tensor (at position %d) cannot be concatenated", slices.Index(ts, t))
			}
			if !(t.Dim() == 1 && t.Shape[0] == 0) {
				real = append(real, t)
			}
		}
		d := tensor.Invalid
		for _, t := range ts {
			d = tensor.Promote(d, t.DType)
		}
		if len(real) == 0 {
			if _, err := wrapDim(c.I(1), 1); err != nil {
				return nil, err
			}
			return c.NewC(d, 0), nil
		}
		first := real[0]
		dim, err := wrapDim(c.I(1), int64(first.Dim()))
		if err != nil {
			return nil, err
		}
		shape := slices.Clone(first.Shape)
		shape[dim] = 0
		mf := first.SuggestMemoryFormat()
		for i, t := range real {
			if t.Dim() != first.Dim() {
				return nil, errf("Tensors must have same number of dimensions: got %d and %d", first.Dim(), t.Dim())
			}
			for k := range shape {
				if int64(k) != dim && t.Shape[k] != shape[k] {
					return nil, errf("Sizes of tensors must match except in dimension %d. Expected size %d but got size %d for tensor number %d in the list.", dim, shape[k], t.Shape[k], i)
				}
			}
			shape[dim] += t.Shape[dim]
			if t.SuggestMemoryFormat() != mf {
				mf = tensor.ContiguousFormat
			}
		}
		o := c.NewUnset(d, shape, tensor.FormatStrides(shape, mf))
		if c.real {
			off := o.Offset
			for _, t := range real {
				tensor.Copy(tensor.NewView(o, t.Shape, o.Stride, off), t)
				off += t.Shape[dim] * o.Stride[dim]
			}
		}
		return o, nil
	})
	comp("concat concatenate", func(c *Call) (Value, error) { return c.via("cat", c.Args...) })
	def("stack", func(c *Call) (Value, error) {
		ts := c.Ts(0)
		if len(ts) == 0 {
			return nil, errf("stack expects a non-empty TensorList")
		}
		d, err := wrapDim(c.I(1), int64(ts[0].Dim())+1)
		if err != nil {
			return nil, err
		}
		var us []Value
		for i, t := range ts {
			if !slices.Equal(t.Shape, ts[0].Shape) {
				return nil, errf("stack expects each tensor to be equal size, but got %s at entry 0 and %s at entry %d", tensor.ShapeText(ts[0].Shape), tensor.ShapeText(t.Shape), i)
			}
			u, err := c.do("unsqueeze", t, d)
			if err != nil {
				return nil, err
			}
			us = append(us, u)
		}
		v, err := c.doT("cat", us, d)
		if err != nil || v.IsContiguous(tensor.ContiguousFormat) {
			return v, err
		}
		return v.Contiguous(), nil
	})
	stackLike := func(name string, at string, dim func(t *tensor.Tensor) int64) {
		comp(name, func(c *Call) (Value, error) {
			v, err := c.via(at, c.Args[0])
			if err != nil {
				return nil, err
			}
			l := v.([]Value)
			d := int64(0)
			if len(l) > 0 {
				d = dim(l[0].(*tensor.Tensor))
			}
			return c.via("cat", l, d)
		})
	}
	stackLike("hstack", "atleast_1d.Sequence", func(t *tensor.Tensor) int64 { return b2i(t.Dim() > 1) })
	stackLike("vstack", "atleast_2d.Sequence", func(*tensor.Tensor) int64 { return 0 })
	stackLike("row_stack", "atleast_2d.Sequence", func(*tensor.Tensor) int64 { return 0 })
	stackLike("dstack", "atleast_3d.Sequence", func(*tensor.Tensor) int64 { return 2 })
	comp("column_stack", func(c *Call) (Value, error) {
		var l []Value
		for _, t := range c.Ts(0) {
			if t.Dim() <= 1 {
				v, err := c.viaT("reshape", t, ints([]int64{t.Numel(), 1}))
				if err != nil {
					return nil, err
				}
				t = v
			}
			l = append(l, t)
		}
		return c.via("hstack", l)
	})
	comp("one_hot", func(c *Call) (Value, error) {
		t, n := c.T(0), c.I(1)
		if t.DType != tensor.Int64 {
			return nil, errf("one_hot is only applicable to index tensor of type LongTensor.")
		}
		if n == -1 {
			if t.Fake {
				return nil, &Error{Kind: DataDependentError, Msg: "aten._local_scalar_dense.default"}
			}
			if t.Numel() == 0 {
				return nil, errf("Can not infer total number of classes from empty tensor.")
			}
			n = slices.Max(t.Ints()) + 1
		}
		if !t.Fake {
			for _, x := range t.Ints() {
				if x < 0 {
					return nil, errf("Class values must be non-negative.")
				}
				if x >= n {
					return nil, errf("Class values must be smaller than num_classes.")
				}
			}
		}
		if t.Fake && t.Numel() > 0 {
			classes := must(c.via("arange", n, tensor.Int64))
			return c.via("_to_copy", must(c.via("eq.Tensor", must(c.via("unsqueeze", t, int64(-1))), classes)), tensor.Int64)
		}
		z := must(c.via("zeros", ints(append(slices.Clone(t.Shape), n)), tensor.Int64))
		return c.via("scatter.value", z, int64(-1), must(c.via("unsqueeze", t, int64(-1))), int64(1))
	})
	def("bucketize.Tensor", func(c *Call) (Value, error) { return c.search(c.T(1), c.T(0), c.B(2), c.B(3), nil) })
	def("bucketize.Scalar", func(c *Call) (Value, error) { return c.search(c.T(1), c.T(0), c.B(2), c.B(3), nil) })
	def("searchsorted.Tensor searchsorted.Scalar", func(c *Call) (Value, error) {
		right := c.B(3)
		if !c.None(4) {
			right = c.Str(4) == "right"
		}
		return c.search(c.T(0), c.T(1), c.B(2), right, c.T(5))
	})
	def("isin.Tensor_Tensor isin.Tensor_Scalar isin.Scalar_Tensor", func(c *Call) (Value, error) {
		a, b := c.T(0), c.T(1)
		d := rtype(c.Args[0], c.Args[1])
		set := map[float64]bool{}
		if c.real {
			for _, x := range b.To(d).Floats() {
				set[x] = true
			}
		}
		inv := c.B(3)
		return c.pwv([]Value{a}, d, tensor.Bool, f1(func(x float64) float64 { return b2f(set[x] != inv) }).i1(func(x int64) int64 { return b2i(set[float64(x)] != inv) }))
	})
	def("bincount", func(c *Call) (Value, error) {
		t, w, n := c.T(0), c.T(1), c.I(2)
		if w != nil && (w.Dim() != 1 || w.Numel() != t.Numel()) {
			return nil, errf("weights should be 1-d and have the same length as input")
		}
		if !c.real {
			return nil, &Error{Kind: DataDependentError, Msg: c.Op.Name()}
		}
		xs := t.Ints()
		for _, x := range xs {
			if x < 0 {
				return nil, errf("bincount only supports 1-d non-negative integral inputs.")
			}
			n = max(n, x+1)
		}
		if w == nil {
			o := make([]int64, n)
			for _, x := range xs {
				o[x]++
			}
			return tensor.FromInt64s(o, n), nil
		}
		d := tensor.Float64
		if w.DType == tensor.Float32 {
			d = tensor.Float32
		}
		o := make([]float64, n)
		for i, v := range w.Floats() {
			o[xs[i]] += v
		}
		r := c.NewC(d, n)
		r.SetFloats(o)
		return r, nil
	})
}
