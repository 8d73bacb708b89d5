import builtins
import functools
import operator

from torch._dynamo.decorators import substitute_in_graph

__all__ = ["all", "any", "enumerate", "sum"]


@substitute_in_graph(builtins.all, can_constant_fold_through=True)
def all(iterable, /):
    for elem in iterable:
        if not elem:
            return False
    return True


@substitute_in_graph(builtins.any, can_constant_fold_through=True)
def any(iterable, /):
    for elem in iterable:
        if elem:
            return True
    return False


@substitute_in_graph(builtins.enumerate, is_embedded_type=True, skip_signature_check=True)
def enumerate(iterable, start=0):
    if not isinstance(start, int):
        raise TypeError(f"{type(start).__name__!r} object cannot be interpreted as an integer")
    n = start
    for x in iterable:
        yield n, x
        n += 1


@substitute_in_graph(builtins.sum, can_constant_fold_through=True)
def sum(iterable, /, start=0):
    return functools.reduce(operator.add, iterable, start)
