from torch.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter
from torch.nn.modules import *
from torch.nn.modules import __all__ as _modules
from torch.nn import functional, init, parameter, modules, parallel, utils
from torch.nn.parallel import DataParallel

__all__ = list(_modules) + ["Parameter", "UninitializedParameter", "Buffer", "UninitializedBuffer", "DataParallel", "functional", "init"]


def __getattr__(name):
    if name == "attention":  # imported when it is first named
        import importlib

        return importlib.import_module("torch.nn.attention")
    raise AttributeError(f"module 'torch.nn' has no attribute {name!r}")
