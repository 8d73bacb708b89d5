"""The graph of differentiation: what of it programs can reach."""
import abc
import contextlib
import functools
import threading
import weakref
from typing import Any, NamedTuple

import torch
from torch._absent import declare
from torch.utils._contextlib import context_decorator

declare("set_warn_on_accumulate_grad_stream_mismatch")

__all__ = ["saved_tensors_hooks", "save_on_cpu", "disable_saved_tensors_hooks", "register_multi_grad_hook", "allow_mutation_on_saved_tensors", "Node", "GradientEdge", "get_gradient_edge",
           "increment_version"]


def _asked(self, *args):
    raise NotImplementedError


class Node(abc.ABC):
    """A node of the graph: whatever has these names is one."""

    name = abc.abstractmethod(_asked)
    next_functions = property(abc.abstractmethod(lambda self: _asked(self)))
    metadata = abc.abstractmethod(lambda self: _asked(self))
    _input_metadata = property(abc.abstractmethod(lambda self: _asked(self)))
    register_hook = abc.abstractmethod(lambda self, fn: _asked(self, fn))
    register_prehook = abc.abstractmethod(lambda self, fn: _asked(self, fn))
    _register_hook_dict = abc.abstractmethod(lambda self, hooks: _asked(self, hooks))

    @classmethod
    def __subclasshook__(cls, other):
        if cls is not Node:
            return NotImplemented
        if other is not None and any(getattr(torch._C._functions, c.__name__, None) is c for c in (other,)):
            return True
        return all(hasattr(other, n) for n in ("name", "next_functions", "metadata", "register_hook", "register_prehook")) or NotImplemented


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
    return GradientEdge(*torch._C._gradient_edge(tensor))


def increment_version(tensor):
    """Notes that tensors were written by means that autograd does not see."""
    for t in (tensor,) if isinstance(tensor, torch.Tensor) else _iterated(tensor):
        if not isinstance(t, torch.Tensor):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
        if not t.is_inference():
            torch._C._autograd_bump(t)


def _iterated(x):
    try:
        return iter(x)
    except TypeError:
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input") from None


_execution_order = torch._C._current_graph_task_execution_order


def _current_graph_task_execution_order():
    """The nodes that the pass under way has yet to run."""
    if torch._C._is_multithreading_enabled():
        raise RuntimeError("get_current_graph_task_execution_order expects the current backward to be executed with multithreading disabled, e.g. by running:\n\n"
                           ">>> with torch.autograd.set_multithreading_enabled(False):\n...     torch.autograd.grad(...)\n")
    return _execution_order()


torch._C._current_graph_task_execution_order = _current_graph_task_execution_order


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
    """Calls fn with the gradients of all tensors once a backward pass has those that it computes, or, with the mode any, with the first that it has."""
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    tensors = tuple(tensors)
    lock, passes = threading.Lock(), {}
    nodes = [torch._C._gradient_edge(t)[0] for t in tensors]

    def hook(i, grad):
        task = torch._C._current_graph_task_id()
        with lock:
            if task not in passes:
                passes.clear()  # of passes that are over
                passes[task] = [set(k for k, n in enumerate(nodes) if torch._C._will_engine_execute_node(n)), [None] * len(tensors)]
            waits, grads = passes[task]
            first = grads.count(None) == len(grads)
            waits.discard(i)
            grads[i] = grad
            ready = first if mode == "any" else not waits
            if not waits:
                del passes[task]
        if ready:
            fn(grad if mode == "any" else grads)

    return _MultiHandle([t.register_hook(functools.partial(hook, i)) for i, t in enumerate(tensors)])


class _Kept:
    """A saved tensor: as it is, until it is about to be written, and a copy of it from then on."""

    def __init__(self, tensor):
        self.tensor, self.copied = tensor, False


class _AllowMutationOnSavedContext:
    def __init__(self):
        self.kept = {}  # by the memory that they show

    def clear(self):
        self.kept.clear()

    def save(self, tensor):
        kept = _Kept(tensor)
        self.kept.setdefault(_memory(tensor), []).append(weakref.ref(kept))
        return kept

    def about_to_write(self, tensor):
        """Copies what shows the memory of a tensor."""
        for ref in self.kept.pop(_memory(tensor), ()):
            kept = ref()
            if kept is not None:
                with torch.no_grad():
                    kept.tensor, kept.copied = kept.tensor.detach().clone(), True


def _memory(tensor):
    return tensor.untyped_storage().data_ptr()


_mutation = []  # the context that is entered


@contextlib.contextmanager
def allow_mutation_on_saved_tensors():
    """Within, a tensor that is saved for the backward pass may be written: the pass sees it as it was."""
    from torch.utils._python_dispatch import TorchDispatchMode

    ctx = _AllowMutationOnSavedContext()

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            for k, arg in enumerate(func._schema.arguments):
                if arg.alias_info is not None and arg.alias_info.is_write:
                    value = args[k] if k < len(args) else kwargs.get(arg.name)
                    for t in value if isinstance(value, (list, tuple)) else (value,):
                        if isinstance(t, torch.Tensor):
                            ctx.about_to_write(t)
            return func(*args, **kwargs)

    def unpack(kept):
        if not _mutation or _mutation[-1] is not ctx:
            raise AssertionError("Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was originally recorded.")
        return kept.tensor

    with saved_tensors_hooks(ctx.save, unpack), Watch():
        try:
            if _mutation:
                raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
            _mutation.append(ctx)
            yield ctx
        finally:
            ctx.clear()
            if _mutation and _mutation[-1] is ctx:
                _mutation.pop()


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
