"""The graph of differentiation: what of it programs can reach."""
import torch
from torch._absent import declare
from torch.utils._contextlib import context_decorator

declare("GradientEdge", "Node", "allow_mutation_on_saved_tensors", "get_gradient_edge", "increment_version", "register_multi_grad_hook", "save_on_cpu",
        "saved_tensors_hooks", "set_warn_on_accumulate_grad_stream_mismatch")


class disable_saved_tensors_hooks:
    """Hooks on saved tensors are refused, with this message, while the block runs; a decorator, too."""

    def __init__(self, error_message):
        self.error_message = error_message

    def __enter__(self):
        self.prev = torch._C._autograd._saved_tensors_hooks_get_disabled_error_message()
        torch._C._autograd._saved_tensors_hooks_disable(self.error_message)

    def __exit__(self, exc_type, exc_value, traceback):
        if self.prev is None:
            torch._C._autograd._saved_tensors_hooks_enable()
        else:
            torch._C._autograd._saved_tensors_hooks_disable(self.prev)

    def __call__(self, func):
        return context_decorator(lambda: disable_saved_tensors_hooks(self.error_message), func)
