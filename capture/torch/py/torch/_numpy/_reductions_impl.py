"""The functions that reduce an array along some of its axes, or sum up along one."""

import functools

import torch

from . import _dtypes_impl, _util
from ._normalizations import array, array_or_none, axes, keep, normalizer, refused, renamed, scalar_type, target

_before = set(globals())


def _reduction(function):
    """Make a function of a tensor and a tuple of axes one of the API. No axes at all are one of length one."""

    @functools.wraps(function)
    def wrapped(a, axis=None, *args, **kwds):
        over = None if axis is None else _util.normalize_axis_tuple(axis, a.ndim)
        if over == ():
            a, over = a[None], (0,)
        return function(a, over, *args, **kwds)

    return normalizer(wrapped)


def _along(axis):
    return {} if axis is None else {"dim": axis}


def _along_one(axis):
    return _along(_util.allow_only_single_axis(axis))


def _summed(dtype):
    return _dtypes_impl.default_dtypes().int_dtype if dtype == torch.bool else dtype


def _floating(dtype, other):
    dtype = other if dtype is None else dtype
    return dtype if dtype.is_floating_point or dtype.is_complex else _dtypes_impl.default_dtypes().float_dtype


def _ordered(a, name, end="."):
    if a.is_complex():
        raise NotImplementedError(f"{name} with dtype={a.dtype}{end}")
    return a


@_reduction
def count_nonzero(a: array, axis: axes = None, *, keepdims: keep = False):
    return a.count_nonzero(axis)


def _index_of(function, a, axis, name):
    _ordered(a, name)
    return function(a.to(torch.uint8) if a.dtype == torch.bool else a, _util.allow_only_single_axis(axis))


@_reduction
def argmax(a: array, axis: axes = None, out: target = None, *, keepdims: keep = False):
    return _index_of(torch.argmax, a, axis, "argmax")


@_reduction
def argmin(a: array, axis: axes = None, out: target = None, *, keepdims: keep = False):
    return _index_of(torch.argmin, a, axis, "argmin")


@_reduction
def any(a: array, axis: axes = None, out: target = None, keepdims: keep = False, *, where: refused = None):
    return torch.any(a, **_along_one(axis))


@_reduction
def all(a: array, axis: axes = None, out: target = None, keepdims: keep = False, *, where: refused = None):
    return torch.all(a, **_along_one(axis))


@_reduction
def amax(a: array, axis: axes = None, out: target = None, keepdims: keep = False, initial: refused = None, where: refused = None):
    return _ordered(a, "amax", "").amax(axis if axis is not None else ())


@_reduction
def amin(a: array, axis: axes = None, out: target = None, keepdims: keep = False, initial: refused = None, where: refused = None):
    return _ordered(a, "amin", "").amin(axis if axis is not None else ())


max = renamed(amax, "max")
min = renamed(amin, "min")


@_reduction
def ptp(a: array, axis: axes = None, out: target = None, keepdims: keep = False):
    over = () if axis is None else axis
    return a.amax(over) - a.amin(over)


@_reduction
def sum(
    a: array, axis: axes = None, dtype: scalar_type = None, out: target = None, keepdims: keep = False, initial: refused = None, where: refused = None
):
    return a.sum(dtype=_summed(dtype), **_along(axis))


@_reduction
def prod(
    a: array, axis: axes = None, dtype: scalar_type = None, out: target = None, keepdims: keep = False, initial: refused = None, where: refused = None
):
    return a.prod(dtype=_summed(dtype), **_along_one(axis))


product = renamed(prod, "product")


@_reduction
def mean(a: array, axis: axes = None, dtype: scalar_type = None, out: target = None, keepdims: keep = False, *, where: refused = None):
    return a.mean(dtype=_floating(dtype, a.dtype), **_along(axis))


@_reduction
def std(a: array, axis: axes = None, dtype: scalar_type = None, out: target = None, ddof=0, keepdims: keep = False, *, where: refused = None):
    result = _util.cast_if_needed(a, _floating(dtype, a.dtype)).std(dim=axis, correction=ddof)
    return _util.cast_if_needed(result, dtype)


