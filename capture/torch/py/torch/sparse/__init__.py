"""Sparse tensors. Such a tensor keeps its elements densely and knows beside them which places are stored, so that every operator computes with it, and gradients
flow through it, as with a dense one; what an operator gives is dense, but for those that are written here. PyTorch's messages are given where a layout is asked for
that a tensor does not have."""
import torch
from torch import Tensor


class _SparseTensor(Tensor):
    """What coordinate and compressed tensors share: the number of sparse dimensions, and which of their elements are stored."""

    __torch_function__ = torch._C._disabled_torch_function_impl  # what is computed of it is dense unless it says otherwise
    is_sparse = property(lambda self: self.layout is torch.sparse_coo)
    is_sparse_csr = property(lambda self: self.layout is torch.sparse_csr)

    def to_dense(self, dtype=None, *, masked_grad=True):
        plain = self.as_subclass(Tensor)
        return plain if dtype is None else plain.to(dtype)

    def _nnz(self):
        return self._stored.size(-1)

    def sparse_dim(self):
        return self._stored.size(0)

    def dense_dim(self):
        return self.dim() - self.sparse_dim()

    def _like(self, dense):
        """A dense tensor with elements at the same places."""
        return _made(type(self), dense, self._stored, self._coalesced)

    def _gathered(self):
        return self.to_dense()[tuple(self._stored)]

    def detach(self):
        return self._like(self.to_dense().detach())

    def clone(self, *, memory_format=torch.preserve_format):
        return self._like(self.to_dense().clone())

    def to(self, *args, **kwargs):
        dense = self.to_dense()
        moved = dense.to(*args, **kwargs)
        return self if moved is dense else self._like(moved)

    def float(self):
        return self.to(torch.float32)

    def double(self):
        return self.to(torch.float64)

    def cpu(self):
        return self

    def __neg__(self):
        return self._like(-self.to_dense())

    def __mul__(self, other):
        out = self.to_dense() * (other.to_dense() if isinstance(other, _SparseTensor) else other)
        return self._like(out) if out.shape == self.shape else out

    mul = __rmul__ = __mul__

    def __truediv__(self, other):
        return self._like(self.to_dense() / other)

    div = __truediv__

    def __add__(self, other):
        if not isinstance(other, _SparseTensor):
            return self.to_dense() + other
        out = self.to_dense() + other.to_dense()
        places = torch.unique(torch.cat([self._stored, other._stored], 1), dim=1)
        return _made(type(self), out, places, True)

    add = __add__

    def __reduce_ex__(self, protocol):
        return _rebuilt, (self.layout is torch.sparse_coo, self._stored, self.to_dense().detach(), self._coalesced)

    def __deepcopy__(self, memo):
        return _made(type(self), self.to_dense().detach().clone(), self._stored.clone(), self._coalesced)


class _Coordinate(_SparseTensor):
    layout = property(lambda self: torch.sparse_coo)

    def is_coalesced(self):
        return self._coalesced

    def coalesce(self):
        return self if self._coalesced else _made(_Coordinate, self.to_dense(), torch.unique(self._stored, dim=1), True)

    def _indices(self):
        return self._stored if self._given is None else self._given[0]

    def _values(self):
        return self._gathered() if self._given is None else self._given[1]

    def _nnz(self):
        return self._indices().size(1)

    def indices(self):
        if not self._coalesced:
            raise RuntimeError("Cannot get indices on an uncoalesced tensor, please call .coalesce() first")
        return self._stored

    def values(self):
        if not self._coalesced:
            raise RuntimeError("Cannot get values on an uncoalesced tensor, please call .coalesce() first")
        return self._gathered()

    def t(self):
        places = self._stored.flip(0)
        return _made(_Coordinate, self.to_dense().t(), places[:, torch.argsort(places[0], stable=True)], self._coalesced)

    def transpose(self, dim0, dim1):
        order = list(range(self.dim()))
        order[dim0], order[dim1] = order[dim1], order[dim0]
        return _made(_Coordinate, self.to_dense().transpose(dim0, dim1), torch.unique(self._stored[order[: self.sparse_dim()]], dim=1), True)

    def to_sparse(self, sparse_dim=None, **kwargs):
        return self

    def to_sparse_coo(self):
        return self

    def to_sparse_csr(self, dense_dim=None):
        return _csr(self.to_dense())

    def __repr__(self, *, tensor_contents=None):
        def shifted(text, n):
            return text.replace("\n", "\n" + " " * n)

        def inner(t):
            return repr(t.detach())[len("tensor("):-1].partition(", dtype")[0]

        tail = "" if self.dtype is torch.get_default_dtype() or self.dtype in (torch.int64, torch.bool) else f", dtype={self.dtype}"
        tail += f", grad_fn=<{type(self.grad_fn).__name__}>" if self.grad_fn is not None else ", requires_grad=True" if self.requires_grad else ""
        return (f"tensor(indices=tensor({shifted(inner(self._indices()), 15)}),\n       values=tensor({shifted(inner(self._values()), 14)}),\n"
                f"       size={tuple(self.shape)}, nnz={self._nnz()}, layout=torch.sparse_coo{tail})")


