package aten

import (
	"math"
	"slices"

	"whittle/kernels/native"
	"whittle/kernels/parallel"
	"whittle/kernels/tensor"
)

// Losses and their gradients. Each is a function of elements and a reduction: none, mean or sum (0, 1, 2). nll_loss leaves out targets that
// are ignored, and its mean divides by the weights of the others: of none, it is NaN. Gradients take the gradient of the reduced loss, and
// share it out again.

// reduceLoss applies a loss's reduction: 0 none, 1 mean, 2 sum.
func reduceLoss(run func(string, ...Value) (Value, error), v Value, err error, reduction int64) (Value, error) {
	if err != nil {
		return nil, err
	}
	switch reduction {
	case 1:
		return run("mean", v)
	case 2:
		return run("sum", v)
	}
	return v, nil
}

// within reports whether all elements of t, of which there are some, are numbers from lo to hi.
func (c *Call) within(t *tensor.Tensor, lo, hi float64) bool {
	all := allMask(t)
	if least := gathered(t, all, native.Least, nil); least != nil {
		most := gathered(t, all, native.Greatest, nil)
		return least[0] >= lo && most[0] <= hi
	}
	return !slices.ContainsFunc(c.floats(t), func(x float64) bool { return !(x >= lo && x <= hi) })
}

