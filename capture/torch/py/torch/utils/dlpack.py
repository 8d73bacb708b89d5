"""Tensors handed to, and taken from, other libraries without a copy."""
import enum

import torch

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


class DLDeviceType(enum.IntEnum):
    kDLCPU = 1
    kDLGPU = 2
    kDLCPUPinned = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLExtDev = 12
    kDLOneAPI = 14


class PyCapsule:
    """What holds a tensor on its way: it is emptied by who takes it."""

    def __init__(self, tensor):
        self._tensor = tensor

    def __repr__(self):
        return f'<capsule object "{"used_dltensor" if self._tensor is None else "dltensor"}" at {hex(id(self))}>'


def to_dlpack(tensor):
    return PyCapsule(tensor.detach())


def from_dlpack(ext_tensor):
    capsule = ext_tensor
    if type(ext_tensor).__module__.partition(".")[0] == "numpy":
        return torch.from_numpy(ext_tensor)
    if hasattr(type(ext_tensor), "__dlpack__"):
        if not isinstance(ext_tensor, torch.Tensor):
            ext_tensor.__dlpack_device__()
        capsule = ext_tensor.__dlpack__()
    tensor = capsule._tensor if isinstance(capsule, PyCapsule) else None
    if tensor is None:
        raise RuntimeError("from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you might have already constructed a tensor from it once.")
    capsule._tensor = None
    return tensor
