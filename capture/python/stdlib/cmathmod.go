package stdlib

import (
	"math"
	"math/cmplx"

	"whittle/capture/python/clinic"
	"whittle/capture/python/libm"
	"whittle/capture/python/vm"
)

// cmath: finite arguments go through Kahan's formulas ("Branch Cuts for Complex Elementary Functions"), as in CPython, others through Go's
// library, which has C99's table of special values (annex G).

// cfunc is one function of cmath. poles says which arguments have no value: a ValueError.
type cfunc struct {
	name  string
	f     func(z complex128) complex128
	poles func(re, im float64) bool
}

// large is where squares would overflow.
const large = math.MaxFloat64 / 4

var cfuncs = []cfunc{
	{"acos", cacos, nil}, {"acosh", cacosh, nil}, {"asin", func(z complex128) complex128 { return turned(casinh(turn(z))) }, nil}, {"asinh", casinh, nil},
	{"atan", func(z complex128) complex128 { return turned(catanh(turn(z))) }, func(re, im float64) bool { return re == 0 && math.Abs(im) == 1 }},
	{"atanh", catanh, func(re, im float64) bool { return im == 0 && math.Abs(re) == 1 }},
	{"cos", func(z complex128) complex128 { return ccosh(turn(z)) }, func(re, im float64) bool { return math.IsInf(re, 0) && !math.IsNaN(im) }},
	{"cosh", ccosh, func(re, im float64) bool { return math.IsInf(im, 0) && !math.IsNaN(re) }},
	{"exp", cexp, func(re, im float64) bool { return math.IsInf(im, 0) && !math.IsNaN(re) && !math.IsInf(re, -1) }},
	{"log10", func(z complex128) complex128 { l := clog(z); return complex(real(l)/math.Ln10, imag(l)/math.Ln10) }, isZero},
	{"sin", func(z complex128) complex128 { return turned(csinh(turn(z))) }, func(re, im float64) bool { return math.IsInf(re, 0) && !math.IsNaN(im) }},
	{"sinh", csinh, func(re, im float64) bool { return math.IsInf(im, 0) && !math.IsNaN(re) }},
	{"sqrt", csqrt, nil},
	{"tan", func(z complex128) complex128 { return turned(ctanh(turn(z))) }, func(re, im float64) bool { return math.IsInf(re, 0) && finite(im) }},
	{"tanh", ctanh, func(re, im float64) bool { return math.IsInf(im, 0) && finite(re) }},
}

func isZero(re, im float64) bool { return re == 0 && im == 0 }
func finite(x float64) bool      { return !math.IsInf(x, 0) && !math.IsNaN(x) }

// turn is i times z; turned is -i times z: the circular functions are the hyperbolic ones, turned.
func turn(z complex128) complex128   { return complex(-imag(z), real(z)) }
func turned(z complex128) complex128 { return complex(imag(z), -real(z)) }

func special(z complex128) bool { return !finite(real(z)) || !finite(imag(z)) }

func csqrt(z complex128) complex128 {
	if special(z) || z == 0 {
		return cmplx.Sqrt(z)
	}
	re, im := math.Abs(real(z)), math.Abs(imag(z))
	var s float64
	if re < 0x1p-1022 && im < 0x1p-1022 && (re > 0 || im > 0) { // subnormal: scaled so that no bit is lost
		re = math.Ldexp(re, 53)
		s = math.Ldexp(math.Sqrt(re+libm.Hypot(re, math.Ldexp(im, 53))), -27)
	} else {
		re /= 8
		s = 2 * math.Sqrt(re+libm.Hypot(re, im/8))
	}
	d := im / (2 * s)
	if real(z) >= 0 {
		return complex(s, math.Copysign(d, imag(z)))
	}
	return complex(d, math.Copysign(s, imag(z)))
}

func cacos(z complex128) complex128 {
	if special(z) {
		return cmplx.Acos(z)
	}
	re, im := real(z), imag(z)
	if math.Abs(re) > large || math.Abs(im) > large {
		l := libm.Log(libm.Hypot(re/2, im/2)) + 2*math.Ln2
		if re < 0 {
			return complex(libm.Atan2(math.Abs(im), re), -math.Copysign(l, im))
		}
		return complex(libm.Atan2(math.Abs(im), re), math.Copysign(l, -im))
	}
	a, b := csqrt(complex(1-re, -im)), csqrt(complex(1+re, im))
	return complex(2*libm.Atan2(real(a), real(b)), libm.Asinh(real(b)*imag(a)-imag(b)*real(a)))
}

