package fx

import "whittle/kernels/aten"

// sameModule has modules that show the functions of another.
var sameModule = map[string]string{"_operator": "operator", "torch.functional": "torch", "torch.random": "torch", "torch._VF": "torch",
	"torch._C._VariableFunctions": "torch", "torch._C._VariableFunctionsClass": "torch", "torch._tensor.Tensor": "Tensor"}

// operatorModules are the modules whose functions are operators of aten, with what the operators' names begin with there.
var operatorModules = map[string]string{"torch": "", "Tensor": "", "torch.nn.functional": "", "torch._C._nn": "", "torch._C._special": "", "torch._C._linalg": "",
	"torch._C._fft": "", "torch._C._sparse": "", "torch.special": "special_", "torch.linalg": "linalg_", "torch.fft": "fft_"}

// targets has the functions and methods that graphs call and that are no operators of aten, or take more arguments than theirs. A line is a list of
// names, or the signature of one function, in the grammar of operators' schemas, where arguments count; see aten.FactsOf. "*" is all others of
// the module. Methods are those of the module Tensor. Source: PyTorch 2.6, whose functions in Python were read for it.
var targets = []struct {
	module string
	effect aten.Effect
	calls  string
}{
	{"torch.nn.functional", aten.Pure, `relu(Tensor input, bool inplace=False) -> Tensor
relu6(Tensor input, bool inplace=False) -> Tensor
hardtanh(Tensor input, float min_val=-1., float max_val=1., bool inplace=False) -> Tensor
hardswish(Tensor input, bool inplace=False) -> Tensor
hardsigmoid(Tensor input, bool inplace=False) -> Tensor
elu(Tensor input, float alpha=1., bool inplace=False) -> Tensor
selu(Tensor input, bool inplace=False) -> Tensor
celu(Tensor input, float alpha=1., bool inplace=False) -> Tensor
leaky_relu(Tensor input, float negative_slope=0.01, bool inplace=False) -> Tensor
threshold(Tensor input, float threshold, float value, bool inplace=False) -> Tensor
_threshold(Tensor input, float threshold, float value, bool inplace=False) -> Tensor
silu(Tensor input, bool inplace=False) -> Tensor
mish(Tensor input, bool inplace=False) -> Tensor
batch_norm(Tensor input, Tensor? running_mean, Tensor? running_var, Tensor? weight=None, Tensor? bias=None, bool training=False, float momentum=0.1, float eps=1e-05) -> Tensor
instance_norm(Tensor input, Tensor? running_mean=None, Tensor? running_var=None, Tensor? weight=None, Tensor? bias=None, bool use_input_stats=True, float momentum=0.1, float eps=1e-05) -> Tensor
embedding(Tensor input, Tensor weight, int? padding_idx=None, float? max_norm=None, float norm_type=2., bool scale_grad_by_freq=False, bool sparse=False) -> Tensor
embedding_bag(Tensor input, Tensor weight, Tensor? offsets=None, float? max_norm=None, float norm_type=2., bool scale_grad_by_freq=False, str mode="mean", bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int? padding_idx=None) -> Tensor
_no_grad_embedding_renorm_(Tensor(a!) weight, Tensor input, float max_norm, float norm_type) -> Tensor
adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices adaptive_max_pool3d_with_indices _adaptive_max_pool1d _adaptive_max_pool2d
_adaptive_max_pool3d _max_pool1d _max_pool2d _max_pool3d affine_grid cross_entropy fold unfold gaussian_nll_loss grid_sample interpolate local_response_norm
logsigmoid lp_pool1d lp_pool2d lp_pool3d max_unpool1d max_unpool2d max_unpool3d multilabel_soft_margin_loss normalize softmin softsign tanhshrink
triplet_margin_with_distance_loss upsample upsample_bilinear upsample_nearest _canonical_mask _in_projection _in_projection_packed _none_or_dtype
_get_softmax_dim _is_integer _list_with_default _pair _single _triple _sym_int _unpool_output_size has_torch_function has_torch_function_unary
has_torch_function_variadic`},
	{"torch.nn.functional", aten.Lasting, "_verify_batch_size _verify_spatial_size _mha_shape_check _check_key_padding_mask assert_int_or_pair"},
	{"torch.nn.functional", aten.Random, `dropout(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor
dropout1d(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor
dropout2d(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor
dropout3d(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor
alpha_dropout(Tensor input, float p=0.5, bool training=False, bool inplace=False) -> Tensor
feature_alpha_dropout(Tensor input, float p=0.5, bool training=False, bool inplace=False) -> Tensor
rrelu(Tensor input, float lower=0.125, float upper=0.3333333333333333, bool training=False, bool inplace=False) -> Tensor
multi_head_attention_forward(Tensor query, Tensor key, Tensor value, int embed_dim_to_check, int num_heads, Tensor? in_proj_weight, Tensor? in_proj_bias, Tensor? bias_k, Tensor? bias_v, bool add_zero_attn, float dropout_p, Tensor out_proj_weight, Tensor? out_proj_bias, bool training=True, Tensor? key_padding_mask=None, bool need_weights=True, Tensor? attn_mask=None, bool use_separate_proj_weight=False, Tensor? q_proj_weight=None, Tensor? k_proj_weight=None, Tensor? v_proj_weight=None, Tensor? static_k=None, Tensor? static_v=None, bool average_attn_weights=True, bool is_causal=False) -> (Tensor, Tensor?)
fractional_max_pool2d fractional_max_pool3d fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices _fractional_max_pool2d
_fractional_max_pool3d gumbel_softmax`},
	{"torch.nn.init", aten.Pure, `constant_(Tensor(a!) tensor, float val) -> Tensor(a!)
dirac_(Tensor(a!) tensor, int groups=1) -> Tensor(a!)
eye_(Tensor(a!) tensor) -> Tensor(a!)
ones_(Tensor(a!) tensor) -> Tensor(a!)
zeros_(Tensor(a!) tensor) -> Tensor(a!)
calculate_gain`},
	{"torch.nn.init", aten.Random, `kaiming_normal_(Tensor(a!) tensor, float a=0., str mode="fan_in", str nonlinearity="leaky_relu", Generator? generator=None) -> Tensor(a!)
kaiming_uniform_(Tensor(a!) tensor, float a=0., str mode="fan_in", str nonlinearity="leaky_relu", Generator? generator=None) -> Tensor(a!)
normal_(Tensor(a!) tensor, float mean=0., float std=1., Generator? generator=None) -> Tensor(a!)
orthogonal_(Tensor(a!) tensor, float gain=1., Generator? generator=None) -> Tensor(a!)
sparse_(Tensor(a!) tensor, float sparsity, float std=0.01, Generator? generator=None) -> Tensor(a!)
trunc_normal_(Tensor(a!) tensor, float mean=0., float std=1., float a=-2., float b=2., Generator? generator=None) -> Tensor(a!)
uniform_(Tensor(a!) tensor, float a=0., float b=1., Generator? generator=None) -> Tensor(a!)
xavier_normal_(Tensor(a!) tensor, float gain=1., Generator? generator=None) -> Tensor(a!)
xavier_uniform_(Tensor(a!) tensor, float gain=1., Generator? generator=None) -> Tensor(a!)`},

	{"torch", aten.Pure, `_sym_acos _sym_asin _sym_atan _sym_cos _sym_cosh _sym_log2 _sym_sin _sym_sinh _sym_sqrt _sym_tan _sym_tanh sym_float
sym_fresh_size sym_int sym_ite sym_max sym_min sym_not sym_sqrt sym_sum _segment_reduce as_tensor asarray tensor broadcast_shapes dsmm hsmm
saddmm spmm eig lstsq lu matrix_rank solve symeig from_dlpack from_numpy frombuffer to_dlpack numel get_device is_storage is_tensor typename
unique unravel_index sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor
quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic dequantize fake_quantize_per_channel_affine fake_quantize_per_tensor_affine
q_per_channel_axis q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point cudnn_affine_grid_generator cudnn_convolution
cudnn_convolution_add_relu cudnn_convolution_relu cudnn_convolution_transpose cudnn_grid_sampler cudnn_is_acceptable miopen_convolution
miopen_convolution_add_relu miopen_convolution_relu miopen_convolution_transpose miopen_depthwise_convolution mkldnn_adaptive_avg_pool2d
mkldnn_convolution mkldnn_linear_backward_weights mkldnn_max_pool2d mkldnn_max_pool3d mkldnn_rnn_layer quantized_batch_norm quantized_gru_cell
quantized_lstm_cell quantized_max_pool1d quantized_max_pool2d quantized_max_pool3d quantized_rnn_relu_cell quantized_rnn_tanh_cell
get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype get_default_device get_default_dtype get_num_interop_threads get_num_threads
get_float32_matmul_precision are_deterministic_algorithms_enabled is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled
is_grad_enabled is_inference_mode_enabled is_anomaly_enabled is_warn_always_enabled device dtype finfo iinfo Size cond while_loop`},
	{"torch", aten.Uninitialised, "empty_quantized _empty_affine_quantized _empty_per_channel_affine_quantized"},
	{"torch", aten.Random, "svd_lowrank pca_lowrank lobpcg"},
	{"torch", aten.Lasting, `manual_seed seed initial_seed get_rng_state set_rng_state fork_rng _assert _check _check_index _check_is_size _check_not_implemented
_check_tensor_all _check_tensor_all_with _check_type _check_value _check_with _constrain_as_size set_anomaly_enabled set_autocast_cache_enabled
set_autocast_cpu_dtype set_autocast_cpu_enabled set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype set_default_device set_default_dtype
set_default_tensor_type set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal set_grad_enabled set_num_interop_threads
set_num_threads set_printoptions set_warn_always use_deterministic_algorithms autocast_decrement_nesting autocast_increment_nesting
clear_autocast_cache init_num_threads load save fork wait _sync`},
	{"torch._C", aten.Pure, "_log_api_usage_once"}, // telemetry alone
	{"torch._C", aten.Lasting, "_set_grad_enabled _increment_version _enter_dual_level _exit_dual_level"},
	{"torch.amp.autocast_mode", aten.Lasting, "_enter_autocast _exit_autocast"},
	{"torch._C._functorch", aten.Pure, "_add_batch_dim _remove_batch_dim _wrap_for_grad _unwrap_for_grad _unwrap_batched get_unwrapped maybe_get_bdim maybe_get_level"},
	{"torch._C._functorch", aten.Lasting, `_vmap_increment_nesting _vmap_decrement_nesting _grad_increment_nesting _grad_decrement_nesting
_jvp_increment_nesting _jvp_decrement_nesting _func_increment_nesting _func_decrement_nesting set_inplace_requires_grad_allowed`},
	{"torch.sparse", aten.Pure, "mm addmm sampled_addmm softmax log_softmax sum spdiags spsolve"},

	{"Tensor", aten.Pure, `size(Tensor self, int? dim=None) -> int
resize_as_sparse_(Tensor(a!) self, Tensor the_template) -> Tensor(a!)
sparse_resize_(Tensor(a!) self, int[] size, int sparse_dim, int dense_dim) -> Tensor(a!)
sparse_resize_and_clear_(Tensor(a!) self, int[] size, int sparse_dim, int dense_dim) -> Tensor(a!)
apply_(Tensor(a!) self, Function callable) -> Tensor(a!)
map_(Tensor(a!) self, Tensor tensor, Function callable) -> Tensor(a!)
map2_(Tensor(a!) self, Tensor x, Tensor y, Function callable) -> Tensor(a!)
share_memory_(Tensor(a!) self) -> Tensor(a!)
__setitem__(Tensor(a!) self, Key key, Tensor value) -> ()
__delitem__(Tensor(a!) self, Key key) -> ()
__setattr__(Tensor(a!) self, str name, Tensor value) -> ()
__delattr__(Tensor(a!) self, str name) -> ()
__setstate__(Tensor(a!) self, State state) -> ()
__iadd__(Tensor(a!) self, Tensor other) -> Tensor(a!)
__idiv__(Tensor(a!) self, Tensor other) -> Tensor(a!)
__ifloordiv__(Tensor(a!) self, Tensor other) -> Tensor(a!)
__imatmul__(Tensor(a!) self, Tensor other) -> Tensor(a!)
__imod__(Tensor(a!) self, Tensor other) -> Tensor(a!)
__imul__(Tensor(a!) self, Tensor other) -> Tensor(a!)
__ipow__(Tensor(a!) self, Tensor other) -> Tensor(a!)
__isub__(Tensor(a!) self, Tensor other) -> Tensor(a!)
__itruediv__(Tensor(a!) self, Tensor other) -> Tensor(a!)
__abs__ __add__ __array__ __array_wrap__ __bool__ __complex__ __contains__ __deepcopy__ __dir__ __div__ __dlpack__ __dlpack_device__ __eq__ __float__
__floordiv__ __format__ __ge__ __getattribute__ __getitem__ __getstate__ __gt__ __hash__ __index__ __int__ __invert__ __iter__ __le__ __len__ __long__
__lt__ __matmul__ __mod__ __mul__ __ne__ __neg__ __nonzero__ __pos__ __pow__ __radd__ __rand__ __rdiv__ __reduce__ __reduce_ex__ __repr__ __reversed__
__rfloordiv__ __rlshift__ __rmatmul__ __rmod__ __rmul__ __ror__ __rpow__ __rrshift__ __rsub__ __rtruediv__ __rxor__ __sizeof__ __str__ __sub__
__truediv__ _is_view as_subclass bfloat16 bool byte cdouble cfloat char cpu cuda data_ptr dequantize dim dim_order double eig element_size float
get_device half has_names int ipu is_contiguous is_shared long lstsq lu mtia ndimension nelement new new_tensor numel numpy q_per_channel_axis
q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point short solve sparse_dim sparse_mask storage storage_offset storage_type symeig
to_mkldnn to_sparse to_sparse_bsc to_sparse_bsr to_sparse_coo to_sparse_csc to_sparse_csr tolist type unique untyped_storage xpu stft istft`},
	{"Tensor", aten.Lasting, "backward register_hook register_post_accumulate_grad_hook reinforce module_load manual_seed seed"},

	{"operator", aten.Pure, `iadd(Tensor(a!) a, Tensor b) -> Tensor(a!)
iand(Tensor(a!) a, Tensor b) -> Tensor(a!)
iconcat(Tensor(a!) a, Tensor b) -> Tensor(a!)
ifloordiv(Tensor(a!) a, Tensor b) -> Tensor(a!)
ilshift(Tensor(a!) a, Tensor b) -> Tensor(a!)
imatmul(Tensor(a!) a, Tensor b) -> Tensor(a!)
imod(Tensor(a!) a, Tensor b) -> Tensor(a!)
imul(Tensor(a!) a, Tensor b) -> Tensor(a!)
ior(Tensor(a!) a, Tensor b) -> Tensor(a!)
ipow(Tensor(a!) a, Tensor b) -> Tensor(a!)
irshift(Tensor(a!) a, Tensor b) -> Tensor(a!)
isub(Tensor(a!) a, Tensor b) -> Tensor(a!)
itruediv(Tensor(a!) a, Tensor b) -> Tensor(a!)
ixor(Tensor(a!) a, Tensor b) -> Tensor(a!)
setitem(Tensor(a!) a, Key b, Tensor c) -> ()
delitem(Tensor(a!) a, Key b) -> ()
getitem(Tensor(a) a, Key b) -> Tensor(a)
abs add and_ concat contains countOf eq floordiv ge gt index indexOf inv invert is_ is_not itemgetter attrgetter le length_hint lshift lt matmul mod
mul ne neg not_ or_ pos pow rshift sub truediv truth xor`},
	{"math", aten.Pure, "*"},
	{"builtins", aten.Pure, `setattr(Object(a!) obj, str name, Object value) -> ()
delattr(Object(a!) obj, str name) -> ()
next(Iterator(a!) iterator, Object? default=None) -> Object
anext(AsyncIterator(a!) iterator, Object? default=None) -> Object
abs aiter all any ascii bin bool callable chr compile complex dict dir divmod float format getattr globals hasattr hash hex id int isinstance issubclass
iter len list locals max min object oct ord pow range repr reversed round set slice sorted str sum tuple type vars zip`},
	{"builtins", aten.Lasting, "breakpoint eval exec exit help input open print quit __build_class__ __import__"},

	// What has a body is as pure as the body, which PyTorch does not let write to what is outside of it.
	{"higher_order", aten.Pure, `associative_scan auto_functionalized auto_functionalized_v2 autograd_function_apply cond custom_function_call
executorch_call_delegate flex_attention flex_attention_backward hints_wrapper invoke_subgraph map map_impl out_dtype run_with_rng_state scan
strict_mode tag_activation_checkpoint trace_wrapped triton_kernel_wrapper_functional while_loop wrap wrap_activation_checkpoint
wrap_with_autocast wrap_with_set_grad_enabled
triton_kernel_wrapper_mutation(*, int kernel_idx, int constant_args_idx, Object grid, Object tma_descriptor_metadata, Object(a!) kwargs) -> ()`},
	{"higher_order", aten.Random, "run_and_save_rng_state"},
	{"higher_order", aten.Lasting, "call_torchbind with_effects _export_tracepoint"},

	// Operators outside of aten and prims, by their schemas, with the writes that these leave out.
	{"inductor", aten.Pure, `_mm_plus_mm(Tensor a, Tensor b, Tensor c, Tensor d, Tensor(t!) out) -> Tensor(t!)
_reinterpret_tensor(Tensor(a) self, int[] size, int[] stride, int offset_increment=0) -> Tensor(a)
_alloc_from_pool(Tensor(a) self, int offset_bytes, ScalarType dtype, int[] size, int[] stride) -> Tensor(a)
accumulate_grad_(Tensor(a!) variable, Tensor new_grad) -> ()
resize_storage_bytes_(Tensor(a!) variable, SymInt new_size) -> ()`},
	{"rngprims", aten.Random, "philox_rand"},
	{"profiler", aten.Lasting, "_record_function_enter _record_function_enter_new _record_function_exit"},
	{"_c10d_functional", aten.Pure, `all_gather_into_tensor_out(Tensor input, int group_size, str group_name, *, Tensor(a!) out) -> Tensor(a!)
all_reduce_(Tensor(a!) input, str reduce_op, str group_name) -> Tensor(a!)
all_reduce_coalesced_(Tensor(a!)[] inputs, str reduce_op, str group_name) -> Tensor(a!)[]
broadcast_(Tensor(a!) input, int src, str group_name) -> Tensor(a!)
all_gather_into_tensor all_gather_into_tensor_coalesced all_reduce all_reduce_coalesced all_to_all_single broadcast reduce_scatter_tensor
reduce_scatter_tensor_coalesced`},
	{"_c10d_functional", aten.Lasting, "wait_tensor"},
	{"mkldnn", aten.Pure, `_convolution_pointwise _convolution_transpose_pointwise _linear_pointwise _reorder_convolution_transpose_weight
_reorder_convolution_weight _reorder_linear_weight _reorder_mkldnn_rnn_layer_weight`},
	{"torchvision", aten.Pure, `nms deform_conv2d ps_roi_align ps_roi_pool roi_pool _deform_conv2d_backward _ps_roi_align_backward _ps_roi_pool_backward
_roi_pool_backward`},
}
