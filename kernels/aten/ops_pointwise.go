package aten

import (
	"math"
	"math/cmplx"

	"whittle/kernels/native"
	"whittle/kernels/tensor"
)

// floatType is the dtype that a float-valued function computes in: ints give the default dtype.
func floatType(d tensor.DType) tensor.DType {
	if d.Kind() < tensor.KindFloat {
		return tensor.DefaultDType
	}
	return d
}

func rtype(vs ...Value) tensor.DType { return tensor.ResultType(vs...) }

// fl registers a float-valued function of its first n arguments.
func fl(names string, n int, k func(c *Call) kern) {
	def(names, func(c *Call) (Value, error) {
		d := floatType(rtype(c.Args[:n]...))
		return c.pwv(c.Args[:n], d, d, k(c))
	})
}

// keep registers a function whose result has the promoted dtype of its first n arguments.
func keep(names string, n int, k func(c *Call) kern) {
	def(names, func(c *Call) (Value, error) {
		d := rtype(c.Args[:n]...)
		kn := k(c)
		if d.Kind() < tensor.KindFloat && kn.I == nil && c.real {
			return nil, kindf(RuntimeError, "\"%s\" not implemented for '%s'", kernelName(c.Op.Sig().Name), cName(d))
		}
		return c.pwv(c.Args[:n], d, d, kn)
	})
}

// pred registers a bool-valued function.
func pred(names string, n int, k kern) {
	def(names, func(c *Call) (Value, error) {
		return c.pwv(c.Args[:n], rtype(c.Args[:n]...), tensor.Bool, k)
	})
}

func (c *Call) pwv(ins []Value, compute, out tensor.DType, k kern) (Value, error) {
	t, err := c.pw(ins, compute, out, k)
	if err != nil {
		return nil, err
	}
	return t, nil
}

func fixed(k kern) func(*Call) kern { return func(*Call) kern { return k } }

