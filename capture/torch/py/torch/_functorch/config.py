"""Settings of ahead-of-time autograd, by PyTorch's names."""
from torch._dynamo._config_module import install

install(__name__, {"functionalize_rng_ops": False, "fake_tensor_allow_meta": True, "debug_assert": False, "debug_partitioner": False, "cse": True, "max_dist_from_bw": 1000,
                   "fake_tensor_allow_unsafe_data_ptr_access": True, "unlift_effect_tokens": False, "static_weight_shapes": True, "treat_parameters_as_free_to_save": True,
                   "activation_memory_budget": 1.0, "recompute_views": False, "enable_autograd_cache": False, "donated_buffer": True, "view_replay_for_aliased_outputs": True,
                   "ban_recompute_used_far_apart": True, "ban_recompute_long_fusible_chains": True, "ban_recompute_materialized_backward": True, "ban_recompute_reductions": True,
                   "recompute_views_": False, "aggressive_recomputation": False, "strict_autograd_cache": False, "fake_tensor_propagate_real_tensors": False})
