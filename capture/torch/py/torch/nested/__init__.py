"""Nested tensors: batches whose items differ in size along one dimension."""
import torch

__all__ = ["to_padded_tensor", "as_nested_tensor", "nested_tensor", "nested_tensor_from_jagged", "narrow", "masked_select"]


def _only_jagged(name, layout):
    if layout is torch.jagged:
        return
    if layout in (None, torch.strided):
        raise NotImplementedError(f"torch.nested.{name}() is supported with layout=torch.jagged alone")
    raise RuntimeError(f"Specified layout is unsupported for nested tensors: {layout}")


def as_nested_tensor(ts, dtype=None, device=None, layout=None):
    """Nests a tensor, or a list of them, as a differentiable operation."""
    from torch.nested._internal.nested_tensor import NestedTensor, jagged_from_list, jagged_from_tensor_and_lengths
    is_list = isinstance(ts, (list, tuple))
    if not is_list and not isinstance(ts, torch.Tensor):
        raise TypeError("as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of tensors ")
    if isinstance(ts, torch.Tensor) and ts.dim() < 2:
        raise RuntimeError("as_nested_tensor(): Expected tensor argument to have dim() > 1")
    if isinstance(ts, NestedTensor):
        if layout is not torch.jagged:
            raise RuntimeError("as_nested_tensor(): Converting between nested tensor layouts is not supported")
        return ts.to(device=device, dtype=dtype)
    _only_jagged("as_nested_tensor", layout)
    if is_list:
        return jagged_from_list(ts, offsets=None, device=device, dtype=dtype)[0]
    if device is not None or dtype is not None:
        ts = ts.to(device=device, dtype=dtype)
    n = ts.shape[0]
    return jagged_from_tensor_and_lengths(ts, torch.zeros(n, dtype=torch.int64), torch.full((n,), ts.shape[1], dtype=torch.int64))[0]


def to_padded_tensor(input, padding, output_size=None, out=None):
    """A dense tensor in which each item is padded to the largest."""
    return input.to_padded_tensor(padding, output_size)


def nested_tensor(tensor_list, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False):
    """A nested tensor of copies of the items, a leaf."""
    from torch.nested._internal.nested_tensor import jagged_from_list
    _only_jagged("nested_tensor", layout)
    items = [t if isinstance(t, torch.Tensor) else torch.as_tensor(t, dtype=dtype, device=device) for t in tensor_list]
    with torch.no_grad():
        nt, _ = jagged_from_list(items, offsets=None, device=device, dtype=dtype)
    return nt.requires_grad_(requires_grad)


def narrow(tensor, dim, start, length, layout=torch.strided):
    """A nested view of a dense tensor, whose item i is tensor[i] narrowed along dim: a batch of ranges."""
    from torch.nested._internal.nested_tensor import jagged_from_tensor_and_lengths
    _only_jagged("narrow", layout)
    if dim != 1:
        raise RuntimeError("jagged layout only supports dim=1")
    if isinstance(start, int):
        start = torch.full((tensor.shape[0],), start, dtype=torch.int64)
    if isinstance(length, int):
        length = torch.full((tensor.shape[0],), length, dtype=torch.int64)
    return jagged_from_tensor_and_lengths(tensor, start, length)[0]


def nested_tensor_from_jagged(values, offsets=None, lengths=None, jagged_dim=None, min_seqlen=None, max_seqlen=None):
    """A nested view of packed items."""
    from torch.nested._internal.nested_tensor import NestedTensor
    if offsets is None:
        if lengths is None:
            raise RuntimeError("nested_tensor_from_jagged(): At least one of offsets or lengths is required.")
        offsets = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
        lengths = None
    return NestedTensor._of(values, offsets, lengths, 1 if jagged_dim is None else jagged_dim, min_seqlen, max_seqlen)


def masked_select(tensor, mask):
    """The elements of each row that a mask keeps."""
    from torch.nested._internal.nested_tensor import NestedTensor
    if tensor.layout != torch.strided:
        raise RuntimeError(f"torch.nested.masked_select requires a strided tensor, given {tensor.layout}")
    if mask.layout != torch.strided:
        raise RuntimeError(f"torch.nested.masked_select requires a strided mask, given: {mask.layout}")
    lengths = mask.broadcast_to(tensor.shape).flatten(1).sum(-1)
    return NestedTensor._of(tensor.masked_select(mask), torch.nn.functional.pad(lengths.cumsum(0), (1, 0)), None, 1)


for _f in (as_nested_tensor, to_padded_tensor, nested_tensor, narrow, nested_tensor_from_jagged, masked_select):
    _f._torchdynamo_disable = True
