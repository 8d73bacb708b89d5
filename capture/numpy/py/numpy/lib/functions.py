"""Statistics, sets, polynomials and the like."""
import builtins
import functools
import math
import warnings

from numpy._core import _methods
from numpy._core import _multiarray_umath as mu
from numpy._core._multiarray_umath import arange, asanyarray, asarray, bincount, concatenate, ndarray, where, zeros
from numpy._core.fromnumeric import sum as _sum
from numpy._core.numeric import inf, linspace, nan, normalize_axis_index
from numpy._core.numerictypes import finfo
from numpy.lib.shapes import atleast_1d, stack


def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    a = asanyarray(a)
    if weights is None:
        r = asarray(_methods._mean(a, axis, keepdims=keepdims))
        scale = asarray(a.size / r.size if r.size else 0.0).astype(r.dtype)
    else:
        w = asanyarray(weights)
        t = mu.result_type(a.dtype, w.dtype, *([mu.float64] if a.dtype.kind in "iub" else []))
        if a.shape != w.shape:
            if axis is None:
                raise TypeError("Axis must be specified when shapes of a and weights differ.")
            if w.ndim != 1 or w.shape[0] != a.shape[axis]:
                raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
            w = w.reshape((-1,) + (1,) * (a.ndim - normalize_axis_index(axis, a.ndim) - 1))
            w = mu._broadcast_to(w, a.shape)
        scale = asarray(w.sum(axis=axis, dtype=t, keepdims=keepdims))
        if (scale == 0).any():
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        r = asarray(mu.multiply(a, w, dtype=t).sum(axis=axis, keepdims=keepdims) / scale)
    if returned:
        return r[()], mu._broadcast_to(scale, r.shape).copy()[()]
    return r[()]


def _axes_last(a, axis, keepdims):
    """The array with the axes of a reduction made one last axis, and how its result is shaped."""
    a = asanyarray(a)
    axes = tuple(range(a.ndim)) if axis is None else tuple(normalize_axis_index(x, a.ndim) for x in (axis if isinstance(axis, tuple) else (axis,)))
    keep = [i for i in range(a.ndim) if i not in axes]
    shape = tuple(1 if i in axes else n for i, n in enumerate(a.shape)) if keepdims else tuple(a.shape[i] for i in keep)
    return a.transpose(keep + list(axes)).reshape([a.shape[i] for i in keep] + [math.prod(a.shape[i] for i in axes)]), shape


def _stored(r, out):
    if out is not None:
        out[...] = r
        return out
    return r[()] if isinstance(r, ndarray) else r


def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    x, shape = _axes_last(a, axis, keepdims)
    n = x.shape[-1]
    if n == 0:
        warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=2)
        r = mu.empty(x.shape[:-1])
        r.fill(nan)
        return _stored(r.reshape(shape), out)
    x = x.copy()
    x.sort(axis=-1)
    h = n // 2
    r = asarray(_methods._mean(x[..., h - 1:h + 1] if n % 2 == 0 else x[..., h:h + 1], axis=-1))
    if x.dtype.kind in "fc":
        r = where(mu.isnan(x[..., -1]), x[..., -1], r)
    return _stored(r.reshape(shape), out)


# Where each method puts a quantile, between the items of a sorted line.
_virtual = {
    "weibull": lambda n, q: (n + 1) * q - 1,
    "linear": lambda n, q: (n - 1) * q,
    "hazen": lambda n, q: n * q - 0.5,
    "interpolated_inverted_cdf": lambda n, q: n * q - 1,
    "median_unbiased": lambda n, q: n * q + (1 / 3 + q * (1 / 3)) - 1,
    "normal_unbiased": lambda n, q: n * q + (3 / 8 + q * (1 / 4)) - 1,
    "lower": lambda n, q: mu.floor((n - 1) * q), "higher": lambda n, q: mu.ceil((n - 1) * q),
    "nearest": lambda n, q: mu.rint((n - 1) * q),
    "midpoint": lambda n, q: 0.5 * (mu.floor((n - 1) * q) + mu.ceil((n - 1) * q)),
    "inverted_cdf": lambda n, q: mu.ceil(n * q) - 1,
    "averaged_inverted_cdf": lambda n, q: where(n * q == mu.floor(n * q), n * q - 0.5, mu.ceil(n * q) - 1),
    "closest_observation": lambda n, q: mu.rint(n * q) - 1,
}


def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None, interpolation=None):
    q = asanyarray(q)
    if q.size and not ((q >= 0) & (q <= 1)).all():
        raise ValueError("Quantiles must be in the range [0, 1]")
    return _quantile(a, q, axis, out, method, keepdims, weights)


def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None, interpolation=None):
    q = mu.divide(asanyarray(q), 100)
    if asarray(q).size and not ((q >= 0) & (q <= 1)).all():
        raise ValueError("Percentiles must be in the range [0, 100]")
    return _quantile(a, asarray(q), axis, out, method, keepdims, weights)


