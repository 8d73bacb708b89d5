"""Parts around tensors and modules. They are imported when they are first named."""
_PARTS = ("checkpoint", "data", "hooks")


def __getattr__(name):
    if name in _PARTS:
        import importlib

        return importlib.import_module("torch.utils." + name)
    raise AttributeError(f"module 'torch.utils' has no attribute '{name}'")
