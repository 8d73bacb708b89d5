"""Facts about types: finfo, iinfo, issubdtype."""
import math

from numpy._core import _multiarray_umath as mu
from numpy._core._multiarray_umath import asarray, dtype, generic


def issubclass_(arg1, arg2):
    try:
        return issubclass(arg1, arg2)
    except TypeError:
        return False


def issubdtype(arg1, arg2):
    if not issubclass_(arg1, generic):
        arg1 = dtype(arg1).type
    if not issubclass_(arg2, generic):
        arg2 = dtype(arg2).type
    return issubclass(arg1, arg2)


_kinds = {"bool": "b", "signed integer": "i", "unsigned integer": "u", "integral": "iu", "real floating": "f", "complex floating": "c", "numeric": "iufc"}


def isdtype(dt, kind):
    kinds = kind if isinstance(kind, tuple) else (kind,)
    d = dtype(dt)
    for k in kinds:
        if isinstance(k, str):
            if k not in _kinds:
                raise ValueError(f"kind argument is a string, but {k!r} is not a known kind name.")
            if d.kind in _kinds[k]:
                return True
        elif d == dtype(k):
            return True
    return False


class iinfo:
    def __init__(self, int_type):
        try:
            d = dtype(int_type)
        except TypeError:
            d = dtype(type(int_type))
        if d.kind not in "iu":
            raise ValueError(f"Invalid integer data type {d.kind!r}.")
        self.dtype, self.kind, self.bits = d, d.kind, 8 * d.itemsize
        self.key = f"{d.kind}{self.bits}"
        self.min = 0 if d.kind == "u" else -(1 << (self.bits - 1))
        self.max = (1 << self.bits) - 1 if d.kind == "u" else (1 << (self.bits - 1)) - 1

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"

    def __str__(self):
        line = "-" * 63
        return f"Machine parameters for {self.dtype}\n{line}\nmin = {self.min}\nmax = {self.max}\n{line}\n"


class finfo:
    _bits = {"float16": (10, 5), "float32": (23, 8), "float64": (52, 11)}  # of mantissa and exponent

    def __init__(self, dt):
        try:
            d = dtype(dt)
        except TypeError:
            d = dtype(type(dt))
        if d.kind not in "fc":
            raise ValueError(f"data type {dt!r} not inexact")
        if d.kind == "c":
            d = dtype("float32" if d.itemsize == 8 else "float64")
        t = d.type
        m, x = self._bits[d.name]
        least = 2 - (1 << (x - 1))
        self.dtype, self.bits, self.nmant, self.nexp, self.iexp = d, 8 * d.itemsize, m, x, x
        self.machep, self.negep, self.minexp, self.maxexp = -m, -m - 1, least, 1 << (x - 1)
        self.precision = int(m * math.log10(2))
        self.eps, self.epsneg = t(2.0 ** -m), t(2.0 ** (-m - 1))
        self.max = t((2.0 - 2.0 ** -m) * 2.0 ** (self.maxexp - 1))
        self.min = -self.max
        self.tiny = self.smallest_normal = t(2.0 ** least)
        self.smallest_subnormal = t(2.0 ** (least - m))
        self.resolution = t(10.0 ** -self.precision)

    def __repr__(self):
        return f"finfo(resolution={self.resolution}, min={self.min}, max={self.max}, dtype={self.dtype})"

    def __str__(self):
        rows = (("precision", "resolution"), ("machep", "eps"), ("negep", "epsneg"), ("minexp", "tiny"), ("maxexp", "max"), ("nexp", "min"))
        text = f"Machine parameters for {self.dtype}\n" + "-" * 63 + "\n"
        for a, b in rows:
            text += f"{a} = {getattr(self, a):>3}   {b} = {getattr(self, b):>18}\n"
        return text + f"smallest_normal = {self.smallest_normal}   smallest_subnormal = {self.smallest_subnormal}\n" + "-" * 63 + "\n"


sctypeDict = {n: getattr(mu, n) for n in ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "complex64", "complex128")}
typecodes = {"Character": "c", "Integer": "bhilqnp", "UnsignedInteger": "BHILQNP", "Float": "efdg", "Complex": "FDG", "AllInteger": "bBhHiIlLqQnNpP", "AllFloat": "efdgFDG", "Datetime": "Mm", "All": "?bhilqnpBHILQNPefdgFDGSUVOMm"}


def isreal(x):
    return asarray(x).imag == 0


def iscomplex(x):
    x = asarray(x)
    return x.imag != 0 if x.dtype.kind == "c" else mu.zeros(x.shape, bool)[()]


def iscomplexobj(x):
    return asarray(x).dtype.kind == "c"


def isrealobj(x):
    return not iscomplexobj(x)


def mintypecode(typechars, typeset="GDFgdf", default="d"):
    codes = [t if isinstance(t, str) else asarray(t).dtype.char for t in typechars]
    found = [t for t in codes if t in typeset]
    if not found:
        return default
    if "F" in found and "d" in found:
        return "D"
    return min(found, key="GDFgdfe".index)


def common_type(*arrays):
    return mu.result_type(*[a.dtype if a.dtype.kind in "fc" else mu.float64 for a in map(asarray, arrays)]).type


def min_scalar_type(a):
    a = asarray(a)
    if a.ndim or a.dtype.kind not in "iuf":
        return a.dtype
    v = a.item()
    if a.dtype.kind == "f":
        for t in ("float16", "float32"):
            if not math.isfinite(v) or abs(v) <= float(finfo(t).max):
                return dtype(t)
        return dtype("float64")
    for t in (("int8", "int16", "int32") if v < 0 else ("uint8", "uint16", "uint32", "uint64")):
        if iinfo(t).min <= v <= iinfo(t).max:
            return dtype(t)
    return dtype("int64")
