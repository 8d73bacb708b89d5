"""What pickled tensors and parameters are rebuilt by: the names stand in files."""
from collections import OrderedDict

import torch
from torch.storage import TypedStorage, _tensor

_VERSION_3 = ("uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")


def _element_size(dtype):
    return dtype.itemsize


def _rebuild_tensor(storage, storage_offset, size, stride):
    return _tensor(storage, storage.dtype, storage_offset, size, stride)


def _rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks, metadata=None):
    tensor = _rebuild_tensor(storage, storage_offset, size, stride)
    tensor.requires_grad = requires_grad
    tensor._backward_hooks = backward_hooks
    return tensor


def _rebuild_tensor_v3(storage, storage_offset, size, stride, requires_grad, backward_hooks, dtype, metadata=None):
    tensor = _tensor(storage, dtype, storage_offset, size, stride)
    tensor.requires_grad = requires_grad
    tensor._backward_hooks = backward_hooks
    return tensor


def _rebuild_parameter(data, requires_grad, backward_hooks):
    param = torch.nn.Parameter(data, requires_grad)
    param._backward_hooks = backward_hooks
    return param


def _rebuild_parameter_with_state(data, requires_grad, backward_hooks, state):
    return _set_obj_state(_rebuild_parameter(data, requires_grad, backward_hooks), state)


def _get_obj_state(obj):
    return {k: v for k, v in obj.__dict__.items() if k != "_backward_hooks"}


def _set_obj_state(obj, state):
    if isinstance(state, tuple):
        if len(state) != 2:
            raise RuntimeError(f"Invalid serialized state: {state}")
        state, slots = state
        for k, v in (slots or {}).items():
            setattr(obj, k, v)
    for k, v in (state or {}).items():
        setattr(obj, k, v)
    return obj


def _reduce(tensor, protocol):
    """Tensor.__reduce_ex__."""
    state = _get_obj_state(tensor)
    if type(tensor) is torch.nn.Parameter:
        data = tensor.data
        if state:
            return _rebuild_parameter_with_state, (data, tensor.requires_grad, OrderedDict(), state)
        return _rebuild_parameter, (data, tensor.requires_grad, OrderedDict())
    storage, function, extra = tensor._typed_storage(), _rebuild_tensor_v2, ()
    if str(tensor.dtype).removeprefix("torch.") in _VERSION_3:
        storage, function, extra = tensor.untyped_storage(), _rebuild_tensor_v3, (tensor.dtype,)
    args = (storage, tensor.storage_offset(), tuple(tensor.size()), tensor.stride(), tensor.requires_grad, OrderedDict(), *extra)
    if type(tensor) is torch.Tensor and not state:
        return function, args
    from torch._tensor import _rebuild_from_type_v2

    return _rebuild_from_type_v2, (function, type(tensor), args, state)


def is_compiling():
    """Whether the program is being traced by the compiler."""
    return torch.compiler.is_compiling()


def _flatten_dense_tensors(tensors):
    """One vector of the elements of all."""
    return torch.cat([t.reshape(-1) for t in tensors])


def _unflatten_dense_tensors(flat, tensors):
    """A vector cut up into the shapes of tensors."""
    return tuple(part.view_as(t) for part, t in zip(flat.split([t.numel() for t in tensors]), tensors))
