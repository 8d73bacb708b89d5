"""Printing, and its options."""
import contextlib

from numpy._core import _multiarray_umath as mu
from numpy._core._multiarray_umath import asarray

_default = {"edgeitems": 3, "threshold": 1000, "floatmode": "maxprec", "precision": 8, "suppress": False, "linewidth": 75, "nanstr": "nan", "infstr": "inf", "sign": "-", "formatter": None, "legacy": False, "override_repr": None}
_options = dict(_default)


def _check(kw):
    kw = {k: v for k, v in kw.items() if v is not None}
    mode = kw.get("floatmode")
    if mode is not None and mode not in ("fixed", "unique", "maxprec", "maxprec_equal"):
        raise ValueError("floatmode option must be one of 'fixed', 'unique', 'maxprec', or 'maxprec_equal'")
    if kw.get("sign") not in (None, "-", "+", " "):
        raise ValueError("sign option must be one of ' ', '+', or '-'")
    if kw.get("floatmode") == "fixed" and kw.get("precision", 0) is None:
        raise ValueError("precision cannot be None in fixed floatmode")
    t = kw.get("threshold")
    if t is not None:
        if not isinstance(t, (int, float)):
            raise TypeError("threshold must be numeric")
        if t != t:
            raise ValueError("threshold must be non-NAN, try sys.maxsize for untruncated representation")
    return kw


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, suppress=None, nanstr=None, infstr=None, formatter=None, sign=None, floatmode=None, *, legacy=None, override_repr=None):
    kw = _check(dict(precision=precision, threshold=threshold, edgeitems=edgeitems, linewidth=linewidth, suppress=suppress, nanstr=nanstr, infstr=infstr, sign=sign, floatmode=floatmode))
    _options.update(kw)
    _options["formatter"] = formatter
    mu._set_options(_options)


def get_printoptions():
    return dict(_options)


@contextlib.contextmanager
def printoptions(*args, **kwargs):
    saved = dict(_options)
    try:
        set_printoptions(*args, **kwargs)
        yield get_printoptions()
    finally:
        _options.update(saved)
        mu._set_options(_options)


def array2string(a, max_line_width=None, precision=None, suppress_small=None, separator=" ", prefix="", *, formatter=None, threshold=None, edgeitems=None, sign=None, floatmode=None, suffix="", legacy=None):
    o = dict(_options)
    o.update(_check(dict(linewidth=max_line_width, precision=precision, suppress=suppress_small, formatter=formatter, threshold=threshold, edgeitems=edgeitems, sign=sign, floatmode=floatmode)))
    return mu._array2string(a, o, prefix, separator, suffix)


def array_repr(arr, max_line_width=None, precision=None, suppress_small=None):
    with printoptions(**_check(dict(linewidth=max_line_width, precision=precision, suppress=suppress_small))):
        return repr(asarray(arr))


def array_str(a, max_line_width=None, precision=None, suppress_small=None):
    with printoptions(**_check(dict(linewidth=max_line_width, precision=precision, suppress=suppress_small))):
        return str(asarray(a))


def format_float_positional(x, precision=None, unique=True, fractional=True, trim="k", sign=False, pad_left=None, pad_right=None, min_digits=None):
    s = mu._float_text(x, -1 if precision is None else precision, unique, False, min_digits or 0, sign)
    a, _, b = s.partition(".")
    if trim == "0" and not b:
        b = "0"
    if trim == "-" and not b or trim == "-" and not b.rstrip("0"):
        s = a
    elif trim in (".", "-"):
        s = a + "." + b.rstrip("0")
    else:
        s = a + "." + b
    if pad_left is not None:
        s = " " * (pad_left - len(a)) + s
    if pad_right is not None:
        s += " " * (pad_right - len(b))
    return s


def format_float_scientific(x, precision=None, unique=True, trim="k", sign=False, pad_left=None, exp_digits=None, min_digits=None):
    s = mu._float_text(x, -1 if precision is None else precision, unique, True, min_digits or 0, sign)
    m, _, e = s.partition("e")
    if trim == "-":
        m = m.rstrip("0").rstrip(".")
    elif trim == "0" and m.endswith("."):
        m += "0"
    if exp_digits is not None:
        e = e[0] + e[1:].zfill(exp_digits)
    if pad_left is not None:
        m = " " * (pad_left - len(m.partition(".")[0])) + m
    return m + "e" + e
