"""Average pooling and adaptive average pooling on NumPy arrays, with their backwards.

Windows are products of intervals, so sums go one dim at a time: k additions per dim, not k ** dims.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

import numpy as np

from .half import narrow, widen

__all__ = [
    "adaptive_avg_pool",
    "adaptive_avg_pool_backward",
    "avg_pool",
    "avg_pool_backward",
    "pool_shape",
]


def _pooled(n: int, k: int, s: int, p: int, d: int, ceil_mode: bool) -> int:
    span = n + 2 * p - d * (k - 1) - 1
    size = -(-span // s) + 1 if ceil_mode else span // s + 1
    # A last window must start inside the input or its left padding.
    return size - 1 if ceil_mode and (size - 1) * s >= n + p else size


@lru_cache(maxsize=256)
def pool_shape(
    size: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    ceil_mode: bool,
) -> tuple[int, ...]:
    """The spatial shape that pooling a spatial shape `size` gives."""
    settings = zip(size, kernel, stride, padding, dilation, strict=True)
    return tuple(_pooled(*setting, ceil_mode) for setting in settings)


@lru_cache(maxsize=256)
def _divisor(size, out, kernel, stride, padding, count_include_pad) -> np.ndarray | int:
    """How many elements each window counts, float64 of shape `out`; an int when all are equal."""
    total = np.ones(())
    for n, o, k, s, p in zip(size, out, kernel, stride, padding, strict=True):
        start = np.arange(o) * s - p
        end = np.minimum(start + k, n + p)
        if not count_include_pad:
            start, end = np.maximum(start, 0), np.minimum(end, n)
        total = total[..., None] * (end - start)
    first = total.reshape(-1)[0] if total.size else 1
    return int(first) if (total == first).all() else total


def _window_sums(x, axis, out, k, s, p):
    """Sums of k neighbours along one axis, at starts -p, s - p, ... (`out` of them)."""
    n = x.shape[axis]
    lead = (slice(None),) * axis
    if p or (out - 1) * s + k > n:
        shape = list(x.shape)
        shape[axis] = max((out - 1) * s + k, n + p)
        padded = np.zeros(shape, x.dtype)
        padded[lead + (slice(p, p + n),)] = x
        x = padded
    last = (out - 1) * s + 1
    if k == 1:
        return x[lead + (slice(0, last, s),)]
    total = x[lead + (slice(0, last, s),)] + x[lead + (slice(1, 1 + last, s),)]
    for tap in range(2, k):
        np.add(total, x[lead + (slice(tap, tap + last, s),)], out=total)
    return total


def _window_spread(g, axis, n, k, s, p):
    """The adjoint of _window_sums: adds every element of g to its window's k positions."""
    out = g.shape[axis]
    lead = (slice(None),) * axis
    shape = list(g.shape)
    shape[axis] = max((out - 1) * s + k, n + p)
    spread = np.zeros(shape, g.dtype)
    last = (out - 1) * s + 1
    for tap in range(k):
        part = spread[lead + (slice(tap, tap + last, s),)]
        if s >= k:
            part[...] = g
        else:
            np.add(part, g, out=part)
    return spread[lead + (slice(p, p + n),)]


def _divide(x, divisor):
    """x / divisor in x's dtype; integers truncate towards zero, as in C++."""
    if x.dtype.kind in "iu":
        return np.trunc(x / divisor).astype(x.dtype)
    if isinstance(divisor, np.ndarray):
        divisor = divisor.astype(x.dtype)
    return x / divisor