def _quantile(a, q, axis, out, method, keepdims, weights):
    if method not in _virtual:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {_virtual.keys()}")
    if weights is not None:
        raise NotImplementedError("quantile: weights are missing")
    x, shape = _axes_last(a, axis, keepdims)
    if x.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    x = x.copy()
    x.sort(axis=-1)
    n = x.shape[-1]
    if n == 0:
        r = mu.empty(q.shape + x.shape[:-1])
        r.fill(nan)
        return _stored(r.reshape(q.shape + shape), out)
    t = mu.result_type(x.dtype, mu.float64) if x.dtype.kind in "iub" else x.dtype
    at = asarray(_virtual[method](n, q.astype(mu.float64) if q.dtype.kind != "f" else q)).clip(0, n - 1)
    lo = mu.floor(at).astype(int)
    hi = mu.minimum(lo + 1, n - 1)
    exact = method in ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")
    vlo = x.take(lo.ravel(), axis=-1)
    if exact:
        r = vlo
    else:
        g = (at - lo).ravel().astype(t)
        vhi = x.take(hi.ravel(), axis=-1)
        d = mu.subtract(vhi, vlo, dtype=t) if t != x.dtype else vhi - vlo
        r = where(g >= 0.5, vhi - d * (1 - g), vlo + d * g)
        r = where(vlo == vhi, vlo, r).astype(t)
    if x.dtype.kind == "f":
        r = where(mu.isnan(x[..., -1:]), asarray(nan, dtype=x.dtype), r)
    r = r.transpose([r.ndim - 1] + list(range(r.ndim - 1)))
    return _stored(r.reshape(q.shape + shape), out)


def diff(a, n=1, axis=-1, prepend=None, append=None):
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    a = asanyarray(a)
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = normalize_axis_index(axis, a.ndim)
    parts = []
    for p in (prepend, a, append):
        if p is None:
            continue
        p = asanyarray(p)
        if p.ndim == 0:
            s = list(a.shape)
            s[axis] = 1
            p = mu._broadcast_to(p, s)
        parts.append(p)
    if len(parts) > 1:
        a = concatenate(parts, axis)
    key = (slice(None),) * axis
    op = mu.not_equal if a.dtype.kind == "b" else mu.subtract
    for _ in range(n):
        a = op(a[key + (slice(1, None),)], a[key + (slice(None, -1),)])
    return a


def ediff1d(ary, to_end=None, to_begin=None):
    a = asanyarray(ary).ravel()
    return concatenate([asarray(p, dtype=a.dtype).ravel() for p in ([] if to_begin is None else [to_begin])] + [a[1:] - a[:-1]] + [asarray(p, dtype=a.dtype).ravel() for p in ([] if to_end is None else [to_end])])


def gradient(f, *varargs, axis=None, edge_order=1):
    f = asanyarray(f)
    axes = tuple(range(f.ndim)) if axis is None else tuple(normalize_axis_index(x, f.ndim) for x in (axis if isinstance(axis, tuple) else (axis,)))
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError("invalid number of arguments")
    steps = [1.0] * len(axes) if not varargs else list(varargs) * (len(axes) if len(varargs) == 1 else 1)
    if f.dtype.kind in "iub":
        f = f.astype(float)
    out = []
    for ax, h in zip(axes, steps):
        n = f.shape[ax]
        if n < edge_order + 1:
            raise ValueError("Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required.")
        s = f.swapaxes(ax, 0)
        h = asanyarray(h)
        d = diff(h).astype(float) if h.ndim else mu.zeros(n - 1) + h
        d = d.reshape((-1,) + (1,) * (f.ndim - 1))
        r = mu.empty(s.shape, f.dtype)
        a, b = d[:-1], d[1:]
        if h.ndim == 0:
            r[1:-1] = (s[2:] - s[:-2]) / (2.0 * h)
        else:
            r[1:-1] = -b / (a * (a + b)) * s[:-2] + (b - a) / (a * b) * s[1:-1] + a / (b * (a + b)) * s[2:]
        if edge_order == 1:
            r[0], r[-1] = (s[1] - s[0]) / d[0], (s[-1] - s[-2]) / d[-1]
        else:
            p, q = d[0], d[1]
            r[0] = -(2 * p + q) / (p * (p + q)) * s[0] + (p + q) / (p * q) * s[1] - p / (q * (p + q)) * s[2]
            p, q = d[-2], d[-1]
            r[-1] = q / (p * (p + q)) * s[-3] - (q + p) / (p * q) * s[-2] + (2 * q + p) / (q * (p + q)) * s[-1]
        out.append(r.swapaxes(ax, 0))
    return out[0] if len(out) == 1 else tuple(out)


def trapezoid(y, x=None, dx=1.0, axis=-1):
    y = asanyarray(y)
    if x is None:
        d = dx
    else:
        x = asanyarray(x)
        d = diff(x, axis=axis) if x.ndim > 1 else diff(x).reshape((-1,) + (1,) * (y.ndim - 1 - normalize_axis_index(axis, y.ndim)))
    key = (slice(None),) * normalize_axis_index(axis, y.ndim)
    return (d * (y[key + (slice(1, None),)] + y[key + (slice(None, -1),)]) / 2.0).sum(axis)


def interp(x, xp, fp, left=None, right=None, period=None):
    fp, xp, x = asarray(fp), asarray(xp, dtype=float), asarray(x, dtype=float)
    if period is not None:
        period = abs(period)
        x, xp = x % period, xp % period
        o = xp.argsort()
        xp, fp = xp[o], fp[o]
        xp = concatenate((xp[-1:] - period, xp, xp[0:1] + period))
        fp = concatenate((fp[-1:], fp, fp[0:1]))
    if xp.shape != fp.shape:
        raise ValueError("fp and xp are not of the same length.")
    if xp.size == 0:
        raise ValueError("array of sample points is empty")
    fp = fp.astype(complex if fp.dtype.kind == "c" else float)
    n = len(xp)
    i = (xp.searchsorted(x, "right") - 1)
    i = asarray(i).clip(0, max(n - 2, 0))
    if n == 1:
        r = fp[i]
    else:
        slope = (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i])
        r = slope * (x - xp[i]) + fp[i]
        r = where(x == xp[-1], fp[-1], r)
    r = where(x < xp[0], fp[0] if left is None else left, r)
    r = where(x > xp[-1], fp[-1] if right is None else right, r)
    return where(mu.isnan(x), nan, r)[()]


