package stdlib

import (
	"math"

	"whittle/capture/python/clinic"
	"whittle/capture/python/vm"
)

// statisticsModule is _statistics.
func statisticsModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_statistics", "Accelerators for the statistics module.\n")
	clinic.Def(m, "_normal_dist_inv_cdf", "p:float, mu:float, sigma:float, /", func(c *clinic.Call) (vm.Object, error) {
		p, mu, sigma := c.Float(0), c.Float(1), c.Float(2)
		if p <= 0 || p >= 1 || sigma <= 0 {
			return nil, c.Errorf(c.Exc.ValueError, "inv_cdf undefined for these parameters")
		}
		return vm.Float(mu + float64(normalQuantile(p)*sigma)), nil
	})
	return m, nil
}

// rational is a quotient of two polynomials, the highest power first.
type rational struct{ num, den [8]float64 }

// at evaluates both, step by step as Python does: no step is fused with the next.
func (q *rational) at(r float64) (num, den float64) {
	num, den = q.num[0], q.den[0]
	for i := 1; i < len(q.num); i++ {
		num = float64(num*r) + q.num[i]
		den = float64(den*r) + q.den[i]
	}
	return num, den
}

// quantiles are the rational approximations of Wichura's algorithm AS 241, for the middle, the flanks and the far tails.
var quantiles = [3]rational{
	{
		num: [8]float64{2.5090809287301226727e+3, 3.3430575583588128105e+4, 6.7265770927008700853e+4, 4.5921953931549871457e+4, 1.3731693765509461125e+4, 1.9715909503065514427e+3, 1.3314166789178437745e+2, 3.3871328727963666080e+0},
		den: [8]float64{5.2264952788528545610e+3, 2.8729085735721942674e+4, 3.9307895800092710610e+4, 2.1213794301586595867e+4, 5.3941960214247511077e+3, 6.8718700749205790830e+2, 4.2313330701600911252e+1, 1},
	},
	{
		num: [8]float64{7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e+0, 3.64784832476320460504e+0, 5.76949722146069140550e+0, 4.63033784615654529590e+0, 1.42343711074968357734e+0},
		den: [8]float64{1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e+0, 2.05319162663775882187e+0, 1},
	},
	{
		num: [8]float64{2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e+0, 5.46378491116411436990e+0, 6.65790464350110377720e+0},
		den: [8]float64{2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1},
	},
}

// normalQuantile is the inverse of the standard normal distribution.
func normalQuantile(p float64) float64 {
	q := p - 0.5
	if math.Abs(q) <= 0.425 {
		num, den := quantiles[0].at(0.180625 - float64(q*q))
		return num * q / den
	}
	r := p
	if q > 0 {
		r = 1 - p
	}
	r = math.Sqrt(-math.Log(r))
	part, shift := &quantiles[1], 1.6
	if r > 5 {
		part, shift = &quantiles[2], 5
	}
	num, den := part.at(r - shift)
	return math.Copysign(num/den, q)
}

// typingModule is _typing.
func typingModule(in *vm.Interp) (*vm.Module, error) {
	m := in.NewModule("_typing", "Accelerators for the typing module.\n")
	clinic.Def(m, "_idfunc", "x, /", func(c *clinic.Call) (vm.Object, error) { return c.Args[0], nil })
	return m, nil
}