def avg_pool(
    x: np.ndarray,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> np.ndarray:
    """The mean of every window of x (N, C, *spatial)."""
    size = x.shape[2:]
    out = pool_shape(size, kernel, stride, padding, (1,) * len(size), ceil_mode)
    if not x.size or not prod(out):
        return np.zeros(x.shape[:2] + out, x.dtype)
    total = widen(x)
    # The last dim first: it leaves the least for the others.
    for dim in reversed(range(len(size))):
        total = _window_sums(total, dim + 2, out[dim], kernel[dim], stride[dim], padding[dim])
    divisor = divisor_override or _divisor(size, out, kernel, stride, padding, count_include_pad)
    return np.ascontiguousarray(narrow(_divide(total, divisor), x.dtype))


def avg_pool_backward(
    g: np.ndarray,
    x_shape: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> np.ndarray:
    """g (N, C, *out), divided as the forward was, spread over the windows: shape x_shape."""
    size = tuple(x_shape[2:])
    out = g.shape[2:]
    if not g.size:
        return np.zeros(x_shape, g.dtype)
    divisor = divisor_override or _divisor(size, out, kernel, stride, padding, count_include_pad)
    spread = _divide(widen(g), divisor)
    for dim in range(len(size)):
        spread = _window_spread(spread, dim + 2, size[dim], kernel[dim], stride[dim], padding[dim])
    return np.ascontiguousarray(narrow(spread, g.dtype))


@lru_cache(maxsize=256)
def _adaptive_bounds(n: int, out: int) -> tuple[np.ndarray, np.ndarray]:
    """Starts and lengths of the adaptive windows: floor(i * n / out) to ceil((i + 1) * n / out)."""
    number = np.arange(out)
    start = number * n // out
    return start, -(-(number + 1) * n // out) - start


def _adaptive_sums(x, axis, out):
    start, length = _adaptive_bounds(x.shape[axis], out)
    total = x.take(start, axis=axis)
    for tap in range(1, int(length.max())):
        chosen = np.flatnonzero(length > tap)
        where = (slice(None),) * axis + (chosen,)
        if chosen.size == out:
            total += x.take(start + tap, axis=axis)
        else:
            total[where] += x.take(start[chosen] + tap, axis=axis)
    return total


def _adaptive_spread(g, axis, n):
    start, length = _adaptive_bounds(n, g.shape[axis])
    shape = list(g.shape)
    shape[axis] = n
    spread = np.zeros(shape, g.dtype)
    for tap in range(int(length.max())):
        chosen = np.flatnonzero(length > tap)
        where = (slice(None),) * axis + (start[chosen] + tap,)
        part = g if chosen.size == g.shape[axis] else g.take(chosen, axis=axis)
        if g.shape[axis] <= n:  # starts are distinct
            spread[where] += part
        else:
            np.add.at(spread, where, part)
    return spread


def _even_blocks(size, out) -> bool:
    return all(n % o == 0 for n, o in zip(size, out, strict=True))


def _adaptive_divisor(size, out) -> np.ndarray:
    total = np.ones(())
    for n, o in zip(size, out, strict=True):
        total = total[..., None] * _adaptive_bounds(n, o)[1]
    return total


def adaptive_avg_pool(x: np.ndarray, output_size: tuple[int, ...]) -> np.ndarray:
    """Means over output_size windows that cover x (N, C, *spatial) as evenly as can be."""
    size, out = x.shape[2:], tuple(output_size)
    if not x.size or not prod(out):
        return np.zeros(x.shape[:2] + out, x.dtype)
    wide = widen(x)
    if prod(out) == 1:
        lines = wide.reshape(x.shape[:2] + (-1,))
        mean = np.add.reduce(lines, axis=2) / wide.dtype.type(prod(size))
        return narrow(mean.reshape(x.shape[:2] + out), x.dtype)
    if _even_blocks(size, out):
        kernel = tuple(n // o for n, o in zip(size, out, strict=True))
        return avg_pool(x, kernel, kernel, (0,) * len(size), False, True, None)
    for dim in reversed(range(len(size))):
        wide = _adaptive_sums(wide, dim + 2, out[dim])
    return np.ascontiguousarray(narrow(_divide(wide, _adaptive_divisor(size, out)), x.dtype))


def adaptive_avg_pool_backward(g: np.ndarray, x_shape: tuple[int, ...]) -> np.ndarray:
    """g (N, C, *out) divided by the window sizes and spread over the windows: shape x_shape."""
    size, out = tuple(x_shape[2:]), g.shape[2:]
    if not g.size:
        return np.zeros(x_shape, g.dtype)
    if _even_blocks(size, out):
        kernel = tuple(n // o for n, o in zip(size, out, strict=True))
        return avg_pool_backward(g, x_shape, kernel, kernel, (0,) * len(size), False, True, None)
    spread = _divide(widen(g), _adaptive_divisor(size, out))
    for dim in range(len(size)):
        spread = _adaptive_spread(spread, dim + 2, size[dim])
    return np.ascontiguousarray(narrow(spread, g.dtype))
