"""What functions of tensors do to nested ones. A rule has the function's name, and works on the packed values, so that autograd is theirs."""
import math

import torch
import torch.nn.functional as F

from .nested_tensor import NestedInt, NestedTensor

_rules = {}


def _rule(*names):
    def register(f):
        for n in names:
            _rules[n] = f
        return f
    return register


def called(func, args, kwargs):
    """What a function called with a nested tensor gives."""
    name = getattr(func, "__name__", str(func))
    if name == "__get__" or name == "__set__":
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **kwargs)
    rule = _rules.get(name.strip("_")) or _rules.get(name)
    if rule is None:
        raise NotImplementedError(f"aten.{name}.default")
    return rule(func, *args, **kwargs)


called._torchdynamo_disable = True  # a nested tensor is no value of a graph: what is done to one is done as in eager mode


def _nested(*args):
    return next(a for a in args if isinstance(a, NestedTensor))


def _dim(nt, dim):
    n = nt.dim()
    if not -n <= dim < n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim % n


def _inner(nt, dim, name):
    """The dimension of the values that is a dimension of the batch, other than the batch's own and the ragged one."""
    dim = _dim(nt, dim)
    if dim == 0:
        raise RuntimeError(f"{name}(): not supported for NestedTensor on dim=0")
    if dim == nt._ragged_idx:
        raise RuntimeError(f"{name}(): not supported for NestedTensor on ragged dim")
    return dim - 1


def _whole(nt, name):
    if nt._lengths is not None:
        raise RuntimeError(f"{name}(): not supported for NestedTensor with holes")
    return nt._values


def _spread(nt, dense):
    """A dense tensor as one that broadcasts with the values, or None where it cannot."""
    rank = nt.dim()
    if dense.dim() == 0:
        return dense
    at = dense.dim() - rank + nt._ragged_idx  # of the ragged dimension in dense
    if dense.dim() == rank and dense.shape[0] == len(nt) and at > 0 and dense.shape[at] != 1:
        if any(n not in (1, s) for n, s in zip(dense.shape[1:at] + dense.shape[at + 1:], nt.shape[1:at] + nt.shape[at + 1:])):
            return None
        if dense.shape[at] < nt._max_seqlen:
            return None
        return pack(dense, nt._offsets, at)._values
    if at >= 0 and dense.shape[at] != 1:
        return None
    if dense.dim() < rank or dense.shape[0] == 1:
        return dense.reshape(dense.shape[1:]) if dense.dim() == rank else dense
    if dense.dim() > rank or dense.shape[0] != len(nt):
        return None
    return dense.squeeze(at).repeat_interleave(nt._offsets.diff(), 0).movedim(0, at - 1)


def _pointwise(func, *args, **kwargs):
    """An operator that is the same for every element."""
    flat = [*args, *kwargs.values()]
    nt = _nested(*flat)
    name = func.__name__

    def fits(a):
        return a._ragged_idx == nt._ragged_idx and a.dim() == nt.dim() and a.shape[a._ragged_idx] == nt.shape[nt._ragged_idx]

    def values(a):
        if not isinstance(a, torch.Tensor):
            return a
        v = (a._values if fits(a) else None) if isinstance(a, NestedTensor) else _spread(nt, a)
        if v is None:
            kind = type(a) if isinstance(a, NestedTensor) else torch.Tensor
            shapes = [tuple(t.shape) if kind is NestedTensor else t.shape for t in flat if isinstance(t, kind)]
            raise RuntimeError(f"cannot call binary pointwise function {name.strip('_')}.Tensor with inputs of shapes {shapes[0]} and {shapes[1]}")
        return v

    out = func(*map(values, args), **{k: values(v) for k, v in kwargs.items()})
    inplace = name.startswith("__i") and name not in ("__invert__", "__index__") if name.endswith("__") else name.endswith("_")
    return args[0] if inplace else nt._like(out)


