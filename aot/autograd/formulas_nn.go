package autograd

import (
	"math/cmplx"
	"strings"

	"whittle/aot/build"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

func init() {
	matmuls()
	norms()
	losses()
	convAndPool()
	attention()
}

// matmuls holds the products that linear layers are made of. A gradient keeps the layout of what it is for, as PyTorch's does: a column-major
// matrix gets a column-major gradient.
func matmuls() {
	tr := func(c *Ctx, t tt) tt { return c.T("t.default", t) }
	swap := func(c *Ctx, t tt) tt { return c.lazyConj(c.T("transpose.int", t, int64(1), int64(2))) }
	// A column-major factor gets a column-major gradient, as in PyTorch's mm_mat1_backward and mm_mat2_backward.
	left := func(c *Ctx, m1, m2 string) tt {
		a, b := c.Like(m1), c.In(m2)
		if columnMajor(a) {
			return tr(c, c.T("mm.default", c.lazyConj(b), tr(c, c.G(0))))
		}
		return c.T("mm.default", c.G(0), c.lazyConj(tr(c, b)))
	}
	right := func(c *Ctx, m1, m2 string) tt {
		a, b := c.In(m1), c.Like(m2)
		if columnMajor(b) {
			return tr(c, c.T("mm.default", tr(c, c.G(0)), c.lazyConj(a)))
		}
		return c.T("mm.default", c.lazyConj(tr(c, a)), c.G(0))
	}
	row("mm.default", func(c *Ctx) {
		c.Set("self", func() tt { return left(c, "self", "mat2") })
		c.Set("mat2", func() tt { return right(c, "self", "mat2") })
	})
	scaled := func(c *Ctx, g tt, name string) tt {
		if a := c.Arg(name); !build.Is(a, 1) {
			if z, ok := a.(complex128); ok {
				a = cmplx.Conj(z)
			}
			return c.Mul(g, a)
		}
		return g
	}
	row("addmm.default", func(c *Ctx) {
		c.Set("mat1", func() tt { return scaled(c, left(c, "mat1", "mat2"), "alpha") })
		c.Set("mat2", func() tt { return scaled(c, right(c, "mat1", "mat2"), "alpha") })
		c.Set("self", func() tt { return scaled(c, c.G(0), "beta") })
	})
	row("bmm.default", func(c *Ctx) {
		c.Set("mat2", func() tt { return c.T("bmm.default", swap(c, c.In("self")), c.G(0)) })
		c.Set("self", func() tt { return c.T("bmm.default", c.G(0), swap(c, c.In("mat2"))) })
	})
	row("baddbmm.default", func(c *Ctx) {
		c.Set("batch1", func() tt { return scaled(c, c.T("bmm.default", c.G(0), swap(c, c.In("batch2"))), "alpha") })
		c.Set("batch2", func() tt { return scaled(c, c.T("bmm.default", swap(c, c.In("batch1")), c.G(0)), "alpha") })
		c.Set("self", func() tt { return scaled(c, c.G(0), "beta") })
	})
	row("mv.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.Mul(c.T("reshape.default", c.G(0), []aten.Value{c.G(0).Shape[0], int64(1)}), c.In("vec"))
		})
		c.Set("vec", func() tt { return c.T("mv.default", tr(c, c.In("self")), c.G(0)) })
	})
	row("addmv.default", func(c *Ctx) {
		c.Set("self", func() tt { return scaled(c, c.G(0), "beta") })
		c.Set("mat", func() tt {
			return scaled(c, c.Mul(c.T("reshape.default", c.G(0), []aten.Value{c.G(0).Shape[0], int64(1)}), c.In("vec")), "alpha")
		})
		c.Set("vec", func() tt { return scaled(c, c.T("mv.default", tr(c, c.In("mat")), c.G(0)), "alpha") })
	})
	row("dot.default vdot.default", func(c *Ctx) {
		other, g := "tensor", func() tt { return c.G(0) }
		if baseName(functionalName(c.op)) == "vdot" { // whose first vector is conjugated
			other, g = "other", func() tt { return c.conj(c.G(0)) }
		}
		c.Set("self", func() tt { return c.Mul(g(), c.In(other)) })
		c.Set(other, func() tt { return c.Mul(c.G(0), c.In("self")) })
	})
}

const upsamples = `upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d
	upsample_linear1d upsample_bilinear2d upsample_bicubic2d upsample_trilinear3d _upsample_bilinear2d_aa _upsample_bicubic2d_aa`

