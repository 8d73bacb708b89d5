"""Fourier transforms on the kernels of tensors."""
from numpy._core import _multiarray_umath as mu
from numpy._core._multiarray_umath import arange, asarray, concatenate, empty
from numpy._core.numeric import normalize_axis_index, roll

__all__ = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "rfftn", "irfftn", "rfft2", "irfft2", "fft2", "ifft2", "fftn", "ifftn", "fftshift", "ifftshift", "fftfreq", "rfftfreq"]

_scale = {"backward": 0, None: 0, "ortho": 1, "forward": 2}
_inverse = {0: 2, 1: 1, 2: 0}


def _norm(norm, inverse):
    if norm not in _scale:
        raise ValueError(f'Invalid norm value {norm}; should be "backward","ortho" or "forward".')
    m = _scale[norm]
    return _inverse[m] if inverse else m


def _sized(a, n, axis):
    """The array with n items along an axis, cut off or filled with zeros."""
    if n is None or a.shape[axis] == n:
        return a
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    key = [slice(None)] * a.ndim
    if a.shape[axis] > n:
        key[axis] = slice(0, n)
        return a[tuple(key)]
    shape = list(a.shape)
    shape[axis] = n
    r = mu.zeros(shape, a.dtype)
    key[axis] = slice(0, a.shape[axis])
    r[tuple(key)] = a
    return r


def _floats(a):
    a = asarray(a)
    if a.dtype.char == "e":
        return a.astype(mu.float32)
    return a.astype(mu.float64) if a.dtype.kind not in "fc" else a


def _complexes(a):
    a = _floats(a)
    return a if a.dtype.kind == "c" else a.astype(mu.result_type(a.dtype, 1j))


def _c2c(a, n, axis, norm, forward):
    a = _complexes(a)
    axis = normalize_axis_index(axis, a.ndim)
    a = _sized(a, n, axis)
    if a.shape[axis] < 1:
        raise ValueError(f"Invalid number of FFT data points ({a.shape[axis]}) specified.")
    return mu._aten("_fft_c2c", a, [axis], _norm(norm, not forward), forward)


def fft(a, n=None, axis=-1, norm=None, out=None):
    return _c2c(a, n, axis, norm, True)


def ifft(a, n=None, axis=-1, norm=None, out=None):
    return _c2c(a, n, axis, norm, False)


def rfft(a, n=None, axis=-1, norm=None, out=None):
    a = _floats(a)
    if a.dtype.kind == "c":
        raise TypeError("ufunc 'rfft_n_even' did not contain a loop with signature matching types (dtype('complex128'), dtype('float64')) -> None")
    axis = normalize_axis_index(axis, a.ndim)
    return mu._aten("_fft_r2c", _sized(a, n, axis), [axis], _norm(norm, False), True)


def irfft(a, n=None, axis=-1, norm=None, out=None):
    a = _complexes(a)
    axis = normalize_axis_index(axis, a.ndim)
    if n is None:
        n = 2 * (a.shape[axis] - 1)
    return mu._aten("_fft_c2r", _sized(a, n // 2 + 1, axis), [axis], _norm(norm, True), n)


def hfft(a, n=None, axis=-1, norm=None, out=None):
    a = asarray(a)
    if n is None:
        n = 2 * (a.shape[axis] - 1)
    return irfft(a.conj(), n, axis, {"backward": "forward", None: "forward", "ortho": "ortho", "forward": "backward"}[norm])


def ihfft(a, n=None, axis=-1, norm=None, out=None):
    return rfft(a, n, axis, {"backward": "forward", None: "forward", "ortho": "ortho", "forward": "backward"}[norm]).conj()


def _each(a, s, axes, norm, f):
    a = asarray(a)
    if axes is None:
        axes = range(a.ndim) if s is None else range(-len(s), 0)
    axes = list(axes)
    s = [a.shape[ax] for ax in axes] if s is None else [a.shape[ax] if n == -1 else n for n, ax in zip(s, axes)]
    for n, ax in reversed(list(zip(s, axes))):
        a = f(a, n, ax, norm)
    return a


def fftn(a, s=None, axes=None, norm=None, out=None):
    return _each(a, s, axes, norm, fft)


def ifftn(a, s=None, axes=None, norm=None, out=None):
    return _each(a, s, axes, norm, ifft)


def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return fftn(a, s, axes, norm)


def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return ifftn(a, s, axes, norm)


def rfftn(a, s=None, axes=None, norm=None, out=None):
    a = asarray(a)
    axes = list(range(a.ndim) if axes is None and s is None else range(-len(s), 0) if axes is None else axes)
    s = [a.shape[ax] for ax in axes] if s is None else list(s)
    a = rfft(a, s[-1], axes[-1], norm)
    for n, ax in zip(s[:-1], axes[:-1]):
        a = fft(a, n, ax, norm)
    return a


def irfftn(a, s=None, axes=None, norm=None, out=None):
    a = asarray(a)
    axes = list(range(a.ndim) if axes is None and s is None else range(-len(s), 0) if axes is None else axes)
    if s is None:
        s = [a.shape[ax] for ax in axes]
        s[-1] = 2 * (s[-1] - 1)
    for n, ax in zip(s[:-1], axes[:-1]):
        a = ifft(a, n, ax, norm)
    return irfft(a, s[-1], axes[-1], norm)


def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return rfftn(a, s, axes, norm)


def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    return irfftn(a, s, axes, norm)


def fftshift(x, axes=None):
    x = asarray(x)
    axes = tuple(range(x.ndim)) if axes is None else (axes,) if isinstance(axes, int) else tuple(axes)
    return roll(x, [x.shape[ax] // 2 for ax in axes], axes)


def ifftshift(x, axes=None):
    x = asarray(x)
    axes = tuple(range(x.ndim)) if axes is None else (axes,) if isinstance(axes, int) else tuple(axes)
    return roll(x, [-(x.shape[ax] // 2) for ax in axes], axes)


def fftfreq(n, d=1.0, device=None):
    if not isinstance(n, (int, mu.integer)):
        raise ValueError("n should be an integer")
    half = (n - 1) // 2 + 1
    return concatenate((arange(0, half), arange(-(n // 2), 0))) * (1.0 / (n * d))


def rfftfreq(n, d=1.0, device=None):
    if not isinstance(n, (int, mu.integer)):
        raise ValueError("n should be an integer")
    return arange(0, n // 2 + 1) * (1.0 / (n * d))