for _name in """abs absolute neg negative positive sqrt rsqrt square reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh asin acos atan asinh acosh
        atanh arcsin arccos arctan sinc sigmoid logit erf erfc erfinv lgamma digamma ceil floor round trunc frac fix sgn sign signbit isnan isinf isfinite isposinf isneginf
        nan_to_num relu relu6 elu selu celu gelu silu mish hardtanh hardswish hardsigmoid leaky_relu softplus softsign tanhshrink hardshrink softshrink logsigmoid threshold
        clamp clamp_min clamp_max clip add sub subtract rsub mul multiply div divide true_divide truediv floor_divide floordiv remainder mod fmod pow float_power radd rmul
        rtruediv rpow rdiv maximum minimum fmax fmin atan2 arctan2 hypot copysign ldexp logaddexp logaddexp2 xlogy eq ne lt le gt ge greater greater_equal less
        less_equal not_equal isclose logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor bitwise_not invert and or xor rand ror rxor
        iadd isub imul itruediv ipow ifloordiv iand ior
        where masked_fill lerp addcmul addcdiv fill zero dropout clone detach contiguous to type type_as cpu double float half bfloat16 int long short char byte bool
        zeros_like ones_like full_like empty_like bernoulli""".split():
    _rules[_name] = _pointwise


@_rule("to")
def _to(func, nt, *args, **kwargs):
    return nt._like(func(nt._values, *args, **{k: v for k, v in kwargs.items() if k != "layout"}))


@_rule("copy")
def _copy(func, nt, src, non_blocking=False):
    if nt.shape != src.shape:
        raise RuntimeError("copy_ only supports Nested Tensors that have same size and the exact same offset tensor.")
    nt._values.copy_(src._values)
    return nt


@_rule("requires_grad", "register_hook", "retain_grad", "backward", "item", "is_floating_point", "is_complex", "is_signed", "element_size", "data_ptr", "storage_offset",
       "untyped_storage", "get_device", "apply")
def _of_values(func, nt, *args, **kwargs):
    with torch._C.DisableTorchFunctionSubclass():
        return func(nt, *args, **kwargs)


@_rule("is_same_size")
def _is_same_size(func, a, b):
    return a.shape == b.shape


@_rule("unbind")
def _unbind(func, nt, dim=0):
    if _dim(nt, dim) != 0:
        raise RuntimeError("unbind(): only supported for NestedTensor on dim=0")
    values, at = nt._values, nt._ragged_idx - 1
    if nt._lengths is None:
        return tuple(values.split(nt._extents(), at))
    return tuple(values.narrow(at, s, n) for s, n in zip(nt._offsets.tolist(), nt._lengths.tolist()))


@_rule("to_padded_tensor")
def _to_padded(func, nt, padding=0.0, output_size=None):
    return _pad(nt, padding, output_size)


NestedTensor.to_padded_tensor = lambda self, padding, output_size=None: _pad(self, padding, output_size)
NestedTensor.unbind = lambda self, dim=0: _unbind(None, self, dim)


def _places(offsets, lengths, most, inner):
    """Where each packed row lies in a padded batch of which an item has most rows."""
    starts = torch.repeat_interleave(torch.arange(lengths.shape[0]) * most - offsets[:-1], lengths)
    return starts + inner


def _pad(nt, padding, output_size=None):
    at = nt._ragged_idx - 1
    values = _whole(nt, "to_padded_tensor").movedim(at, 0)
    lengths = nt._offsets.diff()
    most = nt._max_seqlen if output_size is None else output_size[nt._ragged_idx]
    place = _places(nt._offsets, lengths, most, torch.arange(values.shape[0]))
    flat = values.new_full((len(nt) * most, *values.shape[1:]), padding).index_copy(0, place, values)
    return flat.unflatten(0, (len(nt), most)).movedim(1, at + 1)


def pack(padded, offsets, ragged_idx=1):
    """The nested tensor of the beginnings of the items of a padded batch."""
    at = ragged_idx
    rows = padded.movedim(at, 1)
    lengths = offsets.diff()
    total = int(offsets[-1])
    place = _places(offsets, lengths, rows.shape[1], torch.arange(total))
    return NestedTensor._of(rows.flatten(0, 1).index_select(0, place).movedim(0, at - 1), offsets, None, ragged_idx)


@_rule("linear")
def _linear(func, nt, weight, bias=None):
    if nt._ragged_idx == nt.dim() - 1:
        raise RuntimeError("linear(): not supported for NestedTensor on ragged dim")
    return nt._like(func(nt._values, weight, bias))


@_rule("embedding")
def _embedding(func, indices, weight, *args, **kwargs):
    return indices._like(func(indices._values, weight, *args, **kwargs))


@_rule("layer_norm", "rms_norm")
def _norm(func, nt, normalized_shape, *args, **kwargs):
    name = func.__name__
    if nt._ragged_idx > nt.dim() - 1 - len(normalized_shape):
        raise RuntimeError(f"{name}(): normalizing over ragged dim not supported for nested tensors")
    return nt._like(func(nt._values, normalized_shape, *args, **kwargs))


