package autograd

import (
	"fmt"
	"strings"

	"whittle/aot/build"
	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

func init() {
	distances()
	sampling()
	bags()
	composed()
}

// distances are losses and pairwise distances whose gradient is an operator of its own.
func distances() {
	row("_cdist_forward.default", func(c *Ctx) {
		p := c.Arg("p")
		c.Set("x1", func() tt {
			return c.T("_cdist_backward.default", contiguous(c, c.G(0)), c.In("x1"), c.In("x2"), p, c.Out(0))
		})
		c.Set("x2", func() tt {
			return c.T("_cdist_backward.default", contiguous(c, c.mT(c.G(0))), c.In("x2"), c.In("x1"), p, contiguous(c, c.mT(c.Out(0))))
		})
	})
	row("_pdist_forward.default", func(c *Ctx) {
		c.Set("self", func() tt { return c.T("_pdist_backward.default", c.G(0), c.In("self"), c.Arg("p"), c.Out(0)) })
	})
	row("multi_margin_loss.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("multi_margin_loss_backward.default", c.G(0), c.In("self"), c.In("target"), c.Arg("p"), c.Arg("margin"), c.Arg("weight"), c.Arg("reduction"))
		})
	})
	row("multilabel_margin_loss_forward.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("multilabel_margin_loss_backward.default", c.G(0), c.In("self"), c.In("target"), c.Arg("reduction"), c.Out(1))
		})
	}).noGrad = map[int]bool{1: true}
	row("_ctc_loss.default _ctc_loss.Tensor", func(c *Ctx) {
		_, overload, _ := strings.Cut(functionalName(c.op), ".")
		c.Set("log_probs", func() tt {
			return c.T("_ctc_loss_backward."+overload, c.G(0), c.In("log_probs"), c.In("targets"), c.Arg("input_lengths"), c.Arg("target_lengths"),
				c.Out(0), c.Out(1), c.Arg("blank"), c.Arg("zero_infinity"))
		})
	}).noGrad = map[int]bool{1: true}
	row("rrelu_with_noise.default", func(c *Ctx) {
		c.Set("self", func() tt {
			return c.T("rrelu_with_noise_backward.default", c.G(0), c.In("self"), c.Like("noise"), c.Arg("lower"), c.Arg("upper"), c.Arg("training"), false)
		})
	}).usesSelf = true
}

// contiguous is t in row-major order.
func contiguous(c *Ctx, t tt) tt {
	if t.IsContiguous(tensor.ContiguousFormat) {
		return t
	}
	return c.T("clone.default", t, tensor.ContiguousFormat)
}

// sampling are poolings and resizings.
func sampling() {
	for _, n := range []int{2, 3} {
		fractional := fmt.Sprintf("fractional_max_pool%dd", n)
		row(fractional+".default", func(c *Ctx) {
			c.Set("self", func() tt {
				return c.T(fractional+"_backward.default", c.G(0), c.In("self"), c.Arg("kernel_size"), c.Arg("output_size"), c.Out(1))
			})
		}).noGrad = map[int]bool{1: true}
		row(fmt.Sprintf("max_unpool%dd.default", n), func(c *Ctx) {
			flat := func(t tt) tt {
				lead := len(t.Shape) - n
				return c.T("reshape.default", t, build.Ints(append(clone(t.Shape[:lead]), tensor.Numel(t.Shape[lead:]))))
			}
			c.Set("self", func() tt {
				return c.reshapeLike(c.T("gather.default", flat(c.G(0)), int64(-1), flat(c.In("indices"))), c.Like("self"))
			})
		})
	}
	row("torchvision::roi_align.default", func(c *Ctx) {
		c.Set("input", func() tt {
			in := c.Like("input").Shape
			v, err := build.Call(c.D, "torchvision._roi_align_backward.default", c.G(0), c.In("rois"), c.Arg("spatial_scale"), c.Arg("pooled_height"), c.Arg("pooled_width"),
				in[0], in[1], in[2], in[3], c.Arg("sampling_ratio"), c.Arg("aligned"))
			c.Check(err)
			return v.(tt)
		})
	})
}

