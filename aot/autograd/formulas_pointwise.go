package autograd

import (
	"math"
	"math/cmplx"
	"strings"

	"whittle/aot/build"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

type tt = *tensor.Tensor

// table is the derivative table, keyed by functional operator and overload.
// Formulas follow derivatives.yaml.
var table = map[string]*formula{}

// row enters one formula for several operators.
func row(names string, f func(c *Ctx)) *formula {
	r := &formula{run: f}
	for n := range set(names) {
		table[n] = r
	}
	return r
}

// readsSelfForOthers notes that a formula reads self's value for the gradients of its other arguments alone.
func (f *formula) readsSelfForOthers() { f.usesSelf, f.forOthers = true, true }

// unary rows map the gradient through one pointwise argument; self and result give the formula what it reads.
func unary(name string, f func(c *Ctx, g, x tt) tt) {
	row(name+".default", func(c *Ctx) {
		c.Set("self", func() tt { return f(c, c.G(0), c.In("self")) })
	}).usesSelf = true
}

// unaryOut is unary for a formula that reads the result, as that of exp does: the input need not be saved.
func unaryOut(name string, f func(c *Ctx, g, y tt) tt) {
	row(name+".default", func(c *Ctx) {
		c.Set("self", func() tt { return f(c, c.G(0), c.Out(0)) })
	})
}

func init() {
	arithmetic()
	unaries()
	activations()
}

// arithmetic holds functions of two operands. A gradient is summed over what its operand was broadcast along.
func arithmetic() {
	alpha := func(c *Ctx, g tt) tt {
		a := c.Arg("alpha")
		if z, ok := a.(complex128); ok {
			a = cmplx.Conj(z)
		}
		if !build.Is(a, 1) {
			return c.Mul(g, a)
		}
		return g
	}
	row("add.Tensor add.Scalar", func(c *Ctx) {
		c.Set("self", func() tt { return c.G(0) })
		c.Set("other", func() tt { return alpha(c, c.G(0)) })
	})
	row("sub.Tensor sub.Scalar", func(c *Ctx) {
		c.Set("self", func() tt { return c.G(0) })
		c.Set("other", func() tt { return alpha(c, c.Neg(c.G(0))) })
	})
	row("rsub.Tensor rsub.Scalar", func(c *Ctx) {
		c.Set("self", func() tt { return alpha(c, c.Neg(c.G(0))) })
		c.Set("other", func() tt { return c.G(0) })
	})
	row("mul.Tensor mul.Scalar", func(c *Ctx) {
		c.Set("self", func() tt {
			other := c.Arg("other")
			switch o := other.(type) {
			case tt:
				other = c.conj(o)
			case complex128:
				other = cmplx.Conj(o)
			}
			return c.T("mul."+c.op.Sig().Overload, c.G(0), other)
		})
		c.Set("other", func() tt { return c.Mul(c.G(0), c.conj(c.In("self"))) })
	}).readsSelfForOthers()
	row("div.Tensor div.Scalar", func(c *Ctx) {
		c.Set("self", func() tt { return c.T("div."+strings.TrimSuffix(c.op.Sig().Overload, "_mode"), c.G(0), c.Arg("other")) })
		c.Set("other", func() tt {
			o := c.In("other")
			return c.Mul(c.Neg(c.G(0)), c.Div(c.Div(c.In("self"), o), o))
		})
	}).readsSelfForOthers()
	row("div.Tensor_mode div.Scalar_mode", func(c *Ctx) {
		if c.Arg("rounding_mode") != nil {
			c.Set("self", func() tt { return c.ZerosLike(c.Like("self")) })
			c.Set("other", func() tt { return c.ZerosLike(c.Like("other")) })
			return
		}
		c.Set("self", func() tt { return c.T("div."+strings.TrimSuffix(c.op.Sig().Overload, "_mode"), c.G(0), c.Arg("other")) })
		c.Set("other", func() tt {
			o := c.In("other")
			return c.Mul(c.Neg(c.G(0)), c.Div(c.Div(c.In("self"), o), o))
		})
	}).readsSelfForOthers()
	row("fmod.Tensor fmod.Scalar", func(c *Ctx) {
		c.Set("self", func() tt { return c.G(0) })
		c.Set("other", func() tt {
			return c.Mul(c.Neg(c.G(0)), c.T("div.Tensor_mode", c.In("self"), c.Arg("other"), "trunc"))
		})
	}).readsSelfForOthers()
	row("remainder.Tensor remainder.Scalar", func(c *Ctx) {
		c.Set("self", func() tt { return c.G(0) })
		c.Set("other", func() tt {
			return c.Mul(c.Neg(c.G(0)), c.T("div.Tensor_mode", c.In("self"), c.Arg("other"), "floor"))
		})
	}).readsSelfForOthers()
	row("pow.Tensor_Scalar", func(c *Ctx) {
		c.Set("self", func() tt {
			if z, ok := c.Arg("exponent").(complex128); ok {
				return c.Mul(c.G(0), c.Mul(c.Pow(c.In("self"), z-1), z))
			}
			e := build.Float(c.Arg("exponent"))
			if e == 0 {
				return c.ZerosLike(c.In("self"))
			}
			var less aten.Value = e - 1
			var exp aten.Value = e
			return c.Mul(c.G(0), c.T("mul.Scalar", c.Pow(c.In("self"), less), exp))
		})
	}).usesSelf = true
	row("pow.Tensor_Tensor", func(c *Ctx) {
		c.Set("self", func() tt {
			x, e := c.In("self"), c.In("exponent")
			p := c.Mul(c.G(0), c.Mul(e, c.Pow(x, c.Sub(e, int64(1)))))
			return c.Where(c.T("eq.Scalar", e, 0.0), c.Scalar(int64(0), c.G(0)), p)
		})
		c.Set("exponent", func() tt {
			x, e, y := c.In("self"), c.In("exponent"), c.Out(0)
			rises := tt(nil)
			if e.DType.Kind() == tensor.KindComplex {
				rises = c.T("logical_and.default", c.T("eq.Scalar", c.Un("imag", e), int64(0)), c.T("ge.Scalar", c.Un("real", e), int64(0)))
			} else {
				rises = c.T("ge.Scalar", e, 0.0)
			}
			cond := c.T("logical_and.default", c.T("eq.Scalar", x, 0.0), rises)
			return c.Mul(c.G(0), c.Where(cond, c.Scalar(int64(0), c.G(0)), c.Mul(y, c.Un("log", x))))
		})
	}).usesSelf = true
	row("pow.Scalar", func(c *Ctx) {
		c.Set("exponent", func() tt {
			if z, ok := c.Arg("self").(complex128); ok {
				return c.Mul(c.G(0), c.Mul(c.Out(0), cmplx.Log(z)))
			}
			base := build.Float(c.Arg("self"))
			if c.Out(0).DType.Kind() == tensor.KindComplex && base < 0 {
				return c.Mul(c.G(0), c.Mul(c.Out(0), cmplx.Log(complex(base, 0))))
			}
			g := c.Mul(c.G(0), c.Mul(c.Out(0), math.Log(base)))
			if base != 0 {
				return g
			}
			e := c.In("exponent")
			if e.DType.Kind() == tensor.KindComplex {
				flat := c.T("logical_and.default", c.T("eq.Scalar", c.Un("imag", e), int64(0)), c.T("ge.Scalar", c.Un("real", e), int64(0)))
				return c.Where(flat, c.Scalar(int64(0), c.G(0)), g)
			}
			return c.Where(c.T("ge.Scalar", e, int64(0)), c.Scalar(int64(0), c.G(0)), g) // constant zero, but for the jump to infinity
		})
	})
	row("atan2.default", func(c *Ctx) {
		den := func() tt {
			x, y := c.In("self"), c.In("other")
			return c.T("reciprocal.default", c.Add(c.Mul(x, x), c.Mul(y, y)))
		}
		c.Set("self", func() tt { return c.Mul(c.Mul(c.G(0), c.In("other")), den()) })
		c.Set("other", func() tt { return c.Mul(c.Mul(c.G(0), c.Neg(c.In("self"))), den()) })
	}).usesSelf = true
	row("hypot.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.Div(c.Mul(c.G(0), c.In("self")), c.Out(0)) })
		c.Set("other", func() tt { return c.Div(c.Mul(c.G(0), c.In("other")), c.Out(0)) })
	}).usesSelf = true
	row("copysign.Tensor", func(c *Ctx) {
		c.Set("self", func() tt {
			x := c.In("self")
			r := c.Div(c.Out(0), x)
			return c.Mul(c.G(0), c.MaskFill(r, c.T("eq.Scalar", x, int64(0)), int64(0)))
		})
		c.Set("other", func() tt { return c.ZerosLike(c.Like("other")) })
	}).usesSelf = true
	extremum := func(name, less string) {
		row(name+".default", func(c *Ctx) {
			// Ties share the gradient equally.
			share := func(mask string) tt {
				x, y, g := c.In("self"), c.In("other"), c.G(0)
				half := c.Div(g, int64(2))
				eq := c.T("eq.Tensor", x, y)
				return c.MaskFill(c.Where(eq, half, g), c.T(mask+".Tensor", x, y), int64(0))
			}
			c.Set("self", func() tt { return share(less) })
			c.Set("other", func() tt { return share(map[string]string{"lt": "gt", "gt": "lt"}[less]) })
		}).usesSelf = true
	}
	extremum("maximum", "lt")
	extremum("minimum", "gt")
	row("fmax.default", func(c *Ctx) {
		m := func() tt {
			x, y := c.In("self"), c.In("other")
			return c.T("logical_or.default", c.T("ge.Tensor", x, y), c.Un("isnan", y))
		}
		c.Set("self", func() tt { return c.MaskFill(c.G(0), c.Un("logical_not", m()), int64(0)) })
		c.Set("other", func() tt { return c.MaskFill(c.G(0), m(), int64(0)) })
	}).usesSelf = true
	row("fmin.default", func(c *Ctx) {
		m := func() tt {
			x, y := c.In("self"), c.In("other")
			return c.T("logical_or.default", c.T("le.Tensor", x, y), c.Un("isnan", y))
		}
		c.Set("self", func() tt { return c.MaskFill(c.G(0), c.Un("logical_not", m()), int64(0)) })
		c.Set("other", func() tt { return c.MaskFill(c.G(0), m(), int64(0)) })
	}).usesSelf = true
	row("addcmul.default", func(c *Ctx) {
		v := func(g tt) tt { return c.Mul(g, c.Arg("value")) }
		c.Set("self", func() tt { return c.G(0) })
		c.Set("tensor1", func() tt { return c.Mul(c.G(0), v(c.In("tensor2"))) })
		c.Set("tensor2", func() tt { return c.Mul(c.G(0), v(c.In("tensor1"))) })
	})
	row("addcdiv.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.G(0) })
		c.Set("tensor1", func() tt { return c.Mul(c.G(0), c.Over(c.Arg("value"), c.In("tensor2"))) })
		c.Set("tensor2", func() tt {
			t2 := c.In("tensor2")
			return c.Mul(c.Neg(c.G(0)), c.Div(c.Mul(c.In("tensor1"), c.Arg("value")), c.Mul(t2, t2)))
		})
	})
	row("lerp.Scalar", func(c *Ctx) {
		w := build.Float(c.Arg("weight"))
		c.Set("self", func() tt { return c.Mul(c.G(0), 1-w) })
		c.Set("end", func() tt { return c.Mul(c.G(0), c.Arg("weight")) })
	})
	row("lerp.Tensor", func(c *Ctx) {
		c.Set("self", func() tt { return c.Mul(c.G(0), c.From(int64(1), c.In("weight"))) })
		c.Set("end", func() tt { return c.Mul(c.G(0), c.In("weight")) })
		c.Set("weight", func() tt { return c.Mul(c.G(0), c.Sub(c.In("end"), c.In("self"))) })
	}).usesSelf = true
	row("where.self", func(c *Ctx) {
		zero := func() tt { return c.Scalar(int64(0), c.G(0)) }
		c.Set("self", func() tt { return c.Where(c.In("condition"), c.G(0), zero()) })
		c.Set("other", func() tt { return c.Where(c.In("condition"), zero(), c.G(0)) })
	})
	row("masked_fill.Scalar masked_fill.Tensor", func(c *Ctx) {
		c.Set("self", func() tt { return c.MaskFill(c.G(0), c.In("mask"), int64(0)) })
		if _, ok := c.args[c.argPos("value")].(tt); ok {
			c.Set("value", func() tt {
				return c.T("sum.default", c.Where(c.In("mask"), c.G(0), c.Scalar(int64(0), c.G(0))))
			})
		}
	})
	clampMask := func(c *Ctx) tt {
		x := c.In("self")
		lo, hi := c.Arg("min"), c.Arg("max")
		cmp := func(op string, b aten.Value) tt {
			if t, ok := b.(tt); ok {
				return c.T(op+".Tensor", x, t)
			}
			return c.T(op+".Scalar", x, b)
		}
		switch {
		case lo != nil && hi != nil:
			return c.T("logical_and.default", cmp("ge", lo), cmp("le", hi))
		case lo != nil:
			return cmp("ge", lo)
		case hi != nil:
			return cmp("le", hi)
		}
		return c.T("ones_like.default", x, tensor.Bool)
	}
	row("clamp.default clamp.Tensor", func(c *Ctx) {
		c.Set("self", func() tt { return c.Where(clampMask(c), c.G(0), c.Scalar(0.0, c.G(0))) })
		if lo, ok := c.args[c.argPos("min")].(tt); ok {
			c.Set("min", func() tt {
				m := c.T("lt.Tensor", c.In("self"), lo)
				if hi, ok := c.args[c.argPos("max")].(tt); ok {
					m = c.T("logical_and.default", m, c.T("lt.Tensor", lo, hi))
				}
				return c.Where(m, c.G(0), c.Scalar(0.0, c.G(0)))
			})
		}
		if hi, ok := c.args[c.argPos("max")].(tt); ok {
			c.Set("max", func() tt {
				m := c.T("gt.Tensor", c.In("self"), hi)
				if lo, ok := c.args[c.argPos("min")].(tt); ok {
					m = c.T("logical_or.default", m, c.T("lt.Tensor", hi, lo))
				}
				return c.Where(m, c.G(0), c.Scalar(0.0, c.G(0)))
			})
		}
	}).usesSelf = true
	bound := func(op, arg, keep, lose string) {
		row(op+".default", func(c *Ctx) {
			c.Set("self", func() tt {
				return c.Where(c.T(keep+".Scalar", c.In("self"), c.Arg(arg)), c.G(0), c.Scalar(0.0, c.G(0)))
			})
		}).usesSelf = true
		row(op+".Tensor", func(c *Ctx) {
			c.Set("self", func() tt {
				return c.Where(c.T(keep+".Tensor", c.In("self"), c.Arg(arg)), c.G(0), c.Scalar(0.0, c.G(0)))
			})
			c.Set(arg, func() tt {
				return c.Where(c.T(lose+".Tensor", c.In("self"), c.Arg(arg)), c.G(0), c.Scalar(0.0, c.G(0)))
			})
		}).usesSelf = true
	}
	bound("clamp_min", "min", "ge", "lt")
	bound("clamp_max", "max", "le", "gt")
	row("fill.Scalar fill.Tensor zero.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.ZerosLike(c.G(0)) })
	})
	row("copy.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.ZerosLike(c.G(0)) })
		c.Set("src", func() tt { return c.G(0) })
	})
	row("bernoulli.Tensor bernoulli.float normal.default uniform.default random.default random.from random.to exponential.default normal_functional.default cauchy.default log_normal.default geometric.default poisson.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.ZerosLike(c.G(0)) })
	})
}

