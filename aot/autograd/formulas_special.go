package autograd

import (
	"math"

	"whittle/aot/build"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

func init() {
	specials()
	mixed()
	reduced()
	backwards()
}

// specials are the special functions of one argument. Source: the derivatives of the functions' definitions (DLMF chapters 5, 7, 10).
func specials() {
	row("polygamma.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.Mul(c.G(0), c.T("polygamma.default", c.Int("n")+1, c.In("self")))
		})
	}).usesSelf = true
	row("mvlgamma.default", func(c *Ctx) {
		c.Set("self", func() tt {
			x := c.In("self")
			sum := c.Un("digamma", x)
			for i := int64(1); i < c.Int("p"); i++ {
				sum = c.Add(sum, c.Un("digamma", c.Sub(x, float64(i)/2)))
			}
			return c.Mul(c.G(0), sum)
		})
	}).usesSelf = true
	// The incomplete gamma functions along their second argument; along the first there is no formula.
	for name, sign := range map[string]float64{"igamma": 1, "igammac": -1} {
		row(name+".default", func(c *Ctx) {
			a, x := c.In("self"), c.In("other")
			c.Set("self", func() tt {
				c.Check(&aten.Error{Op: c.op.Name(), Kind: aten.NotImplementedError, Msg: "the derivative for '" + name + ": input' is not implemented."})
				return nil
			})
			c.Set("other", func() tt {
				density := c.Un("exp", c.Sub(c.Sub(c.Mul(c.Sub(a, int64(1)), c.Un("log", x)), x), c.Un("lgamma", a)))
				return c.Mul(c.Mul(c.G(0), density), sign)
			})
		})
	}
	row("_standard_gamma.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.Mul(c.G(0), c.T("_standard_gamma_grad.default", c.In("self"), c.Out(0))) })
	}).usesSelf = true
	unary("i0", func(c *Ctx, g, x tt) tt { return c.Mul(g, c.Un("special_i1", x)) })
	unary("special_i0e", func(c *Ctx, g, x tt) tt {
		return c.Mul(g, c.Sub(c.Un("special_i1e", x), c.Mul(c.Un("sgn", x), c.Un("special_i0e", x))))
	})
	// i1'(x) = i0(x) - i1(x)/x, which is 1/2 near 0; likewise for the scaled function.
	atZero := func(c *Ctx, x, r tt) tt {
		return c.Where(c.T("gt.Scalar", c.Un("abs", x), x.DType.Epsilon()), r, c.Scalar(0.5, r))
	}
	unary("special_i1", func(c *Ctx, g, x tt) tt {
		r := c.Sub(c.Un("i0", x), c.Div(c.Un("special_i1", x), x))
		return c.Mul(g, atZero(c, x, r))
	})
	unary("special_i1e", func(c *Ctx, g, x tt) tt {
		y := c.Un("special_i1e", x)
		r := c.Sub(c.Un("special_i0e", x), c.Mul(y, c.Add(c.Un("sgn", x), c.Un("reciprocal", x))))
		return c.Mul(g, atZero(c, x, r))
	})
	unaryOut("special_ndtri", func(c *Ctx, g, y tt) tt {
		return c.Mul(c.Mul(g, math.Sqrt(2*math.Pi)), c.Un("exp", c.Div(c.Mul(y, y), int64(2))))
	})
	unary("special_log_ndtr", func(c *Ctx, g, x tt) tt {
		return c.Mul(c.Div(g, c.Un("special_erfcx", c.Mul(x, -math.Sqrt2/2))), math.Sqrt(2/math.Pi))
	})
	row("special_erfcx.default", func(c *Ctx) {
		c.Set("self", func() tt {
			xy := c.Mul(c.Mul(c.In("self"), c.Out(0)), int64(2))
			return c.Mul(c.G(0), c.Sub(xy, 2/math.Sqrt(math.Pi)))
		})
	}).usesSelf = true
	unary("special_entr", func(c *Ctx, g, x tt) tt {
		return c.Mul(g, c.Neg(c.Add(c.Un("log", x), int64(1))))
	})
	unary("angle", func(c *Ctx, g, x tt) tt {
		if isComplex(x) { // the angle of z grows by the imaginary part of dz/z
			r := c.T("mul.Scalar", c.Div(c.Mul(g, x), c.Pow(c.Un("abs", x), int64(2))), 1i)
			zero := c.T("zeros.default", []aten.Value{}, r.DType)
			return c.Where(c.T("eq.Scalar", x, 0.0), zero, r)
		}
		return c.ZerosLike(x) // of a real number: the jump from pi to 0 has no slope
	})
	row("frexp.Tensor", func(c *Ctx) {
		c.Set("self", func() tt { return c.Div(c.G(0), c.Un("exp2", c.To(c.Out(1), c.G(0).DType))) })
	}).noGrad = map[int]bool{1: true}
}

