"""Products of vectors and blocks of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

from .half import is_half, widen
from .linalg import addmm
from .scalars import scalar

__all__ = ["addbmm_of", "addr_of", "block_diag_of", "trilinear", "vdot_of"]


def vdot_of(x: ndarray, y: ndarray) -> ndarray:
    """Σ x* · y; ValueError for anything but two equal vectors."""
    if x.ndim != 1 or x.shape != y.shape or x.dtype != y.dtype:
        raise ValueError("vdot: not two equal vectors")
    if is_half(x.dtype):
        return np.asarray(np.vdot(widen(x), widen(y))).astype(x.dtype)
    return np.asarray(np.vdot(x, y)).astype(x.dtype, copy=False)


def _sum(bias: ndarray, product: ndarray, beta: Any, alpha: Any) -> ndarray:
    z = product if alpha == 1 else product * scalar(product.dtype, alpha)
    if beta == 0:
        return z
    return np.asarray(z + (bias if beta == 1 else bias * scalar(z.dtype, beta)))


def addr_of(bias: ndarray, v: ndarray, w: ndarray, beta: Any, alpha: Any) -> ndarray:
    """beta · bias + alpha · v ⊗ w."""
    if is_half(v.dtype):  # PyTorch rounds after every step
        product = (v if alpha == 1 else v * scalar(v.dtype, alpha))[:, None] * w
        return product if beta == 0 else _sum(bias, product, beta, 1)
    if v.dtype == bool:
        z = np.outer(v, w) if alpha else np.zeros((v.size, w.size), bool)
        return z | bias if beta else z
    return _sum(bias, np.outer(v, w), beta, alpha)


def addbmm_of(bias: ndarray, x: ndarray, y: ndarray, beta: Any, alpha: Any) -> ndarray:
    """beta · bias + alpha · Σ x[i] @ y[i], as one product of matrices."""
    if is_half(x.dtype):  # PyTorch rounds after every matrix
        z = bias
        for a, b in zip(x, y, strict=True):
            z, beta = addmm(z, a, b, beta, alpha), 1
        return z if len(x) else _sum(bias, np.zeros((x.shape[1], y.shape[2]), x.dtype), beta, 1)
    count, m, k = x.shape
    left = x.transpose(1, 0, 2).reshape(m, count * k)
    product = left @ y.reshape(count * k, y.shape[2])
    if alpha == 0 and x.dtype.kind in "fc":  # the BLAS then ignores NaN
        product[...] = 0
    return _sum(bias, product, beta, alpha)


def block_diag_of(arrays: list[ndarray]) -> ndarray:
    """The matrices along the diagonal of one."""
    blocks = [np.atleast_2d(x) for x in arrays]
    shape = [sum(b.shape[i] for b in blocks) for i in (0, 1)]
    z = np.zeros(shape, arrays[0].dtype)
    top = left = 0
    for b in blocks:
        z[top : top + b.shape[0], left : left + b.shape[1]] = b
        top, left = top + b.shape[0], left + b.shape[1]
    return z


def trilinear(x: ndarray, w: ndarray, y: ndarray) -> ndarray:
    """z[b, o] = Σ x[b, i] w[o, i, j] y[b, j]."""
    o, m, n = w.shape
    if is_half(x.dtype):  # PyTorch rounds after the first sum, which is over i
        rows = widen(np.matmul(widen(x), widen(w)).astype(x.dtype))
        return np.ascontiguousarray((rows * widen(y)).sum(-1).T).astype(x.dtype)
    rows = (y @ w.reshape(o * m, n).T).reshape(y.shape[0], o, m)
    return np.matmul(rows, x[:, :, None])[..., 0]


def cosine(x: ndarray, y: ndarray, dim: int, eps: float) -> ndarray:
    """Σ x y / (|x| |y|) along ``dim``; each norm counts as ``eps`` at least."""
    scaled = []
    for a in (x, y):
        size = np.asarray(np.add.reduce(a * a, axis=dim, keepdims=True))
        np.sqrt(size, size)
        scaled.append(a / np.maximum(size, eps, out=size))
    return np.asarray(np.add.reduce(np.multiply(*scaled), dim))


def contraction(x: ndarray, y: ndarray, order: Any, counts: Any) -> ndarray:
    """Σ x y over dims: ``order`` permutes each to (batch, own, summed) dims, as many as ``counts``.

    ``counts`` are the numbers of batch dims, of x's and y's own, and of the summed.
    """
    batch, rows, columns, _ = counts
    x, y = x.transpose(order[0]), y.transpose(order[1])
    lead, left, right = (
        x.shape[:batch],
        x.shape[batch : batch + rows],
        y.shape[batch : batch + columns],
    )
    if not rows and not columns:
        flat = [np.ascontiguousarray(a).reshape((*lead, -1)) for a in (x, y)]
        return np.asarray(np.vecdot(*flat))
    one = x.reshape((*lead, math.prod(left), -1))
    two = y.reshape((*lead, math.prod(right), -1))
    return np.matmul(one, two.swapaxes(-2, -1)).reshape(lead + left + right)
