"""The graph of differentiation: what of it programs can reach."""
import functools
import threading
from typing import Any, NamedTuple

import torch
from torch._absent import declare
from torch.utils._contextlib import context_decorator

declare("Node", "allow_mutation_on_saved_tensors", "save_on_cpu", "saved_tensors_hooks", "set_warn_on_accumulate_grad_stream_mismatch")


class GradientEdge(NamedTuple):
    """Where a gradient flows: into a result of a node of the graph."""

    node: Any
    output_nr: int


def get_gradient_edge(tensor):
    """The edge that leads to a tensor."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    with torch.enable_grad():
        return GradientEdge(*tensor.view_as(tensor).grad_fn.next_functions[0])


def increment_version(tensor):
    """Notes that tensors were written by means that autograd does not see."""
    for t in (tensor,) if isinstance(tensor, torch.Tensor) else tensor:
        with torch.no_grad():
            t.detach().mul_(1)


class _MultiHandle:
    """Undoes several registrations."""

    def __init__(self, handles):
        self.handles = tuple(handles)

    def remove(self):
        for h in self.handles:
            h.remove()

    def __enter__(self):
        return self

    def __exit__(self, type, value, tb):
        self.remove()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Calls fn with the gradients of all tensors once a backward pass has them, or, with the mode any, with the first that it has."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    lock, grads = threading.Lock(), {}

    def hook(i, grad):
        with lock:
            grads[i] = grad
            ready = len(grads) == len(tensors) if mode == "all" else len(grads) == 1
            found = [grads.get(k) for k in range(len(tensors))]
            if len(grads) == len(tensors):
                grads.clear()
        if ready:
            fn(found if mode == "all" else grad)

    return _MultiHandle(t.register_hook(functools.partial(hook, i)) for i, t in enumerate(tensors))


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
