package aten

import "math"

// Derivatives of samples along the parameters of their distribution: where F(x; a) is the distribution function, x moves with a so that F stays as
// it is, by dx/da = -(dF/da) / (dF/dx) (Figurnov, Mohamed and Mnih, Implicit reparameterization gradients, 2018). Each is the integral of what the
// logarithm of the density gains over one side of x, over the density at x; the side is the one on which the integrand has one sign, so that
// no digits are lost. PyTorch's own kernels are approximations of these to three or four digits.

// halfLine integrates f over the positive numbers, f being concentrated below some multiple of width: the trapezoidal rule in t, where the
// variable is width*exp(t - exp(-t)), converges exponentially for what decays exponentially.
func halfLine(width float64, f func(u float64) float64) float64 {
	const h = 1.0 / 24
	sum, quiet := 0.0, 0
	step := func(t float64) float64 {
		e := math.Exp(-t)
		u := width * math.Exp(t-e)
		y := f(u) * u * (1 + e)
		sum += y
		return math.Abs(y)
	}
	for i := 0; i < 400 && quiet < 8; i++ {
		if step(float64(i)*h) <= math.Abs(sum)*1e-18 {
			quiet++
		} else {
			quiet = 0
		}
	}
	quiet = 0
	for i := 1; i < 200 && quiet < 8; i++ {
		if step(-float64(i)*h) <= math.Abs(sum)*1e-18 {
			quiet++
		} else {
			quiet = 0
		}
	}
	return sum * h
}

// gammaSampleGrad is the derivative of a sample x of the standard gamma distribution along its shape a.
func gammaSampleGrad(a, x float64) float64 {
	if !(a > 0) || !(x > 0) || math.IsInf(x, 1) {
		return math.NaN()
	}
	logx := math.Log(x)
	if x < a {
		// The lower incomplete function as a power series (A&S 6.5.29), each of whose terms has a derivative of the same sign.
		psi, term, sum := digamma(a)+1/a, 1/a, 0.0
		for n := 1.0; n < 1e6; n++ {
			gain := term * (psi - logx)
			sum += gain
			if gain < sum*1e-17 {
				break
			}
			term *= x / (a + n)
			psi += 1 / (a + n)
		}
		return x * sum
	}
	// The upper function as an integral over x*(1+u) (A&S 6.5.3).
	width := 1 / (x - a + 1 + math.Sqrt(a))
	c := logx - digamma(a)
	return x * halfLine(width, func(u float64) float64 {
		l := math.Log1p(u)
		return math.Exp((a-1)*l-x*u) * (c + l)
	})
}

// dirichletSampleGrad is what moves one value x of a sample of a Dirichlet distribution along its own parameter a, of a sum total of parameters: the
// derivative of a beta sample over 1-x, as the other values make room in proportion.
func dirichletSampleGrad(x, a, total float64) float64 {
	b := total - a
	if !(x > 0) || !(x < 1) || !(a > 0) || !(b > 0) {
		switch {
		case x == 0 && a > 0 && b > 0:
			return 0
		case x == 1 && a > 0 && b > 0:
			return (digamma(total) - digamma(a)) / b // the limit
		}
		return math.NaN()
	}
	mean := digamma(a) - digamma(total) // of the logarithm
	logx := math.Log(x)
	near := math.Sqrt(total)
	if logx < mean {
		// From 0 to x, over x*exp(-v).
		odds := x / (1 - x)
		return x / (1 - x) * halfLine(1/(a+near), func(v float64) float64 {
			return math.Exp((b-1)*math.Log1p(-odds*math.Expm1(-v))-a*v) * (mean - logx + v)
		})
	}
	// From x to 1, over 1-(1-x)*exp(-v).
	odds := (1 - x) / x
	return halfLine(1/(b+near), func(v float64) float64 {
		l := math.Log1p(-odds * math.Expm1(-v))
		return math.Exp((a-1)*l-b*v) * (logx + l - mean)
	})
}
