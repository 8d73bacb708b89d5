"""Assertions about arrays."""

import math

from numpy.testing import assert_raises_regex, assert_warns, suppress_warnings

import torch._numpy as np
from torch._numpy import asarray, ndarray

IS_WASM = False
HAS_REFCOUNT = True


def assert_(val, msg=""):
    if not val:
        raise AssertionError(msg() if callable(msg) else msg)


def build_err_msg(arrays, err_msg, header="Items are not equal:", verbose=True, names=("ACTUAL", "DESIRED"), precision=8):
    """What an assertion says that fails: its header, the reason, and what was compared."""
    lines = ["\n" + header]
    err_msg = str(err_msg)
    if err_msg and "\n" not in err_msg and len(err_msg) < 79 - len(header):
        lines[0] += " " + err_msg
    elif err_msg:
        lines.append(err_msg)
    if verbose:
        for a, name in zip(arrays, names):
            shown = repr(a).splitlines()
            lines.append(f" {name}: " + "\n".join(shown[:3]) + ("..." if len(shown) > 4 else "\n" + shown[3] if len(shown) > 3 else ""))
    return "\n".join(lines)


def _bool(x):
    return bool(np.all(asarray(x)))


def _zero_signs_differ(a, b):
    return a == b == 0 and isinstance(a, float) and isinstance(b, float) and math.copysign(1, a) != math.copysign(1, b)


def _both_nan(a, b):
    return a != a and b != b


def _items(actual, desired):
    """The keys of what two containers have to have in common, after the word for one; None if they are no containers."""
    if isinstance(desired, dict):
        assert_(isinstance(actual, dict), repr(type(actual)))
        kind, keys = "key", desired
    elif isinstance(desired, (list, tuple)) and isinstance(actual, (list, tuple)):
        kind, keys = "item", range(len(desired))
    else:
        return None
    return kind, keys


def assert_equal(actual, desired, err_msg="", verbose=True):
    parts = _items(actual, desired)
    if parts is not None:
        kind, keys = parts
        assert_equal(len(actual), len(desired), err_msg, verbose)
        for at in keys:
            assert_(kind == "item" or at in actual, repr(at))
            assert_equal(actual[at], desired[at], f"{kind}={at!r}\n{err_msg}", verbose)
    elif ndarray in (type(actual), type(desired)):
        assert_array_equal(actual, desired, err_msg, verbose)
    elif not _both_nan(actual, desired):
        equal = desired == actual and not _zero_signs_differ(actual, desired)
        assert_(equal, lambda: build_err_msg([actual, desired], err_msg, verbose=verbose))


def _almost(a, b, decimal):
    """Whether two numbers are alike to so many digits."""
    if isinstance(a, complex) or isinstance(b, complex):
        a, b = complex(a), complex(b)
        return _almost(a.real, b.real, decimal) and _almost(a.imag, b.imag, decimal)
    if math.isfinite(a) and math.isfinite(b):
        return abs(b - a) < 1.5 * 10.0**-decimal
    return a == b or _both_nan(a, b)


def assert_almost_equal(actual, desired, decimal=7, err_msg="", verbose=True):
    if any(isinstance(x, (ndarray, tuple, list)) for x in (actual, desired)):
        assert_array_almost_equal(actual, desired, decimal, err_msg)
        return
    header = f"Arrays are not almost equal to {decimal} decimals"
    assert_(_almost(actual, desired, decimal), lambda: build_err_msg([actual, desired], err_msg, verbose=verbose, header=header))


def _compare(holds, x, y, err_msg="", verbose=True, header="", equal_nan=True, equal_inf=True, strict=False):
    """Raise where holds is not true of all pairs of elements. Those that are not finite have to be so in both, and are left out then."""
    x, y = asarray(x), asarray(y)

    def refuse(why):
        raise AssertionError(build_err_msg([x, y], f"{err_msg}\n{why}", verbose=verbose, header=header, names=("x", "y")))

    alike = x.shape == y.shape and x.dtype == y.dtype if strict else x.shape == y.shape or () in (x.shape, y.shape)
    if not alike:
        refuse(f"(shapes {x.shape}, {y.shape} mismatch)" if x.shape != y.shape else f"(dtypes {x.dtype}, {y.dtype} mismatch)")
    flagged = None
    tests = [(np.isnan, "nan")] if equal_nan else []
    if equal_inf:
        tests += [(lambda v: v == math.inf, "+inf"), (lambda v: v == -math.inf, "-inf")]
    for test, name in tests:
        a, b = test(x), test(y)
        if not _bool(a == b):
            refuse(f"x and y {name} location mismatch:")
        both = a | b
        flagged = both if flagged is None else flagged | both
    fx, fy = x, y
    if flagged is not None and flagged.ndim > 0:
        fx, fy = (v[~flagged] if v.ndim > 0 else v for v in (x, y))
    elif flagged is not None and bool(flagged):
        return
    ok = holds(fx, fy)
    if isinstance(ok, bool):
        ok = asarray(ok)
    if _bool(ok):
        return
    wrong, total = int(np.sum(~ok)), ok.size
    lines = [f"Mismatched elements: {wrong} / {total} ({100 * wrong / total:.3g}%)"]
    try:
        error = abs(fx - fy)
        lines.append(f"Max absolute difference: {np.max(error).item()}")
        nonzero = np.broadcast_to(fy != 0, error.shape)
        relative = error[nonzero] / abs(np.broadcast_to(fy, error.shape)[nonzero])
        lines.append(f"Max relative difference: {np.max(relative).item() if relative.size else math.inf}")
    except (TypeError, RuntimeError):  # of types without differences
        pass
    refuse("\n".join(lines))


def assert_array_equal(x, y, err_msg="", verbose=True, *, strict=False):
    _compare(lambda a, b: a == b, x, y, err_msg, verbose, header="Arrays are not equal", strict=strict)


def assert_array_almost_equal(x, y, decimal=6, err_msg="", verbose=True):
    def close(a, b):
        return abs(a - b) < 1.5 * 10.0**-decimal

    _compare(close, x, y, err_msg, verbose, header=f"Arrays are not almost equal to {decimal} decimals")


def assert_array_less(x, y, err_msg="", verbose=True):
    _compare(lambda a, b: a < b, x, y, err_msg, verbose, header="Arrays are not less-ordered", equal_inf=False)


def assert_allclose(actual, desired, rtol=1e-7, atol=0, equal_nan=True, err_msg="", verbose=True, check_dtype=False):
    actual, desired = asarray(actual), asarray(desired)
    header = f"Not equal to tolerance rtol={rtol:g}, atol={atol:g}"
    _compare(lambda a, b: np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan), actual, desired, err_msg, verbose, header, equal_nan)
    assert not check_dtype or actual.dtype == desired.dtype
