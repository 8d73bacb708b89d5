"""make_tensor: random tensors for tests."""
import collections.abc
import math

import torch


def _there(*names):
    return [getattr(torch, n) for n in names if hasattr(torch, n)]


_INTEGRAL_TYPES = _there("uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64")
_FLOATING_TYPES = _there("float16", "bfloat16", "float32", "float64")
_FLOATING_8BIT_TYPES = _there("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
_COMPLEX_TYPES = _there("complex32", "complex64", "complex128")
_BOOLEAN_OR_INTEGRAL_TYPES = [torch.bool, *_INTEGRAL_TYPES]
_FLOATING_OR_COMPLEX_TYPES = [*_FLOATING_TYPES, *_COMPLEX_TYPES]


def _uniform_random_(t, low, high):
    # The width of the widest ranges is no number of the dtype: half of it is.
    if high - low >= torch.finfo(t.dtype).max:
        return t.uniform_(low / 2, high / 2).mul_(2)
    return t.uniform_(low, high)


def make_tensor(*shape, dtype, device, low=None, high=None, requires_grad=False, noncontiguous=False, exclude_zero=False, memory_format=None):
    """A tensor of this shape with values that are drawn evenly from [low, high).

    Without low and high they are 0 and 2 for bool, 0 (for unsigned ones) or -9 and 10 for integers, and -9 and 9 else.
    """

    def bounds(low, high, lowest, highest, default_low, default_high):
        for v in (low, high):
            if isinstance(v, float) and math.isnan(v):
                raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
        if low is None:
            low = default_low
        if high is None:
            high = default_high
        if dtype in _BOOLEAN_OR_INTEGRAL_TYPES:
            wrong = low > high - 1 if low == math.floor(low) and high == math.ceil(high) and low != high else low >= high
        else:
            wrong = low > high
        if low == high and dtype in _FLOATING_OR_COMPLEX_TYPES:
            import warnings

            warnings.warn("Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is deprecated since 2.1 and will be removed in 2.3. "
                          "Use `torch.full(...)` instead.", FutureWarning, stacklevel=3)
        elif wrong:
            raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
        elif high < lowest or low > highest:
            raise ValueError(f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} only supports [{lowest}, {highest}]")
        low, high = max(low, lowest), min(high, highest)
        if dtype in _BOOLEAN_OR_INTEGRAL_TYPES:
            return math.floor(low), math.ceil(high)
        return low, high

    if len(shape) == 1 and isinstance(shape[0], collections.abc.Sequence):
        shape = shape[0]
    shape = tuple(shape)
    if noncontiguous and memory_format is not None:
        raise ValueError(f"The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got {noncontiguous=} and {memory_format=}")
    if requires_grad and dtype in _BOOLEAN_OR_INTEGRAL_TYPES:
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}")
    # Every other element of the last dimension is taken afterwards.
    spaced = noncontiguous and math.prod(shape) > 1
    made = (*shape[:-1], 2 * shape[-1]) if spaced and shape else shape
    if dtype is torch.bool:
        low, high = bounds(low, high, 0, 2, 0, 2)
        result = torch.randint(low, high, made, device=device, dtype=dtype)
    elif dtype in _INTEGRAL_TYPES:
        info = torch.iinfo(dtype)
        # high itself is never drawn, so it may be one more than the dtype holds.
        low, high = bounds(low, high, info.min, info.max + (dtype is not torch.int64), 0 if dtype is torch.uint8 else -9, 10)
        result = torch.randint(low, high, made, device=device, dtype=dtype)
    elif dtype in _FLOATING_OR_COMPLEX_TYPES:
        info = torch.finfo(dtype)
        low, high = bounds(low, high, info.min, info.max, -9, 9)
        result = torch.empty(made, device=device, dtype=dtype)
        _uniform_random_(torch.view_as_real(result) if dtype in _COMPLEX_TYPES else result, low, high)
    elif dtype in _FLOATING_8BIT_TYPES:
        info = torch.finfo(dtype)
        low, high = bounds(low, high, info.min, info.max, -9, 9)
        result = torch.empty(made, device=device, dtype=torch.float32)
        result = _uniform_random_(result, low, high).to(dtype)
    else:
        raise TypeError(f"The requested dtype '{dtype}' is not supported by torch.testing.make_tensor(). To request support, file an issue at: https://github.com/pytorch/pytorch/issues")
    if spaced and shape:
        result = result[..., ::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        if dtype in _BOOLEAN_OR_INTEGRAL_TYPES:
            smallest = 1
        else:
            smallest = torch.finfo(dtype).tiny
        result[result == 0] = smallest
    if requires_grad:
        result.requires_grad = True
    return result
