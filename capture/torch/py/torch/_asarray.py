"""torch.asarray: a tensor of anything, sharing memory where it can."""
import torch


def _shared(obj, dtype):
    """A tensor over the memory of an object, or None where it has none to share, and what kind of object that is."""
    if isinstance(obj, torch.Tensor):
        return obj
    kind = type(obj)
    if kind.__module__.partition(".")[0] == "numpy" and hasattr(obj, "__array__"):
        return torch.from_numpy(obj) if hasattr(obj, "dtype") and getattr(obj, "shape", ()) != () else None
    if hasattr(kind, "__dlpack__"):
        return torch.from_dlpack(obj)
    if kind in (bytes, bytearray, memoryview):
        return torch.frombuffer(obj, dtype=torch.get_default_dtype() if dtype is None else dtype)
    return None


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    shared = _shared(obj, dtype)
    if shared is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        made = torch.tensor(obj, dtype=dtype, device=device)
        return made.requires_grad_() if requires_grad else made
    result = shared
    other_device = device is not None and torch.device(device) != shared.device
    other_dtype = dtype is not None and dtype != shared.dtype
    if copy is False and other_device:
        raise ValueError(f"can't alias tensor with device '{shared.device}' to '{torch.device(device)}'.")
    if copy is False and other_dtype:
        raise ValueError(f"can't alias tensor with dtype '{_name(shared.dtype)}' into dtype '{_name(dtype)}'.")
    if copy or other_device or other_dtype:
        result = shared.to(device=device, dtype=dtype) if other_device or other_dtype else shared.clone()
    if isinstance(obj, torch.Tensor) and not requires_grad and result.requires_grad:
        return result.detach()
    return result.requires_grad_() if requires_grad and not result.requires_grad else result


def _name(dtype):
    names = {torch.float32: "Float", torch.float64: "Double", torch.float16: "Half", torch.bfloat16: "BFloat16", torch.int64: "Long", torch.int32: "Int", torch.int16: "Short",
             torch.int8: "Char", torch.uint8: "Byte", torch.bool: "Bool", torch.complex64: "ComplexFloat", torch.complex128: "ComplexDouble"}
    return names.get(dtype, str(dtype))
