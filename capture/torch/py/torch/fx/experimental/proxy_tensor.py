"""make_fx: a graph of aten operators, recorded while a function runs."""
from torch._C import _dynamo as _native


def make_fx(f, decomposition_table=None, tracing_mode="real", **kwargs):
    def traced(*args):
        return _native.make_fx(f, args)

    return traced
