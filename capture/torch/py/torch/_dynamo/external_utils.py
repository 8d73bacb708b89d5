from torch._C import _dynamo as _native


def is_compiling():
    return _native.is_compiling()
