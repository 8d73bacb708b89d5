"""Functions that are methods of arrays."""
from numpy._core import _methods
from numpy._core import _multiarray_umath as mu
from numpy._core._multiarray_umath import asanyarray, asarray, ndarray

_given = object()


def _call(a, name, *args, **kw):
    """The method of an object, or of the array that it makes."""
    f = getattr(a, name, None)
    if f is None or isinstance(a, (int, float, complex)) and not isinstance(a, mu.generic):
        return getattr(asarray(a), name)(*args, **kw)
    try:
        return f(*args, **kw)
    except TypeError:
        if isinstance(a, (ndarray, mu.generic)):
            raise
        return getattr(asarray(a), name)(*args, **kw)


def _set(**kw):
    return {k: v for k, v in kw.items() if v is not _given}


def _reduction(name, ufunc):
    def f(a, axis=None, dtype=None, out=None, keepdims=_given, initial=_given, where=_given):
        if isinstance(a, ndarray):
            return getattr(a, name)(axis, dtype, out, **_set(keepdims=keepdims, initial=initial, where=where))
        if not isinstance(a, (list, tuple, int, float, complex, mu.generic)) and hasattr(a, name):
            return getattr(a, name)(axis=axis, dtype=dtype, out=out, **_set(keepdims=keepdims, initial=initial, where=where))
        return ufunc.reduce(asarray(a), axis=axis, dtype=dtype, out=out, **_set(keepdims=keepdims, initial=initial, where=where))
    f.__name__ = f.__qualname__ = name
    return f


def _extreme(name, ufunc, method):
    def f(a, axis=None, out=None, keepdims=_given, initial=_given, where=_given):
        if not isinstance(a, (ndarray, list, tuple, int, float, complex, mu.generic)) and hasattr(a, method):
            return getattr(a, method)(axis=axis, out=out, **_set(keepdims=keepdims, initial=initial, where=where))
        return ufunc.reduce(asarray(a), axis=axis, out=out, **_set(keepdims=keepdims, initial=initial, where=where))
    f.__name__ = f.__qualname__ = name
    return f


sum = _reduction("sum", mu.add)
prod = _reduction("prod", mu.multiply)
max = amax = _extreme("max", mu.maximum, "max")
min = amin = _extreme("min", mu.minimum, "min")


def any(a, axis=None, out=None, keepdims=_given, *, where=_given):
    return asanyarray(a).any(axis, out, **_set(keepdims=keepdims, where=where))


def all(a, axis=None, out=None, keepdims=_given, *, where=_given):
    return asanyarray(a).all(axis, out, **_set(keepdims=keepdims, where=where))


def mean(a, axis=None, dtype=None, out=None, keepdims=_given, *, where=_given):
    kw = _set(keepdims=keepdims, where=where)
    if type(a) is not ndarray and hasattr(a, "mean"):
        return a.mean(axis=axis, dtype=dtype, out=out, **kw)
    return _methods._mean(a, axis, dtype, out, **kw)


def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=_given, *, where=_given, mean=_given, correction=_given):
    return _methods._std(a, axis, dtype, out, **_spread(ddof, correction), **_set(keepdims=keepdims, where=where, mean=mean))


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=_given, *, where=_given, mean=_given, correction=_given):
    return _methods._var(a, axis, dtype, out, **_spread(ddof, correction), **_set(keepdims=keepdims, where=where, mean=mean))


def _spread(ddof, correction):
    if correction is _given:
        return {"ddof": ddof}
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return {"ddof": correction}


def ptp(a, axis=None, out=None, keepdims=False):
    return _methods._ptp(asanyarray(a), axis, out, keepdims)


def clip(a, a_min=None, a_max=None, out=None, *, min=None, max=None, **kw):
    return _methods._clip(asanyarray(a), a_min if min is None else min, a_max if max is None else max, out, **kw)


def round(a, decimals=0, out=None):
    return _methods._round(asanyarray(a), decimals, out)


around = round


def reshape(a, /, shape=None, order="C", *, newshape=None, copy=None):
    if shape is None:
        shape = newshape
    r = _call(a, "reshape", shape, order=order)
    return r.copy() if copy and isinstance(r, ndarray) else r


