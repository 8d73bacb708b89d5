package aten

import (
	"math"
	"math/cmplx"
	"strings"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Functions of pairs of elements: arithmetic, comparisons, bits. Both operands are promoted to one dtype before anything is computed, so int8
// plus int64 does not wrap around at 127; numbers promote as PyTorch's wrapped numbers do: they may change the kind of a dtype, but not its
// width. Integers wrap around, and division and remainder by zero are errors for them, as in PyTorch.

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
			switch {
			case sf == 1 && op != 0:
				k.N = op
			case op == native.Add:
				k = k.simd(native.AddTimes, sf)
			case op == native.Sub:
				k = k.simd(native.SubTimes, sf)
			default:
				k = k.simd(native.RsubTimes, sf)
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
		k := f2(floorDiv).simd(native.FloorDiv).i2(func(a, b int64) int64 {
			if b == 0 {
				zero = true
				return 0
			}
			return ifloorDiv(a, b)
		})
		switch mode {
		case "floor":
		case "trunc":
			k = f2(func(a, b float64) float64 { return math.Trunc(a / b) }).simd(native.TruncDiv).i2(func(a, b int64) int64 {
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
	intDiv := func(names string, op native.Op, f func(a, b float64) float64, i func(a, b int64) int64) {
		def(names, func(c *Call) (Value, error) {
			d := rtype(c.Args[:2]...)
			var zero bool
			v, err := c.pwv(c.Args[:2], d, d, f2(f).simd(op).i2(func(a, b int64) int64 {
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
	intDiv("remainder.Tensor remainder.Scalar remainder.Scalar_Tensor", native.Remainder, remainder, iremainder)
	intDiv("fmod.Tensor fmod.Scalar", native.Fmod, math.Mod, func(a, b int64) int64 { return a % b })
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
	}).simd(native.FMax).i2(func(a, b int64) int64 { return max(a, b) })))
	keep("fmin", 2, fixed(f2(func(a, b float64) float64 {
		if a != a {
			return b
		}
		if b != b {
			return a
		}
		return min(a, b)
	}).simd(native.FMin).i2(func(a, b int64) int64 { return min(a, b) })))
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
		if logical, ok := logicals[names]; ok {
			def(names, func(c *Call) (Value, error) {
				d, k := rtype(c.Args[:2]...), k
				k.N = logical[1]
				if d == tensor.Bool {
					k.N = logical[0]
				}
				return c.pwv(c.Args[:2], d, tensor.Bool, k)
			})
			return
		} else {
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
	keep("bitwise_and.Tensor bitwise_and.Scalar bitwise_and.Scalar_Tensor", 2, fixed(kern{}.i2(func(a, b int64) int64 { return a & b }).simd(native.And)))
	keep("bitwise_or.Tensor bitwise_or.Scalar bitwise_or.Scalar_Tensor", 2, fixed(kern{}.i2(func(a, b int64) int64 { return a | b }).simd(native.Or)))
	keep("bitwise_xor.Tensor bitwise_xor.Scalar bitwise_xor.Scalar_Tensor", 2, fixed(kern{}.i2(func(a, b int64) int64 { return a ^ b }).simd(native.Xor)))
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
	fl("atan2", 2, fixed(f2(math.Atan2).simd(native.Atan2)))
	fl("hypot", 2, fixed(f2(math.Hypot).simd(native.Hypot)))
	fl("copysign.Tensor copysign.Scalar", 2, fixed(f2(math.Copysign).simd(native.Copysign)))
	def("nextafter", func(c *Call) (Value, error) {
		d := rtype(c.Args[:2]...)
		op := native.NextAfter
		if d != tensor.Float32 && d != tensor.Float64 { // the neighbours of float32 are others
			op = 0
		}
		return c.pwv(c.Args[:2], d, d, f2(func(a, b float64) float64 {
			switch d {
			case tensor.Float32:
				return float64(math.Nextafter32(float32(a), float32(b)))
			case tensor.BFloat16:
				return nextBF16(a, b)
			}
			return math.Nextafter(a, b)
		}).simd(op))
	})
	fl("logaddexp", 2, fixed(f2(func(a, b float64) float64 {
		if math.IsInf(a, 0) && a == b {
			return a
		}
		m := nanMax(a, b)
		return m + math.Log1p(math.Exp(-math.Abs(a-b)))
	}).simd(native.LogAddExp)))
	fl("logaddexp2", 2, fixed(f2(func(a, b float64) float64 {
		if math.IsInf(a, 0) && a == b {
			return a
		}
		return nanMax(a, b) + math.Log1p(math.Exp2(-math.Abs(a-b)))/math.Ln2
	}).simd(native.LogAddExp2)))
	fl("xlogy.Tensor xlogy.Scalar_Self xlogy.Scalar_Other", 2, fixed(f2(func(a, b float64) float64 {
		if b != b {
			return b
		}
		if a == 0 {
			return 0
		}
		return a * math.Log(b)
	}).simd(native.XLogY)))
	fl("special_xlog1py special_xlog1py.self_scalar special_xlog1py.other_scalar", 2, fixed(f2(func(a, b float64) float64 {
		if b != b {
			return b
		}
		if a == 0 {
			return 0
		}
		return a * math.Log1p(b)
	}).simd(native.XLog1PY)))
	fl("special_zeta special_zeta.self_scalar special_zeta.other_scalar", 2, fixed(f2(zeta).single(float32s(zetaTo))))
	fl("igamma", 2, fixed(f2(igamma).single(float32s(igammaTo))))
	fl("igammac", 2, fixed(f2(igammac).single(float32s(igammacTo))))
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
	}).simd(native.Heaviside).i2(func(a, b int64) int64 {
		if a == 0 {
			return b
		}
		return b2i(a > 0)
	})))
	poly := func(name string, f func(x float64, n int64) float64) {
		n := "special_" + name
		k := f2(func(x, n float64) float64 { return f(x, int64(n)) })
		short, shifted := strings.CutPrefix(name, "shifted_")
		kind := map[string]native.Polynomial{"chebyshev_polynomial_t": native.ChebyshevT, "chebyshev_polynomial_u": native.ChebyshevU, "chebyshev_polynomial_v": native.ChebyshevV, "chebyshev_polynomial_w": native.ChebyshevW,
			"hermite_polynomial_h": native.HermiteH, "hermite_polynomial_he": native.HermiteHe, "laguerre_polynomial_l": native.LaguerreL, "legendre_polynomial_p": native.LegendreP}[short]
		if shifted {
			kind |= native.Shifted
		}
		k.S = func(out []float32, in [][]float32) { native.Polynomials(kind, out, in[0], in[1]) }
		fl(n+" "+n+".x_scalar "+n+".n_scalar", 2, fixed(k))
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
		if _, isT := c.Args[0].(*tensor.Tensor); !isT && d.IsFloat() && toFloat(c.Args[0]) == 2 {
			return c.pwv(c.Args[1:2], d, d, f1(math.Exp2).simd(native.Exp2))
		}
		if b, ok := scalarBase(c.Args[0]); ok && d == tensor.Float32 && c.real {
			if x, ok := c.Args[1].(*tensor.Tensor); ok && x.DType == tensor.Float32 {
				k := f1(func(x float64) float64 { return pow(b, x) })
				k.S = func(out []float32, in [][]float32) { powersOf(out, b, in[0]) }
				return c.pwv(c.Args[1:2], d, d, k)
			}
		}
		k := f2(pow).i2(IntPow).c2(cpow).simd(native.Pow)
		if _, isT := c.Args[1].(*tensor.Tensor); !isT && d.IsFloat() {
			switch e := toFloat(c.Args[1]); e {
			case 1:
				return c.pwv([]Value{c.Args[0], 1.0}, d, d, f2(func(x, one float64) float64 { return x * one }).simd(native.Mul))
			case -1:
				return c.pwv(c.Args[:1], d, d, f1(func(x float64) float64 { return 1 / x }).simd(native.Recip))
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
		return c.pwv(c.Args[:3], d, d, selecting)
	})
	mulAdd := func(name string, div bool) {
		def(name, func(c *Call) (Value, error) {
			d := rtype(c.Args[:3]...)
			if div && d.Kind() < tensor.KindFloat {
				return nil, errf("Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) for float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / tensor2), for all dtypes.")
			}
			v, iv := c.F(3), c.I(3)
			op := native.AddCMul
			if div {
				op = native.AddCDiv
			}
			return c.pwv(c.Args[:3], d, d, f3(func(a, b, x float64) float64 {
				if div {
					return a + v*(b/x)
				}
				return a + v*b*x
			}).simd(op, v).i3(func(a, b, x int64) int64 { return a + iv*b*x }).c3(func(a, b, x complex128) complex128 {
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
		if _, ok := c.Args[2].(*tensor.Tensor); !ok {
			w := toFloat(c.Args[2])
			return c.pwv(c.Args[:2], a.DType, a.DType, f2(func(a, b float64) float64 { return lerp(a, b, w) }).simd(native.Lerp, w))
		}
		return c.pwv(c.Args[:3], a.DType, a.DType, f3(lerp).simd(native.Lerp3))
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
		}).c2(func(a, b complex128) complex128 {
			d := cmplx.Abs(a - b)
			return b2c(a == b || eqnan && cmplx.IsNaN(a) && cmplx.IsNaN(b) || !math.IsInf(d, 0) && d <= atol+cmplx.Abs(complex(rtol, 0)*b))
		}))
	})
	def("frexp.Tensor", func(c *Call) (Value, error) {
		x := c.T(0)
		if !x.DType.IsFloat() {
			return nil, errf("torch.frexp() only supports floating-point dtypes")
		}
		if m, e := c.frexp32(x); m != nil {
			return []Value{m, e}, nil
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

// frexp32 is frexp of float32 numbers that lie densely, by their bits; nil for others.
func (c *Call) frexp32(x *tensor.Tensor) (m, e *tensor.Tensor) {
	if !c.real || x.DType != tensor.Float32 || x.Numel() == 0 || !x.IsNonOverlappingAndDense() {
		return nil, nil
	}
	stride := tensor.PointwiseStrides(x.Shape, x)
	m, e = c.NewUnset(x.DType, x.Shape, stride), c.NewUnset(tensor.Int32, x.Shape, stride)
	in, out, exp := tensor.Raw[uint32](x), tensor.Raw[uint32](m), tensor.Raw[int32](e)
	parallel.For(int(x.Numel()), grain, func(lo, hi int) {
		out, exp := out[lo:hi], exp[lo:hi]
		for i, b := range in[lo:hi] {
			k := int32(b >> 23 & 255)
			if k == 0 || k == 255 { // zeros, infinities, NaN and what is subnormal
				f, n := math.Frexp(float64(math.Float32frombits(b)))
				out[i], exp[i] = math.Float32bits(float32(f)), int32(n)
				continue
			}
			out[i], exp[i] = b&^(255<<23)|126<<23, k-126
		}
	})
	return m, e
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

// scalarBase is the number that a base is, or a tensor without dimensions, where its powers are those of e to a multiple of the exponent.
func scalarBase(v Value) (b float64, ok bool) {
	if t, is := v.(*tensor.Tensor); is && (t.Fake || len(t.Shape) != 0 || t.DType.Kind() == tensor.KindComplex) {
		return 0, false
	}
	b = tensor.RoundTo(tensor.Float32, toFloat(v))
	return b, b > 0 && b != 1 && !math.IsInf(b, 1)
}

// powersOf fills out with powers of b, of which scalarBase says that it may: e to x times the logarithm of b, in float64.
func powersOf(out []float32, b float64, x []float32) {
	var room [512]float64
	l := []float64{math.Log(b)}
	for len(out) > 0 {
		n := min(len(out), len(room))
		r := room[:n]
		native.Convert(0, r, x[:n])
		native.Binary64(native.Mul, r, r, l)
		native.Unary64(native.Exp, r, r)
		native.Convert(0, out[:n], r)
		out, x = out[n:], x[n:]
	}
}
