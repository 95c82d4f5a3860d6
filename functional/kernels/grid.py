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
    if mode == CUBIC:
        low = np.floor(x)
        taps = _cubic(x - low)
        return [(_pad(low + t, n, padding, align)[0], w, d * scale) for t, w, d in taps]
    x, slope = _pad(x, n, padding, align)
    if mode == NEAREST:
        return [(np.rint(x), 1, None)]
    low, slope = np.floor(x), (slope * np.ones_like(x) * scale).astype(x.dtype)
    share = x - low
    return [(low, 1 - share, -slope), (low + 1, share, slope)]


def _corners(
    grid: np.ndarray, spatial: Size, mode: int, padding: int, align: bool
) -> Iterator[tuple[np.ndarray, np.ndarray, list[Tap]]]:
    """(flat element, is it inside?, the taps along each dim) for every neighbour of every place."""
    n = len(spatial)
    taps = [
        _taps(grid[..., n - 1 - i], size, mode, padding, align) for i, size in enumerate(spatial)
    ]
    for corner in itertools.product(*taps):
        flat, inside = np.zeros((), np.int64), np.ones((), bool)
        for (place, _, _), size in zip(corner, spatial, strict=True):
            within = (place >= 0) & (place <= size - 1)
            flat = flat * size + np.where(within, place, 0).astype(np.int64)
            inside = inside & within
        yield flat, inside, list(corner)


def _weight(corner: list[Tap], inside: np.ndarray, dtype: np.dtype, by: int = -1) -> np.ndarray:
    """The product of the weights, or its derivative by coordinate ``by``."""
    total = inside.astype(dtype)
    for i, (_, weight, slope) in enumerate(corner):
        total = total * (slope if i == by else weight)
    return total


def _gathered(x: np.ndarray, flat: np.ndarray) -> np.ndarray:
    """Elements of the planes of x (N, C, *): (N, C, places)."""
    n, c = x.shape[:2]
    lines, where = x.reshape(n, c, prod(x.shape[2:])), flat.reshape(n, prod(flat.shape[1:]))
    result = np.empty((n, c, where.shape[1]), x.dtype)
    for i in range(n):
        np.take(lines[i], where[i], axis=1, out=result[i], mode="clip")
    return result


def grid_sample_of(
    x: np.ndarray, grid: np.ndarray, mode: int, padding: int, align: bool
) -> np.ndarray:
    """The values of x at the grid's places: (N, C, *out)."""
    wide, places = widen(x), widen(grid)
    n, c = x.shape[:2]
    out = grid.shape[1:-1]
    count = prod(out)
    total = np.zeros((n, c, count), wide.dtype)
    for flat, inside, corner in _corners(places, x.shape[2:], mode, padding, align):
        weight = _weight(corner, inside, wide.dtype)
        part = _gathered(wide, flat)
        part *= weight.reshape(n, 1, count)
        part[np.broadcast_to(~inside.reshape(n, 1, count), part.shape)] = 0
        total += part
    return narrow(total.reshape(n, c, *out), x.dtype)


def grid_sample_grad(
    g: np.ndarray, x: np.ndarray, grid: np.ndarray, mode: int, padding: int, align: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The gradients of x and of the grid."""
    wide, places, back = widen(x), widen(grid), widen(g)
    n, c, *spatial = x.shape
    count = prod(grid.shape[1:-1])
    lines = back.reshape(n, c, count)
    planes, size = n * c, prod(spatial)
    g_x, g_grid = np.zeros(planes * size, wide.dtype), np.zeros(places.shape, wide.dtype)
    starts = (np.arange(planes) * size).reshape(n, c, 1)
    for flat, inside, corner in _corners(places, tuple(spatial), mode, padding, align):
        weight = _weight(corner, inside, wide.dtype).reshape(n, 1, count)
        index = (flat.reshape(n, 1, count) + starts).reshape(-1)
        g_x += np.bincount(index, (lines * weight).reshape(-1), planes * size).astype(g_x.dtype)
        if mode == NEAREST:
            continue
        change = np.einsum("ncp,ncp->np", lines, _gathered(wide, flat)).reshape(flat.shape)
        for i in range(len(spatial)):
            slope = _weight(corner, inside, wide.dtype, i)
            g_grid[..., len(spatial) - 1 - i] += change * slope
    return narrow(g_x.reshape(x.shape), x.dtype), narrow(g_grid, grid.dtype)


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
