"""Tensors that modules own."""
import torch
from torch import _C


class _ParameterMeta(type(torch.Tensor)):
    def __instancecheck__(cls, x):
        if cls is Parameter and isinstance(x, torch.Tensor) and getattr(x, "_is_param", False):
            return True
        return super().__instancecheck__(x)


class Parameter(torch.Tensor, metaclass=_ParameterMeta):
    """A tensor that a module registers as a parameter when it is assigned to an attribute."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    def __new__(cls, data=None, requires_grad=True):
        if data is None:
            data = torch.empty(0)
        if _C._performs_itself(type(data)):  # its class stays, so that it goes on
            t = data.detach().requires_grad_(requires_grad)
            if type(t) is not type(data):
                raise RuntimeError(f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns an instance of the same type, but return "
                                   f"type {type(t).__name__} was found instead. To use the type as a Parameter, please correct the detach() semantics defined by its "
                                   "__torch_dispatch__() implementation.")
            t._is_param = True
            return t
        return torch.Tensor._make_subclass(cls, data.detach() if type(data) is not torch.Tensor else data, requires_grad)

    def __repr__(self):
        text = torch.Tensor.__repr__(self)
        return f"Parameter({text})" if text.startswith("FakeTensor(") else "Parameter containing:\n" + text

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        result = type(self)(self.data.clone(memory_format=torch.preserve_format), self.requires_grad)
        memo[id(self)] = result
        return result


class Buffer(torch.Tensor):
    """A tensor that a module registers as a buffer when it is assigned to an attribute."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    def __new__(cls, data=None, *, persistent=True):
        if data is None:
            data = torch.empty(0)
        t = data.detach().requires_grad_(data.requires_grad)
        t.persistent = persistent
        t._is_buffer = True
        return t


class UninitializedParameter(Parameter):
    def __new__(cls, *args, **kwargs):
        raise RuntimeError("lazy modules are not supported")
