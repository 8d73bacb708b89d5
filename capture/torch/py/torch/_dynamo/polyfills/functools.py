import functools

from torch._dynamo.decorators import substitute_in_graph

__all__ = ["reduce"]

_missing = object()


@substitute_in_graph(functools.reduce, skip_signature_check=True)
def reduce(function, iterable, initial=_missing, /):
    it = iter(iterable)
    if initial is _missing:
        try:
            value = next(it)
        except StopIteration:
            raise TypeError("reduce() of empty iterable with no initial value") from None
    else:
        value = initial
    for element in it:
        value = function(value, element)
    return value
