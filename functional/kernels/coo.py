"""Sparse arrays in coordinate format: where the elements are, and their values.

``indices`` is (sparse dimensions, elements), ``values`` is (elements, *dense dimensions). Elements
of one place add up; in a coalesced array places are in order and occur once.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy import ndarray

from .meta import ARRAYS

_FLAGS = SimpleNamespace(c_contiguous=False, f_contiguous=False, writeable=True)
_LOOP = 1 << 14  # elements that are merged one by one; of more, only the sum is PyTorch's
NO_STORAGE = "Cannot access data pointer of Tensor that doesn't have storage"


class SparseArray:
    """Elements and where they are. What only strided memory has, it refuses."""

    __slots__ = ("shape", "values")
    __array_ufunc__ = None
    title = "Sparse"
    shape: tuple[int, ...]
    values: ndarray

    dtype = property(lambda self: self.values.dtype)
    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: math.prod(self.shape))
    itemsize = property(lambda self: self.values.dtype.itemsize)
    flags = property(lambda self: _FLAGS)

    def __array__(self, *args: Any, **named: Any) -> Any:
        raise TypeError(
            f"can't convert {self.title} layout tensor to numpy. Use Tensor.to_dense() first."
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "phantom":
            raise AttributeError(name)
        if name in ("data", "ctypes", "tolist"):
            raise RuntimeError(NO_STORAGE)
        raise NotImplementedError(f"'{name}' is not available for tensors of layout {self.title}")


class CooArray(SparseArray):
    """A sparse array in coordinate format."""

    __slots__ = ("coalesced", "indices")

    def __init__(
        self, indices: ndarray, values: ndarray, shape: tuple[int, ...], coalesced: bool = False
    ) -> None:
        self.indices, self.values, self.shape = indices, values, shape
        self.coalesced = coalesced or indices.shape[1] < 2

    nnz = property(lambda self: self.indices.shape[1])
    sparse_dim = property(lambda self: self.indices.shape[0])
    dense_dim = property(lambda self: self.values.ndim - 1)
    strides = property(lambda self: (0,) * len(self.shape))

    def copy(self, order: str = "C") -> CooArray:
        """A copy with memory of its own."""
        return CooArray(self.indices.copy(), self.values.copy(), self.shape, self.coalesced)

    def item(self) -> Any:
        """The only element as a Python number."""
        return to_dense(self).item()

    def with_values(self, values: ndarray) -> CooArray:
        """Other values in the same places."""
        return CooArray(self.indices, values, self.shape, self.coalesced)


SPARSE: set[type] = {CooArray}  # the types of sparse arrays
ARRAYS.add(CooArray)


def check_inside(indices: ndarray, shape: tuple[int, ...]) -> None:
    """PyTorch's errors for places that are not in the tensor.

    It checks them only where it is asked to; here they would be other places, silently.
    """
    for at, (row, n) in enumerate(zip(indices, shape, strict=False)):
        if not row.size:
            continue
        low, high = row.min(), row.max()
        if low < 0:
            raise RuntimeError(f"found negative index {low} for dim {at}")
        if high >= n:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {at}, size is {n} but found index "
                f"{high}"
            )


def places(indices: ndarray, shape: tuple[int, ...]) -> ndarray:
    """One number for each place, in the order of C."""
    check_inside(indices, shape)
    flat = np.zeros(indices.shape[1], np.int64)
    for row, n in zip(indices, shape, strict=False):
        flat = flat * n + row
    return flat


def coalesce(x: CooArray) -> CooArray:
    """The same with places in order, each once."""
    if x.coalesced:
        return x
    flat = places(x.indices, x.shape)
    order = np.argsort(flat, kind="stable")
    flat = flat[order]
    starts = np.flatnonzero(np.concatenate(([True], flat[1:] != flat[:-1])))
    values = add_runs(x.values[order], starts)
    return CooArray(x.indices[:, order[starts]], values, x.shape, True)


def add_runs(values: ndarray, starts: ndarray) -> ndarray:
    """The sums of runs of rows; half types add in float32, booleans by or."""
    if starts.size == len(values):
        return values
    if values.dtype.kind == "b":
        return np.logical_or.reduceat(values, starts, axis=0)
    half = values.dtype.kind == "V" or values.dtype == np.float16
    kind = np.dtype(np.float32) if half else values.dtype
    total = np.add.reduceat(values.astype(kind, copy=False), starts, axis=0, dtype=kind)
    return total.astype(values.dtype, copy=False)


def to_dense(x: CooArray) -> ndarray:
    """The array with its zeros."""
    x = coalesce(x)
    check_inside(x.indices, x.shape)
    out = np.zeros(x.shape, x.dtype)
    out[tuple(x.indices)] = x.values if x.sparse_dim else x.values.sum(0)
    return out


def from_dense(x: ndarray, sparse_dim: int) -> CooArray:
    """The places of ``x`` in its first dimensions where anything is not zero."""
    if not x.ndim:
        places_, values = np.zeros((0, int(x != 0)), np.int64), x.reshape(1)[: int(x != 0)]
        return CooArray(places_, values.copy(), (), True)
    held = x != 0
    if sparse_dim < x.ndim:
        held = held.any(tuple(range(sparse_dim, x.ndim)))
    indices = np.array(held.nonzero(), np.int64).reshape(sparse_dim, -1)
    return CooArray(indices, x[tuple(indices)], x.shape, True)


def empty(shape: tuple[int, ...], dtype: Any, sparse_dim: int | None = None) -> CooArray:
    """All zeros."""
    k = len(shape) if sparse_dim is None else sparse_dim
    return CooArray(np.zeros((k, 0), np.int64), np.zeros((0, *shape[k:]), dtype), shape, True)


def values_at(x: Any, indices: ndarray) -> ndarray:
    """The elements of a sparse or dense array in these places; zero where there are none."""
    if isinstance(x, ndarray):
        check_inside(indices, x.shape)
        return x[tuple(indices)]
    x = coalesce(x)
    out = np.zeros((indices.shape[1], *x.values.shape[1:]), x.dtype)
    if x.nnz:
        own, wanted = places(x.indices, x.shape), places(indices, x.shape)
        at = np.minimum(np.searchsorted(own, wanted), len(own) - 1)
        found = own[at] == wanted
        out[found] = x.values[at[found]]
    return out


def joined(x: CooArray, y: CooArray) -> CooArray:
    """The elements of both."""
    indices = np.concatenate([x.indices, y.indices], 1)
    values = np.ascontiguousarray(np.concatenate([x.values, y.values]))
    return CooArray(indices, values, x.shape)


def added(x: CooArray, y: CooArray) -> CooArray:
    """The sum: coalesced if both are; of elements side by side where the places differ.

    Where values are not contiguous (the gradient of a sum is one number, repeated), all elements
    stay side by side, as long as there are no more of them than a dense array has.
    """
    both = x.coalesced and y.coalesced
    if not (x.values.flags.c_contiguous and y.values.flags.c_contiguous):
        found = joined(x, y)
        if found.nnz > math.prod(x.shape):
            found = coalesce(found)
        return CooArray(found.indices, found.values, x.shape)
    if x.nnz == y.nnz and np.array_equal(x.indices, y.indices):
        return CooArray(x.indices.copy(), x.values + y.values, x.shape, both)
    if both or x.nnz + y.nnz > _LOOP:
        found = joined(x, y)
        return coalesce(found) if both else found
    return _merged(x, y)


def _merged(x: CooArray, y: CooArray) -> CooArray:
    """The elements in the order in which PyTorch merges them, as if they had one."""
    first, second = (places(z.indices, z.shape).tolist() for z in (x, y))
    order, same, i, j = [], [], 0, 0  # of the second array: from len(first) on
    while i < len(first) and j < len(second):
        a, b = first[i], second[j]
        order.append(i if a <= b else len(first) + j)
        if a == b:
            same.append((len(order) - 1, j))
        i, j = i + (a <= b), j + (b <= a)
    order += [*range(i, len(first)), *range(len(first) + j, len(first) + len(second))]
    found = joined(x, y)
    values = found.values[order]
    for at, j in same:
        values[at] += y.values[j]
    return CooArray(found.indices[:, order], values, x.shape)


def transposed(x: CooArray, first: int, second: int) -> CooArray:
    """Two sparse dimensions in each other's place."""
    order = list(range(x.sparse_dim))
    order[first], order[second] = second, first
    shape = list(x.shape)
    shape[first], shape[second] = shape[second], shape[first]
    return CooArray(x.indices[order], x.values, tuple(shape))


