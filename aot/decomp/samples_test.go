package decomp_test

// samples are calls of each row, one a line: the arguments, as a graph has them. Before a call that the row leaves as it is stands "left: ",
// before one whose tensors ask for gradients "grad: ", and "strided: " before one whose results keep the argument's strides, as those of PyTorch's
// decomposition do, where the kernel's are contiguous.
var samples = map[string]string{
	"aten._log_softmax.default": `
		f234, 1, False
		t34, -1, False
		h23, 1, False`,
	"aten._log_softmax_backward_data.default": `
		f23, f23b, 1, torch.float32
		d23, d23b, -1, torch.float64
		t23, t23b, 0, torch.float32`,
	"aten._native_batch_norm_legit.no_stats": `
		f234, f3, f3b, True, 0.1, 1e-05
		f23, None, None, True, 0.1, 1e-05`,
	"aten._native_batch_norm_legit_functional.default": `
		f234, f3, f3b, f3c, p3, True, 0.1, 1e-05
		f2345, None, None, f3c, p3, True, 0.3, 1e-05
		f234, f3, f3b, f3c, p3, False, 0.1, 1e-05`,
	"aten._native_batch_norm_legit_no_training.default": `
		f234, f3, f3b, f3c, p3, 0.1, 1e-05
		f23, None, None, f3c, p3, 0.1, 1e-05`,
	"aten._prelu_kernel.default": `
		f23, f3
		e34, f4`,
	"aten._prelu_kernel_backward.default": `
		f23, f23b, f23c`,
	"aten._safe_softmax.default": `
		f23, 1
		e34, 1
		h23, 0, torch.float32`,
	"aten._softmax.default": `
		f234, 1, False
		t34, -1, False
		h23, 1, False`,
	"aten._softmax_backward_data.default": `
		f23, p23, 1, torch.float32
		d23, d23b, -1, torch.float64
		h23, h23b, -1, torch.bfloat16`,
	"aten._to_copy.default": `
		f23, dtype = torch.float64
		f23, dtype = torch.float32
		t23
		k23, dtype = torch.bool
		b23, dtype = torch.float32`,
	"aten._unsafe_view.default": `f23, [3, -1]`,
	"aten.addcdiv.default": `
		f23, f23b, p23
		f23, f3, f21, value = 0.5`,
	"aten.addcmul.default": `
		f23, f23b, f23c
		e34, f4, f31, value = 2
		k23, k3, k23b, value = 3`,
	"aten.addmm.default": `
		f1, f13, f31
		f14, f12, f24, beta = 2, alpha = 0.5
		h4, h12, h24
		left: f3, f22, f23`,
	"aten.addmv.default": `
		f2, f23, f3
		f2, f23, f3, beta = 2, alpha = 0.5
		f0, f23, f3`,
	"aten.all.default": `
		b23
		f23
		e34`,
	"aten.arange.default": `
		5
		5, dtype = torch.float32
		2.5
		5.5, dtype = torch.float64`,
	"aten.arange.start": `
		2, 7
		2, 7, dtype = torch.float32
		0.5, 3.2`,
	"aten.arange.start_step": `
		2, 9, 3
		9, 2, -3
		0.5, 3.2, 0.25
		1, 7, 2, dtype = torch.float64
		left: 0.5, 7.0, 2.0, dtype = torch.int64`,
	"aten.bernoulli.default": `p23`,
	"aten.binary_cross_entropy.default": `
		p23, p23b
		p23, p23b, f3, 2
		p23, p23b, None, 0`,
	"aten.binary_cross_entropy_backward.default": `
		f0, p23, p23b
		f0, p23, p23b, f23, 2
		f23, p23, p23b, None, 0`,
	"aten.binary_cross_entropy_with_logits.default": `
		f23, p23
		f23, p23, p23b, p3, 2
		f23, p23, None, None, 0`,
	"aten.bmm.default": `
		f213, f231
		left: f223, f232`,
	"aten.cat.default": `
		[f23]
		left: [f23, f23b]`,
	"aten.cauchy.default": `f23, 0.5, 2`,
	"aten.celu.default": `
		f23
		f23, 0.5
		e34`,
	"aten._unsafe_index_put.default": `
		f34, [i2], f24
		f34, [i2], f24, True`,
	"aten.clamp.Tensor": `
		f23, p23, p23b
		f23, None, p3`,
	"aten.flip.default": `
		f34, [0]
		f34, [0, -1]`,
	"aten.max_pool2d_with_indices.default": `
		f2345, [2, 2]
		f2345, [2], [1, 2], [1, 1]
		left: f2345, [2, 2], [1, 1], [0, 0], [2, 2]`,
	"aten.norm.ScalarOpt_dim": `
		f23, 2.0, [1], True
		f23, 3.0, [0]`,
	"aten.std_mean.correction": `
		f23, [1]
		f23, [0], correction = 0, keepdim = True`,
	"aten.unsafe_split.Tensor":             `f34, 2`,
	"aten.unsafe_split_with_sizes.default": `f34, [1, 3], 1`,
	"aten.clamp.default": `
		f23, -1, 1
		f23, None, 0.5
		k23, -1, 2
		e34, -1.0, 1.0
		e34, 2.0, 1.0`,
	"aten.count_nonzero.default": `
		f23
		k23, 1
		b23, 0`,
	"aten.detach.default":            `f23`,
	"aten.diagonal_backward.default": `f2, [2, 3], 0, 0, 1`,
	"aten.diagonal_copy.default": `
		f34
		f234, 1, 0, 2`,
	"aten.dot.default": `f5, f5b`,
	"aten.elu.default": `
		f23
		e34
		f23, 0.5, 2.0, 1.5`,
	"aten.elu_backward.default": `
		f23, 1.0, 1.0, 1.0, False, f23b
		f23, 0.5, 2.0, 1.5, True, p23`,
	"aten.embedding_dense_backward.default": `
		f23, i2, 3, -1, False
		f234, i23, 3, 1, False
		left: f23, i2, 3, -1, True`,
	"aten.empty_like.default": `
		f23
		left: t23`,
	"aten.exponential.default": `f23, 0.5`,
	"aten.eye.default":         `3`,
	"aten.eye.m":               `2, 4, dtype = torch.int64`,
	"aten.fill.Scalar":         `f23, 2`,
	"aten.fill.Tensor":         `f23, f0`,
	"aten.floor_divide.default": `
		f23, p23
		k23, 2
		e34, e34b`,
	"aten.fmax.default": `
		f23, f23b
		e34, e34b
		e34, f4`,
	"aten.fmin.default": `
		f23, f23b
		e34, e34b`,
	"aten.frac.default": `
		f23
		d23`,
	"aten.full_like.default": `
		f23, 2.5
		f23, 2, dtype = torch.int64
		left: t23, 2.5`,
	"aten.gelu.default": `
		f23
		f23, approximate = 'tanh'
		h23
		e34`,
	"aten.gelu_backward.default": `
		f23, f23b
		f23, f23b, approximate = 'tanh'`,
	"aten.geometric.default": `f23, 0.5`,
	"aten.glu_backward.default": `
		f23, f26, 1
		f23, f26, -1`,
	"aten.hardsigmoid.default": `
		f23
		h23
		e34`,
	"aten.hardsigmoid_backward.default": `f23, f23b`,
	"aten.hardswish.default": `
		f23
		h23`,
	"aten.hardswish_backward.default": `
		f23, f23b
		f34, e34`,
	"aten.hardtanh.default": `
		f23
		f23, -0.5, 2.0
		e34`,
	"aten.hardtanh_backward.default": `
		f23, f23b, -1.0, 1.0
		f34, e34, -1.0, 1.0`,
	"aten.huber_loss.default": `
		f23, f23b
		f23, f23b, 2, 0.5
		f23, f23b, 0, 2.0`,
	"aten.huber_loss_backward.default": `
		f0, f23, f23b, 1, 1.0
		f23, f23b, f23c, 0, 0.5`,
	"aten.index_add.default": `
		f34, 0, i2, f24
		f34, -1, i2, f32, alpha = 2
		f34, 0, i0, f14
		left: f0, 0, i0, f0b`,
	"aten.index_select.default": `
		f34, 1, i5
		f34, -1, i0
		left: f0, 0, i0`,
	"aten.leaky_relu.default": `
		f23
		e34, 0.2`,
	"aten.leaky_relu_backward.default": `
		f23, f23b, 0.1, False`,
	"aten.lerp.Scalar": `
		f23, f23b, 0.2
		f23, f23b, 0.5
		f23, f3, 0.9`,
	"aten.lerp.Tensor": `
		f23, f23b, p23`,
	"aten.lift_fresh.default": `f23`,
	"aten.linalg_vector_norm.default": `
		f23
		f23, 3, [1], True
		d23, 2.5, [0]
		left: f23, 0
		left: f23, 2, None, False, dtype = torch.float64`,
	"aten.log_normal.default":           `f23, 0.5, 2`,
	"aten.log_sigmoid_backward.default": `f23, f23b, p23`,
	"aten.log_sigmoid_forward.default":  `f23`,
	"aten.logit.default": `
		p23
		p23, 0.3
		i23, 0.1`,
	"aten.logsumexp.default": `
		f23, [1]
		f234, [0, 2], True
		e34, [1]
		i23, [0]`,
	"aten.masked_fill.Scalar": `
		f23, b3, 2.5
		k23, b23, -1`,
	"aten.masked_fill.Tensor": `
		f23, b23, f0`,
	"aten.mish.default": `f23`,
	"aten.mse_loss.default": `
		f23, f23b
		f23, f23b, 2
		f23, f23b, 0`,
	"aten.mse_loss_backward.default": `
		f0, f23, f23b, 1
		f23, f23b, f23c, 0`,
	"aten.mm.default": `
		f41, f13
		f13, f31
		h13, h31
		left: f23, f32`,
	"aten.mv.default": `f23, f3`,
	"aten.nan_to_num.default": `
		e34
		e34, 1.0, 2.0, 3.0
		d23
		left: k23`,
	"aten.native_batch_norm_backward.default": `
		f234, f234b, f3, f3b, p3, f3c, p3b, True, 1e-05, [True, True, True]
		f234, f234b, None, f3b, p3, None, None, False, 1e-05, [True, True, True]
		f23, f23b, f3, None, None, f3c, p3b, True, 1e-05, [True, False, False]`,
	"aten.native_dropout.default": `
		f23, 0.5, True
		f23, 0.5, False
		f23, 0.0, True
		f23, 1.0, True`,
	"aten.native_dropout_backward.default": `f23, b23, 2.0`,
	"aten.native_group_norm.default": `
		f245, f4, f4b, 2, 4, 5, 2, 1e-05
		f2423, None, None, 2, 4, 6, 4, 1e-05
		left: t245, f4, f4b, 2, 4, 5, 2, 1e-05`,
	"aten.native_group_norm_backward.default": `
		f245, f245b, f22, p22, f4, 2, 4, 5, 2, [True, True, True]
		f245, f245b, f22, p22, None, 2, 4, 5, 2, [True, False, False]`,
	"aten.native_layer_norm.default": `
		f23, [3], f3, f3b, 1e-05
		f234, [3, 4], None, None, 1e-05
		strided: t23, [3], f3, f3b, 1e-05`,
	"aten.native_layer_norm_backward.default": `
		f23, f23b, [3], f21, p21, f3, f3b, [True, True, True]
		f234, f234b, [3, 4], f211, p211, None, None, [True, False, False]`,
	"aten.new_empty.default": `
		f23, [3, 1]
		f23, [2], dtype = torch.int64`,
	"aten.new_full.default": `
		f23, [2], 1.5
		f23, [2], 1, dtype = torch.int64`,
	"aten.new_ones.default":  `h23, [3, 1]`,
	"aten.new_zeros.default": `f23, [3, 1], dtype = torch.bool`,
	"aten.nll_loss_forward.default": `
		f23, i2, None, 1, -100
		f23, i2, p3, 1, -100
		f23, i2, p3, 2, 1
		f23, i2, None, 0, 1
		left: f3, i0, None, 1, -100`,
	"aten.nll_loss_backward.default": `
		f0, f23, i2, None, 1, -100, p0
		f0, f23, i2, p3, 2, 1, p0
		f2, f23, i2, p3, 0, -100, p0
		left: f0, f3, i0, None, 1, -100, p0`,
	"aten.nll_loss2d_forward.default": `
		f2345, i245, None, 1, -100
		f2345, i245, p3, 1, 1`,
	"aten.nll_loss2d_backward.default": `
		f0, f2345, i245, None, 1, -100, p0
		f245, f2345, i245, p3, 0, 1, p0`,
	"aten.ones.default": `
		[2, 3]
		[2], dtype = torch.int64`,
	"aten.ones_like.default": `
		f23
		f23, dtype = torch.bool
		left: t23`,
	"aten.pixel_shuffle.default":   `f1823, 2`,
	"aten.pixel_unshuffle.default": `f1246, 2`,
	"aten.rand_like.default": `
		f23
		f23, dtype = torch.float64
		left: t23`,
	"aten.randn_like.default": `
		f23
		left: t23`,
	"aten.roll.default": `
		f34, [1], [0]
		f34, [-2, 5], [1, -2]
		left: f34, [2]`,
	"aten.rsub.Scalar": `
		f23, 2
		left: f23, 2, 3`,
	"aten.rsub.Tensor": `
		f23, f23b
		f23, f3, alpha = 2`,
	"aten.select_backward.default": `f3, [2, 3], 0, 1`,
	"aten.sgn.default": `
		f23
		k23`,
	"aten.sigmoid_backward.default": `f23, p23`,
	"aten.silu.default": `
		f23
		h23
		e34`,
	"aten.silu_backward.default":  `f23, f23b`,
	"aten.slice_backward.default": `f22, [2, 5], 1, 0, 4, 2`,
	"aten.smooth_l1_loss.default": `
		f23, f23b
		f23, f23b, 2, 0.5
		f23, f23b, 0, 0.0`,
	"aten.smooth_l1_loss_backward.default": `
		f0, f23, f23b, 1, 1.0
		f23, f23b, f23c, 0, 0.5
		left: f23, f23b, f23c, 0, 0.0`,
	"aten.soft_margin_loss.default": `
		f23, s23
		f23, s23, 2
		f23, s23, 0`,
	"aten.soft_margin_loss_backward.default": `
		f0, f23, s23, 1
		f23, f23b, s23, 0`,
	"aten.softplus.default": `
		f23
		f23, 2, 1
		e34`,
	"aten.softplus_backward.default": `
		f23, f23b, 1, 20
		f23, f23b, 2, 1`,
	"aten.square.default": `
		f23
		k23`,
	"aten.stack.default": `
		[f23, f23b], 0
		[f23, f23b], 1
		[f23, f23b], -1`,
	"aten.std.correction": `
		f23, [1]
		f23, [0], correction = 0, keepdim = True
		d23`,
	"aten.t.default": `
		f23
		f3`,
	"aten.tanh_backward.default": `f23, p23`,
	"aten.threshold.default": `
		f23, 0.5, 20.0
		e34, 0.5, 20.0`,
	"aten.threshold_backward.default": `
		f23, f23b, 0
		f34, e34, 0.5`,
	"aten.trace.default": `f34`,
	"aten.transpose.int": `
		f234, 0, -1
		f0, 0, -1`,
	"aten.tril.default": `
		f34
		f234, 1
		t34, -1
		k34`,
	"aten.triu.default": `
		f34
		t34, -1`,
	"aten.true_divide.Tensor": `
		f23, p23
		k23, 2`,
	"aten.xlogy.Tensor": `
		f23, p23
		e34, e34b`,
	"aten.zero.default": `f23`,
	"aten.zeros.default": `
		[2, 3]
		[2], dtype = torch.bool`,
	"aten.zeros_like.default": `
		f23
		k23, dtype = torch.float32
		left: t23`,

	"aten._upsample_nearest_exact1d.default": `
		f123, [7]`,
	"aten._upsample_nearest_exact2d.default": `
		f1234, [6, 3]`,
	"aten._upsample_nearest_exact3d.default": `
		f12322, [4, 3, 5]`,
	"aten.upsample_nearest1d.default": `
		f123, [7]
		f123, [6], 2.0`,
	"aten.upsample_nearest2d.default": `
		f1234, [6, 3]`,
	"aten.upsample_nearest3d.default": `
		f12322, [4, 3, 5]`,
	"aten.upsample_linear1d.default": `
		f123, [7], False
		f123, [7], True
		f123, [6], False, 2.0
		f123, [1], True`,
	"aten.upsample_bilinear2d.default": `
		f1234, [6, 3], False
		f1234, [6, 3], True`,
	"aten.upsample_trilinear3d.default": `
		f12322, [4, 3, 5], False
		f12322, [4, 3, 5], True`,
	"aten.dropout.default": `
		f23, 0.5, True
		f23, 0.5, False
		f23, 0.0, True`,
	"aten.hardshrink.default": `e34, 0.5`,
	"aten.softshrink.default": `e34, 0.5`,
	"aten.isfinite.default": `
		e34
		left: k23`,
	"aten.linear.default": `
		grad: t234, f54, f5
		grad: t234, f54`,
	"aten.matmul.default": `
		grad: t234, f45
		f23, f34`,
}
