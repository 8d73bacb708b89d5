package vm

import (
	"math"
	"regexp"
	"strings"

	"whittle/capture/python/libm"
	"whittle/capture/python/ucd"
)

// Complex numbers. The formulas are those of CPython, so that the last bits agree: division by Smith's method, powers of small integers by
// repeated multiplication and others by polar coordinates.

// complexBinary computes an operator of two numbers of which one is complex at least.
func complexBinary(in *Interp, op string, a, b Object) (Object, error) {
	x, err := toComplex(in, a)
	if err != nil {
		return nil, err
	}
	y, err := toComplex(in, b)
	if err != nil {
		return nil, err
	}
	switch op {
	case "+":
		return Complex(x + y), nil
	case "-":
		return Complex(x - y), nil
	case "*":
		return Complex(mulComplex(x, y)), nil
	case "/":
		q, ok := divComplex(x, y)
		if !ok {
			return nil, in.Errorf(in.Exc.ZeroDivisionError, "complex division by zero")
		}
		return Complex(q), nil
	case "**":
		return powComplex(in, x, y)
	}
	return nil, nil
}

// toComplex is a built-in number as a complex one.
func toComplex(in *Interp, o Object) (complex128, error) {
	if z, ok := o.(Complex); ok {
		return complex128(z), nil
	}
	f, err := toFloat(in, o)
	return complex(f, 0), err
}

func mulComplex(x, y complex128) complex128 {
	a, b, c, d := real(x), imag(x), real(y), imag(y)
	return complex(a*c-b*d, a*d+b*c)
}

// divComplex is x / y; not ok for a y of zero.
func divComplex(x, y complex128) (q complex128, ok bool) {
	a, b, c, d := real(x), imag(x), real(y), imag(y)
	switch {
	case math.Abs(c) >= math.Abs(d):
		if c == 0 {
			return 0, false
		}
		r := d / c
		n := c + d*r
		return complex((a+b*r)/n, (b-a*r)/n), true
	case math.Abs(d) >= math.Abs(c):
		r := c / d
		n := c*r + d
		return complex((a*r+b)/n, (b*r-a)/n), true
	}
	return complex(math.NaN(), math.NaN()), true
}

// powComplex is x ** y.
func powComplex(in *Interp, x, y complex128) (Object, error) {
	z, ok := complex128(1), true
	switch n := real(y); {
	case imag(y) == 0 && n == math.Floor(n) && math.Abs(n) <= 100:
		p := x
		for k := int(math.Abs(n)); k > 0; k >>= 1 {
			if k&1 != 0 {
				z = mulComplex(z, p)
			}
			p = mulComplex(p, p)
		}
		if n < 0 {
			z, ok = divComplex(1, z)
		}
	case x == 0:
		z, ok = 0, imag(y) == 0 && !(n < 0)
	default:
		size, angle := libm.Hypot(real(x), imag(x)), libm.Atan2(imag(x), real(x))
		length, phase := libm.Pow(size, n), angle*n
		if imag(y) != 0 {
			length /= libm.Exp(angle * imag(y))
			phase += imag(y) * libm.Log(size)
		}
		ok = !math.IsInf(phase, 0) // the C library calls the cosine of infinity a domain error, as it does a zero divisor
		z = complex(length*libm.Cos(phase), length*libm.Sin(phase))
	}
	if !ok {
		return nil, in.Errorf(in.Exc.ZeroDivisionError, "0.0 to a negative or complex power")
	}
	if math.IsInf(real(z), 0) || math.IsInf(imag(z), 0) {
		return nil, in.Errorf(in.Exc.OverflowError, "complex exponentiation")
	}
	return Complex(z), nil
}

// complexEqual compares a complex number with any other; the real part is compared exactly.
func complexEqual(in *Interp, x Complex, b Object) (equal, known bool, err error) {
	switch y := b.(type) {
	case Complex:
		return x == y, true, nil
	case Int, Bool, *BigInt, Float:
		if imag(complex128(x)) != 0 {
			return false, true, nil
		}
		v, err := nativeCompare(in, "==", Float(real(complex128(x))), y)
		return v == True, true, err
	}
	return false, false, nil
}

