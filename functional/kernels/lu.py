"""LU factorizations, triangular systems, and the exponential of a matrix."""

from __future__ import annotations

import math

import numpy as np
from numpy import linalg, ndarray
from numpy.linalg import LinAlgError

from .lapack import columns, mH, mT

__all__ = [
    "cholesky_solve_of",
    "lu_factor_of",
    "lu_of",
    "lu_solve_of",
    "lu_unpack_of",
    "matrix_exp_of",
    "old_triangular",
    "triangular_of",
]


def eliminate(x: ndarray) -> tuple[ndarray, ndarray]:
    """(L and U in one matrix, rows exchanged at each step) of a batch, by partial pivoting."""
    z = np.array(x, order="C")
    m, n = z.shape[-2:]
    steps = min(m, n)
    flat = z.reshape((math.prod(z.shape[:-2]), m, n))
    pivots = np.empty((flat.shape[0], steps), np.int32)
    batch = np.arange(flat.shape[0])
    for k in range(steps):
        size = np.abs(flat[:, k:, k].real) + np.abs(flat[:, k:, k].imag)
        at = size.argmax(1) + k
        pivots[:, k] = at + 1
        flat[batch, k], flat[batch, at] = flat[batch, at], flat[batch, k].copy()
        pivot = flat[:, k, k]
        factor = flat[:, k + 1 :, k] / np.where(pivot == 0, 1, pivot)[:, None]
        flat[:, k + 1 :, k] = factor
        flat[:, k + 1 :, k + 1 :] -= factor[:, :, None] * flat[:, None, k, k + 1 :]
    return z, pivots.reshape((*z.shape[:-2], steps))