def ravel(a, order="C"):
    return asanyarray(a).ravel(order=order)


def transpose(a, axes=None):
    return _call(a, "transpose", axes)


permute_dims = transpose


def matrix_transpose(x, /):
    return asanyarray(x).mT


def swapaxes(a, axis1, axis2):
    return _call(a, "swapaxes", axis1, axis2)


def squeeze(a, axis=None):
    return asanyarray(a).squeeze(axis=axis)


def diagonal(a, offset=0, axis1=0, axis2=1):
    return asanyarray(a).diagonal(offset, axis1, axis2)


def trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    return asanyarray(a).trace(offset, axis1, axis2, dtype, out)


def take(a, indices, axis=None, out=None, mode="raise"):
    return _call(a, "take", indices, axis=axis, out=out, mode=mode)


def put(a, ind, v, mode="raise"):
    return a.put(ind, v, mode)


def choose(a, choices, out=None, mode="raise"):
    return asarray(a).choose(choices, out=out, mode=mode)


def repeat(a, repeats, axis=None):
    return _call(a, "repeat", repeats, axis=axis)


def compress(condition, a, axis=None, out=None):
    return asarray(a).compress(condition, axis=axis, out=out)


def nonzero(a):
    return _call(a, "nonzero")


def cumsum(a, axis=None, dtype=None, out=None):
    return _call(a, "cumsum", axis=axis, dtype=dtype, out=out)


def cumprod(a, axis=None, dtype=None, out=None):
    return _call(a, "cumprod", axis=axis, dtype=dtype, out=out)


def _cumulative(x, ufunc, axis, dtype, out, first):
    x = asarray(x)
    if axis is None:
        if x.ndim > 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        axis = 0
    r = ufunc.accumulate(x, axis=axis, dtype=dtype, out=out)
    if first is not None:
        shape = list(r.shape)
        shape[axis] = 1
        head = mu.zeros(shape, r.dtype)
        head.fill(first)
        r = mu.concatenate((head, r), axis=axis)
    return r


def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    return _cumulative(x, mu.add, axis, dtype, out, 0 if include_initial else None)


def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    return _cumulative(x, mu.multiply, axis, dtype, out, 1 if include_initial else None)


def argmax(a, axis=None, out=None, *, keepdims=False):
    return _call(a, "argmax", axis=axis, out=out, **({"keepdims": True} if keepdims else {}))


def argmin(a, axis=None, out=None, *, keepdims=False):
    return _call(a, "argmin", axis=axis, out=out, **({"keepdims": True} if keepdims else {}))


def sort(a, axis=-1, kind=None, order=None, *, stable=None):
    if axis is None:
        a = asanyarray(a).flatten()
        axis = -1
    else:
        a = asanyarray(a).copy(order="K")
    a.sort(axis=axis)
    return a


def argsort(a, axis=-1, kind=None, order=None, *, stable=None):
    return _call(a, "argsort", axis=axis)


def partition(a, kth, axis=-1, kind="introselect", order=None):
    return sort(a, axis)


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    return argsort(a, axis)


def searchsorted(a, v, side="left", sorter=None):
    return asarray(a).searchsorted(v, side=side, sorter=sorter)


def resize(a, new_shape):
    shape = (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
    a = ravel(a)
    n = 1
    for d in shape:
        n *= d
        if d < 0:
            raise ValueError("all elements of `new_shape` must be non-negative")
    if a.size == 0 or n == 0:
        return mu.zeros(shape, a.dtype)
    return mu.concatenate((a,) * -(-n // a.size))[:n].reshape(shape)


def ndim(a):
    try:
        return a.ndim
    except AttributeError:
        return asarray(a).ndim


def shape(a):
    try:
        return a.shape
    except AttributeError:
        return asarray(a).shape


def size(a, axis=None):
    if axis is None:
        try:
            return a.size
        except AttributeError:
            return asarray(a).size
    return shape(a)[axis]


def copy(a, order="K", subok=False):
    return mu.array(a, order=order if order != "K" else None, copy=True)


def astype(x, dtype, /, *, copy=True, device=None):
    if not isinstance(x, ndarray):
        raise TypeError(f"Input should be a NumPy array. It is of type {type(x)}.")
    return x.astype(dtype, copy=copy)
