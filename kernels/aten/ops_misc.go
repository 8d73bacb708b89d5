package aten

import (
	"math"
	"slices"

	"whittle/kernels/tensor"
)

// Operators of no family: kron, differences and integrals of samples, weight norm, windows for spectra, masked softmax and others, mostly
// compositions.

func init() {
	rearrange()
	aliases()
	statistics()
	primsOps()
	distances()
	miscComposites()
}

func miscComposites() {
	comp("kron", func(c *Call) (Value, error) {
		a, b := c.T(0), c.T(1)
		n := max(a.Dim(), b.Dim())
		at := func(t *tensor.Tensor, i int) int64 {
			if k := i - (n - t.Dim()); k >= 0 {
				return t.Shape[k]
			}
			return 1
		}
		var sa, sb, so []int64
		for i := 0; i < n; i++ {
			sa = append(sa, at(a, i), 1)
			sb = append(sb, 1, at(b, i))
			so = append(so, at(a, i)*at(b, i))
		}
		m := must(c.via("mul.Tensor", must(c.via("_unsafe_view", a, ints(sa))), must(c.via("_unsafe_view", b, ints(sb)))))
		return c.via("_unsafe_view", m, ints(so))
	})
	comp("diff", func(c *Call) (Value, error) {
		v, n := Value(c.T(0)), c.I(1)
		d, err := wrapDim(c.I(2), int64(c.T(0).Dim()))
		if err != nil {
			return nil, err
		}
		if c.T(0).Dim() == 0 {
			return nil, errf("diff expects input to be at least one-dimensional")
		}
		if n < 0 {
			return nil, errf("order must be non-negative but got %d", n)
		}
		var parts []Value
		if p := c.T(3); p != nil {
			parts = append(parts, p)
		}
		parts = append(parts, v)
		if p := c.T(4); p != nil {
			parts = append(parts, p)
		}
		if len(parts) > 1 && n > 0 {
			if v, err = c.via("cat", parts, d); err != nil {
				return nil, err
			}
		}
		if n == 0 {
			r, err := c.via("zeros_like", v)
			if err != nil {
				return nil, err
			}
			return c.via("copy_", r, v)
		}
		for ; n > 0; n-- {
			t := v.(*tensor.Tensor)
			l := t.Shape[d]
			if l == 0 {
				return v, nil
			}
			a := must(c.via("slice.Tensor", t, d, int64(1), l, int64(1)))
			b := must(c.via("slice.Tensor", t, d, int64(0), l-1, int64(1)))
			if t.DType == tensor.Bool {
				v, err = c.via("logical_xor", a, b)
			} else {
				v, err = c.via("sub.Tensor", a, b)
			}
			if err != nil {
				return nil, err
			}
		}
		return v, nil
	})
	trap := func(c *Call, cum bool) (Value, error) {
		hasX := c.Op.Sig().Overload == "x"
		y := c.T(0)
		dim := toInt(c.opt("dim"))
		d, err := wrapDim(dim, int64(y.Dim()))
		if err != nil {
			return nil, err
		}
		n := y.Shape[d]
		if n == 0 {
			sh := slices.Delete(slices.Clone(y.Shape), int(d), int(d)+1)
			return c.via("zeros", ints(sh), y.DType)
		}
		if !hasX && !cum {
			ends := must(c.via("add.Tensor", must(c.via("select.int", y, d, int64(0))), must(c.via("select.int", y, d, int64(-1)))))
			all := must(c.via("sum.dim_IntList", y, ints([]int64{d}), false))
			return c.via("mul.Scalar", must(c.via("sub.Tensor", all, must(c.via("mul.Scalar", ends, 0.5)))), c.opt("dx"))
		}
		l := must(c.via("slice.Tensor", y, d, int64(0), n-1, int64(1)))
		r := must(c.via("slice.Tensor", y, d, int64(1), n, int64(1)))
		s := must(c.via("add.Tensor", l, r))
		if hasX {
			x := c.T(1)
			xv := Value(x)
			if x.Dim() == 1 && y.Dim() > 1 {
				sh := fill(nil, y.Dim(), 1)
				sh[d] = x.Shape[0]
				xv = must(c.via("view", x, ints(sh)))
			}
			dx, err := c.via("diff", xv, int64(1), d-int64(y.Dim()))
			if err != nil {
				return nil, err
			}
			s = must(c.via("mul.Tensor", s, dx))
		}
		var v Value
		if cum {
			v = must(c.via("cumsum", s, d))
		} else {
			v = must(c.via("sum.dim_IntList", s, ints([]int64{d}), false))
		}
		if hasX {
			return c.via("div.Scalar", v, 2.0)
		}
		return c.via("mul.Scalar", v, toFloat(c.opt("dx"))/2)
	}
	comp("trapezoid.x trapezoid.dx trapz.x", func(c *Call) (Value, error) { return trap(c, false) })
	comp("cumulative_trapezoid.x cumulative_trapezoid.dx", func(c *Call) (Value, error) { return trap(c, true) })
	comp("trapz.dx", func(c *Call) (Value, error) { return c.via("trapezoid.dx", c.Args...) })
	def("block_diag", func(c *Call) (Value, error) {
		ts := c.Ts(0)
		var n, m int64
		d := tensor.Invalid
		for i, t := range ts {
			if t.Dim() > 2 {
				return nil, errf("torch.block_diag: Input tensors must have 2 or fewer dimensions. Input %d has %d dimensions", i, t.Dim())
			}
			d = tensor.Promote(d, t.DType)
			v, err := c.doT("atleast_2d", t)
			if err != nil {
				return nil, err
			}
			ts[i] = v
			n, m = n+v.Shape[0], m+v.Shape[1]
		}
		if len(ts) == 0 { // one matrix without columns
			d, n = tensor.Float32, 1
		}
		o := c.NewC(d, n, m)
		if c.real {
			var a, b int64
			for _, t := range ts {
				tensor.Copy(tensor.NewView(o, t.Shape, o.Stride, a*m+b), t)
				a, b = a+t.Shape[0], b+t.Shape[1]
			}
		}
		return o, nil
	})
	comp("cartesian_prod", func(c *Call) (Value, error) {
		ts := c.Ts(0)
		if len(ts) == 1 {
			return ts[0], nil
		}
		v, err := c.via("meshgrid", c.Args[0])
		if err != nil {
			return nil, err
		}
		var fs []Value
		for _, g := range v.([]Value) {
			f, err := c.via("flatten.using_ints", g)
			if err != nil {
				return nil, err
			}
			fs = append(fs, f)
		}
		return c.via("stack", fs, int64(1))
	})
	def("_chunk_cat", func(c *Call) (Value, error) {
		var parts []Value
		dim, k := c.I(1), c.I(2)
		if ts := c.Ts(0); len(ts) > 0 && dim < 0 {
			dim += int64(ts[0].Dim())
		}
		for _, t := range c.Ts(0) {
			if t.Dim() == 0 {
				return nil, errf("_chunk_cat expects input tensors to have at least one dimension")
			}
			d, err := wrapDim(dim, int64(t.Dim()))
			if err != nil {
				return nil, err
			}
			size := t.Shape[d]
			per := (size + k - 1) / k
			pad := make([]int64, 2*t.Dim())
			pad[2*(int64(t.Dim())-1-d)+1] = per*k - size
			p, err := c.doT("constant_pad_nd", t, ints(pad), int64(0))
			if err != nil {
				return nil, err
			}
			sh := append(slices.Clone(t.Shape[:d]), k, -1)
			v, err := c.do("reshape", p, ints(sh))
			if err != nil {
				return nil, err
			}
			parts = append(parts, v)
		}
		return c.do("cat", parts, dim+1)
	})
	def("_addmm_activation", func(c *Call) (Value, error) {
		v, err := c.do("addmm", c.Args[:5]...)
		if err != nil {
			return nil, err
		}
		if c.B(5) {
			return c.do("gelu", v, "tanh")
		}
		return c.do("relu", v)
	})
	comp("_weight_norm", func(c *Call) (Value, error) {
		v := c.T(0)
		if d := c.I(2); d == 0 || d == int64(v.Dim()-1) { // of these PyTorch has one operator
			r, err := c.via("_weight_norm_interface", must(c.via("contiguous", v)), must(c.via("contiguous", c.Args[1])), d)
			if err != nil {
				return nil, err
			}
			return r.([]Value)[0], nil
		}
		n := must(c.via("norm_except_dim", c.Args[0], int64(2), c.Args[2]))
		return c.via("mul.Tensor", c.Args[0], must(c.via("div.Tensor", c.Args[1], n)))
	})
	comp("_weight_norm_interface", func(c *Call) (Value, error) {
		n := must(c.via("norm_except_dim", c.Args[0], int64(2), c.Args[2]))
		w, err := c.via("mul.Tensor", c.Args[0], must(c.via("div.Tensor", c.Args[1], n)))
		return []Value{w, n}, err
	})
	// With w = v*g/n and n the norm of v: dg = sum(dw*v)/n, and dv is g/n times what of dw is not along v.
	comp("_weight_norm_interface_backward", func(c *Call) (Value, error) {
		dw, v, g, n := c.Args[0], c.Args[1], c.Args[2], c.Args[3]
		mul := func(a, b Value) Value { return must(c.via("mul.Tensor", a, b)) }
		div := func(a, b Value) Value { return must(c.via("div.Tensor", a, b)) }
		dg := div(must(c.via("sum.dim_IntList", mul(dw, v), ints(otherDims(c.T(1), c.I(4))), true)), n)
		across := must(c.via("sub.Tensor", dw, mul(v, div(dg, n))))
		dv, err := c.via("mul.Tensor", div(g, n), across)
		return []Value{dv, dg}, err
	})
	comp("norm_except_dim", func(c *Call) (Value, error) {
		return c.via("norm.ScalarOpt_dim", c.Args[0], c.Args[1], ints(otherDims(c.T(0), c.I(2))), true)
	})
	def("_masked_softmax", func(c *Call) (Value, error) {
		d := int64(-1)
		if !c.None(2) {
			d = c.I(2)
		}
		x := must(c.do("masked_fill.Scalar", c.Args[0], c.Args[1], math.Inf(-1)))
		return c.do("_softmax", x, d, false)
	})
	comp("gather_backward", func(c *Call) (Value, error) {
		z := must(c.via("new_zeros", c.Args[1], ints(c.T(1).Shape)))
		return c.via("scatter_add", z, c.Args[2], c.Args[3], c.Args[0])
	})
	comp("frobenius_norm.dim", func(c *Call) (Value, error) {
		return c.via("linalg_vector_norm", c.Args[0], 2.0, c.Args[1], c.Args[2], nil)
	})
	comp("linalg_vander", func(c *Call) (Value, error) {
		t := c.T(0)
		if t.Dim() == 0 {
			var err error
			if t, err = c.viaT("unsqueeze", t, int64(0)); err != nil {
				return nil, err
			}
		}
		n := t.Shape[t.Dim()-1]
		if !c.None(1) {
			if n = c.I(1); n <= 1 {
				return nil, errf("N must be greater than 1.")
			}
		}
		x := must(c.via("expand", must(c.via("unsqueeze", t, int64(-1))), ints(append(slices.Clone(t.Shape), n-1))))
		p := must(c.via("cumprod", x, int64(-1)))
		one := must(c.via("ones", ints(append(slices.Clone(t.Shape), 1)), rtype(t)))
		if e, ok := p.(error); ok {
			return nil, e
		}
		return c.via("cat", []Value{one, p}, int64(-1))
	})
	comp("vander", func(c *Call) (Value, error) {
		x := c.T(0)
		if x.Dim() != 1 {
			return nil, errf("x must be a one-dimensional tensor.")
		}
		n := x.Shape[0]
		if !c.None(1) {
			if n = c.I(1); n < 0 {
				return nil, errf("N must be non-negative.")
			}
		}
		d := x.DType
		if d.Kind() < tensor.KindFloat { // the dtype that products of integers have
			d = tensor.Int64
		}
		ones := must(c.via("ones", []Value{x.Shape[0], min(n, 1)}, d))
		powers := ones
		if n > 1 {
			x := must(c.via("expand", must(c.via("unsqueeze", x, int64(-1))), []Value{x.Shape[0], n - 1}))
			powers = must(c.via("cat", []Value{ones, must(c.via("cumprod", x, int64(-1), d))}, int64(-1)))
		}
		if c.B(2) {
			return powers, nil
		}
		return c.via("flip", powers, []Value{int64(1)})
	})
	comp("conv_tbc", func(c *Call) (Value, error) {
		x, w, b := c.T(0), c.T(1), c.T(2)
		switch {
		case x.Dim() != 3:
			return nil, errf("Input must have 3 dims: time, batch, in_channel")
		case w.Dim() != 3:
			return nil, errf("Weight tensor must have 3 dims: kernel_width, in_channels, out_channels.")
		case b.Dim() != 1:
			return nil, errf("Bias must be 1-D")
		case x.Shape[2] != w.Shape[1]:
			return nil, errf("Input dim 2 (input channels) is not == dim 1 in the weight tensor")
		case w.Shape[2] != b.Shape[0]:
			return nil, errf("Bias size must equal dim 2 in the weight tensor (output channels).")
		}
		order := func(v Value, dims ...int64) Value { return must(c.via("permute", v, ints(dims))) }
		y, err := c.via("conv1d", order(x, 1, 2, 0), order(w, 2, 1, 0), b, []Value{int64(1)}, []Value{c.I(3)}, []Value{int64(1)}, int64(1))
		if err != nil {
			return nil, err
		}
		return c.via("permute", y, ints([]int64{2, 0, 1}))
	})
	comp("fill_diagonal_", func(c *Call) (Value, error) {
		t := c.T(0)
		if t.Dim() < 2 {
			return nil, errf("dimensions must larger than 1")
		}
		rows, width := t.Shape[0], t.Shape[1]
		step := int64(0)
		for i, n := range t.Shape {
			step += t.Stride[i]
			if t.Dim() > 2 && n != rows {
				return nil, errf("all dimensions of input must be of equal length")
			}
		}
		// The diagonals of the blocks that are as high as they are wide; a row is left out between them.
		for from := int64(0); from == 0 || t.Dim() == 2 && c.B(2) && from < rows; from += width + 1 {
			size := min(rows-from, width)
			d, err := c.via("as_strided", t, []Value{size}, []Value{step}, t.Offset+from*t.Stride[0])
			if err == nil {
				_, err = c.via("fill_.Scalar", d, c.Args[1])
			}
			if err != nil {
				return nil, err
			}
		}
		return t, nil
	})
	comp("nuclear_norm", func(c *Call) (Value, error) {
		return c.via("linalg_matrix_norm.str_ord", c.Args[0], "nuc", ints([]int64{-2, -1}), c.Args[1])
	})
	comp("nuclear_norm.dim", func(c *Call) (Value, error) {
		return c.via("linalg_matrix_norm.str_ord", c.Args[0], "nuc", c.Args[1], c.Args[2])
	})
	comp("is_signed", func(c *Call) (Value, error) {
		d := c.T(0).DType
		return d.Kind() >= tensor.KindInt && !slices.Contains([]tensor.DType{tensor.UInt8, tensor.UInt16, tensor.UInt32, tensor.UInt64}, d), nil
	})
	comp("is_distributed", func(c *Call) (Value, error) { return false, nil })
	comp("can_cast", func(c *Call) (Value, error) {
		from, to := c.DT(0).Kind(), c.DT(1).Kind()
		return from <= to || from == tensor.KindInt && to == tensor.KindInt, nil
	})
	def("is_set_to", func(c *Call) (Value, error) {
		a, b := c.T(0), c.T(1)
		return a.Storage == b.Storage && a.Offset == b.Offset && slices.Equal(a.Shape, b.Shape) && slices.Equal(a.Stride, b.Stride), nil
	})
	windows()
	sobol()
}

// otherDims are the dimensions of t but d.
func otherDims(t *tensor.Tensor, d int64) []int64 {
	var dims []int64
	for i := range int64(t.Dim()) {
		if i != d {
			dims = append(dims, i)
		}
	}
	return dims
}
