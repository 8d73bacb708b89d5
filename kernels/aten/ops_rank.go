package aten

import (
	"math"
	"slices"

	"whittle/kernels/tensor"
)

// Ranks, pseudo-inverses, condition numbers, and equations between tensors: compositions of factorisations.

// tolerances gives atol and rtol as PyTorch fills them in: rtol is eps times the larger side unless atol is positive.
// Each comes back as a tensor that broadcasts with the batch.
func (c *Call) tolerances(t *tensor.Tensor, atol, rtol Value) (a, r Value) {
	n, m := t.Shape[t.Dim()-2], t.Shape[t.Dim()-1]
	def := t.DType.Epsilon() * float64(max(n, m))
	full := func(v Value) Value {
		if x, ok := v.(*tensor.Tensor); ok {
			return x
		}
		return must(c.via("full", ints(nil), toFloat(v), tensor.Float64))
	}
	if atol == nil {
		a = must(c.via("zeros", ints(nil), tensor.Float64))
	} else {
		a = full(atol)
	}
	switch {
	case rtol != nil:
		r = full(rtol)
	case atol == nil:
		r = full(def)
	default:
		if f, ok := atol.(float64); ok {
			if f > 0 {
				def = 0
			}
			r = full(def)
		} else {
			r = must(c.via("where.ScalarSelf", must(c.via("gt.Scalar", a, int64(0))), 0.0, full(def)))
		}
	}
	return a, r
}

// cutoff is max(atol, rtol*largest) with a last dimension of 1.
func (c *Call) cutoff(atol, rtol, largest Value) Value {
	s := must(c.via("mul.Tensor", must(c.via("unsqueeze", rtol, int64(-1))), largest))
	return must(c.via("maximum", must(c.via("unsqueeze", atol, int64(-1))), s))
}

func rankOps() {
	singularValues := func(c *Call, t *tensor.Tensor, hermitian bool) Value {
		if hermitian {
			return must(c.via("abs", must(c.via("linalg_eigvalsh", t, "L"))))
		}
		return must(c.via("linalg_svdvals", t, nil))
	}
	rank := func(c *Call, atol, rtol Value, hermitian bool) (Value, error) {
		t := c.T(0)
		if t.Dim() < 2 {
			return nil, errf("torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions.")
		}
		if t.Numel() == 0 {
			return c.via("zeros", ints(t.Shape[:t.Dim()-2]), tensor.Int64)
		}
		a, r := c.tolerances(t, atol, rtol)
		s := singularValues(c, t, hermitian)
		top := must(c.via("amax", s, ints([]int64{-1}), true))
		return c.via("sum.dim_IntList", must(c.via("gt.Tensor", s, c.cutoff(a, r, top))), ints([]int64{-1}))
	}
	comp("linalg_matrix_rank.atol_rtol_tensor linalg_matrix_rank.atol_rtol_float", func(c *Call) (Value, error) {
		return rank(c, c.Args[1], c.Args[2], c.B(3))
	})
	comp("linalg_matrix_rank linalg_matrix_rank.tol_tensor", func(c *Call) (Value, error) {
		return rank(c, c.Args[1], 0.0, c.B(2))
	})
	comp("linalg_pinv.atol_rtol_tensor", func(c *Call) (Value, error) {
		t := c.T(0)
		if t.Dim() < 2 || t.DType != tensor.Float32 && t.DType != tensor.Float64 {
			return nil, errf("linalg.pinv(%s{%s}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types", cName(t.DType), tensor.ShapeText(t.Shape))
		}
		k := t.Dim()
		if t.Numel() == 0 {
			shape := slices.Clone(t.Shape)
			shape[k-2], shape[k-1] = shape[k-1], shape[k-2]
			return c.via("empty.memory_format", ints(shape), t.DType)
		}
		atol, rtol := c.tolerances(t, c.Args[1], c.Args[2])
		swap := func(v Value) Value { return must(c.via("transpose.int", v, int64(-2), int64(-1))) }
		invert := func(s, size, cut Value) Value {
			return must(c.via("where.ScalarOther", must(c.via("gt.Tensor", size, cut)), must(c.via("reciprocal", s)), 0.0))
		}
		var left, s, right Value
		if c.B(3) {
			v, err := c.via("_linalg_eigh", t, "L", true)
			if err != nil {
				return nil, err
			}
			l := v.([]Value)
			size := must(c.via("abs", l[0]))
			top := must(c.via("amax", size, ints([]int64{-1}), true))
			left, s, right = l[1], invert(l[0], size, c.cutoff(atol, rtol, top)), swap(l[1])
		} else {
			v, err := c.via("_linalg_svd", t, false, true)
			if err != nil {
				return nil, err
			}
			l := v.([]Value)
			top := must(c.via("narrow", l[1], int64(-1), int64(0), int64(1)))
			left, s, right = swap(l[2]), invert(l[1], l[1], c.cutoff(atol, rtol, top)), swap(l[0])
		}
		s = must(c.via("to.dtype", s, t.DType))
		return c.via("matmul", must(c.via("mul.Tensor", left, must(c.via("unsqueeze", s, int64(-2))))), right)
	})
	comp("linalg_pinv.atol_rtol_float", func(c *Call) (Value, error) {
		if c.T(0).Dim() < 2 {
			return c.via("linalg_pinv.atol_rtol_tensor", c.Args[0])
		}
		a, r := c.tolerances(c.T(0), c.Args[1], c.Args[2])
		return c.via("linalg_pinv.atol_rtol_tensor", c.Args[0], a, r, c.Args[3])
	})
	comp("linalg_pinv linalg_pinv.rcond_tensor", func(c *Call) (Value, error) {
		r := c.Args[1]
		if f, ok := r.(float64); ok {
			r = must(c.via("full", ints(nil), f, tensor.Float64))
		}
		return c.via("linalg_pinv.atol_rtol_tensor", c.Args[0], must(c.via("zeros", ints(nil), tensor.Float64)), r, c.Args[2])
	})
	comp("pinverse", func(c *Call) (Value, error) { return c.via("linalg_pinv", c.Args[0], c.Args[1], false) })
	byNorm := func(c *Call, p Value, op string) (Value, error) {
		t := c.T(0)
		if err := squareShape(t, "linalg.cond(ord="+valueText(p)+")"); err != nil {
			return nil, err
		}
		if t.Numel() == 0 {
			return c.via("zeros", ints(t.Shape[:t.Dim()-2]), t.DType)
		}
		v, err := c.via("linalg_inv_ex", t, false)
		if err != nil {
			return nil, err
		}
		l := v.([]Value)
		bad := must(c.via("ne.Scalar", l[1], int64(0)))
		for range 2 {
			bad = must(c.via("unsqueeze", bad, int64(-1)))
		}
		inv := must(c.via("masked_fill.Scalar", l[0], bad, math.Inf(1)))
		dims := ints([]int64{-2, -1})
		return c.via("mul.Tensor", must(c.via(op, t, p, dims)), must(c.via(op, inv, p, dims)))
	}
	comp("linalg_cond", func(c *Call) (Value, error) {
		t := c.T(0)
		if t.Dim() < 2 {
			return nil, errf("linalg.cond: The input tensor A must have at least 2 dimensions.")
		}
		p := 2.0
		if !c.None(1) {
			p = c.F(1)
		}
		if math.Abs(p) != 2 {
			return byNorm(c, c.Args[1], "linalg_matrix_norm")
		}
		if t.Numel() == 0 {
			return c.via("zeros", ints(t.Shape[:t.Dim()-2]), t.DType)
		}
		s := must(c.via("linalg_svdvals", t, nil))
		first := must(c.via("narrow", s, int64(-1), int64(0), int64(1)))
		last := must(c.via("narrow", s, int64(-1), int64(-1), int64(1)))
		if p < 0 {
			first, last = last, first
		}
		return c.via("squeeze.dim", must(c.via("div.Tensor", first, last)), int64(-1))
	})
	comp("linalg_cond.p_str", func(c *Call) (Value, error) {
		if p := c.Str(1); p != "fro" && p != "nuc" {
			return nil, errf("linalg.cond got an invalid norm type: %s", p)
		}
		return byNorm(c, c.Args[1], "linalg_matrix_norm.str_ord")
	})
}