// mixed are functions of two arguments.
func mixed() {
	row("logaddexp.default", func(c *Ctx) {
		share := func(a, b string) tt {
			return c.Div(c.G(0), c.Add(c.Un("exp", c.Sub(c.In(b), c.In(a))), int64(1)))
		}
		c.Set("self", func() tt { return share("self", "other") })
		c.Set("other", func() tt { return share("other", "self") })
	})
	row("logaddexp2.default", func(c *Ctx) {
		share := func(a, b string) tt {
			return c.Div(c.G(0), c.Add(c.Un("exp2", c.Sub(c.In(b), c.In(a))), int64(1)))
		}
		c.Set("self", func() tt { return share("self", "other") })
		c.Set("other", func() tt { return share("other", "self") })
	})
	// x*log(y) and x*log1p(y) are 0 where x is, however y.
	xlog := func(names, op, tensors, scalar string, shift int64) {
		row(names, func(c *Ctx) {
			x, y := c.Arg("self"), c.Arg("other")
			if xt, ok := x.(tt); ok {
				c.Set("self", func() tt {
					if yt, ok := y.(tt); ok {
						zero := c.T("bitwise_and.Tensor", c.T("eq.Scalar", xt, 0.0), c.T("le.Scalar", yt, -float64(shift)))
						return c.MaskFill(c.T(op+tensors, c.G(0), yt), zero, 0.0)
					}
					g := c.T(op+scalar, c.G(0), y)
					if build.Float(y) > -float64(shift) {
						return g
					}
					return c.MaskFill(g, c.T("eq.Scalar", xt, 0.0), 0.0)
				})
			}
			if yt, ok := y.(tt); ok {
				c.Set("other", func() tt {
					if shift != 0 {
						yt = c.Add(yt, shift)
					}
					return c.Div(c.Mul(c.G(0), x), yt)
				})
			}
		}).usesSelf = true
	}
	xlog("xlogy.Tensor xlogy.Scalar_Self xlogy.Scalar_Other", "xlogy", ".Tensor", ".Scalar_Other", 0)
	xlog("special_xlog1py.default special_xlog1py.self_scalar special_xlog1py.other_scalar", "special_xlog1py", ".default", ".other_scalar", 1)
	row("special_zeta.default special_zeta.self_scalar", func(c *Ctx) {
		s := c.Arg("self")
		if _, ok := s.(tt); ok {
			c.Set("self", func() tt {
				c.Check(&aten.Error{Op: c.op.Name(), Kind: aten.NotImplementedError, Msg: "the derivative for 'zeta' is not implemented."})
				return nil
			})
		}
		c.Set("other", func() tt {
			if st, ok := s.(tt); ok {
				return c.Mul(c.Mul(c.G(0), c.Neg(st)), c.T("special_zeta.default", c.Add(st, 1.0), c.In("other")))
			}
			v := build.Float(s)
			return c.Mul(c.Mul(c.G(0), -v), c.T("special_zeta.self_scalar", v+1, c.In("other")))
		})
	})
	row("copysign.Scalar", func(c *Ctx) {
		c.Set("self", func() tt {
			x := c.In("self")
			return c.Mul(c.G(0), c.MaskFill(c.Div(c.Out(0), x), c.T("eq.Scalar", x, int64(0)), int64(0)))
		})
	}).usesSelf = true
	row("dist.default", func(c *Ctx) {
		diff := func() tt {
			d := c.Sub(c.In("self"), c.In("other"))
			return c.normBackward(d, c.G(0), c.Out(0), build.Float(c.Arg("p")), nil)
		}
		c.Set("self", diff)
		c.Set("other", func() tt { return c.Neg(diff()) })
	})
	row("linalg_cross.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.T("linalg_cross.default", c.In("other"), c.G(0), c.Arg("dim")) })
		c.Set("other", func() tt { return c.T("linalg_cross.default", c.G(0), c.In("self"), c.Arg("dim")) })
	})
}

