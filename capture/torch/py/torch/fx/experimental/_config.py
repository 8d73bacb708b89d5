import os

from torch._dynamo._config_module import install

install(__name__, {"translation_validation": False, "translation_validation_no_bisect": False, "no_data_dependent_graph_break": False, "print_specializations": False, "use_duck_shape": True,
                   "inject_EVALUATE_EXPR_flip_equality_TESTING_ONLY": False, "validate_shape_env_version_key": False, "skip_dtype_check_in_meta_registrations": False, "backed_size_oblivious": False, "meta_nonzero_assume_all_nonzero": False,
                   "extended_debug_guard_added": os.environ.get("TORCHDYNAMO_EXTENDED_DEBUG_GUARD_ADDED"), "extended_debug_create_symbol": os.environ.get("TORCHDYNAMO_EXTENDED_DEBUG_CREATE_SYMBOL"),
                   "extended_debug_cpp": os.environ.get("TORCHDYNAMO_EXTENDED_DEBUG_CPP", "") != "", "check_shape_env_recorded_events": False, "symbol_guard_limit_before_specialize": None, "translation_validation_timeout": 600000})
