package decomp

import (
	"math"
	"slices"

	"whittle/aot"
	"whittle/aot/build"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

type (
	tt  = *tensor.Tensor
	val = aten.Value
	b_  = *build.B
)

// Inductor is the decomposition table, keyed by operator name "aten.gelu.default".
var Inductor = map[string]aot.Decomposition{}

// Shared reports whether the decomposition of an operator in Inductor is one that PyTorch offers to every tracer; the others are Inductor's own.
func Shared(name string) bool {
	return Inductor[name] != nil && name != "aten.mm.default" && name != "aten.bmm.default"
}

// row enters the decomposition of aten.NAME.
func row(name string, f func(b b_, a []val) val) { Inductor["aten."+name] = f }

// in is an argument as a tensor; nil for None.
func in(v val) tt { t, _ := v.(tt); return t }

func init() {
	pointwise()
	activations()
	backwards()
	factories()
	shapes()
	norms()
	losses()
	linear()
	randoms()
}

// minus is x-t for a number x, which stays a number in the graph.
func minus(b b_, x val, t tt) tt { return b.T("sub.Tensor", x, t) }

// opmath runs f in float32 where the input is a half type, and casts back.
func opmath(b b_, x tt, f func(x tt) tt) tt {
	if x.DType == tensor.BFloat16 || x.DType == tensor.Float16 {
		return cast(b, f(cast(b, x, tensor.Float32)), x.DType)
	}
	return f(x)
}

// wide is opmath for a decomposition of several tensors, the first arguments, and other arguments: f may decline.
func wide(f func(b b_, x []tt, rest []val) val) func(b b_, a []val) val {
	return func(b b_, a []val) val {
		var x []tt
		for len(x) < len(a) && in(a[len(x)]) != nil {
			x = append(x, in(a[len(x)]))
		}
		from := x[0].DType
		if from != tensor.BFloat16 && from != tensor.Float16 {
			return f(b, x, a[len(x):])
		}
		up := make([]tt, len(x))
		for i, t := range x {
			up[i] = cast(b, t, tensor.Float32)
		}
		y := f(b, up, a[len(x):])
		if t := in(y); t != nil {
			return cast(b, t, from)
		}
		return y
	}
}

// rowByColumn is the product of matrices of one row and of one column, which follow the first batch dimensions.
func rowByColumn(b b_, m, n tt, batch int64) tt {
	p := b.Mul(b.T("squeeze.dim", m, batch), b.T("squeeze.dim", n, int64(-1)))
	return b.T("unsqueeze.default", b.T("sum.dim_IntList", p, []val{batch}, true), batch)
}

// cast converts x, where it has another dtype, by the primitive that Inductor lowers.
func cast(b b_, x tt, d tensor.DType) tt {
	if x.DType == d {
		return x
	}
	return b.Prim("convert_element_type.default", x, d)
}

// scalar is a number as a 0-dim tensor, where Python code hands it to an operator that takes tensors alone.
func scalar(b b_, v val, like tt) tt { return b.T("scalar_tensor.default", v, like.DType) }

// full is a constant tensor, in the form in which Inductor prints it.
func full(b b_, shape []int64, v val, d tensor.DType) tt {
	return b.T("full.default", build.Ints(shape), v, d, nil, tensor.CPU, false)
}

// pointwise holds the rows of arithmetic. What they compute with numbers stays in the form that PyTorch's graphs show: mul.Tensor(x, 2) and
// sub.Tensor(1, x), with the number as a wrapped one.
func pointwise() {
	row("rsub.Tensor", func(b b_, a []val) val { return b.Sub(in(a[1]), scaled(b, a[0], a[2])) })
	row("rsub.Scalar", func(b b_, a []val) val {
		if !build.Is(a[2], 1) {
			return aot.Declined{}
		}
		return minus(b, a[1], in(a[0]))
	})
	row("addcmul.default", func(b b_, a []val) val {
		return b.Add(in(a[0]), b.Mul(b.Mul(in(a[1]), a[3]), a[2]))
	})
	row("addcdiv.default", func(b b_, a []val) val {
		return b.Add(in(a[0]), b.Div(b.Mul(in(a[1]), a[3]), a[2]))
	})
	// The end that is nearer to the result is the one added to: exact at both ends.
	lerp := func(b b_, x, end, w tt) tt {
		near := b.T("ge.Scalar", b.Un("abs", w), 0.5)
		k := b.Where(near, b.Sub(w, int64(1)), w)
		from := b.Where(near, end, x)
		return b.Add(b.Mul(k, b.Sub(end, x)), from)
	}
	row("lerp.Scalar", func(b b_, a []val) val {
		x := in(a[0])
		return lerp(b, x, in(a[1]), full(b, nil, a[2], x.DType))
	})
	row("lerp.Tensor", func(b b_, a []val) val { return lerp(b, in(a[0]), in(a[1]), in(a[2])) })
	row("masked_fill.Scalar", func(b b_, a []val) val {
		x, v := in(a[0]), a[2]
		if n, whole := v.(int64); whole && x.DType.IsFloat() {
			v = float64(n)
		}
		return b.Where(in(a[1]), scalar(b, v, x), x)
	})
	row("masked_fill.Tensor", func(b b_, a []val) val { return b.Where(in(a[1]), in(a[2]), in(a[0])) })
	row("_to_copy.default", func(b b_, a []val) val {
		x := in(a[0])
		d, ok := a[1].(tensor.DType)
		if !ok || d == x.DType {
			return b.T("clone.default", x, a[len(a)-1])
		}
		return b.Prim("convert_element_type.default", x, d)
	})
	row("clamp.Tensor", func(b b_, a []val) val {
		x := in(a[0])
		if a[1] != nil {
			x = b.T("clamp_min.Tensor", x, a[1])
		}
		if a[2] != nil {
			x = b.T("clamp_max.Tensor", x, a[2])
		}
		return x
	})
	row("square.default", func(b b_, a []val) val { return b.Pow(in(a[0]), int64(2)) })
	row("frac.default", func(b b_, a []val) val {
		x := in(a[0])
		return b.Sub(x, b.Mul(b.Un("floor", b.Un("abs", x)), b.Un("sign", x)))
	})
	row("sgn.default", func(b b_, a []val) val {
		x := in(a[0])
		if x.DType.Kind() != tensor.KindComplex {
			return b.Un("sign", x)
		}
		r := b.Un("abs", x) // of the unit circle, and 0 at 0
		return b.Where(b.T("eq.Scalar", r, int64(0)), scalar(b, int64(0), x), b.Div(x, r))
	})
	row("floor_divide.default", func(b b_, a []val) val { return b.T("div.Tensor_mode", a[0], a[1], "floor") })
	row("true_divide.Tensor", func(b b_, a []val) val { return b.Div(in(a[0]), a[1]) })
	row("zero.default", func(b b_, a []val) val { return b.T("zeros_like.default", a[0]) })
	row("fill.Scalar", func(b b_, a []val) val { return b.T("full_like.default", a[0], a[1]) })
	row("logit.default", func(b b_, a []val) val {
		x := in(a[0])
		if !x.DType.IsFloat() {
			x = cast(b, x, tensor.Float32)
		}
		if a[1] != nil {
			e := build.Float(a[1])
			x = b.T("clamp.default", x, e, 1-e)
		}
		return b.Un("log", b.Div(x, b.Sub(scalar(b, int64(1), x), x)))
	})
	row("xlogy.Tensor", func(b b_, a []val) val {
		x, y := in(a[0]), in(a[1])
		r := b.Where(b.T("eq.Scalar", x, int64(0)), scalar(b, int64(0), x), b.Mul(x, b.Un("log", y)))
		return b.Where(b.Un("isnan", y), scalar(b, math.NaN(), r), r)
	})
}

// scaled is x times alpha; the product by 1 is left out, as in PyTorch.
func scaled(b b_, x, alpha val) val {
	if build.Is(alpha, 1) {
		return x
	}
	return b.Mul(in(x), alpha)
}

// activations holds activations, softmax and their like. 16-bit inputs are computed in float32 where the kernel does so (opmath), so that the
// result is rounded once.
func activations() {
	row("silu.default", func(b b_, a []val) val {
		return opmath(b, in(a[0]), func(x tt) tt {
			return b.Mul(x, b.Un("sigmoid", x))
		})
	})
	row("gelu.default", func(b b_, a []val) val {
		return opmath(b, in(a[0]), func(x tt) tt {
			if a[1] == "tanh" {
				cube := b.Mul(b.Mul(x, x), x)
				inner := b.Mul(b.Add(x, b.Mul(cube, 0.044715)), math.Sqrt(2/math.Pi))
				return b.Mul(b.Mul(x, 0.5), b.Add(b.Un("tanh", inner), int64(1)))
			}
			return b.Mul(b.Mul(x, 0.5), b.Add(b.Un("erf", b.Mul(x, math.Sqrt2/2)), int64(1)))
		})
	})
	row("leaky_relu.default", func(b b_, a []val) val {
		x := in(a[0])
		return b.Where(b.T("gt.Scalar", x, int64(0)), x, b.Mul(x, a[1]))
	})
	row("elu.default", func(b b_, a []val) val {
		x := in(a[0])
		k, scale := build.Float(a[1])*build.Float(a[2]), build.Float(a[2])
		neg := b.Mul(b.Un("expm1", b.Mul(x, build.Float(a[3]))), k)
		return b.Where(b.T("gt.Scalar", x, int64(0)), b.Mul(x, scale), neg)
	})
	row("hardtanh.default", func(b b_, a []val) val {
		return b.T("clamp_max.default", b.T("clamp_min.default", a[0], a[1]), a[2])
	})
	relu6 := func(b b_, x tt) tt {
		return b.T("clamp_max.default", b.T("clamp_min.default", b.Add(x, int64(3)), int64(0)), int64(6))
	}
	row("hardswish.default", func(b b_, a []val) val {
		return opmath(b, in(a[0]), func(x tt) tt { return b.Div(b.Mul(x, relu6(b, x)), int64(6)) })
	})
	row("hardsigmoid.default", func(b b_, a []val) val {
		return opmath(b, in(a[0]), func(x tt) tt { return b.Div(relu6(b, x), int64(6)) })
	})
	row("softplus.default", func(b b_, a []val) val {
		x := in(a[0])
		if build.Is(a[1], 1) {
			return b.Where(b.T("gt.Scalar", x, a[2]), x, b.Un("log1p", b.Un("exp", x)))
		}
		bx := b.Mul(x, a[1])
		return b.Where(b.T("gt.Scalar", bx, a[2]), x, b.Div(b.Un("log1p", b.Un("exp", bx)), a[1]))
	})
	row("mish.default", func(b b_, a []val) val {
		x := in(a[0])
		return b.Mul(x, b.Un("tanh", b.T("softplus.default", x)))
	})
	row("log_sigmoid_forward.default", func(b b_, a []val) val {
		x := in(a[0])
		lo := b.T("minimum.default", b.T("new_zeros.default", x, []val{}), x)
		z := b.Un("exp", b.Neg(b.Un("abs", x)))
		return []val{b.Sub(lo, b.Un("log1p", z)), z}
	})
	row("threshold.default", func(b b_, a []val) val {
		x := in(a[0])
		return b.Where(b.T("le.Scalar", x, a[1]), scalar(b, a[2], x), x)
	})
	row("_softmax.default", func(b b_, a []val) val {
		return opmath(b, in(a[0]), func(x tt) tt {
			x, d := contiguous(b, x), []val{a[1]}
			e := b.Un("exp", shifted(b, x, d))
			return b.Div(e, b.T("sum.dim_IntList", e, d, true))
		})
	})
	row("_log_softmax.default", func(b b_, a []val) val {
		return opmath(b, in(a[0]), func(x tt) tt {
			x, d := contiguous(b, x), []val{a[1]}
			s := shifted(b, x, d)
			return b.Sub(s, b.Un("log", b.T("sum.dim_IntList", b.Un("exp", s), d, true)))
		})
	})
	row("_safe_softmax.default", func(b b_, a []val) val {
		x := in(a[0])
		if d, ok := a[2].(tensor.DType); ok {
			x = cast(b, x, d)
		}
		d := []val{a[1]}
		out := b.T("_softmax.default", x, a[1], false)
		masked := b.T("eq.Scalar", x, math.Inf(-1))
		all := b.Un("logical_not", b.T("any.dim", b.Un("logical_not", masked), d[0], true))
		return b.Where(all, b.T("zeros_like.default", out), out)
	})
	row("logsumexp.default", func(b b_, a []val) val {
		x := in(a[0])
		d, keep := a[1], a[2]
		if !x.DType.IsFloat() {
			x = cast(b, x, tensor.Float32)
		}
		if tensor.Numel(x.Shape) == 0 {
			return aot.Declined{}
		}
		m := b.T("amax.default", x, d, true)
		m = b.Where(b.T("eq.Scalar", b.Un("abs", m), math.Inf(1)), scalar(b, 0.0, m), m)
		ms := m
		if k, _ := keep.(bool); !k {
			ms = b.T("squeeze.dims", m, d)
		}
		return b.Add(b.Un("log", b.T("sum.dim_IntList", b.Un("exp", b.Sub(x, m)), d, keep)), ms)
	})
}

// shifted is x less its largest element along dims.
func shifted(b b_, x tt, dims []val) tt {
	if x.Numel() == 0 {
		return x
	}
	return b.Sub(x, b.T("amax.default", x, dims, true))
}

// contiguous is x in row-major order, for operators whose eager kernels give that whatever comes in.
func contiguous(b b_, x tt) tt {
	if x.IsContiguous(tensor.ContiguousFormat) {
		return x
	}
	return b.T("clone.default", x, tensor.ContiguousFormat)
}

// backwards holds the gradients of activations and of views. That of a view writes the gradient into zeros of the viewed shape.
func backwards() {
	row("sigmoid_backward.default", func(b b_, a []val) val {
		y := in(a[1])
		return b.Mul(in(a[0]), b.Mul(y, minus(b, int64(1), y)))
	})
	row("tanh_backward.default", func(b b_, a []val) val {
		y := in(a[1])
		return b.Mul(in(a[0]), minus(b, int64(1), b.Mul(y, y)))
	})
	row("threshold_backward.default", func(b b_, a []val) val {
		return b.Where(b.T("le.Scalar", a[1], a[2]), scalar(b, 0.0, in(a[0])), in(a[0]))
	})
	row("silu_backward.default", func(b b_, a []val) val {
		g, x := in(a[0]), in(a[1])
		s := b.Un("sigmoid", x)
		one := scalar(b, int64(1), x)
		return b.Mul(b.Mul(g, s), b.Add(b.Mul(x, b.Sub(one, s)), int64(1)))
	})
	row("gelu_backward.default", func(b b_, a []val) val {
		g, x := in(a[0]), in(a[1])
		if a[2] == "tanh" {
			k, c := math.Sqrt2*(2/math.Sqrt(math.Pi))*0.5, 0.044715
			x2 := b.Mul(x, x)
			inner := b.Mul(b.Add(x, b.Mul(b.Mul(x2, x), c)), k)
			t := b.Un("tanh", inner)
			left, right := b.Mul(x, 0.5), b.Add(t, int64(1))
			dl := b.Mul(right, 0.5)
			dt := minus(b, int64(1), b.Mul(t, t))
			di := b.Mul(b.Add(b.Mul(x2, 3*c), int64(1)), k)
			return b.Mul(g, b.Add(dl, b.Mul(b.Mul(left, dt), di)))
		}
		cdf := b.Mul(b.Add(b.Un("erf", b.Mul(x, math.Sqrt2/2)), int64(1)), 0.5)
		pdf := b.Mul(b.Un("exp", b.Mul(b.Mul(x, x), -0.5)), 1/math.Sqrt(2*math.Pi))
		return b.Mul(g, b.Add(cdf, b.Mul(x, pdf)))
	})
	row("leaky_relu_backward.default", func(b b_, a []val) val {
		return b.Where(b.T("gt.Scalar", a[1], int64(0)), in(a[0]), b.Mul(in(a[0]), a[2]))
	})
	row("elu_backward.default", func(b b_, a []val) val {
		g, x := in(a[0]), in(a[5])
		alpha, scale, is := build.Float(a[1]), build.Float(a[2]), build.Float(a[3])
		gs := b.Mul(g, is)
		neg := b.Mul(b.Mul(gs, alpha*scale), b.Un("exp", b.Mul(x, is)))
		if r, _ := a[4].(bool); r {
			neg = b.Mul(gs, b.Add(x, alpha*scale))
		}
		return b.Where(b.T("le.Scalar", x, int64(0)), neg, b.Mul(g, scale))
	})
	row("hardtanh_backward.default", func(b b_, a []val) val {
		x := in(a[1])
		out := b.T("bitwise_or.Tensor", b.T("le.Scalar", x, a[2]), b.T("ge.Scalar", x, a[3]))
		return b.Where(out, scalar(b, 0.0, in(a[0])), in(a[0]))
	})
	row("hardswish_backward.default", func(b b_, a []val) val {
		g, x := in(a[0]), in(a[1])
		mid := b.Mul(g, b.Add(b.Div(x, int64(3)), 0.5))
		return b.Where(b.T("lt.Scalar", x, int64(-3)), scalar(b, 0.0, g), b.Where(b.T("le.Scalar", x, int64(3)), mid, g))
	})
	row("hardsigmoid_backward.default", func(b b_, a []val) val {
		g, x := in(a[0]), in(a[1])
		inside := b.T("bitwise_and.Tensor", b.T("gt.Scalar", x, -3.0), b.T("lt.Scalar", x, 3.0))
		return b.Where(inside, b.Mul(g, 1.0/6), scalar(b, 0.0, g))
	})
	row("softplus_backward.default", func(b b_, a []val) val {
		g, x := in(a[0]), in(a[1])
		z := b.Un("exp", b.Mul(x, a[2]))
		return b.Where(b.T("gt.Scalar", b.Mul(x, a[2]), a[3]), g, b.Div(b.Mul(g, z), b.Add(z, 1.0)))
	})
	row("log_sigmoid_backward.default", func(b b_, a []val) val {
		g, x := in(a[0]), in(a[1])
		neg := b.T("lt.Scalar", x, int64(0))
		one, zero := scalar(b, 1.0, x), scalar(b, 0.0, x)
		maxd := b.Where(neg, one, zero)
		sign := b.Where(neg, one, scalar(b, -1.0, x))
		z := b.Un("exp", b.Neg(b.Un("abs", x)))
		return b.Mul(g, b.Sub(maxd, b.Mul(sign, b.Div(z, b.Add(z, int64(1))))))
	})
	row("_softmax_backward_data.default", func(b b_, a []val) val {
		g, y := in(a[0]), in(a[1])
		ng := b.Mul(g, y)
		s := b.T("sum.dim_IntList", ng, []val{a[2]}, true)
		if y.DType == tensor.Float32 || y.DType == tensor.Float64 {
			return contiguous(b, castTo(b, b.Prim("fma.default", b.Neg(y), s, ng), a[3]))
		}
		return contiguous(b, castTo(b, b.Sub(ng, b.Mul(y, s)), a[3]))
	})
	row("_log_softmax_backward_data.default", func(b b_, a []val) val {
		g, y := in(a[0]), in(a[1])
		r := b.Sub(g, b.Mul(b.Un("exp", y), b.T("sum.dim_IntList", g, []val{a[2]}, true)))
		return contiguous(b, castTo(b, r, a[3]))
	})
	row("select_backward.default", func(b b_, a []val) val {
		z := full(b, build.ToInts(a[1]), int64(0), in(a[0]).DType)
		return b.T("select_scatter.default", z, a[0], a[2], a[3])
	})
	row("slice_backward.default", func(b b_, a []val) val {
		z := full(b, build.ToInts(a[1]), int64(0), in(a[0]).DType)
		return b.T("slice_scatter.default", z, a[0], a[2], a[3], a[4], a[5])
	})
	row("diagonal_backward.default", func(b b_, a []val) val {
		z := full(b, build.ToInts(a[1]), int64(0), in(a[0]).DType)
		return b.T("diagonal_scatter.default", z, a[0], a[2], a[3], a[4])
	})
	row("native_dropout_backward.default", func(b b_, a []val) val {
		g := in(a[0])
		r := b.Mul(g, b.Mul(cast(b, in(a[1]), g.DType), a[2]))
		layout := tensor.ContiguousFormat
		if g.Dim() == 4 && !g.IsContiguous(layout) && g.IsContiguous(tensor.ChannelsLast) {
			layout = tensor.ChannelsLast
		}
		return b.T("clone.default", r, layout)
	})
	row("embedding_dense_backward.default", func(b b_, a []val) val {
		g, idx := in(a[0]), in(a[1])
		if s, _ := a[4].(bool); s {
			return aot.Declined{}
		}
		n := g.Shape[len(g.Shape)-1]
		if build.Is(a[3], -1) {
			// Nothing to mask: negative indices do not occur.
		}
		mask := b.T("unsqueeze.default", b.T("eq.Scalar", idx, a[3]), int64(len(idx.Shape)))
		g = b.Where(mask, scalar(b, int64(0), g), g)
		z := full(b, []int64{a[2].(int64), n}, int64(0), g.DType)
		return b.T("index_put.default", z, []val{idx}, g, true)
	})
}

// castTo is cast for an argument that may be None.
func castTo(b b_, x tt, d val) tt {
	if dt, ok := d.(tensor.DType); ok {
		return cast(b, x, dt)
	}
	return x
}

// factories holds the operators that make tensors. Ranges count whole numbers (iota) and compute floats from these in float64. A _like form of
// a tensor in another layout than row-major is left to the kernel, as full has no strides.
func factories() {
	like := func(name string, v func(a []val) val, dtypeAt int) {
		row(name, func(b b_, a []val) val {
			x := in(a[0])
			d := x.DType
			if dt, ok := a[dtypeAt].(tensor.DType); ok {
				d = dt
			}
			if !x.IsContiguous(tensor.ContiguousFormat) {
				return aot.Declined{}
			}
			return full(b, x.Shape, v(a), d)
		})
	}
	zero := func([]val) val { return int64(0) }
	one := func([]val) val { return int64(1) }
	like("zeros_like.default", zero, 1)
	like("ones_like.default", one, 1)
	like("full_like.default", func(a []val) val { return a[1] }, 2)
	newLike := func(name string, v func(a []val) val, dtypeAt int) {
		row(name, func(b b_, a []val) val {
			d := in(a[0]).DType
			if dt, ok := a[dtypeAt].(tensor.DType); ok {
				d = dt
			}
			return full(b, build.ToInts(a[1]), v(a), d)
		})
	}
	newLike("new_zeros.default", zero, 2)
	newLike("new_ones.default", one, 2)
	newLike("new_full.default", func(a []val) val { return a[2] }, 3)
	row("new_empty.default", func(b b_, a []val) val {
		d := in(a[0]).DType
		if dt, ok := a[2].(tensor.DType); ok {
			d = dt
		}
		return b.T("empty.memory_format", a[1], d)
	})
	row("empty_like.default", func(b b_, a []val) val {
		x := in(a[0])
		if a[1] != nil || a[len(a)-1] != nil || !x.IsContiguous(tensor.ContiguousFormat) {
			return aot.Declined{}
		}
		order := make([]int64, x.Dim())
		for i := range order {
			order[i] = int64(i)
		}
		return b.T("permute.default", b.T("empty.memory_format", build.Ints(x.Shape), x.DType), build.Ints(order))
	})
	row("zeros.default", func(b b_, a []val) val { return full(b, build.ToInts(a[0]), int64(0), dtypeOr(a[1])) })
	row("ones.default", func(b b_, a []val) val { return full(b, build.ToInts(a[0]), int64(1), dtypeOr(a[1])) })
	arange := func(b b_, start, end, step, d val) val {
		s, ok1 := start.(int64)
		e, ok2 := end.(int64)
		st, ok3 := step.(int64)
		dt, given := d.(tensor.DType)
		if !ok1 || !ok2 || !ok3 || given && !dt.IsInt() {
			return aot.Declined{}
		}
		if !given {
			dt = tensor.Int64
		}
		n := int64(math.Ceil(float64(e-s) / float64(st)))
		return b.Prim("iota.default", max(n, 0), s, st, dt, tensor.CPU, false)
	}
	integral := arange
	arange = func(b b_, start, end, step, d val) val {
		s0, ok1 := start.(int64)
		e0, ok2 := end.(int64)
		st, ok3 := step.(int64)
		if to, ok := d.(tensor.DType); ok && to.IsFloat() && ok1 && ok2 && ok3 {
			n := int64(math.Ceil(float64(e0-s0) / float64(st)))
			i := b.Prim("iota.default", max(n, 0), int64(0), int64(1), tensor.Int64, tensor.CPU, false)
			return cast(b, b.Add(b.Mul(i, st), s0), to)
		}
		r := integral(b, start, end, step, d)
		if _, declined := r.(aot.Declined); !declined {
			return r
		}
		// A range of floats is computed in float64 from one of integers.
		dt, given := d.(tensor.DType)
		if !given {
			dt = tensor.Float32
		}
		if !dt.IsFloat() {
			return r
		}
		n := int64(math.Ceil((build.Float(end) - build.Float(start)) / build.Float(step)))
		i := b.Prim("iota.default", max(n, 0), int64(0), int64(1), tensor.Int64, tensor.CPU, false)
		x := b.Prim("convert_element_type.default", i, tensor.Float64)
		x = b.Add(b.Mul(x, step), start)
		return cast(b, x, dt)
	}
	row("eye.default", func(b b_, a []val) val { return eye(b, a[0], a[0], a[1]) })
	row("eye.m", func(b b_, a []val) val { return eye(b, a[0], a[1], a[2]) })
	row("arange.default", func(b b_, a []val) val { return arange(b, int64(0), a[0], int64(1), a[1]) })
	row("arange.start", func(b b_, a []val) val { return arange(b, a[0], a[1], int64(1), a[2]) })
	row("arange.start_step", func(b b_, a []val) val { return arange(b, a[0], a[1], a[2], a[3]) })
	tri := func(name, cmp string) {
		row(name, func(b b_, a []val) val {
			x := in(a[0])
			n := len(x.Shape)
			rows := b.Prim("iota.default", x.Shape[n-2], int64(0), int64(1), tensor.Int64, tensor.CPU, false)
			cols := b.Prim("iota.default", x.Shape[n-1], int64(0), int64(1), tensor.Int64, tensor.CPU, false)
			diff := b.Sub(b.T("unsqueeze.default", cols, int64(-2)), b.T("unsqueeze.default", rows, int64(-1)))
			m := b.T(cmp, diff, a[1])
			return contiguous(b, b.Where(m, x, scalar(b, int64(0), x)))
		})
	}
	tri("tril.default", "le.Scalar")
	tri("triu.default", "ge.Scalar")
}

// eye is 1 where the row's number equals the column's.
func eye(b b_, n, m, d val) val {
	dt := dtypeOr(d)
	i := b.Prim("iota.default", n, int64(0), int64(1), tensor.Int64, tensor.CPU, false)
	j := b.Prim("iota.default", m, int64(0), int64(1), tensor.Int64, tensor.CPU, false)
	return b.Where(b.T("eq.Tensor", b.T("unsqueeze.default", i, int64(-1)), j), full(b, []int64{1}, int64(1), dt), b.T("scalar_tensor.default", int64(0), dt))
}

// dtypeOr is a dtype argument, float32 for None.
func dtypeOr(d val) tensor.DType {
	if dt, ok := d.(tensor.DType); ok {
		return dt
	}
	return tensor.Float32
}

// shapes holds views, joins, and indexing by a vector along one dimension.
func shapes() {
	row("t.default", func(b b_, a []val) val {
		x := in(a[0])
		if len(x.Shape) < 2 {
			return b.T("alias.default", x)
		}
		return b.T("permute.default", x, []val{int64(1), int64(0)})
	})
	row("transpose.int", func(b b_, a []val) val {
		x := in(a[0])
		n := len(x.Shape)
		if n == 0 {
			return b.T("alias.default", x)
		}
		p := make([]int64, n)
		for i := range p {
			p[i] = int64(i)
		}
		i, j := build.Wrap(a[1].(int64), n), build.Wrap(a[2].(int64), n)
		p[i], p[j] = p[j], p[i]
		return b.T("permute.default", x, build.Ints(p))
	})
	for _, n := range []string{"split.Tensor", "split_with_sizes.default"} {
		row("unsafe_"+n, func(b b_, a []val) val { return parts(b.M(n, a...)) })
	}
	row("_unsafe_view.default", func(b b_, a []val) val { return b.T("view.default", a[0], a[1]) })
	row("detach.default", func(b b_, a []val) val { return b.T("alias.default", a[0]) })
	row("lift_fresh.default", func(b b_, a []val) val { return a[0] })
	row("flip.default", func(b b_, a []val) val {
		x := in(a[0])
		dims := build.ToInts(a[1])
		for i, d := range dims {
			dims[i] = int64(build.Wrap(d, x.Dim()))
		}
		return b.Prim("rev.default", x, build.Ints(dims))
	})
	row("_unsafe_index_put.default", func(b b_, a []val) val { return b.T("index_put.default", a...) })
	row("cat.default", func(b b_, a []val) val {
		ts, _ := a[0].([]val)
		switch parts := joined(ts); {
		case len(parts) == 1:
			return b.T("clone.default", parts[0])
		case len(parts) > 1 && len(parts) < len(ts):
			return b.T("cat.default", parts, a[1])
		}
		return aot.Declined{}
	})
	row("stack.default", func(b b_, a []val) val {
		ts := build.Tensors(a[0])
		n := len(ts[0].Shape)
		d := int64(build.Wrap(a[1].(int64), n+1))
		parts := make([]val, len(ts))
		for i, t := range ts {
			parts[i] = t
		}
		if int(d) == n { // the new dimension is the innermost: the parts do not lie in one piece
			for i, t := range ts {
				parts[i] = b.T("unsqueeze.default", t, d)
			}
			return b.T("cat.default", parts, d)
		}
		shape := append([]int64(nil), ts[0].Shape...)
		shape = append(shape[:d], append([]int64{int64(len(ts))}, shape[d:]...)...)
		return b.T("view.default", b.T("cat.default", parts, d), build.Ints(shape))
	})
	row("index_select.default", func(b b_, a []val) val {
		x := in(a[0])
		if len(x.Shape) == 0 {
			return aot.Declined{}
		}
		d := build.Wrap(a[1].(int64), len(x.Shape))
		idx := make([]val, d+1)
		idx[d] = vector(b, in(a[2]))
		return b.T("index.Tensor", colons(b, x, d), idx)
	})
	row("index_add.default", func(b b_, a []val) val {
		x := in(a[0])
		if len(x.Shape) == 0 {
			return aot.Declined{}
		}
		d := build.Wrap(a[1].(int64), len(x.Shape))
		idx := make([]val, d+1)
		idx[d] = vector(b, in(a[2]))
		return b.T("index_put.default", x, idx, scaled(b, a[3], a[4]), true)
	})
	row("roll.default", func(b b_, a []val) val {
		x := in(a[0])
		shifts, dims := build.ToInts(a[1]), build.ToInts(a[2])
		if len(dims) == 0 || tensor.Numel(x.Shape) == 0 {
			return aot.Declined{}
		}
		for k, d0 := range dims {
			d := build.Wrap(d0, len(x.Shape))
			n := x.Shape[d]
			start := (((n - shifts[k]) % n) + n) % n
			i := b.Prim("iota.default", n, int64(0), int64(1), tensor.Int64, tensor.CPU, false)
			idx := make([]val, d+1)
			idx[d] = b.T("fmod.Scalar", b.Add(i, start), n)
			x = b.T("index.Tensor", colons(b, x, d), idx)
		}
		return x
	})
}

// parts is a list of tensors as a value.
func parts(ts []tt) []val {
	out := make([]val, len(ts))
	for i, t := range ts {
		out[i] = t
	}
	return out
}

// colons is x as Python's x[:, :, index] leaves it in a graph before the d-th dimension is indexed.
func colons(b b_, x tt, d int) tt {
	for k := range d {
		x = b.T("slice.Tensor", x, int64(k), int64(0), int64(math.MaxInt64))
	}
	return x
}

// vector is an index with a dimension: one without counts as one of size 1 where a dimension is selected, and would drop it where a tensor is indexed.
func vector(b b_, index tt) tt {
	if index.Dim() == 0 {
		return b.T("unsqueeze.default", index, int64(0))
	}
	return index
}

// joined are the tensors that cat has to join: not the empty ones of one dimension, which fit with anything.
func joined(ts []val) []val {
	return slices.DeleteFunc(slices.Clone(ts), func(v val) bool {
		t := in(v)
		return t.Dim() == 1 && t.Shape[0] == 0
	})
}

// linear holds products with vectors and small products of matrices, which Inductor fuses as sums of products; other products stay as they are.
func linear() {
	row("mm.default", wide(func(b b_, x []tt, _ []val) val {
		m, n := x[0], x[1]
		switch {
		case m.Shape[1] == 1 && m.Shape[0] > 0 && n.Shape[0] == 1 && m.Numel()+n.Numel() <= 32:
			rows := make([]val, m.Shape[0])
			for i := range rows {
				rows[i] = b.Mul(b.T("select.int", m, int64(0), int64(i)), n)
			}
			return b.T("cat.default", rows)
		case m.Shape[0] == 1 && n.Shape[1] == 1:
			return rowByColumn(b, m, n, 0)
		}
		return aot.Declined{}
	}))
	row("bmm.default", wide(func(b b_, x []tt, _ []val) val {
		if x[0].Shape[1] == 1 && x[1].Shape[2] == 1 {
			return rowByColumn(b, x[0], x[1], 1)
		}
		return aot.Declined{}
	}))
	row("addmm.default", wide(func(b b_, x []tt, rest []val) val {
		m, n := x[1], x[2]
		if m.Shape[0] != 1 {
			return aot.Declined{}
		}
		var y tt
		switch {
		case n.Shape[1] == 1:
			y = rowByColumn(b, m, n, 0)
		case n.Shape[0] <= 16 && n.Shape[1] <= 16:
			y = b.T("sum.dim_IntList", b.Mul(b.T("permute.default", m, build.Ints([]int64{1, 0})), n), []val{int64(0)}, true)
		default:
			return aot.Declined{}
		}
		return b.Add(b.Mul(y, rest[1]), b.Mul(x[0], rest[0]))
	}))
	row("mv.default", func(b b_, a []val) val {
		return b.T("sum.dim_IntList", b.Mul(in(a[0]), a[1]), []val{int64(1)})
	})
	row("dot.default", func(b b_, a []val) val { return b.T("sum.default", b.Mul(in(a[0]), a[1])) })
	row("addmv.default", func(b b_, a []val) val {
		m := b.T("mv.default", a[1], a[2])
		return b.Add(b.Mul(in(a[0]), a[3]), b.Mul(m, a[4]))
	})
}

// randoms holds random operators, all made of rand or randn, so that the streams of a compiled graph are drawn from in one way.
func randoms() {
	row("bernoulli.default", func(b b_, a []val) val {
		x := in(a[0])
		r := b.T("rand.default", build.Ints(x.Shape), tensor.Float32)
		return cast(b, b.T("lt.Tensor", r, x), x.DType)
	})
	for _, n := range []string{"rand", "randn"} {
		row(n+"_like.default", func(b b_, a []val) val {
			x := in(a[0])
			d := x.DType
			if dt, ok := a[1].(tensor.DType); ok {
				d = dt
			}
			if !x.IsContiguous(tensor.ContiguousFormat) && x.IsNonOverlappingAndDense() { // its layout is kept
				return aot.Declined{}
			}
			return b.T(n+".default", build.Ints(x.Shape), d)
		})
	}
	row("exponential.default", func(b b_, a []val) val {
		u := b.T("rand_like.default", a[0])
		eps := u.DType.Epsilon() / 2 // what is so near to 1 has this logarithm, as 0 is no result
		return b.Mul(b.Where(b.T("ge.Scalar", u, 1-eps), scalar(b, -eps, u), b.Un("log", u)), -1/build.Float(a[1]))
	})
	row("geometric.default", func(b b_, a []val) val {
		u := b.T("rand_like.default", a[0])
		return b.Add(b.Un("floor", b.Div(b.Un("log1p", b.Neg(u)), math.Log1p(-build.Float(a[1])))), int64(1))
	})
	row("log_normal.default", func(b b_, a []val) val {
		return b.Un("exp", b.Add(b.Mul(b.T("randn_like.default", a[0]), a[2]), a[1]))
	})
	row("cauchy.default", func(b b_, a []val) val {
		u := b.T("rand_like.default", a[0])
		return b.Add(b.Mul(b.Un("tan", b.Mul(b.Sub(u, 0.5), math.Pi)), a[2]), a[1])
	})
	row("native_dropout.default", func(b b_, a []val) val {
		x := in(a[0])
		p := build.Float(a[1])
		if tr, ok := a[2].(bool); ok && !tr || p == 0 {
			return []val{x, b.T("ones_like.default", x, tensor.Bool)}
		}
		if p == 1 {
			return []val{b.T("zeros_like.default", x), b.T("zeros_like.default", x, tensor.Bool)}
		}
		m := b.T("gt.Scalar", b.T("rand.default", build.Ints(x.Shape), tensor.Float32), p)
		return []val{b.Mul(b.Mul(m, x), 1/(1-p)), m}
	})
}
