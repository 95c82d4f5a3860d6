"""Indexing with arrays: reading, writing, and their derivatives."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy import ndarray

from . import layout
from .scalars import scalar
from .shapes import clone
from .threads import spread

Shape = tuple[int, ...]
Keys = tuple[Any, ...]  # an integer or boolean array, or None for a whole dimension


def _key(indices: Keys) -> Any:
    return tuple(slice(None) if i is None else i for i in indices)


def index_at(x: ndarray, *rest: Any) -> ndarray:
    """``x`` at index arrays; the last argument says which dimension has which."""
    keys = _by_pattern(rest[:-1], rest[-1])
    z = np.asarray(x[_key(keys)], order="C")
    if x.flags.c_contiguous:
        return z
    return layout.with_strides(z, index_strides(x, z.shape, rest[:-1], rest[-1]))


def index_back(g: ndarray, *rest: Any) -> ndarray:
    """Zeros of a shape with ``g`` added at index arrays."""
    return index_backward(g, rest[-2], _by_pattern(rest[:-2], rest[-1]))


def put_in(x: ndarray, values: ndarray, *rest: Any) -> ndarray:
    """A copy of ``x`` with ``values`` written (or added) at index arrays."""
    return put_at(x, values, _by_pattern(rest[:-2], rest[-2]), rest[-1])


def _by_pattern(arrays: Any, pattern: Any) -> Keys:
    return tuple(None if p is None else arrays[p] for p in pattern)


def _layout_of(ndim: int, arrays: Any, pattern: Any) -> tuple[int, Shape, list[int]]:
    """Where the indices' dimensions begin in the result, their shape, and the whole dimensions."""
    whole, axis, at = [], 0, []
    for place, p in enumerate(pattern):
        if p is None:
            whole.append(axis)
        else:
            at.append(place)
        axis += arrays[p].ndim if p is not None and arrays[p].dtype == bool else 1
    whole += range(axis, ndim)
    shapes = [a.shape if a.dtype != bool else (int(a.sum()),) for a in arrays]
    lead = at[0] if at[-1] - at[0] + 1 == len(at) else 0
    return lead, np.broadcast_shapes(*shapes), whole


def index_shape(shape: Shape, arrays: Any, pattern: Any) -> Shape:
    """The shape of what ``index_at`` returns."""
    lead, own, whole = _layout_of(len(shape), arrays, pattern)
    sizes = [shape[axis] for axis in whole]
    return (*sizes[:lead], *own, *sizes[lead:])


def index_strides(x: Any, shape: Shape, arrays: Any, pattern: Any) -> tuple[int, ...]:
    """Strides of what ``index_at`` returns: whole dimensions keep the order they have in ``x``."""
    lead, own, whole = _layout_of(x.ndim, arrays, pattern)
    axes = [x.strides[axis] for axis in whole]
    first = (*axes[:lead], *(0,) * len(own), *axes[lead:])
    rest = [
        (
            *(0,) * lead,
            *layout.broadcast_strides(part.shape, part.strides, own),
            *(0,) * (len(axes) - lead),
        )
        for a in arrays
        for part in (a.nonzero() if a.dtype == bool else (getattr(a, "phantom", a),))
    ]
    order = layout.axis_order(shape, [first, *rest])
    return layout.dense_strides(shape, order, x.dtype.itemsize)


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


def flat_along(shape: tuple[int, ...], index: ndarray, dim: int) -> ndarray:
    """Where the places that ``index`` names along ``dim`` lie in a C-contiguous array."""
    step = math.prod(shape[dim + 1 :])
    if index.ndim == 1:
        return index
    return (_others(shape, index.shape, dim) + (index if step == 1 else index * step)).reshape(-1)


@lru_cache(maxsize=64)
def _others(shape: tuple[int, ...], own: tuple[int, ...], dim: int) -> ndarray:
    """What the dimensions other than ``dim`` add to the places of an index of shape ``own``."""
    flat = np.zeros((1,) * len(own), np.int64)
    for axis, n in enumerate(own):
        if axis != dim:
            step = math.prod(shape[axis + 1 :])
            flat = flat + np.arange(n).reshape((-1, *(1,) * (len(own) - axis - 1))) * step
    flat.flags.writeable = False
    return flat


def _along(index: ndarray, dim: int) -> Any:
    key = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    key[dim] = index
    return tuple(key)


_MANY = 1 << 17  # from here on threads pay


