package autograd

import (
	"math"

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

// count is how many elements each result is made of.
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

// reductions holds sums, maxima and their like: the gradient is spread over the elements that were reduced, equally, or for maxima among those
// that equal the result.
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
			g, y := c.reshapeTo(c.G(0), dims, x.Shape, keep), c.reshapeTo(c.Out(0), dims, x.Shape, keep)
			mask := c.T("eq.Tensor", x, y)
			n := c.T("sum.dim_IntList", mask, build.Ints(dims), true)
			return c.Div(c.Mul(g, mask), n)
		})
	})
	row("max.default min.default median.default", func(c *Ctx) {
		c.Set("self", func() tt {
			x := c.In("self")
			y := c.Out(0)
			nan := c.T("logical_and.default", c.Un("isnan", x), c.Un("isnan", y))
			mask := c.T("logical_or.default", c.T("eq.Tensor", x, y), nan)
			return c.Mul(mask, c.Div(c.G(0), c.T("sum.default", mask)))
		})
	})
	row("prod.default", func(c *Ctx) {
		c.Set("self", func() tt {
			x, g := c.In("self"), c.G(0)
			if len(x.Shape) == 0 {
				return g
			}
			if !c.prodSafe(x) {
				return c.Div(c.Mul(g, c.Out(0)), x)
			}
			flat := c.T("view.default", c.T("contiguous.default", x), []aten.Value{int64(-1)})
			return c.reshapeLike(c.prodWithZeros(g, flat, 0), x)
		})
	})
	row("prod.dim_int", func(c *Ctx) {
		c.Set("self", func() tt {
			x, d := c.In("self"), []int64{c.Int("dim")}
			if len(x.Shape) == 0 {
				return c.G(0)
			}
			keep := c.Bool("keepdim") || len(x.Shape) == 1
			g := c.restore(c.G(0), d, keep, len(x.Shape))
			if c.prodSafe(x) {
				return c.prodWithZeros(g, x, int64(build.Wrap(d[0], len(x.Shape))))
			}
			return c.Div(c.Mul(g, c.restore(c.Out(0), d, keep, len(x.Shape))), x)
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
		if len(dims) == 0 {
			return c.Mul(c.Mul(g, 2/(n-corr)), c.Sub(x, c.T("mean.default", x)))
		}
		mean := c.T("mean.dim", x, build.Ints(dims), true)
		g = c.restore(g, dims, c.Bool("keepdim") || len(x.Shape) == 1, len(x.Shape))
		return c.Mul(c.Mul(g, 2/(n-corr)), c.Sub(x, mean))
	}
	row("var.correction", func(c *Ctx) {
		c.Set("self", func() tt { return varGrad(c, c.G(0)) })
	})
	// stdGrad is the gradient of the variance behind that of the standard deviation.
	stdGrad := func(c *Ctx) tt {
		y := c.Out(0)
		return c.MaskFill(c.Div(c.G(0), c.Mul(y, int64(2))), c.T("eq.Scalar", y, int64(0)), int64(0))
	}
	row("std.correction", func(c *Ctx) {
		c.Set("self", func() tt { return varGrad(c, stdGrad(c)) })
	})
	withMean := func(name string, first func(c *Ctx) tt) {
		row(name, func(c *Ctx) {
			c.Set("self", func() tt {
				in, dims := c.Like("self"), c.Ints("dim")
				var g tt
				if c.Has(0) {
					g = varGrad(c, first(c))
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
	}
	withMean("var_mean.correction", func(c *Ctx) tt { return c.G(0) })
	withMean("std_mean.correction", stdGrad)
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
		keep = keep || len(dims) == 0
		g := c.restore(c.G(0), dims, keep, len(x.Shape))
		y := c.restore(c.Out(0), dims, keep, len(x.Shape))
		ord := 2.0
		if p != nil {
			ord = build.Float(p)
		}
		return c.normBackward(x, g, y, ord, dims)
	}
	row("norm.Scalar", func(c *Ctx) { c.Set("self", func() tt { return norm(c, c.Arg("p"), nil, false) }) })
	row("norm.ScalarOpt_dim", func(c *Ctx) {
		c.Set("self", func() tt { return norm(c, c.Arg("p"), c.Ints("dim"), c.Bool("keepdim")) })
	})
	row("linalg_vector_norm.default", func(c *Ctx) {
		c.Set("self", func() tt { return norm(c, c.Arg("ord"), c.Ints("dim"), c.Bool("keepdim")) })
	})
}

// normBackward is the gradient of the vector norm y of order ord of x over dims, all when empty; g and y have kept dimensions.
func (c *Ctx) normBackward(x, g, y tt, ord float64, dims []int64) tt {
	switch {
	case ord == 0:
		return c.ZerosLike(x)
	case ord == 1:
		return c.Mul(g, c.Un("sgn", x))
	case ord == 2:
		return c.Mul(g, c.MaskFill(c.Div(x, y), c.T("eq.Scalar", y, int64(0)), int64(0)))
	case ord > 1e300 || ord < -1e300:
		a := c.Un("abs", x)
		m := c.T("logical_or.default", c.T("eq.Tensor", a, y), c.Un("isnan", a))
		n := c.T("sum.dim_IntList", m, dimArg(dims, len(x.Shape)), true)
		return c.Mul(c.Un("sgn", x), c.Mul(c.Div(g, n), m))
	case ord < 1:
		r := c.MaskFill(c.Mul(c.Un("sgn", x), c.Pow(c.Un("abs", x), ord-1)), c.T("eq.Scalar", x, int64(0)), int64(0))
		return c.Mul(c.Mul(r, g), c.Pow(y, 1-ord))
	}
	scale := c.MaskFill(c.Div(g, c.Pow(y, ord-1)), c.T("eq.Scalar", y, int64(0)), int64(0))
	if ord < 2 {
		return c.Mul(c.Mul(c.Un("sgn", x), c.Pow(c.Un("abs", x), ord-1)), scale)
	}
	return c.Mul(c.Mul(x, c.Pow(c.Un("abs", x), ord-2)), scale)
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

// reshapeTo gives a reduced value its kept dimensions back by a reshape.
func (c *Ctx) reshapeTo(t tt, dims, shape []int64, keep bool) tt {
	if keep || len(shape) == 0 {
		return t
	}
	kept := clone(shape)
	for i := range kept {
		if len(dims) == 0 {
			kept[i] = 1
		}
	}
	for _, d := range dims {
		kept[build.Wrap(d, len(shape))] = 1
	}
	return c.T("reshape.default", t, build.Ints(kept))
}

// prodSafe says whether a product's gradient must not divide by x: its elements are unknown, or some are zero.
func (c *Ctx) prodSafe(x tt) bool {
	if x.Fake || c.traced {
		return true
	}
	for i := range tensor.Numel(x.Shape) {
		if x.At(i) == 0 {
			return true
		}
	}
	return false
}

// prodWithZeros multiplies the products of all elements before and of all behind each element of x along dim.
func (c *Ctx) prodWithZeros(g, x tt, dim int64) tt {
	n := x.Shape[dim]
	if n <= 1 {
		return g
	}
	shape := clone(x.Shape)
	shape[dim] = 1
	ones := c.T("ones.default", build.Ints(shape), g.DType)
	d := []aten.Value{dim}
	before := c.T("cumprod.default", c.T("cat.default", []aten.Value{ones, c.T("slice.Tensor", x, dim, int64(0), n-1)}, dim), dim)
	tail := c.T("flip.default", c.T("slice.Tensor", x, dim, int64(1), n), d)
	behind := c.T("flip.default", c.T("cumprod.default", c.T("cat.default", []aten.Value{ones, tail}, dim), dim), d)
	return c.Mul(g, c.Mul(before, behind))
}

// valueSelecting scatters the gradient to the chosen places.
func (c *Ctx) valueSelecting(g tt, dim int64, index tt, shape []int64, keep bool) tt {
	if !keep && len(shape) > 0 {
		g = c.T("unsqueeze.default", g, dim)
		index = c.T("unsqueeze.default", index, dim)
	}
	z := c.T("zeros.default", build.Ints(shape), g.DType)
	return c.T("scatter.src", z, dim, index, g)
}

// selections holds sorting and what is chosen by rank: the gradient goes to the positions that were given.
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
			z := c.T("zeros.default", build.Ints(c.Like("self").Shape), c.G(0).DType)
			return c.T("scatter_add.default", z, c.Int("dim"), c.Out(1), c.G(0))
		})
	}).noGrad = map[int]bool{1: true}
}

// scans holds running sums and products; the gradient of a running sum is a running sum from the other end.
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
			x, g, y := c.In("self"), c.G(0), c.Out(0)
			if len(x.Shape) == 0 {
				return g
			}
			dim := c.Int("dim")
			if x.Fake || c.traced {
				return c.cumprodBySlices(g, x, build.Wrap(dim, len(x.Shape)))
			}
			plain := revcumsum(c, c.Mul(y, g), dim)
			if !c.prodSafe(x) {
				return c.Div(plain, x)
			}
			// The first zero of a row takes what the product would be without it; those after it take none.
			zero := c.T("eq.Scalar", x, int64(0))
			nth := c.T("cumsum.default", zero, dim)
			first := c.T("logical_and.default", zero, c.T("eq.Scalar", nth, int64(1)))
			without := c.T("cumprod.default", c.MaskFill(x, first, int64(1)), dim)
			rest := c.MaskFill(c.Div(plain, c.MaskFill(x, zero, int64(1))), zero, int64(0))
			return c.Where(first, revcumsum(c, c.Mul(without, g), dim), rest)
		})
	}).usesSelf = true
	row("logcumsumexp.default", func(c *Ctx) {
		c.Set("self", func() tt {
			x, y, g := c.In("self"), c.Out(0), c.G(0)
			if len(x.Shape) == 0 {
				return g
			}
			d := []aten.Value{c.Int("dim")}
			// Gradients of either sign are summed as logarithms, so that large numbers stay in range.
			size := c.Un("log", c.Un("abs", g))
			part := func(sign string) tt {
				lg := c.Where(c.T(sign, g, int64(0)), size, c.Scalar(lowest(g.DType), g))
				sum := c.T("flip.default", c.T("logcumsumexp.default", c.T("flip.default", c.Sub(lg, y), d), c.Int("dim")), d)
				return c.Un("exp", c.Add(sum, x))
			}
			return c.Sub(part("gt.Scalar"), part("lt.Scalar"))
		})
	}).usesSelf = true
}