func cacosh(z complex128) complex128 {
	if special(z) {
		return cmplx.Acosh(z)
	}
	re, im := real(z), imag(z)
	if math.Abs(re) > large || math.Abs(im) > large {
		return complex(libm.Log(libm.Hypot(re/2, im/2))+2*math.Ln2, libm.Atan2(im, re))
	}
	a, b := csqrt(complex(re-1, im)), csqrt(complex(re+1, im))
	return complex(libm.Asinh(real(a)*real(b)+imag(a)*imag(b)), 2*libm.Atan2(imag(a), real(b)))
}

func casinh(z complex128) complex128 {
	if special(z) {
		return cmplx.Asinh(z)
	}
	re, im := real(z), imag(z)
	if math.Abs(re) > large || math.Abs(im) > large {
		l := libm.Log(libm.Hypot(re/2, im/2)) + 2*math.Ln2
		return complex(math.Copysign(l, re), libm.Atan2(im, math.Abs(re)))
	}
	a, b := csqrt(complex(1+im, -re)), csqrt(complex(1-im, re))
	return complex(libm.Asinh(real(a)*imag(b)-real(b)*imag(a)), libm.Atan2(im, real(a)*real(b)-imag(a)*imag(b)))
}

func catanh(z complex128) complex128 {
	if special(z) {
		return cmplx.Atanh(z)
	}
	re, im := real(z), imag(z)
	if re < 0 || re == 0 && math.Signbit(re) {
		r := catanh(-z)
		return -r
	}
	small := math.Sqrt(math.SmallestNonzeroFloat64)
	abs := math.Abs(im)
	switch {
	case re > math.Sqrt(math.MaxFloat64/4) || abs > math.Sqrt(math.MaxFloat64/4):
		h := libm.Hypot(re/2, im/2)
		return complex(re/4/h/h, -math.Copysign(math.Pi/2, -im))
	case re == 1 && abs < small:
		return complex(-libm.Log(math.Sqrt(abs)/math.Sqrt(libm.Hypot(abs, 2))), math.Copysign(libm.Atan2(2, -abs)/2, im))
	}
	return complex(libm.Log1p(4*re/((1-re)*(1-re)+abs*abs))/4, -libm.Atan2(-2*im, (1-re)*(1+re)-abs*abs)/2)
}

// logLarge is about where exp overflows.
var logLarge = libm.Log(math.MaxFloat64 / 4)

func ccosh(z complex128) complex128 {
	if special(z) {
		return cmplx.Cosh(z)
	}
	re, im := real(z), imag(z)
	if math.Abs(re) > logLarge {
		less := re - math.Copysign(1, re)
		return complex(libm.Cos(im)*libm.Cosh(less)*math.E, libm.Sin(im)*libm.Sinh(less)*math.E)
	}
	return complex(libm.Cos(im)*libm.Cosh(re), libm.Sin(im)*libm.Sinh(re))
}

func csinh(z complex128) complex128 {
	if special(z) {
		return cmplx.Sinh(z)
	}
	re, im := real(z), imag(z)
	if math.Abs(re) > logLarge {
		less := re - math.Copysign(1, re)
		return complex(libm.Cos(im)*libm.Sinh(less)*math.E, libm.Sin(im)*libm.Cosh(less)*math.E)
	}
	return complex(libm.Cos(im)*libm.Sinh(re), libm.Sin(im)*libm.Cosh(re))
}

func ctanh(z complex128) complex128 {
	if special(z) {
		return cmplx.Tanh(z)
	}
	re, im := real(z), imag(z)
	if math.Abs(re) > logLarge {
		return complex(math.Copysign(1, re), 4*libm.Sin(im)*libm.Cos(im)*libm.Exp(-2*math.Abs(re)))
	}
	t, u := libm.Tanh(re), libm.Tan(im)
	c := 1 / libm.Cosh(re)
	tu := t * u
	d := 1 + tu*tu
	return complex(t*(1+u*u)/d, u/d*c*c)
}