def _taken(flat: ndarray, at: ndarray) -> ndarray:
    """Elements of a vector, taken by several threads; the indices are in range."""
    z = np.empty(at.shape, flat.dtype)
    spread(at.size, 8, lambda i, j: flat.take(at[i:j], out=z[i:j], mode="clip"))
    return z


def gather_along(x: ndarray, index: ndarray, dim: int) -> ndarray:
    if not index.size:
        return np.zeros(index.shape, x.dtype)
    if x.ndim == 0 or index.ndim == 0:
        return x.reshape(-1)[index.reshape(-1)].reshape(index.shape)
    if not x.flags.c_contiguous:
        return x[_along(index, dim)]
    flat, at = x.reshape(-1), flat_along(x.shape, index, dim)
    if at.size < _MANY:
        return flat.take(at, mode="clip").reshape(index.shape)
    return _taken(flat, at).reshape(index.shape)


def gather_backward(g: ndarray, index: ndarray, shape: Shape, dim: int) -> ndarray:
    """Zeros of ``shape`` with ``g`` added where ``gather_along`` read."""
    z = np.zeros(shape, g.dtype)
    if not index.size:
        return z
    at = index.reshape(-1) if index.ndim < 2 else flat_along(shape, index, dim)
    np.add.at(z.reshape(-1), at, g.reshape(-1))
    return z


def scatter_along(x: ndarray, source: Any, index: ndarray, dim: int) -> ndarray:
    """A copy of ``x`` with ``source`` written along ``dim`` at ``index``."""
    z = np.array(x, order="C")
    if z.ndim == 0 or index.ndim == 0:
        if index.size:
            z.reshape(-1)[index.reshape(-1)] = np.asarray(source).astype(z.dtype).reshape(-1)
    elif not isinstance(source, ndarray):
        z[_along(index, dim)] = scalar(z.dtype, source)
    else:
        part = source if source.shape == index.shape else source[tuple(map(slice, index.shape))]
        z.reshape(-1)[flat_along(x.shape, index, dim)] = part.reshape(-1)
    return z


scatter_number = scatter_along


def index_select_dim(x: ndarray, index: ndarray, dim: int) -> ndarray:
    if x.ndim == index.ndim == 1 and index.size < _MANY:
        return x.take(index)
    if x.ndim == 1 and index.size >= _MANY and x.flags.c_contiguous:
        return _taken(x, index.reshape(-1))
    return x.take(index.reshape(-1), dim) if x.ndim else x.copy()


def index_select_backward(g: ndarray, index: ndarray, shape: Shape, dim: int) -> ndarray:
    z = np.zeros(shape, g.dtype)
    if not shape:
        return g.sum(dtype=g.dtype).reshape(()) if index.size else z
    key: Any = (*(slice(None),) * dim, index.reshape(-1))
    np.add.at(z, key, g)
    return z


def masked_fill(x: ndarray, mask: ndarray, value: Any) -> ndarray:
    fill = np.asarray(value)
    if (
        fill.ndim
        or mask.dtype != bool
        or (fill.dtype.kind == "c" and x.dtype.kind != "c" and fill.imag)
    ):
        raise ValueError("masked_fill: a 0-d value that fits, and a boolean mask")
    fill = fill.astype(x.dtype)
    shape = np.broadcast_shapes(x.shape, mask.shape)
    if x.dtype.kind in "fiub" and x.flags.c_contiguous and x.shape == shape:
        return np.where(mask, fill, x)
    z = np.array(np.broadcast_to(x, shape), order="C")
    np.copyto(z, fill, where=np.broadcast_to(mask, shape))
    return z


def nonzero(x: ndarray) -> ndarray:
    """(number of non-zeros, ndim) int64; each column is contiguous."""
    if x.ndim == 0:
        return np.zeros((int(bool(x)), 0), np.int64)
    found = x.nonzero()
    if x.ndim == 1:
        rows = found[0].astype(np.int64, copy=False).reshape(1, -1)
    else:
        rows = np.stack(found).astype(np.int64, copy=False)
    return rows.T if rows.size else layout.empty((0, x.ndim), (8, 0), rows.dtype)


def tril(x: ndarray, diagonal: int) -> ndarray:
    return np.asarray(np.tril(x, diagonal), order="C")


def triu(x: ndarray, diagonal: int) -> ndarray:
    return np.asarray(np.triu(x, diagonal), order="C")
