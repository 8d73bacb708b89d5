"""Joining, splitting and tiling."""
import operator

from numpy._core import _multiarray_umath as mu
from numpy._core._multiarray_umath import array, asanyarray, asarray, concatenate, ndarray
from numpy._core.numeric import normalize_axis_index


def _atleast(n, arrays):
    out = []
    for a in arrays:
        a = asanyarray(a)
        if a.ndim < n:
            if n == 1:
                a = a.reshape(1)
            elif n == 2:
                a = a.reshape((1, 1) if a.ndim == 0 else (1, -1))
            else:
                a = a.reshape({0: (1, 1, 1), 1: (1, -1, 1)}.get(a.ndim, a.shape + (1,)))
        out.append(a)
    return out[0] if len(out) == 1 else tuple(out)


def atleast_1d(*arys):
    return _atleast(1, arys)


def atleast_2d(*arys):
    return _atleast(2, arys)


def atleast_3d(*arys):
    return _atleast(3, arys)


def _listed(arrays):
    if not hasattr(arrays, "__getitem__"):
        raise TypeError('arrays to stack must be passed as a "sequence" type such as list or tuple.')
    return list(arrays)


def _together(arrays, n):
    r = _atleast(n, _listed(arrays))
    return list(r) if isinstance(r, tuple) else [r]


def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    arrays = [asanyarray(a) for a in arrays]
    if not arrays:
        raise ValueError("need at least one array to stack")
    if len({a.shape for a in arrays}) != 1:
        raise ValueError("all input arrays must have the same shape")
    axis = normalize_axis_index(axis, arrays[0].ndim + 1)
    key = (slice(None),) * axis + (None,)
    return concatenate([a[key] for a in arrays], axis=axis, out=out, dtype=dtype, casting=casting)


def unstack(x, /, *, axis=0):
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    return tuple(mu.asarray(x).swapaxes(0, axis)) if axis in (0,) else tuple(_moved(x, axis))


def _moved(x, axis):
    from numpy._core.numeric import moveaxis
    return moveaxis(x, axis, 0)


def vstack(tup, *, dtype=None, casting="same_kind"):
    return concatenate(_together(tup, 2), axis=0, dtype=dtype, casting=casting)


row_stack = vstack


