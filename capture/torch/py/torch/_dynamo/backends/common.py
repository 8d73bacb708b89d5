"""Backends that are made of compilers of aten graphs."""
import functools
import logging

import torch
from torch._absent import declare

log = logging.getLogger(__name__)


class AotAutograd:
    """A backend that has AOTAutograd make graphs for fw_compiler and bw_compiler."""

    def __init__(self, **kwargs):
        self.__name__ = "compiler_fn"
        self.kwargs = kwargs

    def __call__(self, gm, example_inputs, **kwargs):
        if kwargs:
            log.warning("aot_autograd-based backend ignoring extra kwargs %s", kwargs)
        from torch._functorch.aot_autograd import aot_module_simplified

        return aot_module_simplified(gm, example_inputs, **self.kwargs)


def aot_autograd(**kwargs):
    return AotAutograd(**kwargs)


def fake_tensor_unsupported(fn):
    """For backends that need the values of their arguments."""

    @functools.wraps(fn)
    def wrapper(model, inputs, **kwargs):
        return fn(model, list(inputs), **kwargs)

    return wrapper


def device_from_inputs(example_inputs):
    for x in example_inputs:
        if hasattr(x, "device"):
            return x.device
    return torch.device("cpu")


def dtype_from_inputs(example_inputs):
    for x in example_inputs:
        if hasattr(x, "dtype"):
            return x.dtype
    return torch.float32


declare("mem_efficient_fusion_kwargs")