@_reduction
def var(a: array, axis: axes = None, dtype: scalar_type = None, out: target = None, ddof=0, keepdims: keep = False, *, where: refused = None):
    result = _util.cast_if_needed(a, _floating(dtype, a.dtype)).var(dim=axis, correction=ddof)
    return _util.cast_if_needed(result, dtype)


def _running(method, a, axis, dtype):
    dtype = a.dtype if dtype is None else _summed(dtype)
    (a,), axis = _util.axis_none_flatten(a, axis=axis)
    return getattr(a, method)(_util.normalize_axis_index(axis, a.ndim), dtype=dtype)


@normalizer
def cumsum(a: array, axis: axes = None, dtype: scalar_type = None, out: target = None):
    return _running("cumsum", a, axis, dtype)


@normalizer
def cumprod(a: array, axis: axes = None, dtype: scalar_type = None, out: target = None):
    return _running("cumprod", a, axis, dtype)


cumproduct = renamed(cumprod, "cumproduct")


def _check_weights(a, axis, weights):
    """Refuses weights of another shape than the array's that are not one for each index along an axis."""
    if axis is None or weights.ndim != 1:
        what = "Axis must be specified" if axis is None else "1D weights expected"
        raise TypeError(f"{what} when shapes of a and weights differ.")
    if len(weights) != a.shape[axis]:
        raise ValueError("Length of weights not compatible with specified axis.")


@normalizer
def average(a: array, axis=None, weights: array_or_none = None, returned=False, *, keepdims=False):
    over = None if axis is None else _util.normalize_axis_tuple(axis, a.ndim)
    if weights is None:
        result = a.mean(dtype=_floating(None, a.dtype), **_along(over))
        total = torch.as_tensor(a.numel() / result.numel(), dtype=result.dtype)
    else:
        if not a.dtype.is_floating_point:
            a = a.double()
        if weights.shape != a.shape:
            _check_weights(a, axis, weights)
            weights = torch.broadcast_to(weights, (1,) * (a.ndim - 1) + tuple(weights.shape)).swapaxes(-1, axis)
        dtype = _dtypes_impl.result_type_impl(a, weights)
        total = weights.sum(dtype=dtype, **_along(over))
        result = (a * weights).sum(dtype=dtype, **_along(over)) / total
    if keepdims:
        result = _util.apply_keepdims(result, axis, a.ndim)
    if not returned:
        return result
    return result, total if total.shape == result.shape else torch.broadcast_to(total, result.shape).clone()


def _quantile(a, q, axis, method):
    real = a.dtype if a.dtype.is_floating_point else _dtypes_impl.default_dtypes().float_dtype
    a = _util.cast_if_needed(a, torch.float32 if real == torch.float16 else real)
    if axis is None:
        a, q, over = a.flatten(), q.flatten(), 0
    else:
        over = _util.allow_only_single_axis(_util.normalize_axis_tuple(axis, a.ndim))
    return torch.quantile(a, _util.cast_if_needed(q, a.dtype), dim=over, interpolation=method)


@normalizer(promote_scalar_result=True)
def quantile(
    a: array, q: array, axis: axes = None, out: target = None, overwrite_input=False, method="linear", keepdims: keep = False, *, interpolation: refused = None
):
    return _quantile(a, q, axis, method)


@normalizer(promote_scalar_result=True)
def percentile(
    a: array, q: array, axis: axes = None, out: target = None, overwrite_input=False, method="linear", keepdims: keep = False, *, interpolation: refused = None
):
    if _dtypes_impl.python_type_for_torch(q.dtype) is int:
        q = q.to(_dtypes_impl.default_dtypes().float_dtype)
    return _quantile(a, q / 100.0, axis, method)


@normalizer(promote_scalar_result=True)
def median(a: array, axis=None, out: target = None, overwrite_input=False, keepdims: keep = False):
    return _quantile(a, torch.as_tensor(0.5), axis, "linear")


__all__ = [name for name in globals() if name not in _before and not name.startswith("_")]
