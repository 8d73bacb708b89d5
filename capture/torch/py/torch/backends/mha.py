"""Whether attention may be computed by one operator for all of it, where nothing needs a gradient."""
import torch

_is_fastpath_enabled = True


def get_fastpath_enabled():
    return torch.jit.is_scripting() or _is_fastpath_enabled


def set_fastpath_enabled(value):
    global _is_fastpath_enabled
    _is_fastpath_enabled = value