func columnMajor(t tt) bool { return t.Stride[0] == 1 && t.Stride[1] == t.Shape[0] }

// lazily evaluates a multi-result backward operator once.
func lazily(f func() []tt) func(i int) tt {
	var r []tt
	return func(i int) tt {
		if r == nil {
			r = f()
		}
		return r[i]
	}
}

// norms holds normalisations and softmax, each by the _backward operator of PyTorch, with what the forward pass saved.
func norms() {
	row("native_layer_norm.default", func(c *Ctx) {
		get := lazily(func() []tt {
			mask := []aten.Value{c.Need("input"), c.Need("weight"), c.Need("bias")}
			return c.M("native_layer_norm_backward.default", c.G(0), c.In("input"), c.args[c.argPos("normalized_shape")],
				c.Out(1), c.Out(2), build.Optional(c.In("weight")), build.Optional(c.In("bias")), mask)
		})
		c.Set("input", func() tt { return get(0) })
		c.Set("weight", func() tt { return get(1) })
		c.Set("bias", func() tt { return get(2) })
	}).noGrad = map[int]bool{1: true, 2: true}
	row("native_group_norm.default", func(c *Ctx) {
		get := lazily(func() []tt {
			mask := []aten.Value{c.Need("input"), c.Need("weight"), c.Need("bias")}
			return c.M("native_group_norm_backward.default", c.G(0), c.In("input"), c.Out(1), c.Out(2), build.Optional(c.In("weight")),
				c.Arg("N"), c.Arg("C"), c.Arg("HxW"), c.Arg("group"), mask)
		})
		c.Set("input", func() tt { return get(0) })
		c.Set("weight", func() tt { return get(1) })
		c.Set("bias", func() tt { return get(2) })
	})
	batch := func(rm, rv func(c *Ctx) aten.Value, train func(c *Ctx) aten.Value) func(c *Ctx) {
		return func(c *Ctx) {
			get := lazily(func() []tt {
				mask := []aten.Value{c.Need("input"), c.Need("weight"), c.Need("bias")}
				return c.M("native_batch_norm_backward.default", c.G(0), c.In("input"), build.Optional(c.In("weight")), rm(c), rv(c),
					c.Out(1), c.Out(2), train(c), c.Arg("eps"), mask)
			})
			c.Set("input", func() tt { return get(0) })
			c.Set("weight", func() tt { return get(1) })
			c.Set("bias", func() tt { return get(2) })
		}
	}
	raw := func(name string) func(c *Ctx) aten.Value {
		return func(c *Ctx) aten.Value { return c.args[c.argPos(name)] }
	}
	none := func(*Ctx) aten.Value { return nil }
	training := func(name string) func(c *Ctx) aten.Value {
		return func(c *Ctx) aten.Value { return c.args[c.argPos(name)] }
	}
	r := row("native_batch_norm.default _native_batch_norm_legit.default", batch(raw("running_mean"), raw("running_var"), training("training")))
	r.noGrad = map[int]bool{1: true, 2: true, 3: true, 4: true}
	// What the operator that writes to the running statistics saves of them is their new values.
	updated := func(i int) func(c *Ctx) aten.Value { return func(c *Ctx) aten.Value { return c.Out(i) } }
	row("_native_batch_norm_legit_functional.default", batch(updated(3), updated(4), training("training"))).noGrad = r.noGrad
	row("_native_batch_norm_legit.no_stats", batch(none, none, training("training"))).noGrad = r.noGrad
	row("_native_batch_norm_legit_no_training.default", batch(raw("running_mean"), raw("running_var"), func(*Ctx) aten.Value { return false })).noGrad = r.noGrad
	row("_softmax.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("_softmax_backward_data.default", c.G(0), c.Out(0), c.Arg("dim"), c.Like("self").DType)
		})
	})
	row("_log_softmax.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("_log_softmax_backward_data.default", c.G(0), c.Out(0), c.Arg("dim"), c.Like("self").DType)
		})
	})
	row("native_dropout.default", func(c *Ctx) {
		c.Set("input", func() tt {
			p := build.Float(c.Arg("p"))
			scale := 0.0
			if p < 1 {
				scale = 1 / (1 - p)
			}
			if tr, ok := c.Arg("train").(bool); ok && !tr {
				scale = 1
			}
			return c.T("native_dropout_backward.default", c.G(0), c.Out(1), scale)
		})
	}).noGrad = map[int]bool{1: true}
	row("_weight_norm_interface.default", func(c *Ctx) {
		get := lazily(func() []tt {
			return c.M("_weight_norm_interface_backward.default", c.G(0), c.In("v"), c.In("g"), c.Out(1), c.Arg("dim"))
		})
		c.Set("v", func() tt { return get(0) })
		c.Set("g", func() tt { return get(1) })
	})
}

