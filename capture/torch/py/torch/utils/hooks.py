"""Handles of hooks."""
from torch.nn.modules.module import RemovableHandle

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f):
    """Marks a hook that torch.save leaves behind."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor):
    import warnings

    for k, hook in (tensor._backward_hooks or {}).items():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the function with @torch.utils.hooks.unserializable_hook "
                          "to suppress this warning")