// reduced are reductions and the writes at indices that reduce.
func reduced() {
	row("nansum.default", func(c *Ctx) {
		c.Set("self", func() tt {
			x := c.In("self")
			g := c.G(0)
			if dims := c.Ints("dim"); len(dims) > 0 {
				g = c.unreduce(g, dims, c.Bool("keepdim"), x.Shape)
			} else {
				g = c.T("expand.default", g, build.Ints(x.Shape))
			}
			return c.Mul(g, c.Un("logical_not", c.Un("isnan", x)))
		})
	})
	row("nanmedian.default", func(c *Ctx) {
		c.Set("self", func() tt {
			x, y := c.In("self"), c.Out(0)
			nan := c.T("logical_and.default", c.Un("isnan", x), c.Un("isnan", y))
			mask := c.T("logical_or.default", c.T("eq.Tensor", x, y), nan)
			return c.Mul(mask, c.Div(c.G(0), c.T("sum.default", mask)))
		})
	})
	row("renorm.default", func(c *Ctx) {
		c.Set("self", func() tt {
			x, g, p, dim := c.In("self"), c.G(0), build.Float(c.Arg("p")), build.Wrap(c.Int("dim"), len(c.Like("self").Shape))
			var dims []int64
			for i := range x.Shape {
				if i != dim {
					dims = append(dims, int64(i))
				}
			}
			limit := c.Arg("maxnorm")
			wide := tensor.Float64 // what PyTorch sums float32 in, on the CPU
			if x.DType != tensor.Float32 && x.DType != tensor.Float64 {
				wide = tensor.Float32
			}
			inner := c.T("sum.dim_IntList", c.Mul(x, g), build.Ints(dims), true, wide)
			norm := c.T("linalg_vector_norm.default", x, p, build.Ints(dims), true, wide)
			inv := c.Un("reciprocal", c.Add(norm, 1e-7))
			slope := c.normBackward(x, inner, norm, p, dims)
			scaled := c.To(c.Mul(c.Mul(inv, limit), c.Sub(g, c.Mul(inv, slope))), g.DType)
			return c.Where(c.T("gt.Scalar", norm, limit), scaled, g)
		})
	}).usesSelf = true
	row("scatter_reduce.two", func(c *Ctx) {
		dim, index := c.Arg("dim"), c.In("index")
		c.reduceInto("src", reduceAccess{
			take: func(t tt) tt { return c.T("gather.default", t, dim, index) },
			add:  func(t, v tt) tt { return c.T("scatter_add.default", t, dim, index, v) },
			zero: func(t tt) tt { return c.T("scatter.value", t, dim, index, int64(0)) },
			fit:  func(t tt) tt { return c.fitGather(t, "src") },
			crop: func(t tt) tt {
				for i, n := range index.Shape {
					if t.Shape[i] != n {
						t = c.T("slice.Tensor", t, int64(i), int64(0), n)
					}
				}
				return t
			},
		})
	}).usesSelf = true
	row("index_reduce.default", func(c *Ctx) {
		dim, index := c.Arg("dim"), c.In("index")
		same := func(t tt) tt { return t }
		c.reduceInto("source", reduceAccess{
			take: func(t tt) tt { return c.T("index_select.default", t, dim, index) },
			add:  func(t, v tt) tt { return c.T("index_add.default", t, dim, index, v) },
			zero: func(t tt) tt { return c.T("index_fill.int_Scalar", t, dim, index, int64(0)) },
			fit:  same, crop: same,
		})
	}).usesSelf = true
	row("index_fill.int_Tensor", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("index_fill.int_Scalar", c.G(0), c.Arg("dim"), c.In("index"), int64(0))
		})
		c.Set("value", func() tt {
			once := c.M("_unique.default", c.In("index"))[0] // an index may come twice
			return c.T("sum.default", c.T("index_select.default", c.G(0), c.Arg("dim"), once))
		})
	})
	row("put.default", func(c *Ctx) {
		c.Set("self", func() tt {
			if c.Bool("accumulate") {
				return c.G(0)
			}
			return c.T("put.default", c.G(0), c.In("index"), c.ZerosLike(c.Like("source")), false)
		})
		c.Set("source", func() tt {
			return c.reshapeLike(c.T("take.default", c.G(0), c.In("index")), c.Like("source"))
		})
	})
	row("diagonal_scatter.default", func(c *Ctx) {
		rest := c.args[2:]
		c.Set("self", func() tt {
			zero := c.T("zeros.default", build.Ints(c.Like("src").Shape), c.G(0).DType)
			return c.T("diagonal_scatter.default", append([]aten.Value{c.G(0), zero}, rest...)...)
		})
		c.Set("src", func() tt { return c.T("diagonal.default", append([]aten.Value{c.G(0)}, rest...)...) })
	})
}

