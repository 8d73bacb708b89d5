"""Switching the compiler's logs."""
from torch._C import _dynamo as _native

_valid = None


def set_logs(*, all=None, modules=None, **kwargs):
    _native.set_logs(all, dict(modules or {}), kwargs)
