package aten

import (
	"math"

	"whittle/kernels/native"
	"whittle/kernels/tensor"
)

// Activations and their gradients. Formulas are those of PyTorch's CPU kernels, since results have to agree to the last digits: softplus, say,
// is the identity above a threshold, and gelu has two forms. Gradients take either the input or the result, whichever PyTorch saves.

func activationOps() {
	fl("silu", 1, fixed(f1(func(x float64) float64 { return x / (1 + math.Exp(-x)) }).simd(native.Silu)))
	fl("mish", 1, fixed(f1(func(x float64) float64 { return x * math.Tanh(softplus(x)) }).simd(native.Mish)))
	keep("gelu", 1, func(c *Call) kern {
		if c.Str(1) == "tanh" {
			return f1(func(x float64) float64 {
				return 0.5 * x * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
			}).simd(native.GeluTanh)
		}
		return f1(func(x float64) float64 { return 0.5 * x * (1 + math.Erf(x*math.Sqrt2/2)) }).simd(native.Gelu)
	})
	keep("gelu_backward", 2, func(c *Call) kern {
		if c.Str(2) == "tanh" {
			return f2(func(g, x float64) float64 {
				const kb = 0.79788456080286535588
				in := kb * (x + 0.044715*x*x*x)
				t := math.Tanh(in)
				return g * (0.5*(1+t) + 0.5*x*(1-t*t)*kb*(1+3*0.044715*x*x))
			}).simd(native.GeluTanhBack)
		}
		return f2(func(g, x float64) float64 {
			return g * (0.5*(1+math.Erf(x*math.Sqrt2/2)) + x*math.Exp(-0.5*x*x)*0.39894228040143267794)
		}).simd(native.GeluBack)
	})
	keep("elu", 1, func(c *Call) kern {
		a, s, is := c.F(1), c.F(2), c.F(3)
		return f1(func(x float64) float64 {
			if x < 0 {
				return math.Expm1(x*is) * a * s
			}
			return x * s
		}).simd(native.Elu, a, s, is)
	})
	def("elu_backward", func(c *Call) (Value, error) {
		a, s, is, res := c.F(1), c.F(2), c.F(3), c.B(4)
		d := c.T(5).DType
		return c.pwv([]Value{c.Args[0], c.Args[5]}, d, d, f2(func(g, x float64) float64 {
			switch {
			case x > 0:
				return g * s
			case res:
				return g * is * (x + a*s)
			}
			return g * is * a * s * math.Exp(x*is)
		}).simd(native.EluBack, a, s, is, b2f(res)))
	})
	keep("leaky_relu", 1, func(c *Call) kern {
		s := c.F(1)
		return f1(func(x float64) float64 {
			if x > 0 {
				return x
			}
			return x * s
		}).simd(native.Leaky, s)
	})
	keep("leaky_relu_backward", 2, func(c *Call) kern {
		s := c.F(2)
		return f2(func(g, x float64) float64 {
			if x > 0 {
				return g
			}
			return g * s
		}).simd(native.LeakyBack, s)
	})
	keep("hardtanh", 1, func(c *Call) kern {
		lo, hi := c.F(1), c.F(2)
		return f1(func(x float64) float64 {
			if x != x {
				return x
			}
			return min(max(x, lo), hi)
		}).simd(native.Hardtanh, lo, hi).i1(func(a int64) int64 { return min(max(a, int64(lo)), int64(hi)) })
	})
	keep("hardtanh_backward", 2, func(c *Call) kern {
		lo, hi := c.limit(2), c.limit(3)
		return f2(func(g, x float64) float64 {
			if x <= lo || x >= hi {
				return 0
			}
			return g
		}).simd(native.HardtanhBack, lo, hi)
	})
	keep("hardsigmoid", 1, fixed(f1(func(x float64) float64 { return nanMin(nanMax(x+3, 0), 6) / 6 }).simd(native.Hardsigmoid)))
	keep("hardsigmoid_backward", 2, fixed(f2(func(g, x float64) float64 {
		if x > -3 && x < 3 {
			return g / 6
		}
		return 0
	}).simd(native.HardsigmoidBack)))
	keep("hardswish", 1, fixed(f1(func(x float64) float64 { return x * nanMin(nanMax(x+3, 0), 6) / 6 }).simd(native.Hardswish)))
	keep("hardswish_backward", 2, fixed(f2(func(g, x float64) float64 {
		switch {
		case x < -3:
			return 0
		case x <= 3:
			return g * (x/3 + 0.5)
		}
		return g
	}).simd(native.HardswishBack)))
	keep("softplus", 1, func(c *Call) kern {
		b, th, d := c.limit(1), c.limit(2), opMath(c.T(0).DType)
		return f1(func(x float64) float64 {
			if tensor.RoundTo(d, x*b) > th {
				return x
			}
			return math.Log1p(math.Exp(x*b)) / b
		}).simd(native.Softplus, b, th)
	})
	keep("softplus_backward", 2, func(c *Call) kern {
		b, th, d := c.limit(2), c.limit(3), opMath(c.T(0).DType)
		return f2(func(g, x float64) float64 {
			if tensor.RoundTo(d, x*b) > th {
				return g
			}
			z := math.Exp(x * b)
			return g * z / (z + 1)
		}).simd(native.SoftplusBack, b, th)
	})
	keep("hardshrink", 1, func(c *Call) kern {
		l := tensor.RoundTo(c.T(0).DType, c.F(1))
		return f1(func(x float64) float64 {
			if x >= -l && x <= l {
				return 0
			}
			return x
		}).simd(native.Hardshrink, l)
	})
	keep("softshrink", 1, func(c *Call) kern {
		l := c.limit(1)
		return f1(func(x float64) float64 {
			switch {
			case x > l:
				return x - l
			case x < -l:
				return x + l
			}
			return x * 0
		}).simd(native.Softshrink, l)
	})
	keep("hardshrink_backward softshrink_backward", 2, func(c *Call) kern {
		l := tensor.RoundTo(c.T(0).DType, c.F(2))
		return f2(func(g, x float64) float64 {
			if x >= -l && x <= l {
				return 0
			}
			return g
		}).simd(native.ShrinkBack, l)
	})
	keep("threshold", 1, func(c *Call) kern {
		t, v := c.limit(1), c.F(2)
		return f1(func(x float64) float64 {
			if x <= t {
				return v
			}
			return x
		}).simd(native.Threshold, t, v).i1(func(a int64) int64 {
			if float64(a) <= t {
				return int64(v)
			}
			return a
		})
	})
	keep("threshold_backward", 2, func(c *Call) kern {
		t := c.limit(2)
		return f2(func(g, x float64) float64 {
			if x <= t {
				return 0
			}
			return g
		}).simd(native.ThresholdBack, t).i2(func(g, x int64) int64 {
			if float64(x) <= t {
				return 0
			}
			return g
		})
	})
	fl("sigmoid_backward", 2, fixed(f2(func(g, y float64) float64 { return g * (1 - y) * y }).simd(native.SigmoidBack)))
	fl("tanh_backward", 2, fixed(f2(func(g, y float64) float64 { return g * (1 - y*y) }).simd(native.TanhBack)))
	keep("silu_backward", 2, fixed(f2(func(g, x float64) float64 {
		s := sigmoid(x)
		return g * s * (1 + x*(1-s))
	}).simd(native.SiluBack)))
	keep("mish_backward", 2, fixed(f2(func(g, x float64) float64 {
		s, t := sigmoid(x), math.Tanh(softplus(x))
		return g * (t + x*s*(1-t*t))
	}).simd(native.MishBack)))
	def("log_sigmoid_forward", func(c *Call) (Value, error) {
		x := c.T(0)
		y, err := c.pw(c.Args[:1], x.DType, x.DType, f1(logSigmoid).simd(native.Logsigmoid))
		if err != nil {
			return nil, err
		}
		// The buffer holds exp(-|x|) where PyTorch vectorises; its layout is the input's.
		b, err := c.pw(c.Args[:1], x.DType, x.DType, f1(func(x float64) float64 { return math.Exp(-math.Abs(x)) }).simd(native.Decay))
		return []Value{y, b}, err
	})
	keep("log_sigmoid_backward", 2, fixed(f2(func(g, x float64) float64 { return g * (1 - sigmoid(x)) }).simd(native.LogsigmoidBack)))
	def("logit_backward", func(c *Call) (Value, error) {
		eps, has := c.F(2), !c.None(2)
		d := rtype(c.Args[:2]...)
		return c.pwv(c.Args[:2], d, d, f2(func(g, x float64) float64 {
			if has && (x < eps || x > 1-eps) {
				return 0
			}
			if !has && (x < 0 || x > 1) {
				return math.NaN()
			}
			return g / (x * (1 - x))
		}).simd(native.LogitBack, eps, b2f(has)))
	})
	def("_prelu_kernel", func(c *Call) (Value, error) {
		d := rtype(c.Args[:2]...)
		return c.pwv(c.Args[:2], d, d, f2(func(x, w float64) float64 {
			if x > 0 {
				return x
			}
			return w * x
		}).simd(native.PRelu))
	})
	def("_prelu_kernel_backward", func(c *Call) (Value, error) {
		d := rtype(c.Args[:3]...)
		gx, err := c.pw(c.Args[:3], d, d, f3(func(g, x, w float64) float64 {
			if x > 0 {
				return g
			}
			return w * g
		}).simd(native.PReluBack))
		if err != nil {
			return nil, err
		}
		gw, err := c.pw(c.Args[:3], d, d, f3(func(g, x, w float64) float64 {
			if x > 0 {
				return 0
			}
			return x * g
		}).simd(native.PReluBackW))
		return []Value{gx, gw}, err
	})
}

// softplus is log(1 + exp(x)), in a form in which nothing overflows.
func softplus(x float64) float64 { return math.Log1p(math.Exp(-math.Abs(x))) + max(x, 0) }

// logSigmoid is -softplus(-x), in the same form.
func logSigmoid(x float64) float64 { return min(0, x) - math.Log1p(math.Exp(-math.Abs(x))) }
