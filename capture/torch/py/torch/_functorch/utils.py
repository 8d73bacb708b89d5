"""What the transformations share."""
import contextlib
from typing import Tuple, Union

import torch

argnums_t = Union[int, Tuple[int, ...]]


def exposed_in(module):
    def wrapper(fn):
        fn.__module__ = module
        return fn

    return wrapper


@contextlib.contextmanager
def enable_single_level_autograd_function():
    yield


def unwrap_dead_wrappers(args):
    return tuple(torch._C._functorch.unwrap_if_dead(arg) if isinstance(arg, torch.Tensor) else arg for arg in args)
