"""Limits of the number types."""
import torch

_FLOATS = {
    torch.float32: (32, 2.0 ** -23, 3.4028234663852886e38, 2.0 ** -126, 1e-6, "float32"),
    torch.float64: (64, 2.0 ** -52, 1.7976931348623157e308, 2.0 ** -1022, 1e-15, "float64"),
    torch.float16: (16, 2.0 ** -10, 65504.0, 2.0 ** -14, 1e-3, "float16"),
    torch.bfloat16: (16, 2.0 ** -7, 3.3895313892515355e38, 2.0 ** -126, 1e-2, "bfloat16"),
}
_FLOATS[torch.complex64] = _FLOATS[torch.float32]
_FLOATS[torch.complex128] = _FLOATS[torch.float64]
_INTS = {torch.uint8: (8, False), torch.int8: (8, True), torch.int16: (16, True), torch.int32: (32, True), torch.int64: (64, True)}


class finfo:
    def __init__(self, type=None):
        if type is None:
            type = torch.get_default_dtype()
        if type not in _FLOATS:
            raise TypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{type.__class__.__name__}'")
        self.bits, self.eps, self.max, self.tiny, self.resolution, self.dtype = _FLOATS[type]
        self.min = -self.max
        self.smallest_normal = self.tiny

    def __eq__(self, other):
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)

    def __repr__(self):
        return f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, smallest_normal={self.tiny:g}, tiny={self.tiny:g}, dtype={self.dtype})"


class iinfo:
    def __init__(self, type):
        if type not in _INTS:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle '" + str(type) + "'")
        self.bits, signed = _INTS[type]
        self.max = 2 ** (self.bits - signed) - 1
        self.min = -self.max - 1 if signed else 0
        self.dtype = str(type)[6:]

    def __eq__(self, other):
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self):
        return hash(self.dtype)

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
