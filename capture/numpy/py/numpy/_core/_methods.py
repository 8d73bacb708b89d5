"""Methods of ndarray that are composed of other ones."""
import pickle
import warnings

from numpy._core import _multiarray_umath as mu
from numpy._core._multiarray_umath import add, asarray, asanyarray, divide, multiply, ndarray


def _axes(axis, ndim):
    axes = range(ndim) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
    return [a + ndim if a < 0 else a for a in axes]


def _count(a, axis, where=True):
    """How many elements a reduction sees."""
    if where is not True:
        return add.reduce(mu._broadcast_to(asarray(where), a.shape), axis=axis if axis is None else tuple(_axes(axis, a.ndim)), dtype=mu.int64, keepdims=False)
    n = 1
    for ax in _axes(axis, a.ndim):
        if ax < a.ndim:
            n *= a.shape[ax]
    return n


def _kept(n, keepdims, axis, ndim):
    """A count per place as an array that fits a result with or without its axes of one."""
    if keepdims and isinstance(n, ndarray):
        shape = list(n.shape)
        for ax in sorted(_axes(axis, ndim)):
            shape.insert(ax, 1)
        return n.reshape(shape)
    return n


def _mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    arr = asanyarray(a)
    n = _count(arr, axis, where)
    if not isinstance(n, ndarray) and n == 0:
        warnings.warn("Mean of empty slice.", RuntimeWarning, stacklevel=3)
    half = dtype is None and arr.dtype.char == "e"
    if dtype is None:
        if arr.dtype.kind in "iub":
            dtype = mu.float64
        elif half:
            dtype = mu.float32
    r = add.reduce(arr, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where)
    n = _kept(n, keepdims, axis, arr.ndim)
    if isinstance(r, ndarray):
        r = divide(r, n, out=r, casting="unsafe")
        return arr.dtype.type(r) if half and out is None else r
    if hasattr(r, "dtype"):
        return (arr.dtype if half else r.dtype).type(divide(r, mu.float64(n) if r.dtype.char == "d" else n))
    return r / n


def _var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    arr = asanyarray(a)
    if correction is not None:
        ddof = correction
    n = _count(arr, axis, where)
    if not isinstance(n, ndarray) and ddof >= n:
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=3)
    half = dtype is None and arr.dtype.char == "e"
    if dtype is None:
        if arr.dtype.kind in "iub":
            dtype = mu.float64
        elif half:
            dtype = mu.float32
    if mean is None:
        mean = add.reduce(arr, axis=axis, dtype=dtype, keepdims=True, where=where)
        mean = divide(mean, _kept(n, True, axis, arr.ndim), casting="unsafe")
        if dtype is None:
            mean = asanyarray(mean, dtype=arr.dtype)
    x = asanyarray(arr - mean)
    if arr.dtype.kind == "c":
        x = multiply(x, mu.conjugate(x)).real
    else:
        x = multiply(x, x)
    r = add.reduce(x, axis=axis, dtype=dtype if arr.dtype.kind != "c" else None, out=out, keepdims=keepdims, where=where)
    n = _kept(n, keepdims, axis, arr.ndim)
    n = mu.maximum(n - ddof, 0) if isinstance(n, ndarray) else max(n - ddof, 0)
    if isinstance(r, ndarray):
        r = divide(r, n, out=r, casting="unsafe")
        return arr.dtype.type(r) if half and out is None else r
    if hasattr(r, "dtype"):
        return (arr.dtype if half else r.dtype).type(divide(r, n))
    return r / n


