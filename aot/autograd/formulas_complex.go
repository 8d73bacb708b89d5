package autograd

import (
	"slices"

	"whittle/aot/build"
	"whittle/kernels/tensor"
)

func init() { complexes() }

// complexRows are the operators whose formula holds for complex numbers. A gradient is that of the real and imaginary parts, g = dL/dRe + i dL/dIm,
// so a factor of the function is conjugated in the formula.
var complexRows = set(`add sub rsub neg mul view _unsafe_view reshape _reshape_alias view_as alias clone contiguous lift_fresh_copy lift_fresh _to_copy expand permute transpose t unsqueeze
	squeeze select slice split split_with_sizes unbind cat stack flip roll repeat constant_pad_nd as_strided sum abs fill zero copy detach index index_put index_select where
	view_as_real view_as_complex _fft_c2c _fft_r2c _fft_c2r complex polar real imag sgn conj _conj _conj_physical conj_physical resolve_conj resolve_neg angle copy_
	var std var_mean std_mean linalg_vector_norm dist diagonal_copy vdot mm bmm addmm baddbmm`)

// holomorphicRows are the operators that are differentiable in the sense of complex numbers, and whose formula is written for real ones: it
// multiplies the gradient by derivatives, and transposes, without conjugates. For complex tensors the engine conjugates what goes into the formula and
// what comes out, which conjugates the derivatives alone: conj(conj(g) f') = g conj(f').
var holomorphicRows = set(`exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid pow div addcmul addcdiv lerp
	addbmm mv addmv dot addr prod cumsum cumprod mean logcumsumexp gather scatter scatter_add index_add index_fill index_copy masked_fill masked_scatter masked_select
	take put unfold unfold_copy diagonal diag_embed diagonal_scatter select_scatter slice_scatter triu tril trace cross linalg_cross block_diag native_dropout convolution sinc
	linalg_inv_ex _linalg_solve_ex _linalg_det linalg_matrix_exp linalg_solve_triangular sort_backward embedding movedim`)

// conjAll is conj of each tensor; those that are nil stay so.
func (c *Ctx) conjAll(ts []tt) []tt {
	out := slices.Clone(ts)
	for i, t := range out {
		if t != nil {
			out[i] = c.conj(t)
		}
	}
	return out
}

// conj is the complex conjugate; a real tensor is its own.
func (c *Ctx) conj(t tt) tt {
	if t.DType.Kind() != tensor.KindComplex {
		return t
	}
	return c.T("clone.default", c.T("_conj.default", t), nil)
}

// lazyConj is conj as a view: for operators that take conjugates as they are.
func (c *Ctx) lazyConj(t tt) tt {
	if t.DType.Kind() != tensor.KindComplex {
		return t
	}
	return c.T("_conj.default", t)
}

// part is the real, 0, or imaginary, 1, part of a complex tensor.
func (c *Ctx) part(t tt, i int64) tt {
	return c.T("select.int", c.T("view_as_real.default", t), int64(t.Dim()), i)
}

func complexes() {
	row("sgn.default", func(c *Ctx) {
		c.Set("self", func() tt {
			z, g := c.In("self"), c.G(0)
			if z.DType.Kind() != tensor.KindComplex {
				return c.ZerosLike(g)
			}
			// z/|z| moves across its own direction alone.
			s, r := c.Out(0), c.Un("abs", z)
			along := c.part(c.Mul(g, c.conj(s)), 0)
			at0 := c.T("eq.Scalar", r, int64(0))
			across := c.Div(c.Sub(g, c.Mul(s, along)), c.MaskFill(r, at0, int64(1)))
			return c.Mul(across, c.T("_to_copy.default", c.Un("logical_not", at0), r.DType))
		})
	})
	row("view_as_real.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("view_as_complex.default", contiguous(c, c.G(0)))
		})
	})
	row("view_as_complex.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.T("view_as_real.default", contiguous(c, c.G(0))) })
	})
	row("_conj.default _conj_physical.default conj_physical.default", func(c *Ctx) { c.Set("self", func() tt { return c.conj(c.G(0)) }) })
	row("complex.default", func(c *Ctx) {
		c.Set("real", func() tt { return c.part(c.G(0), 0) })
		c.Set("imag", func() tt { return c.part(c.G(0), 1) })
	})
	row("polar.default", func(c *Ctx) {
		along := func(t tt) tt { return c.part(c.Mul(c.conj(c.G(0)), t), 0) } // how far the gradient goes that way
		c.Set("abs", func() tt { return along(c.Un("sgn", c.Out(0))) })
		c.Set("angle", func() tt { return along(c.T("mul.Scalar", c.Out(0), 1i)) })
	})
	row("_fft_c2c.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("_fft_c2c.default", c.G(0), c.Arg("dim"), c.Arg("normalization"), !c.Bool("forward"))
		})
	})
	row("_fft_r2c.default", func(c *Ctx) {
		c.Set("self", func() tt {
			g, dims := c.G(0), c.Ints("dim")
			if c.Bool("onesided") { // the other half has no part in the result
				in := c.Like("self")
				last := build.Wrap(dims[len(dims)-1], len(in.Shape))
				if n := g.Shape[last]; n < in.Shape[last] {
					all := c.T("new_zeros.default", g, build.Ints(in.Shape))
					kept := c.T("copy.default", c.T("slice.Tensor", all, int64(last), int64(0), n), g)
					g = c.T("slice_scatter.default", all, kept, int64(last), int64(0), n)
				}
			}
			return c.part(c.T("_fft_c2c.default", g, c.Arg("dim"), c.Arg("normalization"), false), 0)
		})
	})
	row("_fft_c2r.default", func(c *Ctx) {
		c.Set("self", func() tt {
			g, dims := c.G(0), c.Ints("dim")
			last := build.Wrap(dims[len(dims)-1], len(g.Shape))
			r := c.T("_fft_r2c.default", g, c.Arg("dim"), c.Arg("normalization"), true)
			// Each of these stands for itself and its mirror image.
			twice := g.Shape[last] - r.Shape[last]
			if twice <= 0 {
				return r
			}
			pairs := c.T("slice.Tensor", r, int64(last), int64(1), 1+twice)
			return c.T("slice_scatter.default", r, c.T("mul.Scalar", pairs, int64(2)), int64(last), int64(1), 1+twice)
		})
	})
}