def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):
    m = asarray(m)
    x = mu.array(m, ndmin=2, dtype=dtype or mu.result_type(m, mu.float64))
    if not rowvar and m.ndim != 1:
        x = x.T
    if y is not None:
        y = mu.array(y, ndmin=2, dtype=x.dtype)
        x = concatenate((x, y.T if not rowvar and y.shape[0] != 1 else y), axis=0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    w = None
    for k in (fweights, aweights):
        if k is not None:
            w = asarray(k, dtype=float) if w is None else w * asarray(k, dtype=float)
    avg, total = average(x, axis=1, weights=w, returned=True)
    total = asarray(total).ravel()[0]
    fact = x.shape[1] - ddof if w is None else total - ddof if aweights is None else total - ddof * (w * asarray(aweights)).sum() / total
    if fact <= 0:
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
        fact = 0.0
    x = x - asarray(avg)[:, None]
    c = mu.dot(x, (x if w is None else x * w).T.conj())
    return (c * mu.divide(1, fact)).reshape(c.shape) if c.size > 1 else (c * mu.divide(1, fact)).squeeze()


def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    c = asarray(cov(x, y, rowvar, dtype=dtype))
    if c.ndim == 0:
        return c / c
    d = mu.sqrt(c.diagonal().real)
    c = c / d[:, None]
    c = c / d[None, :]
    return c.clip(-1, 1) if c.dtype.kind != "c" else c


def convolve(a, v, mode="full"):
    a, v = mu.array(a, ndmin=1), mu.array(v, ndmin=1)
    if len(a) == 0 or len(v) == 0:
        raise ValueError("a cannot be empty" if len(a) == 0 else "v cannot be empty")
    if len(v) > len(a):
        a, v = v, a
    return _slide(a, v[::-1], mode)


def correlate(a, v, mode="valid"):
    a, v = asarray(a), asarray(v).conj()
    if len(v) > len(a):
        return _slide(v, a, mode)[::-1]
    return _slide(a, v, mode)


def _slide(a, v, mode):
    """Dot products of v with the stretches of a, which is the longer one."""
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    n, k = len(a), len(v)
    t = mu.result_type(a, v)
    lo, hi = {"full": (k - 1, k - 1), "same": (k // 2, k - k // 2 - 1), "valid": (0, 0)}[mode]
    x = concatenate((zeros(lo, t), a.astype(t), zeros(hi, t)))
    w = mu._as_strided(x, (len(x) - k + 1, k), x.strides * 2, False)
    return mu.dot(w, v.astype(t))


def histogram_bin_edges(a, bins=10, range=None, weights=None):
    a = asarray(a).ravel()
    if isinstance(bins, str):
        bins = _estimate(a, bins, range)
    bins = asarray(bins)
    if bins.ndim == 1:
        if (bins[:-1] > bins[1:]).any():
            raise ValueError("`bins` must increase monotonically, when an array")
        return bins
    n = int(bins)
    if n < 1:
        raise ValueError("`bins` must be positive, when an integer")
    lo, hi = _outer(a, range)
    return linspace(lo, hi, n + 1, dtype=mu.result_type(lo, hi, a) if a.dtype.kind == "f" else float)


def _outer(a, range):
    if range is not None:
        lo, hi = range
        if lo > hi:
            raise ValueError("max must be larger than min in range parameter.")
        if not (math.isfinite(lo) and math.isfinite(hi)):
            raise ValueError(f"supplied range of [{lo}, {hi}] is not finite")
    elif a.size == 0:
        lo, hi = 0, 1
    else:
        lo, hi = a.min(), a.max()
        if not (mu.isfinite(lo) and mu.isfinite(hi)):
            raise ValueError(f"autodetected range of [{lo}, {hi}] is not finite")
    return (lo - 0.5, hi + 0.5) if lo == hi else (lo, hi)


def _estimate(a, name, range):
    if range is not None:
        a = a[(a >= range[0]) & (a <= range[1])]
    n = a.size
    if n == 0:
        return 1
    span = float(a.max() - a.min())
    sturges = span / (math.log2(n) + 1.0)
    q = percentile(a, [75, 25])
    fd = 2.0 * float(q[0] - q[1]) * n ** (-1.0 / 3.0)
    width = {"sturges": sturges, "sqrt": span / math.sqrt(n), "rice": span / (2.0 * n ** (1.0 / 3)), "fd": fd, "scott": (24.0 * math.pi ** 0.5 / n) ** (1.0 / 3.0) * float(_methods._std(a)), "auto": builtins.min(fd, sturges) if fd else sturges}
    if name not in width:
        raise ValueError(f"{name!r} is not a valid estimator for `bins`")
    w = width[name]
    return int(math.ceil(span / w)) if w else 1


def histogram(a, bins=10, range=None, density=None, weights=None):
    a = asarray(a)
    if a.dtype.kind == "b":
        a = a.astype(mu.uint8)
    w = None if weights is None else asarray(weights).ravel()
    if w is not None and asarray(weights).shape != a.shape:
        raise ValueError("weights should have the same shape as a.")
    a = a.ravel()
    edges = histogram_bin_edges(a, bins, range)
    n = len(edges) - 1
    i = edges.searchsorted(a, "right") - 1
    i[a == edges[-1]] = n - 1
    ok = (i >= 0) & (i < n)
    counts = bincount(i[ok], None if w is None else w[ok], minlength=n)
    if w is not None:
        counts = counts.astype(w.dtype)
    if density:
        return counts / diff(edges).astype(float) / counts.sum(), edges
    return counts, edges


def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    s = asarray(sample)
    s = s if s.ndim == 2 else mu.array(sample).T
    n, d = s.shape
    bins = [bins] * d if isinstance(bins, int) else list(bins)
    if len(bins) != d:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    edges = [histogram_bin_edges(s[:, k], bins[k], None if range is None else range[k]) for k in builtins.range(d)]
    at, ok = [], mu.zeros(n, bool)
    ok.fill(True)
    for k, e in enumerate(edges):
        i = e.searchsorted(s[:, k], "right") - 1
        i[s[:, k] == e[-1]] = len(e) - 2
        ok &= (i >= 0) & (i < len(e) - 1)
        at.append(i)
    shape = [len(e) - 1 for e in edges]
    flat = 0
    for i, m in zip(at, shape):
        flat = flat * m + i
    w = None if weights is None else asarray(weights)[ok]
    h = bincount(asarray(flat)[ok], w, minlength=math.prod(shape)).reshape(shape).astype(float)
    if density:
        h = h / h.sum()
        for k, e in enumerate(edges):
            h = h / diff(e).reshape([-1 if i == k else 1 for i in builtins.range(d)])
    return h, tuple(edges)


def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    h, e = histogramdd(stack([asarray(x), asarray(y)], axis=1), [bins, bins] if isinstance(bins, int) or asarray(bins[0]).ndim == 0 and len(bins) != 2 else bins, range, density, weights)
    return h, e[0], e[1]


def digitize(x, bins, right=False):
    b = asarray(bins)
    up = diff(b)
    if (up >= 0).all():
        return b.searchsorted(x, "left" if right else "right")
    if (up <= 0).all():
        return len(b) - b[::-1].searchsorted(x, "right" if right else "left")
    raise ValueError("bins must be monotonically increasing or decreasing")


def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True):
    a = asanyarray(ar)
    if axis is not None:
        return _unique_rows(a, return_index, return_inverse, return_counts, axis)
    shape = a.shape
    a = a.ravel()
    order = a.argsort(kind="stable")
    s = a[order]
    first = mu.zeros(s.shape, bool)
    if s.size:
        first[0] = True
        first[1:] = s[1:] != s[:-1]
        if equal_nan and s.dtype.kind in "fc":
            first[1:] &= ~(mu.isnan(s[1:]) & mu.isnan(s[:-1]))
    return _parts(s[first], order, first, shape, return_index, return_inverse, return_counts)


def _parts(values, order, first, shape, index, inverse, counts):
    out = (values,)
    if index:
        out += (order[first],)
    if inverse:
        inv = mu.empty(first.shape, int)
        inv[order] = first.cumsum() - 1
        out += (inv.reshape(shape),)
    if counts:
        out += (diff(concatenate((first.nonzero()[0], [first.size]))),)
    return out[0] if len(out) == 1 else out


def _unique_rows(a, index, inverse, counts, axis):
    axis = normalize_axis_index(axis, a.ndim)
    m = a.swapaxes(axis, 0)
    rows = m.reshape(m.shape[0], -1)
    order = mu.lexsort([rows[:, k] for k in range(rows.shape[1] - 1, -1, -1)]) if rows.shape[1] else arange(len(rows))
    s = rows[order]
    first = mu.zeros(len(s), bool)
    if len(s):
        first[0] = True
        first[1:] = (s[1:] != s[:-1]).any(axis=1)
    values = m[order][first].swapaxes(axis, 0)
    shape = [1] * a.ndim
    shape[axis] = -1
    return _parts(values, order, first, first.shape, index, inverse, counts)


def _results(name, fields):
    import collections
    return collections.namedtuple(name, fields)


UniqueAllResult = _results("UniqueAllResult", "values indices inverse_indices counts")
UniqueCountsResult = _results("UniqueCountsResult", "values counts")
UniqueInverseResult = _results("UniqueInverseResult", "values inverse_indices")


def unique_all(x):
    return UniqueAllResult(*unique(x, True, True, True, equal_nan=False))


def unique_counts(x):
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x):
    return UniqueInverseResult(*unique(x, return_inverse=True, equal_nan=False))


def unique_values(x):
    return unique(x, equal_nan=False)


def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    a, b = asarray(ar1), asarray(ar2)
    ia = ib = None
    if not assume_unique:
        a, ia = unique(a, return_index=True)
        b, ib = unique(b, return_index=True)
    both = concatenate((a.ravel(), b.ravel()))
    o = both.argsort(kind="stable")
    s = both[o]
    same = s[1:] == s[:-1]
    r = s[:-1][same]
    if not return_indices:
        return r
    i, j = o[:-1][same], o[1:][same] - a.size
    return r, i if ia is None else ia[i], j if ib is None else ib[j]


def union1d(ar1, ar2):
    return unique(concatenate((asarray(ar1).ravel(), asarray(ar2).ravel())))


def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    e, t = asarray(element), asarray(test_elements).ravel()
    if t.size == 0:
        r = mu.zeros(e.shape, bool)
    elif e.dtype.kind == "O" or t.dtype.kind == "O" or t.size < 10:
        r = mu.zeros(e.shape, bool)
        for x in t:
            r |= e == x
    else:
        s = t.copy()
        s.sort()
        i = mu.minimum(s.searchsorted(e), len(s) - 1)
        r = asarray(s[i] == e)
    return (~r if invert else r)[()] if e.ndim == 0 else (~r if invert else r)


def in1d(ar1, ar2, assume_unique=False, invert=False, *, kind=None):
    return isin(asarray(ar1).ravel(), ar2, invert=invert)


def setdiff1d(ar1, ar2, assume_unique=False):
    a = asarray(ar1).ravel() if assume_unique else unique(ar1)
    return a[~isin(a, ar2)]


def setxor1d(ar1, ar2, assume_unique=False):
    a, b = (asarray(ar1), asarray(ar2)) if assume_unique else (unique(ar1), unique(ar2))
    s = concatenate((a, b))
    s.sort()
    if not s.size:
        return s
    edge = concatenate(([True], s[1:] != s[:-1], [True]))
    return s[edge[1:] & edge[:-1]]


def nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    x = mu.array(x, copy=True if copy else None)
    if x.dtype.kind not in "fc":
        return x[()] if x.ndim == 0 else x
    for part in (x.real, x.imag) if x.dtype.kind == "c" else (x,):
        f = finfo(part.dtype)
        bad, up, down = mu.isnan(part), part == inf, part == -inf
        mu.copyto(part, nan, where=bad)
        mu.copyto(part, f.max if posinf is None else posinf, where=up)
        mu.copyto(part, f.min if neginf is None else neginf, where=down)
    return x[()]


def _without_nan(a, fill):
    a = asanyarray(a)
    if a.dtype.kind not in "fc":
        return a, None
    mask = mu.isnan(a)
    return where(mask, asarray(fill, dtype=a.dtype), a), mask


def nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    return mu.add.reduce(_without_nan(a, 0)[0], axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where)


def nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    return mu.multiply.reduce(_without_nan(a, 1)[0], axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where)


def nancumsum(a, axis=None, dtype=None, out=None):
    return asarray(_without_nan(a, 0)[0]).cumsum(axis, dtype, out)


def nancumprod(a, axis=None, dtype=None, out=None):
    return asarray(_without_nan(a, 1)[0]).cumprod(axis, dtype, out)


def _warn_all(r, text):
    if asarray(r).dtype.kind in "fc" and mu.isnan(r).any():
        warnings.warn(text, RuntimeWarning, stacklevel=3)
    return r


def nanmax(a, axis=None, out=None, keepdims=False, **kw):
    return _warn_all(mu.fmax.reduce(asanyarray(a), axis=axis, out=out, keepdims=keepdims, **kw), "All-NaN slice encountered" if axis is None else "All-NaN axis encountered")


def nanmin(a, axis=None, out=None, keepdims=False, **kw):
    return _warn_all(mu.fmin.reduce(asanyarray(a), axis=axis, out=out, keepdims=keepdims, **kw), "All-NaN slice encountered" if axis is None else "All-NaN axis encountered")


def _nanarg(a, axis, fill, name):
    x, mask = _without_nan(a, fill)
    if mask is not None and asarray(mask.all(axis=axis)).any():
        raise ValueError("All-NaN slice encountered")
    return getattr(x, name)(axis)


def nanargmax(a, axis=None, out=None, *, keepdims=False):
    return _nanarg(a, axis, -inf, "argmax")


def nanargmin(a, axis=None, out=None, *, keepdims=False):
    return _nanarg(a, axis, inf, "argmin")


def nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    x, mask = _without_nan(a, 0)
    if mask is None:
        return _methods._mean(x, axis, dtype, out, keepdims, where=where)
    n = mu.add.reduce(~mask, axis=axis, dtype=int, keepdims=keepdims, where=where)
    s = mu.add.reduce(x, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    if (asarray(n) == 0).any():
        warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=2)
    r = asarray(s / n)
    return _stored(r.astype(asarray(s).dtype), out)


def nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    a = asanyarray(a)
    ddof = ddof if correction is None else correction
    x, mask = _without_nan(a, 0)
    if mask is None:
        return _methods._var(a, axis, dtype, out, ddof, keepdims, where=where)
    n = mu.add.reduce(~mask, axis=axis, dtype=int, keepdims=True)
    m = mu.add.reduce(x, axis=axis, dtype=dtype, keepdims=True) / n
    d = mu.multiply(a - m.astype(x.dtype), 1)
    d = _without_nan(d, 0)[0]
    sq = (d * d.conj()).real if d.dtype.kind == "c" else d * d
    n = mu.add.reduce(~mask, axis=axis, dtype=int, keepdims=keepdims)
    if (asarray(n) - ddof <= 0).any():
        warnings.warn("Degrees of freedom <= 0 for slice.", RuntimeWarning, stacklevel=2)
    s = mu.add.reduce(sq, axis=axis, dtype=dtype, keepdims=keepdims)
    r = asarray(s / (n - ddof)).astype(asarray(s).dtype)
    r = where_(asarray(n) - ddof <= 0, nan, r)
    return _stored(r, out)


def where_(c, x, y):
    return where(c, asarray(x, dtype=y.dtype), y)


def nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None):
    return _stored(asarray(mu.sqrt(nanvar(a, axis, dtype, None, ddof, keepdims, where=where, correction=correction))), out)


