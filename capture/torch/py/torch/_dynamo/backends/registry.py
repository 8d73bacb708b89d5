"""Backends by name."""
import functools

from torch._C import _dynamo as _native
from torch._dynamo.exc import InvalidBackend

_BACKENDS = {}
_TAGS = {name: ("debug",) for name in ("eager", "aot_eager", "aot_eager_decomp_partition")}
# Backends of PyTorch that need software beyond it: listed there too, and refused when they compile something.
_ABSENT = ("cudagraphs", "onnxrt", "openxla", "tvm")


def register_backend(compiler_fn=None, name=None, tags=()):
    if compiler_fn is None:
        return functools.partial(register_backend, name=name, tags=tags)
    name = name or compiler_fn.__name__
    _BACKENDS[name] = compiler_fn
    _TAGS[name] = tuple(tags)
    return compiler_fn


def _absent(name):
    def compile(gm, example_inputs):
        raise RuntimeError(f"backend {name!r} is not available here")

    compile.__name__ = name
    return compile


def _load():
    """The backends that PyTorch itself writes in Python."""
    from torch._dynamo.backends import debugging


def list_backends(exclude_tags=("debug", "experimental")):
    _load()
    names = set(_native.backends()) | set(_BACKENDS) | set(_ABSENT)
    return sorted(n for n in names if not set(_TAGS.get(n, ())) & set(exclude_tags or ()))


def lookup_backend(compiler_fn):
    if isinstance(compiler_fn, str):
        if compiler_fn not in _BACKENDS and compiler_fn not in _native.backends():
            _load()
        if compiler_fn in _BACKENDS:
            return _BACKENDS[compiler_fn]
        if compiler_fn in _ABSENT:
            return _absent(compiler_fn)
        if compiler_fn not in _native.backends():
            raise InvalidBackend(compiler_fn)
        return _native.backend(compiler_fn)
    return compiler_fn


# Whose loggers say that a backend of whittle's own makes nothing of mode and options.
_IGNORES = {"eager": ("debugging", "eager backend"), "aot_eager": ("common", "aot_autograd-based backend"), "aot_eager_decomp_partition": ("debugging", "aot_eager_decomp_partition backend")}


def takes_no_options(name, kwargs):
    """Whether a backend is one of those that know of no options, which is logged."""
    if name not in _IGNORES or name in _BACKENDS:
        return False
    import logging

    module, what = _IGNORES[name]
    logging.getLogger("torch._dynamo.backends." + module).warning("%s ignoring extra kwargs %s", what, kwargs)
    return True
