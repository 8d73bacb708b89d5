package aten

import (
	"slices"
	"strings"

	"whittle/kernels/tensor"
)

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
		return nil, errf("slice() cannot be applied to a 0-dim tensor.")
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

func scatterViews() {
	for _, n := range strings.Fields("slice_scatter select_scatter diagonal_scatter as_strided_scatter") {
		base := map[string]string{"slice_scatter": "slice.Tensor", "select_scatter": "select.int", "diagonal_scatter": "diagonal", "as_strided_scatter": "as_strided"}[n]
		def(n, func(c *Call) (Value, error) {
			self, src := c.T(0), c.T(1)
			// These keep even overlapping or padded strides of self where PyTorch's clone_preserve_strides does.
			var out *tensor.Tensor
			if self.HasInternalOverlap() {
				out = c.New(self.DType, self.Shape, tensor.ContiguousStrides(self.Shape))
			} else {
				whole := []int64{self.Offset + spanOf(self)}
				buffer := c.New(self.DType, whole, []int64{1})
				if c.real {
					tensor.Copy(buffer, tensor.NewView(self, whole, []int64{1}, 0))
				}
				out = c.View(buffer, self.Shape, self.Stride, self.Offset)
				out.Base = nil
			}
			if c.real {
				tensor.Copy(out, self)
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

func compositeViews() {
	comp("reshape", func(c *Call) (Value, error) {
		t := c.T(0)
		shape, err := inferSize(c.Ints(1), t.Numel())
		if err != nil {
			return nil, err
		}
		if tensor.ViewStrides(t.Shape, t.Stride, shape) != nil {
			return c.via("view", t, ints(shape))
		}
		v, err := c.viaT("clone", t, tensor.ContiguousFormat)
		if err != nil {
			return nil, err
		}
		return c.via("_unsafe_view", v, ints(shape))
	})
	comp("reshape_as", func(c *Call) (Value, error) { return c.via("reshape", c.Args[0], ints(c.T(1).Shape)) })
	comp("view_as", func(c *Call) (Value, error) { return c.via("view", c.Args[0], ints(c.T(1).Shape)) })
	comp("expand_as", func(c *Call) (Value, error) { return c.via("expand", c.Args[0], ints(c.T(1).Shape)) })
	comp("contiguous", func(c *Call) (Value, error) {
		f := c.MF(1)
		if f == tensor.PreserveFormat {
			return nil, errf("preserve memory format is unsupported by the contiguous operator")
		}
		if c.T(0).IsContiguous(f) {
			return c.T(0), nil
		}
		return c.via("clone", c.Args[0], f)
	})
	comp("flatten.using_ints", func(c *Call) (Value, error) {
		t := c.T(0)
		a, err := wrapDim(c.I(1), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		b, err := wrapDim(c.I(2), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		if a > b {
			return nil, errf("flatten() has invalid args: start_dim cannot come after end_dim")
		}
		if t.Dim() == 0 {
			return c.via("reshape", t, ints([]int64{1}))
		}
		if a == b {
			return t, nil
		}
		shape := slices.Clone(t.Shape[:a])
		shape = append(shape, tensor.Numel(t.Shape[a:b+1]))
		return c.via("reshape", t, ints(append(shape, t.Shape[b+1:]...)))
	})
	comp("ravel", func(c *Call) (Value, error) {
		v, err := c.via("contiguous", c.Args[0])
		if err != nil {
			return nil, err
		}
		return c.via("view", v, ints([]int64{-1}))
	})
	comp("unflatten.int", func(c *Call) (Value, error) {
		t, sizes := c.T(0), c.Ints(2)
		d, err := wrapDim(c.I(1), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		if len(sizes) == 0 {
			return nil, errf("unflatten: sizes must be non-empty")
		}
		in, err := inferSize(sizes, t.Shape[d])
		if err != nil {
			return nil, errf("unflatten: Provided sizes %s don't multiply up to the size of dim %d (%d) in the input tensor", tensor.ShapeText(sizes), d, t.Shape[d])
		}
		shape := append(slices.Clone(t.Shape[:d]), in...)
		return c.via("view", t, ints(append(shape, t.Shape[d+1:]...)))
	})
	comp("split.sizes", func(c *Call) (Value, error) { return c.via("split_with_sizes", c.Args...) })
	comp("chunk unsafe_chunk", func(c *Call) (Value, error) {
		t, n := c.T(0), c.I(1)
		if t.Dim() == 0 {
			return nil, errf("chunk expects at least a 1-dimensional tensor")
		}
		if n <= 0 {
			return nil, errf("chunk expects `chunks` to be greater than 0, got: %d", n)
		}
		d, err := wrapDim(c.I(2), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		size := (t.Shape[d] + n - 1) / n
		name := "split.Tensor"
		if c.Op.Sig().Name == "unsafe_chunk" {
			name = "unsafe_split.Tensor"
		}
		if size == 0 && t.Shape[d] == 0 {
			sizes := make([]int64, n)
			return c.via(strings.Replace(name, "split.Tensor", "split_with_sizes", 1), t, ints(sizes), d)
		}
		return c.via(name, t, size, d)
	})
	comp("tensor_split.sections", func(c *Call) (Value, error) {
		t, n := c.T(0), c.I(1)
		if t.Dim() == 0 {
			return nil, errf("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
		}
		d, err := wrapDim(c.I(2), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			return nil, errf("number of sections must be larger than 0, got %d", n)
		}
		out := []Value{}
		pos := int64(0)
		for i := int64(0); i < n; i++ {
			size := t.Shape[d] / n
			if i < t.Shape[d]%n {
				size++
			}
			v, err := c.via("slice.Tensor", t, d, pos, pos+size, int64(1))
			if err != nil {
				return nil, err
			}
			out = append(out, v)
			pos += size
		}
		return out, nil
	})
	comp("tensor_split.indices", func(c *Call) (Value, error) {
		t, idx := c.T(0), c.Ints(1)
		if t.Dim() == 0 {
			return nil, errf("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
		}
		d, err := wrapDim(c.I(2), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		out := []Value{}
		prev := int64(0)
		for _, e := range append(slices.Clone(idx), t.Shape[d]) {
			v, err := c.via("slice.Tensor", t, d, prev, e, int64(1))
			if err != nil {
				return nil, err
			}
			out = append(out, v)
			prev = e
		}
		return out, nil
	})
	comp("tensor_split.tensor_indices_or_sections", func(c *Call) (Value, error) {
		s := c.T(1)
		if s.Dim() == 0 {
			return c.via("tensor_split.sections", c.Args[0], s.AtInt(0), c.Args[2])
		}
		return c.via("tensor_split.indices", c.Args[0], ints(s.Ints()), c.Args[2])
	})
	for name, dim := range map[string]int64{"hsplit": 1, "vsplit": 0, "dsplit": 2} {
		comp(name+".int "+name+".array", func(c *Call) (Value, error) {
			d := dim
			least := map[string]int{"hsplit": 1, "vsplit": 2, "dsplit": 3}[name]
			if n := c.T(0).Dim(); n < least {
				return nil, errf("torch.%s requires a tensor with at least %d dimension, but got a tensor with %d dimensions!", name, least, n)
			}
			if name == "hsplit" && c.T(0).Dim() == 1 {
				d = 0
			}
			if c.Op.Sig().Overload == "int" {
				n := c.I(1)
				if n <= 0 || c.T(0).Shape[d]%n != 0 {
					return nil, errf("torch.%s attempted to split along dimension %d, but the size of the dimension %d is not divisible by the split_size %d!", name, d, c.T(0).Shape[d], n)
				}
				return c.via("tensor_split.sections", c.Args[0], n, d)
			}
			return c.via("tensor_split.indices", c.Args[0], c.Args[1], d)
		})
	}
	comp("narrow", func(c *Call) (Value, error) {
		t, start, length := c.T(0), c.I(2), c.I(3)
		if t.Dim() == 0 {
			return nil, errf("narrow() cannot be applied to a 0-dim tensor.")
		}
		if length < 0 {
			return nil, errf("narrow(): length must be non-negative.")
		}
		d, err := wrapDim(c.I(1), int64(t.Dim()))
		if err != nil {
			return nil, err
		}
		n := t.Shape[d]
		if start < -n || start > n {
			return nil, kindf(IndexError, "start out of range (expected to be in range of [%d, %d], but got %d)", -n, n, start)
		}
		if start < 0 {
			start += n
		}
		if start+length > n {
			return nil, errf("start (%d) + length (%d) exceeds dimension size (%d).", start, length, n)
		}
		return c.via("slice.Tensor", t, d, start, start+length, int64(1))
	})
	comp("narrow.Tensor", func(c *Call) (Value, error) {
		return c.via("narrow", c.Args[0], c.Args[1], c.T(2).AtInt(0), c.Args[3])
	})
	def("narrow_copy", func(c *Call) (Value, error) {
		v, err := c.do("narrow", c.Args...)
		if err != nil {
			return nil, err
		}
		return c.do("clone", v, tensor.ContiguousFormat)
	})
	movedim := func(c *Call, src, dst []int64) (Value, error) {
		t := c.T(0)
		nd := int64(t.Dim())
		if len(src) != len(dst) {
			return nil, errf("movedim: Invalid source or destination dims: source (%s dims) should contain the same number of dims as destination (%s dims)", tensor.ShapeText(src), tensor.ShapeText(dst))
		}
		if nd == 0 {
			return c.via("alias", t)
		}
		perm := make([]int64, nd)
		for i := range perm {
			perm[i] = -1
		}
		used := make([]bool, nd)
		for i := range src {
			s, err := wrapDim(src[i], nd)
			if err != nil {
				return nil, err
			}
			d, err := wrapDim(dst[i], nd)
			if err != nil {
				return nil, err
			}
			if used[s] {
				return nil, errf("movedim: repeated dim in `source` (%s)", tensor.ShapeText(src))
			}
			if perm[d] >= 0 {
				return nil, errf("movedim: repeated dim in `destination` (%s)", tensor.ShapeText(dst))
			}
			used[s] = true
			perm[d] = s
		}
		k := int64(0)
		for i := range perm {
			if perm[i] < 0 {
				for used[k] {
					k++
				}
				perm[i] = k
				used[k] = true
			}
		}
		return c.via("permute", t, ints(perm))
	}
	comp("movedim.int moveaxis.int", func(c *Call) (Value, error) { return movedim(c, []int64{c.I(1)}, []int64{c.I(2)}) })
	comp("movedim.intlist moveaxis.intlist", func(c *Call) (Value, error) { return movedim(c, c.Ints(1), c.Ints(2)) })
	comp("swapaxes swapdims", func(c *Call) (Value, error) { return c.via("transpose.int", c.Args...) })
	comp("numpy_T", func(c *Call) (Value, error) {
		var p []int64
		for i := c.T(0).Dim() - 1; i >= 0; i-- {
			p = append(p, int64(i))
		}
		return c.via("permute", c.Args[0], ints(p))
	})
	comp("mT mH adjoint", func(c *Call) (Value, error) {
		if c.T(0).Dim() < 2 {
			return nil, errf("tensor.%s is only supported on matrices or batches of matrices. Got %d-D tensor.", c.Op.Sig().Name, c.T(0).Dim())
		}
		v, err := c.via("transpose.int", c.Args[0], int64(-2), int64(-1))
		if err == nil && isComplex(c.T(0)) && c.Op.Sig().Name != "mT" {
			return c.via("_conj", v)
		}
		return v, err
	})
	comp("matrix_H", func(c *Call) (Value, error) {
		if n := c.T(0).Dim(); n != 0 && n != 2 {
			return nil, errf("tensor.H is only supported on matrices (2-D tensors). Got %d-D tensor.", n)
		}
		v, err := c.via("transpose.int", c.Args[0], int64(0), int64(-1))
		if err == nil && isComplex(c.T(0)) {
			return c.via("_conj", v)
		}
		return v, err
	})
	comp("broadcast_to", func(c *Call) (Value, error) { return c.via("expand", c.Args[0], c.Args[1]) })
	comp("broadcast_tensors meshgrid meshgrid.indexing", func(c *Call) (Value, error) {
		ts := c.Ts(0)
		out := []Value{}
		if c.Op.Sig().Name == "meshgrid" {
			swap := len(ts) >= 2 && len(c.Args) > 1 && c.Str(1) == "xy"
			if swap {
				ts[0], ts[1] = ts[1], ts[0]
			}
			shape := []int64{}
			for _, t := range ts {
				shape = append(shape, t.Numel())
			}
			for i, t := range ts {
				vs := make([]int64, len(ts))
				for k := range vs {
					vs[k] = 1
				}
				vs[i] = t.Numel()
				v, err := c.via("view", t, ints(vs))
				if err == nil {
					v, err = c.via("expand", v, ints(shape))
				}
				if err != nil {
					return nil, err
				}
				out = append(out, v)
			}
			if swap {
				out[0], out[1] = out[1], out[0]
			}
			return out, nil
		}
		var vs []Value
		for _, t := range ts {
			vs = append(vs, t)
		}
		shape, err := broadcast(vs)
		if err != nil {
			return nil, err
		}
		for _, t := range ts {
			v, err := c.via("expand", t, ints(shape))
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	})
	comp("atleast_1d", func(c *Call) (Value, error) { return atleast(c, c.T(0), 1) })
	comp("atleast_2d", func(c *Call) (Value, error) { return atleast(c, c.T(0), 2) })
	comp("atleast_3d", func(c *Call) (Value, error) { return atleast(c, c.T(0), 3) })
	comp("atleast_1d.Sequence atleast_2d.Sequence atleast_3d.Sequence", func(c *Call) (Value, error) {
		out := []Value{}
		for _, t := range c.Ts(0) {
			v, err := atleast(c, t, int(c.Op.Sig().Name[8]-'0'))
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	})
	comp("linalg_diagonal", func(c *Call) (Value, error) { return c.via("diagonal", c.Args...) })
	comp("resolve_conj resolve_neg", func(c *Call) (Value, error) { return c.T(0), nil })
	comp("sum_to_size", func(c *Call) (Value, error) {
		t, size := c.T(0), c.Ints(1)
		if len(size) == 0 {
			return c.via("sum", t)
		}
		lead := t.Dim() - len(size)
		var dims []int64
		for i := 0; i < lead; i++ {
			dims = append(dims, int64(i))
		}
		for i := range size {
			if lead+i < 0 || size[i] != t.Shape[lead+i] && size[i] != 1 {
				return nil, errf("size {%s} is not expandable to size {%s}.", tensor.ShapeText(size), tensor.ShapeText(t.Shape))
			}
			if size[i] == 1 && t.Shape[lead+i] != 1 {
				dims = append(dims, int64(lead+i))
			}
		}
		if len(dims) == 0 {
			return c.via("view", t, ints(size))
		}
		v, err := c.via("sum.dim_IntList", t, ints(dims), true)
		if err != nil || lead == 0 {
			return v, err
		}
		return c.via("view", v, ints(size))
	})
}

func atleast(c *Call, t *tensor.Tensor, n int) (Value, error) {
	if t.Dim() >= n {
		return t, nil
	}
	switch n {
	case 1:
		return c.via("reshape", t, ints([]int64{1}))
	case 2:
		if t.Dim() == 0 {
			return c.via("reshape", t, ints([]int64{1, 1}))
		}
		return c.via("unsqueeze", t, int64(0))
	}
	switch t.Dim() {
	case 0:
		return c.via("reshape", t, ints([]int64{1, 1, 1}))
	case 1:
		v, err := c.via("unsqueeze", t, int64(0))
		if err != nil {
			return nil, err
		}
		return c.via("unsqueeze", v, int64(-1))
	}
	return c.via("unsqueeze", t, int64(-1))
}

func metadataInplace() {
	reset := func(t *tensor.Tensor, v *tensor.Tensor) *tensor.Tensor {
		t.Shape, t.Stride, t.Offset = v.Shape, v.Stride, v.Offset
		return t
	}
	for name, base := range map[string]string{"t_": "t", "transpose_": "transpose.int", "squeeze_": "squeeze", "squeeze_.dim": "squeeze.dim", "squeeze_.dims": "squeeze.dims", "unsqueeze_": "unsqueeze", "as_strided_": "as_strided", "swapdims_": "transpose.int", "swapaxes_": "transpose.int"} {
		def(name, func(c *Call) (Value, error) {
			v, err := c.doT(base, c.Args...)
			if err != nil {
				return nil, err
			}
			return reset(c.T(0), v), nil
		})
	}
	def("set_.source_Tensor", func(c *Call) (Value, error) {
		t, s := c.T(0), c.T(1)
		t.Storage = s.Storage
		return reset(t, &tensor.Tensor{Shape: slices.Clone(s.Shape), Stride: slices.Clone(s.Stride), Offset: s.Offset}), nil
	})
	def("set_.source_Tensor_storage_offset", func(c *Call) (Value, error) {
		t, s := c.T(0), c.T(1)
		st := c.Ints(4)
		if len(st) == 0 {
			st = tensor.ContiguousStrides(c.Ints(3))
		}
		t.Storage = s.Storage
		return reset(t, &tensor.Tensor{Shape: c.Ints(3), Stride: st, Offset: c.I(2)}), nil
	})
	def("set_", func(c *Call) (Value, error) {
		t := c.T(0)
		e := c.NewC(t.DType, 0)
		t.Storage = e.Storage
		return reset(t, e), nil
	})
	def("resize_ _resize_output_", func(c *Call) (Value, error) {
		t, size := c.T(0), c.Ints(1)
		for _, s := range size {
			if s < 0 {
				return nil, errf("Trying to create tensor with negative dimension %d: %s", s, tensor.ShapeText(size))
			}
		}
		f := tensor.ContiguousFormat
		if m, ok := c.Args[2].(tensor.MemoryFormat); ok {
			f = m
		} else if slices.Equal(size, t.Shape) {
			return t, nil
		}
		resizeTo(t, size, tensor.FormatStrides(size, f))
		return t, nil
	})
	def("resize_as_", func(c *Call) (Value, error) {
		t, o := c.T(0), c.T(1)
		st := tensor.ContiguousStrides(o.Shape)
		if f := c.MF(2); f == tensor.PreserveFormat {
			st = tensor.FormatStrides(o.Shape, o.SuggestMemoryFormat())
		} else if f != "" {
			st = tensor.FormatStrides(o.Shape, f)
		}
		if slices.Equal(t.Shape, o.Shape) && c.MF(2) == "" {
			return t, nil
		}
		resizeTo(t, o.Shape, st)
		return t, nil
	})
}
