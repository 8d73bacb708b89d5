"""What tensors with attributes, and those of other classes, are rebuilt by: the name stands in files."""
import warnings

import torch
from torch._utils import _set_obj_state


def _rebuild_from_type_v2(func, new_type, args, state):
    ret = func(*args)
    if type(ret) is not new_type:
        ret = ret.as_subclass(new_type)
    if getattr(ret.__class__, "__setstate__", None) is not None:
        ret.__setstate__(state)
    else:
        ret = _set_obj_state(ret, state)
    return ret


# Methods of Tensor that are written in Python.


def _dlpack(tensor, stream=None):
    from torch.utils.dlpack import to_dlpack

    if tensor.requires_grad:
        raise RuntimeError("Can't export tensors that require gradient, use tensor.detach()")
    if tensor.is_conj():
        raise RuntimeError("Can't export tensors with the conjugate bit set")
    if tensor.layout != torch.strided:
        raise RuntimeError("Can't export tensors with layout other than torch.strided")
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")
    return to_dlpack(tensor)


def _dlpack_device(tensor):
    from torch.utils.dlpack import DLDeviceType

    if tensor.device.type != "cpu":
        raise ValueError(f"Unknown device type {tensor.device.type} for Dlpack")
    return DLDeviceType.kDLCPU, 0


def _get_device(tensor):
    return tensor.device.index if tensor.device.type not in ("cpu", "meta") and tensor.device.index is not None else -1


def _dim_order(tensor):
    return tuple(sorted(range(tensor.dim()), key=lambda d: (-tensor.stride(d), d)))


def _mapped(tensor, others, function, name):
    """Writes what a function gives for each element and those of other tensors at its place."""
    if tensor.requires_grad:
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
    for which, other in zip(("other",) if len(others) == 1 else ("x", "y"), others):
        if not isinstance(other, torch.Tensor):
            raise TypeError(f"{name}(): argument '{which}' (position {others.index(other) + 1}) must be Tensor, not {type(other).__name__}")
        if other.dtype != tensor.dtype:
            raise TypeError(f"{name}: expected {tensor.type()} for '{which}' (got {other.type()})")
    lists = [t.reshape(-1).tolist() for t in (tensor, *(other.expand_as(tensor) for other in others))]
    values = [function(*row) for row in zip(*lists)]
    for value in values:
        if not isinstance(value, (int, float, complex)):
            raise TypeError(f"must be real number, not {type(value).__name__}")
    return tensor.copy_(torch.tensor(values, dtype=tensor.dtype).reshape(tensor.shape))


def _map(tensor, other, callable):
    return _mapped(tensor, (other,), callable, "map_")


def _map2(tensor, x, y, callable):
    return _mapped(tensor, (x, y), callable, "map2_")


def _resized(tensor, *sizes):
    warnings.warn("non-inplace resize is deprecated", stacklevel=2)
    shape = torch.Size(sizes[0]) if len(sizes) == 1 and not isinstance(sizes[0], int) else torch.Size(sizes)
    if shape.numel() != tensor.numel():
        def text(s):
            return "x".join(map(str, s))

        raise RuntimeError(f"requested resize to {text(shape)} ({shape.numel()} elements in total), but the given tensor has a size of {text(tensor.shape)} ({tensor.numel()} elements). "
                           "autograd's resize can only change the shape of a given tensor, while preserving the number of elements. ")
    return tensor.contiguous().view(shape)


def _resized_as(tensor, other):
    warnings.warn("non-inplace resize_as is deprecated", stacklevel=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _resized(tensor, other.shape)


def _is_pinned(tensor, device=None):
    return False


def _module_load(tensor, other, assign=False):
    """What a tensor becomes where Module.load_state_dict swaps it in."""
    return other.detach() if assign else tensor.copy_(other).detach()


def _lu(tensor, pivot=True, get_infos=False):
    lu, pivots, infos = torch._lu_with_info(tensor, pivot=pivot, check_errors=not get_infos)
    return (lu, pivots, infos) if get_infos else (lu, pivots)


def _reinforce(tensor, reward):
    raise RuntimeError("reinforce() was removed. Use torch.distributions instead. See https://pytorch.org/docs/main/distributions.html")


def _has_names(tensor):
    return False


def _removed(message):
    def method(*args, **kwargs):
        raise RuntimeError("This function was deprecated since version 1.9 and is now removed.\n" + message)

    return method


eig = _removed("`torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real tensors mimicking complex tensors.")
symeig = _removed("The default behavior has changed from using the upper triangular portion of the matrix by default to using the lower triangular portion.")
lstsq = _removed("`torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.")
solve = _removed("`torch.solve` is deprecated in favor of `torch.linalg.solve`.")
matrix_rank = _removed("Please use the `torch.linalg.matrix_rank` function instead. The parameter 'symmetric' was renamed in `torch.linalg.matrix_rank()` to 'hermitian'.")
