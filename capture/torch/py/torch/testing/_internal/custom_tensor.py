"""A subclass with metadata of its own, constant while a graph is traced."""
import torch
from torch.utils import _pytree as pytree


class ConstantExtraMetadataTensor(torch.Tensor):
    @staticmethod
    def __new__(cls, elem):
        return torch.Tensor._make_wrapper_subclass(cls, elem.shape, strides=elem.stride(), storage_offset=elem.storage_offset(), device=elem.device,
                                                   layout=elem.layout, requires_grad=elem.requires_grad, dtype=elem.dtype)

    def __init__(self, elem):
        self.elem = elem
        self.constant_attribute = 4

    def __repr__(self):
        return f"CustomTensor({repr(self.elem)})"

    def __tensor_flatten__(self):
        return ["elem"], self.constant_attribute

    @staticmethod
    def __tensor_unflatten__(inner_tensors, meta, outer_size, outer_stride):
        assert meta is not None
        made = ConstantExtraMetadataTensor(inner_tensors["elem"])
        made.constant_attribute = meta
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args, kwargs):
        inner = pytree.tree_map_only(ConstantExtraMetadataTensor, lambda x: x.elem, (args, kwargs or {}))
        out = func(*inner[0], **inner[1])
        wrapped = pytree.tree_map_only(torch.Tensor, ConstantExtraMetadataTensor, out)
        return torch.utils._python_dispatch.return_and_correct_aliasing(func, args, kwargs, wrapped)
