"""Masked reductions and normalisations: masked elements become the identity of the operation, then the plain operator runs."""
import torch

_SMALL_INTS = (torch.uint8, torch.bool, torch.int8, torch.int16, torch.int32)


def _dims(dim, ndim):
    if dim is None:
        return tuple(range(ndim))
    ndim = max(ndim, 1)
    out = []
    for d in (dim,) if isinstance(dim, int) else dim:
        if d >= ndim or d < -ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {d})")
        if d % ndim in out:
            raise RuntimeError(f"dim={d % ndim} appears multiple times in the list of dims")
        out.append(d % ndim)
    return tuple(sorted(out))


def _spread(input, mask):
    """The mask in the shape of the input."""
    if mask.shape == input.shape:
        return mask
    if mask.ndim > input.ndim:
        raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
    return torch.broadcast_to(mask.clone(), input.shape).to(dtype=torch.bool)


def _filled(input, mask, identity):
    if mask is None:
        return input
    return torch.where(_spread(input, mask), input, torch.tensor(identity, dtype=input.dtype, device=input.device))


def _least(input):
    if input.dtype.is_floating_point:
        return -torch.inf
    return False if input.dtype == torch.bool else torch.iinfo(input.dtype).min


def _greatest(input):
    if input.dtype.is_floating_point:
        return torch.inf
    return True if input.dtype == torch.bool else torch.iinfo(input.dtype).max


def _wide(input, dtype):
    if dtype is None:
        return torch.int64 if input.dtype in _SMALL_INTS else input.dtype
    return dtype


def sum(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    x = _filled(input, mask, 0)
    return torch.sum(x, _dims(dim, input.ndim), bool(keepdim), dtype=_wide(input, dtype))


def prod(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    dtype = _wide(input, dtype)
    x = _filled(input, mask, 1)
    for d in reversed(_dims(dim, input.ndim)):
        x = x.prod(dim=d, keepdim=bool(keepdim))
    return x.to(dtype=dtype)


def cumsum(input, dim, *, dtype=None, mask=None):
    dtype = _wide(input, dtype)
    d = _dims(dim, input.ndim)[0]
    return torch.cumsum(_filled(input, mask, 0), d, dtype=dtype).to(dtype=dtype)


def cumprod(input, dim, *, dtype=None, mask=None):
    dtype = _wide(input, dtype)
    d = _dims(dim, input.ndim)[0]
    return torch.cumprod(_filled(input, mask, 1), d, dtype=dtype).to(dtype=dtype)


def amax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    x = _filled(input, mask, _least(input))
    return torch.amax(x, _dims(dim, input.ndim), bool(keepdim)).to(dtype=dtype or input.dtype)


def amin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    x = _filled(input, mask, _greatest(input))
    return torch.amin(x, _dims(dim, input.ndim), bool(keepdim)).to(dtype=dtype or input.dtype)


def argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return torch.argmax(_filled(input, mask, _least(input)), dim, bool(keepdim)).to(dtype=dtype or input.dtype)


def argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    return torch.argmin(_filled(input, mask, _greatest(input)), dim, bool(keepdim)).to(dtype=dtype or input.dtype)


def mean(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    if dtype is None:
        dtype = input.dtype
    if mask is None:
        count = sum(torch.ones(input.shape, dtype=torch.int64, device=input.device), dim, keepdim=keepdim)
    else:
        mask = _spread(input, mask)
        count = sum(mask, dim, keepdim=keepdim, dtype=torch.int64)
    return sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask) / count


def median(input, dim=-1, *, keepdim=False, dtype=None, mask=None):
    if dtype is None:
        dtype = input.dtype
    d = _dims(dim, input.ndim)[0]
    if dtype.is_floating_point:
        return torch.nanmedian(_filled(input, mask, torch.nan), d, keepdim).values
    if mask is None or torch.all(_spread(input, mask)):
        return torch.nanmedian(input, d, keepdim).values
    raise ValueError(f"masked median expects no fully masked out rows if dtype is not floating point")


def logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None):
    x = _filled(input, mask, -torch.inf if input.dtype.is_floating_point else _least(input))
    return torch.logsumexp(x, _dims(dim, input.ndim), keepdim=keepdim).to(dtype=dtype or input.dtype)


def logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    a = _filled(input, input_mask, -torch.inf)
    b = _filled(other, other_mask, -torch.inf)
    return torch.logaddexp(a, b).to(dtype=dtype or input.dtype)


def norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None):
    x = _filled(input, mask, torch.inf if ord == -torch.inf else 0.0)
    return torch.linalg.vector_norm(x, ord, _dims(dim, input.ndim), bool(keepdim), dtype=dtype or input.dtype)


def _moment(input, dim, unbiased, correction, keepdim, dtype, mask, root):
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    by = 1.0
    if unbiased is not None:
        by = 1.0 if unbiased else 0.0
    if correction is not None:
        by = float(correction)
    if dtype is None:
        dtype = input.dtype if input.dtype.is_floating_point or input.dtype.is_complex else torch.float32
    work = dtype
    if mask is None:
        count = sum(torch.ones(input.shape, dtype=torch.int64, device=input.device), dim, keepdim=True)
        total = sum(input, dim, keepdim=True, dtype=dtype)
    else:
        mask = _spread(input, mask)
        count = sum(mask, dim, keepdim=True, dtype=torch.int64)
        total = sum(input, dim, keepdim=True, dtype=dtype, mask=mask)
    x = torch.subtract(input, torch.divide(total, count))
    total = sum(x * x.conj(), dim, keepdim=keepdim, dtype=work, mask=mask)
    if not keepdim:
        count = count.reshape(total.shape)
    if by != 0:
        count = torch.subtract(count.to(dtype=work), by)
        count = torch.maximum(count, count.new_zeros([]))
    out = torch.divide(total, count).to(dtype=dtype)
    return torch.sqrt(out) if root else out


def var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    return _moment(input, dim, unbiased, correction, keepdim, dtype, mask, False)


def std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None):
    return _moment(input, dim, unbiased, correction, keepdim, dtype, mask, True)


def softmax(input, dim, *, dtype=None, mask=None):
    x = _filled(input, mask, _least(input))
    return torch.nn.functional.softmax(x, _dims(dim, input.ndim)[0], dtype=dtype or input.dtype)


def log_softmax(input, dim, *, dtype=None, mask=None):
    x = _filled(input, mask, _least(input))
    return torch.nn.functional.log_softmax(x, _dims(dim, input.ndim)[0], dtype=dtype or input.dtype)


def softmin(input, dim, *, dtype=None, mask=None):
    x = _filled(input, mask, _greatest(input))
    return torch.nn.functional.softmin(x, _dims(dim, input.ndim)[0], dtype=dtype or input.dtype)


def normalize(input, ord, dim, *, eps=1e-12, dtype=None, mask=None):
    if dtype is None:
        dtype = input.dtype
    size = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return torch.div(_filled(input, mask, 0.0), torch.maximum(size, size.new_full((), eps)))
