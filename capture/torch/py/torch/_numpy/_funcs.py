"""The functions of numpy that are neither ufuncs nor reductions, and those, all in one namespace."""

import builtins
import operator

import torch

from . import _dtypes_impl, _reductions_impl, _util
from ._normalizations import (
    array,
    array_or_none,
    arrays,
    maybe_copy_to,
    normalizer,
    operand,
    operand_or_none,
    own,
    refused,
    renamed,
    rule,
    scalar_type,
    target,
    wrap_tensors,
)
from ._reductions_impl import *

_before = set(globals())


def _float():
    return _dtypes_impl.default_dtypes().float_dtype


def _int():
    return _dtypes_impl.default_dtypes().int_dtype


# Copies.


@normalizer
def copy(a: array, order: refused = "K", subok: refused = False):
    return a.clone()


@normalizer
def copyto(dst: own, src: array, casting: rule = "same_kind", where: refused = None):
    dst.copy_(_util.typecast_tensor(src, dst.dtype, casting))


# Joining.


def _listed(result):
    return list(result) if isinstance(result, tuple) else result


@normalizer
def atleast_1d(*arys: array):
    return _listed(torch.atleast_1d(*arys))


@normalizer
def atleast_2d(*arys: array):
    return _listed(torch.atleast_2d(*arys))


@normalizer
def atleast_3d(*arys: array):
    return _listed(torch.atleast_3d(*arys))


def _joinable(tensors, out, dtype, casting):
    """The tensors in the type that they are joined in."""
    if tensors == ():
        raise ValueError("need at least one array to concatenate")
    if out is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    if dtype is None:
        dtype = _dtypes_impl.result_type_impl(*tensors) if out is None else out.dtype.torch_dtype
    return _util.typecast_tensors(tensors, dtype, casting)


def _concatenated(tensors, axis=0):
    return torch.cat(_util.together(*tensors), axis)


@normalizer
def concatenate(ar_tuple: arrays, axis=0, out: target = None, dtype: scalar_type = None, casting: rule = "same_kind"):
    tensors = _joinable(ar_tuple, out, dtype, casting)
    tensors, axis = _util.axis_none_flatten(*tensors, axis=axis)
    return torch.cat(tensors, axis)


@normalizer
def vstack(tup: arrays, *, dtype: scalar_type = None, casting: rule = "same_kind"):
    return torch.vstack(_joinable(tup, None, dtype, casting))


row_stack = renamed(vstack, "row_stack")


@normalizer
def hstack(tup: arrays, *, dtype: scalar_type = None, casting: rule = "same_kind"):
    return torch.hstack(_joinable(tup, None, dtype, casting))


@normalizer
def dstack(tup: arrays, *, dtype: scalar_type = None, casting: rule = "same_kind"):
    return torch.dstack(_joinable(tup, None, dtype, casting))


@normalizer
def column_stack(tup: arrays, *, dtype: scalar_type = None, casting: rule = "same_kind"):
    return torch.column_stack(_joinable(tup, None, dtype, casting))


@normalizer
def stack(arrays: arrays, axis=0, out: target = None, *, dtype: scalar_type = None, casting: rule = "same_kind"):
    tensors = _joinable(arrays, out, dtype, casting)
    return torch.stack(tensors, _util.normalize_axis_index(axis, tensors[0].ndim + 1))


@normalizer
def append(arr: array, values: array, axis=None):
    if axis is None:
        return _concatenated((arr.flatten(), values.flatten()))
    return _concatenated((arr, values), axis)


@normalizer
def kron(a: array, b: array):
    return torch.kron(a, b)


# Splitting.


