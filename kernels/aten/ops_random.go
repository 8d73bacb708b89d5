package aten

import (
	"math"
	"slices"

	"whittle/kernels/native"
	"whittle/kernels/tensor"
)

// Random numbers, from the streams of package tensor, which are those of PyTorch on CPU. Results equal PyTorch's for the same seed, so each
// operator draws as many numbers, in the same order, as the kernel there, and makes of them what that makes.

// continuous refuses dtypes that a kernel of a continuous distribution has no form for.
func continuous(kernel string, t *tensor.Tensor) error {
	if k := t.DType.Kind(); k == tensor.KindFloat || k == tensor.KindComplex {
		return nil
	}
	return errf("\"%s\" not implemented for '%s'", kernel, cName(t.DType))
}

// elementType is the C++ type of an element that is an integer, as compilers print it.
func elementType(d tensor.DType) string {
	names := map[tensor.DType]string{tensor.Int64: "long int", tensor.Int32: "int", tensor.Int16: "short int", tensor.Int8: "signed char", tensor.UInt8: "unsigned char", tensor.Bool: "bool"}
	if n := names[d]; n != "" {
		return n
	}
	return cName(d)
}

// smallestNormal is the least positive number of a dtype that has all its digits.
func smallestNormal(d tensor.DType) float64 {
	switch d {
	case tensor.Float64:
		return 0x1p-1022
	case tensor.Float16:
		return 0x1p-14
	}
	return 0x1p-126
}

// deviation refuses a negative standard deviation, a number or elements.
func deviation(std Value, real bool) error {
	t, ok := std.(*tensor.Tensor)
	if !ok {
		if x := toFloat(std); x < 0 {
			return errf("normal expects std >= 0.0, but found std %g", x)
		}
		return nil
	}
	if t.DType.Kind() == tensor.KindComplex {
		return errf("normal expects standard deviation to be non-complex")
	}
	if real && slices.ContainsFunc(t.Floats(), func(x float64) bool { return x < 0 }) {
		return errf("normal expects all elements of std >= 0.0")
	}
	return nil
}