// reduceAccess is how a reducing write reaches the places that it writes.
type reduceAccess struct {
	take func(t tt) tt    // the places, in the order of the source
	add  func(t, v tt) tt // adds to the places
	zero func(t tt) tt    // clears the places
	fit  func(t tt) tt    // pads what lies at the index to the source's shape
	crop func(t tt) tt    // cuts the source to what lies at the index
}

// reduceInto is the derivative of a write that joins what it writes, named from, by the operator's "reduce" argument with what was there.
func (c *Ctx) reduceInto(from string, at reduceAccess) {
	self, src, y, g := c.In("self"), at.crop(c.In(from)), c.Out(0), c.G(0)
	reduce, _ := c.Arg("reduce").(string)
	keep := c.Bool("include_self")
	// A place that is written without its old value takes no gradient.
	old := func(gs tt) tt {
		if keep {
			return gs
		}
		return at.zero(gs)
	}
	set := func(gSelf, gSrc func() tt) {
		c.Set("self", func() tt { return old(gSelf()) })
		c.Set(from, func() tt { return at.fit(gSrc()) })
	}
	switch reduce {
	case "sum":
		set(func() tt { return g }, func() tt { return at.take(g) })
	case "mean":
		count := func() tt {
			n := c.T("ones_like.default", g)
			if !keep {
				n = at.zero(n)
			}
			n = at.add(n, c.T("ones_like.default", src))
			return c.MaskFill(n, c.T("eq.Scalar", n, int64(0)), int64(1))
		}
		set(func() tt { return c.Div(g, count()) }, func() tt { return c.Div(at.take(g), at.take(count())) })
	case "prod":
		// With zeros about, each zero's own place gets the product of the others: one zero leaves it, two leave none.
		set(func() tt {
			others := c.T("ones_like.default", self)
			others = c.T(c.reducer(from), c.reduceArgs(others, from, true)...)
			return c.Mul(g, others)
		}, func() tt {
			zero := c.T("eq.Scalar", src, int64(0))
			n := c.ZerosLike(self)
			if keep {
				n = c.To(c.T("eq.Scalar", self, int64(0)), self.DType)
			}
			zeros := at.take(at.add(n, c.To(zero, src.DType)))
			single := c.T("logical_and.default", zero, c.T("eq.Scalar", zeros, int64(1)))
			filled := c.MaskFill(src, single, int64(1))
			base := self
			if !keep {
				base = c.T("ones_like.default", self)
			}
			without := at.take(c.T(c.reducer(from), c.reduceInputs(base, from, filled)...))
			r := c.Mul(at.take(g), without)
			plain := c.Div(c.Mul(at.take(g), at.take(y)), c.MaskFill(src, zero, int64(1)))
			return c.Where(single, r, c.MaskFill(plain, zero, int64(0)))
		})
	case "amax", "amin":
		// Those that equal the extremum share the gradient.
		mine, theirs := c.T("eq.Tensor", self, y), c.T("eq.Tensor", src, at.take(y))
		share := func() tt { return c.Div(g, at.add(c.To(mine, g.DType), c.To(theirs, g.DType))) }
		set(func() tt { return c.Mul(mine, share()) }, func() tt { return c.Mul(theirs, at.take(share())) })
	}
}

