"""Sampling images and volumes at the places of a grid (M. Jaderberg et al., 2015), and gradients.

x is (N, C, *spatial), the grid (N, *out, dims) with the coordinate of the last dim first, from -1
to 1. ``mode`` is 0 (linear), 1 (nearest) or 2 (cubic), ``padding`` 0 (zeros), 1 (border) or 2
(reflection).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from .half import narrow, widen

__all__ = ["affine_grid_base", "affine_grid_grad", "affine_grid_of", "grid_sample_grad",
           "grid_sample_of"]  # fmt: skip

Size = tuple[int, ...]
LINEAR, NEAREST, CUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)


def _reflect(x: np.ndarray, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """x mirrored into [low / 2, high / 2], and the derivative."""
    if low == high:
        return np.zeros_like(x), np.zeros_like(x)
    bottom, span = x.dtype.type(low / 2), x.dtype.type((high - low) / 2)
    moved = x - bottom
    sign = np.where(moved < 0, -1, 1).astype(x.dtype)
    moved = np.abs(moved)
    extra = np.fmod(moved, span)
    odd = np.floor(moved / span) % 2 != 0
    return np.where(odd, span - extra, extra) + bottom, np.where(odd, -sign, sign)


def _clip(x: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    inside = (x > 0) & (x < n - 1)
    return np.minimum(np.maximum(np.nan_to_num(x, nan=0.0), 0), x.dtype.type(n - 1)), inside


def _pad(x: np.ndarray, n: int, padding: int, align: bool) -> tuple[np.ndarray, Any]:
    """Places as the padding moves them, and the derivative."""
    if padding == ZEROS:
        return x, 1
    slope: Any = 1
    if padding == REFLECTION:
        low, high = (0, 2 * (n - 1)) if align else (-1, 2 * n - 1)
        x, slope = _reflect(x, low, high)
    x, inside = _clip(x, n)
    return x, slope * inside


def _unscaled(grid: np.ndarray, n: int, align: bool) -> tuple[np.ndarray, float]:
    """From [-1, 1] to elements, and the derivative."""
    real = grid.dtype.type
    if align:
        return (grid + real(1)) / real(2) * real(n - 1), (n - 1) / 2
    return ((grid + real(1)) * real(n) - real(1)) / real(2), n / 2


def _cubic(t: np.ndarray, a: float = -0.75) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """(offset, weight, derivative) of four neighbours; t is the distance from the second."""
    found = []
    for offset in range(-1, 3):
        x = np.abs(t - offset)
        sign = np.where(t >= offset, 1, -1).astype(t.dtype)
        if offset in (0, 1):
            weight = ((a + 2) * x - (a + 3)) * x * x + 1
            slope = (3 * (a + 2) * x - 2 * (a + 3)) * x
        else:
            weight = (((x - 5) * x + 8) * x - 4) * a
            slope = ((3 * x - 10) * x + 8) * a
        found.append((offset, weight.astype(t.dtype), (slope * sign).astype(t.dtype)))
    return found


Tap = tuple[np.ndarray, Any, Any]  # element, weight, derivative of the weight by the coordinate


def _taps(coordinate: np.ndarray, n: int, mode: int, padding: int, align: bool) -> list[Tap]:
    """What the places along one dim read; elements may lie outside for zeros."""
    x, scale = _unscaled(coordinate, n, align)
    if padding == ZEROS:  # whatever lies further out reads zeros as well, and so do NaNs
        x = np.fmax(np.fmin(x, x.dtype.type(n + 3)), x.dtype.type(-4))
    if mode == CUBIC:
        low = np.floor(x)
        taps = _cubic(x - low)
        return [(_pad(low + t, n, padding, align)[0], w, d * scale) for t, w, d in taps]
    x, slope = _pad(x, n, padding, align)
    if mode == NEAREST:
        return [(np.rint(x), 1, None)]
    low, slope = np.floor(x), x.dtype.type(scale) * slope
    share = x - low
    return [(low, 1 - share, -slope), (low + 1, share, slope)]


def _corners(
    grid: np.ndarray, spatial: Size, mode: int, padding: int, align: bool
) -> Iterator[tuple[np.ndarray, list[Tap]]]:
    """(element, the taps along each dim) for every neighbour of every place, in one line.

    Elements are those of a batch of planes in a frame of zeros, one element wide: no place is
    outside.
    """
    n, last = len(grid), len(spatial) - 1
    every = []
    for i, size in enumerate(spatial):
        lines = np.ascontiguousarray(grid[..., last - i].reshape(-1))
        taps = _taps(lines, size, mode, padding, align)
        below = prod(s + 2 for s in spatial[i + 1 :])
        every.append([(_in_frame(at, size) * below, w, d) for at, w, d in taps])
    plane = prod(s + 2 for s in spatial)
    starts = np.arange(n).repeat(prod(grid.shape[1:-1])) * plane
    every[0] = [(at + starts, w, d) for at, w, d in every[0]]
    for corner in itertools.product(*every):
        element = corner[0][0]
        for at, _, _ in corner[1:]:
            element = element + at
        yield element, list(corner)


def _in_frame(place: np.ndarray, size: int) -> np.ndarray:
    """Where an element lies in a line with one more at either end, which stand for all others."""
    return np.minimum(np.maximum(place, -1), size).astype(np.int64) + 1


def _weight(corner: list[Tap], by: int = -1) -> Any:
    """The product of the weights, or its derivative by coordinate ``by``."""
    factors = [slope if i == by else weight for i, (_, weight, slope) in enumerate(corner)]
    total = factors[0]
    for factor in factors[1:]:
        total = total * factor
    return total


def _inner(frames: np.ndarray) -> np.ndarray:
    """The planes without their frames."""
    return frames[(slice(None), slice(None), *[slice(1, -1)] * (frames.ndim - 2))]


def _framed(x: np.ndarray) -> np.ndarray:
    """(channels, elements of all planes in their frames of zeros)."""
    n, c, *spatial = x.shape
    frames = np.zeros((c, n, *(s + 2 for s in spatial)), x.dtype)
    _inner(frames)[...] = x.swapaxes(0, 1)
    return frames.reshape(c, n * prod(frames.shape[2:]))


def grid_sample_of(
    x: np.ndarray, grid: np.ndarray, mode: int, padding: int, align: bool
) -> np.ndarray:
    """The values of x at the grid's places: (N, C, *out)."""
    lines, places = _framed(widen(x)), widen(grid)
    n, c = x.shape[:2]
    total = np.zeros((c, n * prod(grid.shape[1:-1])), lines.dtype)
    for element, corner in _corners(places, x.shape[2:], mode, padding, align):
        part = np.take(lines, element, axis=1, mode="clip")
        part *= _weight(corner)
        total += part
    result = total.reshape(c, n, *grid.shape[1:-1]).swapaxes(0, 1)
    return narrow(np.ascontiguousarray(result), x.dtype)


