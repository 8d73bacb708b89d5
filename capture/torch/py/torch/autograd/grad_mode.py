"""Switching the recording of gradients."""
import torch
from torch.utils._contextlib import context_decorator


class _Mode:
    """A context manager that is a decorator too."""

    def __call__(self, func):
        return context_decorator(self.clone, func)

    def clone(self):
        return type(self)()


class no_grad(_Mode):
    def __new__(cls, orig_func=None):
        if orig_func is None:
            return object.__new__(cls)
        return cls()(orig_func)

    def __init__(self):
        self.prev = False

    def __enter__(self):
        self.prev = torch.is_grad_enabled()
        torch._C._set_grad_enabled(False)

    def __exit__(self, exc_type, exc_value, traceback):
        torch._C._set_grad_enabled(self.prev)


class enable_grad(_Mode):
    def __new__(cls, orig_func=None):
        if orig_func is None:
            return object.__new__(cls)
        return cls()(orig_func)

    def __enter__(self):
        self.prev = torch.is_grad_enabled()
        torch._C._set_grad_enabled(True)

    def __exit__(self, exc_type, exc_value, traceback):
        torch._C._set_grad_enabled(self.prev)


class set_grad_enabled(_Mode):
    def __init__(self, mode):
        self.prev = torch.is_grad_enabled()
        self.mode = mode
        torch._C._set_grad_enabled(mode)

    def __call__(self, func):
        torch._C._set_grad_enabled(self.prev)
        return super().__call__(func)

    def __enter__(self):
        torch._C._set_grad_enabled(self.mode)

    def __exit__(self, exc_type, exc_value, traceback):
        torch._C._set_grad_enabled(self.prev)

    def clone(self):
        return type(self)(self.mode)


class inference_mode(_Mode):
    def __new__(cls, mode=True):
        if isinstance(mode, bool):
            return object.__new__(cls)
        return cls()(mode)

    def __init__(self, mode=True):
        self.mode = mode

    def __enter__(self):
        self.prev = torch.is_grad_enabled()
        self._inference_mode_context = torch._C._enter_inference_mode(self.mode)

    def __exit__(self, exc_type, exc_value, traceback):
        torch._C._exit_inference_mode(self._inference_mode_context)

    def clone(self):
        return type(self)(self.mode)


def _enter_inference_mode(mode):
    return torch._C._enter_inference_mode(mode)


def _exit_inference_mode(mode):
    torch._C._exit_inference_mode(mode)


class _Switch(_Mode):
    """A switch of the engine that programs may read back, and that takes no effect here."""

    def __init__(self, mode):
        self.mode, self.prev = bool(mode), self.is_on()
        type(self)._on = self.mode

    def __enter__(self):
        type(self)._on = self.mode

    def __exit__(self, exc_type, exc_value, traceback):
        type(self)._on = self.prev

    def clone(self):
        return type(self)(self.mode)

    @classmethod
    def is_on(cls):
        return cls._on


class set_multithreading_enabled(_Switch):
    """Whether backward passes may use several threads: they use one here in any case."""

    _on = True


torch._C._is_multithreading_enabled = set_multithreading_enabled.is_on


class _force_original_view_tracking(_Switch):
    """Whether the history of a view whose base was written is found by making the view again."""

    _on = False


class _unsafe_preserve_version_counter:
    """What is written within the block counts as not written."""

    def __init__(self, tensors):
        self.tensors = (tensors,) if isinstance(tensors, torch.Tensor) else tuple(tensors)
        self.versions = [t._version for t in self.tensors]

    def __enter__(self):
        pass

    def __exit__(self, *args):
        for t, version in zip(self.tensors, self.versions):
            torch._C._autograd._unsafe_set_version_counter(t, version)