func randomInplace(gen func(c *Call) *tensor.Generator) {
	// Each filler serves x_(self, ...), and x(self, ...), which fills a tensor like self.
	fill := func(names string, f func(c *Call, g *tensor.Generator, t *tensor.Tensor) error) {
		def(names, func(c *Call) (Value, error) {
			t := c.T(0)
			if !c.Op.Has(Inplace) {
				t = c.NewUnset(t.DType, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))
			}
			if err := f(c, gen(c), t); err != nil {
				return nil, err
			}
			if c.Op.Has(Inplace) {
				c.bump(t)
			}
			return t, nil
		})
	}
	fill("uniform_ uniform", func(c *Call, g *tensor.Generator, t *tensor.Tensor) error {
		if c.F(1) > c.F(2) {
			return errf("uniform_ expects to return a [from, to) range, but found from=%g > to=%g", c.F(1), c.F(2))
		}
		if c.real {
			if err := continuous("check_uniform_bounds", t); err != nil {
				return err
			}
			g.UniformFill(t, c.F(1), c.F(2))
		}
		return nil
	})
	fill("normal_ normal_functional", func(c *Call, g *tensor.Generator, t *tensor.Tensor) error {
		if c.F(2) < 0 {
			return errf("normal expects std >= 0.0, but found std %g", c.F(2))
		}
		if c.real {
			if err := continuous("normal_kernel_cpu", t); err != nil {
				return err
			}
			g.NormalFill(t, c.F(1), c.F(2))
		}
		return nil
	})
	fill("exponential_ exponential", func(c *Call, g *tensor.Generator, t *tensor.Tensor) error {
		if c.real && !t.DType.IsFloat() {
			return errf("Exponential distribution is a continuous probability distribution. dtype must be a floating point but you specified %s", cName(t.DType))
		}
		if c.F(1) <= 0 {
			return errf("exponential_ expects lambda > 0.0, but found lambda=%g", c.F(1))
		}
		if c.real {
			g.ExponentialFill(t, c.F(1))
		}
		return nil
	})
	fill("cauchy_ cauchy", func(c *Call, g *tensor.Generator, t *tensor.Tensor) error {
		if c.F(2) <= 0 {
			return errf("cauchy_ expects sigma > 0.0, but found sigma=%g", c.F(2))
		}
		if !t.DType.IsFloat() {
			return errf("Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you specified %s", elementType(t.DType))
		}
		if c.real {
			g.FillFrom(t, func() float64 { return g.Cauchy(c.F(1), c.F(2)) })
		}
		return nil
	})
	fill("log_normal_ log_normal", func(c *Call, g *tensor.Generator, t *tensor.Tensor) error {
		if c.F(2) <= 0 {
			return errf("log_normal_ expects std > 0.0, but found std=%g", c.F(2))
		}
		if !t.DType.IsFloat() {
			return errf("\"log_normal_cpu\" not implemented for '%s'", cName(t.DType))
		}
		if c.real {
			g.FillFrom(t, func() float64 { return g.LogNormal(c.F(1), c.F(2)) })
		}
		return nil
	})
	fill("geometric_ geometric", func(c *Call, g *tensor.Generator, t *tensor.Tensor) error {
		if p := c.F(1); !(p > 0 && p < 1) {
			return errf("geometric_ expects p to be in (0, 1), but got p=%g", p)
		}
		if k := t.DType.Kind(); k != tensor.KindFloat && k != tensor.KindInt {
			return errf("\"geometric_cpu\" not implemented for '%s'", cName(t.DType))
		}
		if c.real {
			g.FillFrom(t, func() float64 { return g.Geometric(c.F(1)) })
		}
		return nil
	})
	// drawn serves the operators whose elements are drawn each by parameters of its own, which lie in the tensors at the front of the arguments.
	drawn := func(name, kernel string, params int, half bool, check func(x []float64) error, draw func(g *tensor.Generator, x []float64) float64) {
		def(name, func(c *Call) (Value, error) {
			ps := make([]*tensor.Tensor, params)
			for i := range ps {
				ps[i] = c.T(i)
			}
			d := ps[0].DType
			if params == 2 && ps[1].DType != d {
				return nil, errf("Found dtype %s but expected %s", cName(ps[1].DType), cName(d))
			}
			if !d.IsFloat() || !half && d.Size() < 4 {
				return nil, errf("\"%s\" not implemented for '%s'", kernel, cName(d))
			}
			shape, err := broadcast(c.Args[:params])
			if err != nil {
				return nil, err
			}
			o := c.NewC(d, shape...)
			if !c.real {
				return o, nil
			}
			xs := make([][]float64, params)
			for i, p := range ps {
				xs[i] = c.floats(p.Expand(shape))
			}
			g, out, x := gen(c), c.zeros(o.Numel()), c.zeros(int64(params))
			for i := range out {
				for j := range x {
					x[j] = xs[j][i]
				}
				if err := check(x); err != nil {
					return nil, err
				}
				out[i] = draw(g, x)
				if name == "_standard_gamma" {
					if least := smallestNormal(d); !(out[i] > least) { // NaN, too
						out[i] = least
					}
				}
			}
			o.SetFloats(out)
			return o, nil
		})
	}
	unchecked := func([]float64) error { return nil }
	drawn("poisson", "poisson_cpu", 1, true, func(x []float64) error {
		if !(x[0] >= 0) {
			return errf("invalid Poisson rate, expected rate to be non-negative")
		}
		return nil
	}, func(g *tensor.Generator, x []float64) float64 { return g.Poisson(x[0]) })
	drawn("binomial", "binomial_cpu", 2, false, unchecked, func(g *tensor.Generator, x []float64) float64 { return g.Binomial(x[0], x[1]) })
	drawn("_standard_gamma", "gamma_cpu", 1, false, unchecked, func(g *tensor.Generator, x []float64) float64 { return g.Gamma(x[0]) })
	def("_sample_dirichlet", func(c *Call) (Value, error) {
		t := c.T(0)
		if t.DType != tensor.Float32 && t.DType != tensor.Float64 {
			return nil, errf("\"dirichlet\" not implemented for '%s'", cName(t.DType))
		}
		o := c.newCUnset(t.DType, t.Shape...)
		if !c.real || t.Numel() == 0 {
			return o, nil
		}
		g, xs, n := gen(c), c.floats(t), 1
		if t.Dim() > 0 {
			n = int(t.Shape[t.Dim()-1])
		}
		for row := range slices.Chunk(xs, n) {
			sum := 0.0
			for i, x := range row {
				row[i] = g.Gamma(x)
				sum += row[i]
			}
			for i := range row {
				row[i] = max(row[i]/sum, smallestNormal(t.DType))
			}
		}
		o.SetFloats(xs)
		return o, nil
	})
	def("_standard_gamma_grad", func(c *Call) (Value, error) {
		d := rtype(c.Args[:2]...)
		return c.pwv(c.Args[:2], d, d, f2(gammaSampleGrad))
	})
	def("_dirichlet_grad", func(c *Call) (Value, error) {
		d := rtype(c.Args[:3]...)
		return c.pwv(c.Args[:3], d, d, f3(dirichletSampleGrad))
	})
	fill("bernoulli_.float bernoulli.p", func(c *Call, g *tensor.Generator, t *tensor.Tensor) error {
		if p := c.F(1); p < 0 || p > 1 {
			return errf("bernoulli_ expects p to be in [0, 1], but got p=%g", p)
		}
		if c.real {
			g.BernoulliFill(t, c.F(1))
		}
		return nil
	})
	fill("bernoulli_.Tensor bernoulli.Tensor", func(c *Call, g *tensor.Generator, t *tensor.Tensor) error {
		if c.real {
			g.BernoulliTensor(t, c.T(1).Expand(t.Shape))
		}
		return nil
	})
	def("bernoulli", func(c *Call) (Value, error) {
		p := c.T(0)
		t := c.New(p.DType, p.Shape, tensor.PreservedStrides(p.Shape, p.Stride))
		if c.real {
			for _, x := range c.floats(p) {
				if !(x >= 0 && x <= 1) {
					return nil, errf("Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)")
				}
			}
			gen(c).BernoulliTensor(t, p)
		}
		return t, nil
	})
	fill("random_ random", func(c *Call, g *tensor.Generator, t *tensor.Tensor) error {
		if c.real {
			g.RandomFull(t)
		}
		return nil
	})
	fill("random_.to random_.from random.to random.from", func(c *Call, g *tensor.Generator, t *tensor.Tensor) error {
		lo, hi := int64(0), toInt(c.opt("to"))
		if f := c.opt("from"); f != nil {
			lo = toInt(f)
		}
		if c.Op.Sig().Arg("from") >= 0 && c.opt("to") == nil {
			hi = math.MaxInt64
		}
		if lo >= hi {
			return errf("random_ expects 'from' to be less than 'to', but got from=%d >= to=%d", lo, hi)
		}
		if c.real {
			g.RandomFill(t, lo, hi)
		}
		return nil
	})
	def("normal.float_float", func(c *Call) (Value, error) {
		if err := deviation(c.Args[1], c.real); err != nil {
			return nil, err
		}
		t := c.newCUnset(c.optDT(tensor.Float32), c.Ints(2)...)
		if c.real {
			gen(c).NormalFill(t, c.F(0), c.F(1))
		}
		return t, nil
	})
	def("normal.Tensor_Tensor normal.Tensor_float normal.float_Tensor", func(c *Call) (Value, error) {
		sh, err := broadcast(c.Args[:2])
		if err != nil {
			return nil, err
		}
		d := rtype(c.Args[:2]...)
		if m, ok := c.Args[0].(*tensor.Tensor); ok {
			d = m.DType
		}
		t := c.newCUnset(d, sh...)
		if err := deviation(c.Args[1], c.real); err != nil {
			return nil, err
		}
		if c.real {
			if err := continuous("normal_kernel_cpu", t); err != nil {
				return nil, err
			}
			if _, scaled := c.Args[1].(*tensor.Tensor); !scaled { // one deviation for all is the distribution's
				gen(c).NormalFill(t, 0, c.F(1))
				return c.do("add.Tensor", t, c.Args[0], int64(1))
			}
			gen(c).NormalFill(t, 0, 1)
			x, err := c.doT("mul.Tensor", t, c.Args[1])
			if err != nil {
				return nil, err
			}
			return c.do("add.Tensor", x, c.Args[0], int64(1))
		}
		return t, nil
	})
	def("multinomial", func(c *Call) (Value, error) {
		p, n, repl := c.T(0), c.I(1), c.B(2)
		if p.Dim() < 1 || p.Dim() > 2 {
			return nil, errf("prob_dist must be 1 or 2 dim")
		}
		if !p.DType.IsFloat() {
			return nil, errf("multinomial only supports floating-point dtypes for input, got: %s", cName(p.DType))
		}
		k := p.Shape[p.Dim()-1]
		if n <= 0 {
			return nil, errf("cannot sample n_sample <= 0 samples")
		}
		if !repl && n > k {
			return nil, errf("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
		}
		shape := slices.Clone(p.Shape)
		shape[len(shape)-1] = n
		o := c.NewC(tensor.Int64, shape...)
		if !c.real {
			return o, nil
		}
		if !repl || n == 1 {
			for row := range slices.Chunk(c.floats(p), int(k)) {
				sum := 0.0
				for _, x := range row {
					if !(x >= 0) || math.IsInf(x, 1) {
						return nil, errf("probability tensor contains either `inf`, `nan` or element < 0")
					}
					sum += x
				}
				if sum == 0 {
					return nil, errf("invalid multinomial distribution (sum of probabilities <= 0)")
				}
			}
		}
		g := gen(c)
		if !repl || n == 1 {
			q := tensor.Empty(p.DType, p.Shape...)
			g.ExponentialFill(q, 1)
			r, err := c.doT("div.Tensor", p, q)
			if err != nil {
				return nil, err
			}
			v, err := c.do("topk", r, n, int64(-1), true, true)
			if err != nil {
				return nil, err
			}
			return v.([]Value)[1], nil
		}
		xs := c.floats(p)
		var out []int64
		for r := int64(0); r < p.Numel()/k; r++ {
			cdf := slices.Clone(xs[r*k : (r+1)*k])
			for i := 1; i < len(cdf); i++ {
				cdf[i] = tensor.RoundTo(p.DType, cdf[i]+cdf[i-1])
			}
			total := cdf[k-1]
			if !(total > 0) {
				return nil, errf("invalid multinomial distribution (sum of probabilities <= 0)")
			}
			for i := range cdf {
				cdf[i] /= total
			}
			cdf[k-1] = 1
			for i := int64(0); i < n; i++ {
				u := g.Float64()
				j, _ := slices.BinarySearch(cdf, u)
				out = append(out, int64(min(j, int(k)-1)))
			}
		}
		o.SetInts(out)
		return o, nil
	})
	def("native_dropout", func(c *Call) (Value, error) {
		t, p := c.T(0), c.F(1)
		train := c.None(2) || c.B(2)
		if !train || t.Numel() == 0 {
			m := c.New(tensor.Bool, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))
			m.FillInt(1)
			o, err := c.do("clone", t, nil)
			return []Value{o, m}, err
		}
		if p == 1 {
			return []Value{c.New(t.DType, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride)), c.New(tensor.Bool, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))}, nil
		}
		m := c.NewUnset(tensor.Bool, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))
		if c.real {
			DefaultGenerator.BernoulliFill(m, 1-p)
		}
		o, err := c.do("mul.Tensor", t, m)
		if err == nil {
			o, err = c.do("mul.Tensor", o, 1/(1-p))
		}
		return []Value{o, m}, err
	})
	def("native_dropout_backward", func(c *Call) (Value, error) {
		g, m, s := c.T(0), c.T(1), c.F(2)
		d := rtype(g, m, s)
		return c.pwv([]Value{g, m}, d, d, f2(func(a, b float64) float64 { return a * b * s }).simd(native.Times, s))
	})
	dropout := func(name string, feature, alpha bool) {
		comp(name, func(c *Call) (Value, error) {
			t, p, train := c.T(0), c.F(1), c.B(2)
			if p < 0 || p > 1 {
				return nil, errf("dropout probability has to be between 0 and 1, but got %g", p)
			}
			if p == 0 || !train || t.Numel() == 0 {
				return t, nil
			}
			if p == 1 {
				z, err := c.via("zeros_like", t)
				if err != nil {
					return nil, err
				}
				return c.via("mul.Tensor", t, z)
			}
			var noise Value
			var err error
			if feature {
				shape := make([]int64, t.Dim())
				for i := range shape {
					shape[i] = 1
					if i < 2 {
						shape[i] = t.Shape[i]
					}
				}
				noise, err = c.via("new_empty", t, ints(shape))
			} else {
				noise, err = c.via("empty_like", t)
			}
			if err != nil {
				return nil, err
			}
			if noise, err = c.via("bernoulli_.float", noise, 1-p); err != nil {
				return nil, err
			}
			if alpha {
				const ap = 1.7580993408473766
				a := 1 / math.Sqrt((ap*ap*p+1)*(1-p))
				b := must(c.via("mul.Scalar", must(c.via("add.Scalar", noise, -1.0)), ap*a))
				b = must(c.via("add.Scalar", b, ap*a*p))
				noise = must(c.via("mul.Scalar", noise, a))
				return c.via("add.Tensor", must(c.via("mul.Tensor", t, noise)), b)
			}
			if noise, err = c.via("div_.Scalar", noise, 1-p); err != nil {
				return nil, err
			}
			return c.via("mul.Tensor", t, noise)
		})
		comp(name+"_", func(c *Call) (Value, error) {
			v, err := c.via(name, c.Args...)
			if err != nil || v == c.Args[0] {
				return c.Args[0], err
			}
			return c.via("copy_", c.Args[0], v)
		})
	}
	dropout("dropout", false, false)
	dropout("feature_dropout", true, false)
	dropout("alpha_dropout", false, true)
	dropout("feature_alpha_dropout", true, true)
	def("rrelu_with_noise", func(c *Call) (Value, error) {
		t, noise, lo, hi, train := c.T(0), c.T(1), c.F(2), c.F(3), c.B(4)
		if !train {
			return c.do("leaky_relu", t, (lo+hi)/2)
		}
		o := c.New(t.DType, t.Shape, tensor.PreservedStrides(t.Shape, t.Stride))
		if c.real {
			xs, ns := c.floats(t), c.zeros(t.Numel())
			g := gen(c)
			for i, x := range xs {
				ns[i] = 1
				if x <= 0 {
					ns[i] = tensor.RoundTo(t.DType, g.Float64()*(hi-lo)+lo)
					xs[i] = x * ns[i]
				}
			}
			o.SetFloats(xs)
			noise.SetFloats(ns)
		}
		c.bump(noise)
		return o, nil
	})
	def("rrelu_with_noise_functional", func(c *Call) (Value, error) {
		noise, err := c.doT("clone", c.Args[1], nil)
		if err != nil {
			return nil, err
		}
		v, err := c.do("rrelu_with_noise", c.Args[0], noise, c.Args[2], c.Args[3], c.Args[4], c.Args[5])
		return []Value{v, noise}, err
	})
	def("rrelu_with_noise_backward", func(c *Call) (Value, error) {
		lo, hi, train := c.F(3), c.F(4), c.B(5)
		if train && hi-lo > 1e-6 {
			return c.do("mul.Tensor", c.Args[2], c.Args[0])
		}
		return c.do("leaky_relu_backward", c.Args[0], c.Args[1], (lo+hi)/2, c.Args[6])
	})
	comp("rrelu", func(c *Call) (Value, error) {
		n, err := c.via("empty_like", c.Args[0])
		if err != nil {
			return nil, err
		}
		return c.via("rrelu_with_noise", c.Args[0], n, c.Args[1], c.Args[2], c.Args[3], c.Args[4])
	})
}
