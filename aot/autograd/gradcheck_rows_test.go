package autograd

import (
	"slices"
	"strings"
	"testing"

	"whittle/kernels/aten"
	"whittle/kernels/tensor"
)

// unchecked are the rows that a finite difference of the first result cannot check, and why. Recorded PyTorch gradients check them.
var unchecked = map[string]string{
	"complex numbers": `_conj _conj_physical conj_physical _fft_c2c _fft_c2r _fft_r2c complex polar view_as_complex view_as_real`,
	"reads one triangle of a symmetric matrix, and gives the gradient of both": `_linalg_eigh linalg_cholesky_ex cholesky`,
	"random numbers": `bernoulli exponential cauchy log_normal geometric poisson _standard_gamma normal normal_functional random uniform native_dropout rrelu_with_noise rrelu_with_noise_backward`,
	"writes its arguments, or is nothing but the form in place of another": `copy fill zero`,
	"steps: the derivative is zero":                                        `ceil floor round trunc sign sgn frac`,
	"another dtype":                                                        `_to_copy to`,
	"its arguments come from a forward pass": `_softmax_backward_data _log_softmax_backward_data native_layer_norm_backward native_group_norm_backward native_batch_norm_backward max_pool3d_with_indices_backward
		adaptive_max_pool2d_backward adaptive_max_pool3d_backward fractional_max_pool2d_backward fractional_max_pool3d_backward max_pool2d_with_indices_backward native_dropout_backward _ctc_loss
		_scaled_dot_product_flash_attention_for_cpu cholesky_solve cholesky_inverse linalg_lu_solve lu_unpack segment_reduce _batch_norm_with_update _batch_norm_with_update_functional native_batch_norm
		_native_batch_norm_legit _native_batch_norm_legit_functional _native_batch_norm_legit_no_training _embedding_bag fractional_max_pool2d fractional_max_pool3d max_unpool2d max_unpool3d
		_cdist_forward _pdist_forward roi_align`,
	"the whole memory is its argument":                                  `as_strided as_strided_scatter`,
	"PyTorch gives a place the gradient of what is written there alone": `scatter_reduce index_reduce`,
	"solutions that need a tolerance":                                   `linalg_lstsq linalg_pinv`,
	"gives several results of which the first carries no gradient":      `linalg_lu _linalg_slogdet`,
}

// TestEveryFormulaIsChecked: a row of the table is differentiated numerically, or it says why not.
func TestEveryFormulaIsChecked(t *testing.T) {
	done := map[string]bool{}
	for _, c := range append(slices.Clone(commonCalls()), moreCalls()...) {
		done[c.op] = true
	}
	bases := map[string]bool{}
	for _, names := range unchecked {
		for n := range set(names) {
			bases[n] = true
		}
	}
	for name := range table {
		base := baseName(name)
		inplace := strings.Replace(name, ".", "_.", 1) // some have no other form
		if aten.Lookup(name) == nil && aten.Lookup("aten."+name) == nil && aten.Lookup("aten."+inplace) == nil {
			t.Errorf("%s: the formula of what is no operator", name)
		}
		if !done[name] && !bases[base] && !bases[strings.TrimPrefix(base, "torchvision::")] && !aliasOfChecked(name, done) {
			t.Errorf("%s: no finite differences", name)
		}
	}
}

// aliasOfChecked says whether the row's formula is that of another row that was checked.
func aliasOfChecked(name string, done map[string]bool) bool {
	for other, f := range table {
		if f == table[name] && done[other] {
			return true
		}
	}
	return false
}

func TestMoreFormulasAgreeWithFiniteDifferences(t *testing.T) {
	for _, c := range moreCalls() {
		t.Run(c.op, func(t *testing.T) { gradcheck(t, c) })
	}
}

