"""Jagged nested tensors: packed values, and where each item begins in them."""
import torch


class NestedInt(int):
    """The size of a ragged dimension, which is a size of its own: it equals itself alone, and is larger than 1."""

    made = 0

    def __new__(cls, number, factor=1):
        self = super().__new__(cls, 1 << 62)
        self.number, self.factor = number, factor
        return self

    def __repr__(self):
        return ("" if self.factor == 1 else f"{self.factor}*") + f"j{self.number}"

    __str__ = __repr__

    def __eq__(self, other):
        return isinstance(other, NestedInt) and (self.number, self.factor) == (other.number, other.factor)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((self.number, self.factor))

    def __mul__(self, other):
        return NestedInt(self.number, self.factor * other)

    __rmul__ = __mul__

    def _undecided(self, other):
        raise RuntimeError(f"nested int j{self.number}: relation is indeterminate")

    def __ge__(self, other):
        return True if self == other or not isinstance(other, NestedInt) and other <= 2 else self._undecided(other)

    def __gt__(self, other):
        return True if not isinstance(other, NestedInt) and other < 2 else False if self == other else self._undecided(other)

    def __lt__(self, other):
        return not self >= other

    def __le__(self, other):
        return not self > other


def get_tensor_symint(tensor, *, coeff=1):
    """The size that belongs to offsets, or lengths: the same for the same tensor."""
    at = getattr(tensor, "_nested_int", None)
    if at is None:
        NestedInt.made += 1
        at = tensor._nested_int = NestedInt.made
    return NestedInt(at, coeff)


class NestedTensor(torch.Tensor):
    """A batch whose items differ in size along one dimension. As a tensor it is the packed values, and what is asked of it as a batch is
    answered by the rules of torch.nested._internal.ops."""

    @staticmethod
    def __new__(cls, values, offsets, *, lengths=None, **kwargs):
        return cls._of(values, offsets, lengths, kwargs.get("_ragged_idx", 1), kwargs.get("_min_seqlen"), kwargs.get("_max_seqlen"))

    @classmethod
    def _of(cls, values, offsets, lengths=None, ragged_idx=1, min_seqlen=None, max_seqlen=None):
        with torch._C.DisableTorchFunctionSubclass():
            self = values.as_subclass(cls)
            self.__dict__.update(_offsets=offsets, _lengths=lengths, _ragged_idx=ragged_idx, _bounds=[min_seqlen, max_seqlen])
            return self

    def _like(self, values, ragged_idx=None):
        """A batch of other values with the same items."""
        return NestedTensor._of(values, self._offsets, self._lengths, self._ragged_idx if ragged_idx is None else ragged_idx, *self._bounds)

    @property
    def _values(self):
        with torch._C.DisableTorchFunctionSubclass():
            return self.as_subclass(torch.Tensor)

    def values(self):
        return self._values

    def offsets(self):
        return self._offsets

    def lengths(self):
        return self._lengths

    def _extents(self):
        """The size of each item along the ragged dimension, as ints."""
        return (self._offsets.diff() if self._lengths is None else self._lengths).tolist()

    @property
    def _max_seqlen(self):
        if self._bounds[1] is None:
            self._bounds[1] = max(self._extents())
        return self._bounds[1]

    @property
    def _min_seqlen(self):
        if self._bounds[0] is None:
            self._bounds[0] = min(self._extents())
        return self._bounds[0]

    _maybe_max_seqlen = property(lambda self: self._bounds[1])
    _maybe_min_seqlen = property(lambda self: self._bounds[0])

    @property
    def shape(self):
        sizes = list(self._values.shape)
        sizes[self._ragged_idx - 1] = get_tensor_symint(self._offsets if self._lengths is None else self._lengths)
        return torch.Size([self._offsets.shape[0] - 1, *sizes])

    _size = shape

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def stride(self, dim=None):
        values = self._values
        strides = (self.shape[self._ragged_idx] * values.stride(self._ragged_idx - 1), *values.stride())
        return strides if dim is None else strides[dim]

    def dim(self):
        return self._values.dim() + 1

    ndimension = dim
    ndim = property(dim)
    is_nested = property(lambda self: True)
    layout = property(lambda self: torch.jagged)

    def numel(self):
        return self._values.numel()

    nelement = numel

    def is_contiguous(self, memory_format=torch.contiguous_format):
        return self._lengths is None and self._ragged_idx == 1 and self._values.is_contiguous()

    @property
    def grad(self):
        with torch._C.DisableTorchFunctionSubclass():
            g = torch.Tensor.grad.__get__(self)
        return None if g is None else self._like(g.as_subclass(torch.Tensor))

    @grad.setter
    def grad(self, value):
        with torch._C.DisableTorchFunctionSubclass():
            torch.Tensor.grad.__set__(self, value if value is None else value.as_subclass(torch.Tensor))

    @property
    def grad_fn(self):
        with torch._C.DisableTorchFunctionSubclass():
            alias = torch.Tensor.grad_fn.__get__(self)
        return alias and alias.next_functions[0][0]

    def __repr__(self, *, tensor_contents=None):
        how = f", grad_fn={self.grad_fn}" if self.grad_fn is not None else ", requires_grad=True" if self.requires_grad else ""
        return f"NestedTensor(size={tuple(self.shape)}, offsets={self._offsets}{how}, contiguous={self._lengths is None})"

    def __len__(self):
        return self._offsets.shape[0] - 1

    def __iter__(self):
        return iter(self.unbind())

    def tolist(self):
        raise RuntimeError(".tolist() is not supported for tensor subclasses, got NestedTensor")

    def numpy(self, *, force=False):
        raise RuntimeError(".numpy() is not supported for tensor subclasses.")

    def __reduce_ex__(self, protocol):
        return _again, (self._values, self._offsets, self._lengths, self._ragged_idx, self.requires_grad)

    def __deepcopy__(self, memo):
        return self._like(self._values.detach().clone()).requires_grad_(self.requires_grad)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        from torch.nested._internal.ops import called
        return called(func, args, kwargs or {})


