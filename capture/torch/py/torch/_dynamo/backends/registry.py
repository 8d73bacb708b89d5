"""Backends by name."""
import functools

from torch._C import _dynamo as _native
from torch._dynamo.exc import InvalidBackend

_BACKENDS = {}


def register_backend(compiler_fn=None, name=None, tags=()):
    if compiler_fn is None:
        return functools.partial(register_backend, name=name, tags=tags)
    _BACKENDS[name or compiler_fn.__name__] = compiler_fn
    return compiler_fn


def list_backends(exclude_tags=("debug", "experimental")):
    return sorted(set(_native.backends()) | set(_BACKENDS))


def lookup_backend(compiler_fn):
    if isinstance(compiler_fn, str):
        if compiler_fn in _BACKENDS:
            return _BACKENDS[compiler_fn]
        if compiler_fn not in _native.backends():
            raise InvalidBackend(compiler_fn)
        return _native.backend(compiler_fn)
    return compiler_fn
