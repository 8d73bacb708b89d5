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
