"""The graph of differentiation: what of it programs can reach."""
import functools
import threading
from typing import Any, NamedTuple

import torch
from torch._absent import declare
from torch.utils._contextlib import context_decorator

declare("Node", "allow_mutation_on_saved_tensors", "set_warn_on_accumulate_grad_stream_mismatch")


class saved_tensors_hooks:
    """What is saved for the backward pass inside of the block is what pack_hook makes of it, and unpack_hook of that what the pass reads."""

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        torch._C._autograd._push_saved_tensors_default_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *args):
        torch._C._autograd._pop_saved_tensors_default_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Saved tensors wait for the backward pass in the memory of the CPU, page-locked where pin_memory asks for it and there is such a device."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        pin = pin_memory and getattr(torch, device_type).is_available()

        def pack(tensor):
            if not pin:
                return tensor.device, tensor.cpu()
            there = torch.empty(tensor.size(), dtype=tensor.dtype, layout=tensor.layout, pin_memory=not tensor.is_sparse)
            return tensor.device, there.copy_(tensor)

        super().__init__(pack, lambda packed: packed[1].to(packed[0], non_blocking=pin_memory))


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