def hstack(tup, *, dtype=None, casting="same_kind"):
    arrays = _together(tup, 1)
    return concatenate(arrays, axis=0 if arrays and arrays[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def dstack(tup):
    return concatenate(_together(tup, 3), axis=2)


def column_stack(tup):
    return concatenate([a.reshape(-1, 1) if a.ndim < 2 else a for a in map(asanyarray, tup)], axis=1)


def _block(x, depth, ndim):
    if isinstance(x, list):
        return concatenate([_block(y, depth - 1, ndim) for y in x], axis=-depth)
    return array(x, ndmin=ndim)


def _depth(x):
    return 1 + max(map(_depth, x)) if isinstance(x, list) and x else 0


def _leaves(x):
    return [z for y in x for z in _leaves(y)] if isinstance(x, list) else [asarray(x)]


def block(arrays):
    d = _depth(arrays)
    return _block(arrays, d, max([d] + [a.ndim for a in _leaves(arrays)]))


def array_split(ary, indices_or_sections, axis=0):
    ary = asanyarray(ary)
    n = ary.shape[axis]
    try:
        cuts = [0] + list(indices_or_sections) + [n]
    except TypeError:
        k = int(indices_or_sections)
        if k <= 0:
            raise ValueError("number sections must be larger than 0.") from None
        each, extra = divmod(n, k)
        cuts = [0]
        for i in range(k):
            cuts.append(cuts[-1] + each + (i < extra))
    s = ary.swapaxes(axis, 0)
    return [s[a:b].swapaxes(axis, 0) for a, b in zip(cuts, cuts[1:])]


def split(ary, indices_or_sections, axis=0):
    if not hasattr(indices_or_sections, "__len__") and asanyarray(ary).shape[axis] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def hsplit(ary, indices_or_sections):
    if asanyarray(ary).ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary, indices_or_sections):
    if asanyarray(ary).ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    if asanyarray(ary).ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


def tile(A, reps):
    try:
        reps = tuple(reps)
    except TypeError:
        reps = (reps,)
    a = array(A, copy=True, ndmin=len(reps))
    reps = (1,) * (a.ndim - len(reps)) + reps
    for ax, r in enumerate(reps):
        if r != 1:
            a = concatenate([a] * r, axis=ax) if r else a[(slice(None),) * ax + (slice(0, 0),)]
    return a


def flip(m, axis=None):
    m = asanyarray(m)
    axes = range(m.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    key = [slice(None)] * m.ndim
    for ax in axes:
        key[normalize_axis_index(ax, m.ndim)] = slice(None, None, -1)
    return m[tuple(key)]


def fliplr(m):
    if asanyarray(m).ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(m, 1)


def flipud(m):
    if asanyarray(m).ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(m, 0)


def rot90(m, k=1, axes=(0, 1)):
    m, (p, q) = asanyarray(m), axes
    k %= 4
    if k == 0:
        return m[:]
    if k == 2:
        return flip(m, (p, q))
    order = list(range(m.ndim))
    order[p], order[q] = order[q], order[p]
    return flip(m, q).transpose(order) if k == 1 else flip(m.transpose(order), q)


def append(arr, values, axis=None):
    arr = asanyarray(arr)
    if axis is None:
        return concatenate((arr.ravel(), asanyarray(values).ravel()), axis=0)
    return concatenate((arr, values), axis=axis)


def delete(arr, obj, axis=None):
    arr = asarray(arr)
    if axis is None:
        arr, axis = arr.ravel(), 0
    axis = normalize_axis_index(axis, arr.ndim)
    n = arr.shape[axis]
    keep = mu.zeros(n, bool)
    keep.fill(True)
    if isinstance(obj, slice):
        keep[obj] = False
    else:
        idx = asarray(obj)
        if idx.dtype.kind == "b":
            if idx.shape != (n,):
                raise ValueError(f"boolean array argument `obj` to delete must be one-dimensional and match the axis length of {n}")
        else:
            idx = idx.astype(int)
            bad = (idx < -n) | (idx >= n)
            if bad.any():
                raise IndexError(f"index {idx[bad].flat[0] if idx.ndim else idx} is out of bounds for axis {axis} with size {n}")
        keep[idx] = False
    return arr[(slice(None),) * axis + (keep,)]


def insert(arr, obj, values, axis=None):
    arr = asarray(arr)
    if axis is None:
        arr, axis = arr.ravel(), 0
    axis = normalize_axis_index(axis, arr.ndim)
    n = arr.shape[axis]
    idx = asarray(range(*obj.indices(n)) if isinstance(obj, slice) else obj)
    if idx.dtype.kind == "b":
        idx = idx.nonzero()[0]
    single = idx.ndim == 0
    idx = idx.reshape(-1).astype(int)
    values = array(values, copy=None, ndmin=arr.ndim, dtype=arr.dtype)
    for i in idx.tolist():
        if not -n <= i <= n:
            raise IndexError(f"index {i} is out of bounds for axis {axis} with size {n}")
    idx[idx < 0] += n
    if single:
        from numpy._core.numeric import moveaxis
        if asarray(values).ndim and idx.size == 1:
            values = moveaxis(values, 0, axis)
        count = values.shape[axis]
        at = mu.arange(count) + idx[0]
    else:
        order = idx.argsort()
        at = idx.copy()
        at[order] += mu.arange(idx.size)
        count = idx.size
    shape = list(arr.shape)
    shape[axis] = n + count
    r = mu.empty(shape, arr.dtype)
    old = mu.zeros(n + count, bool)
    old.fill(True)
    old[at] = False
    key = (slice(None),) * axis
    r[key + (at,)] = values
    r[key + (old,)] = arr
    return r


def trim_zeros(filt, trim="fb", axis=None):
    nz = asarray(filt).nonzero()[0]
    if not len(nz):
        return filt[:0]
    trim = trim.lower()
    return filt[nz[0] if "f" in trim else 0: nz[-1] + 1 if "b" in trim else len(filt)]


def take_along_axis(arr, indices, axis=-1):
    if axis is None:
        arr, axis = asarray(arr).ravel(), 0
    axis = normalize_axis_index(axis, arr.ndim)
    return arr[_along(arr.shape, indices, axis)]


def put_along_axis(arr, indices, values, axis):
    if axis is None:
        arr, axis = arr.reshape(-1), 0
    axis = normalize_axis_index(axis, arr.ndim)
    arr[_along(arr.shape, indices, axis)] = values


def _along(shape, indices, axis):
    if asarray(indices).dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if indices.ndim != len(shape):
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    return tuple(indices if d == axis else mu.arange(n).reshape((1,) * d + (-1,) + (1,) * (len(shape) - d - 1)) for d, n in enumerate(shape))


def apply_along_axis(func1d, axis, arr, *args, **kwargs):
    from numpy._core.numeric import moveaxis
    arr = asanyarray(arr)
    axis = normalize_axis_index(axis, arr.ndim)
    lines = moveaxis(arr, axis, -1)
    outer = lines.shape[:-1]
    flat = lines.reshape(-1, lines.shape[-1])
    if not len(flat):
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    res = [asanyarray(func1d(x, *args, **kwargs)) for x in flat]
    r = stack(res).reshape(outer + res[0].shape)
    k = res[0].ndim
    n = len(outer)
    return r.transpose(list(range(axis)) + list(range(n, n + k)) + list(range(axis, n)))


def apply_over_axes(func, a, axes):
    a = asarray(a)
    for ax in asarray(axes).ravel().tolist():
        r = func(a, ax)
        if r.ndim != a.ndim:
            r = mu.asarray(r)[(slice(None),) * (ax % a.ndim) + (None,)]
        a = r
    return a


def diag(v, k=0):
    v = asanyarray(v)
    if v.ndim == 1:
        n = v.shape[0] + abs(k)
        r = mu.zeros((n, n), v.dtype)
        i = mu.arange(v.shape[0])
        r[i - min(k, 0), i + max(k, 0)] = v
        return r
    if v.ndim == 2:
        return v.diagonal(k)
    raise ValueError("Input must be 1- or 2-d.")


def diagflat(v, k=0):
    return diag(asarray(v).ravel(), k)


def tri(N, M=None, k=0, dtype=float, *, like=None):
    M = N if M is None else M
    return (mu.arange(N)[:, None] >= mu.arange(-k, M - k)[None, :]).astype(dtype)


def tril(m, k=0):
    m = asanyarray(m)
    return mu.where(tri(*m.shape[-2:], k=k, dtype=bool), m, mu.zeros(1, m.dtype))


def triu(m, k=0):
    m = asanyarray(m)
    return mu.where(tri(*m.shape[-2:], k=k - 1, dtype=bool), mu.zeros(1, m.dtype), m)


def tril_indices(n, k=0, m=None):
    return tri(n, m, k=k, dtype=bool).nonzero()


def triu_indices(n, k=0, m=None):
    return (~tri(n, m, k=k - 1, dtype=bool)).nonzero()


def tril_indices_from(arr, k=0):
    return tril_indices(arr.shape[-2], k, arr.shape[-1])


def triu_indices_from(arr, k=0):
    return triu_indices(arr.shape[-2], k, arr.shape[-1])


def diag_indices(n, ndim=2):
    return (mu.arange(n),) * ndim


def diag_indices_from(arr):
    return diag_indices(arr.shape[0], arr.ndim)


def mask_indices(n, mask_func, k=0):
    m = mu.zeros((n, n), int)
    m.fill(1)
    return mask_func(m, k).nonzero()


def fill_diagonal(a, val, wrap=False):
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    end = None
    if a.ndim == 2:
        step = a.shape[1] + 1
        if not wrap:
            end = a.shape[1] * a.shape[1]
    else:
        if len(set(a.shape)) != 1:
            raise ValueError("All dimensions of input must be of equal length")
        step = 1 + sum(a.shape[0] ** i for i in range(1, a.ndim))
    a.flat[:end:step] = val


def vander(x, N=None, increasing=False):
    x = asarray(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    N = len(x) if N is None else N
    p = mu.arange(N) if increasing else mu.arange(N - 1, -1, -1)
    return x[:, None] ** p


def ix_(*args):
    out = []
    for k, a in enumerate(args):
        a = asarray(a)
        if a.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if a.size == 0:
            a = a.astype(int)
        if a.dtype.kind == "b":
            a = a.nonzero()[0]
        out.append(a.reshape((1,) * k + (a.size,) + (1,) * (len(args) - k - 1)))
    return tuple(out)


def unravel_index(indices, shape, order="C"):
    idx = asarray(indices)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    total = 1
    for n in shape:
        total *= n
    for i in idx.ravel().tolist():
        if not 0 <= i < total:
            raise ValueError(f"index {i} is out of bounds for array with size {total}")
    out = []
    for n in (reversed(shape) if order == "C" else shape):
        out.append(idx % n)
        idx = idx // n
    return tuple(x[()] if isinstance(x, ndarray) else x for x in (reversed(out) if order == "C" else out))


def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    parts = [asarray(x) for x in multi_index]
    r = 0
    pairs = list(zip(parts, dims))
    for x, n in (pairs if order == "C" else reversed(pairs)):
        if mode == "wrap":
            x = x % n
        elif mode == "clip":
            x = x.clip(0, n - 1)
        elif ((x < 0) | (x >= n)).any():
            raise ValueError("invalid entry in coordinates array")
        r = r * n + x
    return r[()] if isinstance(r, ndarray) else r


class nd_grid:
    def __init__(self, sparse=False):
        self.sparse = sparse

    def __getitem__(self, key):
        one = not isinstance(key, tuple)
        axes = [self._axis(k) for k in ((key,) if one else key)]
        if one:
            return axes[0]
        n = len(axes)
        t = mu.result_type(*axes)
        parts = [a.astype(t).reshape((1,) * i + (-1,) + (1,) * (n - i - 1)) for i, a in enumerate(axes)]
        if self.sparse:
            return tuple(parts)
        shape = tuple(len(a) for a in axes)
        return stack([mu._broadcast_to(p, shape) for p in parts])

    @staticmethod
    def _axis(k):
        start, step = k.start or 0, 1 if k.step is None else k.step
        if isinstance(step, complex):
            from numpy._core.numeric import linspace
            return linspace(start, k.stop, int(abs(step)))
        return mu.arange(start, k.stop, step)


class IndexExpression:
    def __init__(self, maketuple):
        self.maketuple = maketuple

    def __getitem__(self, item):
        return (item,) if self.maketuple and not isinstance(item, tuple) else item


class _Concatenator:
    def __init__(self, axis, ndmin=1, columns=False):
        self.axis, self.ndmin, self.columns = axis, ndmin, columns

    def __getitem__(self, key):
        parts = []
        for k in key if isinstance(key, tuple) else (key,):
            a = nd_grid._axis(k) if isinstance(k, slice) else asanyarray(k)
            if self.columns and a.ndim < 2:
                a = a.reshape(-1, 1)
            parts.append(a.reshape(1) if a.ndim == 0 else a)
        return concatenate(parts, axis=self.axis)


mgrid, ogrid = nd_grid(False), nd_grid(True)
s_, index_exp = IndexExpression(False), IndexExpression(True)
r_, c_ = _Concatenator(0), _Concatenator(-1, 2, True)


class ndindex:
    def __init__(self, *shape):
        if len(shape) == 1 and isinstance(shape[0], tuple):
            shape = shape[0]
        import itertools
        self._it = itertools.product(*map(range, shape))

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._it)


class ndenumerate:
    def __init__(self, arr):
        a = asarray(arr)
        self._it = zip(ndindex(a.shape), a.flat)

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._it)


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    n = len(xi)
    out = [asanyarray(x).reshape((1,) * i + (-1,) + (1,) * (n - i - 1)) for i, x in enumerate(xi)]
    if indexing == "xy" and n > 1:
        out[0] = out[0].reshape((1, -1) + (1,) * (n - 2))
        out[1] = out[1].reshape((-1, 1) + (1,) * (n - 2))
    if not sparse and out:
        shape = mu._broadcast_shape(*[o.shape for o in out])
        out = [mu._broadcast_to(o, shape) for o in out]
    return tuple(o.copy() for o in out) if copy else tuple(out)


def pad(array, pad_width, mode="constant", **kwargs):
    a = asarray(array)
    w = mu._broadcast_to(asarray(pad_width), (a.ndim, 2)).tolist() if not isinstance(pad_width, dict) else [_pair(pad_width.get(i, pad_width.get(i - a.ndim, 0))) for i in range(a.ndim)]
    if any(x < 0 for p in w for x in p):
        raise ValueError("index can't contain negative values")
    if callable(mode):
        return _padded_by(a, w, mode, kwargs)
    allowed = {"constant": ["constant_values"], "linear_ramp": ["end_values"], "maximum": ["stat_length"], "mean": ["stat_length"], "median": ["stat_length"], "minimum": ["stat_length"], "reflect": ["reflect_type"], "symmetric": ["reflect_type"], "edge": [], "wrap": [], "empty": []}
    if mode not in allowed:
        raise ValueError(f"mode '{mode}' is not supported")
    extra = set(kwargs) - set(allowed[mode])
    if extra:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {extra}")
    if mode in ("reflect", "symmetric", "edge", "wrap") and kwargs.get("reflect_type", "even") == "even":
        for ax, (lo, hi) in enumerate(w):
            if lo or hi:
                n = a.shape[ax]
                if n == 0:
                    raise ValueError(f"can't extend empty axis {ax} using modes other than 'constant' or 'empty'")
                a = a.take(_source(mu.arange(-lo, n + hi), n, mode), axis=ax)
        return a if a is not array else a.copy()
    r = mu.zeros([n + lo + hi for n, (lo, hi) in zip(a.shape, w)], a.dtype)
    r[tuple(slice(lo, lo + n) for n, (lo, hi) in zip(a.shape, w))] = a
    for ax, (lo, hi) in enumerate(w):
        _edges(r, ax, lo, hi, mode, kwargs)
    return r


def _pair(x):
    return [x, x] if isinstance(x, int) else list(x)


def _source(i, n, mode):
    """The index of which an index outside is a copy."""
    if mode == "edge":
        return i.clip(0, n - 1)
    if mode == "wrap":
        return i % n
    if mode == "symmetric":
        i = i % (2 * n)
        return mu.where(i >= n, 2 * n - 1 - i, i)
    if n == 1:
        return i * 0
    i = i % (2 * n - 2)
    return mu.where(i >= n, 2 * n - 2 - i, i)


def _edges(r, ax, lo, hi, mode, kw):
    n = r.shape[ax]
    at = lambda s: (slice(None),) * ax + (s,)
    if mode == "constant":
        v = mu._broadcast_to(asarray(kw.get("constant_values", 0)), (r.ndim, 2))[ax]
        r[at(slice(0, lo))] = v[0]
        r[at(slice(n - hi, n))] = v[1]
    elif mode == "linear_ramp":
        from numpy._core.numeric import linspace
        v = mu._broadcast_to(asarray(kw.get("end_values", 0)), (r.ndim, 2))[ax]
        r[at(slice(0, lo))] = linspace(v[0], r[at(lo)], lo, endpoint=False, dtype=r.dtype, axis=ax)
        r[at(slice(n - hi, n))] = flip(linspace(v[1], r[at(n - hi - 1)], hi, endpoint=False, dtype=r.dtype, axis=ax), ax)
    elif mode in ("maximum", "minimum", "mean", "median"):
        import numpy
        f = {"maximum": numpy.max, "minimum": numpy.min, "mean": numpy.mean, "median": numpy.median}[mode]
        length = kw.get("stat_length")
        inner = r[at(slice(lo, n - hi))]
        k = inner.shape[ax]
        ls = [k, k] if length is None else mu._broadcast_to(asarray(length), (r.ndim, 2))[ax].tolist()
        first = f(inner[at(slice(0, ls[0]))], axis=ax, keepdims=True)
        last = f(inner[at(slice(max(k - ls[1], 0), k))], axis=ax, keepdims=True)
        if r.dtype.kind in "iu":
            first, last = mu.rint(first), mu.rint(last)
        r[at(slice(0, lo))] = first
        r[at(slice(n - hi, n))] = last
    elif mode in ("reflect", "symmetric"):
        skip = 1 if mode == "reflect" else 0
        for i in range(lo):
            j = lo - 1 - i
            r[at(j)] = 2 * r[at(lo)] - r[at(lo + i + skip)]
        for i in range(hi):
            j = n - hi + i
            r[at(j)] = 2 * r[at(n - hi - 1)] - r[at(n - hi - 1 - i - skip)]


def _padded_by(a, w, func, kw):
    r = mu.zeros([n + lo + hi for n, (lo, hi) in zip(a.shape, w)], a.dtype)
    r[tuple(slice(lo, lo + n) for n, (lo, hi) in zip(a.shape, w))] = a
    for ax in range(a.ndim):
        v = r.swapaxes(ax, -1)
        for i in ndindex(v.shape[:-1]):
            line = v[i]
            res = func(line, tuple(w[ax]), ax, kw)
            if res is not None:
                v[i] = res
    return r
