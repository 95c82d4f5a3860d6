"""Interpolation of lines, images and volumes to other sizes; dims in front are arbitrary.

Every mode is a linear map along each spatial dim in turn. Places and weights are computed in the
type that values are computed in, as PyTorch does.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from .axis_maps import AxisMap, apply_adjoint, apply_map, ragged
from .formats import follows
from .half import is_half, narrow, widen

__all__ = ["resample", "resample_grad"]

Size = tuple[int, ...]
Scales = tuple[float | None, ...]

NEAREST = ("nearest", "nearest-exact")
_FILTERS = {"linear": 2, "cubic": 4, "lanczos": 6}  # width, in elements of the coarser grid


def _step(n: int, out: int, align: bool, scale: float | None) -> float:
    """Elements of the input per element of the result."""
    if align:
        return (n - 1) / (out - 1) if out > 1 else 0.0
    return 1.0 / scale if scale is not None and scale > 0 else n / out


def _nearest(n: int, out: int, exact: bool, scale: float | None, real: type) -> AxisMap:
    step = real(_step(n, out, False, scale))
    place: Any = np.arange(out, dtype=real)
    if exact:
        source = np.maximum(step * (place + real(0.5)) - real(0.5), 0) + real(0.5)
    else:
        source = step * place
    taps = np.floor(source.astype(np.float32)).astype(np.int64)
    return AxisMap(np.minimum(taps, n - 1)[None], None, n)


def _sources(n: int, out: int, align: bool, scale: float | None, real: type) -> np.ndarray:
    step = real(_step(n, out, align, scale))
    place: Any = np.arange(out, dtype=real)
    return step * place if align else step * (place + real(0.5)) - real(0.5)


def _linear(n: int, out: int, align: bool, scale: float | None, real: type) -> AxisMap:
    if n == out:
        return AxisMap(np.stack([np.arange(n)] * 2), np.outer([1, 0], np.ones(n, real)), n)
    source = np.maximum(_sources(n, out, align, scale, real), 0)
    low = np.minimum(np.floor(source).astype(np.int64), n - 1)
    share = np.clip(source - low.astype(real), 0, 1)
    return AxisMap(np.stack([low, np.minimum(low + 1, n - 1)]), np.stack([1 - share, share]), n)


def _cubic_weight(distance: np.ndarray, a: float) -> np.ndarray:
    """Cubic convolution (R. Keys, 1981) at distances of up to 2."""
    x = np.abs(distance)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = (((x - 5) * x + 8) * x - 4) * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _cubic(n: int, out: int, align: bool, scale: float | None, real: type) -> AxisMap:
    source = _sources(n, out, align, scale, real)
    low = np.minimum(np.floor(source).astype(np.int64), n - 1)
    share = np.clip(source - low.astype(real), 0, 1)
    offsets = range(-1, 3)
    weights: Any = np.stack([_cubic_weight(share - real(t), -0.75) for t in offsets])
    taps = np.clip(low + np.array(offsets)[:, None], 0, n - 1)
    return AxisMap(taps, weights.astype(real), n)


def _smooth_weight(mode: str, x: np.ndarray) -> np.ndarray:
    if mode == "linear":
        return np.maximum(1 - np.abs(x), 0)
    if mode == "cubic":
        return _cubic_weight(x, -0.5)
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


def _smooth(mode: str, n: int, out: int, align: bool, scale: float | None, real: type) -> AxisMap:
    """Antialiased: a filter as wide as the coarser grid's elements, normalized."""
    step = real(_step(n, out, align, scale))
    stretch = max(step, real(1))
    support = real(_FILTERS[mode] / 2) * stretch
    center = step * (np.arange(out, dtype=real) + real(0.5))
    first = np.maximum((center - support + real(0.5)).astype(np.int64), 0)
    count = np.minimum((center + support + real(0.5)).astype(np.int64), n) - first
    offsets = np.arange(max(int(count.max()), 1))[:, None]
    places = (offsets + first).astype(real) - center + real(0.5)
    weights: Any = _smooth_weight(mode, places / stretch) * (offsets < count)
    weights = weights / np.sum(weights, axis=0)
    return ragged(first, count, weights.astype(real), n)


