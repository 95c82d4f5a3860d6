"""Least squares, symmetric indefinite systems and cross products."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy import ndarray

from .lapack import columns, mH, svd_of
from .scipy_part import scipy_part

__all__ = ["cross_of", "ldl_factor_of", "ldl_solve_of", "lstsq_of"]


def lstsq_of(
    a: ndarray, b: ndarray, rcond: Any, driver: str
) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """(x that minimizes ‖a x - b‖, residuals, rank, singular values); the unasked are empty."""
    if driver == "gelsy" and a.size and b.size and a.shape[:-2] == b.shape[:-2]:
        found = _by_scipy(a, b, float(rcond))
        if found is not None:
            return found
    m, n = a.shape[-2:]
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    u, s, vh = svd_of(a, False, True)
    if driver == "gels":  # takes the matrix to have full rank
        rcond = 0
    elif driver == "gelsd" and not 0 < rcond < 1:
        rcond = np.finfo(s.dtype).eps / 2
    floor = rcond * np.maximum.reduce(s, -1, initial=0)[..., None]
    kept = s > floor
    inverse = np.where(kept, 1 / np.where(kept, s, 1), 0).astype(s.dtype)
    x = np.matmul(mH(vh), inverse[..., None] * np.matmul(mH(u), b))
    room = np.zeros((*batch, b.shape[-1], max(m, n)), x.dtype).swapaxes(-2, -1)
    room[..., :n, :] = x
    rank = kept.sum(-1).astype(np.int64)
    residuals = np.empty(0, s.dtype)
    if m > n and driver != "gelsy" and (rank == n).all():
        residuals = (np.abs(np.matmul(a, x) - b) ** 2).sum(-2)
    empty = np.empty(0, s.dtype)
    values = s if driver in ("gelsd", "gelss") else empty
    rank = np.empty(0, np.int64) if driver == "gels" else rank
    return room[..., :n, :], residuals, rank, values


@lru_cache(maxsize=8)
def _gelsy(kind: np.dtype) -> Any:
    """LAPACK's least squares by QR with exchanged columns, and its need of room."""
    try:
        from scipy.linalg import get_lapack_funcs
    except ImportError:
        return None
    return get_lapack_funcs(("gelsy", "gelsy_lwork"), dtype=kind)


def _by_scipy(
    a: ndarray, b: ndarray, rcond: float
) -> tuple[ndarray, ndarray, ndarray, ndarray] | None:
    """``lstsq_of`` with PyTorch's own routine, where SciPy is there."""
    routines = _gelsy(a.dtype)
    if routines is None:
        return None
    solve, need = routines
    m, n = a.shape[-2:]
    work = int(need(m, n, b.shape[-1], rcond)[0].real)
    room = np.zeros((*b.shape[:-2], b.shape[-1], max(m, n)), b.dtype).swapaxes(-2, -1)
    room[..., :m, :] = b
    rank = np.empty(a.shape[:-2], np.int64)
    for at in np.ndindex(*a.shape[:-2]):
        order = np.zeros((n, 1), np.int32)
        _, room[at], _, rank[at], info = solve(a[at], room[at], order, rcond, work)
        if info:
            return None
    empty = np.empty(0, a.real.dtype)
    return room[..., :n, :], empty, rank, empty


def ldl_factor_of(x: ndarray, hermitian: bool) -> tuple[ndarray, ndarray, ndarray]:
    """(LAPACK's L and D in one matrix, row exchanges and sizes of blocks, info)."""
    name = "hetrf" if hermitian and x.dtype.kind == "c" else "sytrf"
    (factor,) = scipy_part("linalg", "linalg.ldl_factor").get_lapack_funcs((name,), (x,))
    z = columns(x).copy("K")
    pivots = np.empty(x.shape[:-1], np.int32)
    info = np.zeros(x.shape[:-2], np.int32)
    for at in np.ndindex(*x.shape[:-2]):
        if x.shape[-1]:
            ld, pivot, info[at] = factor(x[at], lower=1)
            z[at], pivots[at] = np.tril(ld), pivot
    return z, pivots, info


def ldl_solve_of(ld: ndarray, pivots: ndarray, b: ndarray, hermitian: bool) -> ndarray:
    """x with A @ x = b, A given by ``ldl_factor_of``."""
    batch = np.broadcast_shapes(ld.shape[:-2], b.shape[:-2])
    n = ld.shape[-1]
    ld, pivots = np.broadcast_to(ld, (*batch, n, n)), np.broadcast_to(pivots, (*batch, n))
    x = np.broadcast_to(b, (*batch, *b.shape[-2:])).copy()
    for at in np.ndindex(*batch):
        _ldl_solve(ld[at], pivots[at], x[at], hermitian and ld.dtype.kind == "c")
    return columns(x)


def _ldl_solve(ld: ndarray, pivots: ndarray, x: ndarray, hermitian: bool) -> None:
    """Forward through L and its exchanges, then D's blocks, then back, in ``x``."""
    adjoint = np.conj if hermitian else np.asarray
    n, k, blocks = ld.shape[0], 0, []
    while k < n:
        width = 1 if pivots[k] > 0 else 2
        blocks.append((k, width))
        last = k + width - 1
        other = abs(int(pivots[k])) - 1
        x[[last, other]] = x[[other, last]]
        x[k + width :] -= ld[k + width :, k : k + width] @ x[k : k + width]
        k += width
    for k, width in blocks:
        d = ld[k : k + width, k : k + width].copy()
        if width == 2:
            d[0, 1] = adjoint(d[1, 0])
        x[k : k + width] = np.linalg.solve(d, x[k : k + width])
    for k, width in reversed(blocks):
        x[k : k + width] -= adjoint(ld[k + width :, k : k + width]).T @ x[k + width :]
        last, other = k + width - 1, abs(int(pivots[k])) - 1
        x[[last, other]] = x[[other, last]]


def cross_of(x: ndarray, y: ndarray, dim: int) -> ndarray:
    """The products of 3-vectors along ``dim``, which counts from the end."""
    x, y = np.broadcast_arrays(x, y)
    a, b = np.moveaxis(x, dim, 0), np.moveaxis(y, dim, 0)
    z = np.empty(x.shape, x.dtype)
    c = np.moveaxis(z, dim, 0)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        c[i] = a[j] * b[k] - a[k] * b[j]
    return z
