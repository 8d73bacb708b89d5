package aten

import (
	"math"
	"math/cmplx"
	"sync"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Functions of single elements, one row each. A row names the function on float64 and, where they differ, on integers and complex numbers, and
// the SIMD kernel that does the same on float32.
//
// Three things follow from how a row is registered. fl: the result is a float, integers being promoted to the default dtype first. keep: the
// result has the dtype that the operands are promoted to. pred: the result is bool. Operands are broadcast, and 16-bit floats are computed in
// float32 and rounded once at the end; see pwv and pointwise.go.

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

// pwv is pw as a Fn wants it.
func (c *Call) pwv(ins []Value, compute, out tensor.DType, k kern) (Value, error) {
	t, err := c.pw(ins, compute, out, k)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// fixed is a kern that does not depend on the call.
func fixed(k kern) func(*Call) kern { return func(*Call) kern { return k } }

// test is a predicate: k, or by SIMD a comparison with a number, or where that is NaN with the element itself.
func (c *Call) test(k kern, op native.Op, with float64) (Value, error) {
	t := c.T(0)
	if t.DType != tensor.Float32 && t.DType != tensor.Float64 {
		return c.pwv(c.Args[:1], t.DType, tensor.Bool, k)
	}
	other := Value(with)
	if with != with {
		other = t
	}
	f := k.F
	k.F = func(o []float64, in [][]float64) { f(o, in[:1]) }
	return c.pwv([]Value{t, other}, t.DType, tensor.Bool, k.simd(op))
}

func sgn(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// sigmoid is the logistic function.
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

// floorDiv is Python's //: it is made of the exact remainder, since the quotient itself may round up to the next integer.
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

// ifloorDiv is floorDiv for integers; b is not zero.
func ifloorDiv(a, b int64) int64 {
	q := a / b
	if (a%b != 0) && ((a < 0) != (b < 0)) {
		q--
	}
	return q
}

// iremainder is remainder for integers; b is not zero.
func iremainder(a, b int64) int64 {
	m := a % b
	if m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m
}

// IntPow is a power of integers, which wraps around; a negative exponent gives what an integer can hold of it: 0, 1 or -1.
func IntPow(a, b int64) int64 {
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
		{"acos", math.Acos, native.Acos}, {"acosh", math.Acosh, native.Acosh}, {"asin", math.Asin, native.Asin}, {"asinh", asinh, native.Asinh}, {"atan", math.Atan, native.Atan},
		{"atanh", math.Atanh, native.Atanh}, {"cos", math.Cos, native.Cos}, {"cosh", math.Cosh, native.Cosh},
		{"digamma", digamma, 0}, {"erf", math.Erf, native.Erf}, {"erfc", math.Erfc, native.Erfc}, {"special_erfcx", erfcx, 0}, {"erfinv", math.Erfinv, 0},
		{"exp", math.Exp, native.Exp}, {"exp2", math.Exp2, native.Exp2}, {"expm1", math.Expm1, native.Expm1}, {"i0", i0, 0}, {"special_i0e", func(x float64) float64 { return bessIe(0, x) }, 0},
		{"special_i1", i1, 0}, {"special_i1e", func(x float64) float64 { return math.Copysign(bessIe(1, x), x) }, 0},
		{"lgamma", lgamma, native.Lgamma},
		{"log", math.Log, native.Log}, {"log10", math.Log10, native.Log10}, {"log1p", math.Log1p, native.Log1p}, {"log2", math.Log2, native.Log2},
		{"reciprocal", func(x float64) float64 { return 1 / x }, native.Recip}, {"rsqrt", func(x float64) float64 { return 1 / math.Sqrt(x) }, native.Rsqrt},
		{"sigmoid", sigmoid, native.Sigmoid}, {"sin", math.Sin, native.Sin}, {"sinh", math.Sinh, native.Sinh}, {"sqrt", math.Sqrt, native.Sqrt},
		{"tan", math.Tan, native.Tan}, {"tanh", math.Tanh, native.Tanh},
		{"special_entr", entr, native.Entr}, {"special_ndtri", ndtri, 0}, {"special_log_ndtr", logNdtr, 0},
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
		k := f1(x.f).simd(x.op).c1(complexUnary[x.name])
		if x.op == 0 {
			k = k.pieces(native.NewPieces(x.f))
		}
		fl(x.name, 1, fixed(k))
	}
	degrees := func(name string, factor float64) {
		k := f2(func(x, y float64) float64 { return x * y }).simd(native.Mul)
		def(name, func(c *Call) (Value, error) {
			d := floatType(rtype(c.Args[0]))
			return c.pwv([]Value{c.Args[0], factor}, d, d, k)
		})
	}
	degrees("deg2rad", math.Pi/180)
	degrees("rad2deg", 180/math.Pi)
	fl("sinc", 1, func(c *Call) kern {
		if rtype(c.Args[0]) == tensor.Float64 {
			return f1(sinc)
		}
		k := f1(sinc32).c1(func(z complex128) complex128 {
			if z == 0 {
				return 1
			}
			return cmplx.Sin(math.Pi*z) / (math.Pi * z)
		})
		k.S = func(out []float32, in [][]float32) { sincs(out, in[0]) }
		return k
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
		p, op := math.Pow(10, math.Abs(float64(n))), native.RoundUp
		if n < 0 {
			op = native.RoundDown
		}
		work := c.T(0).DType // what is halfway is told of the product as it is kept
		if work != tensor.Float64 {
			work = tensor.Float32
		}
		return f1(func(x float64) float64 {
			if n < 0 {
				return math.RoundToEven(tensor.RoundTo(work, x/p)) * p
			}
			return math.RoundToEven(tensor.RoundTo(work, x*p)) / p
		}).simd(op, p).i1(same)
	})
	keep("frac", 1, fixed(f1(func(x float64) float64 { return x - math.Trunc(x) }).simd(native.Frac)))
	keep("sign", 1, fixed(f1(sgn).simd(native.Sign).i1(isgn)))
	keep("sgn", 1, fixed(f1(sgn).simd(native.Sign).i1(isgn).c1(func(z complex128) complex128 {
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
		ones := int64(-1)
		if d == tensor.Bool {
			ones = 1
		}
		return c.pwv([]Value{c.Args[0], ones}, d, d, kern{}.i2(func(a, b int64) int64 { return a ^ b }).simd(native.Xor))
	})
	not := f1(func(x float64) float64 { return b2f(x == 0) }).i1(func(a int64) int64 { return b2i(a == 0) })
	def("logical_not", func(c *Call) (Value, error) {
		if c.T(0).DType == tensor.Bool {
			return c.do("bitwise_not", c.Args[0])
		}
		return c.test(not, native.Eq, 0)
	})
	no := func(int64) int64 { return 0 }
	// Predicates are comparisons of an element with itself or a number, for those types that have them.
	tested := func(name string, k kern, op native.Op, with float64) {
		def(name, func(c *Call) (Value, error) { return c.test(k, op, with) })
	}
	inf := math.Inf(1)
	tested("isnan", f1(func(x float64) float64 { return b2f(x != x) }).i1(no).c1(func(z complex128) complex128 { return b2c(math.IsNaN(real(z)) || math.IsNaN(imag(z))) }), native.Ne, math.NaN())
	tested("isinf", f1(func(x float64) float64 { return b2f(math.IsInf(x, 0)) }).i1(no).c1(func(z complex128) complex128 { return b2c(cmplx.IsInf(z)) }), native.Beyond, inf)
	tested("isposinf", f1(func(x float64) float64 { return b2f(math.IsInf(x, 1)) }).i1(no), native.Eq, inf)
	tested("isneginf", f1(func(x float64) float64 { return b2f(math.IsInf(x, -1)) }).i1(no), native.Eq, -inf)
	sign := f1(func(x float64) float64 { return b2f(math.Signbit(x)) }).i1(func(a int64) int64 { return b2i(a < 0) })
	def("signbit", func(c *Call) (Value, error) {
		t := c.T(0)
		if !c.real || t.DType != tensor.Float32 || !t.IsNonOverlappingAndDense() || t.Numel() == 0 {
			return c.pwv(c.Args[:1], t.DType, tensor.Bool, sign)
		}
		o := c.NewUnset(tensor.Bool, t.Shape, tensor.PointwiseStrides(t.Shape, t))
		in, out := tensor.Raw[uint32](t), tensor.Raw[uint8](o)
		parallel.For(int(t.Numel()), grain, func(lo, hi int) {
			out := out[lo:hi]
			for i, b := range in[lo:hi] {
				out[i] = uint8(b >> 31)
			}
		})
		return o, nil
	})
	def("isfinite isreal", func(c *Call) (Value, error) {
		re := c.Op.Sig().Name == "isreal"
		most := math.MaxFloat64
		if c.T(0).DType == tensor.Float32 {
			most = math.MaxFloat32
		}
		k := f1(func(x float64) float64 {
			return b2f(re || !math.IsNaN(x) && !math.IsInf(x, 0))
		}).i1(func(int64) int64 { return 1 }).c1(func(z complex128) complex128 {
			if re {
				return b2c(imag(z) == 0)
			}
			return b2c(!cmplx.IsInf(z) && !math.IsNaN(real(z)) && !math.IsNaN(imag(z)))
		})
		if re && (c.T(0).DType.Kind() == tensor.KindComplex || !c.real) {
			return c.pwv(c.Args[:1], c.T(0).DType, tensor.Bool, k)
		}
		if re { // all are
			t := c.T(0)
			o := c.NewUnset(tensor.Bool, t.Shape, tensor.PointwiseStrides(t.Shape, t))
			if b := o.Storage.Data; len(b) > 0 {
				b[0] = 1
				for n := 1; n < len(b); n *= 2 {
					copy(b[n:], b[:n])
				}
			}
			return o, nil
		}
		return c.test(k, native.Within, most)
	})
	fl("logit", 1, func(c *Call) kern {
		eps, has := c.F(1), !c.None(1)
		return f1(func(x float64) float64 {
			if has {
				x = nanMax(nanMin(x, 1-eps), eps)
			}
			return math.Log(x / (1 - x))
		}).simd(native.Logit, eps, b2f(has))
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
		}).simd(native.NanToNum, nan, hi, lo).i1(same)
	})
	def("polygamma", func(c *Call) (Value, error) {
		n := c.I(0)
		if n < 0 {
			return nil, errf("polygamma(n, x) does not support negative n.")
		}
		d := floatType(c.T(1).DType)
		return c.pwv(c.Args[1:2], d, d, polygammaOf(n))
	})

	binaryOps()
	activationOps()
}

// polygammas are the kerns of polygamma by its order.
var polygammas sync.Map

func polygammaOf(n int64) kern {
	if k, ok := polygammas.Load(n); ok {
		return k.(kern)
	}
	f := func(x float64) float64 { return polygamma(n, x) }
	k := f1(f).pieces(native.NewPieces(func(x float64) float64 { return polygammaTo(n, x, epsilon32) }))
	if n < 16 { // there may be as many as there are numbers
		polygammas.Store(n, k)
	}
	return k
}
