"""The ufuncs: functions of each element, with types promoted and results stored as NumPy does it."""

import torch

from . import _dtypes_impl, _util
from ._normalizations import array, normalizer, operand, refused, rule, scalar_type, target


def _stored(result, out, casting):
    """A result as it goes into the array for it."""
    if out is None:
        return result
    return torch.broadcast_to(_util.typecast_tensor(result, out.dtype.torch_dtype, casting), out.shape)


def _named(f, function):
    """f under the name of the function of torch that it is made of: fabs says that it is absolute."""
    f.__name__ = f.__qualname__ = function.__name__.lstrip("_")
    return f


# Functions of two arrays: the name, the function of torch, and whether that takes a number as it is ("weak"), takes tensors alone but promotes
# numbers by NEP 50 ("tensors"), or makes an array of each number ("plain").
_two = [
    ("add", torch.add, "weak"),
    ("arctan2", torch.arctan2, "tensors"),
    ("bitwise_and", torch.bitwise_and, "weak"),
    ("bitwise_or", torch.bitwise_or, "weak"),
    ("bitwise_xor", torch.bitwise_xor, "weak"),
    ("copysign", torch.copysign, "tensors"),
    ("divide", torch.divide, "weak"),
    ("equal", torch.eq, "plain"),
    ("float_power", torch.float_power, "plain"),
    ("floor_divide", torch.floor_divide, "weak"),
    ("fmax", torch.fmax, "tensors"),
    ("fmin", torch.fmin, "tensors"),
    ("fmod", torch.fmod, "tensors"),
    ("gcd", torch.gcd, "tensors"),
    ("greater", torch.greater, "plain"),
    ("greater_equal", torch.greater_equal, "plain"),
    ("heaviside", torch.heaviside, "tensors"),
    ("hypot", torch.hypot, "tensors"),
    ("lcm", torch.lcm, "tensors"),
    ("left_shift", torch.bitwise_left_shift, "weak"),
    ("less", torch.less, "plain"),
    ("less_equal", torch.less_equal, "plain"),
    ("logaddexp", torch.logaddexp, "tensors"),
    ("logaddexp2", torch.logaddexp2, "tensors"),
    ("logical_and", torch.logical_and, "plain"),
    ("logical_or", torch.logical_or, "plain"),
    ("logical_xor", torch.logical_xor, "plain"),
    ("maximum", torch.maximum, "tensors"),
    ("minimum", torch.minimum, "tensors"),
    ("mod", torch.remainder, "weak"),
    ("multiply", torch.multiply, "weak"),
    ("nextafter", torch.nextafter, "plain"),
    ("not_equal", torch.not_equal, "plain"),
    ("power", torch.pow, "weak"),
    ("remainder", torch.remainder, "weak"),
    ("right_shift", torch.bitwise_right_shift, "weak"),
    ("subtract", torch.subtract, "weak"),
    ("true_divide", torch.true_divide, "weak"),
]


def _promoted(x1, x2, numbers, casting):
    """Two operands in the type that they have in common."""
    if isinstance(x1, torch.Tensor) and isinstance(x2, torch.Tensor):
        return _util.typecast_tensors((x1, x2), _dtypes_impl.result_type_impl(x1, x2), casting)
    if numbers == "plain" or not isinstance(x1, torch.Tensor) and not isinstance(x2, torch.Tensor):
        return tuple(x if isinstance(x, torch.Tensor) else _dtypes_impl.number_to_tensor(x) for x in (x1, x2))
    first = not isinstance(x1, torch.Tensor)
    number, other = (x1, x2) if first else (x2, x1)
    dtype = _dtypes_impl.weak(number, other)
    if numbers == "tensors" or dtype != _dtypes_impl.dtype_of(number):
        number = _dtypes_impl.number_to_tensor(number, dtype)
    return (number, other) if first else (other, number)


def _of_two(compute, function):
    """A ufunc of two operands: compute makes its result of them, the dtype that was asked for, and the rule of casting."""

    @normalizer
    def ufunc(
        x1: operand,
        x2: operand,
        /,
        out: target = None,
        *,
        where: refused = True,
        casting: rule = "same_kind",
        order: refused = "K",
        dtype: scalar_type = None,
        subok: refused = False,
        signature: refused = None,
        extobj: refused = None,
    ):
        return _stored(compute(x1, x2, dtype, casting), out, casting)

    return _named(ufunc, function)


def _in_type(x, dtype, casting):
    """An operand in the dtype that was asked for."""
    return _util.typecast_tensor(x, dtype, casting) if isinstance(x, torch.Tensor) else torch.as_tensor(x, dtype=dtype)


def _binary_ufunc(function, numbers):
    def compute(x1, x2, dtype, casting):
        if dtype is None:
            return function(*_promoted(x1, x2, numbers, casting))
        return function(*(_in_type(x, dtype, casting) for x in (x1, x2)))

    return _of_two(compute, function)


