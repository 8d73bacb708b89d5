"""Tensors without data."""
from torch._subclasses.fake_tensor import DynamicOutputShapeException, FakeTensor, FakeTensorMode, UnsupportedFakeTensorException
