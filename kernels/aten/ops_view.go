package aten

import (
	"slices"
	"strings"

	"whittle/kernels/tensor"
)

// Views: operators that change sizes, strides and offset, and share the memory. None of them reads an element. reshape and contiguous are
// views where the strides allow it, and copies where not, so their results share memory, or may; see Facts.Aliases. The _copy forms and the
// _scatter forms, which write into a view of a copy, are derived from the views.

func init() {
	def("view _unsafe_view", func(c *Call) (Value, error) {
		t := c.T(0)
		shape, err := inferSize(c.Ints(1), t.Numel())
		if err != nil {
			return nil, err
		}
		st := tensor.ViewStrides(t.Shape, t.Stride, shape)
		if st == nil {
			return nil, errf("view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.")
		}
		return c.View(t, shape, st, t.Offset), nil
	})
	def("view.dtype", viewDtype)
	def("_reshape_alias", func(c *Call) (Value, error) {
		t, size, stride := c.T(0), c.Ints(1), c.Ints(2)
		if len(size) != len(stride) {
			return nil, errf("dimensionality of sizes (%d) must match dimensionality of strides (%d)", len(size), len(stride))
		}
		return c.asStrided(t, size, stride, t.Offset)
	})
	def("alias detach lift_fresh _fw_primal", func(c *Call) (Value, error) {
		t := c.T(0)
		return c.View(t, t.Shape, t.Stride, t.Offset), nil
	})
	def("permute", func(c *Call) (Value, error) {
		t, dims := c.T(0), c.Ints(1)
		if len(dims) != t.Dim() {
			return nil, errf("permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = %d is not equal to len(dims) = %d", t.Dim(), len(dims))
		}
		shape, st := make([]int64, len(dims)), make([]int64, len(dims))
		seen := make([]bool, len(dims))
		for i, d := range dims {
			w, err := wrapDim(d, int64(t.Dim()))
			if err != nil {
				return nil, err
			}
			if seen[w] {
				return nil, errf("permute(): duplicate dims are not allowed.")
			}
			seen[w] = true
			shape[i], st[i] = t.Shape[w], t.Stride[w]
		}
		return c.View(t, shape, st, t.Offset), nil
	})
	def("transpose.int", func(c *Call) (Value, error) {
		t := c.T(0)
		return c.transpose(t, c.I(1), c.I(2))
	})
	def("t", func(c *Call) (Value, error) {
		t := c.T(0)
		if t.Dim() > 2 {
			return nil, errf("t() expects a tensor with <= 2 dimensions, but self is %dD", t.Dim())
		}
		if t.Dim() < 2 {
			return c.View(t, t.Shape, t.Stride, t.Offset), nil
		}
		return c.transpose(t, 0, 1)
	})
	def("expand", func(c *Call) (Value, error) {
		t, size := c.T(0), c.Ints(1)
		if len(size) < t.Dim() {
			return nil, errf("expand(%s{%s}, size=%s): the number of sizes provided (%d) must be greater or equal to the number of dimensions in the tensor (%d)", "torch."+cName(t.DType)+"Tensor", tensor.ShapeText(t.Shape), tensor.ShapeText(size), len(size), t.Dim())
		}
		shape, st := make([]int64, len(size)), make([]int64, len(size))
		off := len(size) - t.Dim()
		for i := len(size) - 1; i >= 0; i-- {
			s := size[i]
			if i < off {
				if s < 0 {
					return nil, errf("The expanded size of the tensor (%d) isn't allowed in a leading, non-existing dimension %d", s, i)
				}
				shape[i] = s
				if i+1 < len(size) && false {
					st[i] = 0
				}
				if s == 1 && i+1 < len(size) {
					st[i] = shape[i+1] * st[i+1]
				}
				if s == 1 && i+1 == len(size) {
					st[i] = 1
				}
				continue
			}
			d := i - off
			if s == -1 {
				s = t.Shape[d]
			}
			if t.Shape[d] != s && t.Shape[d] != 1 {
				return nil, errf("The expanded size of the tensor (%d) must match the existing size (%d) at non-singleton dimension %d.  Target sizes: %s.  Tensor sizes: %s", s, t.Shape[d], i, tensor.ShapeText(size), tensor.ShapeText(t.Shape))
			}
			shape[i] = s
			st[i] = t.Stride[d]
			if t.Shape[d] != s {
				st[i] = 0
			}
		}
		return c.View(t, shape, st, t.Offset), nil
	})
	def("squeeze squeeze.dim squeeze.dims", func(c *Call) (Value, error) {
		t := c.T(0)
		shape, st, err := squeezed(c, t)
		if err != nil {
			return nil, err
		}
		return c.View(t, shape, st, t.Offset), nil
	})
	def("unsqueeze", func(c *Call) (Value, error) {
		t := c.T(0)
		shape, st, err := unsqueezed(t, c.I(1))
		if err != nil {
			return nil, err
		}
		return c.View(t, shape, st, t.Offset), nil
	})
	def("select.int", func(c *Call) (Value, error) {
		t := c.T(0)
		if t.Dim() == 0 {
			return nil, kindf(IndexError, "select() cannot be applied to a 0-dim tensor.")
		}
		d, err := wrapDim(c.I(1), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		i, n := c.I(2), t.Shape[d]
		if i < -n || i >= n {
			return nil, kindf(IndexError, "select(): index %d out of range for tensor of size %s at dimension %d", i, tensor.ShapeText(t.Shape), d)
		}
		if i < 0 {
			i += n
		}
		return c.View(t, slices.Delete(slices.Clone(t.Shape), int(d), int(d)+1), slices.Delete(slices.Clone(t.Stride), int(d), int(d)+1), t.Offset+i*t.Stride[d]), nil
	})
	def("slice.Tensor", func(c *Call) (Value, error) {
		return c.slice(c.T(0), c.I(1), c.Args[2], c.Args[3], c.I(4))
	})
	def("as_strided", func(c *Call) (Value, error) {
		t := c.T(0)
		off := t.Offset
		if !c.None(3) {
			off = c.I(3)
		}
		if off < 0 {
			return nil, errf("Tensor: invalid storage offset %d", off)
		}
		return c.asStrided(t, c.Ints(1), c.Ints(2), off)
	})
	def("diagonal", func(c *Call) (Value, error) { return c.diagonal(c.T(0), c.I(1), c.I(2), c.I(3)) })
	def("unfold", func(c *Call) (Value, error) {
		t, size, step := c.T(0), c.I(2), c.I(3)
		d, err := wrapDim(c.I(1), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		n := int64(1)
		if t.Dim() > 0 {
			n = t.Shape[d]
		}
		if size > n {
			return nil, errf("maximum size for tensor at dimension %d is %d but size is %d", d, n, size)
		}
		if step <= 0 {
			return nil, errf("step is %d but must be > 0", step)
		}
		if size < 0 {
			return nil, errf("size is %d but must be >= 0", size)
		}
		shape, st := append(slices.Clone(t.Shape), size), slices.Clone(t.Stride)
		if t.Dim() == 0 {
			return c.View(t, []int64{size}, []int64{1}, t.Offset), nil
		}
		st = append(st, t.Stride[d])
		shape[d], st[d] = (n-size)/step+1, t.Stride[d]*step
		return c.View(t, shape, st, t.Offset), nil
	})
	def("split.Tensor unsafe_split.Tensor", func(c *Call) (Value, error) {
		t, size := c.T(0), c.I(1)
		if t.Dim() == 0 {
			return nil, errf("split expects at least a 1-dimensional tensor")
		}
		d, err := wrapDim(c.I(2), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		if size < 0 {
			return nil, errf("split expects split_size be non-negative, but got split_size=%d", size)
		}
		n := t.Shape[d]
		if size == 0 {
			if n != 0 {
				return nil, errf("split_size can only be 0 if dimension size is 0, but got dimension size of %d", n)
			}
			return c.splitSizes(t, []int64{0}, d)
		}
		var sizes []int64
		for p := int64(0); p < n || p == 0; p += size {
			sizes = append(sizes, min(size, n-p))
		}
		return c.splitSizes(t, sizes, d)
	})
	def("split_with_sizes unsafe_split_with_sizes", func(c *Call) (Value, error) {
		t := c.T(0)
		if t.Dim() == 0 {
			return nil, errf("split expects at least a 1-dimensional tensor")
		}
		d, err := wrapDim(c.I(2), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		total := int64(0)
		for _, s := range c.Ints(1) {
			if s < 0 {
				return nil, errf("split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=%s", tensor.ShapeText(c.Ints(1)))
			}
			total += s
		}
		if total != t.Shape[d] {
			return nil, errf("split_with_sizes expects split_sizes to sum exactly to %d (input tensor's size at dimension %d), but got split_sizes=%s", t.Shape[d], d, tensor.ShapeText(c.Ints(1)))
		}
		return c.splitSizes(t, c.Ints(1), d)
	})
	def("unbind.int", func(c *Call) (Value, error) {
		t := c.T(0)
		if t.Dim() == 0 {
			return nil, kindf(IndexError, "Dimension specified as %d but tensor has no dimensions", c.I(1))
		}
		d, err := wrapDim(c.I(1), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		out := []Value{}
		shape, st := slices.Delete(slices.Clone(t.Shape), int(d), int(d)+1), slices.Delete(slices.Clone(t.Stride), int(d), int(d)+1)
		for i := int64(0); i < t.Shape[d]; i++ {
			out = append(out, c.View(t, shape, st, t.Offset+i*t.Stride[d]))
		}
		return out, nil
	})
	viewCopies()
	compositeViews()
	metadataInplace()
	scatterViews()
}

// inferSize is a shape with its one -1 replaced by what makes it numel elements.
func inferSize(shape []int64, numel int64) ([]int64, error) {
	out := slices.Clone(shape)
	if out == nil {
		out = []int64{}
	}
	infer, n := -1, int64(1)
	for i, s := range shape {
		switch {
		case s == -1:
			if infer >= 0 {
				return nil, errf("only one dimension can be inferred")
			}
			infer = i
		case s < 0:
			return nil, errf("invalid shape dimension %d", s)
		default:
			n *= s
		}
	}
	bad := func() error {
		return errf("shape '%s' is invalid for input of size %d", tensor.ShapeText(shape), numel)
	}
	if infer >= 0 {
		if n == 0 {
			if numel == 0 {
				return nil, errf("cannot reshape tensor of 0 elements into shape %s because the unspecified dimension size -1 can be any value and is ambiguous", tensor.ShapeText(shape))
			}
			return nil, bad()
		}
		if numel%n != 0 {
			return nil, bad()
		}
		out[infer] = numel / n
		return out, nil
	}
	if n != numel {
		return nil, bad()
	}
	return out, nil
}

func (c *Call) transpose(t *tensor.Tensor, a, b int64) (*tensor.Tensor, error) {
	d0, err := wrapDim(a, int64(t.Dim()))
	if err != nil {
		return nil, err
	}
	d1, err := wrapDim(b, int64(t.Dim()))
	if err != nil {
		return nil, err
	}
	shape, st := slices.Clone(t.Shape), slices.Clone(t.Stride)
	if t.Dim() > 0 {
		shape[d0], shape[d1] = shape[d1], shape[d0]
		st[d0], st[d1] = st[d1], st[d0]
	}
	return c.View(t, shape, st, t.Offset), nil
}

func squeezed(c *Call, t *tensor.Tensor) ([]int64, []int64, error) {
	mask := make([]bool, max(t.Dim(), 1))
	if len(c.Args) == 1 {
		for i := range mask {
			mask[i] = true
		}
	} else {
		var err error
		if mask, err = wrapDims(c.Ints(1), t.Dim(), false); err != nil {
			return nil, nil, err
		}
	}
	shape, st := []int64{}, []int64{}
	for i, s := range t.Shape {
		if s == 1 && mask[i] {
			continue
		}
		shape, st = append(shape, s), append(st, t.Stride[i])
	}
	return shape, st, nil
}

func unsqueezed(t *tensor.Tensor, dim int64) ([]int64, []int64, error) {
	n := int64(t.Dim()) + 1
	d, err := wrapDim(dim, n)
	if err != nil {
		return nil, nil, err
	}
	s := int64(1)
	if int(d) < t.Dim() {
		s = t.Shape[d] * t.Stride[d]
	}
	return slices.Insert(slices.Clone(t.Shape), int(d), 1), slices.Insert(slices.Clone(t.Stride), int(d), s), nil
}

func (c *Call) slice(t *tensor.Tensor, dim int64, start, end Value, step int64) (*tensor.Tensor, error) {
	if t.Dim() == 0 {
		return nil, kindf(IndexError, "slice() cannot be applied to a 0-dim tensor.")
	}
	d, err := wrapDim(dim, int64(t.Dim()))
	if err != nil {
		return nil, err
	}
	if step <= 0 {
		return nil, errf("slice step must be positive")
	}
	n := t.Shape[d]
	clampTo := func(v Value, def int64) int64 {
		if v == nil {
			return def
		}
		x := toInt(v)
		if x < 0 {
			x += n
		}
		return min(max(x, 0), n)
	}
	lo, hi := clampTo(start, 0), clampTo(end, n)
	hi = max(hi, lo)
	shape, st := slices.Clone(t.Shape), slices.Clone(t.Stride)
	shape[d] = (hi - lo + step - 1) / step
	st[d] *= step
	return c.View(t, shape, st, t.Offset+lo*t.Stride[d]), nil
}

func (c *Call) asStrided(t *tensor.Tensor, size, stride []int64, off int64) (*tensor.Tensor, error) {
	if len(size) != len(stride) {
		return nil, errf("mismatch in length of strides and shape")
	}
	last := int64(1)
	for i, s := range size {
		if stride[i] < 0 {
			return nil, errf("as_strided: Negative strides are not supported at the moment, got strides: %s", tensor.ShapeText(stride))
		}
		if s == 0 {
			last = 0
			break
		}
		last += (s - 1) * stride[i]
	}
	need := (last + off) * int64(t.DType.Size())
	if last > 0 && need > t.Storage.NBytes {
		return nil, errf("setStorage: sizes %s, strides %s, storage offset %d, and itemsize %d requiring a storage size of %d are out of bounds for storage of size %d",
			tensor.ShapeText(size), tensor.ShapeText(stride), off, t.DType.Size(), need, t.Storage.NBytes)
	}
	return c.View(t, size, stride, off), nil
}

func (c *Call) diagonal(t *tensor.Tensor, offset, dim1, dim2 int64) (*tensor.Tensor, error) {
	d1, err := wrapDim(dim1, int64(t.Dim()))
	if err != nil {
		return nil, err
	}
	d2, err := wrapDim(dim2, int64(t.Dim()))
	if err != nil {
		return nil, err
	}
	if d1 == d2 {
		return nil, errf("diagonal dimensions cannot be identical %d, %d", dim1, dim2)
	}
	n := int64(0)
	off := t.Offset
	if offset >= 0 {
		n = max(min(t.Shape[d1], t.Shape[d2]-offset), 0)
		if n > 0 {
			off += offset * t.Stride[d2]
		}
	} else {
		n = max(min(t.Shape[d1]+offset, t.Shape[d2]), 0)
		if n > 0 {
			off -= offset * t.Stride[d1]
		}
	}
	shape, st := []int64{}, []int64{}
	for i := range t.Shape {
		if int64(i) != d1 && int64(i) != d2 {
			shape, st = append(shape, t.Shape[i]), append(st, t.Stride[i])
		}
	}
	return c.View(t, append(shape, n), append(st, t.Stride[d1]+t.Stride[d2]), off), nil
}

func (c *Call) splitSizes(t *tensor.Tensor, sizes []int64, d int64) (Value, error) {
	out := make([]Value, len(sizes))
	off := t.Offset
	for i, s := range sizes {
		shape := slices.Clone(t.Shape)
		shape[d] = s
		out[i] = c.View(t, shape, t.Stride, off)
		off += s * t.Stride[d]
	}
	return out, nil
}

// viewDtype reads the same bytes as elements of another dtype. Where sizes of elements differ, the last dimension shrinks or grows by the
// ratio, and strides and offset have to be multiples of it.
func viewDtype(c *Call) (Value, error) {
	t, d := c.T(0), c.DT(1)
	shape, st, off := slices.Clone(t.Shape), slices.Clone(t.Stride), t.Offset
	from, to := int64(t.DType.Size()), int64(d.Size())
	n := t.Dim()
	switch {
	case from == to:
	case n == 0:
		return nil, errf("self.dim() cannot be 0 to view %s as %s (different element sizes)", cName(t.DType), cName(d))
	case from > to:
		if st[n-1] != 1 {
			return nil, errf("self.stride(-1) must be 1 to view %s as %s (different element sizes), but got %d", cName(t.DType), cName(d), st[n-1])
		}
		r := from / to
		for i := 0; i < n-1; i++ {
			st[i] *= r
		}
		shape[n-1] *= r
		off *= r
	default:
		r := to / from
		if st[n-1] != 1 {
			return nil, errf("self.stride(-1) must be 1 to view %s as %s (different element sizes), but got %d", cName(t.DType), cName(d), st[n-1])
		}
		if shape[n-1]%r != 0 {
			return nil, errf("self.size(-1) must be divisible by %d to view %s as %s (different element sizes), but got %d", r, cName(t.DType), cName(d), shape[n-1])
		}
		if off%r != 0 {
			return nil, errf("self.storage_offset() must be divisible by %d to view %s as %s (different element sizes), but got %d", r, cName(t.DType), cName(d), off)
		}
		for i := 0; i < n-1; i++ {
			if st[i]%r != 0 {
				return nil, errf("self.stride(%d) must be divisible by %d to view %s as %s (different element sizes), but got %d", i, r, cName(t.DType), cName(d), st[i])
			}
			st[i] /= r
		}
		shape[n-1] /= r
		off /= r
	}
	v := c.View(t, shape, st, off)
	v.DType = d
	return v, nil
}

// viewCopies derives x_copy, a contiguous copy of the view x.
func viewCopies() {
	for _, n := range strings.Fields("alias_copy as_strided_copy detach_copy diagonal_copy expand_copy permute_copy select_copy.int slice_copy.Tensor split_copy.Tensor split_with_sizes_copy squeeze_copy squeeze_copy.dim squeeze_copy.dims t_copy transpose_copy.int unbind_copy.int unfold_copy unsqueeze_copy view_copy view_copy.dtype") {
		base := strings.Replace(n, "_copy", "", 1)
		def(n, func(c *Call) (Value, error) {
			if base == "view" {
				// view_copy reshapes, so it works for any strides.
				return c.do("clone", must(c.do("reshape", c.Args...)), tensor.ContiguousFormat)
			}
			v, err := c.do(base, c.Args...)
			if err != nil {
				return nil, err
			}
			if l, ok := v.([]Value); ok {
				out := make([]Value, len(l))
				for i, x := range l {
					if out[i], err = c.do("clone", x, tensor.ContiguousFormat); err != nil {
						return nil, err
					}
				}
				return out, nil
			}
			return c.do("clone", v, tensor.ContiguousFormat)
		})
	}
}

// must lets an error travel as a nil value through nested calls, whose binding then fails.
func must(v Value, err error) Value {
	if err != nil {
		return err
	}
	return v
}

// scatterViews registers the operators that write into a view of a copy, each by the view that it is named after.
func scatterViews() {
	for _, n := range strings.Fields("slice_scatter select_scatter diagonal_scatter as_strided_scatter") {
		base := map[string]string{"slice_scatter": "slice.Tensor", "select_scatter": "select.int", "diagonal_scatter": "diagonal", "as_strided_scatter": "as_strided"}[n]
		def(n, func(c *Call) (Value, error) {
			self, src := c.T(0), c.T(1)
			// These keep even overlapping or padded strides of self where PyTorch's clone_preserve_strides does.
			var out *tensor.Tensor
			if self.HasInternalOverlap() {
				out = c.NewUnset(self.DType, self.Shape, tensor.ContiguousStrides(self.Shape))
				if c.real {
					tensor.Copy(out, self)
				}
			} else {
				whole := []int64{self.Offset + spanOf(self)}
				buffer := c.NewUnset(self.DType, whole, []int64{1})
				if c.real {
					tensor.Copy(buffer, tensor.NewView(self, whole, []int64{1}, 0))
				}
				out = c.View(buffer, self.Shape, self.Stride, self.Offset)
				out.Base = nil
			}
			args := append([]Value{out}, c.Args[2:]...)
			v, err := c.doT(base, args...)
			if err != nil {
				return nil, err
			}
			if !tensor.SameShape(v, src) {
				what := "slice"
				if n == "select_scatter" {
					what = "select"
				}
				return nil, errf("expected src to have a size equal to the %s of self. src size = %s, %s size = %s", what, tensor.ShapeText(src.Shape), what, tensor.ShapeText(v.Shape))
			}
			if c.real {
				tensor.Copy(v, src)
			}
			return out, nil
		})
	}
}

// spanOf is the number of elements from t's first to its last in memory.
func spanOf(t *tensor.Tensor) int64 {
	n := int64(1)
	for i, s := range t.Shape {
		if s == 0 {
			return 0
		}
		n += (s - 1) * t.Stride[i]
	}
	return n
}