@_rule("softmax", "log_softmax")
def _softmax(func, nt, dim=None, *args, **kwargs):
    name = func.__name__
    dim = _dim(nt, dim)
    if dim == 0:
        raise RuntimeError(f"{name}(): not supported when reducing across the batch dimension for NestedTensor")
    if dim != nt._ragged_idx:
        return nt._like(func(nt._values, dim - 1, **{k: v for k, v in kwargs.items() if k == "dtype"}))
    _whole(nt, name)
    padded = _pad(nt, -math.inf)
    out = pack(func(padded, dim), nt._offsets, dim)
    return nt._like(out._values)


@_rule("matmul", "bmm", "rmatmul")
def _matmul(func, a, b):
    def refuse():
        raise RuntimeError(f"matmul(): not supported between inputs of shapes {tuple(a.shape) if isinstance(a, NestedTensor) else a.shape} and {b.shape}")
    if isinstance(a, NestedTensor) and not isinstance(b, NestedTensor):
        if a._ragged_idx == a.dim() - 1:
            refuse()
        if b.dim() == 2:
            return a._like(torch.matmul(a._values, b))
        if b.dim() == a.dim() and b.shape[0] == len(a):
            return pack(torch.matmul(_pad(a, 0.0), b), a._offsets, a._ragged_idx)
    elif isinstance(a, NestedTensor) and isinstance(b, NestedTensor) and a.dim() == b.dim():
        last = a.dim() - 1
        if a._ragged_idx == last and b._ragged_idx == last - 1 and a.shape[last] == b.shape[last - 1]:  # the ragged dimension goes
            return torch.matmul(_pad(a, 0.0), _pad(b, 0.0))
        if a._ragged_idx == b._ragged_idx and a._ragged_idx < last - 1 and a.shape[a._ragged_idx] == b.shape[b._ragged_idx]:
            return a._like(torch.matmul(a._values, b._values))
    elif isinstance(b, NestedTensor) and b._ragged_idx == b.dim() - 1 and a.dim() == b.dim() and a.shape[0] == len(b):
        return pack(torch.matmul(a, _pad(b, 0.0)), b._offsets, b._ragged_idx)
    refuse()


@_rule("scaled_dot_product_attention")
def _attention(func, query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    if not all(isinstance(t, NestedTensor) for t in (query, key, value)):
        raise ValueError("Expected query, key, and value to all be nested tensors or none of them, and got a mix")
    if query.dim() != 4 or not query._ragged_idx == key._ragged_idx == value._ragged_idx == 2:
        raise RuntimeError("scaled_dot_product_attention(): queries, keys and values are expected to be (batch, heads, ragged, size) here")
    if attn_mask is not None:
        raise RuntimeError("NestedTensor: expected attn_mask to be None")
    if key.shape[2] != value.shape[2]:
        raise ValueError("Expect key and value to have the same sequence lengths for inputs with jagged layout")
    if is_causal:
        raise RuntimeError("No viable backend for scaled_dot_product_attention was found.")
    items = [F.scaled_dot_product_attention(q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0), None, dropout_p, scale=scale, enable_gqa=enable_gqa).squeeze(0)
             for q, k, v in zip(query.unbind(), key.unbind(), value.unbind())]
    return query._like(torch.cat(items, 1))


def _sizes(sizes):
    return tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes


@_rule("transpose", "swapaxes", "swapdims")
def _transpose(func, nt, dim0, dim1):
    d0, d1 = _dim(nt, dim0), _dim(nt, dim1)
    if d0 == d1:
        return nt
    if 0 in (d0, d1):
        raise ValueError("Transpose is not supported on the batch dimension for jagged NT")
    at = {d0: d1, d1: d0}.get(nt._ragged_idx, nt._ragged_idx)
    return nt._like(nt._values.transpose(d0 - 1, d1 - 1), at)


@_rule("permute")
def _permute(func, nt, *dims):
    dims = [_dim(nt, d) for d in _sizes(dims)]
    if len(set(dims)) != nt.dim():
        raise ValueError(f"permute(): number of dimensions in the tensor input ({nt.dim()}) does not match the length of the desired ordering of dimensions ({len(dims)}).")
    if dims[0] != 0:
        raise ValueError("Permute is not supported on the batch dimension for jagged NT")
    return nt._like(nt._values.permute([d - 1 for d in dims[1:]]), dims.index(nt._ragged_idx))


NestedTensor.mT = property(lambda self: self.transpose(-2, -1))
NestedTensor.T = property(lambda self: self.permute(*reversed(range(self.dim()))))