// losses holds those losses whose gradient is an operator of its own.
func losses() {
	row("nll_loss_forward.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("nll_loss_backward.default", c.G(0), c.In("self"), c.In("target"), build.Optional(c.In("weight")), c.Arg("reduction"), c.Arg("ignore_index"), c.Out(1))
		})
	}).noGrad = map[int]bool{1: true}
	row("nll_loss2d_forward.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("nll_loss2d_backward.default", c.G(0), c.In("self"), c.In("target"), build.Optional(c.In("weight")), c.Arg("reduction"), c.Arg("ignore_index"), c.Out(1))
		})
	}).noGrad = map[int]bool{1: true}
	two := func(name string, extra ...string) {
		row(name+".default", func(c *Ctx) {
			args := func(a, b tt) []aten.Value {
				v := []aten.Value{c.G(0), a, b, c.Arg("reduction")}
				for _, e := range extra {
					v = append(v, c.Arg(e))
				}
				return v
			}
			c.Set("self", func() tt { return c.T(name+"_backward.default", args(c.In("self"), c.In("target"))...) })
			c.Set("target", func() tt { return c.T(name+"_backward.default", args(c.In("target"), c.In("self"))...) })
		})
	}
	two("mse_loss")
	two("smooth_l1_loss", "beta")
	two("huber_loss", "delta")
	row("soft_margin_loss.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("soft_margin_loss_backward.default", c.G(0), c.In("self"), c.In("target"), c.Arg("reduction"))
		})
	})
	// weighted multiplies a loss's slope by the incoming gradient and the weight, and divides by the count for a mean.
	weighted := func(c *Ctx, slope tt) tt {
		d := c.Mul(slope, c.G(0))
		if w := c.In("weight"); w != nil {
			d = c.Mul(d, w)
		}
		if c.Int("reduction") == 1 {
			d = c.Div(d, tensor.Numel(c.Like("self").Shape))
		}
		return d
	}
	row("binary_cross_entropy.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("binary_cross_entropy_backward.default", c.G(0), c.In("self"), c.In("target"), build.Optional(c.In("weight")), c.Arg("reduction"))
		})
		c.Set("target", func() tt {
			x := c.In("self")
			log := func(t tt) tt { return c.T("clamp_min.default", c.Un("log", t), -100.0) }
			return weighted(c, c.Sub(log(c.From(1.0, x)), log(x)))
		})
	})
	row("binary_cross_entropy_with_logits.default", func(c *Ctx) {
		c.Set("self", func() tt {
			x, y := c.In("self"), c.In("target")
			s := c.Un("sigmoid", x)
			if pw := c.In("pos_weight"); pw != nil {
				t := c.Mul(pw, y)
				return weighted(c, c.Sub(c.Mul(c.Sub(c.Add(t, int64(1)), y), s), t))
			}
			return weighted(c, c.Sub(s, y))
		})
		c.Set("target", func() tt {
			x := c.In("self")
			if pw := c.In("pos_weight"); pw != nil {
				logSigmoid := func(t tt) tt { return c.M("log_sigmoid_forward.default", t)[0] }
				return weighted(c, c.Sub(logSigmoid(c.Neg(x)), c.Mul(pw, logSigmoid(x))))
			}
			return weighted(c, c.Neg(x))
		})
	})
}

