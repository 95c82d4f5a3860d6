"""Pooling of arrays with any dims in front: averages, adaptive and fractional maxima, unpooling."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from .avg_pool import (
    adaptive_avg_pool,
    adaptive_avg_pool_backward,
    avg_pool,
    avg_pool_backward,
)
from .axis_maps import AxisMap, apply_adjoint, apply_map, ragged
from .formats import follows
from .half import is_half, narrow, widen
from .pool import max_pool

__all__ = [
    "adaptive_avg_pool_grad",
    "adaptive_avg_pool_of",
    "adaptive_max_pool_of",
    "avg_pool_grad",
    "avg_pool_of",
    "fractional_max_pool_of",
    "max_unpool_of",
]

Size = tuple[int, ...]
IMAGES = (4,)  # pooling volumes gives C order


def _planes(x: np.ndarray, n: int) -> np.ndarray:
    """x as (1, planes, *spatial)."""
    return x.reshape(1, prod(x.shape[: x.ndim - n]), *x.shape[x.ndim - n :])


def _back(planes: np.ndarray, lead: Size) -> np.ndarray:
    return planes.reshape(*lead, *planes.shape[2:])


@follows(0, ranks=IMAGES)
def avg_pool_of(
    x: np.ndarray, kernel: Size, stride: Size, padding: Size, ceil_mode: bool,
    count_include_pad: bool, divisor_override: int | None,
) -> np.ndarray:  # fmt: skip
    """The mean of every window of x (*, *spatial)."""
    n = len(kernel)
    rest = (kernel, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return _back(avg_pool(_planes(x, n), *rest), x.shape[:-n])


@follows(1, ranks=IMAGES)
def avg_pool_grad(
    g: np.ndarray, x: np.ndarray, kernel: Size, stride: Size, padding: Size, ceil_mode: bool,
    count_include_pad: bool, divisor_override: int | None,
) -> np.ndarray:  # fmt: skip
    """The gradient of avg_pool_of's input x, of which the shape matters."""
    n = len(kernel)
    size = x.shape[-n:]
    planes = _planes(g, n)
    rest = (kernel, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return _back(avg_pool_backward(planes, (*planes.shape[:2], *size), *rest), g.shape[:-n])


@follows(0, ranks=IMAGES)
def adaptive_avg_pool_of(x: np.ndarray, size: Size) -> np.ndarray:
    """The means of windows that cover x (*, *spatial) as evenly as can be."""
    n = len(size)
    if _uneven(x, x.shape[-n:], size):
        for axis in reversed(range(x.ndim - n, x.ndim)):
            x = apply_map(x, axis, _mean_map(x.shape[axis], size[axis - x.ndim + n]))
        return np.ascontiguousarray(x)
    if n == 3 and is_half(x.dtype) and x.size and prod(size):
        return _half_volumes(x, size)
    return _back(adaptive_avg_pool(_planes(x, n), size), x.shape[:-n])


def _half_volumes(x: np.ndarray, size: Size) -> np.ndarray:
    """Volumes of half types, where PyTorch rounds every sum and quotient."""
    ranges = [_ranges(a, b) for a, b in zip(x.shape[-3:], size, strict=True)]
    counts = [ends - starts for starts, ends in ranges]
    total = np.zeros((*x.shape[:-3], *size), x.dtype)
    for tap in np.ndindex(*(int(count.max()) for count in counts)):
        part, within = x, np.ones(size, bool)
        for i, (starts, ends) in enumerate(ranges):
            part = part.take(np.minimum(starts + tap[i], ends - 1), axis=x.ndim - 3 + i)
            within &= (tap[i] < counts[i]).reshape((-1,) + (1,) * (2 - i))
        np.copyto(total, total + part, where=within)
    for i, count in enumerate(counts):
        total = total / count.astype(x.dtype).reshape((-1,) + (1,) * (2 - i))
    return total


def _uneven(x: np.ndarray, size: Size, out: Size) -> bool:
    """Whether windows differ, so that matrix products serve best."""
    if x.dtype.kind != "f" or x.dtype.itemsize < 4 or not x.size or not prod(out):
        return False
    return any(a % b for a, b in zip(size, out, strict=True))


@lru_cache(maxsize=256)
def _mean_map(length: int, out: int) -> AxisMap:
    """The adaptive windows' means along one axis."""
    starts, ends = _ranges(length, out)
    count = ends - starts
    weights = np.broadcast_to(1 / count, (int(count.max()), out))
    return ragged(starts, count, weights, length)


@follows(1, ranks=IMAGES)
def adaptive_avg_pool_grad(g: np.ndarray, x: np.ndarray, n: int) -> np.ndarray:
    """The gradient of adaptive_avg_pool_of's input x with ``n`` spatial dims."""
    size = x.shape[-n:]
    if _uneven(g, size, g.shape[-n:]):
        for axis in range(g.ndim - n, g.ndim):
            g = apply_adjoint(g, axis, _mean_map(size[axis - g.ndim + n], g.shape[axis]))
        return np.ascontiguousarray(g)
    planes = _planes(g, n)
    shape = (*planes.shape[:2], *size)
    return _back(adaptive_avg_pool_backward(planes, shape), g.shape[:-n])


# --- maxima ---------------------------------------------------------------------------------------


def _keep_larger(best: np.ndarray, index: np.ndarray, x: np.ndarray, where: np.ndarray) -> None:
    """Let x take the place of smaller values; a NaN always does."""
    better = (x > best) | (x != x)
    np.copyto(best, x, where=better)
    np.copyto(index, where, where=better)


def _ranges(length: int, out: int) -> tuple[np.ndarray, np.ndarray]:
    """Starts and ends of the adaptive windows."""
    place = np.arange(out)
    return place * length // out, -(-(place + 1) * length // out)


def _max_along(
    x: np.ndarray, index: np.ndarray | None, axis: int, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The maximum of every range along an axis of x, where there are no NaNs, and its index.

    That is its place along the axis, or its entry of ``index``.
    """
    best = x.take(starts, axis=axis)
    shape = (-1,) + (1,) * (x.ndim - axis - 1)
    at = np.broadcast_to(starts.astype(np.int32).reshape(shape), best.shape)
    found = at.copy() if index is None else index.take(starts, axis=axis)
    for tap in range(1, int((ends - starts).max())):
        where = np.minimum(starts + tap, ends - 1)  # the last again changes nothing
        part = x.take(where, axis=axis)
        better = part > best
        np.maximum(best, part, out=best)
        place = where.astype(np.int32).reshape(shape)
        np.copyto(found, place if index is None else index.take(where, axis=axis), where=better)
    return best, found


def _max_with_nans(
    x: np.ndarray, index: np.ndarray, axis: int, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same where the last NaN wins; ``index`` is given."""
    best, found = x.take(starts, axis=axis), index.take(starts, axis=axis)
    for tap in range(1, int((ends - starts).max())):
        where = np.minimum(starts + tap, ends - 1)
        _keep_larger(best, found, x.take(where, axis=axis), index.take(where, axis=axis))
    return best, found


def _even_max(x: np.ndarray, size: Size) -> tuple[np.ndarray, np.ndarray] | None:
    """Ordinary pooling does it where all windows are alike."""
    n = len(size)
    spatial = x.shape[-n:]
    if any(a % b for a, b in zip(spatial, size, strict=True)):
        return None
    kernel = tuple(a // b for a, b in zip(spatial, size, strict=True))
    rest = (kernel, kernel, (0,) * n, (1,) * n, False)
    values, index = max_pool(_planes(x, n), *rest)
    return _back(values, x.shape[:-n]), _back(index, x.shape[:-n])


@lru_cache(maxsize=64)
def _numbers(size: Size) -> np.ndarray:
    return np.arange(prod(size), dtype=np.int32).reshape(size)


@follows(0, ranks=IMAGES)
def adaptive_max_pool_of(x: np.ndarray, size: Size) -> tuple[np.ndarray, np.ndarray]:
    """Maxima of windows that cover x (*, *spatial) evenly, and where in its plane each was."""
    n = len(size)
    if not x.size or not prod(size):
        shape = (*x.shape[:-n], *size)
        return np.zeros(shape, x.dtype), np.zeros(shape, np.int64)
    found = _even_max(x, size)
    if found is not None:
        return found
    wide = widen(x)
    low = np.minimum.reduce(wide, axis=None)
    index: Any = None if low == low else np.broadcast_to(_numbers(x.shape[-n:]), x.shape)
    step, strides = _max_along if low == low else _max_with_nans, np.cumprod((1, *x.shape[:-n:-1]))
    for i, axis in enumerate(reversed(range(x.ndim - n, x.ndim))):
        ranges = _ranges(x.shape[axis], size[axis - x.ndim + n])
        if index is not None and low == low:  # where in its line: add the lines before
            lines = np.arange(x.shape[axis], dtype=np.int32) * np.int32(strides[i])
            index = index + lines.reshape((-1,) + (1,) * i)
        wide, index = step(wide, index, axis, *ranges)
    return narrow(np.ascontiguousarray(wide), x.dtype), index.astype(np.int64)


def _fractional_starts(samples: np.ndarray, n: int, out: int, kernel: int) -> np.ndarray:
    """Where the windows of every plane start (B. Graham, 2014): (planes,) to (planes, out)."""
    if out == 1:
        return np.full((len(samples), 1), n - kernel)
    real = samples.dtype.type
    alpha = real(n - kernel) / real(out - 1)
    place = np.arange(out, dtype=samples.dtype)
    column = samples[:, None]
    starts = ((place + column) * alpha).astype(np.int64) - (column * alpha).astype(np.int64)
    starts[:, -1] = n - kernel
    return starts


def fractional_max_pool_of(
    x: np.ndarray, samples: np.ndarray, kernel: Size, size: Size
) -> tuple[np.ndarray, np.ndarray]:
    """Maxima of windows at pseudo-random places, a sequence per plane and dim, and where each was.

    x is (N, C, *spatial) or (C, *spatial), samples (N, C, dims), for the last dim first in images.
    """
    n, wide = len(size), widen(x)
    spatial = x.shape[-n:]
    if not x.size or not prod(size):
        shape = (*x.shape[:-n], *size)
        return np.zeros(shape, x.dtype), np.zeros(shape, np.int64)
    planes = wide.reshape(prod(x.shape[:-n]), *spatial)
    draws = widen(samples).reshape(samples.size // n, n)[: len(planes)]
    order = (1, 0) if n == 2 else (0, 1, 2)  # which sample a dim takes
    starts = [
        _fractional_starts(draws[:, order[i]], spatial[i], size[i], kernel[i]) for i in range(n)
    ]
    lines = planes.reshape(len(planes), prod(spatial))
    best: Any = None
    index: Any = None
    for tap in np.ndindex(*kernel):
        flat = starts[0] + tap[0]
        for i in range(1, n):
            row = starts[i] + tap[i]
            flat = flat[..., None] * spatial[i] + row.reshape(len(row), *(1,) * i, size[i])
        flat = flat.reshape(len(planes), prod(size))
        values = np.take_along_axis(lines, flat, axis=1)
        if best is None:
            best, index = values, flat
        else:
            _keep_larger(best, index, values, flat)
    shape = (*x.shape[:-n], *size)
    return narrow(best.reshape(shape), x.dtype), index.reshape(shape)


@follows(0, ranks=IMAGES, meta=False)
def max_unpool_of(x: np.ndarray, indices: np.ndarray, size: Size) -> np.ndarray:
    """Zeros of spatial shape ``size``, and every x where its index says; the last one stays.

    Raises ValueError for an index out of range.
    """
    n, total = len(size), prod(size)
    lead = x.shape[: x.ndim - n]
    if indices.size and not 0 <= indices.min() <= indices.max() < total:
        raise ValueError("an index lies outside")
    result = np.zeros((prod(lead), total), x.dtype)
    where = indices.reshape(prod(lead), prod(indices.shape[-n:]))
    where = where + np.arange(prod(lead))[:, None] * total
    result.reshape(-1)[where.reshape(-1)] = x.reshape(-1)
    return result.reshape(*lead, *size)
