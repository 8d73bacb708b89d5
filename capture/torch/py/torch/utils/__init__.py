"""Parts around tensors and modules. They are imported when they are first named."""
import sys as _sys

_PARTS = ("checkpoint", "data")


def __getattr__(name):
    if name in _PARTS:
        __import__("torch.utils." + name)
        return _sys.modules["torch.utils." + name]
    raise AttributeError(f"module 'torch.utils' has no attribute '{name}'")
