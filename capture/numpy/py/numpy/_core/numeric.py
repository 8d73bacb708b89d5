"""Making arrays, comparing them, and moving their axes."""
import builtins
import contextlib
import contextvars
import math
import operator

from numpy._core import _multiarray_umath as mu
from numpy._core._multiarray_umath import (arange, array, asanyarray, asarray, concatenate, copyto, dot, dtype, empty, ndarray, result_type, zeros)
from numpy._core.fromnumeric import any as _any
from numpy.exceptions import AxisError

newaxis = None
inf = float("inf")
nan = float("nan")
pi = math.pi
e = math.e
euler_gamma = 0.5772156649015329


def ones(shape, dtype=None, order="C", *, device=None, like=None):
    a = empty(shape, dtype, order)
    a.fill(1)
    return a


def full(shape, fill_value, dtype=None, order="C", *, device=None, like=None):
    if dtype is None:
        dtype = asarray(fill_value).dtype
    a = empty(shape, dtype, order)
    copyto(a, fill_value, casting="unsafe")
    return a


def _like(a, dtype, order, shape):
    a = asanyarray(a)
    if dtype is None:
        dtype = a.dtype
    if shape is None:
        shape = a.shape
    if order in ("K", "A"):
        order = "F" if a.flags.fnc else "C"
    return shape, dtype, order


def empty_like(prototype, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return empty(*_like(prototype, dtype, order, shape))


def zeros_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return zeros(*_like(a, dtype, order, shape))


def ones_like(a, dtype=None, order="K", subok=True, shape=None, *, device=None):
    return ones(*_like(a, dtype, order, shape))


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None, *, device=None):
    s, d, o = _like(a, dtype, order, shape)
    return full(s, fill_value, d, o)


def eye(N, M=None, k=0, dtype=float, order="C", *, device=None, like=None):
    M = N if M is None else M
    m = zeros((N, M), dtype, order)
    i = arange(builtins.max(0, -k), builtins.max(builtins.min(N, M - k), 0))
    m[i, i + k] = 1
    return m


