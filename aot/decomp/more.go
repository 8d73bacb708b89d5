package decomp

import (
	"math"

	"whittle/aot"
	"whittle/aot/build"
	"whittle/kernels/tensor"
)

func init() {
	bounds()
	vectorNorms()
	gated()
	lossGradients()
	groupNormGradient()
	selections()
}

// bounds holds clamping and what treats NaN and infinities: fmax and fmin prefer a number to NaN, where maximum and minimum do not.
func bounds() {
	row("clamp.default", func(b b_, a []val) val {
		x := in(a[0])
		if a[1] != nil {
			x = b.T("clamp_min.default", x, a[1])
		}
		if a[2] != nil {
			x = b.T("clamp_max.default", x, a[2])
		}
		return x
	})
	one := func(name, cmp string) {
		row(name+".default", func(b b_, a []val) val {
			x, y := in(a[0]), in(a[1])
			return b.Where(b.T("bitwise_or.Tensor", b.Un("isnan", y), b.T(cmp+".Tensor", y, x)), x, y)
		})
	}
	one("fmax", "lt")
	one("fmin", "gt")
	row("all.default", func(b b_, a []val) val {
		return b.Un("logical_not", b.T("any.dims", b.Un("logical_not", in(a[0])), nil))
	})
	// Without indices a maximum remembers where in its window it stood, which takes a byte.
	row("max_pool2d_with_indices.default", func(b b_, a []val) val {
		two := func(v val, or []int64) []int64 {
			p := build.ToInts(v)
			switch len(p) {
			case 0:
				return or
			case 1:
				return []int64{p[0], p[0]}
			}
			return p
		}
		x := in(a[0])
		k := two(a[1], nil)
		stride, pad, dil := two(a[2], k), two(a[3], []int64{0, 0}), two(a[4], []int64{1, 1})
		if k[0]*k[1] > 25 || dil[0] > 1 || dil[1] > 1 {
			return aot.Declined{}
		}
		r := b.Prims("_low_memory_max_pool2d_with_offsets.default", x, build.Ints(k), build.Ints(stride), build.Ints(pad), build.Ints(dil), a[5])
		return []val{r[0], b.Prim("_low_memory_max_pool2d_offsets_to_indices.default", r[1], k[1], x.Shape[x.Dim()-1], build.Ints(stride), build.Ints(pad))}
	})
	row("norm.ScalarOpt_dim", func(b b_, a []val) val {
		p := a[1]
		if p == nil {
			p = int64(2)
		}
		return b.T("linalg_vector_norm.default", a[0], p, a[2], a[3])
	})
	row("nan_to_num.default", func(b b_, a []val) val {
		x := in(a[0])
		top := math.MaxFloat64
		switch x.DType {
		case tensor.Float32:
			top = math.MaxFloat32
		case tensor.Float64:
		default:
			return aot.Declined{}
		}
		or := func(v val, def float64) val {
			if v == nil {
				return def
			}
			return v
		}
		r := b.Where(b.Un("isnan", x), scalar(b, or(a[1], 0), x), x)
		r = b.Where(b.T("eq.Scalar", x, math.Inf(-1)), scalar(b, or(a[3], -top), x), r)
		return b.Where(b.T("eq.Scalar", x, math.Inf(1)), scalar(b, or(a[2], top), x), r)
	})
}

// vectorNorms holds the p-norm for a finite p: (sum |x|^p)^(1/p), where an even p needs no absolute value.
func vectorNorms() {
	row("linalg_vector_norm.default", func(b b_, a []val) val {
		x := in(a[0])
		ord, ok := a[1], x.DType == tensor.Float32 || x.DType == tensor.Float64
		p := build.Float(ord)
		if _, other := a[4].(tensor.DType); other || !ok || p == 0 || math.IsInf(p, 0) || tensor.Numel(x.Shape) == 0 {
			return aot.Declined{}
		}
		if math.Mod(p, 2) != 0 {
			x = b.Un("abs", x)
		}
		s := b.T("sum.dim_IntList", b.Pow(x, ord), a[2], a[3])
		return b.Pow(s, 1/p)
	})
}

