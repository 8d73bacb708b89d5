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
        return f"Parameter({text})" if type(self) is not Parameter or text.startswith("FakeTensor(") else "Parameter containing:\n" + text

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


class UninitializedTensorMixin:
    """A tensor that has a device and a dtype, and gets its shape and data by materialize()."""

    _allowed = ("detach", "__hash__", "size", "copy_", "is_complex", "is_floating_point", "half", "float", "double", "char", "short", "int", "long", "cuda", "cpu", "to", "get_device",
                "_has_compatible_shallow_copy_type", "requires_grad_")

    def materialize(self, shape, device=None, dtype=None):
        """Gives the tensor a shape, and its class back."""
        self.data = torch.empty(shape, device=device or self.data.device, dtype=dtype or self.data.dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self):
        raise RuntimeError("Can't access the shape of an uninitialized parameter or buffer. This error usually happens in `load_state_dict` when trying to load an uninitialized "
                           "parameter into an initialized one. Call `forward` to initialize the parameters before accessing their attributes.")

    def numel(self):
        return self.__torch_function__(torch.Tensor.numel, ())

    def share_memory_(self):
        raise RuntimeError("Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters before calling `module.share_memory()`.")

    def __repr__(self):
        return f"<{self.__class__.__name__}>"

    def __reduce_ex__(self, proto):
        return self.__class__, (self.requires_grad,)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        if name in cls._allowed or name in ("__get__", "__set__"):
            return torch._C._disabled_torch_function_impl(func, types, args, kwargs or {})
        raise ValueError(f"Attempted to use an uninitialized parameter in {func}. This error happens when you are using a `LazyModule` or explicitly manipulating "
                         f"`torch.nn.parameter.{cls.__name__}` objects. When using LazyModules Call `forward` with a dummy batch to initialize the parameters before calling torch functions")


def is_lazy(param):
    """Whether a tensor has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A Parameter without a shape."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad=True, device=None, dtype=None):
        return torch.Tensor._make_subclass(cls, torch.empty(0, device=device, dtype=dtype), requires_grad)

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        result = memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return result


class UninitializedBuffer(UninitializedTensorMixin, torch.Tensor):
    """A buffer without a shape."""

    cls_to_become = torch.Tensor

    def __new__(cls, requires_grad=False, device=None, dtype=None, persistent=True):
        t = torch.Tensor._make_subclass(cls, torch.empty(0, device=device, dtype=dtype), requires_grad)
        t.persistent, t._is_buffer = persistent, True
        return t
