"""Fake tensors: tensors that have everything but data. A FakeTensorMode computes what operators make of them."""
import contextlib

import torch
from torch._absent import declare
from torch._C import _dynamo as _native


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


class _FakeTensorType(type(torch.Tensor)):
    def __instancecheck__(cls, x):
        return isinstance(x, torch.Tensor) and _native.fake_mode_of(x) is not None


class FakeTensor(torch.Tensor, metaclass=_FakeTensorType):
    """A tensor without data, of a fake_mode."""

    @property
    def fake_mode(self):
        return _native.fake_mode_of(self)

    @property
    def fake_device(self):
        return self.device

    @property
    def constant(self):
        return None

    @staticmethod
    def from_tensor(t, fake_mode):
        return fake_mode.from_tensor(t)


_native.fake_class(FakeTensor)


class FakeTensorMode:
    """Under it, operators make fake tensors; outside of it, those of fake tensors do, too.

    allow_non_fake_inputs: real tensors may stand among the arguments. shape_env: sizes may be symbols of it."""

    def __init__(self, *, allow_fallback_kernels=True, allow_non_fake_inputs=False, shape_env=None, static_shapes=None, export=False):
        self.allow_fallback_kernels, self.export = allow_fallback_kernels, export
        self.shape_env = shape_env
        self.static_shapes = shape_env is None if static_shapes is None else static_shapes
        self._allow_non_fake_inputs = allow_non_fake_inputs
        self._native = _native.fake_mode(self, None if shape_env is None else shape_env._native, allow_non_fake_inputs)
        self.fake_tensor_converter = FakeTensorConverter()

    @property
    def allow_non_fake_inputs(self):
        return self._allow_non_fake_inputs

    def __enter__(self):
        _native.fake_enter(self._native)
        return self

    def __exit__(self, *_):
        _native.fake_exit()

    def from_tensor(self, tensor, *, static_shapes=None, source=None, symbolic_context=None, trace=True):
        """The fake of a real tensor, the same one whenever it is asked for."""
        static = self.static_shapes if static_shapes is None else static_shapes
        if static or self.shape_env is None:
            policies = None
        elif symbolic_context is not None:
            policies = [_policies[d.name] for d in symbolic_context.dynamic_sizes]
        else:
            policies = [_policies["DUCK"]] * tensor.dim()
        return _native.fake_tensor(self._native, tensor, policies)


# How capture's sizes are made, by the names of torch.fx.experimental.symbolic_shapes.DimDynamic.
_policies = {"STATIC": 0, "DUCK": 1, "DYNAMIC": 2}


class FakeTensorConverter:
    """Makes the fakes of real tensors."""

    def from_real_tensor(self, fake_mode, t, make_constant=False, shape_env=None, *, source=None, symbolic_context=None, trace=True):
        return fake_mode.from_tensor(t, source=source, symbolic_context=symbolic_context)


def _mode_of(native):
    """The FakeTensorMode of what a trace knew."""
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

    mode = FakeTensorMode.__new__(FakeTensorMode)
    mode.allow_fallback_kernels, mode.export, mode.static_shapes, mode._allow_non_fake_inputs = True, False, False, False
    mode._native, mode.fake_tensor_converter = native, FakeTensorConverter()
    mode.shape_env = ShapeEnv._of(_native.fake_env(native))
    return mode


@contextlib.contextmanager
def unset_fake_temporarily():
    """Real tensors again, for a while."""
    old = _native.fake_current()
    _native.fake_suspend()
    try:
        yield old
    finally:
        _native.fake_exit()


def maybe_get_fake_mode(t):
    """The mode of a fake tensor; None of others."""
    return _native.fake_mode_of(t) if isinstance(t, torch.Tensor) else None


def is_fake(x):
    return maybe_get_fake_mode(x) is not None


def _is_tensor_constructor(func):
    """Whether an operator makes one tensor of none."""
    schema = func._schema
    return not any("Tensor" in a.type for a in schema.arguments) and [r.type for r in schema.returns] == ["Tensor"]


def get_plain_tensors(subclass, *, out):
    """The tensors that a tensor consists of."""
    out.append(subclass)
    return out


declare("FakeCopyMode", "disable_fake_tensor_cache", "extract_tensor_metadata")
