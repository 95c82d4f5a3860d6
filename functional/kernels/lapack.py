"""Factorizations, inverses and solutions of batches of matrices.

The last two dimensions are the matrix. Results lie in memory column by column where LAPACK's do.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import linalg, ndarray
from numpy.linalg import LinAlgError

from ..errors import LinAlgError as Refused
from .half import is_half, widen

__all__ = [
    "cholesky_inverse_of",
    "cholesky_of",
    "cofactors",
    "det_of",
    "eig_of",
    "eigh_of",
    "geqrf_of",
    "householder",
    "inv_of",
    "matmul",
    "pinv_of",
    "qr_of",
    "reflected",
    "slogdet_of",
    "solve_of",
    "solve_vector",
    "svd_of",
]

_FAILED = "The algorithm failed to converge because the input matrix "
NOT_FINITE = f"linalg.svd: {_FAILED}contained non-finite values."
NO_SVD = f"linalg.svd: {_FAILED}is ill-conditioned or has too many repeated singular values."
NO_EIGH = (
    f"linalg.eigh: {_FAILED}is ill-conditioned or has too many repeated eigenvalues "
    "(error code: 2)."
)
NO_EIG = f"linalg.eig: {_FAILED}is ill-conditioned or has too many repeated eigenvalues."


def matmul(x: ndarray, y: ndarray) -> ndarray:
    """The product of batches of matrices; half types are summed in float32."""
    if is_half(x.dtype):
        return np.asarray(np.matmul(widen(x), widen(y))).astype(x.dtype)
    return np.asarray(np.matmul(x, y))


def mT(x: ndarray) -> ndarray:
    return x.swapaxes(-2, -1)


def mH(x: ndarray) -> ndarray:
    return x.swapaxes(-2, -1).conj()


def columns(x: ndarray) -> ndarray:
    """The matrices, each laid out column by column."""
    return mT(np.ascontiguousarray(mT(x)))


def no_errors(x: ndarray) -> ndarray:
    return np.zeros(x.shape[:-2], np.int32)


def each(call: Any, x: ndarray, *more: ndarray) -> list[Any]:
    """``call`` on one matrix after the other."""
    count = int(np.prod(x.shape[:-2]))
    flat = [a.reshape((count, *a.shape[x.ndim - 2 :])) for a in (x, *more)]
    return [call(*parts) for parts in zip(*flat, strict=True)]


def info_of(x: ndarray) -> ndarray:
    """LAPACK's info: the position (from 1) of the first zero on U's diagonal; 0 for none."""
    from .lu import lu_factor_of

    return lu_factor_of(x)[2]


def inv_of(x: ndarray) -> tuple[ndarray, ndarray]:
    """(inverse, info); a singular matrix has info > 0, and NaN for its inverse."""
    try:
        return mT(linalg.inv(mT(x))), no_errors(x)
    except LinAlgError:
        info = info_of(x)
        z = columns(np.full(x.shape, np.nan, x.dtype))
        z[info == 0] = mT(linalg.inv(mT(x[info == 0])))
        return z, info


def solve_of(a: ndarray, b: ndarray, left: bool) -> tuple[ndarray, ndarray]:
    """(x with a @ x = b (or x @ a = b), info); NaN and info > 0 where a is singular."""
    if not left:
        x, info = solve_of(mT(a), mT(b), True)
        return np.ascontiguousarray(mT(x)), info
    try:
        return columns(linalg.solve(a, b)), no_errors(a)
    except LinAlgError:
        info = info_of(a)
        safe = np.where(info[..., None, None] > 0, np.eye(a.shape[-1], dtype=a.dtype), a)
        x = linalg.solve(safe, b)
        x[np.broadcast_to(info > 0, x.shape[:-2])] = np.nan
        return columns(x), info


def solve_vector(a: ndarray, b: ndarray, left: bool) -> tuple[ndarray, ndarray]:
    """``solve_of`` for one vector per matrix."""
    x, info = solve_of(a, b[..., None], left)
    return columns(x[..., 0]) if b.ndim > 1 else np.ascontiguousarray(x[..., 0]), info


def det_of(x: ndarray) -> ndarray:
    return np.asarray(linalg.det(x))


def slogdet_of(x: ndarray) -> tuple[ndarray, ndarray]:
    """(sign, log |det|)."""
    sign, log = linalg.slogdet(x)
    return np.asarray(sign), np.asarray(log)


def cofactors(x: ndarray) -> ndarray:
    """The conjugates of det's derivatives, det* · x⁻ᴴ, for singular matrices too.

    By the singular values: adj(U S Vᴴ)ᴴ = (det U det Vᴴ)* U diag(∏_{j≠i} s_j) Vᴴ; by the inverse
    where all are far from singular.
    """
    found = _regular_cofactors(x)
    if found is not None:
        return found
    u, s, vh = linalg.svd(x)
    n = x.shape[-1]
    others = np.where(np.eye(n, dtype=bool), 1, s[..., None, :]).prod(-1)
    phase = (linalg.det(u) * linalg.det(vh)).conj()
    return np.asarray(np.matmul(u * (others * phase[..., None])[..., None, :], vh))


def _regular_cofactors(x: ndarray) -> ndarray | None:
    if not x.size:
        return None
    try:
        inverse, det = linalg.inv(x), np.asarray(linalg.det(x))
    except LinAlgError:
        return None
    condition = np.abs(x).sum(-1).max(-1) * np.abs(inverse).sum(-1).max(-1)
    limit = 0.1 / math.sqrt(np.finfo(x.dtype).eps)
    if not (np.isfinite(det) & (condition < limit)).all():
        return None
    return np.asarray(det.conj()[..., None, None] * mH(inverse))


# --- factorizations -------------------------------------------------------------------------------


def cholesky_of(x: ndarray, upper: bool) -> tuple[ndarray, ndarray]:
    """(L with L Lᴴ = x, or U with Uᴴ U = x; info: the order of the first minor that is not > 0)."""
    if upper:
        z, info = cholesky_of(mH(x), False)
        return columns(mH(z)), info
    try:
        z = linalg.cholesky(x)
        if np.isfinite(np.diagonal(z, 0, -2, -1)).all():
            return columns(z), no_errors(x)
    except LinAlgError:
        pass
    parts = each(_cholesky_by_columns, x)
    z = np.stack([part for part, _ in parts]).reshape(x.shape)
    return columns(z), np.array([info for _, info in parts], np.int32).reshape(x.shape[:-2])


def _cholesky_by_columns(x: ndarray) -> tuple[ndarray, int]:
    z = np.tril(x)
    for k in range(x.shape[0]):
        pivot = z[k, k].real - (np.abs(z[k, :k]) ** 2).sum()
        z[k, k] = pivot
        if not pivot > 0:
            return z, k + 1
        z[k, k] = np.sqrt(pivot)
        z[k + 1 :, k] = (z[k + 1 :, k] - z[k + 1 :, :k] @ z[k, :k].conj()) / z[k, k]
    return z, 0


def cholesky_inverse_of(x: ndarray, upper: bool) -> ndarray:
    """The inverse of L Lᴴ (or Uᴴ U); NaN where a factor is singular."""
    factor = mH(np.triu(x)) if upper else np.tril(x)
    half = mT(inv_of(factor)[0])
    return columns(np.matmul(half.conj(), mT(half)))


def qr_of(x: ndarray, mode: str) -> tuple[ndarray, ndarray]:
    """(Q, R); Q is empty in mode ``r``."""
    if mode == "r":
        return np.empty(0, x.dtype), columns(np.asarray(linalg.qr(x, "r")))
    if not x.shape[-1] and mode == "complete":  # NumPy gives no full basis
        eye = np.broadcast_to(np.eye(x.shape[-2], dtype=x.dtype), (*x.shape[:-1], x.shape[-2]))
        return columns(eye), np.zeros(x.shape, x.dtype)
    q, r = linalg.qr(x, mode)  # type: ignore[call-overload]
    return columns(q), columns(r)


def geqrf_of(x: ndarray) -> tuple[ndarray, ndarray]:
    """(R and the reflectors below it, their factors)."""
    h, tau = linalg.qr(x, "raw")
    return mT(np.ascontiguousarray(h)), tau


def reflected(x: ndarray, tau: ndarray, other: ndarray, left: bool, adjoint: bool) -> ndarray:
    """Q other (or other Q), Q = H₁ … H_k with H_i = 1 - τ_i v_i v_iᴴ, v_i below x's diagonal.

    Qᴴ for Q if ``adjoint``.
    """
    if not left:
        return columns(mH(reflected(x, tau, mH(other), True, not adjoint)))
    z = np.broadcast_to(other, (*np.broadcast_shapes(x.shape[:-2], other.shape[:-2]),
                                *other.shape[-2:])).copy()  # fmt: skip
    order = range(tau.shape[-1])
    for i in order if adjoint else reversed(order):
        v = np.concatenate([np.ones_like(x[..., :1, i]), x[..., i + 1 :, i]], -1)[..., None]
        factor = tau[..., i, None, None]
        low = z[..., i:, :]
        low -= (factor.conj() if adjoint else factor) * v * np.matmul(mH(v), low)
    return columns(z)


def svd_of(x: ndarray, full: bool, vectors: bool) -> tuple[ndarray, ndarray, ndarray]:
    """(U, S, Vᴴ); without ``vectors`` U and Vᴴ are empty."""
    try:
        if vectors:
            u, s, vh = linalg.svd(x, full_matrices=full)
            return columns(u), s, columns(vh)
        s = linalg.svd(x, compute_uv=False)
        if np.isnan(s).any():
            raise LinAlgError
    except LinAlgError:
        raise Refused(NOT_FINITE if not np.isfinite(x).all() else NO_SVD) from None
    return np.empty(0, x.dtype), s, np.empty(0, x.dtype)


def eigh_of(x: ndarray, uplo: str, vectors: bool) -> tuple[ndarray, ndarray]:
    """(eigenvalues in ascending order, eigenvectors) of Hermitian matrices."""
    try:
        if vectors:
            w, v = linalg.eigh(x, uplo)  # type: ignore[call-overload]
            return w, columns(v)
        w = linalg.eigvalsh(x, uplo)  # type: ignore[call-overload]
    except LinAlgError:
        raise Refused(NO_EIGH) from None
    return w, np.empty(0, x.dtype)


def eig_of(x: ndarray, vectors: bool) -> tuple[ndarray, ndarray]:
    """(eigenvalues, eigenvectors of length 1), both complex."""
    kind = np.result_type(x.dtype, np.complex64)
    if not np.isfinite(x).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
    try:
        if not vectors:
            return linalg.eigvals(x).astype(kind, copy=False), np.empty(0, kind)
        w, v = linalg.eig(x)
    except LinAlgError:
        raise Refused(NO_EIG) from None
    return w.astype(kind, copy=False), columns(v.astype(kind, copy=False))


def pinv_of(x: ndarray, atol: Any, rtol: Any, hermitian: bool) -> ndarray:
    """The Moore-Penrose inverse; singular values up to max(atol, rtol · largest) count as 0."""
    if not x.size:
        return np.empty((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    if hermitian:
        s, u = eigh_of(x, "L", True)
        vh = mH(u)
    else:
        u, s, vh = svd_of(x, False, True)
    size = np.abs(s)
    floor = np.maximum(atol, np.asarray(rtol) * size.max(-1))[..., None]
    inverse = np.where(size > floor, 1 / np.where(s == 0, 1, s), 0).astype(s.dtype)
    return np.matmul(mH(vh) * inverse[..., None, :], mH(u))


def householder(x: ndarray, tau: ndarray) -> ndarray:
    """The columns of H₁ … H_k that x has."""
    m, n = x.shape[-2:]
    return reflected(x, tau, np.eye(m, n, dtype=x.dtype), True, False)