def grid_sample_grad(
    g: np.ndarray, x: np.ndarray, grid: np.ndarray, mode: int, padding: int, align: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The gradients of x and of the grid."""
    lines, places = _framed(widen(x)), widen(grid)
    n, c, *spatial = x.shape
    count = n * prod(grid.shape[1:-1])
    back = np.ascontiguousarray(widen(g).swapaxes(0, 1)).reshape(c, count)
    g_x, g_grid = (
        np.zeros(lines.shape, lines.dtype),
        np.zeros((len(spatial), count), lines.dtype),
    )
    for element, corner in _corners(places, tuple(spatial), mode, padding, align):
        weighted = back * _weight(corner)
        for total, line in zip(g_x, weighted, strict=True):
            total += np.bincount(element, line, lines.shape[1]).astype(g_x.dtype)
        if mode == NEAREST:
            continue
        change = np.einsum("cp,cp->p", back, np.take(lines, element, axis=1, mode="clip"))
        for i in range(len(spatial)):
            g_grid[len(spatial) - 1 - i] += change * _weight(corner, i)
    frames = g_x.reshape(c, n, *(s + 2 for s in spatial))
    return (
        narrow(np.ascontiguousarray(_inner(frames).swapaxes(0, 1)), x.dtype),
        narrow(np.ascontiguousarray(g_grid.T).reshape(grid.shape), grid.dtype),
    )


# --- grids ----------------------------------------------------------------------------------------


def affine_grid_base(size: Size, align: bool, dtype: np.dtype) -> np.ndarray:
    """The places of all elements, homogeneous: (elements, dims + 1), the last dim's first."""
    lines = []
    for count in size:
        line = np.linspace(-1, 1, count, dtype=dtype) if count > 1 else np.zeros(1, dtype)
        lines.append(line if align else line * ((count - 1) / count))
    places = np.meshgrid(*lines, indexing="ij")
    columns = [*reversed(places), np.ones(size, dtype)]
    return np.stack(columns, -1).reshape(-1, len(size) + 1).astype(dtype, copy=False)


def affine_grid_of(theta: np.ndarray, size: Size, align: bool) -> np.ndarray:
    """The grid (N, *spatial, dims) of affine maps theta (N, dims, dims + 1)."""
    base = affine_grid_base(size[2:], align, widen(theta).dtype)
    base = widen(narrow(base, theta.dtype))
    grid = np.matmul(base, widen(theta).swapaxes(1, 2))
    return narrow(grid.reshape(len(theta), *size[2:], len(size) - 2), theta.dtype)


def affine_grid_grad(g: np.ndarray, size: Size, align: bool) -> np.ndarray:
    """The gradient of affine_grid_of's theta."""
    wide, dims = widen(g), len(size) - 2
    base = widen(narrow(affine_grid_base(size[2:], align, wide.dtype), g.dtype))
    rows = wide.reshape(len(g), -1, dims)
    return narrow(np.matmul(rows.swapaxes(1, 2), base), g.dtype)