func (c *Ctx) reducer(from string) string {
	if from == "src" {
		return "scatter_reduce.two"
	}
	return "index_reduce.default"
}

// reduceArgs are the operator's own arguments with another self.
func (c *Ctx) reduceArgs(self tt, from string, includeSelf bool) []aten.Value {
	args := append([]aten.Value(nil), c.args...)
	args[0], args[len(args)-1] = self, includeSelf
	return args
}

// reduceInputs are the operator's own arguments with another self, which counts, and another source.
func (c *Ctx) reduceInputs(self tt, from string, src tt) []aten.Value {
	args := c.reduceArgs(self, from, true)
	args[c.argPos(from)] = src
	return args
}

// backwards are derivatives of operators that a backward pass is made of.
func backwards() {
	row("native_dropout_backward.default", func(c *Ctx) {
		c.Set("grad_output", func() tt {
			return c.T("native_dropout_backward.default", c.G(0), c.In("mask"), c.Arg("scale"))
		})
	})
	row("max_pool2d_with_indices_backward.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.ZerosLike(c.Like("self")) })
		c.Set("grad_output", func() tt {
			g, at := c.G(0), c.In("indices")
			flat := func(t tt) tt {
				n := len(t.Shape)
				return c.T("reshape.default", t, build.Ints(append(clone(t.Shape[:n-2]), t.Shape[n-2]*t.Shape[n-1])))
			}
			return c.reshapeLike(c.T("gather.default", flat(g), int64(-1), flat(at)), at)
		})
	})
	row("_softmax_backward_data.default", func(c *Ctx) {
		dim := c.Arg("dim")
		sum := func(a, b tt) tt { return c.T("sum.dim_IntList", c.Mul(a, b), []aten.Value{dim}, true) }
		c.Set("grad_output", func() tt {
			y := c.In("output")
			return c.Mul(y, c.Sub(c.G(0), sum(c.G(0), y)))
		})
		c.Set("output", func() tt {
			g, go_, y := c.G(0), c.In("grad_output"), c.In("output")
			return c.Sub(c.Mul(g, c.Sub(go_, sum(go_, y))), c.Mul(go_, sum(g, y)))
		})
	})
	row("_log_softmax_backward_data.default", func(c *Ctx) {
		dim := []aten.Value{c.Arg("dim")}
		c.Set("grad_output", func() tt {
			p := c.Un("exp", c.In("output"))
			return c.Sub(c.G(0), c.T("sum.dim_IntList", c.Mul(c.G(0), p), dim, true))
		})
		c.Set("output", func() tt {
			total := c.T("sum.dim_IntList", c.In("grad_output"), dim, true)
			return c.Neg(c.Mul(c.Mul(c.G(0), c.Un("exp", c.In("output"))), total))
		})
	})
}
