"""Automatic mixed precision: matrix products in a lower precision, what is sensitive in float32."""
import functools
import warnings

import torch
from torch._C import _enter_autocast, _exit_autocast


def is_autocast_available(device_type):
    return device_type in ("cpu", "cuda")


def autocast_decorator(autocast_instance, func):
    """func inside of the region at every call."""

    @functools.wraps(func)
    def decorate_autocast(*args, **kwargs):
        with autocast_instance:
            return func(*args, **kwargs)

    return decorate_autocast


class autocast:
    """Context manager and decorator; on the CPU it computes in bfloat16 or float16."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if device_type not in ("cpu", "cuda"):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device = device_type
        self.fast_dtype = dtype if dtype is not None else torch.get_autocast_dtype(device_type)
        if device_type == "cuda" and enabled:
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling")
            enabled = False
        if device_type == "cpu" and enabled and self.fast_dtype not in (torch.bfloat16, torch.float16):
            warnings.warn(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                "CPU Autocast only supports dtype of torch.bfloat16, torch.float16 currently."
            )
            enabled = False
        self._enabled = enabled
        if cache_enabled is None and not torch.compiler.is_compiling():  # graphs have it as it was given
            cache_enabled = torch.is_autocast_cache_enabled()
        self._cache_enabled = cache_enabled
        self._mode = None

    def __enter__(self):
        self._mode = _enter_autocast(self.device, self.fast_dtype, self._enabled, self._cache_enabled)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        _exit_autocast(self._mode)
        return False

    def __call__(self, func):
        return autocast_decorator(self, func)