def lu_factor_of(x: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """(LU, pivots from 1, info)."""
    found = _by_scipy(x)
    z, pivots = eliminate(x) if found is None else found
    zero = np.diagonal(z, 0, -2, -1) == 0
    info = np.where(zero.any(-1), zero.argmax(-1) + 1, 0) if zero.shape[-1] else 0
    return columns(z), pivots, np.broadcast_to(info, x.shape[:-2]).astype(np.int32)


def _by_scipy(x: ndarray) -> tuple[ndarray, ndarray] | None:
    """LAPACK's factorization where SciPy is there and the matrices are worth the calls."""
    if x.shape[-1] < 8 or x.shape[-2] < 8 or 0 in x.shape:
        return None
    try:
        from scipy.linalg import get_lapack_funcs
    except ImportError:
        return None
    (getrf,) = get_lapack_funcs(("getrf",), (x,))
    z = np.empty((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    pivots = np.empty((*x.shape[:-2], min(x.shape[-2:])), np.int32)
    for at in np.ndindex(*x.shape[:-2]):
        lu, pivot, _ = getrf(x[at])
        z[at], pivots[at] = lu.T, pivot + 1
    return mT(z), pivots


def _order(pivots: ndarray, size: int) -> ndarray:
    """The order of rows that a series of exchanges gives."""
    order = np.broadcast_to(np.arange(size), (*pivots.shape[:-1], size)).copy()
    for k in range(pivots.shape[-1]):
        at = pivots[..., k, None].astype(np.int64) - 1
        here, there = order[..., k : k + 1].copy(), np.take_along_axis(order, at, -1)
        np.put_along_axis(order, at, here, -1)
        order[..., k : k + 1] = there
    return order


def lu_unpack_of(
    x: ndarray, pivots: ndarray, data: bool, exchanges: bool
) -> tuple[ndarray, ndarray, ndarray]:
    """(L, U, P) with P L U the factored matrix; what is not asked for is empty."""
    m, n = x.shape[-2:]
    k = min(m, n)
    p = lower = upper = np.empty(0, x.dtype)
    if exchanges:
        p = mT(np.eye(m, dtype=x.dtype)[_order(pivots, m)])
        p = np.ascontiguousarray(p)
    if data:
        lower = np.tril(x[..., :, :k], -1) + np.eye(m, k, dtype=x.dtype)
        upper = np.ascontiguousarray(np.triu(x[..., :k, :]))
    return np.ascontiguousarray(lower), upper, p


def lu_of(x: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """(L, U, P) with x = P L U."""
    z, pivots, _ = lu_factor_of(x)
    return lu_unpack_of(z, pivots, True, True)


def triangular_of(a: ndarray, b: ndarray, upper: bool, left: bool, unit: bool) -> ndarray:
    """x with a @ x = b (or x @ a = b); only a triangle of a counts, its diagonal 1 if ``unit``."""
    found = _trtrs(a, b, upper, left, unit)
    if found is not None:
        return found
    a = np.triu(a, int(unit)) if upper else np.tril(a, -int(unit))
    if unit:
        a = a + np.eye(a.shape[-1], dtype=a.dtype)
    if not left:
        a, b = mT(a), mT(b)
    try:
        x = linalg.solve(a, b)
    except LinAlgError:
        x = _substituted(a, b, upper == left)
    return columns(x if left else mT(x))


def _trtrs(a: ndarray, b: ndarray, upper: bool, left: bool, unit: bool) -> ndarray | None:
    """LAPACK's substitution where SciPy is there and the matrices are worth the calls."""
    if a.shape[-1] < 16 or 0 in b.shape or 0 in a.shape:
        return None
    try:
        from scipy.linalg import get_lapack_funcs
    except ImportError:
        return None
    if not left:
        a, b = mT(a), mT(b)
    (trtrs,) = get_lapack_funcs(("trtrs",), (a, b))
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = np.broadcast_to(a, (*batch, *a.shape[-2:]))
    b = np.broadcast_to(b, (*batch, *b.shape[-2:]))
    z = np.empty((*batch, b.shape[-1], b.shape[-2]), b.dtype)
    by_column = a.flags.f_contiguous or abs(a.strides[-2]) < abs(a.strides[-1])
    for at in np.ndindex(*batch):
        one = a[at] if by_column else a[at].T
        x, info = trtrs(one, b[at], (upper == left) != by_column, not by_column, unit)
        if info:
            return None
        z[at] = x.T
    return mT(z) if left else columns(z)


def _substituted(a: ndarray, b: ndarray, upper: bool) -> ndarray:
    """Substitution row by row, which divides by the zeros of a singular matrix."""
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.broadcast_to(b, (*batch, *b.shape[-2:])).copy()
    order = range(a.shape[-1])
    with np.errstate(all="ignore"):
        for k in reversed(order) if upper else order:
            x[..., k, :] /= a[..., k, k, None]
            rest = slice(0, k) if upper else slice(k + 1, None)
            x[..., rest, :] -= a[..., rest, k, None] * x[..., k, None, :]
    return x


def old_triangular(
    b: ndarray, a: ndarray, upper: bool, transpose: bool, unit: bool
) -> tuple[ndarray, ndarray]:
    """(x with a @ x = b, or aᵀ @ x = b; a copy of a)."""
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    factor = mT(a) if transpose else a
    x = triangular_of(factor, b, upper != transpose, True, unit)
    return x, columns(np.broadcast_to(a, (*batch, *a.shape[-2:])))


def cholesky_solve_of(b: ndarray, factor: ndarray, upper: bool) -> ndarray:
    """x with L Lᴴ x = b (Uᴴ U x = b)."""
    lower = mH(factor) if upper else factor
    y = triangular_of(lower, b, False, True, False)
    return triangular_of(mH(lower), y, True, True, False)


def lu_solve_of(lu: ndarray, pivots: ndarray, b: ndarray, left: bool, adjoint: bool) -> ndarray:
    """x with A @ x = b (x @ A = b; Aᴴ for A if ``adjoint``), A given by its factorization."""
    if not left:
        x = lu_solve_of(lu, pivots, mH(b), True, not adjoint)
        return np.ascontiguousarray(mH(x))
    order = _order(pivots, lu.shape[-1])
    batch = np.broadcast_shapes(lu.shape[:-2], b.shape[:-2])
    order = np.broadcast_to(order, (*batch, order.shape[-1]))[..., None]
    b = np.broadcast_to(b, (*batch, *b.shape[-2:]))
    if not adjoint:
        y = triangular_of(lu, np.take_along_axis(b, order, -2), False, True, True)
        return triangular_of(lu, y, True, True, False)
    y = triangular_of(mH(lu), b, False, True, False)
    y = triangular_of(mH(lu), y, True, True, True)
    return columns(np.take_along_axis(y, np.argsort(order, -2), -2))


_PADE = (64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800,
         129060195264000, 10559470521600, 670442572800, 33522128640, 1323241920, 40840800,
         960960, 16380, 182, 1)  # fmt: skip
_RADIUS = 5.371920351148152  # up to this norm the approximation is exact in float64


def matrix_exp_of(x: ndarray) -> ndarray:
    """eˣ by scaling, a Padé approximant of degree 13, and squaring (Higham, 2005)."""
    if not x.size:
        return x.copy()
    dtype = x.dtype
    if dtype.itemsize == 2:
        x = x.astype(np.float32)
    wide = x.astype(np.result_type(x.dtype, np.float64))
    norm = np.abs(wide).sum(-2).max(-1)
    with np.errstate(all="ignore"):
        steps = np.ceil(np.log2(np.maximum(norm / _RADIUS, 1)))
    steps = np.where(np.isfinite(steps), steps, 0).astype(int)
    a = wide / np.exp2(steps)[..., None, None]
    r = _pade(a)
    for k in range(int(np.maximum.reduce(steps, None, initial=0))):
        r = np.where((steps > k)[..., None, None], np.matmul(r, r), r)
    return np.ascontiguousarray(r.astype(dtype))


def _pade(a: ndarray) -> ndarray:
    b = [float(c) for c in _PADE]
    one = np.eye(a.shape[-1], dtype=a.dtype)
    a2 = np.matmul(a, a)
    a4 = np.matmul(a2, a2)
    a6 = np.matmul(a4, a2)
    high = np.matmul(a6, b[13] * a6 + b[11] * a4 + b[9] * a2)
    u = np.matmul(a, high + b[7] * a6 + b[5] * a4 + b[3] * a2 + b[1] * one)
    even = np.matmul(a6, b[12] * a6 + b[10] * a4 + b[8] * a2)
    v = even + b[6] * a6 + b[4] * a4 + b[2] * a2 + b[0] * one
    return linalg.solve(v - u, v + u)
