package aten

import (
	"slices"
	"strings"

	"whittle/kernels/tensor"
)

// The further names and forms of views: split and chunk, the axes of NumPy, narrow and unbind, and so on. Each is made of the views of
// ops_view.go.

func compositeViews() {
	comp("reshape", func(c *Call) (Value, error) {
		t := c.T(0)
		shape, err := inferSize(c.Ints(1), t.Numel())
		if err != nil {
			return nil, err
		}
		if t.IsContiguous(tensor.ContiguousFormat) {
			return c.via("view", t, c.Args[1])
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
		if s := c.T(2); s.Dim() != 0 || s.DType.Kind() > tensor.KindInt {
			return nil, errf("start must be an 0-dim integral Tensor.")
		}
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
