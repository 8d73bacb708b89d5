"""Operators that are nothing but their body, and those that run it in a mode."""
import torch
from torch._ops import HigherOrderOperator, ops

tag_activation_checkpoint = ops.higher_order.tag_activation_checkpoint
wrap = ops.higher_order.wrap
wrap_activation_checkpoint = ops.higher_order.wrap_activation_checkpoint


def _disabled(fn):
    from torch._dynamo import disable

    return disable(fn)


def _set_grad_enabled(enable_grad, wrapped_func, *args, **kwargs):
    with torch.set_grad_enabled(enable_grad):
        return _disabled(wrapped_func)(*args, **kwargs)


def _autocast(device_type, dtype, enabled, cache_enabled, wrapped_func, *args, **kwargs):
    with torch.autocast(device_type, dtype, enabled, cache_enabled):
        return _disabled(wrapped_func)(*args, **kwargs)


wrap_with_set_grad_enabled = HigherOrderOperator("wrap_with_set_grad_enabled", _set_grad_enabled)
wrap_with_autocast = HigherOrderOperator("wrap_with_autocast", _autocast)
