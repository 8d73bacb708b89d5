"""Views with strides of one's own."""
from numpy._core import _multiarray_umath as mu
from numpy._core.numeric import broadcast_arrays, broadcast_shapes, broadcast_to, normalize_axis_tuple


def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    x = mu.asarray(x)
    return mu._as_strided(x, x.shape if shape is None else shape, x.strides if strides is None else strides, writeable)


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    x = mu.asarray(x)
    window = tuple(window_shape) if hasattr(window_shape, "__iter__") else (window_shape,)
    if any(w < 0 for w in window):
        raise ValueError("`window_shape` cannot contain negative values")
    axes = tuple(range(x.ndim)) if axis is None else normalize_axis_tuple(axis, x.ndim, allow_duplicate=True)
    if len(window) != len(axes):
        raise ValueError(f"Must provide window_shape for all dimensions of `x`; got {len(window)} window_shape elements and `x.ndim` is {x.ndim}." if axis is None
                         else f"Must provide matching length window_shape and axis; got {len(window)} window_shape elements and {len(axes)} axes elements.")
    shape = list(x.shape)
    for ax, w in zip(axes, window):
        if shape[ax] < w:
            raise ValueError("window shape cannot be larger than input array shape")
        shape[ax] -= w - 1
    return mu._as_strided(x, tuple(shape) + window, x.strides + tuple(x.strides[ax] for ax in axes), writeable)