// cumprodBySlices is the gradient of a running product of x whose zeros are not known: for each element it sums what the products that it is part of
// would be without it.
func (c *Ctx) cumprodBySlices(g, x tt, dim int) tt {
	n, d := x.Shape[dim], int64(dim)
	if n == 1 {
		return g
	}
	from := func(t tt, i int64) tt { return c.T("slice.Tensor", t, d, i) }
	parts := make([]aten.Value, n)
	for k := range n {
		var before, without tt
		if k == 0 {
			one := clone(x.Shape)
			one[dim] = 1
			before = c.T("expand.default", c.T("ones.default", []aten.Value{int64(1)}, x.DType), build.Ints(one))
		} else {
			before = c.T("prod.dim_int", c.T("slice.Tensor", x, d, int64(0), k), d, true)
		}
		without = before
		if k < n-1 {
			behind := c.T("cumprod.default", from(x, k+1), d)
			if k > 0 {
				behind = c.Mul(c.T("expand.default", before, build.Ints(behind.Shape)), behind)
			}
			without = c.T("cat.default", []aten.Value{before, behind}, d)
		}
		parts[k] = c.T("sum.dim_IntList", c.Mul(from(g, k), without), []aten.Value{d})
	}
	return c.T("stack.default", parts, d)
}

// lowest stands for the logarithm of nothing: infinities would have no derivative.
func lowest(d tensor.DType) float64 {
	switch d {
	case tensor.Float64:
		return -math.MaxFloat64
	case tensor.Float16:
		return -65504
	}
	return -math.MaxFloat32
}
