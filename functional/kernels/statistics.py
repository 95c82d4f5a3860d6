"""Products, norms, spread and counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

from .elementwise import abs as magnitude
from .half import widen
from .reduce import Dims, _as, amax, amin, ordered, sum, var
from .scans import cumprod, shift
from .shapes import to_dtype
from .threads import LONG, in_chunks

_FEW = 64  # products of so few in a row are left to NumPy
_multiply: Any = np.multiply.reduce


def prod(x: ndarray, dim: int | None, keepdim: bool, dtype: Any = None) -> ndarray:
    """The product along ``dim``, or of all elements; integers multiply to int64."""
    x = _as(x, dtype)
    if x.dtype.kind in "iub" and dtype is None:
        x = x.astype(np.int64)
    wide = widen(x)
    if x.dtype.kind == "b":
        return ordered(np.asarray(x.all(dim, keepdims=keepdim)))
    if wide.size > LONG and wide.flags.c_contiguous and wide.dtype.kind in "fc":
        if dim is None:
            wide = _long_product(wide.reshape(-1))
        elif dim == wide.ndim - 1 and wide.shape[-1] >= _FEW and wide.size > 16 * LONG:
            z = _row_products(wide.reshape(-1, wide.shape[-1])).reshape(wide.shape[:-1])
            return (z[..., None] if keepdim else z).astype(x.dtype, copy=False)
    if not wide.ndim:
        return x.copy()
    z = _multiply(wide, dim, None, None, keepdim)
    return ordered(z).astype(x.dtype, copy=False)


def _long_product(x: ndarray) -> ndarray:
    """A short vector with the product of a long one: of its 64 parts element by element.

    So only few numbers are products of many, which the processor multiplies slowly where they
    underflow.
    """
    while x.size > LONG:
        width, rest = divmod(x.size, 64)
        z = _multiply(x[: 64 * width].reshape(64, width), 0)
        z[:rest] *= x[64 * width :]
        x = z
    return x


def _row_products(x: ndarray) -> ndarray:
    """The products of a matrix's rows: of their eighths element by element, as long as it pays."""
    z = np.empty(len(x), x.dtype)

    def work(first: int, last: int) -> None:
        part = x[first:last]
        while part.shape[1] >= _FEW:
            width, rest = divmod(part.shape[1], 8)
            left = part[:, :width] * part[:, width : 2 * width]
            for k in range(2, 8):
                left *= part[:, k * width : (k + 1) * width]
            if rest:
                left[:, :rest] *= part[:, 8 * width :]
            part = left
        _multiply(part, 1, None, z[first:last])

    in_chunks(len(x), x.shape[1], work)
    return z


def prod_whole(x: ndarray, dtype: Any = None) -> ndarray:
    return prod(x, None, False, dtype)


def prod_rest(x: ndarray, dim: int) -> ndarray:
    """For every element the product of the others along ``dim``."""
    if x.ndim == 0 or not x.size:
        return np.ones_like(x)
    size = np.abs(widen(x))
    total = _multiply(size, dim, keepdims=True)
    if size.min() > 1e-3 and np.isfinite(total).all() and total.min() > 1e-30:
        return (_multiply(widen(x), dim, keepdims=True) / widen(x)).astype(x.dtype)
    before = shift(cumprod(x, dim), dim, 1, 1.0)
    behind = np.flip(shift(cumprod(np.flip(x, dim), dim), dim, 1, 1.0), dim)
    return before * behind


def nansum(x: ndarray, dim: Dims, keepdim: bool, dtype: Any = None) -> ndarray:
    """The sum over ``dim`` of what is no NaN."""
    wide = widen(x)
    clean = np.where(np.isnan(wide), wide.dtype.type(0), wide)
    if dtype is not None:
        return sum(clean, dim, keepdim, dtype)
    return sum(clean, dim, keepdim).astype(x.dtype, copy=False)


def std(x: ndarray, dim: Dims, correction: float, keepdim: bool) -> ndarray:
    """The standard deviation over ``dim``: the root of ``var``."""
    return np.sqrt(var(widen(x), dim, correction, keepdim)).astype(x.real.dtype, copy=False)