def identity(n, dtype=None, *, like=None):
    return eye(n, dtype=dtype)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    div = num - 1 if endpoint else num
    start, stop = asanyarray(start) * 1.0, asanyarray(stop) * 1.0
    dt = result_type(start, stop, float(num))
    whole = dtype is not None and mu.dtype(dtype).kind in "iu"
    if dtype is None:
        dtype = dt
    delta = stop - start
    y = arange(0, num).astype(dt).reshape((-1,) + (1,) * mu._broadcast_shape(start.shape, stop.shape).__len__())
    if div > 0:
        step = delta / div
        if _any(step == 0):
            y = y / div * delta
        else:
            y = y * step
    else:
        step = nan
        y = y * delta
    y = y + start
    if endpoint and num > 1:
        y[-1, ...] = stop
    if axis != 0:
        y = moveaxis(y, 0, axis)
    if whole:
        y = mu.floor(y)
    y = y.astype(dtype, copy=False)
    return (y, step) if retstep else y


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    y = mu.power(base, linspace(start, stop, num, endpoint, axis=axis))
    return y if dtype is None else y.astype(dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    start, stop = asanyarray(start), asanyarray(stop)
    if _any(start == 0) or _any(stop == 0):
        raise ValueError("Geometric sequence cannot include zero")
    sign = mu.sign(start)
    y = sign * logspace(mu.log10(start / sign), mu.log10(stop / sign), num, endpoint, 10.0, axis=axis)
    if num > 0:
        y[0] = start
        if num > 1 and endpoint:
            y[-1] = stop
    return y if dtype is None else y.astype(dtype)


def normalize_axis_index(axis, ndim, msg_prefix=None):
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise AxisError(axis, ndim, msg_prefix)
    return axis + ndim if axis < 0 else axis


def normalize_axis_tuple(axis, ndim, argname=None, allow_duplicate=False):
    try:
        axis = [operator.index(axis)]
    except TypeError:
        pass
    axis = tuple(normalize_axis_index(ax, ndim, argname) for ax in axis)
    if not allow_duplicate and len(set(axis)) != len(axis):
        raise ValueError(f"repeated axis in `{argname}` argument" if argname else "repeated axis")
    return axis


def moveaxis(a, source, destination):
    if not hasattr(a, "transpose"):
        a = asarray(a)
    source = normalize_axis_tuple(source, a.ndim, "source")
    destination = normalize_axis_tuple(destination, a.ndim, "destination")
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [n for n in range(a.ndim) if n not in source]
    for d, s in sorted(zip(destination, source)):
        order.insert(d, s)
    return a.transpose(order)


def rollaxis(a, axis, start=0):
    n = a.ndim
    axis = normalize_axis_index(axis, n)
    if start < 0:
        start += n
    if not 0 <= start < n + 1:
        raise AxisError(f"'start' arg requires {-n} <= start < {n + 1}, but {start} was passed in")
    if axis < start:
        start -= 1
    axes = [i for i in range(n) if i != axis]
    axes.insert(start, axis)
    return a.transpose(axes)


def roll(a, shift, axis=None):
    a = asanyarray(a)
    if axis is None:
        return roll(a.ravel(), shift, 0).reshape(a.shape)
    axes = normalize_axis_tuple(axis, a.ndim, allow_duplicate=True)
    shifts = asarray(shift).ravel().tolist()
    count = builtins.max(len(axes), len(shifts))
    axes, shifts = axes * (count if len(axes) == 1 else 1), shifts * (count if len(shifts) == 1 else 1)
    for ax, s in zip(axes, shifts):
        n = a.shape[ax]
        if n:
            a = a.take((arange(n) - s) % n, axis=ax)
    return a.copy() if not axes else a


def expand_dims(a, axis):
    a = asanyarray(a)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    n = len(axes) + a.ndim
    axes = normalize_axis_tuple(axes, n)
    it = iter(a.shape)
    return a.reshape([1 if ax in axes else next(it) for ax in range(n)])


def broadcast_to(array, shape, subok=False):
    return mu._broadcast_to(asarray(array), shape)


def broadcast_shapes(*args):
    return mu._broadcast_shape(*args) if args else ()


def broadcast_arrays(*args, subok=False):
    args = [asarray(a) for a in args]
    shape = mu._broadcast_shape(*[a.shape for a in args])
    return tuple(a if a.shape == shape else mu._broadcast_to(a, shape) for a in args)


def isscalar(element):
    import numbers
    return isinstance(element, (mu.generic, str, bytes, numbers.Number))


def count_nonzero(a, axis=None, *, keepdims=False):
    a = asanyarray(a)
    b = a != 0 if a.dtype.kind in "iufcb" else a.astype(bool)
    return asarray(b).sum(axis=axis, dtype=int, keepdims=keepdims)[()] if axis is not None or keepdims else int(asarray(b).sum())


def flatnonzero(a):
    return asarray(a).ravel().nonzero()[0]


def argwhere(a):
    a = asarray(a)
    if a.ndim == 0:
        return zeros((int(bool(a)), 0), int)
    nz = a.nonzero()
    return array(nz).T if nz else zeros((0, 0), int)


def outer(a, b, out=None):
    return mu.multiply(asarray(a).ravel()[:, newaxis], asarray(b).ravel()[newaxis, :], out)


def inner(a, b):
    a, b = asarray(a), asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(f"shapes {_tight(a.shape)} and {_tight(b.shape)} not aligned: {a.shape[-1]} (dim {a.ndim - 1}) != {b.shape[-1]} (dim {b.ndim - 1})")
    return tensordot(a, b, ([-1], [-1]))[()]


def _tight(shape):
    return str(tuple(shape)).replace(" ", "")


def vdot(a, b):
    return dot(asarray(a).ravel().conj(), asarray(b).ravel())


def vecdot(x1, x2, /, *, axis=-1):
    x1, x2 = asarray(x1), asarray(x2)
    return (mu.conjugate(x1) * x2).sum(axis=axis)


def tensordot(a, b, axes=2):
    a, b = asarray(a), asarray(b)
    try:
        iter(axes)
    except TypeError:
        left, right = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    else:
        left, right = ([x] if isinstance(x, int) else list(x) for x in axes)
    left = [x + a.ndim if x < 0 else x for x in left]
    right = [x + b.ndim if x < 0 else x for x in right]
    if len(left) != len(right) or builtins.any(a.shape[x] != b.shape[y] for x, y in zip(left, right)):
        raise ValueError("shape-mismatch for sum")
    keep_a = [k for k in range(a.ndim) if k not in left]
    keep_b = [k for k in range(b.ndim) if k not in right]
    n = math.prod(a.shape[k] for k in left)
    out = [a.shape[k] for k in keep_a] + [b.shape[k] for k in keep_b]
    at = a.transpose(keep_a + left).reshape((math.prod(a.shape[k] for k in keep_a), n))
    bt = b.transpose(right + keep_b).reshape((n, math.prod(b.shape[k] for k in keep_b)))
    return dot(at, bt).reshape(out)


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = moveaxis(asarray(a), axisa, -1), moveaxis(asarray(b), axisb, -1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    if a.shape[-1] == 2 and b.shape[-1] == 2:
        return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    part = lambda v, i: v[..., i] if i < v.shape[-1] else zeros(v.shape[:-1], v.dtype)
    r = [part(a, i) * part(b, j) - part(a, j) * part(b, i) for i, j in ((1, 2), (2, 0), (0, 1))]
    r = concatenate([x[..., newaxis] for x in map(asarray, r)], axis=-1)
    return moveaxis(r, -1, axisc)


def kron(a, b):
    a, b = asarray(a), asarray(b)
    n = builtins.max(a.ndim, b.ndim)
    a = a.reshape((1,) * (n - a.ndim) + a.shape)
    b = b.reshape((1,) * (n - b.ndim) + b.shape)
    r = a.reshape([x for s in a.shape for x in (s, 1)]) * b.reshape([x for s in b.shape for x in (1, s)])
    return r.reshape([x * y for x, y in zip(a.shape, b.shape)])


def indices(dimensions, dtype=int, sparse=False):
    dims = tuple(dimensions)
    n = len(dims)
    parts = [arange(d, dtype=dtype).reshape((1,) * i + (d,) + (1,) * (n - i - 1)) for i, d in enumerate(dims)]
    if sparse:
        return tuple(parts)
    r = empty((n,) + dims, dtype)
    for i, p in enumerate(parts):
        r[i] = p
    return r


def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    return function(*indices(shape, dtype=dtype), **kwargs)


def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    x, y = asanyarray(a), asanyarray(b)
    if y.dtype.kind not in "fc":
        y = y.astype(result_type(y, 1.0))
    both = mu.isfinite(x) & mu.isfinite(y)
    with errstate(invalid="ignore"):
        close = mu.less_equal(mu.absolute(x - y), atol + rtol * mu.absolute(y)) & both | (x == y)
    if equal_nan:
        close = close | (mu.isnan(x) & mu.isnan(y))
    return close


def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    return builtins.bool(asarray(isclose(a, b, rtol, atol, equal_nan)).all())


def array_equal(a1, a2, equal_nan=False):
    try:
        a1, a2 = asarray(a1), asarray(a2)
    except Exception:
        return False
    if a1.shape != a2.shape:
        return False
    same = asarray(a1 == a2)
    if equal_nan and a1.dtype.kind in "fc" and a2.dtype.kind in "fc":
        same = same | (mu.isnan(a1) & mu.isnan(a2))
    return builtins.bool(same.all())


def array_equiv(a1, a2):
    try:
        a1, a2 = asarray(a1), asarray(a2)
        mu._broadcast_shape(a1.shape, a2.shape)
    except Exception:
        return False
    return builtins.bool(asarray(a1 == a2).all())


def require(a, dtype=None, requirements=None, *, like=None):
    r = {requirements} if isinstance(requirements, str) else set(requirements or ())
    a = asarray(a, dtype=dtype, order="F" if r & {"F", "F_CONTIGUOUS"} else "C" if r & {"C", "C_CONTIGUOUS"} else None)
    return a.copy() if r & {"W", "WRITEABLE", "O", "OWNDATA"} and not a.flags.writeable else a


def base_repr(number, base=2, padding=0):
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if base > len(digits) or base < 2:
        raise ValueError("Bases greater than 36 not handled in base_repr." if base > 36 else "Bases less than 2 not handled in base_repr.")
    n, out = abs(int(number)), []
    while n:
        out.append(digits[n % base])
        n //= base
    return ("-" if number < 0 else "") + "0" * padding + ("".join(reversed(out)) or ("" if padding else "0"))


def binary_repr(num, width=None):
    num = operator.index(num)
    if num >= 0:
        s = format(num, "b")
    elif width is None:
        return "-" + format(-num, "b")
    else:
        s = format((1 << width) + num, "b") if -num <= 1 << (width - 1) else ""
    if width is not None and len(s) > width or s == "":
        raise ValueError(f"Insufficient bit width={width} provided for binwidth={len(s)}")
    return s.zfill(width or 0)


_state = contextvars.ContextVar("numpy_errstate", default={"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"})


def geterr():
    return dict(_state.get())


def seterr(all=None, divide=None, over=None, under=None, invalid=None):
    old = geterr()
    new = dict(old)
    for k, v in (("divide", divide), ("over", over), ("under", under), ("invalid", invalid)):
        v = all if v is None else v
        if v is not None:
            if v not in ("ignore", "warn", "raise", "call", "print", "log"):
                raise ValueError(f"invalid error state: {v!r}")
            new[k] = v
    _state.set(new)
    return old


class errstate(contextlib.ContextDecorator):
    def __init__(self, *, call=None, all=None, divide=None, over=None, under=None, invalid=None):
        self._kw = dict(all=all, divide=divide, over=over, under=under, invalid=invalid)

    def __enter__(self):
        self._old = seterr(**self._kw)

    def __exit__(self, *exc):
        _state.set(self._old)
