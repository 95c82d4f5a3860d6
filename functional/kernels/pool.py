"""Max pooling on NumPy arrays: values with indices, the scatter backward and its own derivative.

Inputs are (N, C, *spatial) with 1 to 3 spatial dims; settings are tuples of ints, one per spatial
dim. Average pooling lives in avg_pool.py and is exported from here too.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np

from .avg_pool import (
    adaptive_avg_pool,
    adaptive_avg_pool_backward,
    avg_pool,
    avg_pool_backward,
    pool_shape,
)
from .formats import follows
from .half import is_half, narrow, widen
from .pool_pairs import SHARE, fits_pairs, max_pool_pairs
from .threads import spread

__all__ = [
    "adaptive_avg_pool",
    "adaptive_avg_pool_backward",
    "avg_pool",
    "avg_pool_backward",
    "max_pool",
    "max_pool_backward",
    "max_pool_gather",
    "max_pool_grad",
    "max_pool_grad_plain",
    "pool_shape",
]

CHUNK = 64  # planes pooled at a time, so that they stay in cache


def _lowest(dtype: np.dtype):
    """The value that padding takes: it never wins against a value of the input."""
    if dtype.kind in "fV":
        return -np.inf
    return False if dtype.kind == "b" else np.iinfo(dtype).min


@lru_cache(maxsize=256)
def _first_positions(size, out, kernel, stride, padding, dilation):
    """Flat index of the first in-range position of every window, shape `out`, int64."""
    flat = np.zeros((), np.int64)
    for n, o, s, p, d in zip(size, out, stride, padding, dilation, strict=True):
        start = np.arange(o, dtype=np.int64) * s - p
        start = np.where(start < 0, start + -(start // d) * d, start)
        flat = flat[..., None] * n + start
    flat.flags.writeable = False
    return flat


@lru_cache(maxsize=256)
def _tap_positions(size, out, kernel, stride, padding, dilation):
    """Flat input index of every tap of every window, int64 (taps, *out); out of range is unused."""
    taps = np.indices(kernel).reshape(len(kernel), -1)
    flat = np.zeros((), np.int64)
    for dim, (n, o, s, p, d) in enumerate(zip(size, out, stride, padding, dilation, strict=True)):
        start = np.arange(o, dtype=np.int64) * s - p
        shape = (-1,) + (1,) * dim
        tap = (taps[dim] * d).reshape(shape)
        flat = flat[..., None] * n + (tap[..., None] + start)
    flat.flags.writeable = False
    return flat


def _padded(x, out, kernel, stride, padding, dilation, fill):
    """x with `padding` in front and as much behind as the last window needs."""
    need = tuple(
        (o - 1) * s + (k - 1) * d + 1
        for o, k, s, d in zip(out, kernel, stride, dilation, strict=True)
    )
    if not any(padding) and all(m <= n for m, n in zip(need, x.shape[2:], strict=True)):
        return x
    full = tuple(max(m, p + n) for m, p, n in zip(need, padding, x.shape[2:], strict=True))
    buffer = np.full(x.shape[:2] + full, fill, x.dtype)
    inner = tuple(slice(p, p + n) for p, n in zip(padding, x.shape[2:], strict=True))
    buffer[(slice(None), slice(None)) + inner] = x
    return buffer


def _tap_view(x, tap, out, stride, dilation):
    """The element that the window's position `tap` reads, for every window."""
    spatial = tuple(
        slice(t * d, t * d + (o - 1) * s + 1, s)
        for t, o, s, d in zip(tap, out, stride, dilation, strict=True)
    )
    return x[(slice(None), slice(None)) + spatial]


def _max_pool_taps(x, out, kernel, stride, padding, dilation):
    """One pass per tap: the first maximum wins, a NaN always wins, the last NaN of all."""
    padded = _padded(x, out, kernel, stride, padding, dilation, _lowest(x.dtype))
    size = x.shape[2:]
    positions = _tap_positions(size, out, kernel, stride, padding, dilation)
    first = _first_positions(size, out, kernel, stride, padding, dilation)
    indices = np.broadcast_to(first, x.shape[:2] + out).copy()
    values = np.full(x.shape[:2] + out, _lowest(x.dtype), x.dtype)
    for number, tap in enumerate(np.ndindex(*kernel)):
        view = _tap_view(padded, tap, out, stride, dilation)
        # Not (view <= values) is true for a larger value and for a NaN on either side; a NaN that
        # stands in `values` yields only to another NaN.
        better = view > values
        if x.dtype.kind in "fV":
            better |= view != view
        np.copyto(values, view, where=better)
        np.copyto(indices, positions[number], where=better)
    return values, indices


