"""Axes, casts and errors that all of the package needs."""

import operator

import torch

from . import _dtypes_impl


class AxisError(ValueError, IndexError):
    """An axis that the array has not."""


class UFuncTypeError(TypeError, RuntimeError):
    """Types that a ufunc does not take."""


def is_sequence(seq):
    try:
        return not isinstance(seq, str) and len(seq) >= 0
    except Exception:
        return False


def cast_if_needed(tensor, dtype):
    return tensor if dtype is None or tensor.dtype == dtype else tensor.to(dtype)


def cast_int_to_float(x):
    return x.to(_dtypes_impl.default_dtypes().float_dtype) if _dtypes_impl._category(x.dtype) < 2 else x


def typecast_tensor(t, target_dtype, casting):
    """t in another type, if the rule allows that."""
    if not _dtypes_impl.can_cast_impl(t.dtype, target_dtype, casting):
        raise TypeError(f"Cannot cast array data from {t.dtype} to {target_dtype} according to the rule '{casting}'")
    return cast_if_needed(t, target_dtype)


def typecast_tensors(tensors, target_dtype, casting):
    return tuple([typecast_tensor(t, target_dtype, casting) for t in tensors])


def together(*tensors):
    """The tensors in the type that holds them all."""
    dtype = _dtypes_impl.result_type_impl(*tensors)
    return tuple(cast_if_needed(t, dtype) for t in tensors)


def normalize_axis_index(ax, ndim, argname=None):
    if -ndim <= ax < ndim:
        return ax + ndim if ax < 0 else ax
    raise AxisError(f"axis {ax} is out of bounds for array of dimension {ndim}")


def normalize_axis_tuple(axis, ndim, argname=None, allow_duplicate=False):
    if not isinstance(axis, (tuple, list)):
        axis = (operator.index(axis),) if hasattr(axis, "__index__") else axis
    axes = tuple(normalize_axis_index(ax, ndim, argname) for ax in axis)
    if not allow_duplicate and len({int(ax) for ax in axes}) < len(axes):
        raise ValueError(f"repeated axis in `{argname}` argument" if argname else "repeated axis")
    return axes


def allow_only_single_axis(axis):
    if axis is None:
        return None
    if len(axis) != 1:
        raise NotImplementedError("does not handle tuple axis")
    return axis[0]


def expand_shape(arr_shape, axis):
    """The shape with ones put in, so that they stand at the given axes."""
    axes = axis if isinstance(axis, (list, tuple)) else (axis,)
    ndim = len(arr_shape) + len(axes)
    axes = normalize_axis_tuple(axes, ndim)
    shape = list(arr_shape)
    for ax in sorted(axes):
        shape.insert(ax, 1)
    return shape


def apply_keepdims(tensor, axis, ndim):
    """A reduction's result with the axes back that were reduced, one long."""
    if axis is None:
        return tensor.expand((1,) * ndim).contiguous()
    return tensor.reshape(expand_shape(tensor.shape, axis))


def axis_none_flatten(*tensors, axis=None):
    if axis is not None:
        return tensors, axis
    return tuple(t.flatten() for t in tensors), 0


def _try_convert_to_tensor(obj):
    try:
        return torch.as_tensor(obj)
    except Exception as e:
        raise NotImplementedError(f"failed to convert {obj} to ndarray. \nInternal error is: {e}.") from None


def _coerce_to_tensor(obj, dtype=None, copy=False, ndmin=0):
    """What array() does of obj, which is no array of this package. Python's floats are taken as NumPy takes them."""
    if isinstance(obj, torch.Tensor):
        t = obj
    else:
        t = _try_convert_to_tensor(obj)
        wanted = _dtypes_impl.get_default_dtype_for(t.dtype)
        if t.dtype != wanted and (t.is_floating_point() or t.is_complex()) and not hasattr(obj, "dtype"):
            t = torch.as_tensor(obj, dtype=wanted)  # anew, as digits are lost in torch's default
    t = cast_if_needed(t, dtype)
    if t.ndim < ndmin:
        t = t.view((1,) * (ndmin - t.ndim) + t.shape)
    return t.clone() if copy else t


def ndarrays_to_tensors(*inputs):
    """The arrays among the arguments, and in tuples of them, as tensors."""
    from ._ndarray import ndarray

    def convert(x):
        if isinstance(x, ndarray):
            return x.tensor
        if isinstance(x, tuple):
            return tuple(convert(y) for y in x)
        return x

    if not inputs:
        return ValueError()
    return convert(inputs[0] if len(inputs) == 1 else inputs)