func moreCalls() []call {
	l := func(v ...aten.Value) []aten.Value { return v }
	r := ramp
	i64 := func(v ...int64) *tensor.Tensor { return tensor.FromInt64s(v, int64(len(v))) }
	x, y, pos, unit := r(-2, 2, 3, 4), r(0.5, 2, 3, 4), r(0.3, 3, 3, 4), r(-0.8, 0.8, 3, 4)
	sq := r(-1, 1, 3, 3)
	for k := range int64(3) { // far from singular
		sq.Set(4*k, sq.At(4*k)+3)
	}
	tri := r(0.5, 1.5, 3, 3)
	img, vol := r(-1, 1, 1, 2, 4, 4), r(-1, 1, 1, 2, 4, 4, 4)
	idx := i64(2, 0, 2)
	mask := tensor.FromBools([]bool{true, false, true, false}, 4)
	var calls []call
	add := func(op string, args ...aten.Value) { calls = append(calls, call{op: op, args: args}) }
	constant := func(flat ...int) { calls[len(calls)-1].constant = flat } // of the call added last
	for _, n := range []string{"acos", "asin", "atanh", "erfinv"} {
		add(n+".default", unit)
	}
	for _, n := range []string{"neg", "asinh", "atan", "cosh", "sinh", "erfc", "exp2", "mish", "hardsigmoid", "sinc", "deg2rad", "rad2deg", "nan_to_num", "special_erfcx", "special_i0e", "special_i1", "special_i1e",
		"special_log_ndtr", "i0", "angle", "alias", "clone", "t", "trace", "rot90"} {
		add(n+".default", x)
	}
	for _, n := range []string{"digamma", "lgamma", "log10", "log2", "special_entr"} {
		add(n+".default", pos)
	}
	add("acosh.default", r(1.2, 3, 3, 4))
	add("special_ndtri.default", r(0.1, 0.9, 3, 4))
	add("mvlgamma.default", r(2, 4, 3, 4), int64(2))
	add("polygamma.default", int64(1), pos)
	add("logit.default", r(0.1, 0.9, 3, 4))
	add("frexp.Tensor", pos)
	for _, n := range []string{"add.Scalar", "sub.Scalar", "mul.Scalar", "div.Scalar", "rsub.Scalar", "fmod.Scalar", "remainder.Scalar", "copysign.Scalar"} {
		add(n, x, 1.7)
	}
	for _, n := range []string{"rsub.Tensor", "fmod.Tensor", "remainder.Tensor", "copysign.Tensor", "hypot.default", "fmax.default", "fmin.default", "minimum.default", "logaddexp.default", "logaddexp2.default", "dist.default"} {
		add(n, x, y)
	}
	add("div.Tensor_mode", x, y, "floor")
	add("div.Scalar_mode", x, 1.7, "trunc")
	add("pow.Scalar", 1.7, x)
	add("xlogy.Tensor", x, pos)
	add("xlogy.Scalar_Self", 1.3, pos)
	add("xlogy.Scalar_Other", x, 1.3)
	add("special_xlog1py.default", x, pos)
	add("special_xlog1py.self_scalar", 1.3, pos)
	add("special_xlog1py.other_scalar", x, 1.3)
	add("special_zeta.self_scalar", 2.5, r(1, 3, 3, 4))
	add("lerp.Tensor", x, y, pos)
	add("clamp.Tensor", x, r(-1, -0.5, 3, 4), r(0.5, 1, 3, 4))
	add("clamp_min.Tensor", x, r(-0.5, 0.5, 3, 4))
	add("clamp_max.Tensor", x, r(-0.5, 0.5, 3, 4))
	add("clamp_max.default", x, 0.4)
	add("masked_fill.Tensor", x, mask, tensor.Full(tensor.Float64, 1.5))
	for _, n := range []string{"celu.default", "hardshrink.default", "softshrink.default", "hardtanh.default"} {
		add(n, x)
	}
	add("threshold.default", x, 0.3, 0.1)
	add("threshold_backward.default", y, x, 0.3)
	add("glu.default", x, int64(-1))
	add("log_sigmoid_forward.default", x)
	add("_prelu_kernel.default", x, r(0.1, 0.5, 1, 4))
	add("sigmoid_backward.default", y, r(0.2, 0.8, 3, 4))
	add("tanh_backward.default", y, unit)
	// reductions, selections, scans
	add("amin.default", x, l(int64(1)), false)
	for _, n := range []string{"max.default", "min.default", "median.default", "nanmedian.default", "nansum.default"} {
		add(n, x)
	}
	for _, n := range []string{"max.dim", "min.dim", "median.dim", "nanmedian.dim", "prod.dim_int", "sort.default", "cummax.default", "cummin.default", "cumprod.default", "logcumsumexp.default"} {
		if n == "prod.dim_int" || n == "cumprod.default" {
			add(n, pos, int64(1))
			continue
		}
		add(n, x, int64(1))
	}
	add("sort.stable", x, false, int64(1))
	add("mode.default", x, int64(1))
	add("kthvalue.default", x, int64(2), int64(1))
	add("topk.default", x, int64(2), int64(1))
	add("norm.Scalar", x, 3.0)
	add("norm.ScalarOpt_dim", x, 3.0, l(int64(1)))
	add("var_mean.correction", x, l(int64(1)))
	add("std_mean.correction", x, l(int64(1)))
	add("renorm.default", x, 2.0, int64(0), 1.0)
	add("_safe_softmax.default", x, int64(1))
	// matrices
	add("addmv.default", r(-1, 1, 3), x, r(-1, 1, 4))
	add("addr.default", x, r(-1, 1, 3), r(-1, 1, 4))
	add("addbmm.default", r(-1, 1, 3, 2), r(-1, 1, 2, 3, 4), r(-1, 1, 2, 4, 2))
	add("baddbmm.default", r(-1, 1, 2, 3, 2), r(-1, 1, 2, 3, 4), r(-1, 1, 2, 4, 2))
	add("dot.default", r(-1, 1, 4), r(0.5, 1, 4))
	add("vdot.default", r(-1, 1, 4), r(0.5, 1, 4))
	add("linalg_cross.default", r(-1, 1, 2, 3), r(0.5, 1, 2, 3), int64(-1))
	add("linalg_matrix_exp.default", r(-0.5, 0.5, 3, 3))
	for _, n := range []string{"linalg_inv_ex.default", "_linalg_det.default", "linalg_lu_factor_ex.default"} {
		add(n, sq)
	}
	add("_linalg_solve_ex.default", sq, r(-1, 1, 3, 2))
	add("linalg_qr.default", r(-1, 1, 4, 3))
	add("_linalg_svd.default", r(-1, 1, 4, 3))
	add("linalg_solve_triangular.default", tri, r(-1, 1, 3, 2), true)
	add("triangular_solve.default", r(-1, 1, 3, 2), tri)
	add("_trilinear.default", r(-1, 1, 3, 2), r(-1, 1, 4, 2, 2), r(0.5, 1, 3, 2), l(int64(1), int64(3)), l(int64(0)), l(int64(1), int64(2)), l(int64(2), int64(3)))
	// views and indices
	add("view_as.default", x, r(0, 1, 4, 3))
	constant(1)
	add("reshape.default", x, l(int64(4), int64(3)))
	add("_unsafe_view.default", x, l(int64(4), int64(3)))
	add("_reshape_alias.default", x, l(int64(4), int64(3)), l(int64(3), int64(1)))
	add("contiguous.default", x)
	add("lift_fresh.default", x)
	add("lift_fresh_copy.default", x)
	add("squeeze.default", r(-1, 1, 3, 1, 2))
	add("squeeze.dims", r(-1, 1, 3, 1, 2, 1), l(int64(1), int64(3)))
	add("diagonal.default", x)
	add("diagonal_copy.default", x)
	add("diag_embed.default", r(-1, 1, 3))
	add("unfold.default", r(-1, 1, 6), int64(0), int64(3), int64(2))
	add("unfold_backward.default", r(-1, 1, 2, 3), l(int64(6)), int64(0), int64(3), int64(2))
	add("triu.default", x, int64(0))
	for _, n := range []string{"split.Tensor", "chunk.default"} {
		add(n, x, int64(2), int64(1))
	}
	add("split_with_sizes.default", x, l(int64(1), int64(3)), int64(1))
	add("unbind.int", x, int64(1))
	add("channel_shuffle.default", r(-1, 1, 1, 4, 2, 2), int64(2))
	add("pixel_shuffle.default", r(-1, 1, 1, 4, 2, 2), int64(2))
	add("pixel_unshuffle.default", img, int64(2))
	add("slice_scatter.default", x, r(-1, 1, 3, 2), int64(1), int64(1), int64(3))
	add("select_scatter.default", x, r(-1, 1, 3), int64(1), int64(2))
	add("diagonal_scatter.default", x, r(-1, 1, 3))
	add("select_backward.default", r(-1, 1, 3), l(int64(3), int64(4)), int64(1), int64(2))
	add("slice_backward.default", r(-1, 1, 3, 2), l(int64(3), int64(4)), int64(1), int64(1), int64(3), int64(1))
	add("take.default", x, idx)
	add("put.default", x, idx, r(-1, 1, 3), true)
	add("_unsafe_index.Tensor", x, l(idx))
	add("index_put.default", x, l(idx), r(-1, 1, 3, 4), true)
	add("_unsafe_index_put.default", x, l(idx), r(-1, 1, 3, 4), true)
	add("index_add.default", x, int64(0), idx, r(-1, 1, 3, 4))
	add("index_copy.default", x, int64(0), i64(2, 0), r(-1, 1, 2, 4))
	add("index_fill.int_Scalar", x, int64(0), i64(2, 0), 1.5)
	add("index_fill.int_Tensor", x, int64(0), i64(2, 0), tensor.Full(tensor.Float64, 1.5))
	add("scatter.src", x, int64(0), tensor.FromInt64s([]int64{2, 0, 1, 1}, 1, 4), r(-1, 1, 1, 4))
	add("scatter.value", x, int64(0), tensor.FromInt64s([]int64{2, 0, 1, 1}, 1, 4), 1.5)
	add("scatter_add.default", x, int64(0), tensor.FromInt64s([]int64{2, 0, 1, 1}, 1, 4), r(-1, 1, 1, 4))
	add("masked_select.default", x, mask)
	add("masked_scatter.default", x, mask, r(-1, 1, 12))
	add("block_diag.default", l(r(-1, 1, 2, 2), r(-1, 1, 1, 3)))
	// images
	for n, in := range map[int]*tensor.Tensor{1: r(-1, 1, 2, 5), 2: img, 3: vol} {
		pad := make([]aten.Value, 2*n)
		for i := range pad {
			pad[i] = int64(1)
		}
		for _, kind := range []string{"reflection", "replication"} {
			add(kind+"_pad"+string(rune('0'+n))+"d.default", in, pad)
		}
	}
	add("avg_pool3d.default", vol, l(int64(2), int64(2), int64(2)))
	add("max_pool3d_with_indices.default", vol, l(int64(2), int64(2), int64(2)))
	add("_adaptive_avg_pool2d.default", img, l(int64(3), int64(2)))
	add("_adaptive_avg_pool3d.default", vol, l(int64(3), int64(2), int64(2)))
	add("adaptive_max_pool2d.default", img, l(int64(3), int64(2)))
	add("adaptive_max_pool3d.default", vol, l(int64(3), int64(2), int64(2)))
	for _, n := range []string{"upsample_nearest1d", "_upsample_nearest_exact1d"} {
		add(n+".default", r(-1, 1, 1, 2, 4), l(int64(6)))
	}
	for _, n := range []string{"upsample_nearest2d", "_upsample_nearest_exact2d"} {
		add(n+".default", img, l(int64(6), int64(5)))
	}
	for _, n := range []string{"upsample_nearest3d", "_upsample_nearest_exact3d"} {
		add(n+".default", vol, l(int64(5), int64(6), int64(5)))
	}
	add("upsample_linear1d.default", r(-1, 1, 1, 2, 4), l(int64(6)), false)
	add("upsample_trilinear3d.default", vol, l(int64(5), int64(6), int64(5)), false)
	for _, n := range []string{"upsample_bilinear2d", "upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa"} {
		add(n+".default", img, l(int64(6), int64(5)), false)
	}
	add("grid_sampler_2d.default", img, r(-0.9, 0.9, 1, 3, 3, 2), int64(0), int64(0), false)
	add("im2col.default", img, l(int64(2), int64(2)), l(int64(1), int64(1)), l(int64(0), int64(0)), l(int64(1), int64(1)))
	add("col2im.default", r(-1, 1, 1, 8, 9), l(int64(4), int64(4)), l(int64(2), int64(2)), l(int64(1), int64(1)), l(int64(0), int64(0)), l(int64(1), int64(1)))
	// norms and losses
	add("native_group_norm.default", r(-1, 1, 2, 4, 3), r(0.5, 1, 4), r(-1, 1, 4), int64(2), int64(4), int64(3), int64(2), 1e-5)
	add("_native_batch_norm_legit.no_stats", r(-1, 1, 4, 3), r(0.5, 1, 3), r(-1, 1, 3), true, 0.1, 1e-5)
	add("binary_cross_entropy.default", r(0.1, 0.9, 3, 4), r(0.2, 0.8, 3, 4))
	add("binary_cross_entropy_with_logits.default", x, r(0.2, 0.8, 3, 4), r(0.5, 1, 4), r(0.5, 2, 4))
	constant(2, 3)
	add("soft_margin_loss.default", x, y)
	constant(1)
	add("huber_loss.default", x, y)
	add("multi_margin_loss.default", x, i64(1, 3, 0))
	add("multilabel_margin_loss_forward.default", x, tensor.FromInt64s([]int64{1, -1, 0, 0, 3, 0, -1, 0, 2, 1, -1, 0}, 3, 4), int64(1))
	add("nll_loss_forward.default", x, i64(1, 3, 0), nil, int64(1), int64(-100))
	add("nll_loss2d_forward.default", r(-1, 1, 1, 3, 2, 2), tensor.FromInt64s([]int64{0, 2, 1, 1}, 1, 2, 2), nil, int64(1), int64(-100))
	// second derivatives
	g := r(-1, 1, 3, 4)
	for _, n := range []string{"silu_backward", "mish_backward", "hardswish_backward"} {
		add(n+".default", g, x)
	}
	add("gelu_backward.default", g, x, "none")
	add("gelu_backward.default", g, x, "tanh")
	add("softplus_backward.default", g, x, 1.5, 2.0)
	add("log_sigmoid_backward.default", g, x, r(0.1, 0.9, 3, 4))
	constant(2)
	add("elu_backward.default", g, 1.3, 1.1, 0.9, false, x)
	add("elu_backward.default", g, 1.3, 1.1, 0.9, true, x)
	add("leaky_relu_backward.default", g, x, 0.1, false)
	add("hardtanh_backward.default", g, x, -1.0, 1.0)
	add("softshrink_backward.default", g, x, 0.5)
	add("hardshrink_backward.default", g, x, 0.5)
	add("glu_backward.default", r(-1, 1, 3, 2), x, int64(1))
	add("_prelu_kernel_backward.default", g, x, pos)
	for _, red := range []int64{0, 1} {
		gr := g
		if red == 1 {
			gr = r(0.5, 1, 1)
		}
		add("mse_loss_backward.default", gr, x, y, red)
		add("smooth_l1_loss_backward.default", gr, x, y, red, 0.8)
		add("huber_loss_backward.default", gr, x, y, red, 0.8)
		add("soft_margin_loss_backward.default", gr, x, y, red)
		constant(2)
		add("binary_cross_entropy_backward.default", gr, r(0.1, 0.9, 3, 4), r(0.2, 0.8, 3, 4), nil, red)
	}
	total := r(3, 3, 1)
	total.Shape, total.Stride = []int64{}, []int64{}
	add("nll_loss_backward.default", r(-1, 1, 3), x, i64(1, 3, 0), nil, int64(0), int64(-100), total)
	constant(2)
	add("nll_loss2d_backward.default", r(-1, 1, 1, 2, 2), r(-1, 1, 1, 3, 2, 2), tensor.FromInt64s([]int64{0, 2, 1, 1}, 1, 2, 2), nil, int64(0), int64(-100), total)
	constant(2)
	add("embedding_dense_backward.default", r(-1, 1, 3, 2), idx, int64(4), int64(0), false)
	add("avg_pool2d_backward.default", r(-1, 1, 1, 2, 2, 2), img, l(int64(2), int64(2)), l(int64(2), int64(2)), l(int64(0), int64(0)), false, true, nil)
	add("avg_pool3d_backward.default", r(-1, 1, 1, 2, 2, 2, 2), vol, l(int64(2), int64(2), int64(2)), l(int64(2), int64(2), int64(2)), l(int64(0), int64(0), int64(0)), false, true, nil)
	add("_adaptive_avg_pool2d_backward.default", r(-1, 1, 1, 2, 3, 2), img)
	add("_adaptive_avg_pool3d_backward.default", r(-1, 1, 1, 2, 3, 2, 2), vol)
	for n, in := range map[int]*tensor.Tensor{1: r(-1, 1, 2, 5), 2: img, 3: vol} {
		pad, shape := make([]aten.Value, 2*n), slices.Clone(in.Shape)
		for i := range pad {
			pad[i] = int64(1)
		}
		for i := len(shape) - n; i < len(shape); i++ {
			shape[i] += 2
		}
		for _, kind := range []string{"reflection", "replication"} {
			add(kind+"_pad"+string(rune('0'+n))+"d_backward.default", r(-1, 1, shape...), in, pad)
		}
	}
	for n := range set(upsamples) {
		dims := int(n[strings.IndexByte(n, 'd')-1] - '0')
		if i := strings.LastIndexAny(n, "123"); i > 0 {
			dims = int(n[i] - '0')
		}
		out, in := []int64{5, 6, 5}[:dims], []int64{3, 4, 3}[:dims]
		args := l(r(-1, 1, append([]int64{1, 2}, out...)...), ints(out), ints(append([]int64{1, 2}, in...)))
		if !strings.Contains(n, "nearest") {
			args = append(args, false)
		}
		add(n+"_backward.default", args...)
	}
	two, zero, one := l(int64(2), int64(2)), l(int64(0), int64(0)), l(int64(1), int64(1))
	add("convolution_backward.default", r(-1, 1, 1, 4, 2, 2), r(-1, 1, 1, 2, 5, 5), r(-1, 1, 4, 2, 3, 3), l(int64(4)), two, zero, one, false, zero, int64(1), l(true, true, true))
	add("igamma.default", i64(2), pos)
	add("igammac.default", i64(2), pos)
	return calls
}

func ints(s []int64) []aten.Value {
	out := make([]aten.Value, len(s))
	for i, v := range s {
		out[i] = v
	}
	return out
}
