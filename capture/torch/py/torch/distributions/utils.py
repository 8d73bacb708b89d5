"""Parameters of distributions: broadcast to one shape, and computed when asked for."""
from functools import update_wrapper
from numbers import Number

import torch
from torch.nn import functional as F

euler_constant = 0.57721566490153286060


def broadcast_all(*values):
    if not all(isinstance(v, (torch.Tensor, Number)) for v in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__.")
    tensors = [v for v in values if isinstance(v, torch.Tensor)]
    dtype = tensors[0].dtype if tensors else torch.get_default_dtype()
    return torch.broadcast_tensors(*[v if isinstance(v, torch.Tensor) else torch.tensor(v, dtype=dtype) for v in values])


def logits_to_probs(logits, is_binary=False):
    return torch.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def clamp_probs(probs):
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    probs = clamp_probs(probs)
    return torch.log(probs) - torch.log1p(-probs) if is_binary else torch.log(probs)


def binary_cross_entropy(logits, value):
    return F.binary_cross_entropy_with_logits(logits, value, reduction="none")


class lazy_property:
    """A property that is computed once."""

    def __init__(self, wrapped):
        self.wrapped = wrapped
        update_wrapper(self, wrapped)

    def __get__(self, instance, obj_type=None):
        if instance is None:
            return self
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value
