"""Groups of dtypes by which tests choose theirs."""
import torch


def _validate_dtypes(*dtypes):
    for d in dtypes:
        assert isinstance(d, torch.dtype)
    return dtypes


class _dispatch_dtypes(tuple):
    """A tuple that stays one of its kind when it is added to."""

    def __add__(self, other):
        assert isinstance(other, tuple)
        return _dispatch_dtypes(tuple.__add__(self, other))


def _there(*names):
    return _dispatch_dtypes(getattr(torch, n) for n in names if hasattr(torch, n))


_empty_types = _dispatch_dtypes(())
_floating_types = _there("float32", "float64")
_floating_types_and_half = _floating_types + (torch.half,)
_complex_types = _there("complex64", "complex128")
_floating_and_complex_types = _floating_types + _complex_types
_double_types = _there("float64", "complex128")
_integral_types = _there("uint8", "int8", "int16", "int32", "int64")
_all_types = _floating_types + _integral_types
_all_types_and_half = _all_types + (torch.half,)
_all_types_and_complex = _all_types + _complex_types
_float8_types = _there("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")


def empty_types():
    return _empty_types


def floating_types():
    return _floating_types


def floating_types_and_half():
    return _floating_types_and_half


def floating_types_and(*dtypes):
    return _floating_types + _validate_dtypes(*dtypes)


def floating_and_complex_types():
    return _floating_and_complex_types


def floating_and_complex_types_and(*dtypes):
    return _floating_and_complex_types + _validate_dtypes(*dtypes)


def double_types():
    return _double_types


def integral_types():
    return _integral_types


def integral_types_and(*dtypes):
    return _integral_types + _validate_dtypes(*dtypes)


def all_types():
    return _all_types


def all_types_and(*dtypes):
    return _all_types + _validate_dtypes(*dtypes)


def all_types_and_half():
    return _all_types_and_half


def all_types_and_complex():
    return _all_types_and_complex


def all_types_and_complex_and(*dtypes):
    return _all_types_and_complex + _validate_dtypes(*dtypes)


def complex_types():
    return _complex_types


def complex_types_and(*dtypes):
    return _complex_types + _validate_dtypes(*dtypes)


def float8_types():
    return _float8_types


def float8_types_and(*dtypes):
    return _float8_types + _validate_dtypes(*dtypes)


def all_types_complex_float8_and(*dtypes):
    return _all_types + _complex_types + _float8_types + _validate_dtypes(*dtypes)


def custom_types(*dtypes):
    return _empty_types + _validate_dtypes(*dtypes)


def get_all_dtypes(include_half=True, include_bfloat16=True, include_bool=True, include_complex=True, include_complex32=False, include_qint=False):
    dtypes = get_all_int_dtypes() + get_all_fp_dtypes(include_half=include_half, include_bfloat16=include_bfloat16)
    if include_bool:
        dtypes.append(torch.bool)
    if include_complex:
        dtypes += get_all_complex_dtypes(include_complex32)
    if include_qint:
        dtypes += get_all_qint_dtypes()
    return dtypes


def get_all_math_dtypes(device):
    return get_all_int_dtypes() + get_all_fp_dtypes(include_half=device.startswith("cuda"), include_bfloat16=False) + get_all_complex_dtypes()


def get_all_complex_dtypes(include_complex32=False):
    return [*([torch.complex32] if include_complex32 else []), torch.complex64, torch.complex128]


def get_all_int_dtypes():
    return [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]


def get_all_fp_dtypes(include_half=True, include_bfloat16=True):
    return [torch.float32, torch.float64, *([torch.float16] if include_half else []), *([torch.bfloat16] if include_bfloat16 else [])]


def get_all_qint_dtypes():
    return [torch.qint8, torch.quint8, torch.qint32, torch.quint4x2, torch.quint2x4]


float_to_corresponding_complex_type_map = {torch.float32: torch.complex64, torch.float64: torch.complex128}
if hasattr(torch, "complex32"):
    float_to_corresponding_complex_type_map[torch.float16] = torch.complex32