class _Compressed(_SparseTensor):
    layout = property(lambda self: torch.sparse_csr)

    def crow_indices(self):
        counts = torch.bincount(self._stored[0], minlength=self.size(0))
        return torch.cat([torch.zeros(1, dtype=torch.int64), counts.cumsum(0)])

    def col_indices(self):
        return self._stored[1]

    def values(self):
        return self._gathered()

    def to_sparse(self, sparse_dim=None, **kwargs):
        return _made(_Coordinate, self.to_dense(), self._stored, True)

    to_sparse_coo = to_sparse

    def to_sparse_csr(self, dense_dim=None):
        return self

    def __repr__(self, *, tensor_contents=None):
        return (f"tensor(crow_indices={self.crow_indices()},\n       col_indices={self.col_indices()},\n       values={self.values()}, size={tuple(self.shape)}, nnz={self._nnz()},\n"
                "       layout=torch.sparse_csr)")


def _made(cls, dense, stored, coalesced, given=None):
    out = dense.as_subclass(cls)
    out._stored, out._coalesced, out._given = stored, coalesced, given
    return out


def _rebuilt(coordinate, stored, dense, coalesced):
    return _made(_Coordinate if coordinate else _Compressed, dense, stored, coalesced)


def _csr(dense):
    if dense.dim() != 2:
        raise NotImplementedError("sparse_csr tensors of other than two dimensions are not supported")
    return _made(_Compressed, dense, dense.detach().nonzero().t().contiguous(), True)


def sparse_coo_tensor(indices, values=None, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False, check_invariants=None, is_coalesced=None):
    if isinstance(indices, (tuple, list, torch.Size)) and values is None:  # of a size alone, and empty
        return _made(_Coordinate, torch.zeros(tuple(indices), dtype=dtype), torch.zeros(len(indices), 0, dtype=torch.int64), True)
    indices = torch.as_tensor(indices, dtype=torch.int64, device=device)
    values = torch.as_tensor(values, dtype=dtype, device=device)
    if requires_grad:
        values = values.detach()
    if indices.dim() == 1:
        indices = indices.unsqueeze(0)
    if size is None:
        size = [int(n) + 1 for n in indices.max(1).values] + list(values.shape[1:])
    size = tuple(size)
    if len(size) != indices.size(0) + values.dim() - 1:
        raise RuntimeError(f"number of dimensions must be sparse_dim ({indices.size(0)}) + dense_dim ({values.dim() - 1}), but got {len(size)}")
    for d in range(indices.size(0)):
        if indices.size(1) and int(indices[d].min()) < 0:
            raise RuntimeError(f"found negative index {int(indices[d].min())} for dim {d}")
        if indices.size(1) and int(indices[d].max()) >= size[d]:
            raise RuntimeError(f"size is inconsistent with indices: for dim {d}, size is {size[d]} but found index {int(indices[d].max())}")
    dense = torch.zeros(size, dtype=values.dtype).index_put(tuple(indices), values, accumulate=True)
    if requires_grad:
        dense.requires_grad_()
    return _made(_Coordinate, dense, indices, bool(is_coalesced), None if is_coalesced else (indices, values))


def sparse_csr_tensor(crow_indices, col_indices, values, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False, check_invariants=None):
    crow, col = torch.as_tensor(crow_indices, dtype=torch.int64), torch.as_tensor(col_indices, dtype=torch.int64)
    values = torch.as_tensor(values, dtype=dtype, device=device)
    rows = torch.repeat_interleave(torch.arange(crow.numel() - 1), crow.diff())
    if size is None:
        size = (crow.numel() - 1, int(col.max()) + 1 if col.numel() else 0)
    dense = torch.zeros(tuple(size), dtype=values.dtype).index_put((rows, col), values, accumulate=True)
    return _made(_Compressed, dense, torch.stack([rows, col]), True)