def _std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    r = _var(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    if isinstance(r, ndarray):
        return mu.sqrt(r, out=r)
    return mu.sqrt(r)


def _ptp(a, axis=None, out=None, keepdims=False):
    return mu.subtract(mu.maximum.reduce(a, axis=axis, keepdims=keepdims), mu.minimum.reduce(a, axis=axis, keepdims=keepdims), out=out)


def _clip(a, min=None, max=None, out=None, **kw):
    if a.dtype.kind in "iu":  # limits that the type does not hold are none
        lo, hi = _range(a.dtype)
        if type(min) is int and min < lo:
            min = lo
        if type(max) is int and max > hi:
            max = hi
    if min is None and max is None:
        return mu.positive(a, out=out, **kw)
    if min is None:
        return mu.minimum(a, max, out=out, **kw)
    if max is None:
        return mu.maximum(a, min, out=out, **kw)
    return mu.clip(a, min, max, out=out, **kw)


def _range(dtype):
    bits = 8 * dtype.itemsize
    return (0, 2**bits - 1) if dtype.kind == "u" else (-2**(bits - 1), 2**(bits - 1) - 1)


def _round(a, decimals=0, out=None):
    kind = a.dtype.kind
    if kind == "c":
        r = mu.empty(a.shape, a.dtype)
        r.real = _round(a.real, decimals)
        r.imag = _round(a.imag, decimals)
        if out is not None:
            out[...] = r
            return out
        return r if a.ndim else r[()]
    if kind in "iub":
        if decimals >= 0:
            r = a.astype(mu.float16) if kind == "b" else a.copy()
            r = mu.rint(r) if kind == "b" else r
        else:
            f = 10 ** -decimals
            r = (mu.rint(a / f) * f).astype(a.dtype)
    elif kind == "O":
        r = asarray([round(x, decimals) for x in a.ravel().tolist()], dtype=object).reshape(a.shape)
    elif decimals == 0:
        return mu.rint(a, out=out)
    else:
        f = 10.0 ** abs(decimals)
        r = mu.rint(a * f) / f if decimals > 0 else mu.rint(a / f) * f
    if out is not None:
        out[...] = r
        return out
    return r if a.ndim or not isinstance(r, ndarray) else r[()]


def _conj(a):
    return mu.conjugate(a)


_conjugate = _conj


def _trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    return add.reduce(a.diagonal(offset, axis1, axis2), axis=-1, dtype=dtype, out=out)


def _compress(a, condition, axis=None, out=None):
    cond = asarray(condition)
    if cond.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    return a.take(cond.nonzero()[0], axis=axis, out=out)


def _choose(a, choices, out=None, mode="raise"):
    parts = [asarray(c) for c in choices]
    shape = mu._broadcast_shape(a.shape, *[p.shape for p in parts])
    idx = mu._broadcast_to(a, shape)
    n = len(parts)
    if mode == "wrap":
        idx = idx % n
    elif mode == "clip":
        idx = _clip(idx, 0, n - 1)
    elif ((idx < 0) | (idx >= n)).any():
        raise ValueError("invalid entry in choice array")
    r = mu.empty(shape, mu.result_type(*parts))
    for i, p in enumerate(parts):
        mu.copyto(r, p, where=idx == i)
    if out is not None:
        out[...] = r
        return out
    return r if r.ndim else r[()]


def _put(a, indices, values, mode="raise"):
    idx = asarray(indices).ravel()
    n = a.size
    if mode == "wrap":
        idx = idx % n
    elif mode == "clip":
        idx = _clip(idx, 0, n - 1)
    v = asarray(values).ravel()
    if v.size == 0 or idx.size == 0:
        return
    if v.size != idx.size:
        v = v.take(mu.arange(idx.size) % v.size)
    a.flat[idx] = v.astype(a.dtype)


def _partition(a, kth, axis=-1, kind="introselect", order=None):
    a.sort(axis)


def _argpartition(a, kth, axis=-1, kind="introselect", order=None):
    return a.argsort(axis)


def _tofile(a, fid, sep="", format="%s"):
    data = a.tobytes() if sep == "" else sep.join(format % x for x in a.ravel().tolist()).encode()
    if hasattr(fid, "write"):
        fid.write(data)
    else:
        with open(fid, "wb") as f:
            f.write(data)


def _dump(a, file, protocol=2):
    if hasattr(file, "write"):
        pickle.dump(a, file, protocol)
    else:
        with open(file, "wb") as f:
            pickle.dump(a, f, protocol)


def _dumps(a, protocol=2):
    return pickle.dumps(a, protocol)


def _resize(a, *new_shape, refcheck=True):
    shape = new_shape[0] if len(new_shape) == 1 else new_shape
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    flat = a.ravel().copy()
    r = mu.zeros(shape, a.dtype)
    n = min(flat.size, r.size)
    r.reshape(-1)[:n] = flat[:n]
    a.__setstate__((1, shape, a.dtype, False, r.tobytes()))
