package autograd

import (
	"whittle/aot/build"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

func init() {
	reductions()
	selections()
	scans()
}

// unreduce gives a reduced gradient its kept dimensions back, and expands it to shape.
func (c *Ctx) unreduce(g tt, dims []int64, keepdim bool, shape []int64) tt {
	return c.T("expand.default", c.restore(g, dims, keepdim, len(shape)), build.Ints(shape))
}

// restore re-inserts the dimensions that a reduction without keepdim removed.
func (c *Ctx) restore(g tt, dims []int64, keepdim bool, n int) tt {
	if keepdim || n == 0 {
		return g
	}
	gone := map[int]bool{}
	for _, d := range dims {
		gone[build.Wrap(d, n)] = true
	}
	if len(dims) == 0 {
		for i := 0; i < n; i++ {
			gone[i] = true
		}
	}
	for i := 0; i < n; i++ {
		if gone[i] {
			g = c.T("unsqueeze.default", g, int64(i))
		}
	}
	return g
}

func count(shape, dims []int64) int64 {
	if len(dims) == 0 {
		return tensor.Numel(shape)
	}
	n := int64(1)
	for _, d := range dims {
		if len(shape) > 0 {
			n *= shape[build.Wrap(d, len(shape))]
		}
	}
	return n
}

func reductions() {
	row("sum.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.T("expand.default", c.G(0), build.Ints(c.Like("self").Shape)) })
	})
	row("sum.dim_IntList", func(c *Ctx) {
		c.Set("self", func() tt { return c.unreduce(c.G(0), c.Ints("dim"), c.Bool("keepdim"), c.Like("self").Shape) })
	})
	row("mean.default", func(c *Ctx) {
		c.Set("self", func() tt {
			in := c.Like("self")
			return c.T("div.Scalar", c.T("expand.default", c.G(0), build.Ints(in.Shape)), tensor.Numel(in.Shape))
		})
	})
	row("mean.dim", func(c *Ctx) {
		c.Set("self", func() tt {
			in, dims := c.Like("self"), c.Ints("dim")
			return c.T("div.Scalar", c.unreduce(c.G(0), dims, c.Bool("keepdim"), in.Shape), count(in.Shape, dims))
		})
	})
	row("amax.default amin.default", func(c *Ctx) {
		c.Set("self", func() tt {
			x, dims, keep := c.In("self"), c.Ints("dim"), c.Bool("keepdim")
			g := c.restore(c.G(0), dims, keep, len(x.Shape))
			y := c.restore(c.Out(0), dims, keep, len(x.Shape))
			mask := c.T("eq.Tensor", x, y)
			n := c.T("sum.dim_IntList", mask, build.Ints(dims), true)
			return c.Div(c.Mul(g, mask), n)
		})
	})
	row("max.default min.default median.default", func(c *Ctx) {
		c.Set("self", func() tt {
			x := c.In("self")
			mask := c.T("eq.Tensor", x, c.Out(0))
			return c.Mul(mask, c.Div(c.G(0), c.T("sum.default", mask)))
		})
	})
	row("prod.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.prodBackward(c.G(0), c.In("self"), c.Out(0)) })
	})
	row("prod.dim_int", func(c *Ctx) {
		c.Set("self", func() tt {
			x, d := c.In("self"), []int64{c.Int("dim")}
			g := c.restore(c.G(0), d, c.Bool("keepdim"), len(x.Shape))
			y := c.restore(c.Out(0), d, c.Bool("keepdim"), len(x.Shape))
			return c.Div(c.Mul(g, y), x)
		})
	})
	varGrad := func(c *Ctx, g tt) tt {
		x := c.In("self")
		dims := c.Ints("dim")
		corr := 1.0
		if v := c.Arg("correction"); v != nil {
			corr = build.Float(v)
		}
		n := float64(count(x.Shape, dims))
		mean := c.T("mean.dim", x, dimArg(dims, len(x.Shape)), true)
		g = c.restore(g, dims, c.Bool("keepdim"), len(x.Shape))
		return c.Mul(c.Mul(g, 2/(n-corr)), c.Sub(x, mean))
	}
	row("var.correction", func(c *Ctx) {
		c.Set("self", func() tt { return varGrad(c, c.G(0)) })
	})
	row("std.correction", func(c *Ctx) {
		c.Set("self", func() tt {
			y := c.Out(0)
			g := c.MaskFill(c.Div(c.G(0), c.Mul(y, int64(2))), c.T("eq.Scalar", y, int64(0)), int64(0))
			return varGrad(c, g)
		})
	})
	row("var_mean.correction", func(c *Ctx) {
		c.Set("self", func() tt {
			in, dims := c.Like("self"), c.Ints("dim")
			var g tt
			if c.Has(0) {
				g = varGrad(c, c.G(0))
			}
			if c.Has(1) {
				m := c.Div(c.unreduce(c.G(1), dims, c.Bool("keepdim"), in.Shape), count(in.Shape, dims))
				if g == nil {
					return m
				}
				return c.Add(g, m)
			}
			return g
		})
	})
	row("logsumexp.default", func(c *Ctx) {
		c.Set("self", func() tt {
			x, dims, keep := c.In("self"), c.Ints("dim"), c.Bool("keepdim")
			g := c.restore(c.G(0), dims, keep, len(x.Shape))
			y := c.restore(c.Out(0), dims, keep, len(x.Shape))
			return c.Mul(g, c.Un("exp", c.Sub(x, y)))
		})
	})
	norm := func(c *Ctx, p aten.Value, dims []int64, keep bool) tt {
		x := c.In("self")
		g := c.restore(c.G(0), dims, keep, len(x.Shape))
		y := c.restore(c.Out(0), dims, keep, len(x.Shape))
		ord := 2.0
		if p != nil {
			ord = build.Float(p)
		}
		switch {
		case ord == 0:
			return c.ZerosLike(x)
		case ord == 1:
			return c.Mul(g, c.Un("sgn", x))
		case ord == 2:
			return c.Mul(g, c.MaskFill(c.Div(x, y), c.T("eq.Scalar", y, int64(0)), int64(0)))
		case ord > 1e300 || ord < -1e300:
			m := c.T("eq.Tensor", c.Un("abs", x), y)
			n := c.T("sum.dim_IntList", m, dimArg(dims, len(x.Shape)), true)
			return c.Mul(c.Div(c.Mul(g, c.Un("sgn", x)), n), m)
		}
		ax := c.Un("abs", x)
		r := c.Mul(c.Mul(c.Un("sgn", x), c.Pow(ax, ord-1)), c.Div(g, c.Pow(y, ord-1)))
		return c.MaskFill(r, c.T("eq.Scalar", y, int64(0)), int64(0))
	}
	row("norm.Scalar", func(c *Ctx) { c.Set("self", func() tt { return norm(c, c.Arg("p"), nil, false) }) })
	row("norm.ScalarOpt_dim", func(c *Ctx) {
		c.Set("self", func() tt { return norm(c, c.Arg("p"), c.Ints("dim"), c.Bool("keepdim")) })
	})
	row("linalg_vector_norm.default", func(c *Ctx) {
		c.Set("self", func() tt { return norm(c, c.Arg("ord"), c.Ints("dim"), c.Bool("keepdim")) })
	})
}

