"""Fake tensors: what they raise. Graphs here are traced over metadata of their own."""
from torch._absent import declare


class UnsupportedFakeTensorException(RuntimeError):
    def __init__(self, reason=""):
        super().__init__(reason)
        self.reason = reason


class DynamicOutputShapeException(RuntimeError):
    def __init__(self, func=None):
        super().__init__(func)
        self.func = func


class DataDependentOutputException(RuntimeError):
    def __init__(self, func=None):
        super().__init__(func)
        self.func = func


class UnsupportedOperatorException(RuntimeError):
    def __init__(self, func=None):
        super().__init__(func)
        self.func = func


class MetadataMismatchError(RuntimeError):
    pass


declare("FakeTensor", "FakeTensorConverter", "FakeTensorMode", "FakeCopyMode", "unset_fake_temporarily", "maybe_get_fake_mode", "disable_fake_tensor_cache", "extract_tensor_metadata")
