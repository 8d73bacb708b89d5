"""What a program that is exported says of the sizes of its arguments."""
import enum
import inspect
import sys

import torch
import torch.utils._pytree as pytree

__all__ = ["Constraint", "Dim", "dims", "refine_dynamic_shapes_from_suggested_fixes"]

_no_bound = float("inf")
_case = "dynamic_shapes_validation"


class _DimHint(enum.Enum):
    """What a dimension is to be that has no name."""

    AUTO = enum.auto()
    STATIC = enum.auto()
    DYNAMIC = enum.auto()


class _Dim(type):
    """A named dimension: a class, so that annotations can use it. scale and offset say how its sizes come from those of root."""

    root, scale, offset = None, 1, 0

    def _made(cls, scale, offset):
        root = cls.root or cls
        sign = f" + {offset}" if offset > 0 else f" - {-offset}" if offset < 0 else ""
        new = _DerivedDim(f"{scale}*{root.__name__}{sign}" if scale != 1 else root.__name__ + sign, (int,), {"__module__": "torch.export.dynamic_shapes"})
        new.root, new.scale, new.offset = root, scale, offset
        return new

    def _refuse(cls, verb, other, what):
        raise NotImplementedError(f"Attempted to {verb} {other} {'with' if verb == 'multiply' else 'from' if verb == 'subtract' else 'to'} {cls.__name__}, where {what} was expected. "
                                  "(Only increasing linear operations with integer coefficients are supported.)")

    def __add__(cls, other):
        if type(other) is not int:
            cls._refuse("add", other, "an integer")
        return cls._made(cls.scale, cls.offset + other)

    __radd__ = __add__

    def __sub__(cls, other):
        if type(other) is not int:
            cls._refuse("subtract", other, "an integer")
        return cls._made(cls.scale, cls.offset - other)

    def __rsub__(cls, other):
        raise NotImplementedError(f"Attempted to negate {cls.__name__}. (Only increasing linear operations with integer coefficients are supported.)")

    def __mul__(cls, other):
        if type(other) is not int or other <= 0:
            cls._refuse("multiply", other, "a positive integer")
        return cls._made(cls.scale * other, cls.offset * other)

    __rmul__ = __mul__


class _DerivedDim(_Dim):
    """A dimension computed from another one."""

    @property
    def min(cls):
        return cls.scale * cls.root.min + cls.offset

    @property
    def max(cls):
        return cls.scale * cls.root.max + cls.offset if cls.root.max != _no_bound else _no_bound

    def fn(cls, n):
        return cls.scale * n + cls.offset


class _Unbounded(float):
    def __repr__(self):
        return "int_oo"

    __str__ = __repr__


class Dim:
    """A name for a dimension, and between which bounds it lies: Dim("batch", min=2, max=64)."""

    AUTO, DYNAMIC, STATIC = _DimHint.AUTO, _DimHint.DYNAMIC, _DimHint.STATIC

    def __new__(cls, name, *, min=None, max=None):
        low, high = 0 if min is None else min, _Unbounded("inf") if max is None else max
        assert high > low, f"Cannot create Dim with inconsistent min={min}, max={max}"
        assert name.isidentifier(), f"Dim name must be a valid identifier, got {name}"
        return _Dim(name, (int,), {"min": low, "max": high, "__module__": sys._getframe(1).f_globals.get("__name__", "__main__")})


def dims(*names, min=None, max=None):
    """Several named dimensions with the same bounds."""
    return tuple(Dim(name, min=min, max=max) for name in names)


class Constraint:
    """A bound on one dimension of a tensor."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError("Constraint is made by torch.export alone")


class ShapesCollection:
    """What is said of tensors that are deep in a program's arguments: shapes[tensor] = {0: dim}."""

    def __init__(self):
        self._shapes = {}

    def __setitem__(self, t, shape):
        assert isinstance(t, torch.Tensor), f"Cannot assign shape to non-tensor type {type(t)}"
        known = self._shapes.setdefault(id(t), shape)
        assert known == shape, f"Shapes assigned to input is a {shape}, which is inconsistent with {known}"

    def __getitem__(self, t):
        return self._shapes.setdefault(id(t), {})

    def __len__(self):
        return len(self._shapes)

    def dynamic_shapes(self, m, args, kwargs=None):
        """The shapes in the structure of the arguments of m."""
        return pytree.tree_map_only(object, lambda t: self._shapes.get(id(t)), _combine_args(m, args, kwargs))


