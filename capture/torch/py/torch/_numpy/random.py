"""numpy.random, drawn by torch's generator, or by NumPy's own where torch._dynamo.config.use_numpy_random_stream says so."""

import functools
import math

import torch

from . import _dtypes_impl, _util
from ._normalizations import array, array_or_none, array_or_scalar, normalizer

__all__ = ["seed", "random_sample", "sample", "random", "rand", "randn", "normal", "choice", "randint", "shuffle", "uniform"]


def use_numpy_random():
    import torch._dynamo.config as settings

    return settings.use_numpy_random_stream


def deco_stream(function):
    """Let NumPy draw, under the same name, where the settings want that."""

    @functools.wraps(function)
    def drawn(*args, **kwds):
        if not use_numpy_random():
            return function(*args, **kwds)
        import numpy

        from ._ndarray import ndarray

        def own(x):
            return x.tensor.numpy() if isinstance(x, ndarray) else x

        value = getattr(numpy.random, function.__name__)(*map(own, args), **{k: own(v) for k, v in kwds.items()})
        return ndarray(torch.as_tensor(value)) if isinstance(value, numpy.ndarray) else value

    return drawn


def _filled(size, fill):
    """Floats of a size, or one as Python's where no size is given."""
    size = () if size is None else size
    values = fill(torch.empty(size, dtype=_dtypes_impl.default_dtypes().float_dtype))
    return array_or_scalar(values, return_scalar=size == ())


@deco_stream
def seed(seed=None):
    if seed is not None:
        torch.random.manual_seed(seed)


@deco_stream
def random_sample(size=None):
    return _filled(size, lambda t: t.uniform_())


sample = random = random_sample


def rand(*size):
    return random_sample(size if size else None)


@deco_stream
def uniform(low=0.0, high=1.0, size=None):
    return _filled(size, lambda t: t.uniform_(low, high))


@deco_stream
def randn(*size):
    return _filled(size, lambda t: torch.randn(t.shape, dtype=t.dtype))


@deco_stream
def normal(loc=0.0, scale=1.0, size=None):
    return _filled(size, lambda t: t.normal_(loc, scale))


@deco_stream
def shuffle(x):
    from ._ndarray import ndarray

    t = x.tensor if isinstance(x, ndarray) else x
    if not isinstance(t, torch.Tensor):
        raise NotImplementedError("We do not random.shuffle lists in-place")
    t.copy_(t[torch.randperm(t.shape[0])])


@deco_stream
def randint(low, high=None, size=None):
    shape = () if size is None else size if isinstance(size, (tuple, list)) else (size,)
    bounds = (0, low) if high is None else (low, high)
    return array_or_scalar(torch.randint(*bounds, size=shape), int, return_scalar=shape == ())


@deco_stream
@normalizer
def choice(a: array, size=None, replace=True, p: array_or_none = None):
    if a.numel() == 1:
        a = torch.arange(a.item())
    many = _util.is_sequence(size)
    count = math.prod(size) if many else 1 if size is None else size
    p = torch.ones_like(a) / len(a) if p is None else p
    if abs(p.sum() - 1.0) > math.sqrt(torch.finfo(p.dtype).eps):
        raise ValueError("probabilities do not sum to 1.")
    drawn = torch.multinomial(p, count, replacement=replace)
    return a[drawn.reshape(size) if many else drawn]
