package aten

import (
	"slices"

	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Choosing and joining: index_select, take, masked_select, where, cat, stack and the like. Operands of where and cat are promoted to one
// dtype; cat leaves out one-dimensional empty tensors, whatever the other sizes, as old programs rely on. The result of masked_select has a
// size that only data says: its metadata alone is a DataDependentError.

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
		if int(d) == t.Dim()-1 && t.Dim() > 0 && selectWithin(o, t, ix.Ints()) || selectRows(o, t, d, ix.Ints()) {
			return o, nil
		}
		st := make([]int64, len(shape))
		if t.Dim() > 0 {
			st[d] = 1
			if ix.Dim() == 1 {
				st[d] = ix.Stride[0]
			}
		}
		pos, err := c.dimPositions(t, tensor.NewView(ix, shape, st, ix.Offset), d)
		if err != nil {
			return nil, kindf(IndexError, "index out of range in self")
		}
		gatherAt(o, t, pos)
		return o, nil
	})
	def("take", func(c *Call) (Value, error) {
		t, ix := c.T(0), c.T(1)
		o := c.NewUnset(t.DType, ix.Shape, tensor.PreservedStrides(ix.Shape, ix.Stride))
		if !c.real {
			return o, nil
		}
		if index := ix.Int64s(); index != nil && o.IsContiguous(tensor.ContiguousFormat) && t.Dim() > 0 && len(index) >= 64 {
			if flat := c.dense(t, t.DType); takeFlat(o, tensor.NewView(flat, []int64{flat.Numel()}, []int64{1}, flat.Offset), index) {
				return o, nil
			}
		}
		pos, n := ix.Ints(), t.Numel()
		var offs []int64 // of t's elements, where they do not lie one after the other
		if len(pos) > 0 && !t.IsContiguous(tensor.ContiguousFormat) {
			offs = offsets(t)
		}
		for i, p := range pos {
			if p < -n || p >= n {
				return nil, kindf(IndexError, "out of range: tried to access index %d on a tensor of %d elements.", p, n)
			}
			if p < 0 {
				p += n
			}
			if offs != nil {
				p = offs[p]
			}
			pos[i] = t.Offset + p
		}
		gatherAt(o, t, pos)
		return o, nil
	})
	comp("take_along_dim", func(c *Call) (Value, error) {
		t, ix := c.T(0), c.T(1)
		if ix.DType != tensor.Int64 {
			return nil, errf("torch.take_along_dim(): dtype of indices should be Long but got %s", cName(ix.DType))
		}
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
		if !c.real {
			return nil, &Error{Kind: DataDependentError, Msg: c.Op.Name()}
		}
		if m.DType != tensor.Bool {
			return nil, errf("masked_select: expected BoolTensor for mask")
		}
		sh, err := tensor.BroadcastShapes(m.Shape, t.Shape)
		if err != nil {
			return nil, errf("%s", err)
		}
		if t.DType.Size() == 4 && slices.Equal(sh, t.Shape) && slices.Equal(sh, m.Shape) && t.Dim() > 0 {
			truth, from := c.dense(m, m.DType).Bytes(), tensor.Raw[uint32](c.dense(t, t.DType))
			o := c.newCUnset(t.DType, counted(truth))
			if o.Numel() > 0 {
				selectTrue(tensor.Raw[uint32](o), from, truth)
			}
			return o, nil
		}
		e := t.Expand(sh)
		offs := offsets(e)
		var pos []int64
		for i, x := range m.Expand(sh).Ints() {
			if x != 0 {
				pos = append(pos, e.Offset+offs[i])
			}
		}
		o := c.newCUnset(t.DType, int64(len(pos)))
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
			return nil, errf("torch.cat(): expected a non-empty list of Tensors")
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
		return c.via("scatter_.value", z, int64(-1), must(c.via("unsqueeze", t, int64(-1))), int64(1))
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
			for _, x := range c.floats(b.To(d)) {
				set[x] = true
			}
		}
		inv := c.B(3)
		return c.pwv([]Value{a}, d, tensor.Bool, f1(func(x float64) float64 { return b2f(set[x] != inv) }).i1(func(x int64) int64 { return b2i(set[float64(x)] != inv) }))
	})
	def("_convert_indices_from_coo_to_csr", func(c *Call) (Value, error) { return c.rowsCompressed(c.T(0), c.I(1), c.B(2)) })
	def("_convert_indices_from_csr_to_coo", func(c *Call) (Value, error) { return c.rowsSpelledOut(c.T(0), c.T(1), c.B(2), c.B(3)) })
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
		for i, v := range c.floats(w) {
			o[xs[i]] += v
		}
		r := c.newCUnset(d, n)
		r.SetFloats(o)
		return r, nil
	})
}