def std_mean(x: ndarray, dim: Dims, correction: float, keepdim: bool) -> tuple[ndarray, ndarray]:
    """(standard deviation, mean) over ``dim``."""
    spread, center = var_mean(widen(x), dim, correction, keepdim)
    return np.sqrt(spread).astype(x.real.dtype, copy=False), center.astype(x.dtype, copy=False)


def var_mean(x: ndarray, dim: Dims, correction: float, keepdim: bool) -> tuple[ndarray, ndarray]:
    """(variance, mean) over ``dim``."""
    center = ordered(widen(x).mean(dim, keepdims=keepdim)).astype(x.dtype)
    return var(x, dim, correction, keepdim), center


def aminmax(x: ndarray, dim: Dims, keepdim: bool) -> tuple[ndarray, ndarray]:
    """(minimum, maximum) over ``dim``."""
    return amin(x, dim, keepdim), amax(x, dim, keepdim)


def vector_norm_dims(x: ndarray, p: float, dim: Dims, keepdim: bool, dtype: Any = None) -> ndarray:
    """(Σ |x|^p)^(1/p) over ``dim``; the count of non-zeros for p = 0, extremes for ±inf."""
    x = _as(x, dtype)
    kind = x.real.dtype
    wide = widen(x)
    if p == 2 and wide.dtype.kind == "f":
        z = np.sqrt(_squares(wide, dim, keepdim))
        return ordered(np.asarray(z)).astype(kind, copy=False)
    size = magnitude(wide)
    if math.isinf(p):
        reducer = np.max if p > 0 else np.min
        return ordered(reducer(size, dim, keepdims=keepdim)).astype(kind)
    if p == 0:
        z = (size != 0).sum(dim, keepdims=keepdim)
    elif p == 1:
        z = sum(size, dim, keepdim)
    elif p == 2:
        z = np.sqrt(_squares(size, dim, keepdim))
    else:
        z = sum(size**p, dim, keepdim) ** (1.0 / p)
    return ordered(np.asarray(z)).astype(kind, copy=False)


def _squares(x: ndarray, dim: Dims, keepdim: bool) -> Any:
    if x.flags.c_contiguous and (dim is None or len(dim) == x.ndim):
        flat = x.reshape(-1)
        z = np.asarray(np.dot(flat, flat))
        return z.reshape((1,) * x.ndim) if keepdim else z
    if x.flags.c_contiguous and dim == (x.ndim - 1,) and x.dtype.kind == "f":
        z = np.vecdot(x, x)
        return z[..., None] if keepdim else z
    return sum(x * x, dim, keepdim)


def dist(x: ndarray, y: ndarray, p: float) -> ndarray:
    """The p-norm of x - y."""
    z = widen(x) - widen(y)
    return vector_norm_dims(z, p, None, False).astype(x.real.dtype, copy=False)


# Elements of differences of rows that are made at a time.
_TOGETHER = 1 << 16


