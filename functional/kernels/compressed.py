"""Sparse matrices in compressed format: by rows (CSR) or by columns (CSC).

``starts`` says where the elements of each row begin, and ``inner`` in which column each element is;
by columns it is the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy import ndarray

from .coo import SPARSE, CooArray, SparseArray, coalesce, from_dense, transposed
from .meta import ARRAYS


class CompressedArray(SparseArray):
    """A sparse matrix whose places are compressed along rows, or along columns."""

    __slots__ = ("by_rows", "inner", "starts")

    def __init__(
        self,
        starts: ndarray,
        inner: ndarray,
        values: ndarray,
        shape: tuple[int, ...],
        by_rows: bool = True,
    ) -> None:
        self.starts, self.inner, self.values, self.shape = starts, inner, values, shape
        self.by_rows = by_rows

    nnz = property(lambda self: len(self.inner))
    title = property(lambda self: "SparseCsr" if self.by_rows else "SparseCsc")

    @property
    def strides(self) -> Any:
        raise RuntimeError("Sparse CSR tensors do not have strides")

    def copy(self, order: str = "C") -> CompressedArray:
        """A copy with memory of its own."""
        parts = self.starts.copy(), self.inner.copy(), self.values.copy()
        return CompressedArray(*parts, self.shape, self.by_rows)

    def with_values(self, values: ndarray) -> CompressedArray:
        """Other values in the same places."""
        return CompressedArray(self.starts, self.inner, values, self.shape, self.by_rows)

    def turned(self) -> CompressedArray:
        """The transpose, compressed along the other dimension."""
        return CompressedArray(
            self.starts, self.inner, self.values, self.shape[::-1], not self.by_rows
        )


SPARSE.add(CompressedArray)
ARRAYS.add(CompressedArray)


def check(x: CompressedArray) -> None:
    """PyTorch's errors for places that are none of a matrix of this shape."""
    for holds, text in _rules(x):
        if not holds:
            raise RuntimeError(f"`{text}` is not satisfied.")


def _rules(x: CompressedArray) -> Iterator[tuple[Any, str]]:
    """What must be true, one after the other, and how PyTorch writes it."""
    names = ("crow_indices", "col_indices", "nrows", "ncols")
    if not x.by_rows:
        names = ("ccol_indices", "row_indices", "ncols", "nrows")
    outer, inner, lines, width = names
    count, columns = x.shape if x.by_rows else x.shape[::-1]
    starts, at = x.starts, x.inner
    yield len(starts) == count + 1, f"{outer}.shape[-1] == {lines} + 1"
    yield len(at) == len(x.values), f"{inner}.shape[-1] == nnz"
    yield starts[0] == 0, f"{outer}[..., 0] == 0"
    yield starts[-1] == len(at), f"{outer}[..., -1] == nnz"
    steps = np.diff(starts)
    fits = np.all((steps >= 0) & (steps <= columns))
    yield fits, f"0 <= {outer}[..., 1:] - {outer}[..., :-1] <= {width}"
    inside = not at.size or (at.min() >= 0 and at.max() < columns)
    yield inside, f"0 <= {inner} < {width}"
    line = np.repeat(np.arange(count), steps)
    in_order = np.all((np.diff(line) > 0) | (np.diff(at) > 0))
    part = f"{inner}[..., {outer}[..., i - 1]:{outer}[..., i]] for all i = 1, ..., {lines}"
    yield in_order, f"{part} are sorted and distinct along the last dimension values"


def to_coo(x: CompressedArray) -> CooArray:
    """The same in coordinate format."""
    check(x)
    lines = len(x.starts) - 1
    outer = np.repeat(np.arange(lines), np.diff(x.starts))
    pair = (outer, x.inner) if x.by_rows else (x.inner, outer)
    return CooArray(np.stack(pair).astype(np.int64), x.values, x.shape, x.by_rows)


def compressed(x: Any, by_rows: bool) -> CompressedArray:
    """A dense or sparse matrix in this format."""
    if isinstance(x, CompressedArray):
        if x.by_rows is by_rows:
            return x
        x = to_coo(x)
    if isinstance(x, ndarray):
        x = from_dense(x, 2)
    if not by_rows:
        return compressed(transposed(x, 0, 1), True).turned()
    x = coalesce(x)
    counts = np.bincount(x.indices[0], minlength=x.shape[0])
    starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return CompressedArray(starts, x.indices[1], x.values, x.shape)


def empty(shape: tuple[int, ...], dtype: Any, by_rows: bool) -> CompressedArray:
    """All zeros."""
    lines = shape[0] if by_rows else shape[1]
    none = np.zeros(0, np.int64)
    return CompressedArray(np.zeros(lines + 1, np.int64), none, np.zeros(0, dtype), shape, by_rows)
