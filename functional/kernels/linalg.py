"""Matrix products. Half types are multiplied in float32 and rounded once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import matmul, ndarray

from .half import is_half, widen
from .scalars import scalar

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
# Columns of a product of a column and a row up to which one ufunc call for each is faster.
_FEW = 8
SMALL = 400  # multiplications of a batched product up to which PyTorch has its own loops
__all__ = ["addmm", "addmv", "baddbmm", "bmm", "dot", "mm", "mv"]


def _product(x: ndarray, y: ndarray) -> ndarray:
    if x.dtype is F32 or x.dtype is F64:
        return matmul(x, y)
    if is_half(x.dtype):
        return np.matmul(widen(x), widen(y)).astype(x.dtype)
    return np.matmul(x, y)


def mm(x: ndarray, y: ndarray) -> ndarray:
    """A product of matrices; ValueError for anything else.

    That of a column and a row is no sum: its zeros keep their signs, as in PyTorch.
    """
    if x.ndim != 2 or y.ndim != 2:
        raise ValueError("mm: not two matrices")
    if x.shape[1] == 1 == y.shape[0] and x.dtype is y.dtype and x.dtype.kind == "f":
        return np.multiply(x, y)
    return _product(x, y)


def bmm(x: ndarray, y: ndarray) -> ndarray:
    """Products of two equal batches of matrices; ValueError for anything else."""
    if x.ndim != 3 or y.ndim != 3 or x.shape[0] != y.shape[0]:
        raise ValueError("bmm: not two equal batches")
    if x.shape[2] == 1 == y.shape[1] and y.shape[2] <= _FEW < x.shape[1] and x.dtype is y.dtype:
        return _columns(x, y)
    return _product(x, y)


def _columns(x: ndarray, y: ndarray) -> ndarray:
    """Products of columns x with short rows y, a column of the result after the other."""
    z = np.empty((x.shape[0], x.shape[1], y.shape[2]), x.dtype)
    for j in range(y.shape[2]):
        np.multiply(x[:, :, 0], y[:, :, j], out=z[:, :, j])
    return z


def mv(x: ndarray, v: ndarray) -> ndarray:
    """A matrix times a vector; ValueError for anything else."""
    if x.ndim != 2 or v.ndim != 1 or x.dtype != v.dtype:
        raise ValueError("mv: not a matrix and a vector")
    return _product(x, v)


def dot(x: ndarray, y: ndarray) -> ndarray:
    """The inner product of two vectors; ValueError for anything else."""
    if x.ndim != 1 or y.ndim != 1 or x.dtype != y.dtype:
        raise ValueError("dot: not two vectors")
    return np.asarray(_product(x, y))


def _unread(product: Any, x: ndarray, y: ndarray) -> bool:
    """Whether PyTorch, with alpha 0, leaves the factors to a BLAS, which then ignores NaN."""
    if product is mv:
        return x.dtype is F32 or x.dtype is F64
    return x.dtype.kind in "fc" and (product is mm or math.prod(x.shape[1:]) * y.shape[2] >= SMALL)


def _scaled_sum(
    product: Any,
    bias: ndarray,
    x: ndarray,
    y: ndarray,
    beta: Any,
    alpha: Any,
    widened: bool = False,
) -> ndarray:
    if is_half(x.dtype):  # rounded once, after the sum
        wide = _scaled_sum(product, widen(bias), widen(x), widen(y), beta, alpha, True)
        return wide.astype(x.dtype)
    z = product(x, y)
    if alpha == 0 and not widened and _unread(product, x, y):
        z[...] = 0
    elif alpha != 1:
        z *= scalar(z.dtype, alpha)
    if beta == 0:
        return z
    return np.add(z, bias if beta == 1 else bias * scalar(z.dtype, beta), out=z)


def addmm(bias: ndarray, x: ndarray, y: ndarray, beta: Any = 1, alpha: Any = 1) -> ndarray:
    """beta · bias + alpha · x @ y; with beta 0 the bias is ignored, NaN or not."""
    return _scaled_sum(mm, bias, x, y, beta, alpha)


def addmv(bias: ndarray, x: ndarray, v: ndarray, beta: Any = 1, alpha: Any = 1) -> ndarray:
    """beta · bias + alpha · x @ v."""
    return _scaled_sum(mv, bias, x, v, beta, alpha)


def baddbmm(bias: ndarray, x: ndarray, y: ndarray, beta: Any = 1, alpha: Any = 1) -> ndarray:
    """beta · bias + alpha · x @ y for batches of matrices."""
    return _scaled_sum(bmm, bias, x, y, beta, alpha)
