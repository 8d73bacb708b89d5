package autograd

import (
	"fmt"
	"math"
	"strings"

	"whittle/aot/build"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// Derivatives of the operators that derivatives call: they serve double backward. Each such operator is linear in the gradient that comes in, so
// along that argument its derivative is the operator itself, or where that collects from many places, the forward operator.

func init() {
	secondActivations()
	secondLosses()
	secondPools()
	row("convolution_backward.default", convolutionTwice)
	secondNorms()
}

// curved is a pointwise op(grad, ..., self, ...) = grad*f'(self): again gives op with another gradient, curve is f”(self).
func curved(name, grad, self string, again func(c *Ctx, g tt) tt, curve func(c *Ctx, x tt) tt) {
	row(name+".default", func(c *Ctx) {
		c.Set(grad, func() tt { return again(c, c.G(0)) })
		c.Set(self, func() tt { return c.Mul(c.Mul(c.G(0), c.In(grad)), curve(c, c.In(self))) })
	})
}

// straight is curved for functions made of straight lines.
func straight(name, grad, self string, again func(c *Ctx, g tt) tt) {
	row(name+".default", func(c *Ctx) {
		c.Set(grad, func() tt { return again(c, c.G(0)) })
		c.Set(self, func() tt { return c.ZerosLike(c.In(self)) })
	})
}

// withGrad runs the operator of the formula once more, with another first argument.
func (c *Ctx) withGrad(g tt) tt {
	return c.T(strings.TrimPrefix(c.op.Name(), "aten."), append([]aten.Value{g}, c.args[1:]...)...)
}

// secondActivations holds the derivatives of the _backward operators of activations.
func secondActivations() {
	again := func(c *Ctx, g tt) tt { return c.withGrad(g) }
	sig := func(c *Ctx, x tt) tt { return c.Un("sigmoid", x) }
	slope := func(c *Ctx, s tt) tt { return c.Mul(s, c.From(int64(1), s)) } // of a sigmoid with the value s
	curved("silu_backward", "grad_output", "self", again, func(c *Ctx, x tt) tt {
		s := sig(c, x)
		return c.Mul(slope(c, s), c.Add(c.Mul(x, c.From(int64(1), c.Mul(s, int64(2)))), int64(2)))
	})
	curved("mish_backward", "grad_output", "self", again, func(c *Ctx, x tt) tt {
		s, t := sig(c, x), c.Un("tanh", c.T("softplus.default", x))
		r := c.From(int64(1), c.Mul(t, t))
		d := c.Mul(r, s) // of the tanh
		dd := c.Sub(c.Mul(r, slope(c, s)), c.Mul(c.Mul(c.Mul(t, d), s), int64(2)))
		return c.Add(c.Mul(d, int64(2)), c.Mul(x, dd))
	})
	curved("gelu_backward", "grad_output", "self", again, func(c *Ctx, x tt) tt {
		x2 := c.Mul(x, x)
		if a, _ := c.Arg("approximate").(string); a != "tanh" {
			pdf := c.Mul(c.Un("exp", c.Mul(x2, -0.5)), 1/math.Sqrt(2*math.Pi))
			return c.Mul(pdf, c.From(int64(2), x2))
		}
		k, a := math.Sqrt(2/math.Pi), 0.044715
		t := c.Un("tanh", c.Mul(c.Mul(x, c.Add(c.Mul(x2, a), int64(1))), k))
		d := c.Mul(c.Add(c.Mul(x2, 3*a), int64(1)), k)
		r := c.From(int64(1), c.Mul(t, t))
		inner := c.Sub(c.Mul(x, 6*k*a), c.Mul(c.Mul(t, c.Mul(d, d)), int64(2)))
		return c.Mul(r, c.Add(d, c.Mul(c.Mul(x, inner), 0.5)))
	})
	curved("softplus_backward", "grad_output", "self", again, func(c *Ctx, x tt) tt {
		beta := build.Float(c.Arg("beta"))
		z := c.Mul(x, beta)
		return c.MaskFill(c.Mul(slope(c, sig(c, z)), beta), c.T("gt.Scalar", z, c.Arg("threshold")), int64(0))
	})
	curved("log_sigmoid_backward", "grad_output", "self", again, func(c *Ctx, x tt) tt { return c.Neg(slope(c, sig(c, x))) })
	curved("hardswish_backward", "grad_output", "self", again, func(c *Ctx, x tt) tt {
		outside := c.T("logical_or.default", c.T("le.Scalar", x, -3.0), c.T("ge.Scalar", x, 3.0))
		return c.MaskFill(c.filled(x, 1.0/3), outside, int64(0))
	})
	row("elu_backward.default", func(c *Ctx) {
		x, alpha, scale, in := c.In("self_or_result"), build.Float(c.Arg("alpha")), build.Float(c.Arg("scale")), build.Float(c.Arg("input_scale"))
		c.Set("grad_output", func() tt { return c.withGrad(c.G(0)) })
		c.Set("self_or_result", func() tt {
			curve := c.filled(x, in)
			if !c.Bool("is_result") {
				curve = c.Mul(c.Un("exp", c.Mul(x, in)), alpha*scale*in*in)
			}
			return c.Mul(c.Mul(c.G(0), c.In("grad_output")), c.MaskFill(curve, c.T("ge.Scalar", x, int64(0)), int64(0)))
		})
	})
	for name, grad := range map[string]string{"leaky_relu_backward": "grad_output", "hardtanh_backward": "grad_output", "softshrink_backward": "grad_output",
		"hardshrink_backward": "grad_out", "rrelu_with_noise_backward": "grad_output"} {
		straight(name, grad, "self", again)
	}
	row("glu_backward.default", func(c *Ctx) {
		dim := c.Arg("dim")
		half := func(t tt, i int) tt {
			return c.M("split.Tensor", t, t.Shape[build.Wrap(dim.(int64), len(t.Shape))]/2, dim)[i]
		}
		x, gg := c.In("self"), c.G(0)
		a, s := half(x, 0), sig(c, half(x, 1))
		ga, gb, d := half(gg, 0), half(gg, 1), slope(c, s)
		c.Set("grad_output", func() tt { return c.Add(c.Mul(ga, s), c.Mul(c.Mul(gb, a), d)) })
		c.Set("self", func() tt {
			g := c.In("grad_output")
			da := c.Mul(c.Mul(gb, g), d)
			db := c.Mul(c.Mul(g, d), c.Add(ga, c.Mul(c.Mul(gb, a), c.From(int64(1), c.Mul(s, int64(2))))))
			return c.T("cat.default", []aten.Value{da, db}, dim)
		})
	})
	row("_prelu_kernel_backward.default", func(c *Ctx) {
		x, w, g := c.In("self"), c.In("weight"), c.In("grad_output")
		left := c.T("le.Scalar", x, int64(0))
		on := func(t tt) tt { return c.Where(left, t, c.ZerosLike(t)) }
		c.Set("grad_output", func() tt { return c.Add(c.Where(left, c.Mul(w, c.G(0)), c.G(0)), on(c.Mul(x, c.G(1)))) })
		c.Set("self", func() tt { return on(c.Mul(g, c.G(1))) })
		c.Set("weight", func() tt { return on(c.Mul(g, c.G(0))) })
	})
}

// secondLosses holds those of losses.
func secondLosses() {
	// The gradient of a reduced loss is one number; what multiplies it is the operator's own result for the gradient 1.
	byGrad := func(c *Ctx) tt {
		g := c.In("grad_output")
		return c.Mul(c.G(0), c.withGrad(c.filled(g, int64(1))))
	}
	share := func(c *Ctx, curve tt) tt {
		r := c.Mul(c.Mul(c.G(0), c.In("grad_output")), curve)
		if c.Int("reduction") == 1 {
			r = c.Div(r, c.In("self").Numel())
		}
		return r
	}
	// curve is the second derivative along self, minus that across self and target.
	of := func(name string, curve func(c *Ctx, d tt) tt) {
		row(name+".default", func(c *Ctx) {
			get := lazily(func() []tt { return []tt{share(c, curve(c, c.Sub(c.In("self"), c.In("target"))))} })
			c.Set("grad_output", func() tt { return byGrad(c) })
			c.Set("self", func() tt { return get(0) })
			c.Set("target", func() tt { return c.Neg(get(0)) })
		})
	}
	within := func(c *Ctx, d tt, limit, value float64) tt {
		return c.MaskFill(c.filled(d, value), c.T("ge.Scalar", c.Un("abs", d), limit), int64(0))
	}
	of("mse_loss_backward", func(c *Ctx, d tt) tt { return c.filled(d, int64(2)) })
	of("smooth_l1_loss_backward", func(c *Ctx, d tt) tt {
		beta := build.Float(c.Arg("beta"))
		if beta == 0 {
			return c.ZerosLike(d)
		}
		return within(c, d, beta, 1/beta)
	})
	of("huber_loss_backward", func(c *Ctx, d tt) tt { return within(c, d, build.Float(c.Arg("delta")), 1) })
	row("soft_margin_loss_backward.default", func(c *Ctx) {
		c.Set("grad_output", func() tt { return byGrad(c) })
		c.Set("self", func() tt {
			y := c.In("target")
			s := c.Un("sigmoid", c.Mul(c.In("self"), y))
			return share(c, c.Mul(c.Mul(y, y), c.Mul(s, c.From(int64(1), s))))
		})
	})
	row("binary_cross_entropy_backward.default", func(c *Ctx) {
		x, y := c.In("self"), c.In("target")
		weighted := func(t tt) tt {
			if w := c.In("weight"); w != nil {
				t = c.Mul(t, w)
			}
			return share(c, t)
		}
		p := c.T("clamp_min.default", c.Mul(x, c.From(int64(1), x)), 1e-12)
		c.Set("grad_output", func() tt { return byGrad(c) })
		c.Set("self", func() tt {
			top := c.Add(c.Sub(c.Mul(x, x), c.Mul(c.Mul(x, y), int64(2))), y)
			return weighted(c.Div(top, c.Mul(p, p)))
		})
		c.Set("target", func() tt { return weighted(c.Neg(c.Un("reciprocal", p))) })
	})
	for _, n := range []string{"nll_loss", "nll_loss2d"} {
		row(n+"_backward.default", func(c *Ctx) {
			c.Set("grad_output", func() tt {
				return c.M(n+"_forward.default", c.G(0), c.In("target"), c.Arg("weight"), c.Arg("reduction"), c.Arg("ignore_index"))[0]
			})
			c.Set("self", func() tt { return c.ZerosLike(c.In("self")) })
		})
	}
	row("embedding_dense_backward.default", func(c *Ctx) {
		c.Set("grad_output", func() tt {
			if c.Bool("scale_grad_by_freq") { // the counts of the indices would scale this gradient, too, and the formula below leaves them out
				c.Check(fmt.Errorf("embedding_dense_backward: the derivative is not implemented for scale_grad_by_freq"))
			}
			ix := c.In("indices")
			g := c.T("embedding.default", c.G(0), ix)
			if pad := c.Int("padding_idx"); pad >= 0 {
				g = c.MaskFill(g, c.T("unsqueeze.default", c.T("eq.Scalar", ix, pad), int64(-1)), int64(0))
			}
			return g
		})
	})
}

// secondPools holds those of pools, convolutions and resampling.
func secondPools() {
	// forward is what the operator undoes, applied to the gradient of its result. It does not read self, where there is one.
	back := func(name string, forward func(c *Ctx) tt) {
		row(name+".default", func(c *Ctx) {
			c.Set("grad_output", func() tt { return forward(c) })
			if c.op.Sig().Arg("self") >= 0 {
				c.Set("self", func() tt { return c.ZerosLike(c.In("self")) })
			}
		})
	}
	for n, dims := range map[string]int{"max_pool2d_with_indices": 2, "max_pool3d_with_indices": 3, "adaptive_max_pool2d": 2, "adaptive_max_pool3d": 3, "fractional_max_pool2d": 2, "fractional_max_pool3d": 3} {
		back(n+"_backward", func(c *Ctx) tt {
			ix := c.In("indices")
			flat := func(t tt) tt { return c.T("flatten.using_ints", t, int64(-dims), int64(-1)) }
			return c.T("view.default", c.T("gather.default", flat(c.G(0)), int64(-1), flat(ix)), build.Ints(ix.Shape))
		})
	}
	for _, n := range []string{"avg_pool2d", "avg_pool3d", "reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d", "replication_pad2d", "replication_pad3d"} {
		back(n+"_backward", func(c *Ctx) tt { return c.T(n+".default", append([]aten.Value{c.G(0)}, c.args[2:]...)...) })
	}
	for n, dims := range map[string]int{"_adaptive_avg_pool2d": 2, "_adaptive_avg_pool3d": 3} {
		back(n+"_backward", func(c *Ctx) tt {
			s := c.Like("grad_output").Shape
			return c.T(n+".default", c.G(0), build.Ints(s[len(s)-dims:]))
		})
	}
	for _, n := range strings.Fields(upsamples) {
		back(n+"_backward", func(c *Ctx) tt {
			return c.T(n+".default", append([]aten.Value{c.G(0), c.Arg("output_size")}, c.args[3:]...)...)
		})
	}
}

// convolutionTwice: each of the three gradients of a convolution is linear in two of grad_output, input and weight.
func convolutionTwice(c *Ctx) {
	g, x, w := c.In("grad_output"), c.In("input"), c.In("weight")
	geometry := func(mask ...aten.Value) []aten.Value {
		return []aten.Value{nil, c.Arg("stride"), c.Arg("padding"), c.Arg("dilation"), c.Arg("transposed"), c.Arg("output_padding"), c.Arg("groups"), mask}
	}
	conv := func(x, w tt) tt {
		return c.T("convolution.default", x, w, nil, c.Arg("stride"), c.Arg("padding"), c.Arg("dilation"), c.Arg("transposed"), c.Arg("output_padding"), c.Arg("groups"))
	}
	c.Set("grad_output", func() tt {
		var sum tt
		add := func(t tt) {
			if sum != nil {
				t = c.Add(sum, t)
			}
			sum = t
		}
		if c.Has(0) {
			add(conv(c.G(0), w))
		}
		if c.Has(1) {
			add(conv(x, c.G(1)))
		}
		if c.Has(2) {
			shape := make([]int64, len(g.Shape))
			for i := range shape {
				shape[i] = 1
			}
			shape[1] = -1
			add(c.T("expand.default", c.T("view.default", c.G(2), build.Ints(shape)), build.Ints(g.Shape)))
		}
		return sum
	})
	c.Set("input", func() tt {
		if !c.Has(1) {
			return c.ZerosLike(x)
		}
		return c.M("convolution_backward.default", append([]aten.Value{g, x, c.G(1)}, geometry(true, false, false)...)...)[0]
	})
	c.Set("weight", func() tt {
		if !c.Has(0) {
			return c.ZerosLike(w)
		}
		return c.M("convolution_backward.default", append([]aten.Value{g, c.G(0), w}, geometry(false, true, false)...)...)[1]
	})
}

// through differentiates an expression by the engine itself: f computes the operator's results from stand-ins for the named arguments.
func (c *Ctx) through(names []string, f func(b *build.B, in map[string]tt) []tt) {
	if _, recording := c.D.(*Engine); recording { // the inner engine's own backward is not recorded: its gradients would be cut off
		c.Check(fmt.Errorf("the derivative of the derivative of %s is not implemented", c.op.Name()))
	}
	eng := &Engine{Below: c.D}
	in := map[string]tt{}
	var leaves []tt
	for _, n := range names {
		t := c.In(n)
		if t == nil {
			continue
		}
		t = c.T("alias.default", t)
		t.Base, t.Autograd = nil, nil
		Ensure(t).RequiresGrad = true
		in[n], leaves = t, append(leaves, t)
	}
	b := &build.B{D: eng}
	var roots, grads []tt
	for i, r := range f(b, in) {
		if c.Has(i) && r != nil && RequiresGrad(r) {
			roots, grads = append(roots, r), append(grads, c.G(i))
		}
	}
	gs := make([]tt, len(leaves))
	if len(roots) > 0 {
		var err error
		gs, err = eng.Backward(roots, grads, Options{Inputs: leaves, AllowUnused: true})
		c.Check(err)
	}
	k := 0
	for _, n := range names {
		if in[n] == nil {
			continue
		}
		g := gs[k]
		k++
		c.Set(n, func() tt {
			if g == nil {
				return c.ZerosLike(c.In(n))
			}
			return g
		})
	}
}

// normed is a normalisation's backward pass as an expression: input and gradient seen as shape, statistics taken over dims, parameters
// summed over rest.
type normed struct {
	shape, param []int64
	dims, rest   []int64
}

// grads are the gradients of input, weight and bias. Statistics are functions of the input unless fixed gives them: mean and 1/std.
func (n normed) grads(b *build.B, g, x, w tt, rstd tt, fixed [2]tt) []tt {
	size, like := x.Shape, w
	view := func(t tt, s []int64) tt { return b.T("reshape.default", t, build.Ints(s)) }
	g, x = view(g, n.shape), view(x, n.shape)
	mean, r := fixed[0], fixed[1]
	over := func(t tt) tt { return b.T("mean.dim", t, build.Ints(n.dims), true) }
	if mean == nil {
		mean = over(x)
		v := b.Sub(x, mean)
		variance := over(b.Mul(v, v))
		// What was added to the variance follows from the saved 1/std.
		r = view(rstd, mean.Shape)
		eps := b.Sub(b.Pow(r, int64(-2)), b.T("detach.default", variance))
		r = b.Un("rsqrt", b.Add(variance, b.T("detach.default", eps)))
	}
	xhat := b.Mul(b.Sub(x, mean), r)
	gh := g
	if w != nil {
		gh = b.Mul(g, view(w, n.param))
	}
	dx := b.Mul(gh, r)
	if fixed[0] == nil {
		dx = b.Mul(b.Sub(b.Sub(gh, over(gh)), b.Mul(xhat, over(b.Mul(gh, xhat)))), r)
	}
	param := func(t tt) tt {
		t = b.T("sum.dim_IntList", t, build.Ints(n.rest), false)
		if like != nil {
			return view(t, like.Shape)
		}
		return b.T("flatten.using_ints", t, int64(0), int64(-1))
	}
	return []tt{view(dx, size), param(b.Mul(g, xhat)), param(g)}
}

// secondNorms holds those of normalisations, which are written out in plain operators.
func secondNorms() {
	row("native_layer_norm_backward.default", func(c *Ctx) {
		x := c.In("input")
		cols := tensor.Numel(c.Ints("normalized_shape"))
		n := normed{shape: []int64{x.Numel() / max(cols, 1), cols}, param: []int64{1, cols}, dims: []int64{1}, rest: []int64{0}}
		c.through([]string{"grad_out", "input", "weight"}, func(b *build.B, in map[string]tt) []tt {
			return n.grads(b, in["grad_out"], in["input"], in["weight"], c.In("rstd"), [2]tt{})
		})
	})
	row("native_group_norm_backward.default", func(c *Ctx) {
		groups, ch := c.Int("group"), c.Int("C")
		n := normed{shape: []int64{c.Int("N"), groups, ch / groups, c.Int("HxW")}, param: []int64{1, groups, ch / groups, 1}, dims: []int64{2, 3}, rest: []int64{0, 3}}
		c.through([]string{"grad_out", "input", "weight"}, func(b *build.B, in map[string]tt) []tt {
			return n.grads(b, in["grad_out"], in["input"], in["weight"], c.In("rstd"), [2]tt{})
		})
	})
	row("native_batch_norm_backward.default", func(c *Ctx) {
		x := c.In("input")
		ch := x.Shape[1]
		n := normed{shape: []int64{x.Shape[0], ch, tensor.Numel(x.Shape[2:])}, param: []int64{1, ch, 1}, dims: []int64{0, 2}, rest: []int64{0, 2}}
		c.through([]string{"grad_out", "input", "weight"}, func(b *build.B, in map[string]tt) []tt {
			var fixed [2]tt
			if !c.Bool("train") {
				stat := func(t tt) tt { return b.T("reshape.default", t, build.Ints(n.param)) }
				fixed = [2]tt{stat(c.In("running_mean")), b.Un("rsqrt", b.Add(stat(c.In("running_var")), c.Arg("eps")))}
			}
			return n.grads(b, in["grad_out"], in["input"], in["weight"], c.In("save_invstd"), fixed)
		})
	})
}