@_rule("unsqueeze")
def _unsqueeze(func, nt, dim):
    n = nt.dim() + 1
    dim = dim % n
    if dim == 0:
        raise RuntimeError("unsqueeze(): not supported for NestedTensor on dim=0")
    return nt._like(nt._values.unsqueeze(dim - 1), nt._ragged_idx + (dim <= nt._ragged_idx))


@_rule("squeeze")
def _squeeze(func, nt, dim=None):
    if dim is None:
        raise RuntimeError("squeeze(): For nested tensors, squeeze without the dim argument is not supported at this time")
    at = _inner(nt, dim, "squeeze")
    values = nt._values
    return nt._like(values.squeeze(at), nt._ragged_idx - (values.shape[at] == 1 and at + 1 < nt._ragged_idx))


@_rule("unflatten")
def _unflatten(func, nt, dim, sizes):
    at = _inner(nt, dim, "unflatten")
    return nt._like(nt._values.unflatten(at, sizes), nt._ragged_idx + (len(sizes) - 1 if at + 1 < nt._ragged_idx else 0))


@_rule("flatten")
def _flatten(func, nt, start_dim=0, end_dim=-1):
    start, end = _dim(nt, start_dim), _dim(nt, end_dim)
    if start == 0:
        raise RuntimeError("flatten(): not supported for NestedTensor on dim=0")
    if start <= nt._ragged_idx <= end and start != end:
        raise RuntimeError("flatten(): not supported for NestedTensor on ragged dim")
    return nt._like(nt._values.flatten(start - 1, end - 1), nt._ragged_idx - (end - start if end < nt._ragged_idx else 0))


@_rule("expand")
def _expand(func, nt, *sizes):
    sizes = _sizes(sizes)
    if len(sizes) != nt.dim() or sizes[0] not in (-1, len(nt)) or sizes[nt._ragged_idx] not in (-1, nt.shape[nt._ragged_idx]):
        raise RuntimeError(f"expand(): cannot expand shape {tuple(nt.shape)} -> {list(sizes)}")
    return nt._like(nt._values.expand([-1 if d == nt._ragged_idx else s for d, s in enumerate(sizes)][1:]))


@_rule("view", "reshape")
def _view(func, nt, *sizes):
    sizes, own, name = _sizes(sizes), nt.shape, func.__name__
    before = math.prod(own[1:nt._ragged_idx])  # elements before the ragged size, which a -1 may stand for
    at = next((d for d, s in enumerate(sizes) if d > 0 and (isinstance(s, NestedInt) or s == -1 and math.prod(sizes[1:d]) == before)), None)
    if at is None or sizes[0] not in (-1, len(nt)) or isinstance(sizes[at], NestedInt) and sizes[at] != own[nt._ragged_idx]:
        raise RuntimeError(f"{name}(): cannot view shape {tuple(own)} as {list(sizes)}")
    inner = [nt._values.shape[nt._ragged_idx - 1] if d == at else s for d, s in enumerate(sizes)][1:]
    return nt._like(getattr(nt._values, name)(inner), at)


