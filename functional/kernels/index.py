"""Indexing with arrays: reading, writing, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

Shape = tuple[int, ...]
Keys = tuple[Any, ...]  # an integer or boolean array, or None for a whole dimension


def _key(indices: Keys) -> Any:
    return tuple(slice(None) if i is None else i for i in indices)


def index(x: ndarray, indices: Keys) -> ndarray:
    return np.ascontiguousarray(x[_key(indices)])


def put_at(x: ndarray, values: ndarray, indices: Keys, accumulate: bool) -> ndarray:
    """A copy of ``x`` with ``values`` written (or added) at ``indices``."""
    z = x.copy("K")
    if accumulate:
        np.add.at(z, _key(indices), values)
    else:
        z[_key(indices)] = values
    return z


def index_backward(g: ndarray, shape: Shape, indices: Keys) -> ndarray:
    """Zeros of ``shape`` with ``g`` added at ``indices``."""
    z = np.zeros(shape, g.dtype)
    key = _key(indices)
    if all(i is None or i.dtype == bool for i in indices):
        z[key] = g  # a mask names no element twice
    else:
        np.add.at(z, key, g)
    return z


def _along(index: ndarray, dim: int) -> Any:
    key = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    key[dim] = index
    return tuple(key)


def gather_along(x: ndarray, index: ndarray, dim: int) -> ndarray:
    if x.ndim == 0 or index.ndim == 0:
        return x.reshape(-1)[index.reshape(-1)].reshape(index.shape)
    return x[_along(index, dim)]


def gather_backward(g: ndarray, index: ndarray, shape: Shape, dim: int) -> ndarray:
    """Zeros of ``shape`` with ``g`` added where ``gather_along`` read."""
    z = np.zeros(shape, g.dtype)
    if not shape or index.ndim == 0:
        np.add.at(z.reshape(-1), index.reshape(-1), g.reshape(-1))
    else:
        np.add.at(z, _along(index, dim), g)
    return z


def scatter_along(x: ndarray, source: Any, index: ndarray, dim: int) -> ndarray:
    """A copy of ``x`` with ``source`` written along ``dim`` at ``index``."""
    z = x.copy("K")
    if not isinstance(source, ndarray) or source.ndim == 0:
        z[_along(index, dim)] = source
    else:
        z[_along(index, dim)] = source[tuple(slice(n) for n in index.shape)]
    return z


def index_select_dim(x: ndarray, index: ndarray, dim: int) -> ndarray:
    return np.take(x, index.reshape(-1), dim) if x.ndim else x.copy()


def index_select_backward(g: ndarray, index: ndarray, shape: Shape, dim: int) -> ndarray:
    z = np.zeros(shape, g.dtype)
    np.add.at(z, (slice(None),) * dim + (index.reshape(-1),), g)
    return z


def masked_fill(x: ndarray, mask: ndarray, value: Any) -> ndarray:
    shape = np.broadcast_shapes(x.shape, mask.shape)
    z = np.array(np.broadcast_to(x, shape))
    np.copyto(z, np.asarray(value).astype(x.dtype), where=np.broadcast_to(mask, shape))
    return z


def nonzero(x: ndarray) -> ndarray:
    """(number of non-zeros, ndim) int64, in C order."""
    if x.ndim == 0:
        return np.zeros((int(bool(x)), 0), np.int64)
    return np.ascontiguousarray(np.argwhere(x)).astype(np.int64)


def tril(x: ndarray, diagonal: int) -> ndarray:
    return np.tril(x, diagonal)


def triu(x: ndarray, diagonal: int) -> ndarray:
    return np.triu(x, diagonal)
