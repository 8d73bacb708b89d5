"""Parts around tensors and modules. They are imported when they are first named."""
import sys as _sys

_PARTS = ("checkpoint", "data", "hooks", "model_zoo", "_pytree", "_python_dispatch", "cpp_extension", "benchmark", "dlpack",
          "backend_registration")


def __getattr__(name):
    if name in _PARTS:
        try:
            __import__("torch.utils." + name)
            return _sys.modules["torch.utils." + name]
        except ModuleNotFoundError as e:
            if e.name != "torch.utils." + name:
                raise
    raise AttributeError(f"module 'torch.utils' has no attribute '{name}'")