def _error(kind, msg):
    from torch._dynamo.exc import UserError, UserErrorType

    return UserError(UserErrorType[kind], msg, case_name=_case)


def _combine_args(f, args, kwargs, _is_torch_jit_trace=False):
    """The arguments of a call of f by their parameters' names."""
    signature = inspect.signature(f.forward) if isinstance(f, torch.nn.Module) else inspect.signature(f)
    return signature.bind(*args, **(kwargs or {})).arguments


def _mismatch(where, said, what_in, what_shapes):
    raise _error("INVALID_INPUT", f"Detected mismatch between the structure of `inputs` and `dynamic_shapes`: `inputs{where}` {what_in}, but `dynamic_shapes{said}` {what_shapes}")


def _pairs(value, shape, where=""):
    """The tensors of the arguments, each with what is said of it and where it is."""
    if isinstance(value, torch.Tensor):
        yield value, shape, where
    elif shape is None:
        for leaf in pytree.tree_leaves(value):
            yield leaf, None, where
    elif isinstance(value, dict):
        if not isinstance(shape, dict):
            _mismatch(where, where, f"is a {type(value)}", f"is a {type(shape)}")
        if len(value) != len(shape):
            _mismatch(where, where, f"has {len(value)} elements", f"has {len(shape)} elements")
        if set(value) != set(shape):
            _mismatch(where, where, f"has keys {list(value)}", f"has keys {list(shape)}")
        for k, v in value.items():
            yield from _pairs(v, shape[k], f"{where}[{k!r}]")
    elif isinstance(value, (tuple, list)):
        if not isinstance(shape, (tuple, list)):
            _mismatch(where, where, f"is a {type(value)}", f"is a {type(shape)}")
        if len(value) != len(shape):
            _mismatch(where, where, f"has {len(value)} elements", f"has {len(shape)} elements")
        for i, (v, s) in enumerate(zip(value, shape)):
            yield from _pairs(v, s, f"{where}[{i}]")
    else:
        yield value, shape, where


def _dims_of(tensor, shape, where):
    """The dimensions of one tensor, each with what is said of it."""
    if isinstance(shape, dict):
        items = shape.items()
        for i in shape:
            if not isinstance(i, int) or not -tensor.dim() <= i < tensor.dim():
                raise _error("INVALID_INPUT", f"Unexpected dimension mapped to {i} in input tensor shape {shape} specified at `dynamic_shapes{where}` (expected None, an int, a Dim, "
                             "Dim.AUTO, Dim.STATIC, or Dim.DYNAMIC)")
    elif isinstance(shape, (tuple, list)):
        if len(shape) != tensor.dim():
            raise _error("INVALID_INPUT", f"Expected dynamic shape spec {shape} specified at `dynamic_shapes{where}` to have the same length as the actual tensor shape "
                         f"{tensor.shape} (expected {tensor.dim()}, but got {len(shape)} instead)")
        items = enumerate(shape)
    elif shape is None:
        return
    else:
        raise _error("INVALID_INPUT", f"Unexpected input tensor shape {shape} specified at `dynamic_shapes{where}` (expected either a list/tuple of dimensions, or a dict mapping "
                     "indices to dimensions, where each dimension is an int, a Dim, Dim.AUTO, Dim.STATIC, or Dim.DYNAMIC)")
    for i, d in items:
        yield i % tensor.dim(), d