def cdist(x: ndarray, y: ndarray, p: float) -> ndarray:
    """p-norms of differences of rows: (..., n, m) from (..., n, d) and (..., m, d)."""
    shape = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    z = np.zeros((*shape, x.shape[-2], y.shape[-2]), x.dtype)
    if not x.shape[-1] or not z.size:
        return z
    step = max(1, _TOGETHER * x.shape[-2] // (z.size * x.shape[-1]))
    for i in range(0, x.shape[-2], step):
        rows = x[..., i : i + step, None, :] - y[..., None, :, :]
        z[..., i : i + step, :] = _row_norms(rows, p)
    return z


def _row_norms(rows: ndarray, p: float) -> ndarray:
    """p-norms along the last axis of fresh rows."""
    if p != 2 or rows.dtype.kind != "f" or rows.dtype.itemsize == 2:
        return vector_norm_dims(rows, p, (rows.ndim - 1,), False)
    squares = np.asarray(np.add.reduce(np.multiply(rows, rows, rows), axis=-1))
    return np.sqrt(squares, squares)


def euclidean(x: ndarray, y: ndarray) -> ndarray:
    """Distances of rows by one matrix product: |x|² + |y|² - 2 x·y, not below 0."""
    own, theirs = (x * x).sum(-1, keepdims=True), (y * y).sum(-1, keepdims=True)
    left = np.concatenate([-2 * x, own, np.ones_like(own)], -1)
    right = np.concatenate([y, np.ones_like(theirs), theirs], -1)
    z = left @ right.swapaxes(-1, -2)
    return np.sqrt(np.maximum(z, 0))


def renorm(x: ndarray, p: float, dim: int, limit: float) -> ndarray:
    """Slices along ``dim`` scaled down to a p-norm of ``limit``, where theirs is larger."""
    rest = tuple(i for i in range(x.ndim) if i != dim)
    norm = vector_norm_dims(widen(x), p, rest, True)
    factor = np.where(norm > limit, limit / (norm + 1e-7), 1.0).astype(norm.dtype)
    return ordered(widen(x) * factor).astype(x.dtype, copy=False)


def count_nonzero(x: ndarray, dim: Dims) -> ndarray:
    return np.asarray(np.count_nonzero(x != 0 if x.dtype.kind == "V" else x, dim), np.int64)


def trace(x: ndarray) -> ndarray:
    """The sum of a matrix's diagonal; integers sum to int64."""
    return sum(np.diagonal(x), None)


# --- counting -------------------------------------------------------------------------------------


def bincount(x: ndarray, weights: ndarray | None, least: int) -> ndarray:
    """How often (or with what weight) each whole number occurs; at least ``least`` numbers."""
    if weights is None:
        return np.bincount(x, minlength=least).astype(np.int64, copy=False)
    kind = weights.dtype if weights.dtype == np.float32 else np.dtype(np.float64)
    return np.bincount(x, to_dtype(weights, np.dtype(np.float64)), least).astype(kind, copy=False)


def histc(x: ndarray, bins: int, low: float, high: float) -> ndarray:
    """Counts in ``bins`` equal intervals of [low, high] (of the values' range, if both are 0)."""
    flat = widen(x).reshape(-1)
    low, high = _interval(flat, low, high)
    flat = flat[(flat >= low) & (flat <= high)]
    width = high - low
    at = ((flat - flat.dtype.type(low)) / flat.dtype.type(width) * bins).astype(np.int64)
    counts = np.bincount(np.minimum(at, bins - 1), minlength=bins)
    return counts.astype(x.dtype)


def _interval(flat: ndarray, low: float, high: float) -> tuple[float, float]:
    if low == high and flat.size:
        low, high = float(flat.min()), float(flat.max())
    if low == high:
        low, high = low - 1, high + 1
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{_plain(low)}, {_plain(high)}] is not finite")
    return low, high


def _plain(value: float) -> str:
    """A number as C++ prints it, with the sign of a NaN."""
    return "-nan" if math.isnan(value) and math.copysign(1, value) < 0 else f"{value:g}"


def column_ranges(points: ndarray) -> list[float]:
    """The least and the greatest number of each column; 0 and 1 where there are none."""
    if not points.size:
        return [0.0, 1.0] * points.shape[1]
    ends = np.stack([points.min(0), points.max(0)], 1)
    return [float(end) for end in ends.reshape(-1)]


def histogram(x: ndarray, weight: ndarray | None, edges: list[ndarray]) -> ndarray:
    """Weighted counts of points (the last axis) between edges; the last interval is closed."""
    points = x.reshape(-1, len(edges))
    shape = tuple(len(e) - 1 for e in edges)
    keep = np.ones(len(points), bool)
    flat = np.zeros(len(points), np.int64)
    for axis, (edge, n) in enumerate(zip(edges, shape, strict=True)):
        own = points[:, axis]
        keep &= (own >= edge[0]) & (own <= edge[-1])
        at = np.searchsorted(edge, own, "right") - 1
        flat = flat * n + np.minimum(at, n - 1)
    weights = None if weight is None else weight.reshape(-1)[keep]
    counts = np.bincount(flat[keep], weights, math.prod(shape))
    return counts[: math.prod(shape)].astype(x.dtype).reshape(shape)


def pdist(x: ndarray, first: ndarray, second: ndarray, p: float) -> ndarray:
    """p-norms of the differences of the rows that two vectors of indices name."""
    return vector_norm_dims(x[first] - x[second], p, (1,), False).astype(x.dtype, copy=False)


def one_hot(x: ndarray, classes: int) -> ndarray:
    """(..., classes) of 0 with a 1 where ``x`` says."""
    return (x[..., None] == np.arange(classes)).astype(np.int64)
