package aten

import (
	"errors"
	"fmt"
	"strings"

	"whittle/kernels/tensor"
)

// Which dtypes operators compute in, as demands on their arguments in the form of needsText: the kernels of PyTorch on the CPU exist for floating
// dtypes alone, or for all but bool.
const dtypesText = `
log_sigmoid log_sigmoid_forward: self%log_sigmoid_cpu
log_sigmoid_backward: self%log_sigmoid_backward_cpu
mish: self%mish_cpu
silu: self%silu_cpu
hardswish: self%hardswish_cpu
hardsigmoid: self%hardsigmoid_cpu
softplus: self%softplus_cpu
elu: self%elu_cpu
gelu: self%GeluKernelImpl
leaky_relu: self%leaky_relu_cpu
hardshrink: self%hardshrink_cpu
softshrink: self%softshrink_cpu
threshold: self%threshold_cpu/bool
glu: self%glu_cpu
binary_cross_entropy: self%binary_cross_entropy
binary_cross_entropy_backward: grad_output%binary_cross_entropy_backward self%binary_cross_entropy_backward
binary_cross_entropy_with_logits: self%log_sigmoid_cpu
hardtanh relu6: self%hardtanh/bool
abs: self%abs_cpu/bool
floor: self%floor_vml_cpu/bool
ceil: self%ceil_vml_cpu/bool
round: self%round_vml_cpu/bool
trunc fix: self%trunc_vml_cpu/bool
frac: self%frac_cpu
native_group_norm group_norm: input%GroupNormKernelImpl
native_layer_norm layer_norm: input%LayerNormKernelImpl
batch_norm instance_norm native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training _native_batch_norm_legit_functional: input%batch_norm
upsample_linear1d upsample_trilinear3d: self%compute_indices_weights_linear
upsample_bilinear2d: self%compute_indices_weights_linear/byte
upsample_bicubic2d: self%compute_indices_weights_cubic/byte
upsample_nearest%dd: self%upsample_nearest%dd/byte
_upsample_nearest_exact%dd: self%upsample_nearest_exact%dd/byte
logcumsumexp: self%logcumsumexp_out_cpu
median nanmedian: self%median_cpu/bool
argmax: self%argmax_cpu/bool
argmin: self%argmin_cpu/bool
topk: self%topk_cpu/bool
kthvalue: self%kthvalue_cpu/bool
smooth_l1_loss: self&smooth_l1_cpu
mse_loss: self&mse_cpu
huber_loss: self&huber_cpu
soft_margin_loss: self%soft_margin_loss
kl_div: self%kl_div
avg_pool1d avg_pool2d: self%avg_pool2d/bool
max_pool1d: self%max_pool1d_impl
max_pool2d max_pool2d_with_indices: self%max_pool2d/bool
adaptive_avg_pool1d adaptive_avg_pool2d _adaptive_avg_pool2d: self%adaptive_avg_pool2d
adaptive_max_pool2d: self%adaptive_max_pool2d
convolution: input%slow_conv2d_cpu/bool
reflection_pad%dd: self%reflection_pad%dd/bool
replication_pad%dd: self%replication_pad%dd/bool
grid_sampler_2d: input%grid_sampler_2d_cpu_kernel_impl
cdist _cdist_forward: x1%cdist
_prelu_kernel: self%prelu_cpu
nll_loss_forward: self%nll_loss_out_frame
nll_loss2d_forward: self%nll_loss2d_forward_out_frame
histc: self%histogram_cpu
bincount: self%bincount_cpu/bool
bucketize: self%searchsorted_out_cpu/bool
searchsorted: self%searchsorted_out_cpu/bool
trapezoid: y%trapezoid/bool
cov: self%cov/bool
renorm: self%vector_norm
norm: self%norm
lerp.Scalar lerp_.Scalar: self%lerp_kernel_scalar
lerp.Tensor lerp_.Tensor: self%lerp_kernel_tensor
hypot: self&hypot_cpu
nextafter: self&nextafter_cpu
logaddexp: self&logaddexp_cpu
logaddexp2: self&logaddexp2_cpu
igamma: self&igamma_cpu
igammac: self&igammac_cpu
fmod: self&fmod_cpu/bool
remainder: self&remainder_cpu/bool
floor_divide: self&div_floor_cpu/bool
gcd: self&gcd_cpu/bool
lcm: self&lcm_cpu/bool
linalg_cross cross: self&cross/bool
`

// dtypeWords are the messages of operators that check dtypes before a kernel does; %s is the dtype.
var dtypeWords = map[string]string{
	"hardtanh":         "Bool inputs not supported for hardtanh",
	"kl_div":           "kl_div: Integral inputs not supported.",
	"soft_margin_loss": "result type Float can't be cast to the desired output type %s",
	"cdist":            "cdist only supports floating-point dtypes, X1 got: %s",
	"trapezoid":        "trapezoid: received a bool input for `y`, but bool is not supported",
	"cov":              "cov(): bool dtype is not supported for input",
	"norm":             "norm(): input dtype should be either floating point or complex. Got %s instead.",
	"vector_norm":      "linalg.vector_norm: Expected a floating point or complex tensor as input. Got %s",
}

// refusedDType is the error of a kernel for a dtype that it is not made for, as PyTorch's CPU kernel of that name words it.
func refusedDType(kernel string, d tensor.DType) error {
	kernel, except, _ := strings.Cut(kernel, "/")
	switch {
	case d.IsFloat() || d.Kind() == tensor.KindComplex:
		return nil
	case except == "bool" && d != tensor.Bool, except == "byte" && d == tensor.UInt8:
		return nil
	}
	if w, ok := dtypeWords[kernel]; ok {
		if strings.Contains(w, "%s") {
			w = fmt.Sprintf(w, cName(d))
		}
		return errors.New(w)
	}
	return fmt.Errorf("\"%s\" not implemented for '%s'", kernel, cName(d))
}

// sameAsParameters compares the dtypes of a normalisation's input and parameters: a 16-bit input may have float32 parameters.
func sameAsParameters(x *tensor.Tensor, params ...*tensor.Tensor) error {
	want := x.DType
	half := want == tensor.BFloat16 || want == tensor.Float16
	for _, p := range params {
		if p != nil && p.DType != want && !(half && p.DType == tensor.Float32) {
			return errf("mixed dtype (CPU): expect parameter to have scalar type of Float")
		}
	}
	return nil
}

// kernelName is what messages call the kernel of an operator, where that is not the operator's name.
func kernelName(op string) string {
	op = strings.TrimSuffix(op, "_")
	if strings.HasPrefix(op, "special_") {
		return strings.TrimPrefix(op, "special_") + "_cpu"
	}
	return op + kernelNames[op]
}

// kernelNames are what kernels' names have behind those of their operators, where that is not nothing.
var kernelNames = map[string]string{"gcd": "_cpu", "lcm": "_cpu", "bitwise_and": "_cpu", "bitwise_or": "_cpu", "bitwise_xor": "_cpu", "logit": "_cpu",
	"erf": "_vml_cpu", "erfc": "_vml_cpu", "erfinv": "_vml_cpu", "lgamma": "_vml_cpu", "i0": "_vml_cpu"}

// noHalf are the special functions without a kernel for floating types of 16 bits.
var noHalf = setOfNames(`airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w erfcx
	hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p log_ndtr modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 ndtri
	scaled_modified_bessel_k0 scaled_modified_bessel_k1 shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w
	spherical_bessel_j0 zeta`)
