import inspect
import textwrap

import torch
from torch import _C


def symbolic_trace(root, concrete_args=None):
    """The graph of a module whose forward is straight-line code, as FX itself writes it. It is read and not run: where it branches, loops or calls
    other functions of Python, it is not understood."""
    if concrete_args is not None:
        raise NotImplementedError("torch.fx.symbolic_trace with concrete_args is not supported")
    forward = root.forward if isinstance(root, torch.nn.Module) else root
    code = forward.__code__
    text = "\n" * (code.co_firstlineno - 1) + textwrap.dedent(inspect.getsource(forward))
    return _C._graph_of_source(code.co_filename, text, root)


_is_fx_tracing_flag = False


def is_fx_tracing():
    """Whether FX runs the program to trace it. It reads programs here, and never runs them."""
    return _is_fx_tracing_flag