@normalizer
def matmul(
    x1: array,
    x2: array,
    /,
    out: target = None,
    *,
    casting: rule = "same_kind",
    order: refused = "K",
    dtype: scalar_type = None,
    subok: refused = False,
    signature: refused = None,
    extobj: refused = None,
    axes: refused = None,
    axis: refused = None,
):
    if dtype is None:
        dtype = _dtypes_impl.result_type_impl(x1, x2)
    x1, x2 = _util.typecast_tensors((x1, x2), dtype, casting)
    work = {torch.bool: torch.uint8, torch.float16: torch.float32}.get(dtype, dtype)  # that the product is written for
    result = torch.matmul(_util.cast_if_needed(x1, work), _util.cast_if_needed(x2, work))
    return _stored(_util.cast_if_needed(result, dtype), out, casting)


def _ldexp(x1, x2, dtype, casting):
    if dtype is not None:
        x1 = _in_type(x1, dtype, casting)
    elif not isinstance(x1, torch.Tensor):
        x1 = _util.cast_int_to_float(torch.as_tensor(x1))  # floats of Python are torch's default here
    exponent = torch.as_tensor(x2)
    if _dtypes_impl.python_type_for_torch(exponent.dtype) is not int:
        raise ValueError("ldexp 2nd arg must be integer")
    result = torch.ldexp(x1, exponent)
    return result.half() if x1.dtype == torch.float16 else result


ldexp = _of_two(_ldexp, _ldexp)


@normalizer
def divmod(
    x1: array,
    x2: array,
    out1: target = None,
    out2: target = None,
    /,
    out=(None, None),
    *,
    where: refused = True,
    casting: rule = "same_kind",
    order: refused = "K",
    dtype: scalar_type = None,
    subok: refused = False,
    signature: refused = None,
    extobj: refused = None,
):
    given = [o for o in (out1, out2) if o is not None]
    if len(given) == 1:
        raise ValueError("both out1 and out2 need to be provided")
    if not given:
        out1, out2 = out
    elif any(o is not None for o in out):
        raise TypeError("cannot specify 'out' as both a positional and keyword argument")
    if dtype is None:
        dtype = _dtypes_impl.result_type_impl(x1, x2)
    x1, x2 = _util.typecast_tensors((x1, x2), dtype, casting)
    quotient, rest = x1 // x2, x1 % x2
    return _stored(quotient, out1, casting), _stored(rest, out2, casting)


def modf(x, /, *args, **kwds):
    quotient, rest = divmod(x, 1, *args, **kwds)
    return rest, quotient


def _cbrt(x):
    return torch.pow(x, 1 / 3)


def _positive(x):
    return +x


def _absolute(x):
    return x if x.dtype == torch.bool else torch.absolute(x)


# Functions of one array: the name, the function of torch, and whether integers are made floats first.
_one = [
    ("abs", _absolute, False),
    ("absolute", _absolute, False),
    ("arccos", torch.arccos, True),
    ("arccosh", torch.arccosh, True),
    ("arcsin", torch.arcsin, True),
    ("arcsinh", torch.arcsinh, True),
    ("arctan", torch.arctan, True),
    ("arctanh", torch.arctanh, True),
    ("bitwise_not", torch.bitwise_not, False),
    ("cbrt", _cbrt, True),
    ("ceil", torch.ceil, False),
    ("conj", torch.conj_physical, False),
    ("conjugate", torch.conj_physical, False),
    ("cos", torch.cos, True),
    ("cosh", torch.cosh, True),
    ("deg2rad", torch.deg2rad, True),
    ("degrees", torch.rad2deg, True),
    ("exp", torch.exp, True),
    ("exp2", torch.exp2, True),
    ("expm1", torch.expm1, True),
    ("fabs", torch.absolute, False),
    ("fix", torch.round, False),
    ("floor", torch.floor, False),
    ("invert", torch.bitwise_not, False),
    ("isfinite", torch.isfinite, False),
    ("isinf", torch.isinf, False),
    ("isnan", torch.isnan, False),
    ("log", torch.log, True),
    ("log10", torch.log10, True),
    ("log1p", torch.log1p, True),
    ("log2", torch.log2, True),
    ("logical_not", torch.logical_not, False),
    ("negative", torch.negative, False),
    ("positive", _positive, False),
    ("rad2deg", torch.rad2deg, True),
    ("radians", torch.deg2rad, True),
    ("reciprocal", torch.reciprocal, True),
    ("rint", torch.round, False),
    ("sign", torch.sign, False),
    ("signbit", torch.signbit, False),
    ("sin", torch.sin, True),
    ("sinh", torch.sinh, True),
    ("sqrt", torch.sqrt, True),
    ("square", torch.square, True),
    ("tan", torch.tan, True),
    ("tanh", torch.tanh, True),
    ("trunc", torch.trunc, True),
]


def _unary_ufunc(function, floats):
    @normalizer
    def ufunc(
        x: array,
        /,
        out: target = None,
        *,
        where=True,
        casting: rule = "same_kind",
        order="K",
        dtype: scalar_type = None,
        subok: refused = False,
        signature=None,
        extobj=None,
    ):
        if dtype is not None:
            x = _util.typecast_tensor(x, dtype, casting)
        if floats:
            x = _util.cast_int_to_float(x)
        return _stored(function(x), out, casting)

    return _named(ufunc, function)


__all__ = ["matmul", "ldexp", "divmod", "modf"]
for _row in _two:
    globals()[_row[0]] = _binary_ufunc(*_row[1:])
    __all__.append(_row[0])
for _row in _one:
    globals()[_row[0]] = _unary_ufunc(*_row[1:])
    __all__.append(_row[0])