// formatComplex is format(z, spec). Without a type both parts are as repr has them, in parentheses unless the real one is zero.
func formatComplex(in *Interp, z complex128, spec string) (string, error) {
	f, err := parseSpec(in, spec, "complex")
	if err != nil {
		return "", err
	}
	switch {
	case f.zeroPad || f.fill == '0':
		return "", in.Errorf(in.Exc.ValueError, "Zero padding is not allowed in complex format specifier")
	case f.align == '=':
		return "", in.Errorf(in.Exc.ValueError, "'=' alignment flag is not allowed in complex format specifier")
	case f.typ != 0 && !strings.ContainsRune("eEfFgGn", f.typ):
		return "", in.Errorf(in.Exc.ValueError, "Unknown format code '%s' for object of type 'complex'", showCode(f.typ))
	}
	part := func(x float64, sign byte) string {
		p := fmtSpec{fill: ' ', prec: f.prec, sign: sign, alt: f.alt, sep: f.sep, typ: f.typ, zneg: f.zneg}
		if f.typ == 0 && f.prec >= 0 {
			p.typ = 'g'
		}
		s, _ := p.float(x) // its type is one of a float
		if f.typ == 0 && f.prec < 0 {
			if strings.HasSuffix(s, ".0") {
				s = s[:len(s)-1]
				if !f.alt {
					s = s[:len(s)-1]
				}
			}
		}
		return s
	}
	re, im := real(z), imag(z)
	s := part(im, '+') + "j"
	switch {
	case f.typ != 0:
		s = part(re, f.sign) + s
	case re == 0 && !math.Signbit(re):
		s = part(im, f.sign) + "j"
	default:
		s = "(" + part(re, f.sign) + s + ")"
	}
	return f.pad(s, '>'), nil
}

// complexParts takes the text of a complex number apart: a number, a second one with its sign, and whether a j follows.
var complexParts = func() *regexp.Regexp {
	const n = `(?:(?:\d(?:_?\d)*\.?(?:\d(?:_?\d)*)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?|(?i:inf(?:inity)?|nan))`
	return regexp.MustCompile(`^(?:([+-]?` + n + `)|)(?:([+-]` + n + `?|` + n + `?)[jJ])?$`)
}()

// parseComplex reads the text of a complex number, which may stand in parentheses.
func parseComplex(s string) (complex128, bool) {
	s = strings.TrimFunc(s, isSpace)
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")") {
		s = strings.TrimFunc(s[1:len(s)-1], isSpace)
	}
	s = asciiDigits(s)
	imaginary := strings.HasSuffix(s, "j") || strings.HasSuffix(s, "J")
	body := s
	if imaginary {
		body = s[:len(s)-1]
	}
	if x, ok := parseFloat(body); ok && strings.TrimSpace(body) == body {
		if imaginary {
			return complex(0, x), true
		}
		return complex(x, 0), true
	}
	m := complexParts.FindStringSubmatch(s)
	if m == nil || !imaginary {
		return 0, false
	}
	re, im := 0.0, 1.0
	if m[1] != "" {
		re, _ = parseFloat(m[1])
		if m[2] == "" || m[2][0] != '+' && m[2][0] != '-' {
			return 0, false
		}
	}
	switch m[2] {
	case "", "+":
	case "-":
		im = -1
	default:
		im, _ = parseFloat(m[2])
	}
	return complex(re, im), true
}

// newComplex is complex(real, imag).
func newComplex(in *Interp, cls *Type, args []Object, kw []KwArg) (Object, error) {
	a, err := in.ParseArgs("complex", args, kw, "real=None, imag=None")
	if err != nil {
		return nil, err
	}
	given := func(i int, name string) bool {
		if len(args) > i {
			return true
		}
		for _, k := range kw {
			if k.Name == name {
				return true
			}
		}
		return false
	}
	first, second := given(0, "real"), given(1, "imag")
	if s, ok := AsStr(a[0]); ok {
		if second {
			return nil, in.Errorf(in.Exc.TypeError, "complex() can't take second arg if first is a string")
		}
		z, ok := parseComplex(s)
		if !ok {
			return nil, in.Errorf(in.Exc.ValueError, "complex() arg is a malformed string")
		}
		return wrap(cls, ComplexType, Complex(z)), nil
	}
	if _, ok := AsStr(a[1]); ok {
		return nil, in.Errorf(in.Exc.TypeError, "complex() second arg can't be a string")
	}
	if z, ok := a[0].(Complex); ok && !second && cls == ComplexType {
		return z, nil
	}
	var re, im complex128
	if first {
		if re, err = complexPart(in, a[0], "first", "string or a number"); err != nil {
			return nil, err
		}
	}
	if second {
		if im, err = complexPart(in, a[1], "second", "number"); err != nil {
			return nil, err
		}
	}
	z := complex(real(re), real(im))
	if isComplexLike(a[0]) || isComplex(a[1]) { // only then, so that zeros keep their signs
		z = complex(real(re)-imag(im), real(im)+imag(re))
		if !isComplex(a[1]) {
			z = complex(real(re), real(im)+imag(re))
		} else if !isComplexLike(a[0]) {
			z = complex(real(re)-imag(im), real(im))
		}
	}
	if first && !second && isComplexLike(a[0]) {
		z = re
	}
	return wrap(cls, ComplexType, Complex(z)), nil
}

