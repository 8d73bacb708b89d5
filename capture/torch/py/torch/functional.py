"""Functions of the torch namespace that put a Python signature before operators, or are made of several."""
import torch
from torch._C import _VariableFunctions as _VF
from torch._C._nn import linear


def is_floating_point(input):
    return input.is_floating_point()


def is_complex(input):
    return input.is_complex()


def numel(input):
    return input.numel()


def broadcast_shapes(*shapes):
    out = []
    for s in shapes:
        if not isinstance(s, (int, torch.SymInt, tuple, list)):
            raise RuntimeError("Input shapes should be of type ints, a tuple of ints, or a list of ints, got ", s)
        s = [s] if isinstance(s, (int, torch.SymInt)) else list(s)
        for k in s:
            if k < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({k}): ({k})")
        n = max(len(out), len(s))
        out = [1] * (n - len(out)) + out
        s = [1] * (n - len(s)) + s
        for i, (a, b) in enumerate(zip(out, s)):
            if a != b and a != 1 and b != 1:
                raise RuntimeError("Shape mismatch: objects cannot be broadcast to a single shape")
            out[i] = b if a == 1 else a
    return torch.Size(out)


def broadcast_tensors(*tensors):
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    try:
        shape = broadcast_shapes(*[t.shape for t in tensors])
    except RuntimeError:
        shape = torch.Size()
        for t in tensors:  # which two do not fit, and where
            for i in range(-1, -min(len(shape), t.dim()) - 1, -1):
                if shape[i] != t.shape[i] and 1 not in (shape[i], t.shape[i]):
                    raise RuntimeError(f"The size of tensor a ({shape[i]}) must match the size of tensor b ({t.shape[i]}) at non-singleton dimension {max(len(shape), t.dim()) + i}") from None
            shape = broadcast_shapes(shape, t.shape)
    return tuple(t if t.shape == shape else t.expand(shape) for t in tensors)