func init() {
	// A sample does not move with the parameters that it was drawn by: reparametrised samples are made of standard ones.
	row("normal.Tensor_float normal.Tensor_Tensor normal.float_Tensor", func(c *Ctx) {
		for _, name := range []string{"mean", "std"} {
			if t, ok := c.Arg(name).(*tensor.Tensor); ok {
				c.Set(name, func() tt { return c.T("zeros.default", build.Ints(t.Shape), t.DType) })
			}
		}
	})
}

// unaries holds functions of one operand, by the rules of calculus. Steps have the derivative 0 everywhere.
func unaries() {
	unary("neg", func(c *Ctx, g, x tt) tt { return c.Neg(g) })
	unary("abs", func(c *Ctx, g, x tt) tt { return c.Mul(g, c.Un("sgn", x)) })
	unaryOut("exp", func(c *Ctx, g, y tt) tt { return c.Mul(g, y) })
	unaryOut("exp2", func(c *Ctx, g, y tt) tt { return c.Mul(c.Mul(g, y), math.Ln2) })
	unaryOut("expm1", func(c *Ctx, g, y tt) tt { return c.Mul(g, c.Add(y, int64(1))) })
	unary("log", func(c *Ctx, g, x tt) tt { return c.Div(g, x) })
	unary("log2", func(c *Ctx, g, x tt) tt { return c.Div(g, c.Mul(x, math.Ln2)) })
	unary("log10", func(c *Ctx, g, x tt) tt { return c.Div(g, c.Mul(x, math.Ln10)) })
	unary("log1p", func(c *Ctx, g, x tt) tt { return c.Div(g, c.Add(x, int64(1))) })
	unaryOut("sqrt", func(c *Ctx, g, y tt) tt { return c.Div(g, c.Mul(y, int64(2))) })
	unaryOut("rsqrt", func(c *Ctx, g, y tt) tt { return c.Mul(c.Mul(g, -0.5), c.Pow(y, int64(3))) })
	unaryOut("reciprocal", func(c *Ctx, g, y tt) tt { return c.Mul(c.Neg(g), c.Mul(y, y)) })
	unary("sin", func(c *Ctx, g, x tt) tt { return c.Mul(g, c.Un("cos", x)) })
	unary("cos", func(c *Ctx, g, x tt) tt { return c.Mul(g, c.Neg(c.Un("sin", x))) })
	unaryOut("tan", func(c *Ctx, g, y tt) tt { return c.Mul(g, c.Add(c.Pow(y, int64(2)), int64(1))) })
	unary("asin", func(c *Ctx, g, x tt) tt {
		return c.Mul(g, c.Un("rsqrt", c.Add(c.Mul(c.Neg(x), x), int64(1))))
	})
	unary("acos", func(c *Ctx, g, x tt) tt {
		return c.Mul(g, c.Neg(c.Un("rsqrt", c.Add(c.Mul(c.Neg(x), x), int64(1)))))
	})
	unary("atan", func(c *Ctx, g, x tt) tt { return c.Div(g, c.Add(c.Mul(x, x), int64(1))) })
	unary("sinh", func(c *Ctx, g, x tt) tt { return c.Mul(g, c.Un("cosh", x)) })
	unary("cosh", func(c *Ctx, g, x tt) tt { return c.Mul(g, c.Un("sinh", x)) })
	unary("asinh", func(c *Ctx, g, x tt) tt { return c.Mul(g, c.Un("rsqrt", c.Add(c.Pow(x, int64(2)), int64(1)))) })
	unary("acosh", func(c *Ctx, g, x tt) tt {
		if isComplex(x) { // the root of each factor has the right branch
			return c.Mul(g, c.Mul(c.Un("rsqrt", c.Sub(x, int64(1))), c.Un("rsqrt", c.Add(x, int64(1)))))
		}
		return c.Mul(g, c.Un("rsqrt", c.Sub(c.Mul(x, x), int64(1))))
	})
	unary("atanh", func(c *Ctx, g, x tt) tt {
		return c.Div(c.Mul(g, int64(1)), c.From(int64(1), c.Pow(x, int64(2))))
	})
	unary("erf", func(c *Ctx, g, x tt) tt {
		return c.Mul(c.Mul(c.Un("exp", c.Neg(c.Pow(x, int64(2)))), 2/math.Sqrt(math.Pi)), g)
	})
	unary("erfc", func(c *Ctx, g, x tt) tt {
		return c.Mul(c.Mul(c.Un("exp", c.Neg(c.Pow(x, int64(2)))), -2/math.Sqrt(math.Pi)), g)
	})
	unary("erfinv", func(c *Ctx, g, x tt) tt {
		return c.Mul(c.Mul(c.Un("exp", c.Pow(c.Un("erfinv", x), int64(2))), math.Sqrt(math.Pi)/2), g)
	})
	unary("lgamma", func(c *Ctx, g, x tt) tt { return c.Mul(g, c.Un("digamma", x)) })
	unary("digamma", func(c *Ctx, g, x tt) tt { return c.Mul(g, c.T("polygamma.default", int64(1), x)) })
	unary("sinc", func(c *Ctx, g, x tt) tt {
		px := c.Mul(x, math.Pi)
		num := c.Sub(c.Mul(px, c.Un("cos", px)), c.Un("sin", px))
		r := c.Div(c.Mul(g, num), c.Mul(c.Mul(x, x), math.Pi))
		return c.Where(c.T("eq.Scalar", px, 0.0), c.Scalar(int64(0), g), r)
	})
	row("logit.default", func(c *Ctx) {
		c.Set("self", func() tt {
			x, g := c.In("self"), c.G(0)
			r := c.Div(g, c.Mul(x, c.T("rsub.Scalar", x, int64(1))))
			fill, lo, hi := math.NaN(), 0.0, 1.0
			if eps := c.Arg("eps"); eps != nil {
				fill, lo, hi = 0, build.Float(eps), 1-build.Float(eps)
			}
			out := c.T("logical_or.default", c.T("lt.Scalar", x, lo), c.T("gt.Scalar", x, hi))
			return c.Where(out, c.Scalar(fill, g), r)
		})
	}).usesSelf = true
	row("nan_to_num.default", func(c *Ctx) {
		c.Set("self", func() tt {
			x := c.In("self")
			finite := c.Mul(c.T("eq.Tensor", x, x), c.T("ne.Scalar", c.Un("abs", x), math.Inf(1)))
			return c.Mul(c.G(0), finite)
		})
	}).usesSelf = true
	row("deg2rad.default", func(c *Ctx) { c.Set("self", func() tt { return c.Mul(c.G(0), math.Pi/180) }) })
	row("rad2deg.default", func(c *Ctx) { c.Set("self", func() tt { return c.Mul(c.G(0), 180/math.Pi) }) })
	row("frac.default", func(c *Ctx) { c.Set("self", func() tt { return c.G(0) }) })
	row("ceil.default floor.default round.default round.decimals trunc.default sign.default bernoulli.default bernoulli.p", func(c *Ctx) {
		c.Set("self", func() tt { return c.ZerosLike(c.G(0)) })
	})
}

