"""Linear algebra on the kernels of tensors."""
import builtins
import functools
import math

from numpy._core import _multiarray_umath as mu
from numpy._core._multiarray_umath import absolute, asarray, ascontiguousarray, dot, empty, matmul, multiply, sqrt, zeros
from numpy._core.numeric import cross as _cross
from numpy._core.numeric import eye, moveaxis, normalize_axis_index, normalize_axis_tuple, outer, tensordot, vecdot

__all__ = ["matrix_power", "solve", "tensorsolve", "tensorinv", "inv", "cholesky", "eigvals", "eigvalsh", "pinv", "slogdet", "det", "svd", "svdvals", "eig", "eigh", "lstsq", "norm", "qr", "cond", "matrix_rank", "LinAlgError", "multi_dot", "trace", "diagonal", "cross", "outer", "tensordot", "matmul", "matrix_transpose", "matrix_norm", "vector_norm", "vecdot"]


class LinAlgError(ValueError):
    """A matrix is singular, or an iteration does not converge."""


def _matrix(a, square=False):
    """An array of matrices in a type that the kernels compute with, and the type of the result."""
    a = asarray(a)
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
    if square and a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    if a.dtype.kind in "biu":
        return ascontiguousarray(a, mu.float64)
    if a.dtype.char == "e":
        raise TypeError("array type float16 is unsupported in linalg")
    if a.dtype.kind not in "fc":
        raise TypeError(f"array type {a.dtype} is unsupported in linalg")
    return ascontiguousarray(a)


def _both(a, b):
    t = mu.result_type(a.dtype, b.dtype, mu.float32 if a.dtype.char in "fF" and b.dtype.char in "fF" else mu.float64)
    return ascontiguousarray(a, t), ascontiguousarray(b, t)


def _aten(name, *args, **kw):
    try:
        return mu._aten(name, *args, **kw)
    except LinAlgError as e:
        text = str(e)
        if "singular" in text:
            raise LinAlgError("Singular matrix") from None
        if "positive-definite" in text or "not positive" in text:
            raise LinAlgError("Matrix is not positive definite") from None
        raise


def inv(a):
    return _aten("linalg_inv_ex", _matrix(a, True), check_errors=True)[0]


def solve(a, b):
    a, b = _both(_matrix(a, True), asarray(b))
    if b.ndim == 1:
        if a.shape[-1] != b.shape[0]:
            raise ValueError(f"solve1: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (m,m),(m)->(m) (size {b.shape[0]} is different from {a.shape[-1]})")
        return _aten("linalg_solve_ex", a, ascontiguousarray(b[:, None]), check_errors=True)[0][..., 0] if a.ndim == 2 else _aten("linalg_solve_ex", a, ascontiguousarray(mu._broadcast_to(b[:, None], a.shape[:-1] + (1,))), check_errors=True)[0][..., 0]
    return _aten("linalg_solve_ex", a, b, check_errors=True)[0]


def det(a):
    return _aten("_linalg_det", _matrix(a, True))[0][()]


def slogdet(a):
    r = _aten("_linalg_slogdet", _matrix(a, True))
    return SlogdetResult(r[0][()], r[1][()])


def cholesky(a, /, *, upper=False):
    return _aten("linalg_cholesky_ex", _matrix(a, True), upper=upper, check_errors=True)[0]