def _lines(f, a, axis, keepdims):
    x, shape = _axes_last(a, axis, keepdims)
    flat = x.reshape(-1, x.shape[-1])
    vals = [f(line[~mu.isnan(line)]) if line.dtype.kind in "fc" else f(line) for line in flat]
    return vals, shape


def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    vals, shape = _lines(lambda v: median(v) if v.size else nan, a, axis, keepdims)
    return _stored(asarray(vals).reshape(shape), out)


def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None, interpolation=None):
    vals, shape = _lines(lambda v: quantile(v, q, method=method), a, axis, keepdims)
    r = asarray(vals)
    r = r.reshape((-1,) + asarray(q).shape)
    r = r.transpose(list(range(1, r.ndim)) + [0]).reshape(asarray(q).shape + shape)
    return _stored(r, out)


def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None, interpolation=None):
    return nanquantile(a, asarray(q) / 100, axis, out, overwrite_input, method, keepdims)


def select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    parts = [asarray(c) for c in choicelist]
    r = asarray(default)
    r = mu.array(r, dtype=mu.result_type(*parts, default if not isinstance(default, ndarray) else default))
    for c, v in reversed(list(zip(condlist, parts))):
        if asarray(c).dtype.kind != "b":
            raise TypeError(f"invalid entry {0} in condlist: should be boolean ndarray")
        r = where(c, v, r)
    return r


