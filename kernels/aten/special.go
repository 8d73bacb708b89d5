package aten

import (
	"math"
	"slices"

	"whittle/kernels/native"
)

// Special functions that package math lacks, in float64. Each is written from its definition or its expansions, not after PyTorch's rational
// approximations: these aim at float32 or at the last digit of float64, and both agree to the tolerance that results are compared with. Ends and
// poles give what PyTorch gives there. A&S is Abramowitz and Stegun, Handbook of Mathematical Functions; a formula's number there follows.

// lgamma is C's: the logarithm of |gamma(x)|, infinite at both ends.
func lgamma(x float64) float64 {
	if math.IsInf(x, -1) {
		return math.Inf(1)
	}
	y, _ := math.Lgamma(x)
	return y
}

// asinh keeps the sign of a zero.
func asinh(x float64) float64 {
	if x == 0 {
		return x
	}
	return math.Asinh(x)
}

// sinc is sin(pi x) / (pi x), and 1 at 0.
func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// sinc32 is sinc with pi*x rounded to float32, which is what a float32 kernel takes the sine of.
func sinc32(x float64) float64 {
	if x == 0 {
		return 1
	}
	p := float64(float32(math.Pi) * float32(x))
	return math.Sin(p) / p
}

// sincs fills out with sinc32 of x, by the SIMD sine.
func sincs(out, x []float32) {
	var room [512]float32
	for len(out) > 0 {
		n := min(len(out), len(room))
		p := room[:n]
		for i, v := range x[:n] {
			p[i] = float32(math.Pi) * v
		}
		y := out[:n]
		native.Unary32(native.Sin, y, p)
		native.Binary32(native.Div, y, y, p)
		if slices.Contains(p, 0) {
			for i, v := range p {
				if v == 0 {
					y[i] = 1
				}
			}
		}
		out, x = out[n:], x[n:]
	}
}

// bessel keeps an oscillating function from settling at infinity.
func bessel(f func(float64) float64) func(float64) float64 {
	return func(x float64) float64 {
		if math.IsInf(x, 0) {
			return math.NaN()
		}
		return f(x)
	}
}

// entr is the entropy -x log x, with its limit 0 at 0, and -inf for negative numbers, which are no probabilities.
func entr(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 0:
		return -x * math.Log(x)
	case x == 0:
		return 0
	}
	return math.Inf(-1)
}