// convAndPool holds convolutions, pools and resampling. Maxima send their gradient to the positions that the forward pass gave.
func convAndPool() {
	row("convolution.default", func(c *Ctx) {
		get := lazily(func() []tt {
			w := c.In("weight")
			mask := []aten.Value{c.Need("input"), c.Need("weight"), c.Need("bias")}
			var bias aten.Value
			if c.Like("bias") != nil {
				bias = []aten.Value{biasSize(c, w)}
			}
			return c.M("convolution_backward.default", c.G(0), c.In("input"), w, bias, c.Arg("stride"), c.Arg("padding"), c.Arg("dilation"),
				c.Arg("transposed"), c.Arg("output_padding"), c.Arg("groups"), mask)
		})
		c.Set("input", func() tt { return get(0) })
		c.Set("weight", func() tt { return get(1) })
		c.Set("bias", func() tt { return get(2) })
	})
	row("max_pool2d_with_indices.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("max_pool2d_with_indices_backward.default", c.G(0), c.In("self"), c.Arg("kernel_size"), c.Arg("stride"), c.Arg("padding"), c.Arg("dilation"), c.Arg("ceil_mode"), c.Out(1))
		})
	}).noGrad = map[int]bool{1: true}
	row("max_pool3d_with_indices.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("max_pool3d_with_indices_backward.default", c.G(0), c.In("self"), c.Arg("kernel_size"), c.Arg("stride"), c.Arg("padding"), c.Arg("dilation"), c.Arg("ceil_mode"), c.Out(1))
		})
	}).noGrad = map[int]bool{1: true}
	for _, n := range []string{"avg_pool2d", "avg_pool3d"} {
		row(n+".default", func(c *Ctx) {
			c.Set("self", func() tt {
				return c.T(n+"_backward.default", c.G(0), c.In("self"), c.Arg("kernel_size"), c.Arg("stride"), c.Arg("padding"), c.Arg("ceil_mode"), c.Arg("count_include_pad"), c.Arg("divisor_override"))
			})
		})
	}
	for _, n := range []string{"_adaptive_avg_pool2d", "_adaptive_avg_pool3d"} {
		row(n+".default", func(c *Ctx) {
			c.Set("self", func() tt { return c.T(n+"_backward.default", c.G(0), c.In("self")) })
		})
	}
	for _, n := range []string{"adaptive_max_pool2d", "adaptive_max_pool3d"} {
		row(n+".default", func(c *Ctx) {
			c.Set("self", func() tt { return c.T(n+"_backward.default", c.G(0), c.In("self"), c.Out(1)) })
		}).noGrad = map[int]bool{1: true}
	}
	for _, n := range strings.Fields(upsamples) {
		row(n+".default", func(c *Ctx) {
			c.Set("self", func() tt {
				args := []aten.Value{c.G(0), c.Arg("output_size"), build.Ints(c.Like("self").Shape)}
				return c.T(n+"_backward.default", append(args, c.args[2:]...)...)
			})
		})
	}
	row("pixel_shuffle.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.T("pixel_unshuffle.default", c.G(0), c.Arg("upscale_factor")) })
	})
	row("pixel_unshuffle.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.T("pixel_shuffle.default", c.G(0), c.Arg("downscale_factor")) })
	})
	row("grid_sampler_2d.default", func(c *Ctx) {
		get := lazily(func() []tt {
			return c.M("grid_sampler_2d_backward.default", c.G(0), c.In("input"), c.In("grid"), c.Arg("interpolation_mode"), c.Arg("padding_mode"), c.Arg("align_corners"),
				[]aten.Value{c.Need("input"), c.Need("grid")})
		})
		c.Set("input", func() tt { return get(0) })
		c.Set("grid", func() tt { return get(1) })
	})
	row("im2col.default", func(c *Ctx) {
		c.Set("self", func() tt {
			in := c.Like("self")
			hw := in.Shape[len(in.Shape)-2:]
			return c.T("col2im.default", c.G(0), build.Ints(hw), c.Arg("kernel_size"), c.Arg("dilation"), c.Arg("padding"), c.Arg("stride"))
		})
	})
	row("col2im.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("im2col.default", c.G(0), c.Arg("kernel_size"), c.Arg("dilation"), c.Arg("padding"), c.Arg("stride"))
		})
	})
}

func biasSize(c *Ctx, w tt) int64 {
	if c.Bool("transposed") {
		return w.Shape[1] * c.Int("groups")
	}
	return w.Shape[0]
}

// attention holds the fused kernel, whose backward takes the logarithm of its normaliser.
func attention() {
	row("_scaled_dot_product_flash_attention_for_cpu.default", func(c *Ctx) {
		get := lazily(func() []tt {
			return c.M("_scaled_dot_product_flash_attention_for_cpu_backward.default", c.G(0), c.In("query"), c.In("key"), c.In("value"),
				c.Out(0), c.Out(1), c.Arg("dropout_p"), c.Arg("is_causal"), c.Arg("attn_mask"), c.Arg("scale"))
		})
		c.Set("query", func() tt { return get(0) })
		c.Set("key", func() tt { return get(1) })
		c.Set("value", func() tt { return get(2) })
	}).noGrad = map[int]bool{1: true}
	row("_safe_softmax.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("_softmax_backward_data.default", c.G(0), c.Out(0), c.Arg("dim"), c.Like("self").DType)
		})
	})
}
