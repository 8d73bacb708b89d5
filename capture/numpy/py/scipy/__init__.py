"""The parts of SciPy that programs for PyTorch use and that need NumPy alone. What else SciPy has can be imported, and refuses to work."""
import importlib

from . import _absent

__version__ = "1.15.3"


def __getattr__(name):
    if name in _absent.modules:
        return importlib.import_module("scipy." + name)
    raise AttributeError(f"module 'scipy' has no attribute '{name}'")


def __dir__():
    return [*globals(), *_absent.modules]
