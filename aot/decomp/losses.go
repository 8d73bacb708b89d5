package decomp

import (
	"whittle/aot"
	"whittle/aot/build"
	"whittle/kernels/tensor"
)

// losses holds losses, with their reduction: 0 none, 1 mean, 2 sum. Logarithms of probabilities are kept from below at -100, as in PyTorch, so
// that a loss is finite. Targets that are ignored are replaced by class 0 before anything is looked up, and their losses by 0 after.
func losses() {
	reduce := func(b b_, x tt, r val) tt {
		switch {
		case build.Is(r, 1):
			return b.T("mean.default", x)
		case build.Is(r, 2):
			return b.T("sum.default", x)
		}
		return x
	}
	row("mse_loss.default", func(b b_, a []val) val {
		return reduce(b, b.Pow(b.Sub(in(a[0]), a[1]), int64(2)), a[2])
	})
	row("mse_loss_backward.default", func(b b_, a []val) val {
		k := 2.0
		if build.Is(a[3], 1) {
			k /= float64(tensor.Numel(in(a[1]).Shape))
		}
		return b.Mul(b.Mul(b.Sub(in(a[1]), a[2]), k), a[0])
	})
	row("smooth_l1_loss.default", func(b b_, a []val) val {
		beta := build.Float(a[3])
		l := b.Un("abs", b.Sub(in(a[0]), a[1]))
		if beta > 0 {
			l = b.Where(b.T("lt.Scalar", l, beta), b.Div(b.Mul(b.Pow(l, int64(2)), 0.5), beta), b.Sub(l, 0.5*beta))
		}
		return reduce(b, l, a[2])
	})
	row("huber_loss.default", func(b b_, a []val) val {
		d := build.Float(a[3])
		z := b.Un("abs", b.Sub(in(a[0]), a[1]))
		l := b.Where(b.T("lt.Scalar", z, d), b.Mul(b.Mul(z, 0.5), z), b.Mul(b.Sub(z, 0.5*d), d))
		return reduce(b, l, a[2])
	})
	row("binary_cross_entropy.default", func(b b_, a []val) val {
		x, y := in(a[0]), in(a[1])
		lo := b.Scalar(-100.0, x)
		one := func(t tt) tt { return b.Un("log1p", b.Neg(t)) }
		l := b.Sub(b.Mul(b.Sub(y, int64(1)), b.T("maximum.default", one(x), lo)), b.Mul(y, b.T("maximum.default", b.Un("log", x), lo)))
		if a[2] != nil {
			l = b.Mul(l, a[2])
		}
		return reduce(b, l, a[3])
	})
	row("binary_cross_entropy_with_logits.default", func(b b_, a []val) val {
		x, y := in(a[0]), in(a[1])
		ls := b.M("log_sigmoid_forward.default", x)[0]
		var l tt
		if a[3] != nil {
			w := b.Add(b.Mul(b.Sub(in(a[3]), int64(1)), y), int64(1))
			l = b.Sub(b.Mul(minus(b, int64(1), y), x), b.Mul(w, ls))
		} else {
			l = b.Sub(b.Mul(minus(b, int64(1), y), x), ls)
		}
		if a[2] != nil {
			l = b.Mul(l, a[2])
		}
		return reduce(b, l, a[4])
	})
	row("nll_loss_forward.default", nllForward)
	row("nll_loss_backward.default", nllBackward)
	row("nll_loss2d_forward.default", nllForward)
	row("nll_loss2d_backward.default", nllBackward)
}

// nllWeight is the class weights as a tensor that broadcasts over x.
func nllWeight(b b_, x tt, w val) tt {
	if len(x.Shape) == 1 {
		return in(w)
	}
	shape := make([]int64, len(x.Shape))
	for i := range shape {
		shape[i] = 1
	}
	shape[1] = x.Shape[1]
	return b.T("view.default", w, build.Ints(shape))
}

// nllForward picks the negated log-probability of each target; the mean divides by the weights of those that count.
func nllForward(b b_, a []val) val {
	x, target := in(a[0]), in(a[1])
	if len(x.Shape) < 2 {
		return aot.Declined{}
	}
	var w tt
	if a[2] != nil {
		w = nllWeight(b, x, a[2])
		x = b.Mul(x, w)
	}
	valid := func() tt { return b.T("ne.Scalar", target, a[4]) }
	safe := b.T("unsqueeze.default", b.Where(valid(), target, scalar(b, int64(0), target)), int64(1))
	picked := b.Neg(b.T("squeeze.dim", b.T("gather.default", x, int64(1), safe), int64(1)))
	l := b.Where(valid(), picked, scalar(b, int64(0), x))
	if build.Is(a[3], 0) {
		return []val{l, scalar(b, 0.0, x)}
	}
	var total tt
	if w != nil {
		of := b.T("squeeze.dim", b.T("gather.default", b.T("expand.default", w, build.Ints(x.Shape)), int64(1), safe), int64(1))
		total = b.T("sum.default", b.Where(valid(), of, scalar(b, int64(0), x)))
	} else {
		total = cast(b, b.T("sum.default", valid()), x.DType)
	}
	s := b.T("sum.default", l)
	if build.Is(a[3], 1) {
		s = b.Div(s, total)
	}
	return []val{s, total}
}

// nllBackward scatters -1 to the targets and multiplies by the gradient and the weights.
func nllBackward(b b_, a []val) val {
	g, x, target, total := in(a[0]), in(a[1]), in(a[2]), in(a[6])
	if len(x.Shape) < 2 {
		return aot.Declined{}
	}
	if build.Is(a[4], 1) {
		g = b.Div(g, total)
	}
	tu := b.T("unsqueeze.default", target, int64(1))
	valid := b.T("ne.Scalar", tu, a[5])
	safe := b.Where(valid, tu, scalar(b, int64(0), target))
	gi := b.T("scatter.value", full(b, x.Shape, int64(0), x.DType), int64(1), safe, -1.0)
	if len(g.Shape) > 0 {
		g = b.T("unsqueeze.default", g, int64(1))
	}
	if a[3] != nil {
		g = b.Mul(g, nllWeight(b, x, a[3]))
	}
	return b.Mul(gi, b.Where(valid, g, scalar(b, int64(0), x)))
}