func cexp(z complex128) complex128 {
	if special(z) {
		return cmplx.Exp(z)
	}
	re, im := real(z), imag(z)
	l, k := libm.Exp(re), 1.0
	if re > logLarge {
		l, k = libm.Exp(re-1), math.E
	}
	return complex(l*libm.Cos(im)*k, l*libm.Sin(im)*k)
}

func clog(z complex128) complex128 {
	if special(z) {
		return cmplx.Log(z)
	}
	re, im := math.Abs(real(z)), math.Abs(imag(z))
	var r float64
	switch h := libm.Hypot(re, im); {
	case re > large || im > large:
		r = libm.Log(libm.Hypot(re/2, im/2)) + math.Ln2
	case re < 0x1p-1022 && im < 0x1p-1022:
		if re > 0 || im > 0 {
			r = libm.Log(libm.Hypot(math.Ldexp(re, 53), math.Ldexp(im, 53))) - 53*math.Ln2
		} else {
			r = math.Inf(-1)
		}
	case h >= 0.71 && h <= 1.73:
		a, b := max(re, im), min(re, im)
		r = libm.Log1p((a-1)*(a+1)+b*b) / 2
	default:
		r = libm.Log(h)
	}
	return complex(r, libm.Atan2(imag(z), real(z)))
}

// cmathModule is cmath.
func cmathModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("cmath", "This module provides access to mathematical functions for complex\nnumbers.")
	inf, nan := math.Inf(1), math.NaN()
	for name, v := range map[string]vm.Object{"pi": vm.Float(math.Pi), "e": vm.Float(math.E), "tau": vm.Float(2 * math.Pi), "inf": vm.Float(inf), "nan": vm.Float(nan),
		"infj": vm.Complex(complex(0, inf)), "nanj": vm.Complex(complex(0, nan))} {
		m.Set(name, v)
	}
	compute := func(c *clinic.Call, f cfunc, z complex128) (vm.Object, error) {
		if f.poles != nil && f.poles(real(z), imag(z)) {
			return nil, c.Errorf(c.Exc.ValueError, "math domain error")
		}
		r := f.f(z)
		if !special(z) && (math.IsInf(real(r), 0) || math.IsInf(imag(r), 0)) {
			return nil, c.Errorf(c.Exc.OverflowError, "math range error")
		}
		return vm.Complex(r), nil
	}
	for _, f := range cfuncs {
		clinic.Def(m, f.name, "z, /", func(c *clinic.Call) (vm.Object, error) {
			z, err := c.Complex(c.Args[0])
			if err != nil {
				return nil, err
			}
			return compute(c, f, z)
		})
	}
	log := cfunc{"log", clog, isZero}
	clinic.Def(m, "log", "z, base=None, /", func(c *clinic.Call) (vm.Object, error) {
		var parts []complex128
		for _, a := range c.Args {
			if a == vm.None {
				continue
			}
			z, err := c.Complex(a)
			if err != nil {
				return nil, err
			}
			v, err := compute(c, log, z)
			if err != nil {
				return nil, err
			}
			parts = append(parts, complex128(v.(vm.Complex)))
		}
		if len(parts) == 1 {
			return vm.Complex(parts[0]), nil
		}
		return c.BinaryOp("/", vm.Complex(parts[0]), vm.Complex(parts[1]))
	})
	part := func(name string, f func(c *clinic.Call, re, im float64) (vm.Object, error)) {
		clinic.Def(m, name, "z, /", func(c *clinic.Call) (vm.Object, error) {
			z, err := c.Complex(c.Args[0])
			if err != nil {
				return nil, err
			}
			return f(c, real(z), imag(z))
		})
	}
	part("phase", func(_ *clinic.Call, re, im float64) (vm.Object, error) { return vm.Float(libm.Atan2(im, re)), nil })
	part("polar", func(c *clinic.Call, re, im float64) (vm.Object, error) {
		r := libm.Hypot(re, im)
		if math.IsInf(r, 0) && finite(re) && finite(im) {
			return nil, c.Errorf(c.Exc.OverflowError, "math range error")
		}
		return vm.NewTuple(vm.Float(r), vm.Float(libm.Atan2(im, re))), nil
	})
	part("isfinite", func(_ *clinic.Call, re, im float64) (vm.Object, error) {
		return vm.MakeBool(finite(re) && finite(im)), nil
	})
	part("isnan", func(_ *clinic.Call, re, im float64) (vm.Object, error) {
		return vm.MakeBool(math.IsNaN(re) || math.IsNaN(im)), nil
	})
	part("isinf", func(_ *clinic.Call, re, im float64) (vm.Object, error) {
		return vm.MakeBool(math.IsInf(re, 0) || math.IsInf(im, 0)), nil
	})
	clinic.Def(m, "rect", "r:float, phi:float, /", func(c *clinic.Call) (vm.Object, error) {
		r, phi := c.Float(0), c.Float(1)
		if math.IsInf(phi, 0) && r != 0 && !math.IsNaN(r) {
			return nil, c.Errorf(c.Exc.ValueError, "math domain error")
		}
		switch {
		case finite(r) && finite(phi):
			if phi == 0 {
				return vm.Complex(complex(r, r*phi)), nil
			}
			return vm.Complex(complex(r*libm.Cos(phi), r*libm.Sin(phi))), nil
		case math.IsInf(r, 0) && finite(phi) && phi != 0:
			return vm.Complex(complex(math.Copysign(inf, libm.Cos(phi)*r), math.Copysign(inf, libm.Sin(phi)*r))), nil
		case math.IsInf(r, 0) && phi == 0:
			return vm.Complex(complex(r, math.Copysign(0, phi*r))), nil
		case r == 0:
			return vm.Complex(0), nil
		case math.IsInf(r, 0):
			return vm.Complex(complex(inf, nan)), nil
		}
		im := nan
		if phi == 0 {
			im = 0
		}
		return vm.Complex(complex(nan, im)), nil
	})
	clinic.Def(m, "isclose", "a, b, *, rel_tol:float=1e-09, abs_tol:float=0.0", func(c *clinic.Call) (vm.Object, error) {
		a, err := c.Complex(c.Args[0])
		if err != nil {
			return nil, err
		}
		b, err := c.Complex(c.Args[1])
		if err != nil {
			return nil, err
		}
		rel, abs := c.Float(2), c.Float(3)
		if rel < 0 || abs < 0 {
			return nil, c.Errorf(c.Exc.ValueError, "tolerances must be non-negative")
		}
		if a == b {
			return vm.True, nil
		}
		for _, z := range []complex128{a, b} {
			if math.IsInf(real(z), 0) || math.IsInf(imag(z), 0) {
				return vm.False, nil
			}
		}
		d := cmplx.Abs(a - b)
		return vm.MakeBool(d <= rel*cmplx.Abs(b) || d <= rel*cmplx.Abs(a) || d <= abs), nil
	})
	return m, nil
}