@_rule("chunk")
def _chunk(func, nt, chunks, dim=0):
    if _dim(nt, dim) == 0:
        items, parts = nt.unbind(), []
        size = -(-len(items) // chunks)
        for i in range(0, len(items), size):
            lengths = nt._extents()[i:i + size]
            offsets = torch.tensor([0, *lengths]).cumsum(0)
            parts.append(NestedTensor._of(torch.cat(items[i:i + size], nt._ragged_idx - 1), offsets, None, nt._ragged_idx))
        return parts
    return [nt._like(v) for v in nt._values.chunk(chunks, _inner(nt, dim, "chunk"))]


@_rule("split", "split_with_sizes")
def _split(func, nt, size, dim=0):
    return tuple(nt._like(v) for v in nt._values.split(size, _inner(nt, dim, "split")))


@_rule("narrow")
def _narrow(func, nt, dim, start, length):
    return nt._like(nt._values.narrow(_inner(nt, dim, "narrow"), start, length))


@_rule("select")
def _select(func, nt, dim, index):
    if _dim(nt, dim) == 0:
        return nt.unbind()[index]
    at = _inner(nt, dim, "select")
    return nt._like(nt._values.select(at, index), nt._ragged_idx - (at + 1 < nt._ragged_idx))


@_rule("getitem")
def _getitem(func, nt, index):
    index = index if isinstance(index, tuple) else (index,)
    if any(isinstance(i, (torch.Tensor, list)) for i in index):
        raise NotImplementedError("aten.index.Tensor")
    if isinstance(index[0], int):
        item = nt.unbind()[index[0]]
        return item[index[1:]] if len(index) > 1 else item
    if Ellipsis in index:
        e, taken = index.index(Ellipsis), sum(i is not None for i in index) - 1
        index = index[:e] + (slice(None),) * (nt.dim() - taken) + index[e + 1:]
    dim = 0
    for i in index:
        if i is None:
            nt, dim = nt.unsqueeze(dim), dim + 1
        elif isinstance(i, int):
            nt = nt.select(dim, i)
        elif i == slice(None):
            dim += 1
        else:
            at = _inner(nt, dim, "slice")
            nt, dim = nt._like(nt._values[(slice(None),) * at + (i,)]), dim + 1
    return nt


@_rule("cat", "concat")
def _cat(func, tensors, dim=0):
    nt = _nested(*tensors)
    for t in tensors:
        if not isinstance(t, NestedTensor) or t.shape[:nt._ragged_idx + 1] != nt.shape[:nt._ragged_idx + 1]:
            raise RuntimeError("cat(): expected all tensors to be nested tensors of the same ragged size")
    at = _inner(nt, dim, "cat")
    return nt._like(torch.cat([t._values for t in tensors], at))


@_rule("stack")
def _stack(func, tensors, dim=0):
    nt = _nested(*tensors)
    if dim % (nt.dim() + 1) == 0:
        raise RuntimeError("stack(): not supported for NestedTensor on dim=0")
    return _cat(func, [t.unsqueeze(dim) for t in tensors], dim)


_padding = {"sum": 0, "mean": 0, "amax": -math.inf, "amin": math.inf, "max": -math.inf, "min": math.inf, "prod": 1, "any": False, "all": True,
            "argmax": -math.inf, "argmin": math.inf}


@_rule(*_padding)
def _reduce(func, nt, dim=None, keepdim=False, **kwargs):
    name = func.__name__
    if isinstance(dim, torch.Tensor):
        return _pointwise(func, nt, dim)
    if dim is None or isinstance(dim, (tuple, list)) and len(dim) == nt.dim():
        return func(nt._values if nt._lengths is None else torch.cat([t.flatten() for t in nt.unbind()]), **kwargs)
    dims = sorted(_dim(nt, d) for d in (dim if isinstance(dim, (tuple, list)) else (dim,)))
    ragged = nt._ragged_idx in dims
    if 0 in dims and not ragged:
        raise RuntimeError(f"{name}(): reducing along the batch dimension but not the ragged dimension is not supported for nested tensors")
    if 0 in dims:
        out = func(nt._values, tuple(d - 1 for d in dims if d > 0), keepdim, **kwargs)
        return out.unsqueeze(0) if keepdim else out
    if not ragged:
        inner = tuple(d - 1 for d in dims) if isinstance(dim, (tuple, list)) else dims[0] - 1
        at = nt._ragged_idx if keepdim else nt._ragged_idx - sum(d < nt._ragged_idx for d in dims)
        out = func(nt._values, inner, keepdim, **kwargs)
        if isinstance(out, torch.Tensor):
            return nt._like(out, at)
        return type(out)(nt._like(t, at) for t in out)
    if len(dims) > 1 and nt._lengths is not None:
        raise RuntimeError(f"{name}(): reducing across the ragged dimension is not supported for a nested tensor with holes")
    fill = _padding[name]
    if isinstance(fill, float) and not nt._values.is_floating_point():
        fill = (torch.iinfo(nt.dtype).min if fill < 0 else torch.iinfo(nt.dtype).max)
    given = dims if isinstance(dim, (tuple, list)) else dims[0]
    padded = _pad(nt, fill)
    if name != "mean":
        return func(padded, given, keepdim, **kwargs)
    total = padded.sum(given, keepdim, **kwargs)
    count = nt._offsets.diff().to(total.dtype) * math.prod(padded.shape[d] for d in dims if d != nt._ragged_idx)
    return total / count.reshape(-1, *[1] * (total.dim() - 1))


@_rule("new_empty", "new_zeros", "new_ones", "new_full")
def _new(func, nt, size, *args, **kwargs):
    if tuple(size if isinstance(size, (tuple, list)) else (size,)):
        raise RuntimeError("new_empty() not supported for NJT with shape != ()")
    return func(nt._values, size, *args, **kwargs)
