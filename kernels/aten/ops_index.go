package aten

import (
	"errors"
	"slices"
	"strings"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Indexing by tensors, as x[i, :, j] is after Python's part of it (package capture/torch). Masks become positions first, then indices are
// broadcast together. Their dimensions go where the first of them was if they are adjacent, and to the front if not: NumPy's rule. The result
// lies in memory as TensorIterator lays it out, not always contiguously.

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
				if d < self.Dim() && t.Shape[j] != self.Shape[d] && t.DType == tensor.Bool && (!c.real || t.Fake) {
					break // how many there are is asked for first
				}
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

// indexPlan is what an index expression selects: for each of the positions in storage of before, at and after, in row-major order of the result,
// the element at their sum.
type indexPlan struct {
	outShape          []int64
	before, at, after []int64
}

// positions enumerates the storage positions.
func (p *indexPlan) positions() []int64 {
	pos := make([]int64, 0, len(p.before)*len(p.at)*len(p.after))
	for _, x := range p.before {
		for _, y := range p.at {
			for _, z := range p.after {
				pos = append(pos, x+y+z)
			}
		}
	}
	return pos
}

// gather fills o with the elements of t that p selects, which are moved in runs where they lie so.
func (p *indexPlan) gather(o, t *tensor.Tensor) {
	n := int64(len(p.after))
	if n < 8 || p.after[n-1]-p.after[0] != n-1 || !slices.IsSorted(p.after) || !o.IsContiguous(tensor.ContiguousFormat) {
		gatherAt(o, t, p.positions())
		return
	}
	rows := make([]int64, 0, len(p.before)*len(p.at))
	size := int64(t.DType.Size())
	for _, x := range p.before {
		for _, y := range p.at {
			rows = append(rows, (x+y+p.after[0])*size)
		}
	}
	moveRows(o.Bytes(), t.Storage.Data, rows, n*size)
}

// moveRows fills to with rows of size bytes: row k is what begins at at[k] of from.
func moveRows(to, from []byte, at []int64, size int64) {
	op := native.Op(0)
	if len(to) >= streamed && size >= 256 {
		op = native.Streamed
	}
	parallel.For(len(at), int(4*grain/(size+1)+1), func(lo, hi int) {
		native.MoveRows(op, to[int64(lo)*size:], from, at[lo:hi], int(size))
	})
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
	for d := range idx {
		switch {
		case idx[d] != nil:
		case d < at:
			before = append(before, int64(d))
		default:
			after = append(after, int64(d))
		}
	}
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
	sums := tensor.Empty(tensor.Int64, shape...)
	p.at = sums.Int64s()
	for d, t := range idx {
		if t == nil {
			continue
		}
		size := self.Shape[d]
		if size == 0 && len(p.at) > 0 {
			return nil, kindf(IndexError, "index is out of bounds for dimension with size 0")
		}
		vals := t.Ints()
		for i, v := range vals {
			if v < -size || v >= size {
				if len(p.at) == 0 {
					break
				}
				return nil, kindf(IndexError, "index %d is out of bounds for dimension %d with size %d", v, d, size)
			}
			if v < 0 {
				v += size
			}
			vals[i] = v * self.Stride[d]
		}
		if len(p.at) == 0 {
			continue
		}
		addSpread(sums, tensor.FromInt64s(vals, t.Shape...))
	}
	p.before, p.after = addTo(dims(before), self.Offset), dims(after)
	return p, nil
}

// addSpread adds x, broadcast to the shape of y, to y: int64 both, and contiguous.
func addSpread(y, x *tensor.Tensor) {
	to, from := tensor.Whole[int64](y), tensor.Whole[int64](x)
	if y.Dim() == 0 { // which has no inner loop
		to[0] += from[0]
		return
	}
	tensor.NewLoop(y.Shape, y, x).Parts(func(l *tensor.Loop) {
		step := l.Inner()
		l.Rows(func(off []int64, n int64) {
			a, b := off[0], off[1]
			if step[0] == 1 && step[1] == 0 {
				row, v := to[a:a+n], from[b]
				for i := range row {
					row[i] += v
				}
				return
			}
			for range n {
				to[a] += from[b]
				a, b = a+step[0], b+step[1]
			}
		})
	})
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
		o := c.NewUnset(t.DType, p.outShape, c.indexStrides(t, c.Ts(1), p.outShape))
		if c.real {
			p.gather(o, t)
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
		masked := slices.ContainsFunc(c.Ts(1), func(t *tensor.Tensor) bool { return t != nil && (t.DType == tensor.Bool || t.DType == tensor.UInt8) })
		if sh, err := tensor.BroadcastShapes(v.Shape, p.outShape); masked && (err != nil || !slices.Equal(sh, p.outShape)) {
			return errf("shape mismatch: value tensor of shape %s cannot be broadcast to indexing result of shape %s", tensor.ShapeText(v.Shape), tensor.ShapeText(p.outShape))
		}
		if v.DType != o.DType {
			return errf("Index put requires the source and destination dtypes match, got %s for the destination and %s for the source.", cName(o.DType), cName(v.DType))
		}
		if sh, err := tensor.BroadcastShapes(v.Shape, p.outShape); err != nil || !slices.Equal(sh, p.outShape) {
			return errf("shape mismatch: value tensor of shape %s cannot be broadcast to indexing result of shape %s", tensor.ShapeText(v.Shape), tensor.ShapeText(p.outShape))
		}
		if c.real && !p.putRuns(o, v.Expand(p.outShape), c.B(3)) {
			scatterAt(o, p.positions(), v.Expand(p.outShape), c.B(3))
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
		if m.DType != tensor.Bool {
			return nil, errf("masked_fill_ only supports boolean masks, but got mask with dtype %s", lName(m.DType))
		}
		if v, ok := c.Args[2].(*tensor.Tensor); ok && v.Dim() != 0 {
			return nil, errf("masked_fill only supports a 0-dimensional value tensor, but got tensor with %d dimension(s).", v.Dim())
		}
		if _, ok := c.Args[2].(float64); ok && t.DType.Kind() < tensor.KindFloat {
			return nil, errf("value cannot be converted to type int64_t without overflow")
		}
		v := c.Args[2]
		if w, ok := v.(*tensor.Tensor); ok {
			v = c.laid(w, t.DType, w.Shape, w.Stride)
		}
		shape, err := broadcast([]Value{t, m})
		if err != nil {
			return nil, err
		}
		// The functional form fills a clone of the expanded self, which keeps self's layout; the mask in that layout makes it where.
		e := t.Expand(shape)
		x := c.laid(e, t.DType, shape, tensor.PreservedStrides(shape, e.Stride))
		if m.Numel() != 1 {
			m = c.laid(m.Expand(shape), m.DType, shape, x.Stride)
		}
		return c.pwv([]Value{m, v, x}, t.DType, t.DType, selecting)
	}
	def("masked_fill.Scalar masked_fill.Tensor", masked)
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
			if c.gatherRows(o, c.dense(t, t.DType), ix, d) {
				return o, nil
			}
		}
		pos, err := c.dimPositions(t, ix, d)
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
