"""What types NumPy makes of two, in terms of tensors' own."""

from collections import namedtuple

import torch

DefaultDTypes = namedtuple("DefaultDTypes", ["float_dtype", "complex_dtype", "int_dtype"])

_default_dtypes = None  # those that were set, or those of the settings once they were asked for


def _configured():
    from torch._dynamo import config

    names = (getattr(config, f"numpy_default_{kind}") for kind in ("float", "complex", "int"))
    return DefaultDTypes(*(getattr(torch, name) for name in names))


def default_dtypes():
    """The types that functions give where nothing says which."""
    globals()["_default_dtypes"] = _default_dtypes or _configured()
    return _default_dtypes


# From the narrow to the wide: the type of a result is the first that all its parts fit in.
# Unsigned ones beyond bytes are not in every torch.
_ladder = [
    getattr(torch, name)
    for name in "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 float32 float64 complex64 complex128".split()
    if hasattr(torch, name)
]

# How many bits of an integer a type holds, without its sign.
_whole = {torch.float16: 8, torch.float32: 16, torch.float64: 64, torch.complex64: 16, torch.complex128: 64}


def _kind(dtype):
    kinds = {"b": dtype == torch.bool, "c": dtype.is_complex, "f": dtype.is_floating_point, "i": dtype.is_signed, "u": True}
    return next(kind for kind, holds in kinds.items() if holds)


def _bits(dtype):
    return dtype.itemsize * 8


def _fits(a, b):
    """Whether every value of a is one of b."""
    ka, kb = _kind(a), _kind(b)
    if a == b or ka == "b":
        return True
    if ka in "ui" and kb in "fc":
        return _bits(a) <= _whole[b]
    if ka == kb:
        return _bits(a) <= _bits(b)
    if ka == "u" and kb == "i":
        return _bits(a) < _bits(b)
    if ka == "f" and kb == "c":
        return 2 * _bits(a) <= _bits(b)
    return False


def can_cast_impl(from_torch_dtype, to_torch_dtype, casting):
    """Whether a cast is allowed under one of NumPy's rules."""
    a, b = from_torch_dtype, to_torch_dtype
    if casting in ("no", "equiv"):
        return a == b
    if casting == "safe":
        return _fits(a, b)
    if casting == "same_kind":
        return "buifc".index(_kind(a)) <= "buifc".index(_kind(b))
    if casting == "unsafe":
        return True
    raise KeyError(casting)


def common_dtype(a, b):
    """The type that holds the values of both."""
    for dtype in _ladder:
        if _fits(a, dtype) and _fits(b, dtype):
            return dtype
    raise KeyError(a)


def result_type_impl(*tensors):
    dtype = tensors[0].dtype
    for t in tensors[1:]:
        dtype = common_dtype(dtype, t.dtype)
    return dtype


def get_default_dtype_for(dtype):
    """The default type of the kind of dtype."""
    return {"b": torch.bool, "c": default_dtypes().complex_dtype, "f": default_dtypes().float_dtype}.get(_kind(dtype), default_dtypes().int_dtype)


def python_type_for_torch(dtyp):
    """The class of Python's numbers that stands for a type."""
    return {"b": bool, "c": complex, "f": float}.get(_kind(dtyp), int)


_SCALAR_TYPES = (int, bool, float, complex)
_SYMBOLS = {torch.SymBool: torch.bool, torch.SymInt: torch.int64, torch.SymFloat: torch.float64}
_NUMBERS = {bool: torch.bool, int: torch.int64, float: torch.float64, complex: torch.complex128, **_SYMBOLS}


def is_scalar(x):
    return isinstance(x, _SCALAR_TYPES)


def is_scalar_or_symbolic(x):
    return isinstance(x, _SCALAR_TYPES + tuple(_SYMBOLS))


def dtype_of(x):
    """The type of a tensor or of one of Python's numbers."""
    return x.dtype if isinstance(x, torch.Tensor) else _NUMBERS[type(x)]


def is_float_or_fp_tensor(x):
    return dtype_of(x).is_floating_point


def is_complex_or_complex_tensor(x):
    return dtype_of(x).is_complex


def _category(dtype):
    return {"b": 0, "f": 2, "c": 3}.get(_kind(dtype), 1)


def number_to_tensor(x, dtype=None):
    """One of Python's numbers as a tensor; without a type, as NumPy would make an array of it."""
    return torch.as_tensor(x, dtype=get_default_dtype_for(dtype_of(x)) if dtype is None else dtype)


def weak(number, other):
    """The type that a number takes beside a tensor (NEP 50): the tensor's, unless it is of a higher kind."""
    mine, theirs = dtype_of(number), other.dtype
    if mine.is_complex and theirs == torch.float32:
        return torch.complex64
    if _category(mine) > _category(theirs):
        return None
    if _category(mine) == _category(theirs) == 1 and isinstance(number, int):
        limits = torch.iinfo(theirs)
        if not limits.min <= number <= limits.max:
            raise OverflowError(f"Python integer {number} out of bounds for {theirs}")
    return theirs