def permuted(x: CooArray, dims: tuple[int, ...]) -> CooArray:
    """The dimensions in another order, sparse and dense ones among themselves."""
    k, shape = x.sparse_dim, tuple(x.shape[d] for d in dims)
    values = x.values.transpose(0, *(d - k + 1 for d in dims[k:]))
    in_order = list(dims[:k]) == list(range(k))
    return CooArray(x.indices[list(dims[:k])], values, shape, x.coalesced and in_order)


def unsqueezed(x: CooArray, dim: int) -> CooArray:
    """One more dimension of size 1."""
    shape = (*x.shape[:dim], 1, *x.shape[dim:])
    if dim > x.sparse_dim:
        return CooArray(x.indices, np.expand_dims(x.values, dim - x.sparse_dim + 1), shape)
    return CooArray(np.insert(x.indices, dim, 0, axis=0), x.values, shape)


def selected(x: CooArray, dim: int, index: int) -> Any:
    """One place of a dimension; a dense array where no sparse dimension is left."""
    shape = x.shape[:dim] + x.shape[dim + 1 :]
    if dim >= x.sparse_dim:
        return CooArray(x.indices, x.values.take(index, dim - x.sparse_dim + 1), shape)
    held = x.indices[dim] == index
    if x.sparse_dim == 1:
        return x.values[held].sum(0, dtype=x.dtype)
    indices = np.delete(x.indices[:, held], dim, axis=0)
    return CooArray(indices, x.values[held], shape)