def _check_dynamic_shapes(combined_args, dynamic_shapes):
    """Refuses what is said of arguments that are others."""
    if dynamic_shapes:
        if isinstance(dynamic_shapes, (tuple, list)):
            combined_args = type(dynamic_shapes)(combined_args.values())
        bounds = {}
        for tensor, shape, where in _pairs(combined_args, dynamic_shapes):
            if not isinstance(tensor, torch.Tensor):
                if shape is not None:
                    raise _error("INVALID_INPUT", f"Cannot associate shape {shape} specified at `dynamic_shapes{where}` to non-tensor type {type(tensor)} at `inputs{where}` (expected None)")
                continue
            for i, d in _dims_of(tensor, shape, where):
                if isinstance(d, _Dim):
                    known = bounds.setdefault(d.__name__, (d.min, d.max))
                    if known != (d.min, d.max):
                        raise _error("INVALID_INPUT", f"Found different definitions {_shown(*known)} and {_shown(d.min, d.max)} for the same symbolic dimension {d}!")
                elif isinstance(d, int) and not isinstance(d, bool):
                    if tensor.shape[i] != d:
                        raise _error("INVALID_INPUT", f"Static shape constraint of {d} does not match input size of {tensor.shape[i]}, for `dynamic_shapes{where}[{i}]`")
                elif d is not None and not isinstance(d, _DimHint):
                    raise _error("INVALID_INPUT", f"Unexpected dimension #{i} in input tensor shape {shape} specified at `dynamic_shapes{where}` (expected None, an int, a Dim, "
                                 f"Dim.AUTO, Dim.STATIC, or Dim.DYNAMIC, but got {d!r} instead)")


def _shown(low, high):
    return f"(min={low}, max={high})"


def _process_dynamic_shapes(combined_args, dynamic_shapes):
    """What capture has to know of the tensors: (tensor, dimension, name, lower and upper bound of the root, the root's name, scale, offset) for each named
    dimension; those that are only hinted at are marked on the tensors."""
    from torch._dynamo import mark_dynamic, mark_static, maybe_mark_dynamic

    if dynamic_shapes is None or len(dynamic_shapes) == 0:
        return []
    if isinstance(dynamic_shapes, ShapesCollection):
        dynamic_shapes = pytree.tree_map_only(object, lambda t: dynamic_shapes._shapes.get(id(t)), combined_args)
    if isinstance(dynamic_shapes, (tuple, list)):
        combined_args = type(dynamic_shapes)(combined_args.values())
    out = []
    for tensor, shape, where in _pairs(combined_args, dynamic_shapes):
        if not isinstance(tensor, torch.Tensor):
            continue
        if not isinstance(shape, (dict, tuple, list)):
            shape = [None] * tensor.dim()
        for i, d in shape.items() if isinstance(shape, dict) else enumerate(shape):
            if isinstance(d, _Dim):
                root = d.root or d
                out.append((tensor, i, d.__name__, root.min, None if root.max == _no_bound else root.max, root.__name__, d.scale, d.offset))
            elif d is None or d is _DimHint.STATIC or isinstance(d, int):
                mark_static(tensor, i)
            elif d is _DimHint.DYNAMIC:
                mark_dynamic(tensor, i)
            elif d is _DimHint.AUTO:
                maybe_mark_dynamic(tensor, i)
    return out


def refine_dynamic_shapes_from_suggested_fixes(msg, dynamic_shapes):
    """The shapes with the fixes that an error of export suggests put in."""
    import re

    fixes = {}
    for line in msg.partition("Suggested fixes:")[2].strip().splitlines():
        name, _, text = line.strip().partition(" = ")
        named = re.match(r"Dim\('(\w+)'(.*)\)", text)
        if named:
            bounds = {k: int(v) for k, v in re.findall(r"(min|max)=(\d+)", named[2])}
            fixes[name] = Dim(named[1], **bounds)
        elif text.lstrip("-").isdigit():
            fixes[name] = int(text)
        else:
            linear = re.match(r"(?:(\d+)\*)?(\w+)(?: ([+-]) (\d+))?$", text)
            root = fixes.get(linear[2]) or Dim(linear[2])
            fixes[name] = root * int(linear[1] or 1) + int((linear[3] or "+") + (linear[4] or "0"))

    def fixed(d):
        if isinstance(d, _Dim):
            return fixes.get(d.__name__, d)
        if isinstance(d, dict):
            return {k: fixed(v) for k, v in d.items()}
        if isinstance(d, (tuple, list)):
            return type(d)(fixed(v) for v in d)
        return d

    return fixed(dynamic_shapes)
