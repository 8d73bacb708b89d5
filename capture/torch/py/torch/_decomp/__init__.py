"""Decompositions of operators into others, which are made in native code."""
import torch
from torch._C import _dynamo as _native

# By overload of an operator: the function that computes it by others.
decomposition_table = {}
_own = {"post_autograd": decomposition_table, "pre_autograd": {}, "meta": {}}


def _overloads(op):
    """The overloads of an operator, or the one that it is."""
    if isinstance(op, torch._ops.OpOverloadPacket):
        return [getattr(op, name) for name in op.overloads()]
    return [op] if isinstance(op, torch._ops.OpOverload) else []


def _decomposition(op, type):
    own = _own[type].get(op)
    return _native.decomposition(op) if own is None and type == "post_autograd" else own


def get_decompositions(aten_ops, type="post_autograd"):
    """A table of decompositions: of these operators, with all their overloads, as far as there are any."""
    table = {}
    for op in aten_ops:
        for overload in _overloads(op):
            fn = _decomposition(overload, type)
            if fn is not None:
                table[overload] = fn
    return table


def register_decomposition(aten_op, registry=None, *, type="post_autograd", unsafe=False):
    """A decorator: the function is the decomposition of an operator, or of each of a list."""
    if type not in _own:
        raise AssertionError(f"type must be one of {sorted(_own)}")

    def decorate(fn):
        table = _own[type] if registry is None else registry
        for op in aten_op if isinstance(aten_op, (list, tuple)) else (aten_op,):
            for overload in _overloads(op):
                if overload in table and not unsafe:
                    raise RuntimeError(f"duplicate registrations for {overload}")
                table[overload] = fn
        return fn

    return decorate


def remove_decompositions(decompositions, aten_ops):
    """Takes these operators out of a table."""
    for op in aten_ops:
        for overload in _overloads(op):
            decompositions.pop(overload, None)


def core_aten_decompositions():
    """All there are, in a table of its own."""
    return {**get_decompositions(_native.decomposed()), **decomposition_table}
