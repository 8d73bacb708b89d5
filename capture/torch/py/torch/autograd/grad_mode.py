"""Switching the recording of gradients."""
import functools

import torch


class _Mode:
    """A context manager that is a decorator too."""

    def __call__(self, func):
        if isinstance(func, type):
            return func

        @functools.wraps(func)
        def wrapped(*args, **kwargs):
            with self.clone():
                return func(*args, **kwargs)

        return wrapped

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
        if self.mode:
            torch._C._set_grad_enabled(False)

    def __exit__(self, exc_type, exc_value, traceback):
        torch._C._set_grad_enabled(self.prev)

    def clone(self):
        return type(self)(self.mode)
