"""Settings of capture, by PyTorch's names."""
import os

from torch._dynamo._config_module import install


def _flag(name, default):
    v = os.environ.get(name)
    return default if v is None else v == "1"


install(__name__, {
    # What cannot change what is compiled.
    "_compile_ignored_keys": {"log_file_name", "verbose", "verify_correctness", "cache_size_limit", "accumulated_cache_size_limit",
                              "replay_record_enabled", "cprofile", "repro_after", "repro_level", "repro_forward_only", "repro_tolerance",
                              "repro_ignore_non_fp", "same_two_models_use_fp64", "error_on_recompile", "report_guard_failures", "base_dir", "DEBUG_DIR_VAR_NAME",
                              "debug_dir_root", "skip_code_recursive_on_cache_limit_hit", "fail_on_cache_limit_hit", "_save_config_ignore"},
    "log_level": None, "debug": False, "log_file": None, "log_file_name": None, "verbose": _flag("TORCHDYNAMO_VERBOSE", False), "verify_correctness": False,
    "minimum_call_count": 1, "dead_code_elimination": True, "cache_size_limit": 8, "accumulated_cache_size_limit": 256, 
    "skip_code_recursive_on_cache_limit_hit": True, "fail_on_cache_limit_hit": False, "specialize_int": False, "specialize_float": False,
    "dynamic_shapes": True, "rewrite_assert_with_torch_assert": True, "assume_static_by_default": True, "automatic_dynamic_shapes": True, "force_parameter_static_shapes": True,
    "force_nn_module_property_static_shapes": True, "allow_ignore_mark_dynamic": False, "guard_nn_modules": True, "guard_nn_modules_using_dict_tags": True,
    "suppress_errors": _flag("TORCHDYNAMO_SUPPRESS_ERRORS", False), "replay_record_enabled": _flag("TORCH_COMPILE_REPLAY_RECORD", False), "disable": _flag("TORCH_COMPILE_DISABLE", False),
    "cprofile": False, "repro_after": os.environ.get("TORCHDYNAMO_REPRO_AFTER", None), "repro_level": int(os.environ.get("TORCHDYNAMO_REPRO_LEVEL", 2)),
    "repro_forward_only": _flag("TORCHDYNAMO_REPRO_FORWARD_ONLY", False), "repro_tolerance": 1e-3, "repro_ignore_non_fp": _flag("TORCHDYNAMO_REPRO_IGNORE_NON_FP", False),
    "same_two_models_use_fp64": True, "capture_scalar_outputs": _flag("TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS", False),
    "capture_dynamic_output_shape_ops": _flag("TORCHDYNAMO_CAPTURE_DYNAMIC_OUTPUT_SHAPE_OPS", False), "prefer_deferred_runtime_asserts_over_guards": False,
    "allow_complex_guards_as_runtime_asserts": False, "optimize_ddp": True, "enforce_cond_guards_match": True, "do_not_emit_runtime_asserts": False,
    "skip_nnmodule_hook_guards": True, "skip_no_tensor_aliasing_guards_on_parameters": True, "raise_on_ctx_manager_usage": True, "raise_on_unsafe_aot_autograd": False,
    "error_on_nested_fx_trace": True, "error_on_nested_jit_trace": True, "error_on_recompile": False, "report_guard_failures": True,
    "base_dir": os.getcwd(), "debug_dir_root": os.path.join(os.environ.get("TORCH_COMPILE_DEBUG_DIR", os.getcwd()), "torch_compile_debug"), "_save_config_ignore": {"repro_after", "repro_level", "constant_functions", "skipfiles_inline_module_allowlist"},
    "capture_autograd_function": True, "capture_func_transforms": True, "enable_cpp_guard_manager": True, "inline_inbuilt_nn_modules": True, "install_free_tensors": False,
    "traceable_tensor_subclasses": set(), "reorderable_logging_functions": set(), "ignore_logger_methods": set(), "inject_BUILD_SET_unimplemented_TESTING_ONLY": False,
    "allow_rnn": False, "allow_unspec_int_on_nn_module": False, "optimize_ddp_lazy_compile": False, "compiled_autograd": False, "use_numpy_random_stream": False,
    "trace_numpy": True, "numpy_default_float": "float64", "record_compile_time_instruction_count": False, "print_graph_breaks": False,
    "_ddp_optimization_mode": ["ddp_optimizer", "python_reducer", "python_reducer_without_compiled_forward", "no_optimization"], "constant_functions": {}, "skipfiles_inline_module_allowlist": {}, "run_gc_after_compile": True, "log_compilation_metrics": True,
    "output_code": False, "output_graph_code": False, "raise_on_backend_change": False, "only_allow_pt2_compliant_ops": False, "caching_precompile": False,
})
