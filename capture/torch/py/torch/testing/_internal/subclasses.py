"""A subclass that wraps one tensor."""
import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import return_and_correct_aliasing


class WrapperSubclass(torch.Tensor):
    @staticmethod
    def __new__(cls, a, outer_size=None, outer_stride=None):
        size = a.size() if outer_size is None else outer_size
        stride = a.stride() if outer_stride is None else outer_stride
        return torch.Tensor._make_wrapper_subclass(cls, size, strides=stride, storage_offset=a.storage_offset(), device=a.device, layout=a.layout,
                                                   requires_grad=a.requires_grad, dtype=a.dtype)

    def __init__(self, a, outer_size=None, outer_stride=None):
        self.a = a

    def __repr__(self):
        return f"WrapperSubclass({repr(self.a)})"

    def __tensor_flatten__(self):
        return ["a"], None

    @staticmethod
    def __tensor_unflatten__(inner_tensors, meta, outer_size, outer_stride):
        assert meta is None
        return WrapperSubclass(inner_tensors["a"], outer_size, outer_stride)

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs):
        kwargs = kwargs or {}
        a, k = pytree.tree_map_only(WrapperSubclass, lambda x: x.a, (args, kwargs))
        out = pytree.tree_map_only(torch.Tensor, WrapperSubclass, func(*a, **k))
        return return_and_correct_aliasing(func, args, kwargs, out)

    def __coerce_same_metadata_as_tangent__(self, expected_metadata, expected_type=None):
        if expected_type is type(self.a):
            return self.a
        if expected_type is TwoTensor:
            return TwoTensor(self.a, self.a.clone())
        return None


from torch.testing._internal.two_tensor import TwoTensor
