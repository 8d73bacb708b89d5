"""The graph of differentiation: what of it programs can reach."""
import torch
from torch._absent import declare
from torch.utils._contextlib import context_decorator

declare("GradientEdge", "Node", "allow_mutation_on_saved_tensors", "get_gradient_edge", "increment_version", "register_multi_grad_hook", "save_on_cpu",
        "saved_tensors_hooks", "set_warn_on_accumulate_grad_stream_mismatch")


class disable_saved_tensors_hooks:
    """Hooks on saved tensors are refused, with this message, while the block runs; a decorator, too."""

    def __init__(self, error_message):
        self.error_message, self.begun = error_message, False
        if torch.compiler.is_compiling():
            self._begin()  # PyTorch's capture begins with it where it is made

    def _begin(self):
        self.prev = torch._C._autograd._saved_tensors_hooks_get_disabled_error_message()
        torch._C._autograd._saved_tensors_hooks_disable(self.error_message)
        self.begun = True

    def __enter__(self):
        if not self.begun:
            self._begin()

    def __exit__(self, exc_type, exc_value, traceback):
        self.begun = False
        if self.prev is None:
            torch._C._autograd._saved_tensors_hooks_enable()
        else:
            torch._C._autograd._saved_tensors_hooks_disable(self.prev)

    def __call__(self, func):
        return context_decorator(lambda: self if self.begun else disable_saved_tensors_hooks(self.error_message), func)
