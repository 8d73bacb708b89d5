import itertools
import sys

from torch._dynamo.decorators import substitute_in_graph

__all__ = ["chain", "chain_from_iterable", "islice", "tee", "compress", "pairwise", "zip_longest"]


@substitute_in_graph(itertools.chain, is_embedded_type=True, skip_signature_check=True)
def chain(*iterables):
    for iterable in iterables:
        yield from iterable


@substitute_in_graph(itertools.chain.from_iterable)
def chain_from_iterable(iterable, /):
    for each in iterable:
        yield from each


@substitute_in_graph(itertools.compress, is_embedded_type=True, skip_signature_check=True)
def compress(data, selectors):
    for datum, selector in zip(data, selectors):
        if selector:
            yield datum


@substitute_in_graph(itertools.islice, is_embedded_type=True, skip_signature_check=True)
def islice(iterable, /, *args):
    bounds = slice(*args)
    for name, least in (("start", 0), ("stop", 0), ("step", 1)):
        value = getattr(bounds, name)
        if value is None or isinstance(value, int) and least <= value <= sys.maxsize:
            continue
        if name == "step":
            raise ValueError("Step for islice() must be a positive integer or None.")
        if name == "stop" and len(args) == 1:
            raise ValueError("Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    wanted = 0 if bounds.start is None else bounds.start
    step = 1 if bounds.step is None else bounds.step
    # What lies before the stop is used up, whether or not it is given.
    counted = enumerate(iterable) if bounds.stop is None else zip(range(bounds.stop), iterable)
    for i, element in counted:
        if i == wanted:
            yield element
            wanted += step


@substitute_in_graph(itertools.pairwise, is_embedded_type=True, skip_signature_check=True)
def pairwise(iterable, /):
    first = True
    for b in iterable:
        if not first:
            yield a, b  # noqa: F821 - bound in the round before
        first = False
        a = b


@substitute_in_graph(itertools.tee)
def tee(iterable, n=2, /):
    if n < 0:
        raise ValueError("n must be >= 0")
    kept = []
    for value in iterable:
        kept.append(value)
    return tuple([iter(kept) for _ in range(n)])


@substitute_in_graph(itertools.zip_longest, is_embedded_type=True, skip_signature_check=True)
def zip_longest(*iterables, fillvalue=None):
    running = [iter(iterable) for iterable in iterables]
    ended = [False for _ in running]
    while True:
        row = []
        for i, it in enumerate(running):
            value = fillvalue
            if not ended[i]:
                try:
                    value = next(it)
                except StopIteration:
                    ended[i] = True
            row.append(value)
        if all(ended):
            return
        yield tuple(row)
