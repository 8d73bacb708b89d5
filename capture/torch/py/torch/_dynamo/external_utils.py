from torch._C import _dynamo as _native


def is_compiling():
    return _native.is_compiling()


def wrap_inline(fn):
    """A frame to capture around something whose own frames belong to the library."""

    def inner(*args, **kwargs):
        return fn(*args, **kwargs)

    return inner
