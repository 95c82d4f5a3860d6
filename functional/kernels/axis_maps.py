"""Linear maps along one axis of an array, given as a few weighted elements for every result.

Interpolation and edge padding are such maps, one per spatial dim.
"""

from __future__ import annotations

from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from .threads import spread

# Elements along an axis per tap up to which a matrix product beats adding up weighted copies.
DENSE = 40
# Multiply-adds that take a few times as long as waking a thread.
SHARE = 20_000_000


class AxisMap:
    """Result i is the sum over t of weights[t, i] · x[taps[t, i]]; ``weights`` None means ones."""

    def __init__(self, taps: np.ndarray, weights: np.ndarray | None, size: int) -> None:
        self.taps, self.weights, self.size = taps, weights, size

    @cached_property
    def _matrices(self) -> dict[Any, np.ndarray]:
        return {}

    def matrix(self, dtype: np.dtype) -> np.ndarray:
        """The map as a matrix (results, size)."""
        found = self._matrices.get(dtype)
        if found is None:
            count = self.taps.shape[1]
            found = np.zeros((count, self.size), dtype)
            weights = np.ones(self.taps.shape) if self.weights is None else self.weights
            for taps, row in zip(self.taps, weights, strict=True):
                found[np.arange(count), taps] += row.astype(dtype)
            self._matrices[dtype] = found
        return found


def ragged(first: np.ndarray, count: np.ndarray, weights: Any, size: int) -> AxisMap:
    """The map of ranges of ``count`` elements; rows of ``weights`` beyond a count do not matter.

    Shorter ranges repeat their last element, with its weight shared out: a zero times an infinity
    that belongs to the range would spoil it.
    """
    offsets = np.arange(len(weights))[:, None]
    last = np.take_along_axis(weights, count[None] - 1, 0) / (len(weights) - count + 1)
    weights = np.where(offsets >= count - 1, last, weights)
    return AxisMap(first + np.minimum(offsets, count - 1), weights, size)


def _finite(x: np.ndarray) -> bool:
    """Whether zeros in a matrix may meet x: they would turn infinities into NaNs."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(np.add.reduce(x, axis=None)))


def _multiply(x: np.ndarray, axis: int, matrix: np.ndarray) -> np.ndarray:
    """The product of a matrix (m, n) with the lines of x along ``axis``, of length n."""
    lead, n, tail = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    shape, columns = (*lead, len(matrix), *tail), prod(tail)
    if columns == 1:
        return np.matmul(x.reshape(-1, n), matrix.T).reshape(shape)
    blocks = np.ascontiguousarray(x).reshape(-1, n, columns)
    result = np.empty((len(blocks), len(matrix), columns), x.dtype)

    def work(first: int, last: int) -> None:
        np.matmul(matrix, blocks[first:last], out=result[first:last])

    spread(len(blocks), len(blocks) * matrix.size * columns // SHARE, work)
    return result.reshape(shape)


def _repeats(taps: np.ndarray, size: int) -> int:
    """How often every element follows itself, if all do equally often; else 0."""
    times, rest = divmod(taps.size, size)
    if rest or times < 2 or not np.array_equal(taps, np.arange(taps.size) // times):
        return 0
    return times


def _pick(x: np.ndarray, axis: int, taps: np.ndarray) -> np.ndarray:
    times = _repeats(taps, x.shape[axis])
    if not times:
        return x.take(taps, axis=axis)
    result = np.empty((*x.shape[:axis], taps.size, *x.shape[axis + 1 :]), x.dtype)
    for start in range(times):
        result[(slice(None),) * axis + (slice(start, None, times),)] = x
    return result


def _upright(row: np.ndarray, ndim: int, axis: int) -> np.ndarray:
    return row.reshape((-1,) + (1,) * (ndim - axis - 1))


def apply_map(x: np.ndarray, axis: int, m: AxisMap) -> np.ndarray:
    """The results for all lines of x along ``axis``."""
    if m.weights is None:
        return _pick(x, axis, m.taps[0])
    if m.size <= DENSE * len(m.taps) and _finite(x):
        return _multiply(x, axis, m.matrix(x.dtype))
    total: Any = None
    for taps, row in zip(m.taps, m.weights, strict=True):
        part = x.take(taps, axis=axis)
        np.multiply(part, _upright(row.astype(x.dtype), x.ndim, axis), out=part)
        total = part if total is None else np.add(total, part, out=total)
    return total


def apply_adjoint(g: np.ndarray, axis: int, m: AxisMap) -> np.ndarray:
    """The transposed map: adds every element of g, weighted, to the elements it came from."""
    if m.taps.shape[1] <= 512 and _finite(g):
        return _multiply(g, axis, m.matrix(g.dtype).T)
    lines = np.moveaxis(g, axis, 0)
    result = np.zeros((m.size, *lines.shape[1:]), g.dtype)
    for t, taps in enumerate(m.taps):
        part = lines
        if m.weights is not None:
            part = lines * _upright(m.weights[t].astype(g.dtype), lines.ndim, 0)
        np.add.at(result, taps, part)
    return np.ascontiguousarray(np.moveaxis(result, 0, axis))