func tensorEquations() {
	comp("linalg_tensorinv", func(c *Call) (Value, error) {
		t, ind := c.T(0), c.I(1)
		if ind <= 0 {
			return nil, errf("Expected a strictly positive integer for 'ind'")
		}
		at := int(min(ind, int64(t.Dim())))
		end, start := t.Shape[at:], t.Shape[:at]
		n, m := tensor.Numel(end), tensor.Numel(start)
		if n != m {
			return nil, errf("Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got %d != %d", n, m)
		}
		x := must(c.via("linalg_inv", must(c.via("reshape", t, ints([]int64{n, n})))))
		return c.via("reshape", x, ints(append(slices.Clone(end), start...)))
	})
	comp("linalg_tensorsolve", func(c *Call) (Value, error) {
		t, o := c.T(0), c.T(1)
		nd := t.Dim()
		if !c.None(2) {
			mask, err := wrapDims(c.Ints(2), nd, false)
			if err != nil {
				return nil, err
			}
			var perm []int64
			for d := range nd {
				if !mask[d] {
					perm = append(perm, int64(d))
				}
			}
			for _, d := range c.Ints(2) {
				w, err := wrapDim(d, int64(nd))
				if err != nil {
					return nil, err
				}
				perm = append(perm, w)
			}
			if t, err = c.viaT("permute", t, ints(perm)); err != nil {
				return nil, err
			}
		}
		at := min(o.Dim(), nd)
		shape := t.Shape[at:]
		n, m := tensor.Numel(shape), tensor.Numel(t.Shape[:at])
		if n != m {
			return nil, errf("Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got %d != %d", n, m)
		}
		a := must(c.via("reshape", t, ints([]int64{n, n})))
		x := must(c.via("linalg_solve", a, must(c.via("reshape", o, ints([]int64{-1}))), true))
		return c.via("reshape", x, ints(shape))
	})
}
