"""Factorizations of low rank by random projections (Halko, Martinsson and Tropp, 2011)."""

from __future__ import annotations

from typing import Any

from ..tape.op import TENSOR, public
from ..tensor import Tensor
from .linalg_parts import mH


def _basis(A: Tensor, q: int, niter: int) -> Tensor:
    """Orthonormal columns that nearly span the range of A."""
    R = TENSOR.randn(A.shape[-1], q, dtype=A.dtype, device=A.device)
    Q = TENSOR.linalg_qr(TENSOR.matmul(A, R))[0]
    for _ in range(niter):
        Q = TENSOR.linalg_qr(TENSOR.matmul(mH(TENSOR, A), Q))[0]
        Q = TENSOR.linalg_qr(TENSOR.matmul(A, Q))[0]
    return Q


@public
def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> Any:
    """(U, S, V) of rank q with A - M nearly U diag(S) Vᴴ."""
    if M is not None:
        A = A - TENSOR.broadcast_to(M, tuple(A.shape))
    wide = A.shape[-2] < A.shape[-1]
    A = mH(TENSOR, A) if wide else A
    Q = _basis(A, 6 if q is None else q, 2 if niter is None else niter)
    U, S, Vh = TENSOR.linalg_svd(TENSOR.matmul(mH(TENSOR, Q), A), full_matrices=False)
    U, V = TENSOR.matmul(Q, U), mH(TENSOR, Vh)
    return (V, S, U) if wide else (U, S, V)


@public
def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> Any:
    """(U, S, V) of rank q: the principal components of the rows of A are the columns of V."""
    m, n = A.shape[-2:]
    q = min(6, m, n) if q is None else q
    if not 0 <= q <= min(m, n):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if not A.dtype.is_floating_point:
        raise ValueError(f"input must be of floating point type, got {A.dtype}")
    if center:
        A = A - TENSOR.mean(A, (-2,), True)
    return svd_lowrank(A, q, niter=niter)