// rowsCompressed are the places where each of n rows begins among sorted numbers of rows, and at last their count.
func (c *Call) rowsCompressed(rows *tensor.Tensor, n int64, int32s bool) (Value, error) {
	if rows.Dim() != 1 {
		return nil, errf("Input is supposed to be a vector, but got %d dimensional tensor.", rows.Dim())
	}
	if !rows.DType.IsInt() {
		return nil, noKernel("convert_indices_from_coo_to_csr_cpu", rows)
	}
	d := indexDType(int32s)
	if !c.real {
		return c.NewC(d, n+1), nil
	}
	begins := make([]int64, n+1)
	for _, r := range rows.Ints() {
		if r = max(r, 0); r < n {
			begins[r+1]++
		}
	}
	for i := range n {
		begins[i+1] += begins[i]
	}
	return tensor.FromInt64s(begins, n+1).To(d), nil
}

// rowsSpelledOut are the coordinates, a column each, of elements whose rows are compressed: those of the batch, the row and the column, the last two the
// other way round for a transpose.
func (c *Call) rowsSpelledOut(begins, columns *tensor.Tensor, int32s, transpose bool) (Value, error) {
	if !begins.DType.IsInt() {
		return nil, noKernel("convert_indices_from_csr_to_coo_cpu", begins)
	}
	d, batch := indexDType(int32s), columns.Dim()-1
	if begins.Dim() != columns.Dim() || batch < 0 {
		return nil, errf("crow_indices and col_indices are supposed to have the same dimensionality, but got %d and %d.", begins.Dim(), columns.Dim())
	}
	if !slices.Equal(begins.Shape[:batch], columns.Shape[:batch]) {
		return nil, errf("crow_indices and col_indices are supposed to have the same batch sizes, but got %s and %s.", tensor.ShapeText(begins.Shape[:batch]), tensor.ShapeText(columns.Shape[:batch]))
	}
	dims, all := int64(batch)+2, columns.Numel()
	if !c.real {
		return c.NewC(d, dims, all), nil
	}
	out := make([]int64, dims*all)
	of := func(dim int) []int64 { return out[int64(dim)*all : int64(dim+1)*all] }
	row, column := of(batch), of(batch+1)
	if transpose {
		row, column = column, row
	}
	copy(column, columns.Ints())
	ends, each, per := begins.Ints(), columns.Shape[batch], begins.Shape[batch]
	for e := range all {
		matrix := e / each
		for dim := batch - 1; dim >= 0; dim-- {
			of(dim)[e] = matrix % columns.Shape[dim]
			matrix /= columns.Shape[dim]
		}
	}
	for first := int64(0); each > 0 && first < all; first += each {
		b := ends[first/each*per:][:per]
		for r := range per - 1 {
			for i := max(b[r], 0); i < b[r+1] && i < each; i++ {
				row[first+i] = r
			}
		}
	}
	return tensor.FromInt64s(out, dims, all).To(d), nil
}

func indexDType(int32s bool) tensor.DType {
	if int32s {
		return tensor.Int32
	}
	return tensor.Int64
}

// selectTrue moves the elements of from where truth is 1 to to, which has room for just these.
func selectTrue[T any](to, from []T, truth []byte) {
	parts := make([]int64, (len(truth)+grain-1)/grain+1) // how many come before each part
	for k := range len(parts) - 1 {
		parts[k+1] = parts[k] + counted(truth[k*grain:min((k+1)*grain, len(truth))])
	}
	parallel.For(len(parts)-1, 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			line, i := to[parts[k]:parts[k+1]], 0
			for j := k * grain; i < len(line); j++ { // every element is written, and the next one over it where it was not meant
				line[i] = from[j]
				i += int(truth[j])
			}
		}
	})
}