func isComplex(o Object) bool { _, ok := unwrap(o).(Complex); return ok }

// isComplexLike reports whether an object is complex or says how to become so.
func isComplexLike(o Object) bool { return isComplex(o) || o.Type().Lookup("__complex__") != nil }

// complexPart is what an argument of complex() stands for.
func complexPart(in *Interp, o Object, which, kinds string) (complex128, error) {
	if v, ok, err := in.Special(o, "__complex__"); (ok || err != nil) && which == "first" {
		if err != nil {
			return 0, err
		}
		z, ok := unwrap(v).(Complex)
		if !ok {
			return 0, in.Errorf(in.Exc.TypeError, "__complex__ returned non-complex (type %s)", TypeName(v))
		}
		return complex128(z), nil
	}
	if z, ok := unwrap(o).(Complex); ok {
		return complex128(z), nil
	}
	if t := o.Type(); t.Lookup("__float__") == nil && t.Lookup("__index__") == nil {
		return 0, in.Errorf(in.Exc.TypeError, "complex() %s argument must be a %s, not '%s'", which, kinds, t.Name)
	}
	f, err := in.Float(o)
	return complex(f, 0), err
}

// Complex is a number as a complex one: by __complex__, __float__ or __index__.
func (in *Interp) Complex(o Object) (complex128, error) {
	if z, ok := unwrap(o).(Complex); ok {
		return complex128(z), nil
	}
	if o.Type().Lookup("__complex__") != nil {
		return complexPart(in, o, "first", "")
	}
	f, err := in.Float(o)
	return complex(f, 0), err
}

// initComplex gives complex its methods.
func initComplex() {
	c := ComplexType
	c.New = newComplex
	addOps(c, nil, "+", "-", "*", "/", "**")
	addCompare(c, nil, "==", "!=")
	addBasics(c, "repr hash bool neg format")
	value := func(o Object) complex128 { z, _ := unwrap(o).(Complex); return complex128(z) }
	addGetSet(c, "real", func(in *Interp, o Object) (Object, error) { return Float(real(value(o))), nil }, nil)
	addGetSet(c, "imag", func(in *Interp, o Object) (Object, error) { return Float(imag(value(o))), nil }, nil)
	m := func(name string, f func(in *Interp, z complex128) (Object, error)) {
		addMethod(c, name, 0, 0, func(in *Interp, args []Object, _ []KwArg) (Object, error) { return f(in, value(args[0])) })
	}
	m("__abs__", func(in *Interp, z complex128) (Object, error) {
		r := libm.Hypot(real(z), imag(z))
		if math.IsInf(r, 0) && !math.IsInf(real(z), 0) && !math.IsInf(imag(z), 0) {
			return nil, in.Errorf(in.Exc.OverflowError, "absolute value too large")
		}
		return Float(r), nil
	})
	m("conjugate", func(_ *Interp, z complex128) (Object, error) { return Complex(complex(real(z), -imag(z))), nil })
	m("__complex__", func(_ *Interp, z complex128) (Object, error) { return Complex(z), nil })
	m("__getnewargs__", func(_ *Interp, z complex128) (Object, error) { return NewTuple(Float(real(z)), Float(imag(z))), nil })
}

// asciiDigits writes the decimal digits of all scripts as those of ASCII.
func asciiDigits(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return strings.Map(func(r rune) rune {
				if d, ok := ucd.Of(r).Decimal(); ok {
					return '0' + rune(d)
				}
				return r
			}, s)
		}
	}
	return s
}

// hashComplex is the hash of a complex number.
func hashComplex(z complex128) uint64 {
	h := hashFloat(real(z)) + 1000003*hashFloat(imag(z))
	if h == ^uint64(0) {
		h--
	}
	return h
}
