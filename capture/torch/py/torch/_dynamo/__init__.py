"""Capture: what torch.compile does to a Python function."""
import functools
import inspect
import os

import torch
import torch._logging
from torch._C import _dynamo as _native
from torch._dynamo import config, exc
from torch._dynamo.convert_frame import replay
from torch._dynamo.callback import callback_handler, on_compile_end, on_compile_start
from torch._dynamo.backends.registry import list_backends, lookup_backend, register_backend
from torch._dynamo.decorators import allow_in_graph, assume_constant_result, disable, disallow_in_graph, forbid_in_graph, graph_break, mark_dynamic, mark_static, mark_static_address, mark_unbacked, maybe_mark_dynamic, run, set_stance, substitute_in_graph
from torch._dynamo.eval_frame import OptimizedModule, explain, export, innermost_fn, optimize, optimize_assert
from torch._dynamo.exc import Unsupported


def reset():
    from torch._dynamo import utils

    _native.reset()
    utils.reset_frame_count()
    callback_handler.clear()


def reset_code_caches():
    _native.reset()


def is_compiling():
    return _native.is_compiling()


def is_dynamo_supported():
    return True


def is_inductor_supported():
    """Whether there is what compiles generated code."""
    import shutil

    return shutil.which(os.environ.get("CXX", "g++")) is not None


def __getattr__(name):
    import importlib

    try:
        return importlib.import_module("torch._dynamo." + name)
    except ModuleNotFoundError:
        raise AttributeError(f"module 'torch._dynamo' has no attribute '{name}'") from None
