"""Matrix products with sparse factors, and softmax over the elements that are there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from .coo import CooArray, add_runs, check_inside, coalesce, places

_CHUNK = 1 << 22  # numbers of a product that are there at once


def _scipy() -> Any:
    try:
        from scipy import sparse
    except ImportError:
        return None
    return sparse


def times_dense(x: CooArray, y: ndarray) -> ndarray:
    """A sparse matrix times a dense one."""
    check_inside(x.indices, x.shape)
    half = y.dtype.kind == "V" or y.dtype == np.float16
    work = np.dtype(np.float32) if half else y.dtype
    values, dense = x.values.astype(work, copy=False), y.astype(work, copy=False)
    library = None if work.kind == "b" else _scipy()
    if library is None:
        z = _by_rows(coalesce(x.with_values(values)), dense)
    else:
        z = library.coo_matrix((values, tuple(x.indices)), shape=x.shape).tocsr() @ dense
    return np.ascontiguousarray(z).astype(y.dtype, copy=False)


def _by_rows(x: CooArray, y: ndarray) -> ndarray:
    """The same with NumPy alone: the elements of a row, one after the other."""
    out = np.zeros((x.shape[0], y.shape[1]), y.dtype)
    step = max(1, _CHUNK // max(1, y.shape[1]))
    for at in range(0, x.nnz, step):
        (rows, columns), values = x.indices[:, at : at + step], x.values[at : at + step]
        starts = np.flatnonzero(np.concatenate(([True], rows[1:] != rows[:-1])))
        out[rows[starts]] += add_runs(values[:, None] * y[columns], starts)
    return out


def times_sparse(x: CooArray, y: CooArray) -> CooArray:
    """The product of two sparse matrices."""
    x, y = coalesce(x), coalesce(y)
    rows, columns = x.indices
    first = np.searchsorted(y.indices[0], columns, "left")
    counts = np.searchsorted(y.indices[0], columns, "right") - first
    own = np.repeat(np.arange(x.nnz), counts)
    skipped = np.repeat(np.cumsum(counts) - counts, counts)
    others = np.arange(len(own)) - skipped + np.repeat(first, counts)
    indices = np.stack([rows[own], y.indices[1, others]])
    shape = (x.shape[0], y.shape[1])
    return coalesce(CooArray(indices, x.values[own] * y.values[others], shape))


def pools(indices: ndarray, shape: tuple[int, ...], dim: int) -> tuple[ndarray, int]:
    """Which elements lie on a line along ``dim``: the number of each one's line, and how many."""
    kept = [i for i in range(len(indices)) if i != dim]
    flat = places(indices[kept], tuple(shape[i] for i in kept))
    lines, inverse = np.unique(flat, return_inverse=True)
    return inverse.reshape(-1), len(lines)


def softmax(x: CooArray, dim: int, log: bool) -> CooArray:
    """The softmax, or its logarithm, of the elements that are there."""
    x = coalesce(x)
    if dim >= x.sparse_dim:
        axis = dim - x.sparse_dim + 1
        top = x.values.max(axis, keepdims=True)
        grown = np.exp(x.values - top)
        total = grown.sum(axis, keepdims=True)
    else:
        at, count = pools(x.indices, x.shape, dim)
        line = (count, *x.values.shape[1:])
        highest = np.full(line, -np.inf, x.dtype)
        np.maximum.at(highest, at, x.values)
        top = highest[at]
        grown = np.exp(x.values - top)
        sums = np.zeros(line, x.dtype)
        np.add.at(sums, at, grown)
        total = sums[at]
    return x.with_values(x.values - top - np.log(total) if log else grown / total)