func losses() {
	// beta is where a loss goes over from the square of a difference to its size; 0 for others.
	beta := func(c *Call) float64 {
		for _, name := range []string{"beta", "delta"} {
			if i := c.Op.Sig().Arg(name); i >= 0 {
				return c.F(i)
			}
		}
		return 0
	}
	// A loss is an elementwise function and its gradient by the first argument.
	loss := func(name string, op, back native.Op, redAt, backRedAt int, f func(c *Call) func(x, y float64) float64, df func(c *Call) func(x, y float64) float64) {
		def(name, func(c *Call) (Value, error) {
			d := rtype(c.Args[:2]...)
			v, err := c.pwv(c.Args[:2], d, d, f2(f(c)).simd(op, beta(c)))
			return reduceLoss(c.do, v, err, c.I(redAt))
		})
		def(name+"_backward", func(c *Call) (Value, error) {
			x := c.T(1)
			d := rtype(c.Args[:3]...)
			n := 1.0
			if c.I(backRedAt) == 1 {
				n = 1 / float64(x.Numel())
			}
			g := df(c)
			return c.pwv(c.Args[:3], d, d, f3(func(gr, x, y float64) float64 { return gr * n * g(x, y) }).simd(back, n, beta(c)))
		})
	}
	loss("mse_loss", native.MSE, native.MSEBack, 2, 3, func(*Call) func(x, y float64) float64 {
		return func(x, y float64) float64 { return (x - y) * (x - y) }
	}, func(*Call) func(x, y float64) float64 {
		return func(x, y float64) float64 { return 2 * (x - y) }
	})
	loss("smooth_l1_loss", native.SmoothL1, native.SmoothL1Back, 2, 3, func(c *Call) func(x, y float64) float64 {
		b := c.F(3)
		return func(x, y float64) float64 {
			z := math.Abs(x - y)
			if z < b {
				return 0.5 * z * z / b
			}
			return z - 0.5*b
		}
	}, func(c *Call) func(x, y float64) float64 {
		b := c.F(4)
		return func(x, y float64) float64 {
			z := x - y
			switch {
			case z <= -b:
				return -1
			case z >= b:
				return 1
			}
			return z / b
		}
	})
	loss("huber_loss", native.Huber, native.HuberBack, 2, 3, func(c *Call) func(x, y float64) float64 {
		b := c.F(3)
		return func(x, y float64) float64 {
			z := math.Abs(x - y)
			if z < b {
				return 0.5 * z * z
			}
			return b * (z - 0.5*b)
		}
	}, func(c *Call) func(x, y float64) float64 {
		b := c.F(4)
		return func(x, y float64) float64 {
			z := x - y
			switch {
			case z <= -b:
				return -b
			case z >= b:
				return b
			}
			return z
		}
	})
	loss("soft_margin_loss", native.SoftMargin, native.SoftMarginBack, 2, 3, func(*Call) func(x, y float64) float64 {
		return func(x, y float64) float64 { return math.Log1p(math.Exp(-x * y)) }
	}, func(*Call) func(x, y float64) float64 {
		return func(x, y float64) float64 { z := math.Exp(-x * y); return -y * z / (z + 1) }
	})
	def("binary_cross_entropy", func(c *Call) (Value, error) {
		x, y, w := c.T(0), c.T(1), c.T(2)
		if !tensor.SameShape(x, y) {
			return nil, kindf(ValueError, "Using a target size (%s) that is different to the input size (%s) is deprecated. Please ensure they have the same size.", torchSize(y.Shape), torchSize(x.Shape))
		}
		if c.real && x.Numel() > 0 && !c.within(x, 0, 1) {
			return nil, errf("all elements of input should be between 0 and 1")
		}
		v, err := c.pwv(c.Args[:2], x.DType, x.DType, f2(func(x, y float64) float64 {
			return (y-1)*max(math.Log1p(-x), -100) - y*max(math.Log(x), -100)
		}).simd(native.BCE))
		if err == nil && w != nil {
			v, err = c.do("mul.Tensor", v, w)
		}
		return reduceLoss(c.do, v, err, c.I(3))
	})
	def("binary_cross_entropy_backward", func(c *Call) (Value, error) {
		x, w := c.T(1), c.T(3)
		n := 1.0
		if c.I(4) == 1 {
			n = 1 / float64(x.Numel())
		}
		v, err := c.pwv(c.Args[:3], x.DType, x.DType, f3(func(g, x, y float64) float64 {
			return n * g * (x - y) / max((1-x)*x, 1e-12)
		}).simd(native.BCEBack, n))
		if err != nil || w == nil {
			return v, err
		}
		return c.do("mul.Tensor", v, w)
	})
	def("binary_cross_entropy_with_logits", func(c *Call) (Value, error) {
		x, y, w, pw := c.T(0), c.T(1), c.T(2), c.T(3)
		d := rtype(x, y)
		var v Value
		var err error
		if pw != nil {
			v, err = c.pwv([]Value{x, y, pw}, d, y.DType, f3(func(x, y, p float64) float64 {
				return (1-y)*x - (1+(p-1)*y)*logSigmoid(x)
			}).simd(native.BCELogitsWeighed))
		} else {
			v, err = c.pwv([]Value{x, y}, d, y.DType, f2(func(x, y float64) float64 { return (1-y)*x - logSigmoid(x) }).simd(native.BCELogits))
		}
		if err == nil && w != nil {
			v, err = c.do("mul_.Tensor", v, w) // the loss is of the target's dtype, whatever it is weighed with
		}
		return reduceLoss(c.do, v, err, c.I(4))
	})
	comp("l1_loss", func(c *Call) (Value, error) {
		v, err := c.via("abs", must(c.via("sub.Tensor", c.Args[0], c.Args[1])))
		return reduceLoss(c.via, v, err, c.I(2))
	})
	comp("kl_div", func(c *Call) (Value, error) {
		x, y := c.Args[0], c.Args[1]
		var v Value
		var err error
		if c.B(3) {
			v, err = c.via("mul.Tensor", must(c.via("exp", y)), must(c.via("sub.Tensor", y, x)))
		} else {
			v, err = c.via("sub.Tensor", must(c.via("xlogy.Tensor", y, y)), must(c.via("mul.Tensor", y, x)))
		}
		return reduceLoss(c.via, v, err, c.I(2))
	})
	nll := func(c *Call, spatial bool) (Value, error) {
		x, y, w, red, ignore := c.T(0), c.T(1), c.T(2), c.I(3), c.I(4)
		if !spatial && (x.Dim() < 1 || x.Dim() > 2) {
			return nil, errf("input tensor should be 1D or 2D")
		}
		if !spatial && y.Dim() > 1 {
			return nil, errf("0D or 1D target tensor expected, multi-target not supported")
		}
		if y.DType != tensor.Int64 && y.DType != tensor.UInt8 {
			if !spatial || true {
				return nil, errf("expected scalar type Long but found %s", cName(y.DType))
			}
		}
		if !spatial && x.Dim() == 2 && (y.Dim() != 1 || y.Shape[0] != x.Shape[0]) {
			return nil, errf("size mismatch (got input: %s, target: %s)", tensor.ShapeText(x.Shape), tensor.ShapeText(y.Shape))
		}
		cls := x.Shape[0]
		if x.Dim() > 1 {
			cls = x.Shape[1]
		}
		if spatial && (y.Shape[0] != x.Shape[0] || y.Shape[1] != x.Shape[2] || y.Shape[2] != x.Shape[3]) {
			return nil, errf("size mismatch (got input: %s , target: %s", tensor.ShapeText(x.Shape), tensor.ShapeText(y.Shape))
		}
		if w != nil && w.Numel() != cls {
			return nil, errf("weight tensor should be defined either for all %d classes or no classes but got weight tensor of shape: %s", cls, tensor.ShapeText(w.Shape))
		}
		var o *tensor.Tensor
		total := c.NewC(x.DType)
		if red == 0 && (spatial || x.Dim() == 2) {
			o = c.NewC(x.DType, y.Shape...)
		} else {
			o = c.NewC(x.DType)
		}
		if !c.real {
			return list(o, total), nil
		}
		at := func(i int64) float64 { return x.At(i) }
		ys, ws := y.Ints(), floatsOf(w)
		inner := int64(1)
		if spatial {
			inner = x.Shape[2] * x.Shape[3]
		}
		if xs := x.Float32s(); xs != nil {
			at = func(i int64) float64 { return float64(xs[i]) }
		} else if x.DType == tensor.Float32 && spatial {
			xs, s := tensor.Whole[float32](x), x.Stride
			at = func(i int64) float64 {
				plane, p := i/inner, i%inner
				return float64(xs[x.Offset+plane/cls*s[0]+plane%cls*s[1]+p/x.Shape[3]*s[2]+p%x.Shape[3]*s[3]])
			}
		}
		sum, tw := 0.0, 0.0
		each := c.zeros(int64(len(ys)))
		for i, t := range ys {
			if t == ignore {
				continue
			}
			if t < 0 || t >= cls {
				return nil, kindf(IndexError, "Target %d is out of bounds.", t)
			}
			f := 1.0
			if ws != nil {
				f = ws[t]
			}
			n, p := int64(i)/inner, int64(i)%inner
			each[i] = -f * at((n*cls+t)*inner+p)
			sum += each[i]
			tw += f
		}
		switch red {
		case 0:
			if o.Dim() == 0 {
				o.Set(0, sum)
			} else {
				o.SetFloats(each)
			}
			if x.Dim() == 1 {
				total.Set(0, tw)
			}
		case 1:
			o.Set(0, sum/tw)
			total.Set(0, tw)
		default:
			o.Set(0, sum)
			total.Set(0, tw)
		}
		return list(o, total), nil
	}
	nllBack := func(c *Call, spatial bool) (Value, error) {
		g, x, y, w, red, ignore, total := c.T(0), c.T(1), c.T(2), c.T(3), c.I(4), c.I(5), c.T(6)
		o := c.NewC(x.DType, x.Shape...)
		if !c.real {
			return o, nil
		}
		cls := x.Shape[0]
		if x.Dim() > 1 {
			cls = x.Shape[1]
		}
		inner := int64(1)
		if spatial {
			inner = x.Shape[2] * x.Shape[3]
		}
		gs, ws := c.floats(g), floatsOf(w)
		dx := o.Float32s()
		var out []float64
		if dx == nil {
			out = c.zeros(x.Numel())
		}
		for i, t := range y.Ints() {
			if t == ignore {
				continue
			}
			if t < 0 || t >= cls {
				return nil, kindf(IndexError, "Target %d is out of bounds.", t)
			}
			f := 1.0
			if ws != nil {
				f = ws[t]
			}
			gr := gs[0]
			if red == 0 && len(gs) > i {
				gr = gs[i]
			}
			if red == 1 {
				gr /= total.At(0)
			}
			n, p := int64(i)/inner, int64(i)%inner
			if dx != nil {
				dx[(n*cls+t)*inner+p] = float32(-f * gr)
			} else {
				out[(n*cls+t)*inner+p] = -f * gr
			}
		}
		if dx == nil {
			o.SetFloats(out)
		}
		return o, nil
	}
	def("nll_loss_forward", func(c *Call) (Value, error) {
		if x, y := c.T(0), c.T(1); x.Dim() == 1 && y.Dim() == 1 && y.Shape[0] != 1 {
			return nil, errf("For 1D inputs, 1D targets must have size 1, but got target size: %d", y.Shape[0])
		}
		return nll(c, false)
	})
	def("nll_loss2d_forward", func(c *Call) (Value, error) { return nll(c, true) })
	def("nll_loss_backward", func(c *Call) (Value, error) { return nllBack(c, false) })
	def("nll_loss2d_backward", func(c *Call) (Value, error) { return nllBack(c, true) })
	for _, n := range []string{"nll_loss", "nll_loss2d"} {
		comp(n, func(c *Call) (Value, error) {
			v, err := c.via(n+"_forward", c.Args[:5]...)
			if err != nil {
				return nil, err
			}
			return v.([]Value)[0], nil
		})
	}
	comp("nll_loss_nd", func(c *Call) (Value, error) {
		x, y := c.T(0), c.T(1)
		if x.Dim() < 1 {
			return nil, kindf(ValueError, "Expected 1 or more dimensions (got %d)", x.Dim())
		}
		if x.Dim() != 1 && (y.Dim() < 1 || x.Shape[0] != y.Shape[0]) {
			return nil, kindf(ValueError, "Expected input batch_size (%d) to match target batch_size (%d).", x.Shape[0], firstOr(y.Shape, 0))
		}
		switch {
		case x.Dim() <= 2:
			return c.via("nll_loss", c.Args...)
		case x.Dim() == 4:
			return c.via("nll_loss2d", c.Args...)
		}
		n, ch := x.Shape[0], x.Shape[1]
		out := append([]int64{n}, x.Shape[2:]...)
		if !slices.Equal(y.Shape[1:], x.Shape[2:]) {
			return nil, errf("Expected target size %s, got %s", tensor.ShapeText(out), tensor.ShapeText(y.Shape))
		}
		x4 := must(c.via("view", must(c.via("contiguous", x)), ints([]int64{n, ch, 1, -1})))
		y3 := must(c.via("view", must(c.via("contiguous", y)), ints([]int64{n, 1, -1})))
		v, err := c.via("nll_loss2d", x4, y3, c.Args[2], c.Args[3], c.Args[4])
		if err != nil || c.I(3) != 0 {
			return v, err
		}
		return c.via("view", v, ints(out))
	})
	comp("cross_entropy_loss", func(c *Call) (Value, error) {
		x, y, w, red, ignore, smooth := c.T(0), c.T(1), c.T(2), c.I(3), c.Args[4], c.F(5)
		cd := int64(1)
		if x.Dim() == 1 {
			cd = 0
		}
		if x.Dim() == 0 {
			return nil, kindf(ValueError, "Expected 1 or more dimensions (got 0)")
		}
		if smooth < 0 || smooth > 1 {
			return nil, errf("label_smoothing must be between 0.0 and 1.0. Got: %g", smooth)
		}
		n := x.Shape[cd]
		wb := func() Value {
			if w == nil {
				return nil
			}
			sh := fill(nil, x.Dim(), 1)
			sh[cd] = w.Numel()
			return must(c.via("view", w, ints(sh)))
		}
		if slices.Equal(x.Shape, y.Shape) {
			if !y.DType.IsFloat() {
				return nil, errf("Expected floating point type for target with class probabilities, got %s", cName(y.DType))
			}
			t := Value(y)
			if smooth > 0 {
				t = must(c.via("add.Scalar", must(c.via("mul.Scalar", t, 1-smooth)), smooth/float64(n)))
			}
			l := must(c.via("log_softmax.int", x, cd, x.DType))
			if w != nil {
				l = must(c.via("mul.Tensor", l, wb()))
			}
			m := must(c.via("mul.Tensor", l, t))
			switch red {
			case 1:
				if x.Numel() == 0 {
					return c.via("div.Scalar", must(c.via("neg", must(c.via("sum", m)))), math.NaN())
				}
				return c.via("div.Scalar", must(c.via("neg", must(c.via("sum", m)))), x.Numel()/n)
			case 2:
				return c.via("neg", must(c.via("sum", m)))
			}
			return c.via("neg", must(c.via("sum.dim_IntList", m, ints([]int64{cd}), false)))
		}
		l := must(c.via("log_softmax.int", x, cd, x.DType))
		if smooth == 0 {
			return c.via("nll_loss_nd", l, y, optT(w), red, ignore)
		}
		nl, err := c.via("nll_loss_nd", l, y, optT(w), red, ignore)
		if err != nil {
			return nil, err
		}
		wl := l
		if w != nil {
			wl = must(c.via("mul.Tensor", l, wb()))
		}
		sm := must(c.via("neg", must(c.via("sum.dim_IntList", wl, ints([]int64{cd}), false))))
		mask := must(c.via("eq.Scalar", y, ignore))
		sm = must(c.via("masked_fill.Scalar", sm, mask, 0.0))
		switch red {
		case 1:
			if w != nil {
				safe := must(c.via("masked_fill.Scalar", y, mask, int64(0)))
				g := must(c.via("gather", w, int64(0), must(c.via("flatten.using_ints", safe))))
				g = must(c.via("masked_fill.Scalar", g, must(c.via("flatten.using_ints", mask)), 0.0))
				sm = must(c.via("div.Tensor", must(c.via("sum", sm)), must(c.via("sum", g))))
			} else {
				keep := must(c.via("sum", must(c.via("bitwise_not", mask))))
				sm = must(c.via("div.Tensor", must(c.via("sum", sm)), keep))
			}
		case 2:
			sm = must(c.via("sum", sm))
		}
		return c.via("add.Tensor", must(c.via("mul.Scalar", nl, 1-smooth)), must(c.via("mul.Scalar", sm, smooth/float64(n))))
	})
	lossComposites()
}