def _again(values, offsets, lengths, ragged_idx, requires_grad):
    return NestedTensor._of(values.detach(), offsets, lengths, ragged_idx).requires_grad_(requires_grad)


def buffer_from_jagged(jagged):
    """The packed values."""
    return jagged._values


def jagged_from_list(tensors, offsets, dtype=None, device=None):
    """Packs items that differ in one dimension, and gives the nested tensor and its offsets. Offsets of a nested tensor of the same items can
    be given, so that the two have the same size."""
    if len(tensors) == 0:
        raise RuntimeError("Cannot construct a nested tensor from an empty tensor list")
    for what, of in ("dtype", lambda t: t.dtype), ("device", lambda t: t.device), ("dim", lambda t: t.dim()):
        if len({of(t) for t in tensors}) != 1:
            if what == "dim":
                raise RuntimeError("When constructing a nested tensor, all tensors in list must have the same dim")
            raise RuntimeError(f"When constructing a nested tensor, all tensors in list must have the same {what}")
    rank = tensors[0].dim()
    if rank == 0:
        raise RuntimeError("Cannot construct a nested tensor from a list of zero-dim tensors")
    differ = [d for d in range(rank) if len({t.shape[d] for t in tensors}) > 1] or [0]
    if len(differ) > 1:
        raise RuntimeError("Cannot represent given tensor list as a nested tensor with the jagged layout. Note that the jagged layout only allows for a single ragged dimension. "
                           "For example: (B, *, D_0, D_1, ..., D_N), with ragged * dim.")
    at = differ[0]
    values = torch.cat(list(tensors), dim=at)
    if dtype is not None or device is not None:
        values = values.to(dtype=dtype, device=device)
    lengths = [t.shape[at] for t in tensors]
    if offsets is None:
        offsets = torch.tensor([0, *lengths], dtype=torch.int64).cumsum(0)
    return NestedTensor._of(values, offsets, None, at + 1, min(lengths), max(lengths)), offsets


def jagged_from_tensor_and_lengths(tensor, starts, lengths):
    """Ranges of the rows of a dense tensor: the nested tensor, its offsets, and its lengths unless the ranges fill the rows."""
    if tensor.dim() < 2:
        raise RuntimeError("jagged layout only supports tensors of at least two dimensions")
    batch, rows = tensor.shape[:2]
    first = torch.arange(batch, dtype=torch.int64) * rows
    begins = first + starts
    whole = bool((starts == 0).all()) and bool((lengths == rows).all())
    offsets = torch.cat([begins, torch.tensor([batch * rows], dtype=torch.int64) if whole else (begins[-1:] + lengths[-1:])])
    values = tensor.contiguous().flatten(0, 1)
    return NestedTensor._of(values, offsets, None if whole else lengths, 1, int(lengths.min()), int(lengths.max())), offsets, None if whole else lengths


def nested_view_from_values_offsets(values, offsets, min_seqlen=None, max_seqlen=None):
    return NestedTensor._of(values, offsets, None, 1, min_seqlen, max_seqlen)


def nested_view_from_values_offsets_lengths(values, offsets, lengths, min_seqlen=None, max_seqlen=None):
    return NestedTensor._of(values, offsets, lengths, 1, min_seqlen, max_seqlen)


def nested_from_padded(padded, offsets, ragged_idx=1):
    """Packs the items of a padded tensor."""
    from torch.nested._internal.ops import pack
    return pack(padded, offsets, ragged_idx)