// gated holds activations with a parameter or a gate, and their gradients.
func gated() {
	row("celu.default", func(b b_, a []val) val {
		x := in(a[0])
		neg := x
		if !build.Is(a[1], 1) {
			neg = b.Mul(b.Un("expm1", b.Div(x, a[1])), a[1])
		} else {
			neg = b.Un("expm1", x)
		}
		return b.Where(b.T("gt.Scalar", x, int64(0)), x, neg)
	})
	row("glu_backward.default", func(b b_, a []val) val {
		g, x := in(a[0]), in(a[1])
		d := build.Wrap(a[2].(int64), len(x.Shape))
		h := x.Shape[d] / 2
		lo := b.T("slice.Tensor", x, int64(d), int64(0), h)
		s := b.Un("sigmoid", b.T("slice.Tensor", x, int64(d), h, x.Shape[d]))
		second := b.Mul(b.Mul(b.Mul(minus(b, 1.0, s), s), lo), g)
		return b.T("cat.default", []val{b.Mul(s, g), second}, int64(d))
	})
	row("_prelu_kernel.default", func(b b_, a []val) val {
		x := in(a[0])
		return b.Where(b.T("gt.Scalar", x, int64(0)), x, b.Mul(in(a[1]), x))
	})
	row("_prelu_kernel_backward.default", func(b b_, a []val) val {
		g, x, w := in(a[0]), in(a[1]), in(a[2])
		up := b.T("gt.Scalar", x, int64(0))
		return []val{b.Where(up, g, b.Mul(w, g)), b.Where(up, scalar(b, 0.0, g), b.Mul(x, g))}
	})
}

// share is what one element weighs in a reduced loss.
func share(x tt, reduction val) float64 {
	if build.Is(reduction, 1) {
		return 1 / float64(tensor.Numel(x.Shape))
	}
	return 1
}

// lossGradients holds the gradients of losses. A mean shares the gradient out among all elements (share).
func lossGradients() {
	row("smooth_l1_loss_backward.default", func(b b_, a []val) val {
		beta := build.Float(a[4])
		if beta == 0 {
			return aot.Declined{}
		}
		x := b.Sub(in(a[1]), a[2])
		g := b.Mul(in(a[0]), share(in(a[1]), a[3]))
		return b.Where(b.T("lt.Scalar", b.Un("abs", x), beta), b.Div(b.Mul(g, x), beta), b.Mul(g, b.Un("sign", x)))
	})
	row("huber_loss_backward.default", func(b b_, a []val) val {
		g, n, d := in(a[0]), share(in(a[1]), a[3]), build.Float(a[4])
		x := b.Sub(in(a[1]), a[2])
		low := b.Mul(b.Mul(g, -n), d)
		high := b.Mul(b.Mul(g, n), d)
		inner := b.Where(b.T("gt.Scalar", x, d), high, b.Mul(b.Mul(x, n), g))
		return b.Where(b.T("lt.Scalar", x, -d), low, inner)
	})
	row("binary_cross_entropy_backward.default", func(b b_, a []val) val {
		g, x := in(a[0]), in(a[1])
		r := b.Mul(g, b.Sub(x, a[2]))
		r = b.Div(r, b.T("clamp_min.default", b.Mul(x, minus(b, int64(1), x)), 1e-12))
		if a[3] != nil {
			r = b.Mul(r, a[3])
		}
		if build.Is(a[4], 1) {
			r = b.Div(r, tensor.Numel(x.Shape))
		}
		return r
	})
	row("soft_margin_loss.default", func(b b_, a []val) val {
		l := b.Un("log1p", b.Un("exp", b.Mul(b.Neg(in(a[0])), a[1])))
		switch {
		case build.Is(a[2], 1):
			return b.T("mean.default", l)
		case build.Is(a[2], 2):
			return b.T("sum.default", l)
		}
		return l
	})
	row("soft_margin_loss_backward.default", func(b b_, a []val) val {
		g, x, y := in(a[0]), in(a[1]), in(a[2])
		r := b.Mul(b.Mul(y, g), b.Sub(b.Un("sigmoid", b.Mul(y, x)), int64(1)))
		if build.Is(a[3], 1) {
			r = b.Div(r, tensor.Numel(x.Shape))
		}
		return r
	})
}

