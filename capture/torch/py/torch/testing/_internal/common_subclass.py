"""Subclasses of Tensor by which tests see what operators do to one."""
from torch._absent import declare

declare("DiagTensorBelow", "NonWrapperTensor", "SparseTensor", "SubclassWithTensorFactory", "WrapperTensor", "WrapperTensorWithCustomSizes", "WrapperTensorWithCustomStrides")
subclass_db = {}
