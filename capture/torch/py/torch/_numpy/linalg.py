"""numpy.linalg."""

import functools
import math

import torch

from . import _dtypes_impl, _util
from ._normalizations import array, arrays, keep, normalizer


class LinAlgError(Exception):
    """A matrix that the function is not defined for."""


def _floating(a):
    return _util.cast_int_to_float(a)


def _both_floating(a, b):
    a, b = _util.together(a, b)
    return _floating(a), _floating(b)


def _api(function):
    """Make a function on tensors one of the API, with numpy's class of errors."""

    @functools.wraps(function)
    def guarded(*args, **kwds):
        try:
            return function(*args, **kwds)
        except torch.linalg.LinAlgError as e:
            raise LinAlgError(*e.args) from None

    return normalizer(guarded)


@_api
def matrix_power(a: array, n):
    return torch.linalg.matrix_power(_floating(a), n)


@_api
def multi_dot(inputs: arrays, *, out=None):
    return torch.linalg.multi_dot(inputs)


@_api
def solve(a: array, b: array):
    return torch.linalg.solve(*_both_floating(a, b))


@_api
def lstsq(a: array, b: array, rcond=None):
    a, b = _both_floating(a, b)
    return torch.linalg.lstsq(a, b, rcond=rcond, driver="gels" if a.is_cuda or b.is_cuda else "gelsd")


@_api
def inv(a: array):
    return torch.linalg.inv(_floating(a))


@_api
def pinv(a: array, rcond=1e-15, hermitian=False):
    return torch.linalg.pinv(_floating(a), rtol=rcond, hermitian=hermitian)


@_api
def tensorsolve(a: array, b: array, axes=None):
    a, b = _both_floating(a, b)
    return torch.linalg.tensorsolve(a, b, dims=axes)


@_api
def tensorinv(a: array, ind=2):
    return torch.linalg.tensorinv(_floating(a), ind=ind)


@_api
def det(a: array):
    return torch.linalg.det(_floating(a))


@_api
def slogdet(a: array):
    return torch.linalg.slogdet(_floating(a))


@_api
def cond(x: array, p=None):
    if 0 in x.shape[-2:]:
        raise LinAlgError("cond is not defined on empty arrays")
    ratio = torch.linalg.cond(_floating(x), p)
    return ratio.masked_fill(ratio.isnan(), math.inf)


@_api
def matrix_rank(a: array, tol=None, hermitian=False):
    a = _floating(a)
    if a.ndim < 2:
        return int(a.count_nonzero() > 0)
    absolute, relative = (0, max(a.shape[-2:]) * torch.finfo(a.dtype).eps) if tol is None else (tol, 0)
    return torch.linalg.matrix_rank(a, atol=absolute, rtol=relative, hermitian=hermitian)


@_api
def norm(x: array, ord=None, axis=None, keepdims: keep = False):
    return torch.linalg.norm(_floating(x), ord=ord, dim=axis)


@_api
def cholesky(a: array):
    return torch.linalg.cholesky(_floating(a))


@_api
def qr(a: array, mode="reduced"):
    result = torch.linalg.qr(_floating(a), mode=mode)
    return result.R if mode == "r" else result


@_api
def svd(a: array, full_matrices=True, compute_uv=True, hermitian=False):
    a = _floating(a)
    return torch.linalg.svd(a, full_matrices=full_matrices) if compute_uv else torch.linalg.svdvals(a)


def _real_where_it_is(a, values, *others):
    """Eigenvalues of a real matrix are given as real numbers, if they all are."""
    if not a.is_complex() and values.is_complex() and (values.imag == 0).all():
        values, others = values.real, [x.real for x in others]
    return (values, *others) if others else values


@_api
def eig(a: array):
    a = _floating(a)
    return _real_where_it_is(a, *torch.linalg.eig(a))


@_api
def eigh(a: array, UPLO="L"):
    return torch.linalg.eigh(_floating(a), UPLO=UPLO)


@_api
def eigvals(a: array):
    a = _floating(a)
    return _real_where_it_is(a, torch.linalg.eigvals(a))


@_api
def eigvalsh(a: array, UPLO="L"):
    return torch.linalg.eigvalsh(_floating(a), UPLO=UPLO)
