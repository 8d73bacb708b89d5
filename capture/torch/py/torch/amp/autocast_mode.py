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
        fast = dtype if dtype is not None else torch.get_autocast_dtype(device_type)
        self.fast_dtype = dtype if torch.compiler.is_compiling() else fast  # graphs have it as it was given
        if device_type == "cuda" and enabled:
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling")
            enabled = False
        if device_type == "cpu" and enabled and fast not in (torch.bfloat16, torch.float16):
            warnings.warn(
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                "CPU Autocast only supports dtype of torch.bfloat16, torch.float16 currently."
            )
            enabled = False
        self._enabled = enabled
        if cache_enabled is None and not torch.compiler.is_compiling():
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


def _cast(value, device_type, dtype):
    """Tensors of floating point, but for float64, in another dtype; containers of them too."""
    if isinstance(value, torch.Tensor):
        if value.is_floating_point() and value.device.type == device_type and value.dtype is not torch.float64:
            return value.to(dtype)
        return value
    if isinstance(value, dict):
        return {_cast(k, device_type, dtype): _cast(v, device_type, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(v, device_type, dtype) for v in value)
    return value


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """For forward of an autograd.Function: backward runs with autocast as it is here, or, with cast_inputs, both run without it."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorate_fwd(*args, **kwargs):
        args[0]._dtype = torch.get_autocast_dtype(device_type)
        enabled = torch.is_autocast_enabled(device_type)
        args[0]._fwd_used_autocast = enabled and cast_inputs is None
        if cast_inputs is None or not enabled:
            return fwd(*args, **kwargs)
        with autocast(device_type=device_type, enabled=False):
            return fwd(*_cast(args, device_type, cast_inputs), **_cast(kwargs, device_type, cast_inputs))

    return decorate_fwd


def custom_bwd(bwd=None, *, device_type):
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorate_bwd(*args, **kwargs):
        with autocast(device_type=device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return decorate_bwd