def piecewise(x, condlist, funclist, *args, **kw):
    x = asanyarray(x)
    conds = [asarray(c, dtype=bool) for c in (condlist if isinstance(condlist, (list, tuple)) and len(condlist) and not isscalar_(condlist[0]) else [condlist])]
    if len(funclist) == len(conds) + 1:
        rest = conds[0]
        for c in conds[1:]:
            rest = rest | c
        conds = conds + [~rest]
    elif len(funclist) != len(conds):
        raise ValueError(f"with {len(conds)} condition(s), either {len(conds)} or {len(conds) + 1} functions are expected")
    y = mu.zeros(x.shape, x.dtype)
    for c, f in zip(conds, funclist):
        if callable(f):
            v = x[c]
            if v.size:
                y[c] = f(v, *args, **kw)
        else:
            y[c] = f
    return y


def iterable(y):
    try:
        iter(y)
    except TypeError:
        return False
    return True


def isscalar_(x):
    return isinstance(x, (int, float, bool, mu.generic))


def extract(condition, arr):
    return asarray(arr).ravel().take(asarray(condition).ravel().nonzero()[0])


def place(arr, mask, vals):
    vals = asarray(vals).ravel()
    mask = asarray(mask, dtype=bool)
    n = int(mask.sum())
    if n:
        arr[mask] = vals.take(arange(n) % len(vals))