@lru_cache(maxsize=512)
def _axis_map(
    mode: str, n: int, out: int, align: bool, scale: float | None, smooth: bool, dtype: np.dtype
) -> AxisMap:
    real = np.float64 if dtype == np.float64 else np.float32
    if mode in NEAREST:
        return _nearest(n, out, mode == "nearest-exact", scale, real)
    if smooth:
        return _smooth(mode, n, out, align, scale, real)
    found = (_linear if mode == "linear" else _cubic)(n, out, align, scale, real)
    if not is_half(dtype):
        return found
    weights: Any = found.weights
    weights = weights.astype(dtype)
    if mode == "linear" and n != out:
        weights[0] = 1 - weights[1]
    return AxisMap(found.taps, weights.astype(real), n)


def _weights_dtype(x: np.ndarray, mode: str, dims: int) -> np.dtype:
    """The type that weights are rounded to: PyTorch's kernel for images keeps them wide."""
    if is_half(x.dtype) and mode == "linear" and dims == 2:
        return np.dtype(np.float32)
    return x.dtype


@follows(0)
def resample(
    x: np.ndarray, mode: str, size: Size, align: bool, scales: Scales, smooth: bool
) -> np.ndarray:
    """x (*, *spatial) at ``size`` places; ``mode`` is nearest, nearest-exact, linear or cubic.

    ``align`` puts the outer elements of both grids on each other; ``scales`` are the factors given,
    if any; ``smooth`` filters against aliasing.
    """
    n = len(size)
    if not prod(size) or not x.size:
        return np.zeros((*x.shape[:-n], *size), x.dtype)
    if x.dtype == np.uint8 and mode not in NEAREST:
        return _bytes(x, mode, size, align, scales, smooth)
    wide, dtype = x if mode in NEAREST else widen(x), _weights_dtype(x, mode, n)
    for axis, out, scale in _axes(x.ndim, size, scales):
        if not (mode in NEAREST and out == wide.shape[axis] and scale is None):
            m = _axis_map(mode, x.shape[axis], out, align, scale, smooth, dtype)
            wide = apply_map(wide, axis, m)
    wide = wide.copy() if wide is x else wide
    return narrow(np.ascontiguousarray(wide), x.dtype)


def _axes(ndim: int, size: Size, scales: Scales):
    """(axis, elements, factor) of every spatial dim, the last first."""
    first = ndim - len(size)
    return [(first + i, size[i], scales[i]) for i in reversed(range(len(size)))]


def _grad_follows(g: np.ndarray, mode: str, size: Size, *rest: Any) -> bool:
    """Whether the gradient takes the format of ``g``: PyTorch has such kernels for these."""
    return mode == "linear" or (mode in NEAREST and len(size) == 2)


@follows(0, when=_grad_follows)
def resample_grad(
    g: np.ndarray, mode: str, size: Size, align: bool, scales: Scales, smooth: bool
) -> np.ndarray:
    """The gradient of resample's input, whose spatial shape was ``size``."""
    n = len(size)
    if not g.size or not prod(size):
        return np.zeros((*g.shape[:-n], *size), g.dtype)
    wide = widen(g)
    dtype = wide.dtype
    for axis, count, scale in reversed(_axes(g.ndim, size, scales)):
        m = _axis_map(mode, count, g.shape[axis], align, scale, smooth, dtype)
        wide = apply_adjoint(wide, axis, m)
    return narrow(np.ascontiguousarray(wide), g.dtype)


def _bytes(
    x: np.ndarray, mode: str, size: Size, align: bool, scales: Scales, smooth: bool
) -> np.ndarray:
    """uint8 in fixed point: weights of 16 bits, rounded after each dim."""
    for axis, out, scale in _axes(x.ndim, size, scales):
        if out == x.shape[axis]:
            continue
        m = _axis_map(mode, x.shape[axis], out, align, scale, smooth, np.dtype(np.float64))
        bits, weights = _fixed(m.weights)
        shape = (-1,) + (1,) * (x.ndim - axis - 1)
        total = np.full((*x.shape[:axis], out, *x.shape[axis + 1 :]), 1 << (bits - 1), np.int64)
        for taps, row in zip(m.taps, weights, strict=True):
            total += x.take(taps, axis=axis).astype(np.int64) * row.reshape(shape)
        x = np.clip(total >> bits, 0, 255).astype(np.uint8)
    return np.ascontiguousarray(x)


def _fixed(weights: Any) -> tuple[int, np.ndarray]:
    """(bits after the point, weights as whole numbers): the largest that fit 16 bits."""
    bits = 0
    while bits < 22 and int(0.5 + weights.max() * (1 << (bits + 1))) < 1 << 15:
        bits += 1
    return bits, np.trunc(weights * (1 << bits) + np.where(weights < 0, -0.5, 0.5)).astype(np.int64)
