import functools

from torch._C import _dynamo as _native


def is_compiling():
    return _native.is_compiling()


def wrap_inline(fn):
    """A frame to capture around something whose own frames belong to the library."""

    def inner(*args, **kwargs):
        return fn(*args, **kwargs)

    return inner


def wrap_numpy(f):
    """A function on numpy's arrays as one on tensors, which a graph and gradients can go through."""

    @functools.wraps(f)
    def wrap(*args, **kwargs):
        import numpy as np
        import torch
        from torch.utils._pytree import tree_map_only

        args, kwargs = tree_map_only(torch.Tensor, lambda x: x.numpy(), (args, kwargs))
        return tree_map_only(np.ndarray, lambda x: torch.as_tensor(x), f(*args, **kwargs))

    return wrap