def putmask(a, mask, values):
    v = asarray(values)
    mask = asarray(mask, dtype=bool)
    if v.shape != a.shape:
        v = v.ravel().take(arange(a.size) % v.size).reshape(a.shape)
    mu.copyto(a, v, where=mask, casting="unsafe")


def sinc(x):
    y = mu.multiply(math.pi, asanyarray(x))
    y = where(y == 0, 1.0e-20, y)
    return (mu.sin(y) / y)[()]


def angle(z, deg=False):
    z = asanyarray(z)
    r = mu.arctan2(z.imag, z.real)
    return r * (180 / math.pi) if deg else r


def unwrap(p, discont=None, axis=-1, *, period=2 * math.pi):
    p = asarray(p)
    d = diff(p, axis=axis)
    discont = period / 2 if discont is None else discont
    t = mu.result_type(d, period)
    half = period / 2
    m = mu.remainder(d + half, period) - half
    m = where((m == -half) & (d > 0), half, m)
    fix = where(mu.absolute(d) < discont, 0, m - d)
    r = mu.array(p, dtype=t)
    key = (slice(None),) * normalize_axis_index(axis, p.ndim)
    r[key + (slice(1, None),)] = p[key + (slice(1, None),)] + fix.cumsum(axis)
    return r


def fix(x, out=None):
    return mu.trunc(x, out=out) if out is not None else mu.trunc(x)


def isposinf(x, out=None):
    return mu.logical_and(mu.isinf(x), ~mu.signbit(x), out=out)


def isneginf(x, out=None):
    return mu.logical_and(mu.isinf(x), mu.signbit(x), out=out)


def real(val):
    return asanyarray(val).real if not hasattr(val, "real") else val.real


def imag(val):
    return asanyarray(val).imag if not hasattr(val, "imag") else val.imag


def real_if_close(a, tol=100):
    a = asanyarray(a)
    if a.dtype.kind == "c" and (mu.absolute(a.imag) < tol * finfo(a.dtype).eps).all():
        return a.real
    return a


def _window(M, f):
    if M < 1:
        return mu.zeros(0)
    if M == 1:
        return mu.zeros(1) + 1.0
    return f(arange(1 - M, M, 2).astype(float), M - 1)


def hanning(M):
    return _window(M, lambda n, d: 0.5 + 0.5 * mu.cos(math.pi * n / d))


def hamming(M):
    return _window(M, lambda n, d: 0.54 + 0.46 * mu.cos(math.pi * n / d))


def blackman(M):
    return _window(M, lambda n, d: 0.42 + 0.5 * mu.cos(math.pi * n / d) + 0.08 * mu.cos(2.0 * math.pi * n / d))


def bartlett(M):
    return _window(M, lambda n, d: where(n <= 0, 1 + n / d, 1 - n / d))


def i0(x):
    x = asarray(x, dtype=float)
    return mu.asarray(mu._aten("special_i0", x if x.ndim else x.reshape(1))).reshape(x.shape)


