"""Pooling of arrays with any dims in front: averages, adaptive and fractional maxima, unpooling."""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np

from .avg_pool import (
    adaptive_avg_pool,
    adaptive_avg_pool_backward,
    avg_pool,
    avg_pool_backward,
)
from .half import narrow, widen

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


def _planes(x: np.ndarray, n: int) -> np.ndarray:
    """x as (1, planes, *spatial)."""
    return x.reshape(1, prod(x.shape[: x.ndim - n]), *x.shape[x.ndim - n :])


def _back(planes: np.ndarray, lead: Size) -> np.ndarray:
    return planes.reshape(*lead, *planes.shape[2:])


def avg_pool_of(
    x: np.ndarray, kernel: Size, stride: Size, padding: Size, ceil_mode: bool,
    count_include_pad: bool, divisor_override: int | None,
) -> np.ndarray:  # fmt: skip
    """The mean of every window of x (*, *spatial)."""
    n = len(kernel)
    rest = (kernel, stride, padding, ceil_mode, count_include_pad, divisor_override)
    return _back(avg_pool(_planes(x, n), *rest), x.shape[:-n])


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


def adaptive_avg_pool_of(x: np.ndarray, size: Size) -> np.ndarray:
    """The means of windows that cover x (*, *spatial) as evenly as can be."""
    n = len(size)
    return _back(adaptive_avg_pool(_planes(x, n), size), x.shape[:-n])


def adaptive_avg_pool_grad(g: np.ndarray, x: np.ndarray, n: int) -> np.ndarray:
    """The gradient of adaptive_avg_pool_of's input x with ``n`` spatial dims."""
    size = x.shape[-n:]
    planes = _planes(g, n)
    shape = (*planes.shape[:2], *size)
    return _back(adaptive_avg_pool_backward(planes, shape), g.shape[:-n])


# --- maxima ---------------------------------------------------------------------------------------


def _keep_larger(best: np.ndarray, index: np.ndarray, x: np.ndarray, where: np.ndarray) -> None:
    """Let x take the place of smaller values; a NaN always does."""
    better = (x > best) | (x != x)
    np.copyto(best, x, where=better)
    np.copyto(index, where, where=better)


def _max_along(
    x: np.ndarray, index: np.ndarray, axis: int, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The maximum of every range along an axis, and its entry of ``index``."""
    best, found = x.take(starts, axis=axis), index.take(starts, axis=axis)
    for tap in range(1, int((ends - starts).max())):
        where = np.minimum(starts + tap, ends - 1)  # the last again changes nothing
        _keep_larger(best, found, x.take(where, axis=axis), index.take(where, axis=axis))
    return best, found


@lru_cache(maxsize=64)
def _numbers(size: Size) -> np.ndarray:
    return np.arange(prod(size), dtype=np.int64).reshape(size)


def adaptive_max_pool_of(x: np.ndarray, size: Size) -> tuple[np.ndarray, np.ndarray]:
    """Maxima of windows that cover x (*, *spatial) evenly, and where in its plane each was."""
    n = len(size)
    if not x.size or not prod(size):
        shape = (*x.shape[:-n], *size)
        return np.zeros(shape, x.dtype), np.zeros(shape, np.int64)
    wide = widen(x)
    index = np.broadcast_to(_numbers(x.shape[-n:]), x.shape)
    for axis in reversed(range(x.ndim - n, x.ndim)):
        length, out = x.shape[axis], size[axis - x.ndim + n]
        place = np.arange(out)
        starts, ends = place * length // out, -(-(place + 1) * length // out)
        wide, index = _max_along(wide, index, axis, starts, ends)
    return narrow(np.ascontiguousarray(wide), x.dtype), np.ascontiguousarray(index)


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
    """Maxima of windows at pseudo-random places, one sequence per plane and dim, and where each was.

    x is (N, C, *spatial) or (C, *spatial), samples (N, C, dims), for the last dim first in images.
    """
    n, wide = len(size), widen(x)
    spatial = x.shape[-n:]
    planes = wide.reshape(prod(x.shape[:-n]), *spatial)
    draws = widen(samples).reshape(samples.size // n, n)[: len(planes)]
    order = (1, 0) if n == 2 else (0, 1, 2)  # which sample a dim takes
    starts = [
        _fractional_starts(draws[:, order[i]], spatial[i], size[i], kernel[i]) for i in range(n)
    ]
    lines, best = planes.reshape(len(planes), prod(spatial)), None
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


def max_unpool_of(x: np.ndarray, indices: np.ndarray, size: Size) -> np.ndarray:
    """Zeros of spatial shape ``size``, and every x where its index says; the last one stays.

    Raises ValueError for an index out of range.
    """
    n, total = len(size), prod(size)
    lead = x.shape[: x.ndim - n]
    if indices.size and not 0 <= indices.min() <= indices.max() < total:
        raise ValueError("an index lies outside")
    result = np.zeros((prod(lead), total), x.dtype)
    where = indices.reshape(prod(lead), prod(indices.shape[-n:])) + np.arange(prod(lead))[:, None] * total
    result.reshape(-1)[where.reshape(-1)] = x.reshape(-1)
    return result.reshape(*lead, *size)