def index_selected(x: CooArray, dim: int, index: ndarray) -> CooArray:
    """Places of a dimension, in the order asked for."""
    shape = (*x.shape[:dim], len(index), *x.shape[dim + 1 :])
    if dim >= x.sparse_dim:
        values = x.values.take(index, dim - x.sparse_dim + 1)
        return CooArray(x.indices, values, shape, x.coalesced)
    to, source = (index[:, None] == x.indices[dim]).nonzero()
    indices = x.indices[:, source]
    indices[dim] = to
    return CooArray(indices, x.values[source], shape)


def concatenated(parts: list[CooArray], dim: int) -> CooArray:
    """Arrays one after the other along a dimension."""
    shape = list(parts[0].shape)
    shape[dim] = sum(p.shape[dim] for p in parts)
    k = parts[0].sparse_dim
    if dim >= k:
        return _beside(parts, dim - k + 1, tuple(shape))
    indices, at = [], 0
    for p in parts:
        moved = p.indices.copy()
        moved[dim] += at
        indices.append(moved)
        at += p.shape[dim]
    values = np.concatenate([p.values for p in parts])
    return CooArray(np.concatenate(indices, 1), values, tuple(shape))


def _beside(parts: list[CooArray], axis: int, shape: tuple[int, ...]) -> CooArray:
    """The same along a dense dimension: each value has zeros where the others are."""
    widths = [p.values.shape[axis] for p in parts]
    values = []
    for i, p in enumerate(parts):
        pad = [(0, 0)] * p.values.ndim
        pad[axis] = (sum(widths[:i]), sum(widths[i + 1 :]))
        values.append(np.pad(p.values, pad))
    indices = np.concatenate([p.indices for p in parts], 1)
    return CooArray(indices, np.concatenate(values), shape)


def summed(x: CooArray, dims: tuple[int, ...]) -> Any:
    """The sum over dimensions, without them; dense where no sparse dimension is left."""
    k = x.sparse_dim
    inner = tuple(d - k + 1 for d in dims if d >= k)
    values = x.values.sum(inner, dtype=x.dtype) if inner else x.values
    kept = [d for d in range(k) if d not in dims]
    if not kept:
        return values.sum(0, dtype=x.dtype)
    shape = tuple(n for i, n in enumerate(x.shape) if i not in dims)
    return coalesce(CooArray(x.indices[kept], values, shape, x.coalesced and len(kept) == k))


def expanded(x: CooArray, shape: tuple[int, ...]) -> CooArray:
    """The array repeated along sparse dimensions of size 1, and along new ones in front."""
    lead = len(shape) - x.ndim
    own, k = (1,) * lead + x.shape, lead + x.sparse_dim
    if own[k:] != shape[k:]:
        raise NotImplementedError("a sparse tensor that broadcasts along a dense dimension")
    new = [d for d in range(k) if own[d] != shape[d]]
    grid = np.indices([shape[d] for d in new]).reshape(len(new), -1)
    copies = grid.shape[1]
    indices = np.concatenate([np.zeros((lead, x.nnz), np.int64), x.indices])
    indices = np.tile(indices, (1, copies))
    indices[new] = np.repeat(grid, x.nnz, axis=1)
    values = np.concatenate([x.values] * copies) if copies else x.values[:0]
    found = CooArray(indices, values, shape)
    return coalesce(found) if x.coalesced else found