@lru_cache(maxsize=256)
def _tap_offsets(size, kernel, dilation):
    """Flat distance of every tap of a window from its first, int64."""
    taps = np.indices(kernel).reshape(len(kernel), -1)
    flat = np.zeros(taps.shape[1], np.int64)
    for dim, (n, d) in enumerate(zip(size, dilation, strict=True)):
        flat = flat * n + taps[dim] * d
    flat.flags.writeable = False
    return flat


def _max_pool_quick(x, out, kernel, stride, padding, dilation):
    """Values and indices by tap numbers; None if a NaN or a lowest value needs the general way."""
    if prod(kernel) > 255 or not x.size or not prod(out) or is_half(x.dtype):
        return None
    lowest = _lowest(x.dtype)
    planes = (x.shape[0] * x.shape[1],)
    values, which = np.empty(planes + out, x.dtype), np.zeros(planes + out, np.uint8)
    lines = x.reshape(planes + x.shape[2:])[None]

    def work(first: int, last: int) -> None:
        for start in range(first, last, CHUNK):
            stop = min(start + CHUNK, last)
            padded = _padded(lines[:, start:stop], out, kernel, stride, padding, dilation, lowest)
            best, number = values[None, start:stop], which[None, start:stop]
            for count, tap in enumerate(np.ndindex(*kernel)):
                view = _tap_view(padded, tap, out, stride, dilation)
                if count:
                    better = view > best
                    np.maximum(best, view, out=best)
                    np.copyto(number, count, where=better)
                else:
                    np.copyto(best, view)

    spread(planes[0], x.size * prod(kernel) // prod(stride) // SHARE, work)
    low = np.minimum.reduce(values, axis=None)
    if not low > lowest:
        return None
    starts = np.zeros((), np.int64)
    for n, o, s, p in zip(x.shape[2:], out, stride, padding, strict=True):
        starts = starts[..., None] * n + (np.arange(o) * s - p)
    indices = _tap_offsets(x.shape[2:], kernel, dilation).take(which)
    indices += starts
    shape = x.shape[:2] + out
    return values.reshape(shape), indices.reshape(shape)


@follows(0)
def max_pool(
    x: np.ndarray,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    ceil_mode: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """The maximum of every window and its flat int64 index in the input's spatial plane."""
    if x.ndim == len(kernel) + 1:  # without a batch
        values, indices = max_pool(x[None], kernel, stride, padding, dilation, ceil_mode)
        return values[0], indices[0]
    out = pool_shape(x.shape[2:], kernel, stride, padding, dilation, ceil_mode)
    if fits_pairs(x, out, kernel, stride, padding, dilation):
        found = max_pool_pairs(x)
        if found is not None:
            return found
    found = _max_pool_quick(x, out, kernel, stride, padding, dilation)
    return found or _max_pool_taps(x, out, kernel, stride, padding, dilation)


@lru_cache(maxsize=64)
def _plane_starts(planes: int, size: int) -> np.ndarray:
    starts = np.arange(planes, dtype=np.int64)[:, None] * size
    starts.flags.writeable = False
    return starts


def _flat_positions(lines: np.ndarray, size: int) -> np.ndarray:
    """Indices within planes (P, positions) as flat positions in the whole (P, size) array."""
    return lines if len(lines) == 1 else lines + _plane_starts(len(lines), size)


def max_pool_backward(g: np.ndarray, indices: np.ndarray, x_shape: tuple[int, ...]) -> np.ndarray:
    """Adds every g (N, C, *out) to the position in (N, C, *spatial) its maximum came from."""
    wide = widen(g)
    planes, size = x_shape[0] * x_shape[1], prod(x_shape[2:])
    result = np.zeros((planes, size), wide.dtype)
    if g.size:
        positions = _flat_positions(indices.reshape(planes, -1), size)
        np.add.at(result.reshape(-1), positions.reshape(-1), wide.reshape(-1))
    return narrow(result.reshape(x_shape), g.dtype)


def max_pool_grad_plain(g: np.ndarray, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """max_pool_backward for a pooled array ``x``."""
    return max_pool_backward(g, indices, x.shape)


max_pool_grad = follows(1)(max_pool_grad_plain)


def max_pool_gather(x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """The values of x (N, C, *spatial) at the indices (N, C, *out): max_pool_backward's adjoint."""
    if not indices.size:
        return np.empty(indices.shape, x.dtype)
    lines = indices.reshape(indices.shape[0] * indices.shape[1], -1)
    return x.reshape(-1).take(_flat_positions(lines, prod(x.shape[2:]))).reshape(indices.shape)
