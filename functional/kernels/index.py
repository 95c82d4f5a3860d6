"""Indexing with arrays: reading, writing, and their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from . import layout
from .shapes import clone

Shape = tuple[int, ...]
Keys = tuple[Any, ...]  # an integer or boolean array, or None for a whole dimension


def _key(indices: Keys) -> Any:
    return tuple(slice(None) if i is None else i for i in indices)


def index(x: ndarray, indices: Keys) -> ndarray:
    z = np.asarray(x[_key(indices)], order="C")
    if x.flags.c_contiguous:
        return z
    return layout.with_strides(z, _result_order(x, z, indices))


def _result_order(x: ndarray, z: ndarray, indices: Keys) -> tuple[int, ...]:
    """Strides of what ``index`` returns: the whole dimensions keep the order they have in ``x``."""
    keys = [*indices, *(None,) * (x.ndim - sum(1 if k is None or k.dtype != bool else k.ndim for k in indices))]
    at = [i for i, k in enumerate(keys) if k is not None]
    arrays = [p for i in at for p in (keys[i].nonzero() if keys[i].dtype == bool else (keys[i],))]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    axes, axis = [], 0  # the strides of x at its whole dimensions, and where the first index stood
    lead = at[0] if at[-1] - at[0] + 1 == len(at) else 0
    for k in keys:
        if k is None:
            axes.append(x.strides[axis])
        axis += k.ndim if k is not None and k.dtype == bool else 1
    own = (*axes[:lead], *(0,) * len(shape), *axes[lead:])
    rest = [(*(0,) * lead, *layout.broadcast_strides(a, shape), *(0,) * (len(axes) - lead)) for a in arrays]
    order = layout.axis_order(z.shape, [own, *rest])
    return layout.dense_strides(z.shape, order, z.itemsize)


def put_at(x: ndarray, values: ndarray, indices: Keys, accumulate: bool) -> ndarray:
    """A copy of ``x`` with ``values`` written (or added) at ``indices``."""
    z = clone(x)
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
    z = np.array(x, order="C")
    if z.ndim == 0 or index.ndim == 0:
        if index.size:
            z.reshape(-1)[index.reshape(-1)] = np.reshape(source, -1)
    elif not isinstance(source, ndarray):
        z[_along(index, dim)] = source
    else:
        z[_along(index, dim)] = source[tuple(slice(n) for n in index.shape)]
    return z


scatter_number = scatter_along


def index_select_dim(x: ndarray, index: ndarray, dim: int) -> ndarray:
    return np.take(x, index.reshape(-1), dim) if x.ndim else x.copy()


def index_select_backward(g: ndarray, index: ndarray, shape: Shape, dim: int) -> ndarray:
    z = np.zeros(shape, g.dtype)
    np.add.at(z, (slice(None),) * dim + (index.reshape(-1),), g)
    return z


def masked_fill(x: ndarray, mask: ndarray, value: Any) -> ndarray:
    if np.ndim(value) or mask.dtype != bool:
        raise ValueError("masked_fill: a 0-d value and a boolean mask")
    shape = np.broadcast_shapes(x.shape, mask.shape)
    z = np.array(np.broadcast_to(x, shape), order="C")
    np.copyto(z, np.asarray(value).astype(x.dtype), where=np.broadcast_to(mask, shape))
    return z


def nonzero(x: ndarray) -> ndarray:
    """(number of non-zeros, ndim) int64; each column is contiguous."""
    if x.ndim == 0:
        return np.zeros((int(bool(x)), 0), np.int64)
    rows = np.stack(np.nonzero(x)).astype(np.int64)
    return rows.T if rows.size else layout.empty((0, x.ndim), (8, 0), rows.dtype)


def tril(x: ndarray, diagonal: int) -> ndarray:
    return np.asarray(np.tril(x, diagonal), order="C")


def triu(x: ndarray, diagonal: int) -> ndarray:
    return np.asarray(np.triu(x, diagonal), order="C")
