"""Context managers as decorators."""
import functools


def context_decorator(ctx_factory, func):
    """func inside of a new context at every call."""
    if isinstance(func, type):
        return func

    @functools.wraps(func)
    def decorate_context(*args, **kwargs):
        with ctx_factory():
            return func(*args, **kwargs)

    return decorate_context