// groupNormGradient holds the gradient of group norm. As in PyTorch it is written as dx = c1*g + c2*x + c3 with one c1 per channel, and c2 and
// c3 per group, made of the sums of g*x and of g, so that x and g are read twice and no normalised input is needed.
func groupNormGradient() {
	row("native_group_norm_backward.default", func(b b_, a []val) val {
		g, x, mean, rstd := in(a[0]), in(a[1]), in(a[2]), in(a[3])
		N, C, HW, G := a[5].(int64), a[6].(int64), a[7].(int64), a[8].(int64)
		mask := a[9].([]val)
		if x.DType != tensor.Float32 && x.DType != tensor.Float64 {
			return aot.Declined{}
		}
		per := C / G
		view := func(t tt, shape ...int64) tt { return b.T("view.default", t, build.Ints(shape)) }
		sum := func(t tt, d int64) tt { return b.T("sum.dim_IntList", t, []val{d}) }
		at := func(t tt, times int) tt {
			for range times {
				t = b.T("unsqueeze.default", t, int64(-1))
			}
			return t
		}
		ds := sum(view(b.Mul(g, x), N, C, HW), 2)
		db := sum(view(g, N, C, HW), 2)
		var dx, dw, dbias val
		if mask[0] == true {
			s := 1 / float64(HW*per)
			var dsv, dbv, c1 tt
			if a[4] != nil {
				w := b.T("unsqueeze.default", a[4], int64(0))
				dsv = sum(view(b.Mul(ds, w), N, G, per), 2)
				dbv = sum(view(b.Mul(db, w), N, G, per), 2)
				c1 = b.Mul(at(rstd, 1), view(in(a[4]), 1, G, per))
			} else {
				dsv, dbv = sum(view(ds, N, G, per), 2), sum(view(db, N, G, per), 2)
				c1 = b.Mul(at(rstd, 1), b.T("ones.default", build.Ints([]int64{1, G, per}), x.DType))
			}
			c2 := b.Mul(b.Sub(b.Mul(dbv, mean), dsv), rstd)
			c2 = b.Mul(b.Mul(b.Mul(c2, rstd), rstd), s)
			c3 := b.Sub(b.Mul(b.Neg(c2), mean), b.Mul(b.Mul(dbv, rstd), s))
			r := b.Mul(view(g, N, G, per, HW), at(c1, 1))
			r = b.Add(r, b.Mul(view(x, N, G, per, HW), at(c2, 2)))
			dx = view(b.Add(r, at(c3, 2)), x.Shape...)
		}
		if mask[1] == true {
			r := b.Sub(view(ds, N, G, per), b.Mul(view(db, N, G, per), at(mean, 1)))
			dw = view(sum(b.Mul(r, at(rstd, 1)), 0), C)
		}
		if mask[2] == true {
			dbias = sum(db, 0)
		}
		return []val{dx, dw, dbias}
	})
}

// selections holds rearrangements of pixels, diagonals, and counts.
func selections() {
	row("pixel_shuffle.default", func(b b_, a []val) val {
		x, r := in(a[0]), a[1].(int64)
		n := len(x.Shape)
		c, h, w := x.Shape[n-3]/(r*r), x.Shape[n-2], x.Shape[n-1]
		lead := x.Shape[:n-3]
		k := int64(len(lead))
		six := append(append([]int64(nil), lead...), c, r, r, h, w)
		var perm []int64
		for i := range k {
			perm = append(perm, i)
		}
		perm = append(perm, k, k+3, k+1, k+4, k+2)
		return shuffled(b, x, six, perm, append(append([]int64(nil), lead...), c, h*r, w*r))
	})
	row("pixel_unshuffle.default", func(b b_, a []val) val {
		x, r := in(a[0]), a[1].(int64)
		n := len(x.Shape)
		c, h, w := x.Shape[n-3], x.Shape[n-2]/r, x.Shape[n-1]/r
		lead := x.Shape[:n-3]
		k := int64(len(lead))
		six := append(append([]int64(nil), lead...), c, h, r, w, r)
		var perm []int64
		for i := range k {
			perm = append(perm, i)
		}
		perm = append(perm, k, k+2, k+4, k+1, k+3)
		return shuffled(b, x, six, perm, append(append([]int64(nil), lead...), c*r*r, h, w))
	})
	row("count_nonzero.default", func(b b_, a []val) val {
		var dims val
		if a[1] != nil {
			dims = []val{a[1]}
		}
		return b.T("sum.dim_IntList", b.T("ne.Scalar", a[0], int64(0)), dims)
	})
	row("trace.default", func(b b_, a []val) val {
		return b.T("sum.default", b.T("clone.default", b.T("diagonal.default", a[0]), tensor.ContiguousFormat))
	})
	row("diagonal_copy.default", func(b b_, a []val) val {
		return b.T("clone.default", b.T("diagonal.default", a...), tensor.ContiguousFormat)
	})
	row("fill.Tensor", func(b b_, a []val) val {
		return b.T("copy.default", a[0], a[1])
	})
}

// shuffled splits x into smaller dimensions, reorders them and joins them again.
func shuffled(b b_, x tt, split, perm, join []int64) tt {
	p := b.T("permute.default", b.T("view.default", x, build.Ints(split)), build.Ints(perm))
	r := b.T("view.default", b.T("clone.default", p, tensor.ContiguousFormat), build.Ints(join))
	return b.T("clone.default", r, tensor.ContiguousFormat)
}
