"""Assertions about arrays."""
import contextlib
import math
import unittest
import warnings

from numpy._core import _multiarray_umath as mu
from numpy._core._multiarray_umath import array, asanyarray, asarray, ndarray
from numpy._core.arrayprint import array_repr
from numpy._core.numeric import errstate, isclose

__all__ = ["assert_", "assert_equal", "assert_almost_equal", "assert_approx_equal", "assert_array_equal", "assert_array_less", "assert_array_almost_equal", "assert_allclose", "assert_raises", "assert_raises_regex", "assert_warns", "assert_no_warnings", "suppress_warnings", "assert_string_equal", "assert_array_max_ulp"]


def assert_(val, msg=""):
    if not val:
        raise AssertionError(msg() if callable(msg) else msg)


def build_err_msg(arrays, err_msg, header="Items are not equal:", verbose=True, names=("ACTUAL", "DESIRED"), precision=8):
    msg = ["\n" + header]
    err_msg = str(err_msg)
    if err_msg:
        if err_msg.find("\n") == -1 and len(err_msg) < 79 - len(header):
            msg = [msg[0] + " " + err_msg]
        else:
            msg.append(err_msg)
    if verbose:
        for a, name in zip(arrays, names):
            r = array_repr(a, precision=precision) if isinstance(a, ndarray) else repr(a)
            if r.count("\n") > 3:
                r = "\n".join(r.splitlines()[:3]) + "..."
            msg.append(f" {name}: {r}")
    return "\n".join(msg)


def assert_equal(actual, desired, err_msg="", verbose=True, *, strict=False):
    if isinstance(desired, dict):
        if not isinstance(actual, dict):
            raise AssertionError(repr(type(actual)))
        assert_equal(len(actual), len(desired), err_msg, verbose)
        for k in desired:
            if k not in actual:
                raise AssertionError(repr(k))
            assert_equal(actual[k], desired[k], f"key={k!r}\n{err_msg}", verbose)
        return
    if isinstance(desired, (list, tuple)) and isinstance(actual, (list, tuple)):
        assert_equal(len(actual), len(desired), err_msg, verbose)
        for k in range(len(desired)):
            assert_equal(actual[k], desired[k], f"item={k!r}\n{err_msg}", verbose)
        return
    if isinstance(actual, ndarray) or isinstance(desired, ndarray):
        return assert_array_equal(actual, desired, err_msg, verbose, strict=strict)
    msg = build_err_msg([actual, desired], err_msg, verbose=verbose)
    try:
        if actual != actual and desired != desired:
            return
        if isinstance(desired, float) and isinstance(actual, float) and desired == 0 == actual and math.copysign(1, desired) != math.copysign(1, actual):
            raise AssertionError(msg)
    except (TypeError, ValueError):
        pass
    if not desired == actual:
        raise AssertionError(msg)


def assert_almost_equal(actual, desired, decimal=7, err_msg="", verbose=True):
    if isinstance(actual, (ndarray, tuple, list)) or isinstance(desired, (ndarray, tuple, list)):
        return assert_array_almost_equal(actual, desired, decimal, err_msg)
    msg = build_err_msg([actual, desired], err_msg, header=f"Arrays are not almost equal to {decimal} decimals", verbose=verbose)
    try:
        if not (math.isfinite(desired) and math.isfinite(actual)):
            if desired != desired or actual != actual:
                if not (desired != desired and actual != actual):
                    raise AssertionError(msg)
            elif desired != actual:
                raise AssertionError(msg)
            return
    except TypeError:
        pass
    if abs(desired - actual) >= mu.float64(1.5 * 10.0 ** -decimal):
        raise AssertionError(msg)


def assert_approx_equal(actual, desired, significant=7, err_msg="", verbose=True):
    if desired == actual:
        return
    scale = 10.0 ** math.floor(math.log10(0.5 * (abs(desired) + abs(actual))))
    if abs(desired / scale - actual / scale) >= 10.0 ** -(significant - 1):
        raise AssertionError(build_err_msg([actual, desired], err_msg, header=f"Items are not equal to {significant} significant digits:", verbose=verbose))