// activations holds activations by their _backward operators, so that a joint graph looks as PyTorch's.
func activations() {
	unaryOut("sigmoid", func(c *Ctx, g, y tt) tt {
		if isComplex(y) {
			return c.Mul(g, c.Mul(y, c.From(int64(1), y)))
		}
		return c.T("sigmoid_backward.default", g, y)
	})
	unaryOut("tanh", func(c *Ctx, g, y tt) tt {
		if isComplex(y) {
			return c.Mul(g, c.From(int64(1), c.Mul(y, y)))
		}
		return c.T("tanh_backward.default", g, y)
	})
	unaryOut("relu", func(c *Ctx, g, y tt) tt { return c.T("threshold_backward.default", g, y, int64(0)) })
	// Where the backward pass itself may be differentiated, as while a graph of it is traced, PyTorch spells these two out.
	unary("silu", func(c *Ctx, g, x tt) tt {
		if !c.traced {
			return c.T("silu_backward.default", g, x)
		}
		s := c.Un("sigmoid", x)
		return c.Mul(g, c.Mul(s, c.Add(c.Mul(x, c.From(int64(1), s)), int64(1))))
	})
	unary("mish", func(c *Ctx, g, x tt) tt {
		if !c.traced {
			return c.T("mish_backward.default", g, x)
		}
		t := c.Un("tanh", c.T("softplus.default", x))
		s := c.Un("sigmoid", x)
		return c.Mul(g, c.Add(t, c.Mul(c.Mul(x, s), c.From(1.0, c.Mul(t, t)))))
	})
	row("celu.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("elu_backward.default", c.G(0), c.Arg("alpha"), int64(1), 1/build.Float(c.Arg("alpha")), false, c.In("self"))
		})
	}).usesSelf = true
	unary("hardswish", func(c *Ctx, g, x tt) tt { return c.T("hardswish_backward.default", g, x) })
	unary("hardsigmoid", func(c *Ctx, g, x tt) tt { return c.T("hardsigmoid_backward.default", g, x) })
	row("gelu.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.T("gelu_backward.default", c.G(0), c.In("self"), c.Arg("approximate")) })
	}).usesSelf = true
	row("log_sigmoid_forward.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.T("log_sigmoid_backward.default", c.G(0), c.In("self"), c.Out(1)) })
	}).noGrad = map[int]bool{1: true}
	row("threshold.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.T("threshold_backward.default", c.G(0), c.In("self"), c.Arg("threshold")) })
	}).usesSelf = true
	row("hardtanh.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("hardtanh_backward.default", c.G(0), c.In("self"), c.Arg("min_val"), c.Arg("max_val"))
		})
	}).usesSelf = true
	row("leaky_relu.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("leaky_relu_backward.default", c.G(0), c.In("self"), c.Arg("negative_slope"), false)
		})
	}).usesSelf = true
	row("elu.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("elu_backward.default", c.G(0), c.Arg("alpha"), c.Arg("scale"), c.Arg("input_scale"), false, c.In("self"))
		})
	}).usesSelf = true
	row("softplus.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("softplus_backward.default", c.G(0), c.In("self"), c.Arg("beta"), c.Arg("threshold"))
		})
	}).usesSelf = true
	row("softshrink.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.T("softshrink_backward.default", c.G(0), c.In("self"), c.Arg("lambd")) })
	}).usesSelf = true
	row("hardshrink.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.T("hardshrink_backward.default", c.G(0), c.In("self"), c.Arg("lambd")) })
	}).usesSelf = true
	row("_prelu_kernel.default", func(c *Ctx) {
		gs := func() []tt { return c.M("_prelu_kernel_backward.default", c.G(0), c.In("self"), c.In("weight")) }
		var both []tt
		get := func(i int) tt {
			if both == nil {
				both = gs()
			}
			return both[i]
		}
		c.Set("self", func() tt { return get(0) })
		c.Set("weight", func() tt { return get(1) })
	}).usesSelf = true
	row("glu.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.T("glu_backward.default", c.G(0), c.In("self"), c.Arg("dim")) })
	})
	// Second derivatives of the activations that double backward meets most.
	row("sigmoid_backward.default", func(c *Ctx) {
		c.Set("grad_output", func() tt { return c.T("sigmoid_backward.default", c.G(0), c.In("output")) })
		c.Set("output", func() tt {
			return c.Mul(c.Mul(c.G(0), c.In("grad_output")), c.T("rsub.Scalar", c.Mul(c.In("output"), int64(2)), int64(1)))
		})
	})
	row("tanh_backward.default", func(c *Ctx) {
		c.Set("grad_output", func() tt { return c.T("tanh_backward.default", c.G(0), c.In("output")) })
		c.Set("output", func() tt {
			return c.Mul(c.Mul(c.G(0), c.In("grad_output")), c.Mul(c.In("output"), int64(-2)))
		})
	})
	row("threshold_backward.default", func(c *Ctx) {
		c.Set("grad_output", func() tt {
			return c.T("threshold_backward.default", c.G(0), c.In("self"), c.Arg("threshold"))
		})
		c.Set("self", func() tt { return c.ZerosLike(c.G(0)) })
	})
}
