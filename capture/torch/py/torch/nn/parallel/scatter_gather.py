"""Arguments spread over devices, and results brought together. There are no devices to spread tensors over."""
from torch import Tensor

__all__ = ["scatter", "scatter_kwargs", "gather", "is_namedtuple"]


def is_namedtuple(obj):
    return isinstance(obj, tuple) and hasattr(obj, "_asdict") and hasattr(obj, "_fields")


def _no_devices():
    raise AssertionError("Torch not compiled with CUDA enabled")


def _rebuilt(like, items):
    """A container of the kind that like is."""
    if is_namedtuple(like):
        return type(like)(*items)
    if isinstance(like, dict):
        return type(like)(items)
    return type(like)(items) if isinstance(like, list) else tuple(items)


def scatter(inputs, target_gpus, dim=0):
    """One set of inputs for each device: tensors in pieces, other values as they are."""
    if isinstance(inputs, Tensor):
        _no_devices()
    if isinstance(inputs, (tuple, list, dict)) and len(inputs) > 0:
        parts = [scatter(x, target_gpus, dim) for x in (inputs.items() if isinstance(inputs, dict) else inputs)]
        return [_rebuilt(inputs, p) for p in zip(*parts)]
    return [inputs for _ in target_gpus]


def scatter_kwargs(inputs, kwargs, target_gpus, dim=0):
    one = scatter(inputs, target_gpus, dim) if inputs else []
    two = scatter(kwargs, target_gpus, dim) if kwargs else []
    one += [() for _ in range(len(two) - len(one))]
    two += [{} for _ in range(len(one) - len(two))]
    return tuple(one), tuple(two)


def gather(outputs, target_device, dim=0):
    """Results of several devices as one on the target: tensors joined along a dimension, containers item by item."""
    first = outputs[0]
    if isinstance(first, Tensor):
        _no_devices()
    if first is None:
        return None
    if isinstance(first, dict):
        if any(len(o) != len(first) for o in outputs):
            raise ValueError("All dicts must have the same number of keys")
        return type(first)((k, gather([o[k] for o in outputs], target_device, dim)) for k in first)
    return _rebuilt(first, [gather(list(x), target_device, dim) for x in zip(*outputs)])
