"""Processes that compute together: groups of this process alone, by which programs that are written for many run as one."""
from torch.distributed import distributed_c10d
from torch.distributed.distributed_c10d import *
from torch.distributed.distributed_c10d import _all_gather_base, _get_default_group, _reduce_scatter_base


def is_available():
    return True


def get_debug_level():
    return "OFF"


def __getattr__(name):
    import importlib

    if name in ("nn", "optim", "launch", "algorithms", "device_mesh"):
        try:
            return importlib.import_module("torch.distributed." + name)
        except ModuleNotFoundError:
            pass
    raise AttributeError(f"module 'torch.distributed' has no attribute '{name}'")
