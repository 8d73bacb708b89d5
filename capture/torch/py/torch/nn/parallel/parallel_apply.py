"""Several modules at once, each on a device of its own, which are not here."""
import torch

__all__ = ["get_a_var", "parallel_apply"]


def get_a_var(obj):
    """Some tensor in a container; None if there is none."""
    if isinstance(obj, torch.Tensor):
        return obj
    if isinstance(obj, (list, tuple)):
        found = map(get_a_var, obj)
    elif isinstance(obj, dict):
        found = map(get_a_var, obj.items())
    else:
        return None
    return next((x for x in found if isinstance(x, torch.Tensor)), None)


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    assert len(modules) == len(inputs), f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}"
    if kwargs_tup is None:
        kwargs_tup = ({},) * len(modules)
    assert len(modules) == len(kwargs_tup)
    if devices is not None:
        assert len(modules) == len(devices)
    raise AssertionError("Torch not compiled with CUDA enabled")