// bags are reductions over segments that indices name.
func bags() {
	row("segment_reduce.default", func(c *Ctx) {
		c.Set("data", func() tt {
			return c.T("_segment_reduce_backward.default", c.G(0), c.Out(0), c.In("data"), c.Arg("reduce"), c.Arg("lengths"), c.Arg("offsets"), c.Arg("axis"), c.Arg("initial"))
		})
	})
	row("_embedding_bag.default", func(c *Ctx) {
		c.Set("weight", func() tt {
			return c.T("_embedding_bag_backward.default", c.G(0), c.In("indices"), c.In("offsets"), c.Out(1), c.Out(2), c.Out(3), c.Like("weight").Shape[0],
				c.Arg("scale_grad_by_freq"), c.Arg("mode"), c.Arg("sparse"), c.Arg("per_sample_weights"), c.Arg("padding_idx"))
		})
		c.Set("per_sample_weights", func() tt {
			return c.T("_embedding_bag_per_sample_weights_backward.default", c.G(0), c.In("weight"), c.In("indices"), c.In("offsets"), c.Out(1), c.Arg("mode"), c.Arg("padding_idx"))
		})
	}).noGrad = map[int]bool{1: true, 2: true, 3: true}
	row("_batch_norm_with_update.default _batch_norm_with_update_functional.default", func(c *Ctx) {
		get := lazily(func() []tt {
			mask := []aten.Value{c.Need("input"), c.Need("weight"), false}
			if c.slot("bias", 0) >= 0 {
				mask[2] = c.Need("bias")
			}
			return c.M("native_batch_norm_backward.default", c.G(0), c.In("input"), c.Arg("weight"), c.raw("running_mean"), c.raw("running_var"), c.Out(1), c.Out(2), true, c.Arg("eps"), mask)
		})
		c.Set("input", func() tt { return get(0) })
		c.Set("weight", func() tt { return get(1) })
		c.Set("bias", func() tt { return get(2) })
	}).noGrad = map[int]bool{1: true, 2: true, 3: true}
}

// raw is an argument that the operator itself writes: its version is not checked.
func (c *Ctx) raw(name string) aten.Value { return c.args[c.argPos(name)] }

// composed are operators made of simple ones, whose gradient is.
func composed() {
	row("block_diag.default", func(c *Ctx) {
		list, _ := c.args[0].([]aten.Value)
		row, col := int64(0), int64(0)
		for j, v := range list {
			t := v.(tt)
			h, w := int64(1), int64(1)
			if len(t.Shape) > 0 {
				w = t.Shape[len(t.Shape)-1]
			}
			if len(t.Shape) > 1 {
				h = t.Shape[0]
			}
			r0, c0 := row, col
			c.SetItem("tensors", j, func() tt {
				return c.reshapeLike(c.T("slice.Tensor", c.T("slice.Tensor", c.G(0), int64(0), r0, r0+h), int64(1), c0, c0+w), t)
			})
			row, col = row+h, col+w
		}
	})
	// The product of three factors, each broadcast along its own dimensions, summed over some.
	row("_trilinear.default", func(c *Ctx) {
		names := []string{"i1", "i2", "i3"}
		wide := func(i int) tt {
			t := c.In(names[i])
			for _, d := range c.Ints(fmt.Sprintf("expand%d", i+1)) {
				t = c.T("unsqueeze.default", t, d)
			}
			return t
		}
		g := func() tt {
			g := c.G(0)
			for _, d := range c.Ints("sumdim") {
				g = c.T("unsqueeze.default", g, d)
			}
			return g
		}
		for i, n := range names {
			c.Set(n, func() tt {
				p := g()
				for k := range names {
					if k != i {
						p = c.Mul(p, wide(k))
					}
				}
				return c.reshapeLike(c.SumTo(p, wide(i).Shape), c.Like(n))
			})
		}
	})
}