def assert_array_compare(comparison, x, y, err_msg="", verbose=True, header="", precision=6, equal_nan=True, equal_inf=True, *, strict=False, names=("ACTUAL", "DESIRED")):
    __tracebackhide__ = True
    x, y = asanyarray(x), asanyarray(y)
    ox, oy = x, y

    def refuse(why):
        raise AssertionError(build_err_msg([ox, oy], f"{err_msg}\n{why}", verbose=verbose, header=header, names=names, precision=precision))

    if strict and (x.shape != y.shape or x.dtype != y.dtype) or not strict and not (x.shape == () or y.shape == () or x.shape == y.shape):
        refuse(f"(shapes {x.shape}, {y.shape} mismatch)" if x.shape != y.shape else f"(dtypes {x.dtype}, {y.dtype} mismatch)")
    flagged = mu.zeros((), bool)
    for test, name, wanted in ((mu.isnan, "nan", equal_nan), (lambda v: v == math.inf, "+inf", equal_inf), (lambda v: v == -math.inf, "-inf", equal_inf)):
        if not wanted or x.dtype.kind not in "fc" or y.dtype.kind not in "fc":
            continue
        a, b = asarray(test(x)), asarray(test(y))
        if not (a == b).all():
            refuse(f"{name} location mismatch:")
        flagged = flagged | a | b
    if asarray(flagged).ndim:
        keep = ~flagged
        x = x[keep] if x.ndim else x
        y = y[keep] if y.ndim else y
    elif bool(flagged):
        return
    ok = asarray(comparison(x, y))
    if ok.all():
        return
    total, wrong = ok.size, int((~ok).sum())
    lines = [f"Mismatched elements: {wrong} / {total} ({100 * wrong / total:.3g}%)"]
    with errstate(all="ignore"), contextlib.suppress(TypeError):
        if x.dtype.kind == "b" and y.dtype.kind == "b":
            d = asarray(x != y)
        else:
            d = asarray(abs(x - y))
            if x.dtype.kind == "u" and y.dtype.kind == "u":
                d = asarray(mu.minimum(d, abs(y - x)))
        lines.append("Max absolute difference among violations: " + _text(_worst(d, ok)))
        nonzero = asarray(y != 0)
        nonzero = mu._broadcast_to(nonzero, d.shape) if nonzero.shape != d.shape else nonzero
        bad = ~ok & nonzero
        if not bad.any():
            lines.append("Max relative difference among violations: inf")
        else:
            yy = mu._broadcast_to(asarray(y), d.shape)
            lines.append("Max relative difference among violations: " + _text((d[bad] / abs(yy[bad])).max()))
    refuse("\n".join(lines))


def _worst(d, ok):
    return d[~ok].max() if d.ndim else d[()]


def _text(v):
    from numpy._core.arrayprint import array2string
    return array2string(asarray(v)) if isinstance(v, mu.generic) else str(v)


def assert_array_equal(actual, desired, err_msg="", verbose=True, *, strict=False):
    assert_array_compare(lambda x, y: x == y, actual, desired, err_msg, verbose, "Arrays are not equal", strict=strict)


def assert_array_almost_equal(actual, desired, decimal=6, err_msg="", verbose=True):
    def compare(x, y):
        if x.dtype.kind in "biu" and y.dtype.kind in "biu":
            return abs(x.astype(float) - y) < 1.5 * 10.0 ** -decimal
        return abs(x - y) < 1.5 * 10.0 ** -decimal
    assert_array_compare(compare, actual, desired, err_msg, verbose, f"Arrays are not almost equal to {decimal} decimals", precision=decimal)


def assert_array_less(x, y, err_msg="", verbose=True, *, strict=False):
    assert_array_compare(lambda a, b: a < b, x, y, err_msg, verbose, "Arrays are not strictly ordered `x < y`", equal_inf=False, strict=strict, names=("x", "y"))


def assert_allclose(actual, desired, rtol=1e-07, atol=0, equal_nan=True, err_msg="", verbose=True, *, strict=False):
    actual, desired = asanyarray(actual), asanyarray(desired)
    assert_array_compare(lambda x, y: isclose(x, y, rtol=rtol, atol=atol, equal_nan=equal_nan), actual, desired, str(err_msg), verbose, f"Not equal to tolerance rtol={rtol:g}, atol={atol:g}", equal_nan=equal_nan, strict=strict)


def assert_array_max_ulp(a, b, maxulp=1, dtype=None):
    d = abs(asarray(a, dtype=dtype) - asarray(b, dtype=dtype)) / mu.spacing(mu.maximum(abs(asarray(a)), abs(asarray(b))))
    if not (d <= maxulp).all():
        raise AssertionError(f"Arrays are not almost equal up to {maxulp:g} ULP (max difference is {d.max():g} ULP)")
    return d


def assert_string_equal(actual, desired):
    if actual != desired:
        raise AssertionError(f"Differences in strings:\n- {actual}+ {desired}")


class _Case(unittest.TestCase):
    def nop(self):
        pass


_d = _Case("nop")


def assert_raises(*args, **kwargs):
    return _d.assertRaises(*args, **kwargs)


def assert_raises_regex(exception_class, expected_regexp, *args, **kwargs):
    return _d.assertRaisesRegex(exception_class, expected_regexp, *args, **kwargs)


@contextlib.contextmanager
def _warns(cls, name):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        yield
    if not any(issubclass(w.category, cls) for w in seen):
        raise AssertionError("No warning raised" + (f" when calling {name}" if name else ""))


def assert_warns(warning_class, *args, **kwargs):
    if not args:
        return _warns(warning_class, None)
    with _warns(warning_class, args[0].__name__):
        return args[0](*args[1:], **kwargs)


@contextlib.contextmanager
def _quiet(name):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        yield
    if seen:
        raise AssertionError(f"Got warnings{f' when calling {name}' if name else ''}: {seen}")


def assert_no_warnings(*args, **kwargs):
    if not args:
        return _quiet(None)
    with _quiet(args[0].__name__):
        return args[0](*args[1:], **kwargs)


class suppress_warnings:
    def __init__(self, forwarding_rule="always"):
        self._catch = warnings.catch_warnings()

    def __enter__(self):
        self._catch.__enter__()
        return self

    def __exit__(self, *exc):
        self._catch.__exit__(*exc)

    def filter(self, category=Warning, message="", module=None):
        warnings.filterwarnings("ignore", message=message, category=category)