def kaiser(M, beta):
    if M == 1:
        return mu.zeros(1) + 1.0
    n = arange(0, M)
    half = (M - 1) / 2.0
    return i0(beta * mu.sqrt(1 - ((n - half) / half) ** 2.0)) / i0(float(beta))


class vectorize:
    def __init__(self, pyfunc=None, otypes=None, doc=None, excluded=None, cache=False, signature=None):
        self.pyfunc, self.otypes, self.excluded, self.signature, self.cache = pyfunc, otypes, set(excluded or ()), signature, cache
        if signature is not None:
            raise NotImplementedError("vectorize: signature is missing")
        if pyfunc is not None:
            self._named(pyfunc)

    def _named(self, f):
        self.pyfunc = f
        self.__name__ = getattr(f, "__name__", "vectorize")
        self.__doc__ = getattr(f, "__doc__", None)

    def __call__(self, *args, **kwargs):
        if self.pyfunc is None:
            self._named(args[0])
            return self
        f = self.pyfunc
        if kwargs or self.excluded:
            names = [k for k in kwargs if k not in self.excluded]
            at = [i for i in range(len(args)) if i not in self.excluded]
            vals = [args[i] for i in at] + [kwargs[k] for k in names]

            def f(*v):
                a, kw = list(args), dict(kwargs)
                for i, x in zip(at, v):
                    a[i] = x
                kw.update(zip(names, v[len(at):]))
                return self.pyfunc(*a, **kw)
        else:
            vals = args
        arrays = [asarray(v) for v in vals]
        shape = mu._broadcast_shape(*[a.shape for a in arrays])
        flats = [mu._broadcast_to(a, shape).flat for a in arrays]
        res = [f(*x) for x in zip(*flats)]
        if not res:
            if self.otypes is None:
                raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
            return mu.zeros(shape, self.otypes[0])
        if isinstance(res[0], tuple):
            types = self.otypes or [None] * len(res[0])
            return tuple(asarray([r[k] for r in res], dtype=t).reshape(shape)[()] for k, t in enumerate(types))
        return asarray(res, dtype=self.otypes[0] if self.otypes else None).reshape(shape)


def frompyfunc(func, /, nin, nout, *, identity=None):
    def f(*args):
        arrays = [asarray(a, dtype=object) for a in args]
        shape = mu._broadcast_shape(*[a.shape for a in arrays])
        res = [func(*x) for x in zip(*[mu._broadcast_to(a, shape).flat for a in arrays])]
        outs = []
        for k in range(nout):
            r = mu.empty(len(res), object)
            for i, v in enumerate(res):
                r[i] = v if nout == 1 else v[k]
            outs.append(r.reshape(shape)[()])
        return outs[0] if nout == 1 else tuple(outs)
    return f


def polyval(p, x):
    p = asarray(p)
    y = asanyarray(x) * 0
    for c in p:
        y = y * x + c
    return y


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    from numpy.lib.shapes import vander
    from numpy.linalg import lstsq
    x, y = asarray(x) + 0.0, asarray(y) + 0.0
    n = int(deg) + 1
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    a, b = vander(x, n), y
    if w is not None:
        w = asarray(w) + 0.0
        a, b = a * w[:, None], b * (w[:, None] if b.ndim == 2 else w)
    scale = mu.sqrt((a * a).sum(axis=0))
    c, res, rank, s = lstsq(a / scale, b, len(x) * finfo(x.dtype).eps if rcond is None else rcond)
    c = (c.T / scale).T
    if full:
        return c, res, rank, s, rcond
    if cov:
        from numpy.linalg import inv
        base = inv(mu.dot((a / scale).T, a / scale)) / mu.multiply(scale[:, None], scale[None, :])
        return c, base * (1 if cov == "unscaled" else res / (len(x) - n))
    return c


def polyadd(a1, a2):
    a, b = atleast_1d(a1), atleast_1d(a2)
    n = max(len(a), len(b))
    return concatenate((zeros(n - len(a), a.dtype), a)) + concatenate((zeros(n - len(b), b.dtype), b))


def polysub(a1, a2):
    return polyadd(a1, -atleast_1d(a2))


def polymul(a1, a2):
    return convolve(a1, a2)


def polyder(p, m=1):
    p = asarray(p)
    for _ in range(m):
        p = p[:-1] * arange(len(p) - 1, 0, -1)
    return p


def polyint(p, m=1, k=None):
    p = asarray(p)
    for _ in range(m):
        p = concatenate((p / arange(len(p), 0, -1), [0 if k is None else k]))
    return p


def roots(p):
    p = atleast_1d(p)
    nz = p.nonzero()[0]
    if not len(nz):
        return mu.zeros(0)
    tail = len(p) - nz[-1] - 1
    p = p[nz[0]:nz[-1] + 1]
    if p.dtype.kind not in "fc":
        p = p.astype(float)
    n = len(p)
    r = mu.zeros(0)
    if n > 1:
        from numpy.linalg import eigvals
        from numpy.lib.shapes import diag
        m = diag(mu.zeros(n - 2, p.dtype) + 1, -1)
        m[0, :] = -p[1:] / p[0]
        r = eigvals(m)
    return concatenate((r, zeros(int(tail), r.dtype)))


def poly(seq):
    z = atleast_1d(seq)
    a = mu.zeros(1, z.dtype if z.dtype.kind in "fc" else float) + 1
    for x in z:
        a = convolve(a, asarray([1, -x]))
    return a


