package aten

import (
	"math"

	"whittle/kernels/tensor"
)

// windows are the weights by which spectra are taken. A periodic window is one that is longer by an element, less its last one.
func windows() {
	// window registers the overloads of one: at says its value at i of l elements that span n, and args are the numbers of its longer overloads by their names.
	window := func(name string, overloads []string, args map[string]float64, at func(i, n float64, p map[string]float64) float64) {
		for _, o := range overloads {
			def(name+o, func(c *Call) (Value, error) {
				l, periodic := c.I(0), true
				if v := c.opt("periodic"); v != nil {
					periodic = v.(bool)
				}
				d := c.optDT(tensor.DefaultDType)
				if !d.IsFloat() {
					return nil, errf("%s expects floating point dtypes, got: TensorOptions(dtype=%s, device=cpu, layout=Strided (default), requires_grad=false (default), pinned_memory=false, memory_format=(nullopt))",
						name, elementType(d))
				}
				if l < 0 {
					return nil, errf("%s requires non-negative window_length, got window_length=%d", name, l)
				}
				o := c.NewC(d, l)
				if !c.real {
					return o, nil
				}
				p := map[string]float64{}
				for k, v := range args {
					p[k] = v
					if given := c.opt(k); given != nil {
						p[k] = toFloat(given)
					}
				}
				n := float64(l - 1)
				if periodic {
					n = float64(l)
				}
				xs := c.zeros(int64(l))
				for i := range xs {
					xs[i] = 1
					if l > 1 {
						xs[i] = at(float64(i), n, p)
					}
				}
				o.SetFloats(xs)
				return o, nil
			})
		}
	}
	two := []string{"", ".periodic"}
	window("hann_window", two, nil, func(i, n float64, _ map[string]float64) float64 { return 0.5 - 0.5*math.Cos(2*math.Pi*i/n) })
	window("blackman_window", two, nil, func(i, n float64, _ map[string]float64) float64 {
		t := 2 * math.Pi * i / n
		return 0.42 - 0.5*math.Cos(t) + 0.08*math.Cos(2*t)
	})
	window("bartlett_window", two, nil, func(i, n float64, _ map[string]float64) float64 { return 1 - math.Abs(2*i/n-1) })
	window("hamming_window", []string{"", ".periodic", ".periodic_alpha", ".periodic_alpha_beta"}, map[string]float64{"alpha": 0.54, "beta": 0.46},
		func(i, n float64, p map[string]float64) float64 {
			return p["alpha"] - p["beta"]*math.Cos(2*math.Pi*i/n)
		})
	window("kaiser_window", []string{"", ".periodic", ".beta"}, map[string]float64{"beta": 12}, func(i, n float64, p map[string]float64) float64 {
		x := 2*i/n - 1
		return i0(p["beta"]*math.Sqrt(max(0, 1-x*x))) / i0(p["beta"])
	})
}