func sgn(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func nanMax(a, b float64) float64 { return max(a, b) } // Go's builtins return NaN if either is

func nanMin(a, b float64) float64 { return min(a, b) }

// remainder has the sign of b, as Python's %.
func remainder(a, b float64) float64 {
	m := math.Mod(a, b)
	if m != 0 && (b < 0) != (m < 0) {
		m += b
	}
	return m
}

func floorDiv(a, b float64) float64 {
	if b == 0 {
		return a / b
	}
	m := math.Mod(a, b)
	d := (a - m) / b
	if m != 0 && (b < 0) != (m < 0) {
		d--
	}
	if d == 0 {
		return math.Copysign(0, a/b)
	}
	f := math.Floor(d)
	if d-f > 0.5 {
		f++
	}
	return f
}

func ifloorDiv(a, b int64) int64 {
	q := a / b
	if (a%b != 0) && ((a < 0) != (b < 0)) {
		q--
	}
	return q
}

func iremainder(a, b int64) int64 {
	m := a % b
	if m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m
}

func ipow(a, b int64) int64 {
	if b < 0 {
		switch a {
		case 1:
			return 1
		case -1:
			if b%2 == 0 {
				return 1
			}
			return -1
		}
		return 0
	}
	r := int64(1)
	for ; b > 0; b >>= 1 {
		if b&1 != 0 {
			r *= a
		}
		a *= a
	}
	return r
}

func init() {
	type u struct {
		name string
		f    func(float64) float64
		op   native.Op
	}
	for _, x := range []u{
		{"acos", math.Acos, 0}, {"acosh", math.Acosh, 0}, {"asin", math.Asin, 0}, {"asinh", asinh, 0}, {"atan", math.Atan, 0},
		{"atanh", math.Atanh, 0}, {"cos", math.Cos, native.Cos}, {"cosh", math.Cosh, 0},
		{"deg2rad", func(x float64) float64 { return x * math.Pi / 180 }, 0}, {"rad2deg", func(x float64) float64 { return x * 180 / math.Pi }, 0},
		{"digamma", digamma, 0}, {"erf", math.Erf, native.Erf}, {"erfc", math.Erfc, 0}, {"special_erfcx", erfcx, 0}, {"erfinv", math.Erfinv, 0},
		{"exp", math.Exp, native.Exp}, {"exp2", math.Exp2, 0}, {"expm1", math.Expm1, 0}, {"i0", i0, 0}, {"special_i0e", func(x float64) float64 { return bessIe(0, x) }, 0},
		{"special_i1", i1, 0}, {"special_i1e", func(x float64) float64 { return math.Copysign(bessIe(1, x), x) }, 0},
		{"lgamma", lgamma, 0},
		{"log", math.Log, native.Log}, {"log10", math.Log10, 0}, {"log1p", math.Log1p, 0}, {"log2", math.Log2, 0},
		{"reciprocal", func(x float64) float64 { return 1 / x }, native.Recip}, {"rsqrt", func(x float64) float64 { return 1 / math.Sqrt(x) }, native.Rsqrt},
		{"sigmoid", sigmoid, native.Sigmoid}, {"sin", math.Sin, native.Sin}, {"sinh", math.Sinh, 0}, {"sqrt", math.Sqrt, native.Sqrt},
		{"tan", math.Tan, 0}, {"tanh", math.Tanh, native.Tanh},
		{"special_entr", entr, 0}, {"special_ndtri", ndtri, 0}, {"special_log_ndtr", logNdtr, 0},
		{"special_bessel_j0", bessel(math.J0), 0}, {"special_bessel_j1", bessel(math.J1), 0}, {"special_bessel_y0", bessel(math.Y0), 0}, {"special_bessel_y1", bessel(math.Y1), 0},
		{"special_modified_bessel_i0", i0, 0}, {"special_modified_bessel_i1", i1, 0},
		{"special_modified_bessel_k0", func(x float64) float64 { return bessK(0, x, false) }, 0}, {"special_modified_bessel_k1", func(x float64) float64 { return bessK(1, x, false) }, 0},
		{"special_scaled_modified_bessel_k0", func(x float64) float64 { return bessK(0, x, true) }, 0}, {"special_scaled_modified_bessel_k1", func(x float64) float64 { return bessK(1, x, true) }, 0},
		{"special_spherical_bessel_j0", func(x float64) float64 {
			if math.IsInf(x, 0) {
				return 0
			}
			if math.Abs(x) < 1e-4 {
				return 1 - x*x/6
			}
			return math.Sin(x) / x
		}, 0},
		{"special_airy_ai", airyAi, 0},
	} {
		fl(x.name, 1, fixed(f1(x.f).simd(x.op).c1(complexUnary[x.name])))
	}
	fl("sinc", 1, func(c *Call) kern {
		if rtype(c.Args[0]) == tensor.Float64 {
			return f1(sinc)
		}
		return f1(sinc32)
	})
	same := func(a int64) int64 { return a }
	iabs := func(a int64) int64 {
		if a < 0 {
			return -a
		}
		return a
	}
	isgn := func(a int64) int64 { return b2i(a > 0) - b2i(a < 0) }
	def("abs", func(c *Call) (Value, error) {
		d := c.T(0).DType
		return c.pwv(c.Args[:1], d, d.ToReal(), f1(math.Abs).i1(iabs).simd(native.Abs).c1(func(z complex128) complex128 { return complex(cmplx.Abs(z), 0) }))
	})
	keep("ceil", 1, fixed(f1(math.Ceil).i1(same).simd(native.Ceil)))
	keep("floor", 1, fixed(f1(math.Floor).i1(same).simd(native.Floor)))
	keep("trunc", 1, fixed(f1(math.Trunc).i1(same).simd(native.Trunc)))
	keep("round", 1, fixed(f1(math.RoundToEven).i1(same).simd(native.Round)))
	keep("round.decimals", 1, func(c *Call) kern {
		n := c.I(1)
		p := math.Pow(10, math.Abs(float64(n)))
		return f1(func(x float64) float64 {
			if n < 0 {
				return math.RoundToEven(x/p) * p
			}
			return math.RoundToEven(x*p) / p
		}).i1(same)
	})
	keep("frac", 1, fixed(f1(func(x float64) float64 { return x - math.Trunc(x) })))
	keep("sign", 1, fixed(f1(sgn).i1(isgn)))
	keep("sgn", 1, fixed(f1(sgn).i1(isgn).c1(func(z complex128) complex128 {
		if z == 0 {
			return 0
		}
		return z / complex(cmplx.Abs(z), 0)
	})))
	comp("positive", func(c *Call) (Value, error) {
		if c.T(0).DType == tensor.Bool {
			return nil, errf("The `+` operator, on a bool tensor is not supported.")
		}
		return c.T(0), nil
	})
	def("neg", func(c *Call) (Value, error) {
		d := c.T(0).DType
		if d == tensor.Bool {
			return nil, errf("Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.")
		}
		return c.pwv(c.Args[:1], d, d, f1(func(x float64) float64 { return -x }).i1(func(a int64) int64 { return -a }).simd(native.Neg).c1(func(z complex128) complex128 { return -z }))
	})
	def("relu", func(c *Call) (Value, error) {
		d := c.T(0).DType
		if d == tensor.Bool {
			return nil, errf("Boolean inputs not supported for relu")
		}
		return c.pwv(c.Args[:1], d, d, f1(func(x float64) float64 {
			if x < 0 {
				return 0
			}
			return x
		}).i1(func(a int64) int64 { return max(a, 0) }).simd(native.Relu))
	})
	def("bitwise_not", func(c *Call) (Value, error) {
		d := c.T(0).DType
		if d.IsFloat() && c.real {
			return nil, kindf(RuntimeError, "\"bitwise_not_cpu\" not implemented for '%s'", cName(d))
		}
		f := func(a int64) int64 { return ^a }
		if d == tensor.Bool {
			f = func(a int64) int64 { return 1 - a }
		}
		return c.pwv(c.Args[:1], d, d, kern{}.i1(f))
	})
	pred("logical_not", 1, f1(func(x float64) float64 { return b2f(x == 0) }).i1(func(a int64) int64 { return b2i(a == 0) }))
	no := func(int64) int64 { return 0 }
	pred("isnan", 1, f1(func(x float64) float64 { return b2f(x != x) }).i1(no).c1(func(z complex128) complex128 { return b2c(math.IsNaN(real(z)) || math.IsNaN(imag(z))) }))
	pred("isinf", 1, f1(func(x float64) float64 { return b2f(math.IsInf(x, 0)) }).i1(no).c1(func(z complex128) complex128 { return b2c(cmplx.IsInf(z)) }))
	pred("isposinf", 1, f1(func(x float64) float64 { return b2f(math.IsInf(x, 1)) }).i1(no))
	pred("isneginf", 1, f1(func(x float64) float64 { return b2f(math.IsInf(x, -1)) }).i1(no))
	pred("signbit", 1, f1(func(x float64) float64 { return b2f(math.Signbit(x)) }).i1(func(a int64) int64 { return b2i(a < 0) }))
	def("isfinite isreal", func(c *Call) (Value, error) {
		re := c.Op.Sig().Name == "isreal"
		return c.pwv(c.Args[:1], c.T(0).DType, tensor.Bool, f1(func(x float64) float64 {
			return b2f(re || !math.IsNaN(x) && !math.IsInf(x, 0))
		}).i1(func(int64) int64 { return 1 }).c1(func(z complex128) complex128 {
			if re {
				return b2c(imag(z) == 0)
			}
			return b2c(!cmplx.IsInf(z) && !math.IsNaN(real(z)) && !math.IsNaN(imag(z)))
		}))
	})
	fl("logit", 1, func(c *Call) kern {
		eps, has := c.F(1), !c.None(1)
		return f1(func(x float64) float64 {
			if has {
				x = nanMax(nanMin(x, 1-eps), eps)
			}
			return math.Log(x / (1 - x))
		})
	})
	keep("nan_to_num", 1, func(c *Call) kern {
		hi, lo := math.MaxFloat64, -math.MaxFloat64
		switch c.T(0).DType {
		case tensor.Float32:
			hi, lo = math.MaxFloat32, -math.MaxFloat32
		case tensor.BFloat16:
			hi = float64(tensor.BF16ToF32(0x7f7f))
			lo = -hi
		case tensor.Float16:
			hi, lo = 65504, -65504
		}
		nan := c.F(1)
		if !c.None(2) {
			hi = c.F(2)
		}
		if !c.None(3) {
			lo = c.F(3)
		}
		return f1(func(x float64) float64 {
			switch {
			case x != x:
				return nan
			case math.IsInf(x, 1):
				return hi
			case math.IsInf(x, -1):
				return lo
			}
			return x
		}).i1(same)
	})
	def("polygamma", func(c *Call) (Value, error) {
		n := c.I(0)
		if n < 0 {
			return nil, errf("polygamma(n, x) does not support negative n.")
		}
		d := floatType(c.T(1).DType)
		return c.pwv(c.Args[1:2], d, d, f1(func(x float64) float64 { return polygamma(n, x) }))
	})

	binaryOps()
	activationOps()
}

func binaryOps() {
	// add, sub, rsub: alpha multiplies the second operand.
	arith := func(names string, f func(a, b, s float64) float64, i func(a, b, s int64) int64, op native.Op, bools string) {
		def(names, func(c *Call) (Value, error) {
			d := rtype(c.Args[:2]...)
			alpha := c.Args[2]
			if _, ok := alpha.(float64); ok && d.Kind() < tensor.KindFloat {
				return nil, errf("For integral input tensors, argument alpha must not be a floating point number.")
			}
			if b, ok := alpha.(bool); ok && d != tensor.Bool {
				_ = b
				return nil, errf("Boolean alpha only supported for Boolean results.")
			}
			if d == tensor.Bool && bools != "" {
				return nil, errf("%s", bools)
			}
			sf, si := toFloat(alpha), toInt(alpha)
			k := f2(func(a, b float64) float64 { return f(a, b, sf) }).i2(func(a, b int64) int64 { return i(a, b, si) })
			k = k.c2(complexArith(c.Op.Sig().Name, toComplex(alpha)))
			if sf == 1 {
				k.N = op
			}
			return c.pwv(c.Args[:2], d, d, k)
		})
	}
	noSub := "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead."
	arith("add.Tensor add.Scalar", func(a, b, s float64) float64 { return a + s*b }, func(a, b, s int64) int64 { return a + s*b }, native.Add, "")
	arith("sub.Tensor sub.Scalar", func(a, b, s float64) float64 { return a - s*b }, func(a, b, s int64) int64 { return a - s*b }, native.Sub, noSub)
	arith("rsub.Tensor rsub.Scalar", func(a, b, s float64) float64 { return b - s*a }, func(a, b, s int64) int64 { return b - s*a }, 0, noSub)
	keep("mul.Tensor mul.Scalar", 2, fixed(f2(func(a, b float64) float64 { return a * b }).i2(func(a, b int64) int64 { return a * b }).simd(native.Mul).c2(func(a, b complex128) complex128 { return a * b })))
	fl("div.Tensor div.Scalar", 2, fixed(f2(func(a, b float64) float64 { return a / b }).simd(native.Div).c2(func(a, b complex128) complex128 { return a / b })))
	def("div.Tensor_mode div.Scalar_mode floor_divide floor_divide.Scalar", func(c *Call) (Value, error) {
		mode := "floor"
		if c.Op.Sig().Name == "div" {
			if c.None(2) {
				d := floatType(rtype(c.Args[:2]...))
				return c.pwv(c.Args[:2], d, d, f2(func(a, b float64) float64 { return a / b }).simd(native.Div))
			}
			mode = c.Str(2)
		}
		d := rtype(c.Args[:2]...)
		var zero bool
		k := f2(floorDiv).i2(func(a, b int64) int64 {
			if b == 0 {
				zero = true
				return 0
			}
			return ifloorDiv(a, b)
		})
		switch mode {
		case "floor":
		case "trunc":
			k = f2(func(a, b float64) float64 { return math.Trunc(a / b) }).i2(func(a, b int64) int64 {
				if b == 0 {
					zero = true
					return 0
				}
				return a / b
			})
		default:
			return nil, errf("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '%s'", mode)
		}
		if d == tensor.Float32 && mode == "trunc" {
			k.F = f2(func(a, b float64) float64 { return math.Trunc(float64(float32(a / b))) }).F
		}
		v, err := c.pwv(c.Args[:2], d, d, k)
		if zero {
			return nil, errf("ZeroDivisionError")
		}
		return v, err
	})
	intDiv := func(names string, f func(a, b float64) float64, i func(a, b int64) int64) {
		def(names, func(c *Call) (Value, error) {
			d := rtype(c.Args[:2]...)
			var zero bool
			v, err := c.pwv(c.Args[:2], d, d, f2(f).i2(func(a, b int64) int64 {
				if b == 0 {
					zero = true
					return 0
				}
				return i(a, b)
			}))
			if zero {
				return nil, errf("ZeroDivisionError")
			}
			return v, err
		})
	}
	intDiv("remainder.Tensor remainder.Scalar remainder.Scalar_Tensor", remainder, iremainder)
	intDiv("fmod.Tensor fmod.Scalar", math.Mod, func(a, b int64) int64 { return a % b })
	keep("maximum clamp_min.Tensor", 2, fixed(f2(nanMax).i2(func(a, b int64) int64 { return max(a, b) }).simd(native.Max)))
	keep("minimum clamp_max.Tensor", 2, fixed(f2(nanMin).i2(func(a, b int64) int64 { return min(a, b) }).simd(native.Min)))
	keep("clamp_min", 2, fixed(f2(nanMax).i2(func(a, b int64) int64 { return max(a, b) }).simd(native.Max)))
	keep("clamp_max", 2, fixed(f2(nanMin).i2(func(a, b int64) int64 { return min(a, b) }).simd(native.Min)))
	keep("fmax", 2, fixed(f2(func(a, b float64) float64 {
		if a != a {
			return b
		}
		if b != b {
			return a
		}
		return max(a, b)
	}).i2(func(a, b int64) int64 { return max(a, b) })))
	keep("fmin", 2, fixed(f2(func(a, b float64) float64 {
		if a != a {
			return b
		}
		if b != b {
			return a
		}
		return min(a, b)
	}).i2(func(a, b int64) int64 { return min(a, b) })))
	def("clamp clamp.Tensor", func(c *Call) (Value, error) {
		lo, hi := c.Args[1], c.Args[2]
		if lo == nil && hi == nil {
			return nil, errf("torch.clamp: At least one of 'min' or 'max' must not be None")
		}
		ins := []Value{c.Args[0]}
		if lo != nil {
			ins = append(ins, lo)
		}
		if hi != nil {
			ins = append(ins, hi)
		}
		d := rtype(ins...)
		k := f3(func(x, l, h float64) float64 {
			if x != x {
				return x
			}
			return nanMin(nanMax(x, l), h)
		}).i3(func(x, l, h int64) int64 { return min(max(x, l), h) }).simd(native.Clamping)
		switch {
		case lo == nil:
			k = f2(nanMin).i2(func(a, b int64) int64 { return min(a, b) }).simd(native.Min)
		case hi == nil:
			k = f2(nanMax).i2(func(a, b int64) int64 { return max(a, b) }).simd(native.Max)
		}
		return c.pwv(ins, d, d, k)
	})
	cmp := func(names string, f func(a, b float64) bool, i func(a, b int64) bool) {
		k := f2(func(a, b float64) float64 { return b2f(f(a, b)) }).i2(func(a, b int64) int64 { return b2i(i(a, b)) })
		if names[0] != 'l' || names[1] != 'o' {
			op := names[:2]
			k = kern{F: compare[float64, float64](op), I: compare[int64, int64](op), B: compare[uint8, float64](op), N: comparison[op]}
			switch op {
			case "eq":
				k = k.c2(func(a, b complex128) complex128 { return b2c(a == b) })
			case "ne":
				k = k.c2(func(a, b complex128) complex128 { return b2c(a != b) })
			}
		}
		pred(names, 2, k)
	}
	cmp("eq.Tensor eq.Scalar", func(a, b float64) bool { return a == b }, func(a, b int64) bool { return a == b })
	cmp("ne.Tensor ne.Scalar", func(a, b float64) bool { return a != b }, func(a, b int64) bool { return a != b })
	cmp("lt.Tensor lt.Scalar", func(a, b float64) bool { return a < b }, func(a, b int64) bool { return a < b })
	cmp("le.Tensor le.Scalar", func(a, b float64) bool { return a <= b }, func(a, b int64) bool { return a <= b })
	cmp("gt.Tensor gt.Scalar", func(a, b float64) bool { return a > b }, func(a, b int64) bool { return a > b })
	cmp("ge.Tensor ge.Scalar", func(a, b float64) bool { return a >= b }, func(a, b int64) bool { return a >= b })
	cmp("logical_and", func(a, b float64) bool { return a != 0 && b != 0 }, func(a, b int64) bool { return a != 0 && b != 0 })
	cmp("logical_or", func(a, b float64) bool { return a != 0 || b != 0 }, func(a, b int64) bool { return a != 0 || b != 0 })
	cmp("logical_xor", func(a, b float64) bool { return (a != 0) != (b != 0) }, func(a, b int64) bool { return (a != 0) != (b != 0) })
	keep("bitwise_and.Tensor bitwise_and.Scalar bitwise_and.Scalar_Tensor", 2, fixed(kern{}.i2(func(a, b int64) int64 { return a & b })))
	keep("bitwise_or.Tensor bitwise_or.Scalar bitwise_or.Scalar_Tensor", 2, fixed(kern{}.i2(func(a, b int64) int64 { return a | b })))
	keep("bitwise_xor.Tensor bitwise_xor.Scalar bitwise_xor.Scalar_Tensor", 2, fixed(kern{}.i2(func(a, b int64) int64 { return a ^ b })))
	shl := func(c *Call) kern {
		return kern{}.i2(func(a, b int64) int64 {
			if b < 0 || b >= 64 {
				return 0
			}
			return a << uint(b)
		})
	}
	shr := func(c *Call) kern {
		return kern{}.i2(func(a, b int64) int64 {
			if b < 0 || b >= 64 {
				b = 63
			}
			return a >> uint(b)
		})
	}
	keep("bitwise_left_shift.Tensor bitwise_left_shift.Tensor_Scalar bitwise_left_shift.Scalar_Tensor __lshift__.Tensor __lshift__.Scalar", 2, shl)
	keep("bitwise_right_shift.Tensor bitwise_right_shift.Tensor_Scalar bitwise_right_shift.Scalar_Tensor __rshift__.Tensor __rshift__.Scalar", 2, shr)
	fl("atan2", 2, fixed(f2(math.Atan2)))
	fl("hypot", 2, fixed(f2(math.Hypot)))
	fl("copysign.Tensor copysign.Scalar", 2, fixed(f2(math.Copysign)))
	def("nextafter", func(c *Call) (Value, error) {
		d := rtype(c.Args[:2]...)
		return c.pwv(c.Args[:2], d, d, f2(func(a, b float64) float64 {
			switch d {
			case tensor.Float32:
				return float64(math.Nextafter32(float32(a), float32(b)))
			case tensor.BFloat16:
				return nextBF16(a, b)
			}
			return math.Nextafter(a, b)
		}))
	})
	fl("logaddexp", 2, fixed(f2(func(a, b float64) float64 {
		if math.IsInf(a, 0) && a == b {
			return a
		}
		m := nanMax(a, b)
		return m + math.Log1p(math.Exp(-math.Abs(a-b)))
	})))
	fl("logaddexp2", 2, fixed(f2(func(a, b float64) float64 {
		if math.IsInf(a, 0) && a == b {
			return a
		}
		return nanMax(a, b) + math.Log1p(math.Exp2(-math.Abs(a-b)))/math.Ln2
	})))
	fl("xlogy.Tensor xlogy.Scalar_Self xlogy.Scalar_Other", 2, fixed(f2(func(a, b float64) float64 {
		if b != b {
			return b
		}
		if a == 0 {
			return 0
		}
		return a * math.Log(b)
	})))
	fl("special_xlog1py special_xlog1py.self_scalar special_xlog1py.other_scalar", 2, fixed(f2(func(a, b float64) float64 {
		if b != b {
			return b
		}
		if a == 0 {
			return 0
		}
		return a * math.Log1p(b)
	})))
	fl("special_zeta special_zeta.self_scalar special_zeta.other_scalar", 2, fixed(f2(zeta)))
	fl("igamma", 2, fixed(f2(igamma)))
	fl("igammac", 2, fixed(f2(igammac)))
	keep("gcd", 2, fixed(kern{}.i2(gcd)))
	keep("lcm", 2, fixed(kern{}.i2(func(a, b int64) int64 {
		g := gcd(a, b)
		if g == 0 {
			return 0
		}
		r := a / g * b
		if r < 0 {
			r = -r
		}
		return r
	})))
	keep("heaviside", 2, fixed(f2(func(a, b float64) float64 {
		if a == 0 {
			return b
		}
		return b2f(a > 0)
	}).i2(func(a, b int64) int64 {
		if a == 0 {
			return b
		}
		return b2i(a > 0)
	})))
	poly := func(name string, f func(x float64, n int64) float64) {
		n := "special_" + name
		fl(n+" "+n+".x_scalar "+n+".n_scalar", 2, fixed(f2(func(x, n float64) float64 { return f(x, int64(n)) })))
	}
	polynomials(poly)
	def("pow.Tensor_Tensor pow.Tensor_Scalar pow.Scalar", func(c *Call) (Value, error) {
		d := rtype(c.Args[:2]...)
		if d.Kind() == tensor.KindBool {
			return nil, kindf(RuntimeError, "\"pow\" not implemented for 'Bool'")
		}
		if n, ok := c.Args[1].(int64); ok && n < 0 && d.IsInt() {
			return nil, errf("Integers to negative integer powers are not allowed.")
		}
		k := f2(pow).i2(ipow).c2(cpow)
		if _, isT := c.Args[1].(*tensor.Tensor); !isT && d.IsFloat() {
			switch e := toFloat(c.Args[1]); e {
			case 2:
				return c.pwv(c.Args[:1], d, d, f1(func(x float64) float64 { return x * x }).simd(native.Square))
			case 0.5:
				return c.pwv(c.Args[:1], d, d, f1(math.Sqrt).simd(native.Sqrt))
			case 3:
				return c.pwv(c.Args[:1], d, d, f1(func(x float64) float64 { return x * x * x }).simd(native.Cube))
			}
		}
		return c.pwv(c.Args[:2], d, d, k)
	})
	def("where.self", func(c *Call) (Value, error) {
		cond := c.T(0)
		if cond.DType != tensor.Bool && cond.DType != tensor.UInt8 {
			return nil, errf("where expected condition to be a boolean tensor, but got a tensor with dtype %s", cName(cond.DType))
		}
		d := rtype(c.Args[1:]...)
		return c.pwv(c.Args[:3], d, d, kern{F: choose[float64], I: choose[int64], C: choose[complex128], N: native.Selection})
	})
	mulAdd := func(name string, div bool) {
		def(name, func(c *Call) (Value, error) {
			d := rtype(c.Args[:3]...)
			if div && d.Kind() < tensor.KindFloat {
				return nil, errf("Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / tensor2), for all dtypes.")
			}
			v, iv := c.F(3), c.I(3)
			return c.pwv(c.Args[:3], d, d, f3(func(a, b, x float64) float64 {
				if div {
					return a + v*(b/x)
				}
				return a + v*b*x
			}).i3(func(a, b, x int64) int64 { return a + iv*b*x }).c3(func(a, b, x complex128) complex128 {
				if div {
					return a + toComplex(c.Args[3])*(b/x)
				}
				return a + toComplex(c.Args[3])*b*x
			}))
		})
	}
	mulAdd("addcmul", false)
	mulAdd("addcdiv", true)
	lerp := func(a, b, w float64) float64 {
		if math.Abs(w) < 0.5 {
			return a + w*(b-a)
		}
		return b - (b-a)*(1-w)
	}
	def("lerp.Scalar lerp.Tensor", func(c *Call) (Value, error) {
		a, b := c.T(0), c.T(1)
		if a.DType != b.DType {
			return nil, errf("expected dtype %s for `end` but got dtype %s", lName(a.DType), lName(b.DType))
		}
		if w, ok := c.Args[2].(*tensor.Tensor); ok && w.DType != a.DType {
			return nil, errf("expected dtype %s for `weight` but got dtype %s", lName(a.DType), lName(w.DType))
		}
		return c.pwv(c.Args[:3], a.DType, a.DType, f3(lerp))
	})
	def("isclose", func(c *Call) (Value, error) {
		a, b := c.T(0), c.T(1)
		if a.DType != b.DType {
			return nil, errf("%s did not match %s", cName(a.DType), cName(b.DType))
		}
		rtol, atol, eqnan := c.F(2), c.F(3), c.B(4)
		return c.pwv(c.Args[:2], a.DType, tensor.Bool, f2(func(a, b float64) float64 {
			if a == b || eqnan && a != a && b != b {
				return 1
			}
			d := math.Abs(a - b)
			return b2f(!math.IsInf(d, 0) && d <= atol+math.Abs(rtol*b))
		}).i2(func(a, b int64) int64 {
			return b2i(a == b || math.Abs(float64(a-b)) <= atol+math.Abs(rtol*float64(b)))
		}))
	})
	def("frexp.Tensor", func(c *Call) (Value, error) {
		x := c.T(0)
		if !x.DType.IsFloat() {
			return nil, errf("torch.frexp() only supports floating-point dtypes")
		}
		m, err := c.pw(c.Args[:1], x.DType, x.DType, f1(func(x float64) float64 {
			f, _ := math.Frexp(x)
			return f
		}))
		if err != nil {
			return nil, err
		}
		e, err := c.pw(c.Args[:1], x.DType, tensor.Int32, f1(func(x float64) float64 {
			_, e := math.Frexp(x)
			return float64(e)
		}))
		return []Value{m, e}, err
	})
}

// lName is a dtype as messages with TypeMeta spell it: c10::Half and so on.
func lName(d tensor.DType) string {
	switch d {
	case tensor.Float32:
		return "float"
	case tensor.Float64:
		return "double"
	case tensor.Float16:
		return "c10::Half"
	case tensor.BFloat16:
		return "c10::BFloat16"
	case tensor.Int64:
		return "long int"
	case tensor.Int32:
		return "int"
	case tensor.Int16:
		return "short int"
	case tensor.Int8:
		return "signed char"
	case tensor.UInt8:
		return "unsigned char"
	case tensor.Bool:
		return "bool"
	}
	return d.String()
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	if a < 0 {
		return -a
	}
	return a
}

func pow(a, b float64) float64 { return math.Pow(a, b) }

func nextBF16(a, b float64) float64 {
	if a != a || b != b {
		return math.NaN()
	}
	if a == b {
		return b
	}
	h := tensor.F32ToBF16(float32(a))
	switch {
	case a == 0:
		h = 1
		if b < 0 {
			h |= 0x8000
		}
	case (a < b) == (a > 0):
		h++
	default:
		h--
	}
	return float64(tensor.BF16ToF32(h))
}

func activationOps() {
	fl("silu", 1, fixed(f1(func(x float64) float64 { return x / (1 + math.Exp(-x)) }).simd(native.Silu)))
	fl("mish", 1, fixed(f1(func(x float64) float64 { return x * math.Tanh(softplus(x)) })))
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
			})
		}
		return f2(func(g, x float64) float64 {
			return g * (0.5*(1+math.Erf(x*math.Sqrt2/2)) + x*math.Exp(-0.5*x*x)*0.39894228040143267794)
		})
	})
	keep("elu", 1, func(c *Call) kern {
		a, s, is := c.F(1), c.F(2), c.F(3)
		return f1(func(x float64) float64 {
			if x < 0 {
				return math.Expm1(x*is) * a * s
			}
			return x * s
		})
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
		}))
	})
	keep("leaky_relu", 1, func(c *Call) kern {
		s := c.F(1)
		return f1(func(x float64) float64 {
			if x > 0 {
				return x
			}
			return x * s
		})
	})
	keep("leaky_relu_backward", 2, func(c *Call) kern {
		s := c.F(2)
		return f2(func(g, x float64) float64 {
			if x > 0 {
				return g
			}
			return g * s
		})
	})
	keep("hardtanh", 1, func(c *Call) kern {
		lo, hi := c.F(1), c.F(2)
		return f1(func(x float64) float64 {
			if x != x {
				return x
			}
			return min(max(x, lo), hi)
		}).i1(func(a int64) int64 { return min(max(a, int64(lo)), int64(hi)) })
	})
	keep("hardtanh_backward", 2, func(c *Call) kern {
		lo, hi := c.limit(2), c.limit(3)
		return f2(func(g, x float64) float64 {
			if x <= lo || x >= hi {
				return 0
			}
			return g
		})
	})
	keep("hardsigmoid", 1, fixed(f1(func(x float64) float64 { return nanMin(nanMax(x+3, 0), 6) / 6 })))
	keep("hardsigmoid_backward", 2, fixed(f2(func(g, x float64) float64 {
		if x > -3 && x < 3 {
			return g / 6
		}
		return 0
	})))
	keep("hardswish", 1, fixed(f1(func(x float64) float64 { return x * nanMin(nanMax(x+3, 0), 6) / 6 })))
	keep("hardswish_backward", 2, fixed(f2(func(g, x float64) float64 {
		switch {
		case x < -3:
			return 0
		case x <= 3:
			return g * (x/3 + 0.5)
		}
		return g
	})))
	keep("softplus", 1, func(c *Call) kern {
		b, th, d := c.limit(1), c.limit(2), opMath(c.T(0).DType)
		return f1(func(x float64) float64 {
			if tensor.RoundTo(d, x*b) > th {
				return x
			}
			return math.Log1p(math.Exp(x*b)) / b
		})
	})
	keep("softplus_backward", 2, func(c *Call) kern {
		b, th, d := c.limit(2), c.limit(3), opMath(c.T(0).DType)
		return f2(func(g, x float64) float64 {
			if tensor.RoundTo(d, x*b) > th {
				return g
			}
			z := math.Exp(x * b)
			return g * z / (z + 1)
		})
	})
	keep("hardshrink", 1, func(c *Call) kern {
		l := tensor.RoundTo(c.T(0).DType, c.F(1))
		return f1(func(x float64) float64 {
			if x >= -l && x <= l {
				return 0
			}
			return x
		})
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
		})
	})
	keep("hardshrink_backward softshrink_backward", 2, func(c *Call) kern {
		l := tensor.RoundTo(c.T(0).DType, c.F(2))
		return f2(func(g, x float64) float64 {
			if x >= -l && x <= l {
				return 0
			}
			return g
		})
	})
	keep("threshold", 1, func(c *Call) kern {
		t, v := c.limit(1), c.F(2)
		return f1(func(x float64) float64 {
			if x <= t {
				return v
			}
			return x
		}).i1(func(a int64) int64 {
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
		}).i2(func(g, x int64) int64 {
			if float64(x) <= t {
				return 0
			}
			return g
		})
	})
	fl("sigmoid_backward", 2, fixed(f2(func(g, y float64) float64 { return g * (1 - y) * y })))
	fl("tanh_backward", 2, fixed(f2(func(g, y float64) float64 { return g * (1 - y*y) })))
	keep("silu_backward", 2, fixed(f2(func(g, x float64) float64 {
		s := sigmoid(x)
		return g * s * (1 + x*(1-s))
	})))
	keep("mish_backward", 2, fixed(f2(func(g, x float64) float64 {
		s, t := sigmoid(x), math.Tanh(softplus(x))
		return g * (t + x*s*(1-t*t))
	})))
	def("log_sigmoid_forward", func(c *Call) (Value, error) {
		x := c.T(0)
		y, err := c.pw(c.Args[:1], x.DType, x.DType, f1(logSigmoid))
		if err != nil {
			return nil, err
		}
		// The buffer holds exp(-|x|) where PyTorch vectorises; its layout is the input's.
		b, err := c.pw(c.Args[:1], x.DType, x.DType, f1(func(x float64) float64 { return math.Exp(-math.Abs(x)) }))
		return []Value{y, b}, err
	})
	keep("log_sigmoid_backward", 2, fixed(f2(func(g, x float64) float64 { return g * (1 - sigmoid(x)) })))
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
		}))
	})
	def("_prelu_kernel", func(c *Call) (Value, error) {
		d := rtype(c.Args[:2]...)
		return c.pwv(c.Args[:2], d, d, f2(func(x, w float64) float64 {
			if x > 0 {
				return x
			}
			return w * x
		}))
	})
	def("_prelu_kernel_backward", func(c *Call) (Value, error) {
		d := rtype(c.Args[:3]...)
		gx, err := c.pw(c.Args[:3], d, d, f3(func(g, x, w float64) float64 {
			if x > 0 {
				return g
			}
			return w * g
		}))
		if err != nil {
			return nil, err
		}
		gw, err := c.pw(c.Args[:3], d, d, f3(func(g, x, w float64) float64 {
			if x > 0 {
				return 0
			}
			return x * g
		}))
		return []Value{gx, gw}, err
	})
}

func softplus(x float64) float64 { return math.Log1p(math.Exp(-math.Abs(x))) + max(x, 0) }

func logSigmoid(x float64) float64 { return min(0, x) - math.Log1p(math.Exp(-math.Abs(x))) }
