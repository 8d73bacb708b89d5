"""invoke_subgraph: a function that is compiled once, however often it is called."""
import functools

import torch
from torch._ops import HigherOrderOperator


def _invoke(subgraph, identifier, operands, kwargs=None):
    return subgraph(*operands, **(kwargs or {}))


invoke_subgraph = HigherOrderOperator("invoke_subgraph", _invoke)


def mark_compile_region(fn=None):
    """Makes calls of a function in compiled code calls of one body."""

    def wrap(func):
        @functools.wraps(func)
        def inner(*args, **kwargs):
            if not torch.compiler.is_dynamo_compiling():
                return func(*args, **kwargs)
            return invoke_subgraph(func, None, args, kwargs)

        return inner

    return wrap(fn) if fn else wrap
