from torch.nn import functional as F
from torch.nn.modules.module import Module
from torch.nn.modules.utils import _ntuple

__all__ = ["ConstantPad1d", "ConstantPad2d", "ConstantPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d", "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d",
           "ReplicationPad1d", "ReplicationPad2d", "ReplicationPad3d", "CircularPad1d", "CircularPad2d", "CircularPad3d"]


class _Pad(Module):
    sides = 2
    mode = "constant"

    def __init__(self, padding):
        super().__init__()
        self.padding = _ntuple(self.sides)(padding)

    def forward(self, input):
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self):
        return f"{self.padding}"


class ConstantPad1d(_Pad):
    def __init__(self, padding, value):
        super().__init__(padding)
        self.value = value

    def forward(self, input):
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self):
        return f"padding={self.padding}, value={self.value}"


class ConstantPad2d(ConstantPad1d):
    sides = 4


class ConstantPad3d(ConstantPad1d):
    sides = 6


class ZeroPad1d(ConstantPad1d):
    def __init__(self, padding):
        super().__init__(padding, 0.0)

    def extra_repr(self):
        return f"{self.padding}"


class ZeroPad2d(ZeroPad1d):
    sides = 4


class ZeroPad3d(ZeroPad1d):
    sides = 6


class ReflectionPad1d(_Pad):
    mode = "reflect"


class ReflectionPad2d(ReflectionPad1d):
    sides = 4


class ReflectionPad3d(ReflectionPad1d):
    sides = 6


class ReplicationPad1d(_Pad):
    mode = "replicate"


class ReplicationPad2d(ReplicationPad1d):
    sides = 4


class ReplicationPad3d(ReplicationPad1d):
    sides = 6


class CircularPad1d(_Pad):
    mode = "circular"


class CircularPad2d(CircularPad1d):
    sides = 4


class CircularPad3d(CircularPad1d):
    sides = 6
