"""Errors and small questions about symbolic sizes."""
import dataclasses
import enum

import torch
from torch._absent import declare
from torch._C import _dynamo as _native


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


class _Symbol(str):
    """The name of a number, or an expression over such names."""

    def __repr__(self):
        return str(self)


@dataclasses.dataclass(frozen=True)
class ValueRanges:
    """Bounds of a number, both included; None for none."""

    lower: object
    upper: object

    def __repr__(self):
        return f"VR[{'-int_oo' if self.lower is None else self.lower}, {'int_oo' if self.upper is None else self.upper}]"


@dataclasses.dataclass(frozen=True)
class ShapeGuard:
    """A relation that was taken for granted."""

    expr: object
    sloc: object = None


@dataclasses.dataclass(frozen=True)
class Constraint:
    warn_only: bool


@dataclasses.dataclass(frozen=True)
class StrictMinMaxConstraint(Constraint):
    """A dimension lies within bounds and is no constant."""

    vr: object

    def render(self, source):
        return f"{self.vr.lower} <= {source.name()} <= {self.vr.upper}"


@dataclasses.dataclass(frozen=True)
class RelaxedUnspecConstraint(Constraint):
    """A dimension is no constant."""

    def render(self, source):
        return f"RelaxedUnspecConstraint({source.name()})"


class SymbolicContext:
    """How the sizes of a tensor are made."""


@dataclasses.dataclass(frozen=True)
class StatelessSymbolicContext(SymbolicContext):
    dynamic_sizes: list
    dynamic_strides: list = None
    constraint_sizes: list = None
    constraint_strides: list = None
    view_base_context: object = None

    def __post_init__(self):
        for name, value in (("dynamic_strides", DimDynamic.INFER_STRIDE), ("constraint_sizes", None), ("constraint_strides", None)):
            if getattr(self, name) is None:
                object.__setattr__(self, name, [value] * len(self.dynamic_sizes))


@dataclasses.dataclass(frozen=True)
class StatefulSymbolicContext(StatelessSymbolicContext):
    tensor_source: object = None
    shape_env_to_source_to_symbol_cache: dict = None


class ShapeEnv:
    """The symbols of sizes, with what was taken for granted of them."""

    def __init__(self, *, should_record_events=None, tracked_fakes=None, **settings):
        self._native = _native.shape_env()
        self.tracked_fakes = tracked_fakes
        self.settings = settings
        self.frozen = False

    @classmethod
    def _of(cls, native):
        env = cls()
        env._native = native
        return env

    @property
    def guards(self):
        return [ShapeGuard(_Symbol(g)) for g in _native.shape_env_state(self._native)[0]]

    @property
    def var_to_val(self):
        return {_Symbol(k): v for k, v in _native.shape_env_state(self._native)[1].items()}

    @property
    def var_to_range(self):
        return {_Symbol(k): ValueRanges(*v) for k, v in _native.shape_env_state(self._native)[2].items()}

    def create_unbacked_symint(self):
        return _native.shape_env_number(self._native, None, "int", 0)

    def create_unbacked_symfloat(self):
        return _native.shape_env_number(self._native, None, "float", 0)

    def create_unbacked_symbool(self):
        return _native.shape_env_number(self._native, None, "bool", 0)

    def create_symbol(self, val, source, dynamic_dim=DimDynamic.DUCK, constraint_dim=None, positive=True, do_not_specialize_zero_one=False, symbolic_context=None):
        return _native.shape_env_number(self._native, val, source.name(), {"STATIC": 0, "DUCK": 1}.get(dynamic_dim.name, 2))

    def create_symintnode(self, sym, *, hint, source=None):
        return sym

    create_symfloatnode = create_symboolnode = create_symintnode

    def is_unbacked_symint(self, symbol):
        return str(symbol).startswith("u")

    def freeze(self):
        self.frozen = True

    def format_guards(self, verbose=False):
        return "\n".join(f" - {g.expr}" for g in self.guards)

    def check_equal(self, other):
        """Raises NotEqualError where another env holds something else."""
        from torch.fx.experimental.recording import NotEqualError

        mine, its = _native.shape_env_state(self._native), _native.shape_env_state(other._native)
        wrong = [(name, a, b) for name, a, b in zip(("guards", "var_to_val", "var_to_range"), mine, its) if a != b]
        if wrong:
            raise NotEqualError("ShapeEnv", wrong)


declare("DimConstraints", "EqualityConstraint", "ShapeEnvSettings", "SymIntSymbolicContext", "is_accessor_node", "free_symbols", "free_unbacked_symbols", "fx_placeholder_vals", "eval_is_non_overlapping_and_dense")
