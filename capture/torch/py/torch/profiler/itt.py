"""Ranges for Intel's profilers, which nothing here is built with."""
from contextlib import contextmanager

__all__ = ["is_available", "range_push", "range_pop", "mark", "range"]


def is_available():
    return False


def _missing(*args):
    raise RuntimeError("ITT functions not installed. Are you sure you have a ITT build?")


range_push = range_pop = mark = _missing


@contextmanager
def range(msg, *args, **kwargs):
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()
