"""Matrices that are made of others."""
import numpy as np

from scipy._absent import names_of

__all__ = ["block_diag", "toeplitz", "circulant", "expm", "qr", "lu"]
__getattr__ = names_of(__name__)


def block_diag(*arrs):
    """The matrix with the given ones along its diagonal, in order, and zeros elsewhere."""
    arrs = [np.atleast_2d(a) for a in arrs or ([],)]
    bad = [k for k, a in enumerate(arrs) if a.ndim > 2]
    if bad:
        raise ValueError(f"arguments in the following positions have dimension greater than 2: {bad}")
    out = np.zeros([sum(a.shape[0] for a in arrs), sum(a.shape[1] for a in arrs)], dtype=np.result_type(*[a.dtype for a in arrs]))
    r = c = 0
    for a in arrs:
        out[r:r + a.shape[0], c:c + a.shape[1]] = a
        r, c = r + a.shape[0], c + a.shape[1]
    return out


def toeplitz(c, r=None):
    """The matrix of constant diagonals with the first column c, of shape (n,), and the first row r, whose first element is not looked at."""
    c = np.asarray(c).ravel()
    r = c.conjugate() if r is None else np.asarray(r).ravel()
    values = np.concatenate((c[::-1], r[1:]))
    return values[np.arange(len(c))[::-1, None] + np.arange(len(r))[None, :]].copy()


def circulant(c):
    """The matrix whose columns are c, of shape (n,), each a place further down than the one before it."""
    c = np.atleast_1d(c)
    i = np.arange(c.shape[-1])
    return c[..., (i[:, None] - i[None, :]) % c.shape[-1]]


def expm(A):
    """The exponential of square matrices (..., n, n): Pade approximants of degree 13, scaled and squared (Higham, SIAM J. Matrix Anal. Appl. 26, 2005)."""
    a = np.asarray(A)
    if a.ndim < 2:
        raise np.linalg.LinAlgError("The input array must be at least two-dimensional")
    if a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if not np.issubdtype(a.dtype, np.inexact):
        a = a.astype(np.float64)
    if a.ndim > 2:
        flat = a.reshape(-1, *a.shape[-2:])
        return np.stack([expm(x) for x in flat]).reshape(a.shape) if len(flat) else a
    b = [64764752532480000., 32382376266240000., 7771770303897600., 1187353796428800., 129060195264000., 10559470521600., 670442572800., 33522128640., 1323241920.,
         40840800., 960960., 16380., 182., 1.]
    norm = np.abs(a).sum(axis=0).max() if a.size else 0.0
    s = max(0, int(np.ceil(np.log2(norm / 5.371920351148152)))) if norm > 0 else 0
    a = a / 2.0 ** s
    one, a2 = np.eye(a.shape[0], dtype=a.dtype), a @ a
    a4 = a2 @ a2
    a6 = a4 @ a2
    u = a @ (a6 @ (b[13] * a6 + b[11] * a4 + b[9] * a2) + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * one)
    v = a6 @ (b[12] * a6 + b[10] * a4 + b[8] * a2) + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * one
    x = np.linalg.solve(v - u, v + u)
    for _ in range(s):
        x = x @ x
    return x


def qr(a, mode="full"):
    """Q and R of a = QR, whole, or with mode "economic" no more of them than a has."""
    if mode not in ("full", "economic"):
        raise NotImplementedError(f"scipy.linalg.qr with mode {mode!r} is not supported")
    return tuple(np.linalg.qr(a, {"full": "complete", "economic": "reduced"}[mode]))


def lu(a, permute_l=False):
    """P, L and U of a = PLU with rows exchanged for the greatest pivots; with permute_l, PL and U."""
    u = np.array(a, dtype=np.result_type(np.asarray(a).dtype, np.float32))
    m, n = u.shape
    rows, k = np.arange(m), min(m, n)
    for i in range(k):
        best = i + int(np.abs(u[i:, i]).argmax())
        u[[i, best]], rows[[i, best]] = u[[best, i]], rows[[best, i]]
        if u[i, i] != 0:
            u[i + 1:, i] = u[i + 1:, i] / u[i, i]
            u[i + 1:, i + 1:] = u[i + 1:, i + 1:] - u[i + 1:, i:i + 1] * u[i:i + 1, i + 1:]
    p, l, u = np.eye(m, dtype=u.dtype)[rows.argsort()], np.tril(u[:, :k], -1) + np.eye(m, k, dtype=u.dtype), np.triu(u[:k])
    return (p @ l, u) if permute_l else (p, l, u)