def qr(a, mode="reduced"):
    a = _matrix(a)
    if mode not in ("reduced", "complete", "r", "raw"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    if mode == "raw":
        raise NotImplementedError("qr: mode 'raw' is missing")
    q, r = _aten("linalg_qr", a, mode)
    return r if mode == "r" else QRResult(q, r)


def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    a = _matrix(a)
    u, s, vh = _aten("_linalg_svd", a, full_matrices, True)
    return SVDResult(u, s, vh) if compute_uv else s


def svdvals(x, /):
    return svd(x, compute_uv=False)


def eigh(a, UPLO="L"):
    if UPLO.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    w, v = _aten("_linalg_eigh", _matrix(a, True), UPLO.upper(), True)
    return EighResult(w, v)


def eigvalsh(a, UPLO="L"):
    return eigh(a, UPLO)[0]


def eig(a):
    a = _matrix(a, True)
    w, v = _aten("linalg_eig", a)
    if a.dtype.kind == "f" and (w.imag == 0).all():
        w, v = w.real.copy(), v.real.copy()
    return EigResult(w, v)


def eigvals(a):
    return eig(a)[0]


def pinv(a, rcond=None, hermitian=False, *, rtol=None):
    a = asarray(a)
    rcond = rtol if rcond is None else rcond
    if rcond is None:
        rcond = 1e-15
    if a.size == 0:
        return empty(a.shape[:-2] + (a.shape[-1], a.shape[-2]), a.dtype)
    u, s, vt = svd(a.conj(), full_matrices=False)
    cutoff = asarray(rcond)[..., None] * s.max(axis=-1, keepdims=True)
    large = s > cutoff
    s = mu.divide(1, s, where=large, out=s.copy())
    s[~large] = 0
    return matmul(vt.mT, multiply(s[..., None], u.mT))


def lstsq(a, b, rcond=None):
    a, b = asarray(a), asarray(b)
    one = b.ndim == 1
    if one:
        b = b[:, None]
    m, n = a.shape[-2:]
    if b.shape[0] != m:
        raise LinAlgError("Incompatible dimensions")
    a, b = _both(_matrix(a), b)
    if rcond is None:
        rcond = {"f": 2.0**-23, "F": 2.0**-23}.get(a.dtype.char, 2.0**-52) * builtins.max(m, n)
    u, s, vt = svd(a, full_matrices=False)
    keep = s > rcond * s[0] if s.size else s > 0
    rank = int(keep.sum())
    inverse = zeros(s.shape, s.dtype)
    inverse[keep] = 1 / s[keep]
    x = matmul(vt.mT.conj(), inverse[:, None] * matmul(u.mT.conj(), b))
    res = empty((0,), s.dtype)
    if rank == n and m > n:
        r = b - matmul(a, x)
        res = (absolute(r) ** 2).sum(axis=0)
    return x[:, 0] if one else x, res, rank, s


def matrix_rank(A, tol=None, hermitian=False, *, rtol=None):
    A = asarray(A)
    if A.ndim < 2:
        return int(not (A == 0).all())
    s = svd(A, compute_uv=False)
    if tol is None:
        tol = s.max(axis=-1, keepdims=True) * (builtins.max(A.shape[-2:]) * {"f": 2.0**-23}.get(s.dtype.char, 2.0**-52) if rtol is None else rtol)
    else:
        tol = asarray(tol)[..., None]
    return (s > tol).sum(axis=-1)


def cond(x, p=None):
    x = asarray(x)
    if p in (None, 2, -2):
        s = svd(x, compute_uv=False)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    return norm(x, p, axis=(-2, -1)) * norm(inv(x), p, axis=(-2, -1))


def matrix_power(a, n):
    a = asarray(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    if n < 0:
        a, n = inv(a), -n
    r = mu._broadcast_to(eye(a.shape[-1], dtype=a.dtype), a.shape).copy()
    while n:
        if n & 1:
            r = matmul(r, a)
        a = matmul(a, a)
        n >>= 1
    return r


def multi_dot(arrays, *, out=None):
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    r = functools.reduce(dot, [asarray(a) for a in arrays])
    if out is not None:
        out[...] = r
        return out
    return r


def norm(x, ord=None, axis=None, keepdims=False):
    x = asarray(x)
    if x.dtype.kind not in "fc":
        x = x.astype(float)
    if axis is None:
        if ord is None or ord in ("f", "fro") and x.ndim == 2 or ord == 2 and x.ndim == 1:
            flat = x.ravel(order="K")
            s = dot(flat.real, flat.real) + dot(flat.imag, flat.imag) if x.dtype.kind == "c" else dot(flat, flat)
            r = sqrt(s)
            return asarray(r).reshape(x.ndim * (1,)) if keepdims else r
        axis = tuple(range(x.ndim))
    elif not isinstance(axis, tuple):
        axis = (int(axis),)
    if len(axis) == 1:
        return _vector(x, ord, axis, keepdims)
    if len(axis) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    return _matrixnorm(x, ord, axis, keepdims)


def _vector(x, ord, axis, keepdims):
    a = absolute(x)
    if ord == math.inf:
        return a.max(axis=axis, keepdims=keepdims)
    if ord == -math.inf:
        return a.min(axis=axis, keepdims=keepdims)
    if ord == 0:
        return (x != 0).astype(a.dtype).sum(axis=axis, keepdims=keepdims)
    if ord == 1:
        return mu.add.reduce(a, axis=axis, keepdims=keepdims)
    if ord is None or ord == 2:
        return sqrt(mu.add.reduce((x.conj() * x).real, axis=axis, keepdims=keepdims))
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    return mu.add.reduce(a ** ord, axis=axis, keepdims=keepdims) ** (1 / ord)


def _matrixnorm(x, ord, axis, keepdims):
    row, col = normalize_axis_tuple(axis, x.ndim)
    if row == col:
        raise ValueError("Duplicate axes given.")
    a = absolute(x)
    if ord in (2, -2, "nuc"):
        s = svd(moveaxis(x, (row, col), (-2, -1)), compute_uv=False)
        r = s.max(axis=-1) if ord == 2 else s.min(axis=-1) if ord == -2 else s.sum(axis=-1)
    elif ord in (1, -1, math.inf, -math.inf):
        first, second = (row, col) if abs(ord) == 1 else (col, row)
        sums = mu.add.reduce(a, axis=first)
        if second > first:
            second -= 1
        r = sums.max(axis=second) if ord > 0 else sums.min(axis=second)
    elif ord in (None, "fro", "f"):
        r = sqrt(mu.add.reduce((x.conj() * x).real, axis=axis))
    else:
        raise ValueError("Invalid norm order for matrices.")
    if keepdims:
        shape = list(x.shape)
        shape[row] = shape[col] = 1
        r = asarray(r).reshape(shape)
    return r


def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    return norm(x, ord=ord, axis=(-2, -1), keepdims=keepdims)


def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    x = asarray(x)
    if axis is None:
        r = norm(x.ravel(), ord=ord, axis=0)
        return asarray(r).reshape((1,) * x.ndim) if keepdims else r
    return norm(x, ord=ord, axis=axis, keepdims=keepdims)


def matrix_transpose(x, /):
    return asarray(x).mT


def trace(x, /, *, offset=0, dtype=None):
    return asarray(x).trace(offset, -2, -1, dtype)


def diagonal(x, /, *, offset=0):
    return asarray(x).diagonal(offset, -2, -1)


def cross(x1, x2, /, *, axis=-1):
    return _cross(x1, x2, axis=axis)


def tensorsolve(a, b, axes=None):
    a, b = asarray(a), asarray(b)
    if axes is not None:
        order = [k for k in range(a.ndim) if k not in axes] + list(axes)
        a = a.transpose(order)
    shape = a.shape[-(a.ndim - b.ndim):]
    return solve(a.reshape(-1, math.prod(shape)), b.ravel()).reshape(shape)


def tensorinv(a, ind=2):
    a = asarray(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = a.shape[ind:] + a.shape[:ind]
    return inv(a.reshape(math.prod(a.shape[ind:]), -1)).reshape(shape)


def _result(name, fields):
    import collections
    t = collections.namedtuple(name, fields)
    t.__module__ = "numpy.linalg._linalg"
    return t


SlogdetResult = _result("SlogdetResult", "sign logabsdet")
QRResult = _result("QRResult", "Q R")
SVDResult = _result("SVDResult", "U S Vh")
EighResult = _result("EighResult", "eigenvalues eigenvectors")
EigResult = _result("EigResult", "eigenvalues eigenvectors")
