package tensor

import "math"

// Numbers of other distributions, made of the generator's uniform and normal ones. Each takes as many of them, in the order, as PyTorch's sampler
// on CPU, so that all draws that follow agree with it, too; all calculate in float64, whatever the tensor holds.

// Cauchy is a sample of the Cauchy distribution, by the inverse of its distribution function.
func (g *Generator) Cauchy(median, sigma float64) float64 {
	return median + sigma*math.Tan(math.Pi*(g.Float64()-0.5))
}

// LogNormal is the exponential of a normal sample.
func (g *Generator) LogNormal(mean, std float64) float64 { return math.Exp(g.Normal()*std + mean) }

// Geometric is the number of trials of probability p up to the first success.
func (g *Generator) Geometric(p float64) float64 {
	return math.Ceil(math.Log(g.Float64()) / math.Log1p(-p))
}

// Gamma is a sample of the gamma distribution of the given shape and rate 1: Marsaglia and Tsang, A simple method for generating gamma variables
// (2000), with their step for shapes below 1.
func (g *Generator) Gamma(shape float64) float64 {
	scale := 1.0
	if shape < 1 {
		if shape == 0 {
			return 0
		}
		scale = math.Pow(1-g.Float64(), 1/shape)
		shape++
	}
	d := shape - float64(float32(1.0/3)) // the literal has single precision there
	c := 1 / math.Sqrt(9*d)
	for {
		x := g.Normal()
		v := 1 + c*x
		for v <= 0 {
			x = g.Normal()
			v = 1 + c*x
		}
		v = v * v * v
		u := 1 - g.Float64()
		if x2 := x * x; u < 1-0.0331*x2*x2 || math.Log(u) < 0.5*x2+d*(1-v+math.Log(v)) {
			return scale * d * v
		}
	}
}

// Poisson is a sample of the Poisson distribution. Below a rate of 10 uniform numbers are multiplied up (Knuth); from there on it is Hörmann's
// transformed rejection (PTRS, 1993).
func (g *Generator) Poisson(rate float64) float64 {
	if rate == 0 {
		return 0
	}
	if rate < 10 {
		limit, p := math.Exp(-rate), 1.0
		for k := 0.0; ; k++ {
			if p *= g.Float64(); !(p > limit) {
				return k
			}
		}
	}
	logRate := math.Log(rate)
	b := 0.931 + 2.53*math.Sqrt(rate)
	a := -0.059 + 0.02483*b
	logInvAlpha := math.Log(1.1239 + 1.1328/(b-3.4))
	vr := 0.9277 - 3.6224/(b-2)
	for {
		u, v := g.Float64()-0.5, g.Float64()
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + rate + 0.43)
		if us >= 0.07 && v <= vr {
			return k
		}
		if k < 0 || us < 0.013 && v > us {
			continue
		}
		lg, _ := math.Lgamma(k + 1)
		if math.Log(v)+logInvAlpha-math.Log(a/(us*us)+b) <= -rate+k*logRate-lg {
			return k
		}
	}
}

// Binomial is a sample of the number of successes among n trials of probability p. Few expected successes are counted by the gaps between them,
// which are geometric; many come of Hörmann's transformed rejection (BTRS, 1993). NaNs are kept.
func (g *Generator) Binomial(n, p float64) float64 {
	switch {
	case n <= 0 || p <= 0:
		return 0
	case p >= 1:
		return n
	case n != n || p != p:
		return math.NaN()
	case p > 0.5:
		return n - g.binomial(n, 1-p)
	}
	return g.binomial(n, p)
}

// binomial is Binomial for p up to a half.
func (g *Generator) binomial(n, p float64) float64 {
	if n*p < 10 {
		logq := math.Log1p(-p)
		for k, at := 0.0, 0.0; ; k++ {
			if at += math.Ceil(math.Log(g.Float64()) / logq); at > n {
				return k
			}
		}
	}
	std := math.Sqrt(n * p * (1 - p))
	b := 1.15 + 2.53*std
	a := -0.0873 + 0.0248*b + 0.01*p
	c := n*p + 0.5
	vr := 0.92 - 4.2/b
	r := p / (1 - p)
	alpha := (2.83 + 5.1/b) * std
	m := math.Floor((n + 1) * p)
	for {
		u, v := g.Float64()-0.5, g.Float64()
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + c)
		if us >= 0.07 && v <= vr {
			return k
		}
		if k < 0 || k > n {
			continue
		}
		v = math.Log(v * alpha / (a/(us*us) + b))
		bound := (m+0.5)*math.Log((m+1)/(r*(n-m+1))) + (n+1)*math.Log((n-m+1)/(n-k+1)) + (k+0.5)*math.Log(r*(n-k+1)/(k+1)) +
			stirlingRest(m) + stirlingRest(n-m) - stirlingRest(k) - stirlingRest(n-k)
		if v <= bound {
			return k
		}
	}
}

// stirlingRest is what Stirling's formula for k! leaves out of its logarithm, by the formula's next terms where k is large enough for them.
func stirlingRest(k float64) float64 {
	if k < 10 {
		lg, _ := math.Lgamma(k + 1)
		return lg - (k+0.5)*math.Log(k+1) + (k + 1) - 0.5*math.Log(2*math.Pi)
	}
	x := (k + 1) * (k + 1)
	return (1.0/12 - (1.0/360-1.0/1260/x)/x) / (k + 1)
}

// FillFrom fills t with samples that draw makes, one for each element in the order of memory.
func (g *Generator) FillFrom(t *Tensor, draw func() float64) {
	if t.DType.Kind() == KindFloat {
		g.fill(t, each(draw))
		return
	}
	g.fillInt(t, func() int64 { return int64(draw()) })
}
