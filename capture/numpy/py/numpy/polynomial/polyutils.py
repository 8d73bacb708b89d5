"""What all kinds of series share: trimming, common types, domains, how numbers are written."""
import functools
import operator

import numpy as np

__all__ = ["as_series", "trimseq", "trimcoef", "getdomain", "mapdomain", "mapparms", "format_float"]


def trimseq(seq):
    n = len(seq)
    while n > 1 and seq[n - 1] == 0:
        n -= 1
    return seq[:n]


def as_series(alist, trim=True):
    arrays = [np.array(a, ndmin=1) for a in alist]
    for a in arrays:
        if a.size == 0:
            raise ValueError("Coefficient array is empty")
        if a.ndim != 1:
            raise ValueError("Coefficient array is not 1-d")
    if trim:
        arrays = [trimseq(a) for a in arrays]
    try:
        kind = np.result_type(*arrays, np.float64 if any(a.dtype.kind in "biu" for a in arrays) else np.float16)
        if kind.kind not in "fc":
            raise TypeError
    except Exception as e:
        raise ValueError("Coefficient arrays have no common type") from e
    return [a.astype(kind) for a in arrays]


def trimcoef(c, tol=0):
    if tol < 0:
        raise ValueError("tol must be non-negative")
    [c] = as_series([c])
    [large] = np.nonzero(np.abs(c) > tol)
    return c[:large[-1] + 1].copy() if len(large) else c[:1] * 0


def getdomain(x):
    [x] = as_series([x], trim=False)
    if x.dtype.kind == "c":
        return np.array((complex(x.real.min(), x.imag.min()), complex(x.real.max(), x.imag.max())))
    return np.array((x.min(), x.max()))


def mapparms(old, new):
    length = old[1] - old[0]
    return (old[1] * new[0] - old[0] * new[1]) / length, (new[1] - new[0]) / length


def mapdomain(x, old, new):
    if not isinstance(x, (int, float, complex, np.ndarray, np.generic)):
        x = np.asanyarray(x)
    off, scl = mapparms(old, new)
    return off + scl * x


def as_int(x, desc):
    try:
        return operator.index(x)
    except TypeError as e:
        raise TypeError(f"{desc} must be an integer, received {x}") from e


def format_float(x, parens=False):
    x = np.asarray(x)[()]
    if not np.issubdtype(type(x), np.floating):
        return str(x)
    how = np.get_printoptions()
    if np.isnan(x):
        return how["nanstr"]
    if np.isinf(x):
        return how["infstr"]
    small = x != 0 and (np.abs(x) >= 1e8 or np.abs(x) < 10.0 ** (-(how["precision"] - 1) // 2))
    kw = dict(precision=how["precision"], unique=how["floatmode"] != "fixed", trim="0")
    if not small:
        return np.format_float_positional(x, fractional=True, **kw)
    text = np.format_float_scientific(x, **kw)
    return f"({text})" if parens else text


def product(factors, mul):
    """The product of many factors, of neighbours first, so that none grows long before the others."""
    while len(factors) > 1:
        factors = [mul(a, b) for a, b in zip(factors[::2], factors[1::2])] + (factors[-1:] if len(factors) % 2 else [])
    return factors[0]


def power(mul, c, pow, maxpower):
    [c] = as_series([c])
    n = int(pow)
    if n != pow or n < 0:
        raise ValueError("Power must be a non-negative integer.")
    if maxpower is not None and n > maxpower:
        raise ValueError("Power is too large")
    if n == 0:
        return np.array([1], dtype=c.dtype)
    return functools.reduce(mul, [c] * n)


def divide(mul, c1, c2):
    """Long division: the leading term of what is left, by that of c2, again and again."""
    [c1, c2] = as_series([c1, c2])
    if c2[-1] == 0:
        raise ZeroDivisionError()
    if len(c1) < len(c2):
        return c1[:1] * 0, c1
    if len(c2) == 1:
        return c1 / c2[-1], c1[:1] * 0
    quotient, left = np.zeros(len(c1) - len(c2) + 1, c1.dtype), c1
    for i in range(len(quotient) - 1, -1, -1):
        p = mul([0] * i + [1], c2)
        q = left[-1] / p[-1]
        left = left[:-1] - q * p[:-1]
        quotient[i] = q
    return quotient, trimseq(left)


def least_squares(vander, x, y, deg, rcond, full, w):
    x, y, deg = np.asarray(x) + 0.0, np.asarray(y) + 0.0, np.asarray(deg)
    if deg.ndim > 1 or deg.dtype.kind not in "iu" or deg.size == 0:
        raise TypeError("deg must be an int or non-empty 1-D array of int")
    if deg.min() < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim < 1 or y.ndim > 2:
        raise TypeError("expected 1D or 2D array for y")
    if len(x) != len(y):
        raise TypeError("expected x and y to have same length")
    wanted = None if deg.ndim == 0 else np.sort(deg)
    top = int(deg if wanted is None else wanted[-1])
    lhs = vander(x, top)
    if wanted is not None:
        lhs = lhs[:, wanted]
    order = lhs.shape[1]
    lhs, rhs = lhs.T, y.T
    if w is not None:
        w = np.asarray(w) + 0.0
        if w.ndim != 1:
            raise TypeError("expected 1D vector for w")
        if len(x) != len(w):
            raise TypeError("expected x and w to have same length")
        lhs, rhs = lhs * w, rhs * w
    if rcond is None:
        rcond = len(x) * np.finfo(x.dtype).eps
    scale = np.sqrt((np.square(lhs.real) + np.square(lhs.imag)).sum(1) if lhs.dtype.kind == "c" else np.square(lhs).sum(1))
    scale[scale == 0] = 1
    c, resids, rank, s = np.linalg.lstsq(lhs.T / scale, rhs.T, rcond)
    c = (c.T / scale).T
    if wanted is not None:
        spread = np.zeros((top + 1,) + c.shape[1:], c.dtype)
        spread[wanted] = c
        c = spread
    if rank != order and not full:
        import warnings
        warnings.warn("The fit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=3)
    return (c, [resids, rank, s, rcond]) if full else c
