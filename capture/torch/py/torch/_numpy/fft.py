"""numpy.fft: in double precision, whatever comes in."""

import torch

from . import _dtypes_impl, _util
from ._normalizations import array, normalizer


def _double(t):
    defaults = _dtypes_impl.default_dtypes()
    return _util.cast_if_needed(t, defaults.complex_dtype if t.is_complex() else defaults.float_dtype)


def _transform(name):
    function = getattr(torch.fft, name)
    if name[-1] == "n":

        def transform(a: array, s=None, axes=None, norm=None):
            return function(_double(a), s, dim=axes, norm=norm)

    elif name[-1] == "2":

        def transform(a: array, s=None, axes=(-2, -1), norm=None):
            return function(_double(a), s, dim=axes, norm=norm)

    else:

        def transform(a: array, n=None, axis=-1, norm=None):
            return function(_double(a), n, dim=axis, norm=norm)

    transform.__name__ = transform.__qualname__ = name
    return normalizer(transform)


for _name in "fft ifft rfft irfft fftn ifftn rfftn irfftn fft2 ifft2 rfft2 irfft2 hfft ihfft".split():
    globals()[_name] = _transform(_name)


def _frequencies(name):
    def frequencies(n, d=1.0):
        return getattr(torch.fft, name)(n, d=d)

    return frequencies


def _shift(name):
    def shift(x: array, axes=None):
        return getattr(torch.fft, name)(x, dim=axes)

    return shift


for _make, _name in (_frequencies, "fftfreq"), (_frequencies, "rfftfreq"), (_shift, "fftshift"), (_shift, "ifftshift"):
    _function = _make(_name)
    _function.__name__ = _function.__qualname__ = _name
    globals()[_name] = normalizer(_function)