// ndtr is the area under the standard normal density to the left of x (A&S 26.2.29, by erfc, which is exact in the left tail).
func ndtr(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// ndtri inverts ndtr.
func ndtri(p float64) float64 {
	// One Newton step corrects erfinv's loss of accuracy in the tails.
	x := math.Sqrt2 * math.Erfinv(2*p-1)
	if p > 0 && p < 1e-3 {
		if math.IsInf(x, 0) {
			x = -math.Sqrt(-2 * math.Log(p))
		}
		for i := 0; i < 6; i++ {
			x -= (ndtr(x) - p) / (math.Exp(-x*x/2) / math.Sqrt(2*math.Pi))
		}
	}
	return x
}

// logNdtr is the logarithm of ndtr. Below -1 it is taken of erfcx, as ndtr itself would soon be 0.
func logNdtr(x float64) float64 {
	if x < -1 {
		return math.Log(erfcx(-x/math.Sqrt2)/2) - x*x/2
	}
	return math.Log1p(-math.Erfc(x/math.Sqrt2) / 2)
}

// erfcx is exp(x^2) erfc(x), for large x by its asymptotic series (A&S 7.1.23), where the factors would overflow and vanish.
func erfcx(x float64) float64 {
	if x < 25 {
		return math.Exp(x*x) * math.Erfc(x)
	}
	z := 1 / (2 * x * x)
	return 1 / (x * math.Sqrt(math.Pi)) * (1 - z*(1-3*z*(1-5*z)))
}

// digamma is the derivative of log gamma: reflected to positive x (A&S 6.3.7), carried up to 10 by its recurrence (6.3.5), and there by its
// asymptotic series (6.3.18).
func digamma(x float64) float64 {
	if x == 0 {
		return math.Copysign(math.Inf(1), -x)
	}
	if math.IsInf(x, -1) {
		return math.NaN()
	}
	if x < 0 {
		if x == math.Trunc(x) {
			return math.NaN()
		}
		_, f := math.Modf(x)
		return digamma(1-x) - math.Pi/math.Tan(math.Pi*f)
	}
	r := 0.0
	for x < 10 {
		r -= 1 / x
		x++
	}
	if math.IsInf(x, 1) {
		return x
	}
	z := 1 / (x * x)
	return r + math.Log(x) - 0.5/x - z*(1.0/12-z*(1.0/120-z*(1.0/252-z*(1.0/240-z*(1.0/132-z*(691.0/32760-z/12))))))
}

// How small the terms are, beside the sum, that a series is left at by a function of float32, and by one of float64.
const (
	epsilon32 = 1e-9
	epsilon64 = 1e-17
)

// float32s is a function of two numbers to the precision of float32.
func float32s(f func(a, b, eps float64) float64) func(out []float32, in [][]float32) {
	return func(out []float32, in [][]float32) {
		a, b := in[0][:len(out)], in[1][:len(out)]
		for i := range out {
			out[i] = float32(f(float64(a[i]), float64(b[i]), epsilon32))
		}
	}
}

// zeta is the Hurwitz zeta function, by Euler-Maclaurin summation.
func zeta(s, q float64) float64 { return zetaTo(s, q, epsilon64) }

func zetaTo(s, q, eps float64) float64 {
	switch {
	case s == 1:
		return math.Inf(1)
	case s < 1:
		return math.NaN()
	case math.IsInf(q, -1): // a pole, as every integer below 1
		return math.Inf(1)
	case s != s || q != q || math.IsInf(q, 1): // at the end, 0 times infinity in the sum's tail
		return math.NaN()
	}
	if q <= 0 {
		if q == math.Floor(q) {
			return math.Inf(1)
		}
		if s != math.Floor(s) {
			return math.NaN()
		}
	}
	power := func(a float64) float64 {
		if a > 0 {
			return math.Exp(-s * math.Log(a)) // faster than Pow, and as good but for the last digits
		}
		return math.Pow(a, -s)
	}
	if n := int(s); float64(n) == s && n <= 16 { // few products are as good, and faster
		power = func(a float64) float64 {
			p := a
			for range n - 1 {
				p *= a
			}
			return 1 / p
		}
	}
	sum := 0.0
	a, terms := q, 12
	if eps > epsilon64 && s <= 8 {
		terms = 6
	}
	for i := 0; i < terms || a <= float64(terms); i++ {
		sum += power(a)
		a++
	}
	if s > 300 {
		return sum
	}
	last := power(a)
	sum += last*a/(s-1) + 0.5*last
	b := [...]float64{1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6, -3617.0 / 510}
	term := s * last / a
	fact := 2.0
	for k, bk := range b {
		sum += bk / fact * term
		n := float64(2*k + 2)
		term *= (s + n - 1) * (s + n) / (a * a)
		fact *= (n + 1) * (n + 2)
	}
	return sum
}

// polygamma is derivative number n of digamma, by the zeta function (A&S 6.4.10).
func polygamma(n int64, x float64) float64 { return polygammaTo(n, x, epsilon64) }

func polygammaTo(n int64, x, eps float64) float64 {
	switch {
	case n == 0:
		return digamma(x)
	case n == 1 && math.IsInf(x, -1):
		return math.NaN()
	case n == 1 && math.IsInf(x, 1):
		return 0
	}
	sign := 1.0
	if n%2 == 0 {
		sign = -1
	}
	return sign * math.Gamma(float64(n)+1) * zetaTo(float64(n)+1, x, eps)
}

// bessIe is exp(-|x|) I_n(|x|) for n 0 or 1: by its power series (A&S 9.6.10), all of whose terms are positive, and from 30 by its asymptotic
// series (9.7.1).
func bessIe(n int, x float64) float64 {
	x = math.Abs(x)
	if math.IsInf(x, 0) {
		return 0
	}
	if x < 30 {
		t := 1.0
		if n == 1 {
			t = x / 2
		}
		s := t
		for k := 1.0; k < 200; k++ {
			t *= x * x / 4 / (k * (k + float64(n)))
			s += t
			if t < s*1e-17 {
				break
			}
		}
		return s * math.Exp(-x)
	}
	mu := 4 * float64(n*n)
	s, t := 1.0, 1.0
	for k := 1.0; k < 30; k++ {
		t *= -(mu - (2*k-1)*(2*k-1)) / (k * 8 * x)
		s += t
		if math.Abs(t) < 1e-17 {
			break
		}
	}
	return s / math.Sqrt(2*math.Pi*x)
}

// i0 is the modified Bessel function of the first kind, of order 0.
func i0(x float64) float64 { return bessIe(0, x) * math.Exp(math.Abs(x)) }

// i1 is that of order 1, which is odd.
func i1(x float64) float64 { return math.Copysign(bessIe(1, x)*math.Exp(math.Abs(x)), x) }

// bessK is K_n(x) for n 0 or 1, times exp(x) if scaled, by the integral of exp(-x cosh t) cosh nt (A&S 9.6.24). The trapezoidal rule
// converges exponentially here, as the integrand is even and dies out with all its derivatives.
func bessK(n int, x float64, scaled bool) float64 {
	if x == 0 {
		return math.Inf(1)
	}
	if x < 0 || x != x {
		return math.NaN()
	}
	if x > 200 {
		// The integrand is narrower than the step; few terms of the asymptotic series do.
		mu := 4 * float64(n*n)
		s, t := 1.0, 1.0
		for k := 1.0; k < 8; k++ {
			t *= (mu - (2*k-1)*(2*k-1)) / (k * 8 * x)
			s += t
		}
		s *= math.Sqrt(math.Pi / (2 * x))
		if !scaled {
			s *= math.Exp(-x)
		}
		return s
	}
	h := min(1.0/6, 0.55/math.Sqrt(x)) // the error is about exp(-pi^2/h), and exp(-2 pi^2/(h^2 x)) where the integrand is narrow
	s := 0.5
	once := math.Cosh(h)
	c, before := once, 1.0 // cosh of t and of the step before it
	for t := h; ; t += h {
		if t > h {
			c, before = 2*once*c-before, c
		}
		e := math.Exp(-x * (c - 1))
		if n == 1 {
			e *= c
		}
		s += e
		if e < s*1e-18 || t > 800 {
			break
		}
	}
	s *= h
	if !scaled {
		s *= math.Exp(-x)
	}
	return s
}

// airyAi is the Airy function: near 0 by its two power series (A&S 10.4.2), beyond by the asymptotic expansions of the decaying side (10.4.59)
// and of the oscillating one (10.4.60).
func airyAi(x float64) float64 {
	const c1, c2 = 0.35502805388781723926, 0.25881940379280679840
	switch {
	case x != x:
		return x
	case math.IsInf(x, 0):
		return math.NaN()
	case x > 103.892:
		return 0
	case x > 6:
		z := 2.0 / 3 * x * math.Sqrt(x)
		s, t := 1.0, 1.0
		for k := 1.0; k < 20; k++ {
			t *= -(6*k - 5) * (6*k - 3) * (6*k - 1) / (216 * k * (2*k - 1) * z)
			s += t
		}
		return math.Exp(-z) / (2 * math.SqrtPi * math.Sqrt(math.Sqrt(x))) * s
	case x < -7:
		z := 2.0 / 3 * -x * math.Sqrt(-x)
		p, q, t := 0.0, 0.0, 1.0
		for k := 0; k < 12; k++ {
			sg := 1.0
			if k/2%2 == 1 {
				sg = -1
			}
			if k%2 == 0 {
				p += sg * t
			} else {
				q += sg * t
			}
			j := float64(k + 1)
			t *= (6*j - 5) * (6*j - 3) * (6*j - 1) / (216 * j * (2*j - 1) * z)
		}
		s, c := math.Sincos(z - math.Pi/4)
		return (c*p + s*q) / (math.SqrtPi * math.Sqrt(math.Sqrt(-x)))
	}
	f, g := 1.0, x
	tf, tg := 1.0, x
	for k := 1.0; k < 100; k++ {
		tf *= x * x * x / ((3*k - 1) * 3 * k)
		tg *= x * x * x / (3 * k * (3*k + 1))
		f += tf
		g += tg
		if math.Abs(tf)+math.Abs(tg) < 1e-18*(math.Abs(f)+math.Abs(g)) {
			break
		}
	}
	return c1*f - c2*g
}

// igammaSeries is the regularised lower incomplete gamma function by its power series (A&S 6.5.29), which converges fast for x < a+1.
func igammaSeries(a, x, eps float64) float64 {
	s, t := 1/a, 1/a
	for n := 1.0; n < 2000; n++ {
		t *= x / (a + n)
		s += t
		if t < s*eps {
			break
		}
	}
	lg := lgamma(a)
	return s * math.Exp(-x+a*math.Log(x)-lg)
}

// igammaFraction is the upper one by its continued fraction (A&S 6.5.31), evaluated by the modified method of Lentz, as in Numerical Recipes,
// section 6.2; it converges fast for x > a+1.
func igammaFraction(a, x, eps float64) float64 {
	const tinyv = 1e-300
	b := x + 1 - a
	c, d := 1/tinyv, 1/b
	h := d
	for i := 1.0; i < 5000; i++ {
		an := -i * (i - a)
		b += 2
		d = an*d + b
		if math.Abs(d) < tinyv {
			d = tinyv
		}
		c = b + an/c
		if math.Abs(c) < tinyv {
			c = tinyv
		}
		d = 1 / d
		h *= d * c
		if math.Abs(d*c-1) < 10*eps {
			break
		}
	}
	lg := lgamma(a)
	return math.Exp(-x+a*math.Log(x)-lg) * h
}

// igamma is the lower function, by whichever of the two expansions converges.
func igamma(a, x float64) float64 { return igammaTo(a, x, epsilon64) }

func igammaTo(a, x, eps float64) float64 {
	switch {
	case x < 0 || a < 0:
		return math.NaN()
	case a == 0:
		if x > 0 {
			return 1
		}
		return math.NaN()
	case x == 0:
		return 0
	case math.IsInf(a, 1):
		if math.IsInf(x, 1) {
			return math.NaN()
		}
		return 0
	case math.IsInf(x, 1):
		return 1
	case a != a || x != x:
		return math.NaN()
	case x < a+1:
		return igammaSeries(a, x, eps)
	}
	return 1 - igammaFraction(a, x, eps)
}

// igammac is the upper function, igamma's complement, without the loss of digits that 1 - igamma would have.
func igammac(a, x float64) float64 { return igammacTo(a, x, epsilon64) }

func igammacTo(a, x, eps float64) float64 {
	switch {
	case x < 0 || a < 0:
		return math.NaN()
	case a == 0:
		if x > 0 {
			return 0
		}
		return math.NaN()
	case x == 0:
		return 1
	case math.IsInf(a, 1):
		if math.IsInf(x, 1) {
			return math.NaN()
		}
		return 1
	case math.IsInf(x, 1):
		return 0
	case a != a || x != x:
		return math.NaN()
	case x < a+1:
		return 1 - igammaSeries(a, x, eps)
	}
	return igammaFraction(a, x, eps)
}

// polynomials registers the orthogonal polynomials, each by its three-term recurrence (A&S 22.7), upwards from degrees 0 and 1.
func polynomials(reg func(name string, f func(x float64, n int64) float64)) {
	rec := func(p1 func(x float64) float64, next func(k, x, p, q float64) float64) func(float64, int64) float64 {
		return func(x float64, n int64) float64 {
			if n < 0 {
				return 0
			}
			if x != x {
				return x
			}
			p, q := p1(x), 1.0
			if n == 0 {
				return 1
			}
			for k := int64(1); k < n; k++ {
				p, q = next(float64(k), x, p, q), p
			}
			return p
		}
	}
	cheb := func(k, x, p, q float64) float64 { return 2*x*p - q }
	t := rec(func(x float64) float64 { return x }, cheb)
	u := rec(func(x float64) float64 { return 2 * x }, cheb)
	v := rec(func(x float64) float64 { return 2*x - 1 }, cheb)
	w := rec(func(x float64) float64 { return 2*x + 1 }, cheb)
	shift := func(f func(float64, int64) float64) func(float64, int64) float64 {
		return func(x float64, n int64) float64 { return f(2*x-1, n) }
	}
	reg("chebyshev_polynomial_t", t)
	reg("chebyshev_polynomial_u", u)
	reg("chebyshev_polynomial_v", v)
	reg("chebyshev_polynomial_w", w)
	reg("shifted_chebyshev_polynomial_t", shift(t))
	reg("shifted_chebyshev_polynomial_u", shift(u))
	reg("shifted_chebyshev_polynomial_v", shift(v))
	reg("shifted_chebyshev_polynomial_w", shift(w))
	reg("hermite_polynomial_h", rec(func(x float64) float64 { return 2 * x }, func(k, x, p, q float64) float64 { return 2*x*p - 2*k*q }))
	reg("hermite_polynomial_he", rec(func(x float64) float64 { return x }, func(k, x, p, q float64) float64 { return x*p - k*q }))
	reg("laguerre_polynomial_l", rec(func(x float64) float64 { return 1 - x }, func(k, x, p, q float64) float64 { return ((2*k+1-x)*p - k*q) / (k + 1) }))
	reg("legendre_polynomial_p", rec(func(x float64) float64 { return x }, func(k, x, p, q float64) float64 { return ((2*k+1)*x*p - k*q) / (k + 1) }))
}
