package random

import "math"

// A Stream draws from distributions: as RandomState does (Legacy) or as Generator.
type Stream struct {
	Source
	Legacy   bool
	HasGauss bool
	Gauss    float64 // the second of a pair
}

// Normal is a standard normal number.
func (s *Stream) Normal() float64 {
	if !s.Legacy {
		return s.ziggurat()
	}
	if s.HasGauss {
		s.HasGauss = false
		g := s.Gauss
		s.Gauss = 0
		return g
	}
	for {
		x, y := 2*s.Float64()-1, 2*s.Float64()-1
		r := x*x + y*y
		if r >= 1 || r == 0 {
			continue
		}
		f := math.Sqrt(-2 * math.Log(r) / r)
		s.Gauss, s.HasGauss = f*x, true
		return f * y
	}
}

// Exponential is a standard exponential number.
func (s *Stream) Exponential() float64 {
	if s.Legacy {
		return -math.Log(1 - s.Float64())
	}
	return s.zigguratExp()
}

// Gamma is a standard gamma number of a shape.
func (s *Stream) Gamma(shape float64) float64 {
	switch {
	case shape == 1:
		return s.Exponential()
	case shape == 0:
		return 0
	case shape < 1:
		for {
			u, v := s.Float64(), s.Exponential()
			if u <= 1-shape {
				if x := math.Pow(u, 1/shape); x <= v {
					return x
				}
				continue
			}
			y := -math.Log((1 - u) / shape)
			if x := math.Pow(1-shape+shape*y, 1/shape); x <= v+y {
				return x
			}
		}
	}
	b := shape - 1./3
	c := 1 / math.Sqrt(9*b)
	for {
		var x, v float64
		for v <= 0 {
			x = s.Normal()
			v = 1 + c*x
		}
		v = v * v * v
		u := s.Float64()
		if u < 1-0.0331*(x*x)*(x*x) || math.Log(u) < 0.5*x*x+b*(1-v+math.Log(v)) {
			return b * v
		}
	}
}

// Beta is a beta number.
func (s *Stream) Beta(a, b float64) float64 {
	if a <= 1 && b <= 1 {
		for {
			u, v := s.Float64(), s.Float64()
			x, y := math.Pow(u, 1/a), math.Pow(v, 1/b)
			if x+y > 1 || u+v == 0 {
				continue
			}
			if x+y > 0 {
				return x / (x + y)
			}
			lx, ly := math.Log(u)/a, math.Log(v)/b
			m := max(lx, ly)
			lx, ly = lx-m, ly-m
			return math.Exp(lx - math.Log(math.Exp(lx)+math.Exp(ly)))
		}
	}
	x, y := s.Gamma(a), s.Gamma(b)
	return x / (x + y)
}

// Poisson is a Poisson number.
func (s *Stream) Poisson(lam float64) int64 {
	if lam == 0 {
		return 0
	}
	if lam < 10 {
		limit := math.Exp(-lam)
		for n, p := int64(0), 1.0; ; n++ {
			if p *= s.Float64(); p <= limit {
				return n
			}
		}
	}
	root, log := math.Sqrt(lam), math.Log(lam)
	b := 0.931 + 2.53*root
	a := -0.059 + 0.02483*b
	inv := 1.1239 + 1.1328/(b-3.4)
	vr := 0.9277 - 3.6224/(b-2)
	for {
		u, v := s.Float64()-0.5, s.Float64()
		us := 0.5 - math.Abs(u)
		k := math.Floor((2*a/us+b)*u + lam + 0.43)
		if us >= 0.07 && v <= vr {
			return int64(k)
		}
		if k < 0 || us < 0.013 && v > us {
			continue
		}
		g, _ := math.Lgamma(k + 1)
		if math.Log(v)+math.Log(inv)-math.Log(a/(us*us)+b) <= -lam+k*log-g {
			return int64(k)
		}
	}
}

// Binomial is a binomial number.
func (s *Stream) Binomial(n int64, p float64) int64 {
	switch {
	case n == 0 || p == 0:
		return 0
	case p > 0.5:
		return n - s.Binomial(n, 1-p)
	case float64(n)*p <= 30:
		return s.binomialInversion(n, p)
	}
	return s.btpe(n, p)
}

func (s *Stream) binomialInversion(n int64, p float64) int64 {
	q := 1 - p
	qn := math.Exp(float64(n) * math.Log(q))
	np := float64(n) * p
	bound := int64(math.Min(float64(n), np+10*math.Sqrt(np*q+1)))
	x, px, u := int64(0), qn, s.Float64()
	for u > px {
		x++
		if x > bound {
			x, px, u = 0, qn, s.Float64()
		} else {
			u -= px
			px = float64(n-x+1) * p * px / (float64(x) * q)
		}
	}
	return x
}

// btpe is the method of Kachitvichyanukul and Schmeiser for large n: triangle, parallelogram and two exponential tails.
func (s *Stream) btpe(n int64, p float64) int64 {
	r, q, fn := p, 1-p, float64(n)
	fm := fn*r + r
	m := math.Floor(fm)
	p1 := math.Floor(2.195*math.Sqrt(fn*r*q)-4.6*q) + 0.5
	xm := m + 0.5
	xl, xr := xm-p1, xm+p1
	c := 0.134 + 20.5/(15.3+m)
	a := (fm - xl) / (fm - xl*r)
	laml := a * (1 + a/2)
	a = (xr - fm) / (xr * q)
	lamr := a * (1 + a/2)
	p2 := p1 * (1 + 2*c)
	p3 := p2 + c/laml
	p4 := p3 + c/lamr
	for {
		nrq := fn * r * q
		u, v := s.Float64()*p4, s.Float64()
		var y float64
		switch {
		case u <= p1:
			return int64(math.Floor(xm - p1*v + u))
		case u <= p2:
			x := xl + (u-p1)/c
			v = v*c + 1 - math.Abs(m-x+0.5)/p1
			if v > 1 {
				continue
			}
			y = math.Floor(x)
		case u <= p3:
			y = math.Floor(xl + math.Log(v)/laml)
			if y < 0 || v == 0 {
				continue
			}
			v *= (u - p2) * laml
		default:
			y = math.Floor(xr - math.Log(v)/lamr)
			if y > fn || v == 0 {
				continue
			}
			v *= (u - p3) * lamr
		}
		k := math.Abs(y - m)
		if k <= 20 || k >= nrq/2-1 {
			sq := r / q
			aa := sq * (fn + 1)
			f := 1.0
			for i := m + 1; i <= y; i++ {
				f *= aa/i - sq
			}
			for i := y + 1; i <= m; i++ {
				f /= aa/i - sq
			}
			if v > f {
				continue
			}
			return int64(y)
		}
		rho := k / nrq * ((k*(k/3+0.625)+1./6)/nrq + 0.5)
		t := -k * k / (2 * nrq)
		lv := math.Log(v)
		if lv < t-rho {
			return int64(y)
		}
		if lv > t+rho {
			continue
		}
		x1, f1, z, w := y+1, m+1, fn+1-m, fn-y+1
		stirling := func(x float64) float64 {
			y := x * x
			return (13680. - (462.-(132.-(99.-140./y)/y)/y)/y) / x / 166320.
		}
		if lv > xm*math.Log(f1/x1)+(fn-m+0.5)*math.Log(z/w)+(y-m)*math.Log(w*r/(x1*q))+stirling(f1)+stirling(z)+stirling(x1)+stirling(w) {
			continue
		}
		return int64(y)
	}
}