def _given(tensors):
    """Tensors given one by one, or as one list."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        return list(tensors[0])
    return list(tensors)


def meshgrid(*tensors, indexing=None):
    tensors = _given(tensors)
    return _VF.meshgrid(tensors) if indexing is None else _VF.meshgrid(tensors, indexing=indexing)


def atleast_1d(*tensors):
    return _VF.atleast_1d(tensors[0] if len(tensors) == 1 else list(tensors))


def atleast_2d(*tensors):
    return _VF.atleast_2d(tensors[0] if len(tensors) == 1 else list(tensors))


def atleast_3d(*tensors):
    return _VF.atleast_3d(tensors[0] if len(tensors) == 1 else list(tensors))


def cartesian_prod(*tensors):
    return _VF.cartesian_prod(_given(tensors))


def block_diag(*tensors):
    return _VF.block_diag(list(tensors))


def chain_matmul(*matrices, out=None):
    matrices = _given(matrices)
    return _VF.chain_matmul(matrices) if out is None else _VF.chain_matmul(matrices, out=out)


def einsum(*args):
    return _VF.einsum(*args)


def split(tensor, split_size_or_sections, dim=0):
    return tensor.split(split_size_or_sections, dim)


def tensordot(a, b, dims=2, out=None):
    if isinstance(dims, torch.Tensor):
        dims = dims.tolist() if dims.numel() > 1 else int(dims.item())
    if isinstance(dims, (list, tuple)):
        if len(dims) != 2:
            raise RuntimeError(f"tensordot expects dims to be a tuple of two lists, got {len(dims)} of them")
        dims_a, dims_b = ([d] if isinstance(d, int) else list(d) for d in dims)
    else:
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        dims_a = list(range(-dims, 0))
        dims_b = list(range(dims))
    if out is None:
        return _VF.tensordot(a, b, dims_a, dims_b)
    return _VF.tensordot(a, b, dims_a, dims_b, out=out)


def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    modes = {"use_mm_for_euclid_dist_if_necessary": None, "use_mm_for_euclid_dist": 1, "donot_use_mm_for_euclid_dist": 2}
    if compute_mode not in modes:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return _VF.cdist(x1, x2, p, modes[compute_mode])


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    if isinstance(p, str) and p == "nuc" or isinstance(p, str) and p != "fro":
        if dim is None:
            dim = tuple(range(input.dim()))
        return torch.linalg.matrix_norm(input, p, dim, keepdim, dtype=dtype) if out is None else torch.linalg.matrix_norm(input, p, dim, keepdim, dtype=dtype, out=out)
    if out is None:
        return _VF.norm(input, p, dim, keepdim, dtype=dtype)
    if isinstance(p, str) or p is None:
        p = 2.0
    dims = [dim] if isinstance(dim, int) else dim
    return torch.linalg.vector_norm(input, p, dims, keepdim, dtype=dtype, out=out)


def stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False, onesided=None, return_complex=None):
    if center:
        lead = 3 - input.dim()
        half = int(n_fft // 2)
        shape = input.shape
        padded = torch.nn.functional.pad(input.view([1] * lead + list(shape)), [half, half], pad_mode)
        input = padded.view(padded.shape[lead:])
    return _VF.stft(input, n_fft, hop_length, win_length, window, normalized, onesided, return_complex)


def _segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None):
    return _VF.segment_reduce(data, reduce, lengths=lengths, indices=indices, offsets=offsets, axis=axis, unsafe=unsafe, initial=initial)


def lu(A, pivot=True, get_infos=False, out=None):
    result = torch._lu_with_info(A, pivot=pivot, check_errors=not get_infos)
    if out is not None:
        for target, value in zip(out, result):
            target.resize_as_(value).copy_(value)
        return out
    return tuple(result) if get_infos else (result[0], result[1])


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    if dim is not None:
        out, inverse, counts = _VF.unique_dim(input, dim, sorted, return_inverse, return_counts)
    else:
        out, inverse, counts = torch._unique2(input, sorted, return_inverse, return_counts)
    return _picked(out, inverse, counts, return_inverse, return_counts)


def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
    out, inverse, counts = _VF.unique_consecutive(input, return_inverse=return_inverse, return_counts=return_counts, dim=dim)
    return _picked(out, inverse, counts, return_inverse, return_counts)


def _picked(out, inverse, counts, return_inverse, return_counts):
    if return_inverse and return_counts:
        return out, inverse, counts
    if return_inverse:
        return out, inverse
    return (out, counts) if return_counts else out


def chunk(input, chunks, dim=0):
    return input.chunk(chunks, dim)


def unravel_index(indices, shape):
    if isinstance(shape, int):
        shape = [shape]
    if indices.dtype.is_floating_point or indices.dtype.is_complex or indices.dtype == torch.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    for n in shape:
        if not isinstance(n, (int, torch.SymInt)):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(n)}")
        if n < 0:
            raise ValueError(f"'shape' cannot have negative values, but got {tuple(shape)}")
    strides = [1]
    for n in reversed(list(shape)[1:]):
        strides.append(strides[-1] * n)
    strides.reverse()
    where = indices.unsqueeze(-1).floor_divide(torch.tensor(strides, dtype=torch.int64)) % torch.tensor(list(shape), dtype=torch.int64)
    return where.unbind(-1)


def _check_cell(input, hidden, w_ih, w_hh, gates=1):
    if input.size(1) != w_ih.size(1):
        raise RuntimeError(f"input has inconsistent input_size: got {input.size(1)} expected {w_ih.size(1)}")
    for i, (h, width) in enumerate(zip(hidden, (w_hh.size(1), w_hh.size(0) // gates))):
        if input.size(0) != h.size(0):
            raise RuntimeError(f"Input batch size {input.size(0)} doesn't match hidden{i} batch size {h.size(0)}")
        if h.size(1) != width:
            raise RuntimeError(f"hidden{i} has inconsistent hidden_size: got {h.size(1)}, expected {width}")


def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    _check_cell(input, hx, w_ih, w_hh, 4)
    gates = linear(hx[0], w_hh, b_hh).add_(linear(input, w_ih, b_ih))
    i, f, g, o = torch.unsafe_chunk(gates, 4, 1)
    c = (f.sigmoid() * hx[1]).add_(i.sigmoid() * g.tanh())
    return o.sigmoid() * c.tanh(), c


def gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    _check_cell(input, (hx,), w_ih, w_hh)
    a_r, a_z, a_n = torch.unsafe_chunk(linear(input, w_ih, b_ih), 3, 1)
    h_r, h_z, h_n = torch.unsafe_chunk(linear(hx, w_hh, b_hh), 3, 1)
    r, z = (h_r + a_r).sigmoid_(), (h_z + a_z).sigmoid_()
    if h_n.requires_grad:
        h_n = h_n.clone()  # PyTorch writes into what its gradient needs, and keeps that
    n = (a_n + h_n * r).tanh_()
    return (hx - n).mul_(z).add_(n)


def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    _check_cell(input, (hx,), w_ih, w_hh)
    return (linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh)).tanh()


def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    _check_cell(input, (hx,), w_ih, w_hh)
    return (linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh)).relu()


torch._C._override_python(globals())
