package random

import "math"

// The layers of the ziggurats: 256 of one area each, the last of which has the tail.
const (
	normR = 3.6541528853610087963519472518
	normV = 0.0049286732339746519
	expR  = 7.69711747013104971404462804811408952334296818528283253278834867283241051210533
	expV  = 0.0039496598225815571993
)

type ziggurat struct {
	k    [256]uint64  // below it, a draw is within the layer
	w, f [256]float64 // widths per unit, and the density at the edge
}

// layers computes a table for a density and its inverse; unit is how many steps a draw has.
func layers(r, v, unit float64, f, inverse func(float64) float64) *ziggurat {
	z := &ziggurat{}
	x, prev := r, r
	q := v / f(r)
	z.k[0], z.k[1] = uint64(r/q*unit), 0
	z.w[0], z.w[255] = q/unit, r/unit
	z.f[0], z.f[255] = 1, f(r)
	for i := 254; i >= 1; i-- {
		x = inverse(v/x + f(x))
		z.k[i+1] = uint64(x / prev * unit)
		prev = x
		z.f[i], z.w[i] = f(x), x/unit
	}
	return z
}

var (
	normal = layers(normR, normV, 1<<52, func(x float64) float64 { return math.Exp(-0.5 * x * x) }, func(y float64) float64 { return math.Sqrt(-2 * math.Log(y)) })
	expo   = layers(expR, expV, 1<<53, func(x float64) float64 { return math.Exp(-x) }, func(y float64) float64 { return -math.Log(y) })
)

func (s *Stream) ziggurat() float64 {
	for {
		r := s.Uint64()
		i := r & 0xff
		r >>= 8
		sign := r & 1
		abs := r >> 1 & 0x000fffffffffffff
		x := float64(abs) * normal.w[i]
		if sign != 0 {
			x = -x
		}
		if abs < normal.k[i] {
			return x
		}
		if i == 0 {
			for {
				xx := -1 / normR * math.Log1p(-s.Float64())
				yy := -math.Log1p(-s.Float64())
				if yy+yy > xx*xx {
					if abs>>8&1 != 0 {
						return -(normR + xx)
					}
					return normR + xx
				}
			}
		}
		if (normal.f[i-1]-normal.f[i])*s.Float64()+normal.f[i] < math.Exp(-0.5*x*x) {
			return x
		}
	}
}

func (s *Stream) zigguratExp() float64 {
	for {
		r := s.Uint64() >> 3
		i := r & 0xff
		r >>= 8
		x := float64(r) * expo.w[i]
		if r < expo.k[i] {
			return x
		}
		if i == 0 {
			return expR - math.Log1p(-s.Float64())
		}
		if (expo.f[i-1]-expo.f[i])*s.Float64()+expo.f[i] < math.Exp(-x) {
			return x
		}
	}
}