// dimArg names all dimensions when none is given.
func dimArg(dims []int64, n int) []aten.Value {
	if len(dims) > 0 {
		return build.Ints(dims)
	}
	out := make([]aten.Value, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

func (c *Ctx) prodBackward(g, x, y tt) tt { return c.Div(c.Mul(g, y), x) }

// valueSelecting scatters the gradient to the chosen places.
func (c *Ctx) valueSelecting(g tt, dim int64, index tt, shape []int64, keep bool) tt {
	if !keep && len(shape) > 0 {
		g = c.T("unsqueeze.default", g, dim)
		index = c.T("unsqueeze.default", index, dim)
	}
	z := c.T("new_zeros.default", g, build.Ints(shape))
	return c.T("scatter.src", z, dim, index, g)
}

func selections() {
	row("max.dim min.dim median.dim kthvalue.default mode.default nanmedian.dim", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.valueSelecting(c.G(0), c.Int("dim"), c.Out(1), c.Like("self").Shape, c.Bool("keepdim"))
		})
	}).noGrad = map[int]bool{1: true}
	row("sort.default sort.stable topk.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.valueSelecting(c.G(0), c.Int("dim"), c.Out(1), c.Like("self").Shape, true)
		})
	}).noGrad = map[int]bool{1: true}
	row("cummax.default cummin.default", func(c *Ctx) {
		c.Set("self", func() tt {
			z := c.T("new_zeros.default", c.G(0), build.Ints(c.Like("self").Shape))
			return c.T("scatter_add.default", z, c.Int("dim"), c.Out(1), c.G(0))
		})
	}).noGrad = map[int]bool{1: true}
}

func scans() {
	revcumsum := func(c *Ctx, g tt, dim int64) tt {
		f := c.T("flip.default", g, []aten.Value{dim})
		return c.T("flip.default", c.T("cumsum.default", f, dim), []aten.Value{dim})
	}
	row("cumsum.default", func(c *Ctx) {
		c.Set("self", func() tt {
			if len(c.Like("self").Shape) == 0 {
				return c.G(0)
			}
			return revcumsum(c, c.G(0), c.Int("dim"))
		})
	})
	row("cumprod.default", func(c *Ctx) {
		c.Set("self", func() tt {
			x := c.In("self")
			return c.Div(revcumsum(c, c.Mul(c.Out(0), c.G(0)), c.Int("dim")), x)
		})
	}).usesSelf = true
	row("logcumsumexp.default", func(c *Ctx) {
		c.Set("self", func() tt {
			x, y, g := c.In("self"), c.Out(0), c.G(0)
			return c.Mul(c.Un("exp", x), revcumsum(c, c.Mul(g, c.Un("exp", c.Neg(y))), c.Int("dim")))
		})
	}).usesSelf = true
}
