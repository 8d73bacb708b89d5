"""Settings of the Inductor backend, by PyTorch's names."""
import os

from torch._dynamo._config_module import ConfigModule, install
from torch._dynamo._unread_settings import DEFAULTS

_m = install(__name__, {
    "debug": False, "disable_progress": True, "verbose_progress": False, "fx_graph_cache": True, "fx_graph_remote_cache": None, "force_disable_caches": False, "cpp_wrapper": False, "dce": False,
    "static_weight_shapes": True, "size_asserts": True, "nan_asserts": False, "pick_loop_orders": True, "inplace_buffers": True, "allow_buffer_reuse": True,
    "memory_planning": False, "benchmark_harness": True, "epilogue_fusion": True, "epilogue_fusion_first": False, "pattern_matcher": True, "split_cat_fx_passes": True,
    "group_fusion": False, "batch_fusion": True, "pre_grad_fusion_options": {}, "post_grad_fusion_options": {}, "reorder_for_locality": True, "dynamic_scale_rblock": True,
    "force_fuse_int_mm_with_mul": False, "use_mixed_mm": True, "max_autotune": False, "max_autotune_gemm": False, "max_autotune_pointwise": False, "coordinate_descent_tuning": False,
    "layout_optimization": True, "force_layout_optimization": False, "keep_output_stride": True, "fallback_random": False, "implicit_fallbacks": True, "aggressive_fusion": False,
    "debug_fusion": False, "benchmark_fusion": False, "max_fusion_size": 64, "max_pointwise_cat_inputs": 8, "unroll_reductions_threshold": 8, "comment_origin": False,
    "conv_1x1_as_mm": False, "split_reductions": True, "benchmark_kernel": False, "constant_and_index_propagation": True, "always_keep_tensor_constants": False,
    "assert_indirect_indexing": True, "joint_graph_constant_folding": True, "compile_threads": int(os.environ.get("TORCHINDUCTOR_COMPILE_THREADS", 1)), "freezing": False, "freezing_discard_parameters": False, "comprehensive_padding": True,
    "generate_intermediate_hooks": False, "worker_start_method": "subprocess", "reorder_for_compute_comm_overlap_passes": [], "_fuse_ddp_communication_passes": [], "fx_passes_numeric_check": {},
    "profile_bandwidth": False, "disable_cpp_codegen": False, "warn_mix_layout": False, "enable_auto_functionalized_v2": True, "external_matmul": [], "permute_fusion": False, "_save_config_ignore": [], "_cache_config_ignore_prefix": [],
    "_micro_pipeline_tp": False, "_raise_error_for_testing": False, "developer_warnings": False, "triton_kernel_default_layout_constraint": "flexible_layout", "decompose_mem_bound_mm": False, "batch_matmul_fusion": False, "efficient_conv_bn_eval_fx_passes": False, "is_predispatch": False, "search_autotune_cache": False, "save_args": False, "autotune_in_subproc": False, "shape_padding": True, "realize_reads_threshold": 4, "realize_opcount_threshold": 30, "realize_acc_reads_threshold": 8, "online_softmax": True, "score_fusion_memory_threshold": 10, "max_epilogue_benchmarked_choices": 1, "emulate_precision_casts": False, "b2b_gemm_pass": False, "custom_op_default_layout_constraint": "needs_fixed_stride_order",
})


def _sub(name, values):
    sub = ConfigModule("torch._inductor.config." + name, values)
    object.__setattr__(_m, name, sub)


_sub("cpp", {"threads": -1, "no_redundant_loops": True, "dynamic_threads": False, "simdlen": None, "min_chunk_size": 4096, "cxx": (None, "g++"), "enable_kernel_profile": False,
             "weight_prepack": True, "inject_relu_bug_TESTING_ONLY": None, "inject_log1p_bug_TESTING_ONLY": None, "vec_isa_ok": None, "descriptive_names": "original_aten",
             "max_horizontal_fusion_size": 16, "fallback_scatter_reduce_sum": True, "enable_unsafe_math_opt_flag": False, "enable_floating_point_contract_flag": False, "enable_tiling_heuristics": True,
             "enable_grouped_gemm_template": False, "gemm_max_k_slices": 1, "gemm_cache_blocking": None, "gemm_thread_factors": None, "enable_loop_tail_vec": True, "enable_concat_linear": False})
_sub("triton", {"cudagraphs": False, "cudagraph_trees": True, "unique_kernel_names": False, "descriptive_names": "original_aten", "autotune_pointwise": True, "inject_relu_bug_TESTING_ONLY": None, "max_tiles": 2, "dense_indexing": False})
_sub("trace", {"enabled": os.environ.get("TORCH_COMPILE_DEBUG", "0") == "1", "debug_dir": None, "debug_log": False, "info_log": False, "fx_graph": True, "fx_graph_transformed": True, "ir_pre_fusion": True,
               "ir_post_fusion": True, "output_code": True, "graph_diagram": False, "draw_orig_fx_graph": False, "compile_profile": False, "upload_tar": None, "log_autotuning_results": False, "save_real_tensors": False})
_sub("aot_inductor", {"output_path": "", "debug_compile": False, "metadata": {}, "presets": {}, "package": False})
_sub("rocm", {"arch": [], "ck_supported_arch": []})
_sub("cuda", {"arch": None, "version": None, "cutlass_dir": ""})
for _name in DEFAULTS:
    _prefix, _, _last = _name.rpartition(".")
    if _prefix == __name__ and not hasattr(_m, _last):
        _sub(_last, {})
