"""The constructors that came before dtypes: torch.FloatTensor and its like."""
import torch
from torch import _C

_NAMES = {
    "DoubleTensor": "float64", "FloatTensor": "float32", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16", "LongTensor": "int64", "IntTensor": "int32",
    "ShortTensor": "int16", "CharTensor": "int8", "ByteTensor": "uint8", "BoolTensor": "bool", "ComplexDoubleTensor": "complex128", "ComplexFloatTensor": "complex64",
}


class tensortype(type):
    """The class of the constructors: they make plain tensors, and tensors of their dtype are their instances."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, torch.Tensor) and instance.dtype == cls.dtype and cls._where == instance.device.type

    def __call__(cls, *args, device=None, **kwargs):
        if cls._where != "cpu":
            raise TypeError(f"type {cls.__module__}.{cls.__name__} not available. Torch not compiled with CUDA enabled.")
        if len(args) == 1 and hasattr(args[0], "untyped"):
            args = (args[0]._flat() if hasattr(args[0], "_flat") else args[0]._bytes,)
        return _C._legacy_tensor(cls.dtype, *args)

    def __repr__(cls):
        return f"<class '{cls.__module__}.{cls.__name__}'>"

    @property
    def is_cuda(cls):
        return cls._where == "cuda"


def _classes(module, where):
    return {n: tensortype(n, (), {"dtype": getattr(torch, d), "layout": torch.strided, "is_sparse": False, "_where": where, "__module__": module, "__qualname__": n})
            for n, d in _NAMES.items()}


def _new(tensor, *args, device=None, **kwargs):
    """Tensor.new: a tensor of the same dtype, from what the constructors take. What a size asks for depends on no data, and is made in a graph, too."""
    sizes = args or (0,)
    if len(sizes) == 1 and isinstance(sizes[0], torch.Size):
        sizes = tuple(sizes[0])
    if all(isinstance(n, (int, torch.SymInt)) and not isinstance(n, bool) for n in sizes):
        return tensor.new_empty(sizes) if device is None else tensor.new_empty(sizes, device=device)
    return _C._legacy_tensor(tensor.dtype, *args)


def set_default_tensor_type(t):
    if isinstance(t, str):
        name = t.removeprefix("torch.")
        if not t.startswith("torch.") or name not in _NAMES:
            raise TypeError("invalid type name" if "." not in t else f"invalid type object")
        t = getattr(torch, name)
    if not isinstance(t, tensortype):
        raise TypeError("invalid type object")
    if not t.dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    torch.set_default_dtype(t.dtype)