func firstOr(s []int64, def int64) int64 {
	if len(s) == 0 {
		return def
	}
	return s[0]
}

// minus is x-v for a number x, as PyTorch's C++ spells it.
func minus(c *Call, x, v Value) Value {
	return must(c.via("sub.Tensor", must(c.via("fill.Scalar", must(c.via("empty_like", v)), x)), v))
}

func lossComposites() {
	comp("margin_ranking_loss", func(c *Call) (Value, error) {
		v := must(c.via("mul.Tensor", must(c.via("neg", c.Args[2])), must(c.via("sub.Tensor", c.Args[0], c.Args[1]))))
		v = must(c.via("add.Scalar", v, c.F(3)))
		v, err := c.via("clamp_min_", v, int64(0))
		return reduceLoss(c.via, v, err, c.I(4))
	})
	comp("hinge_embedding_loss", func(c *Call) (Value, error) {
		x, y := c.Args[0], c.Args[1]
		zeros := must(c.via("zeros_like", x))
		m := must(c.via("clamp_min_", minus(c, c.F(2), x), int64(0)))
		a := must(c.via("where.self", must(c.via("ne.Scalar", y, int64(1))), m, zeros))
		b := must(c.via("where.self", must(c.via("ne.Scalar", y, int64(-1))), x, zeros))
		v, err := c.via("add.Tensor", a, b)
		return reduceLoss(c.via, v, err, c.I(3))
	})
	comp("cosine_embedding_loss", func(c *Call) (Value, error) {
		a, b, y := c.Args[0], c.Args[1], c.Args[2]
		dim := []int64{int64(c.T(2).Dim())}
		const eps = 1e-12
		sum := func(v Value) Value { return must(c.via("sum.dim_IntList", v, ints(dim), false)) }
		p := sum(must(c.via("mul.Tensor", a, b)))
		m1 := must(c.via("add.Scalar", sum(must(c.via("mul.Tensor", a, a))), eps))
		m2 := must(c.via("add.Scalar", sum(must(c.via("mul.Tensor", b, b))), eps))
		d := must(c.via("sqrt", must(c.via("mul.Tensor", m1, m2))))
		cos := must(c.via("div.Tensor", p, d))
		zeros := must(c.via("zeros_like", cos))
		pos := minus(c, int64(1), cos)
		neg := must(c.via("clamp_min_", must(c.via("sub.Scalar", cos, c.F(3))), int64(0)))
		q := must(c.via("where.self", must(c.via("eq.Scalar", y, int64(1))), pos, zeros))
		r := must(c.via("where.self", must(c.via("eq.Scalar", y, int64(-1))), neg, zeros))
		v, err := c.via("add.Tensor", q, r)
		return reduceLoss(c.via, v, err, c.I(4))
	})
	comp("poisson_nll_loss", func(c *Call) (Value, error) {
		x, y := c.Args[0], c.Args[1]
		var v Value
		if c.B(2) {
			v = must(c.via("sub.Tensor", must(c.via("exp", x)), must(c.via("mul.Tensor", y, x))))
		} else {
			v = must(c.via("sub.Tensor", x, must(c.via("mul.Tensor", y, must(c.via("log", must(c.via("add.Scalar", x, c.F(4)))))))))
		}
		if c.B(3) {
			s := must(c.via("mul.Tensor", y, must(c.via("log", y))))
			s = must(c.via("sub.Tensor", s, y))
			s = must(c.via("add.Tensor", s, must(c.via("mul.Scalar", must(c.via("log", must(c.via("mul.Scalar", y, 2*math.Pi)))), 0.5))))
			s = must(c.via("masked_fill.Scalar", s, must(c.via("le.Scalar", y, int64(1))), int64(0)))
			v = must(c.via("add.Tensor", v, s))
		}
		if e, ok := v.(error); ok {
			return nil, e
		}
		return reduceLoss(c.via, v, nil, c.I(5))
	})
	comp("cosine_similarity", func(c *Call) (Value, error) {
		a, b, eps := c.T(0), c.T(1), c.F(3)
		d := rtype(a, b)
		if !d.IsFloat() {
			return nil, errf("expected common dtype to be floating point, yet common dtype is %s", cName(d))
		}
		sh, err := tensor.BroadcastShapes(a.Shape, b.Shape)
		if err != nil {
			return nil, errf("%s", err)
		}
		unit := func(t *tensor.Tensor) Value {
			x := Value(t)
			if !slices.Equal(t.Shape, sh) {
				x = must(c.via("expand", t, ints(sh)))
			}
			if t.DType != d {
				x = must(c.via("_to_copy", x, d))
			}
			n := must(c.via("clone", must(c.via("linalg_vector_norm", x, int64(2), ints([]int64{c.I(2)}), true)), nil))
			must(c.via("clamp_min_", must(c.via("detach", n)), eps)) // gradients know nothing of it
			return must(c.via("div.Tensor", x, n))
		}
		return c.via("sum.dim_IntList", must(c.via("mul.Tensor", unit(a), unit(b))), ints([]int64{c.I(2)}), false)
	})
	comp("pairwise_distance", func(c *Call) (Value, error) {
		a, b := c.T(0), c.T(1)
		n := int64(max(a.Dim(), b.Dim())) - 1
		d := must(c.via("add.Scalar", must(c.via("sub.Tensor", a, b)), c.F(3)))
		return c.via("norm.ScalarOpt_dim", d, c.F(2), ints([]int64{n}), c.B(4))
	})
	comp("triplet_margin_loss", func(c *Call) (Value, error) {
		dist := func(x, y Value) Value { return must(c.via("pairwise_distance", x, y, c.F(4), c.F(5))) }
		dp, dn := dist(c.Args[0], c.Args[1]), dist(c.Args[0], c.Args[2])
		if c.B(6) {
			dn = must(c.via("minimum", dn, dist(c.Args[1], c.Args[2])))
		}
		v := must(c.via("sub.Tensor", must(c.via("add.Scalar", dp, c.F(3))), dn))
		v, err := c.via("clamp_min", v, int64(0))
		return reduceLoss(c.via, v, err, c.I(7))
	})
	multi := func(c *Call, x, y *tensor.Tensor) (n, k int64, err error) {
		if x.Dim() > 2 {
			return 0, 0, errf("Expected non-empty vector or matrix with optional 0-dim batch size, but got: %s", tensor.ShapeText(x.Shape))
		}
		n, k = 1, x.Numel()
		if x.Dim() == 2 {
			n, k = x.Shape[0], x.Shape[1]
		}
		if i := c.Op.Sig().Arg("weight"); i >= 0 {
			if w := c.T(i); w != nil && w.Numel() != k {
				return 0, 0, errf("inconsistent weight size, expected %d but got %s", k, tensor.ShapeText(w.Shape))
			}
		}
		return
	}
	def("multi_margin_loss", func(c *Call) (Value, error) {
		x, y, p, margin, w, red := c.T(0), c.T(1), c.F(2), c.F(3), c.T(4), c.I(5)
		n, k, err := multi(c, x, y)
		if err != nil {
			return nil, err
		}
		if y.Numel() != n {
			return nil, errf("inconsistent target size, expected %d but got %s", n, tensor.ShapeText(y.Shape))
		}
		o := c.NewC(x.DType)
		if red == 0 && x.Dim() == 2 {
			o = c.NewC(x.DType, n)
		} else if red == 0 && y.Dim() > 0 {
			o = c.NewC(x.DType, y.Shape...)
		}
		if !c.real {
			return o, nil
		}
		xs, ys, ws := c.floats(x), y.Ints(), floatsOf(w)
		out := c.zeros(int64(n))
		sum := 0.0
		for i := int64(0); i < n; i++ {
			t := ys[i]
			if t < 0 || t >= k {
				return nil, errf("target out of range")
			}
			for j := int64(0); j < k; j++ {
				if j == t {
					continue
				}
				if z := margin - xs[i*k+t] + xs[i*k+j]; z > 0 {
					h := math.Pow(z, p)
					if ws != nil {
						h *= ws[t]
					}
					out[i] += h
				}
			}
			out[i] /= float64(k)
			sum += out[i]
		}
		switch red {
		case 0:
			o.SetFloats(out)
		case 1:
			o.Set(0, sum/float64(n))
		default:
			o.Set(0, sum)
		}
		return o, nil
	})
	def("multi_margin_loss_backward", func(c *Call) (Value, error) {
		g, x, y, p, margin, w, red := c.T(0), c.T(1), c.T(2), c.F(3), c.F(4), c.T(5), c.I(6)
		n, k, err := multi(c, x, y)
		if err != nil {
			return nil, err
		}
		o := c.NewC(x.DType, x.Shape...)
		if !c.real {
			return o, nil
		}
		xs, ys, ws, gs := c.floats(x), y.Ints(), floatsOf(w), c.floats(g)
		out := c.zeros(x.Numel())
		f := 1 / float64(k)
		if red == 1 {
			f /= float64(n)
		}
		for i := int64(0); i < n; i++ {
			t := ys[i]
			if t < 0 || t >= k {
				return nil, errf("target out of range")
			}
			gr := gs[0]
			if len(gs) > 1 {
				gr = gs[i]
			}
			for j := int64(0); j < k; j++ {
				z := margin - xs[i*k+t] + xs[i*k+j]
				if j == t || z <= 0 {
					continue
				}
				h := f * gr
				if p == 2 {
					h *= 2 * z
				}
				if ws != nil {
					h *= ws[t]
				}
				out[i*k+j] += h
				out[i*k+t] -= h
			}
		}
		o.SetFloats(out)
		return o, nil
	})
	def("multilabel_margin_loss_forward", func(c *Call) (Value, error) {
		x, y, red := c.T(0), c.T(1), c.I(2)
		n, k, err := multi(c, x, y)
		if err != nil {
			return nil, err
		}
		o := c.NewC(x.DType)
		if red == 0 && x.Dim() == 2 {
			o = c.NewC(x.DType, n)
		}
		is := c.NewC(x.DType, y.Shape...)
		if !c.real {
			return list(o, is), nil
		}
		xs, ys := c.floats(x), y.Ints()
		for _, t := range ys {
			if t < -1 || t >= k {
				return nil, errf("argument #2 'target' is out of range")
			}
		}
		out, hit := c.zeros(int64(n)), c.zeros(int64(len(ys)))
		parallel.For(int(n), int(grain/(k*k+1)+1), func(lo, hi int) {
			others := make([]float64, 0, k) // the elements that are no targets
			for i := int64(lo); i < int64(hi); i++ {
				row, to, marks := xs[i*k:(i+1)*k], ys[i*k:(i+1)*k], hit[i*k:(i+1)*k]
				if end := slices.IndexFunc(to, func(t int64) bool { return t < 0 }); end >= 0 {
					to = to[:end]
				}
				for _, t := range to {
					marks[t] = 1
				}
				others = others[:0]
				for q, x := range row {
					if marks[q] == 0 {
						others = append(others, x)
					}
				}
				s := 0.0
				for _, t := range to {
					margin := 1 - row[t]
					for _, x := range others {
						s += max(margin+x, 0)
					}
				}
				out[i] = s / float64(k)
			}
		})
		sum := 0.0
		for _, x := range out {
			sum += x
		}
		switch {
		case red == 0 && x.Dim() == 2:
			o.SetFloats(out)
		case red == 1:
			o.Set(0, sum/float64(n))
		default:
			o.Set(0, sum)
		}
		is.SetFloats(hit)
		return list(o, is), nil
	})
	def("multilabel_margin_loss_backward", func(c *Call) (Value, error) {
		g, x, y, red, is := c.T(0), c.T(1), c.T(2), c.I(3), c.T(4)
		n, k, err := multi(c, x, y)
		if err != nil {
			return nil, err
		}
		o := c.NewC(x.DType, x.Shape...)
		if !c.real {
			return o, nil
		}
		xs, ys, hit, gs := c.floats(x), y.Ints(), c.floats(is), c.floats(g)
		out := c.zeros(x.Numel())
		f := 1 / float64(k)
		if red == 1 {
			f /= float64(n)
		}
		for i := int64(0); i < n; i++ {
			gr := gs[0]
			if len(gs) > 1 {
				gr = gs[i]
			}
			for j := int64(0); j < k && ys[i*k+j] >= 0; j++ {
				t := ys[i*k+j]
				if t >= k {
					return nil, errf("argument #3 'target' is out of range")
				}
				for q := int64(0); q < k; q++ {
					if hit[i*k+q] == 0 && 1-xs[i*k+t]+xs[i*k+q] > 0 {
						out[i*k+t] -= f * gr
						out[i*k+q] += f * gr
					}
				}
			}
		}
		o.SetFloats(out)
		return o, nil
	})
	comp("multilabel_margin_loss", func(c *Call) (Value, error) {
		v, err := c.via("multilabel_margin_loss_forward", c.Args...)
		if err != nil {
			return nil, err
		}
		return v.([]Value)[0], nil
	})
}