// vectorNorm is the square root of a sum of squares, right to the last bit in nearly all cases: the squares are scaled, split without error, summed with
// what is lost, and the root is corrected once (T. J. Dekker's and A. Neumaier's ways to carry the parts that rounding drops).
func vectorNorm(xs []float64) float64 {
	most, nan := 0.0, false
	for i, x := range xs {
		xs[i] = math.Abs(x)
		most = max(most, xs[i])
		nan = nan || math.IsNaN(x)
	}
	for _, x := range xs {
		if math.IsInf(x, 0) {
			return math.Inf(1)
		}
	}
	switch {
	case nan:
		return math.NaN()
	case most == 0 || len(xs) == 1:
		return most
	}
	_, e := math.Frexp(most)
	if e < -1023 { // subnormal
		for i := range xs {
			xs[i] /= 0x1p-1022
		}
		return 0x1p-1022 * vectorNorm(xs)
	}
	scale := math.Ldexp(1, -e)
	sum, low1, low2 := 1.0, 0.0, 0.0
	add := func(p float64) {
		s := sum + p
		low2 += (sum - s) + p
		sum = s
	}
	for _, x := range xs {
		x *= scale
		p := x * x
		low1 += math.FMA(x, x, -p)
		add(p)
	}
	h := math.Sqrt(sum - 1 + (low1 + low2))
	p := -h * h
	low1 += math.FMA(-h, h, -p)
	add(p)
	return (h + (sum-1+(low1+low2))/(2*h)) / scale
}
