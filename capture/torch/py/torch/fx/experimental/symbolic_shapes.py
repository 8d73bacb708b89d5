"""Errors and small questions about symbolic sizes."""
import enum

import torch
from torch._absent import declare


class ConstraintViolationError(RuntimeError):
    pass


class GuardOnDataDependentSymNode(RuntimeError):
    pass


def is_symbolic(val):
    return isinstance(val, (torch.SymInt, torch.SymFloat, torch.SymBool))


def guard_int(a):
    return int(a)


def guard_size_oblivious(expr):
    return bool(expr)


def statically_known_true(x):
    return x is True


def expect_true(a, skip=0):
    """A fact that holds; where it is not known it is checked when the code runs."""
    if isinstance(a, bool):
        return a
    torch._check(a)
    return True


def guard_bool(a):
    return bool(a)


def guard_float(a):
    return float(a)


def guard_scalar(a):
    return a if isinstance(a, (bool, int, float)) else a.item()


def is_concrete_int(a):
    return isinstance(a, int)


def is_concrete_bool(a):
    return isinstance(a, bool)


def is_concrete_float(a):
    return isinstance(a, float)


def hint_int(a, fallback=None):
    return int(a)


def has_free_symbols(val):
    return is_symbolic(val)


def definitely_true(a):
    return a is True


def definitely_false(a):
    return a is False


def parallel_or(*args):
    return any(args)


def parallel_and(*args):
    return all(args)


def sym_eq(x, y):
    if isinstance(x, (tuple, list)) and isinstance(y, (list, tuple)):
        return len(x) == len(y) and all(a == b for a, b in zip(x, y))
    if isinstance(x, (int, torch.SymInt)) and isinstance(y, (int, torch.SymInt)):
        return x == y
    raise AssertionError(f"unexpected sym_eq between {type(x)} {type(y)}")


def constrain_range(a, *, min, max=None):
    """Says between which bounds a size lies."""
    import math

    low, high = -math.inf if min is None else min, math.inf if max is None else max
    if low > high:
        raise ValueError("Maximum value to constrain_as_size can't be less than the specified min value, "
                         f"received min={low} and max={high}")
    if isinstance(a, int) and not low <= a <= high:
        raise ValueError(f"Invalid value {a} for range [{low}:{high}]")


def _constrain_range_for_size(a, min=None, max=None):
    low = 0 if min is None else min
    if max is not None and low > max:
        raise ValueError(f"Maximum value to constrain_as_size can't be less than the specified min value, received min={low} and max={max}")
    torch._check_is_size(a)
    torch._check(a >= low)
    if max is not None:
        torch._check(a <= max)


def constrain_unify(a, b):
    """Says that two sizes are one."""
    if isinstance(a, int) and isinstance(b, int):
        assert a == b
        return
    torch._check(a == b)


class DimDynamic(enum.Enum):
    """How a dimension is treated while a graph is traced."""

    DYNAMIC = 0
    DUCK = 1
    STATIC = 2
    SIZE_LIKE_UNBACKED = 3
    INFER_STRIDE = 4


declare("DimConstraints", "EqualityConstraint", "RelaxedUnspecConstraint", "ShapeEnv", "ShapeEnvSettings", "StatefulSymbolicContext", "StatelessSymbolicContext",
        "StrictMinMaxConstraint", "SymIntSymbolicContext", "is_accessor_node", "free_symbols", "free_unbacked_symbols", "fx_placeholder_vals", "eval_is_non_overlapping_and_dense")
