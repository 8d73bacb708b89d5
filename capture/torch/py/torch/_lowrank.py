"""Singular values of matrices of low rank, by random projections (Halko, Martinsson and Tropp, Finding structure with randomness, 2009)."""
import torch

__all__ = ["get_approximate_basis", "svd_lowrank", "pca_lowrank"]


def get_approximate_basis(A, q, niter=2, M=None):
    """Orthonormal columns that span nearly what A, or A - M, does: their algorithm 4.4."""
    if M is not None:
        A = A - M
    Q = torch.linalg.qr(A @ torch.randn(A.shape[-1], q, dtype=A.dtype, device=A.device)).Q
    for _ in range(2 if niter is None else niter):
        Q = torch.linalg.qr(A.mH @ Q).Q
        Q = torch.linalg.qr(A @ Q).Q
    return Q


def svd_lowrank(A, q=6, niter=2, M=None):
    q = 6 if q is None else q
    if M is not None:
        A = A - M.expand_as(A)
    wide = A.shape[-2] < A.shape[-1]
    if wide:
        A = A.mH
    Q = get_approximate_basis(A, q, niter)
    U, S, Vh = torch.linalg.svd(Q.mH @ A, full_matrices=False)
    U, V = Q @ U, Vh.mH
    return (V, S, U) if wide else (U, S, V)


def pca_lowrank(A, q=None, center=True, niter=2):
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(dim=-2, keepdim=True) if center else A, q, niter=niter)
