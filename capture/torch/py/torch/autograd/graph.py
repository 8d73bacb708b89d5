"""The graph of differentiation: what of it programs can reach."""
import contextlib

import torch
from torch._absent import declare

declare("GradientEdge", "Node", "allow_mutation_on_saved_tensors", "get_gradient_edge", "increment_version", "register_multi_grad_hook", "save_on_cpu",
        "saved_tensors_hooks", "set_warn_on_accumulate_grad_stream_mismatch")


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    """Hooks on saved tensors are refused, with this message, while the block runs."""
    maybe_prev_message = None
    try:
        maybe_prev_message = torch._C._autograd._saved_tensors_hooks_get_disabled_error_message()
        torch._C._autograd._saved_tensors_hooks_disable(error_message)
        yield
    finally:
        if maybe_prev_message is None:
            torch._C._autograd._saved_tensors_hooks_enable()
        else:
            torch._C._autograd._saved_tensors_hooks_disable(maybe_prev_message)