def _dense(t):
    return t.to_dense() if isinstance(t, _SparseTensor) else t


def mm(mat1, mat2, reduce="sum"):
    """A product of matrices; sparse if both are."""
    if reduce != "sum":
        raise NotImplementedError(f"torch.sparse.mm with reduce={reduce!r} is not supported")
    out = torch.mm(_dense(mat1), _dense(mat2))
    return out.to_sparse() if isinstance(mat1, _SparseTensor) and isinstance(mat2, _SparseTensor) else out


def addmm(mat, mat1, mat2, *, beta=1.0, alpha=1.0):
    return torch.addmm(_dense(mat), _dense(mat1), _dense(mat2), beta=beta, alpha=alpha)


def sum(input, dim=None, dtype=None):
    """Over all dimensions a number; over some, a sparse tensor of the others."""
    dense = input.to_dense(dtype)
    if dim is None:
        return dense.sum()
    return dense.sum(dim).to_sparse()


def _soft(input, dim, function):
    """softmax over the elements that are stored."""
    kept = torch.zeros(input.shape, dtype=torch.bool)
    kept[tuple(input._stored)] = True
    out = function(input.to_dense().masked_fill(~kept, -float("inf")), dim)
    return input._like(torch.where(kept, out, 0.0))


def softmax(input, dim, *, dtype=None):
    return _soft(input if dtype is None else input.to(dtype), dim, torch.softmax)


def log_softmax(input, dim, *, dtype=None):
    return _soft(input if dtype is None else input.to(dtype), dim, torch.log_softmax)


def _to_sparse(self, sparse_dim=None, *, layout=None, blocksize=None, dense_dim=None):
    if layout is torch.sparse_csr:
        return _csr(self)
    if sparse_dim is not None and sparse_dim != self.dim() or layout not in (None, torch.sparse_coo):
        raise NotImplementedError("to_sparse() with dense dimensions, or to another layout than sparse_coo and sparse_csr, is not supported")
    return _made(_Coordinate, self, self.detach().nonzero().t().contiguous(), True)


def _refuse(text):
    def method(self, *args, **kwargs):
        raise RuntimeError(text)

    return method


def _strided_methods():
    """What tensors without a sparse layout answer."""
    def to_dense(self, dtype=None, *, masked_grad=True):
        return self if dtype is None else self.to(dtype)

    Tensor.to_sparse = _to_sparse
    Tensor.to_sparse_coo = _to_sparse
    Tensor.to_sparse_csr = lambda self, dense_dim=None: _csr(self)
    Tensor.to_dense = to_dense
    Tensor.coalesce = _refuse("coalesce expected sparse coordinate tensor layout but got Strided")
    Tensor.is_coalesced = _refuse("is_coalesced expected sparse coordinate tensor layout but got Strided")
    Tensor.indices = _refuse("indices expected sparse coordinate tensor layout but got Strided")
    Tensor.values = _refuse("values expected sparse tensor layout but got Strided")
    Tensor._indices = _refuse("Could not run 'aten::_indices' with arguments from the 'CPU' backend.")
    Tensor._values = _refuse("Could not run 'aten::_values' with arguments from the 'CPU' backend.")
    Tensor._nnz = _refuse("_nnz expected sparse tensor layout but got Strided")
    Tensor.sparse_dim = lambda self: 0
    Tensor.dense_dim = lambda self: self.dim()
    Tensor.sparse_mask = lambda self, mask: mask._like(torch.where(_kept(mask), self, torch.zeros((), dtype=self.dtype)))


def _kept(mask):
    kept = torch.zeros(mask.shape, dtype=torch.bool)
    kept[tuple(mask._stored)] = True
    return kept


_strided_methods()


def _legacy(name, dtype):
    class Legacy:
        def __new__(cls, *args):
            if args and not isinstance(args[0], Tensor):
                args = (tuple(args),) if isinstance(args[0], int) else args
            return sparse_coo_tensor(*args, dtype=dtype)

    Legacy.__name__ = Legacy.__qualname__ = name
    return Legacy


for _n, _d in (("Float", torch.float32), ("Double", torch.float64), ("Long", torch.int64), ("Int", torch.int32), ("Half", torch.float16), ("Byte", torch.uint8)):
    globals()[_n + "Tensor"] = _legacy(_n + "Tensor", _d)