def _parts(tensor, where, axis, equal=True):
    """tensor in pieces: so many, or cut at the given places."""
    if isinstance(where, int):
        axis = _util.normalize_axis_index(axis, tensor.ndim)
        size = tensor.shape[axis]
        if where <= 0:
            raise ValueError
        if equal and size % where:
            raise ValueError("array split does not result in an equal division")
        lengths = [size // where + (i < size % where) for i in range(where)]
    elif isinstance(where, (list, tuple)):
        size = tensor.shape[axis]
        cuts = [x for x in where if x <= size]
        lengths = [b - a for a, b in zip([0, *cuts], [*cuts, size])] + [0] * (len(where) - len(cuts))
    else:
        raise TypeError("split_helper: ", type(where))
    return torch.split(tensor, lengths, axis)


@normalizer
def array_split(ary: array, indices_or_sections, axis=0):
    return _parts(ary, indices_or_sections, axis, equal=False)


@normalizer
def split(ary: array, indices_or_sections, axis=0):
    return _parts(ary, indices_or_sections, axis)


@normalizer
def hsplit(ary: array, indices_or_sections):
    if ary.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return _parts(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


@normalizer
def vsplit(ary: array, indices_or_sections):
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return _parts(ary, indices_or_sections, 0)


@normalizer
def dsplit(ary: array, indices_or_sections):
    if ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return _parts(ary, indices_or_sections, 2)


# Arrays by rule.


@normalizer
def vander(x: array, N=None, increasing=False):
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    powers = torch.arange(x.shape[0] if N is None else N)
    if not increasing:
        powers = torch.flip(powers, (0,))
    return torch.pow(x[:, None], powers)


def _plain_range(axis, *others):
    if axis != 0 or not builtins.all(others):
        raise NotImplementedError


@normalizer
def linspace(start: array, stop: array, num=50, endpoint=True, retstep=False, dtype: scalar_type = None, axis=0):
    _plain_range(axis, endpoint, not retstep)
    return torch.linspace(start, stop, num, dtype=_float() if dtype is None else dtype)


@normalizer
def geomspace(start: array, stop: array, num=50, endpoint=True, dtype: scalar_type = None, axis=0):
    _plain_range(axis, endpoint)
    base = torch.pow(stop / start, 1.0 / (num - 1))
    scale = torch.log(base)
    return torch.logspace(torch.log(start) / scale, torch.log(stop) / scale, num, base=base)


@normalizer
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype: scalar_type = None, axis=0):
    _plain_range(axis, endpoint)
    return torch.logspace(start, stop, num, base=base, dtype=dtype)


@normalizer
def arange(start: operand_or_none = None, stop: operand_or_none = None, step: operand_or_none = 1, dtype: scalar_type = None, *, like: refused = None):
    if step == 0:
        raise ZeroDivisionError
    if stop is None:
        if start is None:
            raise TypeError
        start, stop = 0, start
    if start is None:
        start = 0
    bounds = start, stop, step
    if dtype is None:
        dtype = _float() if builtins.any(_dtypes_impl.is_float_or_fp_tensor(x) for x in bounds) else _int()
    if builtins.any(_dtypes_impl.is_complex_or_complex_tensor(x) for x in bounds):
        raise NotImplementedError
    if step > 0 and start > stop or step < 0 and start < stop:
        return torch.empty(0, dtype=dtype)
    return _util.cast_if_needed(torch.arange(start, stop, step, dtype=torch.float64 if dtype.is_complex else dtype), dtype)


def _default(dtype):
    return _float() if dtype is None else dtype


def _shaped(result, shape):
    return result if shape is None else result.reshape(shape)


@normalizer
def empty(shape, dtype: scalar_type = None, order: refused = "C", *, like: refused = None):
    return torch.empty(shape, dtype=_default(dtype))


@normalizer
def empty_like(prototype: array, dtype: scalar_type = None, order: refused = "K", subok: refused = False, shape=None):
    return _shaped(torch.empty_like(prototype, dtype=dtype), shape)


@normalizer
def full(shape, fill_value: operand, dtype: scalar_type = None, order: refused = "C", *, like: refused = None):
    if not isinstance(shape, (tuple, list)):
        shape = (shape,)
    if dtype is None:
        dtype = _dtypes_impl.dtype_of(fill_value)
        if not isinstance(fill_value, torch.Tensor):
            dtype = _dtypes_impl.get_default_dtype_for(dtype)
    if isinstance(fill_value, torch.Tensor):  # whose value nobody need know
        return torch.empty(shape, dtype=dtype).copy_(fill_value)
    return torch.full(shape, fill_value, dtype=dtype)


@normalizer
def full_like(a: array, fill_value, dtype: scalar_type = None, order: refused = "K", subok: refused = False, shape=None):
    return _shaped(torch.full_like(a, fill_value, dtype=dtype), shape)


@normalizer
def ones(shape, dtype: scalar_type = None, order: refused = "C", *, like: refused = None):
    return torch.ones(shape, dtype=_default(dtype))


@normalizer
def ones_like(a: array, dtype: scalar_type = None, order: refused = "K", subok: refused = False, shape=None):
    return _shaped(torch.ones_like(a, dtype=dtype), shape)


@normalizer
def zeros(shape, dtype: scalar_type = None, order: refused = "C", *, like: refused = None):
    return torch.zeros(shape, dtype=_default(dtype))


@normalizer
def zeros_like(a: array, dtype: scalar_type = None, order: refused = "K", subok: refused = False, shape=None):
    return _shaped(torch.zeros_like(a, dtype=dtype), shape)


@normalizer
def eye(N, M=None, k=0, dtype: scalar_type = None, order: refused = "C", *, like: refused = None):
    z = torch.zeros(N, N if M is None else M, dtype=_default(dtype))
    z.diagonal(k).fill_(1)
    return z


@normalizer
def identity(n, dtype: scalar_type = None, *, like: refused = None):
    return torch.eye(n, dtype=dtype)


@normalizer
def tri(N, M=None, k=0, dtype: scalar_type = None, *, like: refused = None):
    return torch.tril(torch.ones((N, N if M is None else M), dtype=dtype), diagonal=k)


# Statistics.


def _variables(x, y, rowvar):
    """The observations of one or two arrays, one row for each variable."""
    if y is None:
        return x

    def rows(t):
        t = torch.atleast_2d(t)
        return t.mT if not rowvar and t.shape[0] != 1 else t

    return _concatenated((rows(x), rows(y)))


def _wide(f, x, dtype):
    """f of x, in float32 where x is of half precision."""
    half = x.dtype == torch.float16 and x.is_cpu
    result = f(_util.cast_if_needed(x, torch.float32 if half else dtype))
    return result.to(torch.float16) if half else result


@normalizer
def corrcoef(x: array, y: array_or_none = None, rowvar=True, bias=None, ddof=None, *, dtype: scalar_type = None):
    if bias is not None or ddof is not None:
        raise NotImplementedError
    return _wide(torch.corrcoef, _variables(x, y, rowvar), dtype)


@normalizer
def cov(
    m: array,
    y: array_or_none = None,
    rowvar=True,
    bias=False,
    ddof=None,
    fweights: array_or_none = None,
    aweights: array_or_none = None,
    *,
    dtype: scalar_type = None,
):
    if ddof is None:
        ddof = int(bias == 0)
    return _wide(lambda m: torch.cov(m, correction=ddof, aweights=aweights, fweights=fweights), _variables(m, y, rowvar), dtype)


def _slide(a, v, mode):
    a, v = _util.together(a, v)
    padding = v.shape[0] - 1 if mode == "full" else mode
    if padding == "same" and v.shape[0] % 2 == 0:
        raise NotImplementedError("mode='same' and even-length weights")
    return torch.nn.functional.conv1d(a[None, :], v[None, None, :], padding=padding)[0, :]


@normalizer
def convolve(a: array, v: array, mode="full"):
    if a.shape[0] < v.shape[0]:
        a, v = v, a
    return _slide(a, torch.flip(v, (0,)), mode)


@normalizer
def correlate(a: array, v: array, mode="valid"):
    return _slide(a, torch.conj_physical(v), mode)


@normalizer
def bincount(x: array, /, weights: array_or_none = None, minlength=0):
    if x.numel() == 0:
        x = x.new_empty(0, dtype=int)
    return torch.bincount(_util.typecast_tensor(x, _int(), "safe"), weights, minlength)


@normalizer
def histogram(a: array, bins: array = 10, range=None, normed=None, weights: array_or_none = None, density=None):
    if normed is not None:
        raise ValueError("normed argument is deprecated, use density= instead")
    if weights is not None and weights.dtype.is_complex:
        raise NotImplementedError("complex weights histogram.")
    whole = not (a.dtype.is_floating_point or a.dtype.is_complex)
    counted = weights is None or not weights.dtype.is_floating_point
    if whole:
        a = a.double()
    if weights is not None:
        weights = _util.cast_if_needed(weights, a.dtype)
    if isinstance(bins, torch.Tensor):  # the default is a number
        bins = operator.index(bins) if bins.ndim == 0 else _util.cast_if_needed(bins, a.dtype)
    kwds = {} if range is None else {"range": range}
    heights, edges = torch.histogram(a, bins, weight=weights, density=bool(density), **kwds)
    if counted and not density:
        heights = heights.long()
    return heights, edges.long() if whole else edges


@normalizer
def histogram2d(x, y, bins=10, range: array_or_none = None, normed=None, weights: array_or_none = None, density=None):
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    if hasattr(bins, "__len__") and len(bins) not in (1, 2):
        bins = [bins, bins]
    heights, edges = histogramdd((x, y), bins, range, normed, weights, density)
    return heights, edges[0], edges[1]


@normalizer
def histogramdd(sample, bins=10, range: array_or_none = None, normed=None, weights: array_or_none = None, density=None):
    if normed is not None:
        raise ValueError("normed argument is deprecated, use density= instead")
    points = array(sample)
    points = torch.atleast_2d(points.T if isinstance(sample, (list, tuple)) else points)
    if not (points.dtype.is_floating_point or points.dtype.is_complex):
        points = points.double()
    types = None
    if not isinstance(bins, int) and not builtins.all(isinstance(b, int) for b in bins):
        bins = arrays(bins)
        types = [b.dtype for b in bins]
        bins = [_util.cast_if_needed(b, points.dtype) for b in bins]
    if range is not None:
        range = range.flatten().tolist()
    kwds = {}
    if weights is not None:
        low, high = points.aminmax(dim=0)
        range = torch.stack((low, high), dim=1).flatten().tolist()
        kwds["weight"] = _util.cast_if_needed(weights, points.dtype)
    heights, edges = torch.histogramdd(points, bins, range, density=bool(density), **kwds)
    if types is not None:
        edges = [_util.cast_if_needed(e, t) for e, t in zip(edges, types)]
    return heights, edges


# Choice by condition or by index.


@normalizer
def where(condition: array, x: operand_or_none = None, y: operand_or_none = None, /):
    if (x is None) != (y is None):
        raise ValueError("either both or neither of x and y should be given")
    condition = _util.cast_if_needed(condition, torch.bool)
    return torch.where(condition) if x is None else torch.where(condition, x, y)


@normalizer
def take(a: array, indices: array, axis=None, out: target = None, mode: refused = "raise"):
    (a,), axis = _util.axis_none_flatten(a, axis=axis)
    axis = _util.normalize_axis_index(axis, a.ndim)
    return a[(slice(None),) * axis + (indices, ...)]


@normalizer
def take_along_axis(arr: array, indices: array, axis):
    (arr,), axis = _util.axis_none_flatten(arr, axis=axis)
    return torch.take_along_dim(arr, indices, _util.normalize_axis_index(axis, arr.ndim))


@normalizer
def put(a: own, indices: array, values: array, mode: refused = "raise"):
    v = values.type(a.dtype)
    wanted = indices.numel()
    if wanted > v.numel():
        v = v.unsqueeze(0).expand((-(-wanted // v.numel()),) + v.shape)
    if wanted < v.numel():
        v = v.flatten()[:wanted]
    a.put_(indices, v)


@normalizer
def put_along_axis(arr: array, indices: array, values: array, axis):
    whole = arr
    (arr,), axis = _util.axis_none_flatten(arr, axis=axis)
    axis = _util.normalize_axis_index(axis, arr.ndim)
    indices, values = torch.broadcast_tensors(indices, values)
    written = torch.scatter(arr, axis, indices, _util.cast_if_needed(values, arr.dtype))
    arr.copy_(written.reshape(arr.shape))


@normalizer
def choose(a: array, choices: arrays, out: target = None, mode: refused = "raise"):
    table = torch.stack(torch.broadcast_tensors(*choices))
    places = [a]
    for i in range(1, table.ndim):
        shape = [1] * table.ndim
        shape[i] = table.shape[i]
        places.append(torch.arange(table.shape[i]).view(shape))
    return table[places].squeeze(0)


@normalizer
def unique(ar: array, return_index: refused = False, return_inverse=False, return_counts=False, axis=None, *, equal_nan: refused = True):
    (ar,), axis = _util.axis_none_flatten(ar, axis=axis)
    axis = _util.normalize_axis_index(axis, ar.ndim)
    return torch.unique(ar, return_inverse=return_inverse, return_counts=return_counts, dim=axis)


@normalizer
def nonzero(a: array):
    return torch.nonzero(a, as_tuple=True)


@normalizer
def argwhere(a: array):
    return torch.argwhere(a)


@normalizer
def flatnonzero(a: array):
    return torch.flatten(a).nonzero(as_tuple=True)[0]


@normalizer
def clip(a: array, min: array_or_none = None, max: array_or_none = None, out: target = None):
    return torch.clamp(a, min, max)


# What an array is like.


@normalizer
def ndim(a: array):
    return a.ndim


@normalizer
def shape(a: array):
    return tuple(a.shape)


@normalizer
def size(a: array, axis=None):
    return a.numel() if axis is None else a.shape[axis]


@normalizer
def iscomplexobj(x: array):
    return torch.is_complex(x)


@normalizer
def isrealobj(x: array):
    return not torch.is_complex(x)


@normalizer
def isscalar(a):
    try:
        return array(a).numel() == 1
    except Exception:
        return False


# Axes and shapes.


@normalizer
def expand_dims(a: array, axis):
    return a.view(_util.expand_shape(a.shape, axis))


@normalizer
def flip(m: array, axis=None):
    return torch.flip(m, tuple(range(m.ndim)) if axis is None else _util.normalize_axis_tuple(axis, m.ndim))


@normalizer
def flipud(m: array):
    return torch.flipud(m)


@normalizer
def fliplr(m: array):
    return torch.fliplr(m)


@normalizer
def rot90(m: array, k=1, axes=(0, 1)):
    return torch.rot90(m, k, _util.normalize_axis_tuple(axes, m.ndim))


@normalizer
def broadcast_to(array: array, shape, subok: refused = False):
    return torch.broadcast_to(array, size=shape)


broadcast_shapes = torch.broadcast_shapes


@normalizer
def broadcast_arrays(*args: array, subok: refused = False):
    return torch.broadcast_tensors(*args)


@normalizer
def meshgrid(*xi: array, copy=True, sparse=False, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    order = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        order[:2] = 1, 0
    grids = []
    for x, axis in zip(xi, order):
        shape = [1] * len(xi)
        shape[axis] = -1
        grids.append(x.reshape(shape))
    if not sparse:
        grids = torch.broadcast_tensors(*grids)
    return [g.clone() for g in grids] if copy else list(grids)


@normalizer
def indices(dimensions, dtype: scalar_type = int, sparse=False):
    dimensions = tuple(dimensions)
    n = len(dimensions)
    dense = None if sparse else torch.empty((n, *dimensions), dtype=dtype)
    parts = ()
    for i, size in enumerate(dimensions):
        shape = [1] * n
        shape[i] = size
        along = torch.arange(size, dtype=dtype).reshape(shape)
        if sparse:
            parts += (along,)
        else:
            dense[i] = along
    return parts if sparse else dense


@normalizer
def repeat(a: array, repeats: operand, axis=None):
    return torch.repeat_interleave(a, repeats, axis)


@normalizer
def tile(A: array, reps):
    return torch.tile(A, (reps,) if isinstance(reps, int) else reps)


@normalizer
def resize(a: array, new_shape=None):
    if new_shape is None:
        return a
    if isinstance(new_shape, int):
        new_shape = (new_shape,)
    total = 1
    for n in new_shape:
        total *= n
        if n < 0:
            raise ValueError("all elements of `new_shape` must be non-negative")
    a = a.flatten()
    if a.numel() == 0 or total == 0:
        return torch.zeros(new_shape, dtype=a.dtype)
    return torch.cat((a,) * -(-total // a.numel()))[:total].reshape(new_shape)


@normalizer
def moveaxis(a: array, source, destination):
    source = _util.normalize_axis_tuple(source, a.ndim, "source")
    return torch.moveaxis(a, source, _util.normalize_axis_tuple(destination, a.ndim, "destination"))


@normalizer
def swapaxes(a: array, axis1, axis2):
    axis1 = _util.normalize_axis_index(axis1, a.ndim)
    return torch.swapaxes(a, axis1, _util.normalize_axis_index(axis2, a.ndim))


@normalizer
def rollaxis(a: array, axis, start=0):
    n = a.ndim
    axis = _util.normalize_axis_index(axis, n)
    if start < 0:
        start += n
    if not 0 <= start <= n:
        raise _util.AxisError(f"'start' arg requires {-n} <= start < {n + 1}, but {start} was passed in")
    if axis < start:
        start -= 1
    if axis == start:
        return a
    axes = [i for i in range(n) if i != axis]
    axes.insert(start, axis)
    return a.view(axes)  # as sizes: only a shape that is its own order gets by, in the original too


@normalizer
def roll(a: array, shift, axis=None):
    if axis is not None:
        axis = _util.normalize_axis_tuple(axis, a.ndim, allow_duplicate=True)
        if not isinstance(shift, tuple):
            shift = (shift,) * len(axis)
        return torch.roll(a, shift, axis)
    return torch.roll(a, shift)


@normalizer
def squeeze(a: array, axis=None):
    if axis is None:
        return a.squeeze()
    if not isinstance(axis, tuple):
        return a.squeeze(axis)
    result = a
    for ax in axis:
        result = a.squeeze(ax)  # the last one counts, in the original too
    return result


@normalizer
def reshape(a: array, newshape, order: refused = "C"):
    return a.reshape(newshape[0] if len(newshape) == 1 else newshape)


@normalizer
def transpose(a: array, axes=None):
    if axes in [(), None, (None,)]:
        return a.permute(tuple(reversed(range(a.ndim))))
    return a.permute(axes[0] if len(axes) == 1 else axes)


@normalizer
def ravel(a: array, order: refused = "C"):
    return torch.flatten(a)


# Triangles and diagonals.


@normalizer
def tril(m: array, k=0):
    return torch.tril(m, k)


@normalizer
def triu(m: array, k=0):
    return torch.triu(m, k)


@normalizer
def tril_indices(n, k=0, m=None):
    return torch.tril_indices(n, n if m is None else m, offset=k)


@normalizer
def triu_indices(n, k=0, m=None):
    return torch.triu_indices(n, n if m is None else m, offset=k)


def _matrix(arr):
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return arr.shape


@normalizer
def tril_indices_from(arr: array, k=0):
    return torch.tril_indices(*_matrix(arr), offset=k)


@normalizer
def triu_indices_from(arr: array, k=0):
    return torch.triu_indices(*_matrix(arr), offset=k)


@normalizer
def diagonal(a: array, offset=0, axis1=0, axis2=1):
    axis1 = _util.normalize_axis_index(axis1, a.ndim)
    return torch.diagonal(a, offset, axis1, _util.normalize_axis_index(axis2, a.ndim))


@normalizer
def trace(a: array, offset=0, axis1=0, axis2=1, dtype: scalar_type = None, out: target = None):
    return torch.diagonal(a, offset, dim1=axis1, dim2=axis2).sum(-1, dtype=dtype)


@normalizer
def diag(v: array, k=0):
    return torch.diag(v, k)


@normalizer
def diagflat(v: array, k=0):
    return torch.diagflat(v, k)


def _on_diagonal(n, ndim):
    return (torch.arange(n),) * ndim


@normalizer
def diag_indices(n, ndim=2):
    return _on_diagonal(n, ndim)


def _diagonal_of(arr):
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    return _on_diagonal(arr.shape[0], arr.ndim)


@normalizer
def diag_indices_from(arr: array):
    return _diagonal_of(arr)


@normalizer
def fill_diagonal(a: array, val: array, wrap=False):
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if val.numel() == 0 and not wrap:
        a.fill_diagonal_(val)
        return a
    val = torch.atleast_1d(val)
    if a.ndim > 2:
        a[_diagonal_of(a)] = val[: a.shape[0]]
        return a
    rows, columns = a.shape
    if not wrap or rows <= columns:
        diagonal = a.diagonal()
        diagonal.copy_(val[: diagonal.numel()])
        return a
    # The diagonal starts anew below each square, with a row between.
    i = torch.arange(rows - rows // (columns + 1))
    a[(i // columns * (columns + 1) + i % columns, i % columns)] = val[: i.numel()]
    return a


# Products.


def _whole_product(f, a, b, half=False):
    """A product of two arrays that it is not written for in every type."""
    dtype = _dtypes_impl.result_type_impl(a, b)
    work = dtype
    if dtype == torch.bool:
        work = torch.uint8
    elif half and dtype == torch.float16 and (a.is_cpu or b.is_cpu):
        work = torch.float32
    result = f(_util.cast_if_needed(a, work), _util.cast_if_needed(b, work))
    return result if work == dtype else result.to(dtype)


@normalizer
def vdot(a: array, b: array, /):
    def product(a, b):
        return torch.sum(torch.conj_physical(a) * b) if a.is_complex() else torch.vdot(a, b)

    a, b = torch.atleast_1d(a, b)
    return _whole_product(product, a.flatten(), b.flatten(), half=True)


@normalizer
def tensordot(a: array, b: array, axes=2):
    if isinstance(axes, (list, tuple)):
        axes = [[ax] if isinstance(ax, int) else ax for ax in axes]
    a, b = _util.together(a, b)
    return torch.tensordot(a, b, dims=axes)


@normalizer
def dot(a: array, b: array, out: target = None):
    return _whole_product(lambda a, b: a * b if a.ndim == 0 or b.ndim == 0 else torch.matmul(a, b), a, b)


@normalizer
def inner(a: array, b: array, /):
    return _whole_product(torch.inner, a, b, half=True)


@normalizer
def outer(a: array, b: array, out: target = None):
    return torch.outer(a, b)


@normalizer
def cross(a: array, b: array, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    a = torch.moveaxis(a, _util.normalize_axis_index(axisa, a.ndim), -1)
    b = torch.moveaxis(b, _util.normalize_axis_index(axisb, b.ndim), -1)
    if a.shape[-1] not in (2, 3) or b.shape[-1] not in (2, 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    flat = a.shape[-1] == b.shape[-1] == 2
    if not flat:
        axisc = _util.normalize_axis_index(axisc, builtins.max(a.ndim, b.ndim))
    a, b = _util.together(a, b)
    (ax, ay), (bx, by) = (a[..., 0], a[..., 1]), (b[..., 0], b[..., 1])
    z = ax * by - ay * bx
    if flat:
        return z
    if a.shape[-1] == 2:
        bz = b[..., 2]
        parts = ay * bz, -ax * bz, z
    elif b.shape[-1] == 2:
        az = a[..., 2]
        parts = -az * by, az * bx, z
    else:
        az, bz = a[..., 2], b[..., 2]
        parts = ay * bz - az * by, az * bx - ax * bz, z
    return torch.moveaxis(torch.stack(parts, dim=-1), -1, axisc)


def einsum(*operands, out=None, dtype=None, order="K", casting="safe", optimize=False):
    from ._ndarray import ndarray

    dtype, casting = scalar_type(dtype), rule(casting)
    if out is not None and not isinstance(out, ndarray):
        raise TypeError("'out' must be an array")
    if order != "K":
        raise NotImplementedError("'order' parameter is not supported.")
    text = isinstance(operands[0], str)
    rest = [] if text or len(operands) % 2 == 0 else [operands[-1]]
    given = operands[1:] if text else operands[: len(operands) - len(rest)][::2]
    tensors = [array(x) for x in given]
    if dtype is None:
        dtype = _dtypes_impl.result_type_impl(*tensors)
    if dtype == torch.float16 and builtins.all(t.is_cpu for t in tensors):
        dtype = torch.float32
    elif dtype in (torch.uint8, torch.int8, torch.int16, torch.int32):
        dtype = torch.int64
    tensors = _util.typecast_tensors(tensors, dtype, casting)
    equation = operands[0]
    if not text:
        equation = ",".join(map(_subscripts, operands[1::2]))
        if rest:
            equation += "->" + _subscripts(rest[0])
    return wrap_tensors(maybe_copy_to(out, torch.einsum(equation, *tensors)))


def _subscripts(axes):
    """The axes of one operand, which are numbers, as letters."""
    return "".join("..." if ax is Ellipsis else chr(ord("A") + ax if ax < 26 else ord("a") + ax - 26) for ax in axes)


# Sorting.


def _sortable(a, axis, kind):
    if a.dtype.is_complex:
        raise NotImplementedError(f"sorting {a.dtype} is not supported")
    (a,), axis = _util.axis_none_flatten(a, axis=axis)
    return a, {"dim": _util.normalize_axis_index(axis, a.ndim), "stable": kind == "stable"}


@normalizer
def sort(a: array, axis=-1, kind=None, order: refused = None):
    a, how = _sortable(a, axis, kind)
    return torch.sort(a, **how).values


@normalizer
def argsort(a: array, axis=-1, kind=None, order: refused = None):
    a, how = _sortable(a, axis, kind)
    return torch.argsort(a, **how)


@normalizer
def searchsorted(a: array, v: array, side="left", sorter: array_or_none = None):
    if a.dtype.is_complex:
        raise NotImplementedError(f"searchsorted with dtype={a.dtype}")
    return torch.searchsorted(a, v, side=side, sorter=sorter)


# Comparison of whole arrays.


@normalizer
def isclose(a: array, b: array, rtol=1.0e-5, atol=1.0e-8, equal_nan=False):
    a, b = _util.together(a, b)
    return torch.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


@normalizer
def allclose(a: array, b: array, rtol=1e-05, atol=1e-08, equal_nan=False):
    a, b = _util.together(a, b)
    return torch.allclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def _same(a, b, equal_nan=False):
    if a.shape != b.shape:
        return False
    same = a == b
    if equal_nan:
        same = same | torch.isnan(a) & torch.isnan(b)
    return same.all().item()


@normalizer
def array_equal(a1: array, a2: array, equal_nan=False):
    return _same(a1, a2, equal_nan)


@normalizer
def array_equiv(a1: array, a2: array):
    try:
        a1, a2 = torch.broadcast_tensors(a1, a2)
    except RuntimeError:
        return False
    return _same(a1, a2)


@normalizer
def nan_to_num(x: array, copy: refused = True, nan=0.0, posinf=None, neginf=None):
    if not x.is_complex():
        return torch.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)
    re, im = (torch.nan_to_num(part, nan=nan, posinf=posinf, neginf=neginf) for part in (x.real, x.imag))
    return re + 1j * im


# Numbers and differences.


@normalizer
def diff(a: array, n=1, axis=-1, prepend: array_or_none = None, append: array_or_none = None):
    axis = _util.normalize_axis_index(axis, a.ndim)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if n == 0:
        return a

    def beside(x):
        if x is None:
            return None
        shape = list(a.shape)
        shape[axis] = x.shape[axis] if x.ndim > 0 else 1
        return torch.broadcast_to(x, shape)

    return torch.diff(a, n, dim=axis, prepend=beside(prepend), append=beside(append))


@normalizer
def gradient(f: array, *varargs, axis=None, edge_order=1):
    varargs = [_util.ndarrays_to_tensors(v) for v in varargs]
    axes = tuple(range(f.ndim)) if axis is None else _util.normalize_axis_tuple(axis, f.ndim)
    if not varargs:
        steps = [1.0] * len(axes)
    elif len(varargs) == 1 and (_dtypes_impl.is_scalar(varargs[0]) or varargs[0].ndim == 0):
        steps = varargs * len(axes)
    elif len(varargs) == len(axes):
        steps = [_step(x, f.shape[ax]) for x, ax in zip(varargs, axes)]
    else:
        raise TypeError("invalid number of arguments")
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    if not (f.dtype.is_floating_point or f.dtype.is_complex):
        f = f.double()
    slopes = []
    for ax, step in zip(axes, steps):
        if f.shape[ax] < edge_order + 1:
            raise ValueError("Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required.")
        slopes.append(torch.movedim(_slope(torch.movedim(f, ax, -1), step, edge_order), -1, ax))
    return slopes[0] if len(axes) == 1 else slopes


def _step(positions, size):
    """What lies between the positions along one axis: a number where that is always the same."""
    x = torch.as_tensor(positions)
    if x.ndim == 0:
        return positions
    if x.ndim != 1:
        raise ValueError("distances must be either scalars or 1d")
    if len(x) != size:
        raise ValueError("when 1d, distances must match the length of the corresponding dimension")
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        x = x.double()
    d = torch.diff(x)
    return d[0] if (d == d[0]).all() else d


def _slope(f, h, edge_order):
    """The derivative along the last axis: central within, one-sided at the ends, of the order that is asked for."""
    even = _dtypes_impl.is_scalar(h) or h.ndim == 0
    if even:
        inner = (f[..., 2:] - f[..., :-2]) / (2.0 * h)
        first = last = h
    else:
        l, r = h[:-1], h[1:]
        inner = -r / (l * (l + r)) * f[..., :-2] + (r - l) / (l * r) * f[..., 1:-1] + l / (r * (l + r)) * f[..., 2:]
        first, last = h[0], h[-1]
    if edge_order == 1:
        left = (f[..., 1:2] - f[..., 0:1]) / first
        right = (f[..., -1:] - f[..., -2:-1]) / last
    else:
        p, q = (h, h) if even else (h[0], h[1])
        left = -(2.0 * p + q) / (p * (p + q)) * f[..., 0:1] + (p + q) / (p * q) * f[..., 1:2] - p / (q * (p + q)) * f[..., 2:3]
        p, q = (h, h) if even else (h[-2], h[-1])
        right = q / (p * (p + q)) * f[..., -3:-2] - (q + p) / (p * q) * f[..., -2:-1] + (2.0 * q + p) / (q * (p + q)) * f[..., -1:]
    return _util.cast_if_needed(torch.cat((left, inner, right), dim=-1), f.dtype)


@normalizer
def angle(z: array, deg=False):
    result = torch.angle(z)
    return result * (180 / torch.pi) if deg else result


@normalizer
def sinc(x: array):
    return torch.sinc(x)


@normalizer
def round(a: array, decimals=0, out: target = None):
    if a.is_floating_point():
        return torch.round(a, decimals=decimals)
    if a.is_complex():
        return torch.complex(torch.round(a.real, decimals=decimals), torch.round(a.imag, decimals=decimals))
    return a


around = renamed(round, "around")
round_ = renamed(round, "round_")


@normalizer
def real(a: array):
    return torch.real(a)


@normalizer
def imag(a: array):
    return a.imag if a.is_complex() else torch.zeros_like(a)


@normalizer
def real_if_close(a: array, tol=100):
    if not torch.is_complex(a):
        return a
    if tol > 1:
        tol = tol * torch.finfo(a.dtype).eps
    return a.real if (torch.abs(a.imag) < tol).all() else a


@normalizer
def iscomplex(x: array):
    return x.imag != 0 if torch.is_complex(x) else torch.zeros_like(x, dtype=torch.bool)


@normalizer
def isreal(x: array):
    return x.imag == 0 if torch.is_complex(x) else torch.ones_like(x, dtype=torch.bool)


@normalizer
def isneginf(x: array, out: target = None):
    return torch.isneginf(x)


@normalizer
def isposinf(x: array, out: target = None):
    return torch.isposinf(x)


@normalizer
def i0(x: array):
    return torch.special.i0(x)


# Windows.


def _window(function):
    def window(M):
        return function(M, periodic=False, dtype=_float())

    return window


def _add_windows():
    for name, function in {"hamming": "hamming", "hanning": "hann", "blackman": "blackman", "bartlett": "bartlett"}.items():
        window = _window(getattr(torch, function + "_window"))
        window.__name__ = window.__qualname__ = name
        globals()[name] = normalizer(window)


_add_windows()


@normalizer
def kaiser(M, beta):
    if M < 2:
        return torch.ones(M, dtype=_float())
    places = torch.arange(M, dtype=_float()) * (2.0 / (M - 1)) - 1.0
    peak = torch.special.i0(torch.as_tensor(beta, dtype=_float()))
    return torch.special.i0(beta * torch.sqrt(1 - places * places)) / peak


# Types.


@normalizer
def common_type(*tensors: array):
    exact = {torch.float16: torch.float16, torch.float32: torch.float32, torch.float64: torch.float64, torch.complex64: torch.float32, torch.complex128: torch.float64}
    order = [torch.float16, torch.float32, torch.float64]
    width = 0
    for t in tensors:
        real = exact.get(t.dtype)
        if real is None and (t.dtype.is_floating_point or t.dtype.is_complex):
            raise TypeError("can't get common type for non-numeric array")
        width = builtins.max(width, 2 if real is None else order.index(real))
    if builtins.any(t.is_complex() for t in tensors):
        return [None, torch.complex64, torch.complex128][width]
    return order[width]


@normalizer
def min_scalar_type(a: array, /):
    from ._dtypes import DType

    if a.numel() > 1 or a.dtype == torch.bool:
        return DType(a.dtype)

    def holds(limits, x):
        return limits.min <= x <= limits.max

    if a.is_complex():
        single = torch.finfo(torch.float32)
        small = a.dtype == torch.complex64 or holds(single, a.real) and holds(single, a.imag)
        return DType(torch.complex64 if small else torch.complex128)
    if a.is_floating_point():
        ladder, limits = (torch.float16, torch.float32, torch.float64), torch.finfo
    else:
        ladder, limits = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64), torch.iinfo
    for dtype in ladder:
        if holds(limits(dtype), a):
            return DType(dtype)
    raise UnboundLocalError("cannot access local variable 'dtype' where it is not associated with a value")


@normalizer
def pad(array: array, pad_width: array, mode="constant", **kwargs):
    if mode != "constant":
        raise NotImplementedError
    value = _dtypes_impl.python_type_for_torch(array.dtype)(kwargs.get("constant_values", 0))
    widths = torch.flip(torch.broadcast_to(pad_width, (array.ndim, 2)), (0,)).flatten()
    return torch.nn.functional.pad(array, tuple(widths), value=value)


class IndexExpression:
    """What stands between brackets, as an object: s_[1:3]."""

    def __init__(self, maketuple):
        self.maketuple = maketuple

    def __getitem__(self, item):
        return (item,) if self.maketuple and not isinstance(item, tuple) else item


index_exp = IndexExpression(maketuple=True)
s_ = IndexExpression(maketuple=False)

__all__ = _reductions_impl.__all__ + [name for name in globals() if name not in _before and not name.startswith("_") and name != "IndexExpression"]
