"""Parameters of distributions: broadcast to one shape, and computed when asked for."""
from functools import update_wrapper
from numbers import Number

import torch
from torch.nn import functional as F

euler_constant = 0.57721566490153286060  # Euler and Mascheroni's


def broadcast_all(*values):
    if not all(isinstance(v, (torch.Tensor, Number)) for v in values):
        raise ValueError("Input arguments must all be instances of numbers.Number, torch.Tensor or objects implementing __torch_function__.")
    tensors = [v for v in values if isinstance(v, torch.Tensor)]
    dtype = tensors[0].dtype if tensors else torch.get_default_dtype()
    return torch.broadcast_tensors(*[v if isinstance(v, torch.Tensor) else torch.tensor(v, dtype=dtype) for v in values])


def logits_to_probs(logits, is_binary=False):
    return torch.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def clamp_probs(probs):
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    probs = clamp_probs(probs)
    return torch.log(probs) - torch.log1p(-probs) if is_binary else torch.log(probs)


def binary_cross_entropy(logits, value):
    return F.binary_cross_entropy_with_logits(logits, value, reduction="none")


def sum_right(values, n):
    """The sum over the last n dimensions."""
    return values.reshape(tuple(values.shape)[: values.dim() - n] + (-1,)).sum(-1) if n > 0 else values


def standard_normal(shape, dtype, device=None):
    """Normal samples, drawn one after another."""
    return torch.empty(shape, dtype=dtype, device=device).normal_()


def vec_to_tril_matrix(vec, diag=0):
    """Lower triangular matrices whose entries up to a diagonal are those of vectors, row by row."""
    count = vec.shape[-1]
    n = ((1 + 8 * count) ** 0.5 - 1) / 2 - diag
    if round(n) - n > torch.finfo(vec.dtype).eps or n != round(n):
        raise ValueError(f"The size of last dimension is {count} which cannot be expressed as the lower triangular part of a square D x D matrix.")
    n = round(n)
    matrix = vec.new_zeros(tuple(vec.shape[:-1]) + (n, n))
    rows, columns = torch.tril_indices(n, n, diag)
    matrix[..., rows, columns] = vec
    return matrix


def tril_matrix_to_vec(mat, diag=0):
    """The entries of matrices up to a diagonal, row by row."""
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = torch.tril_indices(n, n, diag)
    return mat[..., rows, columns]


class lazy_property:
    """A property that is computed once."""

    def __init__(self, wrapped):
        self.wrapped = wrapped
        update_wrapper(self, wrapped)

    def __get__(self, instance, obj_type=None):
        if instance is None:
            return _lazy_property_and_property(self.wrapped)
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _lazy_property_and_property(lazy_property, property):
    """What a class shows of a lazy property: a property, with its documentation."""

    def __init__(self, wrapped):
        property.__init__(self, wrapped)


_sum_rightmost = sum_right


def _standard_normal(shape, dtype, device):
    return torch.empty(shape, dtype=dtype, device=device).normal_()