def packbits(a, /, axis=None, bitorder="big"):
    a = asarray(a) != 0
    if axis is None:
        a, axis = a.ravel(), 0
    a = a.swapaxes(axis, -1)
    n = a.shape[-1]
    pad = -n % 8
    a = concatenate((a, zeros(a.shape[:-1] + (pad,), bool)), axis=-1).reshape(a.shape[:-1] + (-1, 8)).astype(mu.uint8)
    w = asarray([128, 64, 32, 16, 8, 4, 2, 1] if bitorder == "big" else [1, 2, 4, 8, 16, 32, 64, 128], dtype=mu.uint8)
    return (a * w).sum(axis=-1, dtype=mu.uint8).swapaxes(axis, -1)


def unpackbits(a, /, axis=None, count=None, bitorder="big"):
    a = asarray(a)
    if a.dtype != mu.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    if axis is None:
        a, axis = a.ravel(), 0
    a = a.swapaxes(axis, -1)
    s = arange(7, -1, -1) if bitorder == "big" else arange(8)
    r = ((a[..., None] >> s.astype(mu.uint8)) & 1).reshape(a.shape[:-1] + (-1,))
    return (r if count is None else r[..., :count]).swapaxes(axis, -1)


def einsum(*operands, out=None, dtype=None, order="K", casting="safe", optimize=False):
    if not isinstance(operands[0], str):
        operands = _from_lists(operands)
    spec, arrays = operands[0].replace(" ", ""), [asarray(a) for a in operands[1:]]
    r = _einsum(spec, arrays if dtype is None else [a.astype(dtype) for a in arrays])
    if out is not None:
        out[...] = r
        return out
    return r[()]


def _from_lists(ops):
    ops = list(ops)
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    word = lambda l: "".join("..." if x is Ellipsis else letters[x] for x in l)
    last = ops.pop() if len(ops) % 2 else None
    spec = ",".join(word(l) for l in ops[1::2])
    return [spec if last is None else spec + "->" + word(last)] + ops[::2]


def _einsum(spec, arrays):
    ins, arrow, res = spec.partition("->")
    terms = ins.split(",")
    if len(terms) != len(arrays):
        raise ValueError("more operands provided to einstein sum function than specified in the subscripts string" if len(terms) < len(arrays) else "fewer operands provided to einstein sum function than specified in the subscripts string")
    spare = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" if c not in spec]
    dots, full = "", []
    for t, a in zip(terms, arrays):
        if "..." in t:
            k = a.ndim - len(t) + 3
            t = t.replace("...", "".join(reversed(spare[:k])))
            dots = max(dots, "".join(reversed(spare[:k])), key=len)
        if len(t) != a.ndim:
            raise ValueError(f"einstein sum subscripts string contains too many subscripts for operand {len(full)}" if len(t) > a.ndim else "operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided to broadcast the extra dimensions.")
        full.append(t)
    if arrow:
        res = res.replace("...", dots)
    else:
        joined = "".join(full)
        res = dots + "".join(sorted(c for c in set(joined) if joined.count(c) == 1 and c not in dots))
    parts = [_traced(t, a) for t, a in zip(full, arrays)]
    t, a = parts[0]
    for k, (u, b) in enumerate(parts[1:], 1):
        later = "".join(x for x, _ in parts[k + 1:]) + res
        t, a = _contract(t, a, u, b, later)
    lost = tuple(i for i, c in enumerate(t) if c not in res)
    if lost:
        a = a.sum(axis=lost)
        t = "".join(c for c in t if c in res)
    if any(c not in t for c in res):
        raise ValueError(f"einstein sum subscripts string included output subscript '{next(c for c in res if c not in t)}' which never appeared in an input")
    return asarray(a).transpose([t.index(c) for c in res])


def _traced(t, a):
    """Repeated letters of one operand mean its diagonal."""
    for c in sorted(set(t)):
        while t.count(c) > 1:
            i = t.index(c)
            j = t.index(c, i + 1)
            a = a.diagonal(0, i, j)
            t = t[:i] + t[i + 1:j] + t[j + 1:] + c
    return t, a


def _contract(t, a, u, b, later):
    """Multiplies two operands, and adds up what nothing later needs, by a product of matrices."""
    both = [c for c in t if c in u]
    size = {}
    for s, x in ((t, a), (u, b)):
        for c, n in zip(s, x.shape):
            size[c] = n if size.get(c, 1) == 1 else size[c]
            if n not in (1, size[c]):
                raise ValueError(f"operands could not be broadcast together with remapped shapes [original->remapped]: {a.shape} {b.shape}")
    batch = [c for c in both if c in later]
    inner = [c for c in both if c not in later]
    for s in ("t", "u"):
        word, x = (t, a) if s == "t" else (u, b)
        gone = tuple(i for i, c in enumerate(word) if c not in both and c not in later)
        if gone:
            x, word = x.sum(axis=gone), "".join(c for c in word if c in both or c in later)
        x = mu._broadcast_to(asarray(x), tuple(size[c] for c in word))
        if s == "t":
            t, a = word, x
        else:
            u, b = word, x
    left, right = [c for c in t if c not in both], [c for c in u if c not in both]
    dims = lambda cs: math.prod(size[c] for c in cs)
    x = a.transpose([t.index(c) for c in batch + left + inner]).reshape((dims(batch), dims(left), dims(inner)))
    y = b.transpose([u.index(c) for c in batch + inner + right]).reshape((dims(batch), dims(inner), dims(right)))
    r = mu.matmul(x, y)
    word = batch + left + right
    return "".join(word), r.reshape([size[c] for c in word])




def divmod(x1, x2, /, **kw):
    return mu.floor_divide(x1, x2, **kw), mu.remainder(x1, x2, **kw)
