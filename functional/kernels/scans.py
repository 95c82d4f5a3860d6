"""Scans along a dimension: running products, extremes, log-sum-exp, and linear recurrences."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from .complex import log_add_exp
from .half import widen
from .reduce import ordered
from .shapes import to_dtype


def cumprod(x: ndarray, dim: int, dtype: Any = None) -> ndarray:
    """Running products along ``dim``; integers multiply to int64."""
    if dtype is not None:
        x = to_dtype(x, dtype)
    kind = np.dtype(np.int64) if x.dtype.kind in "iub" and dtype is None else x.dtype
    if x.ndim == 0:
        return x.astype(kind)
    total = np.cumprod(widen(x), dim, kind if kind.kind in "iub" else None)
    return ordered(total).astype(kind, copy=False)


def cummax(x: ndarray, dim: int) -> tuple[ndarray, ndarray]:
    """(running maxima along ``dim``, the last index at which each was reached)."""
    return _running(x, dim, np.maximum)


def cummin(x: ndarray, dim: int) -> tuple[ndarray, ndarray]:
    """(running minima along ``dim``, the last index at which each was reached)."""
    return _running(x, dim, np.minimum)


def _running(x: ndarray, dim: int, choose: Any) -> tuple[ndarray, ndarray]:
    if x.ndim == 0:
        return x.copy(), np.zeros((), np.int64)
    wide = widen(x)
    values = choose.accumulate(wide, dim)
    here = wide == values
    if wide.dtype.kind == "f" and np.isnan(values.take(-1, dim) if x.shape[dim] else values).any():
        here |= np.isnan(wide)
    places = np.arange(x.shape[dim], dtype=np.int32 if x.shape[dim] < 1 << 31 else np.int64)
    at = here * places.reshape((-1, *(1,) * (x.ndim - 1 - dim)))
    at = np.maximum.accumulate(at, dim, out=at)
    return ordered(values).astype(x.dtype, copy=False), ordered(at).astype(np.int64)


def logcumsumexp(x: ndarray, dim: int) -> ndarray:
    """Running log Σ exp along ``dim``, without overflow."""
    if x.ndim == 0:
        return x.copy()
    wide = widen(x)
    if wide.dtype.kind != "c":
        return ordered(np.logaddexp.accumulate(wide, dim)).astype(x.dtype, copy=False)
    rows = np.moveaxis(wide, dim, 0)
    z, running = np.empty_like(rows), np.full(rows.shape[1:], -np.inf, rows.dtype)
    for i, row in enumerate(rows):
        z[i] = running = log_add_exp(row, running)
    return ordered(np.moveaxis(z, 0, dim))


def shift(x: ndarray, dim: int, step: int, fill: float = 0.0) -> ndarray:
    """``x`` moved by ``step`` (1 or -1) places along ``dim``; the free place gets ``fill``."""
    if x.ndim == 0:
        return np.full_like(x, fill)
    z = np.empty(x.shape, x.dtype)
    to, of, free = (slice(1, None), slice(None, -1), slice(0, 1))
    if step < 0:
        to, of, free = of, to, slice(-1, None)
    lead = (slice(None),) * dim
    z[(*lead, to)] = x[(*lead, of)]
    z[(*lead, free)] = fill
    return z


def recurrence(a: ndarray, b: ndarray, dim: int, reverse: bool) -> ndarray:
    """y[k] = b[k] + a[k] y[k-1] along ``dim`` (y[k+1] if ``reverse``); the first a is unused."""
    if b.ndim == 0 or not b.size:
        return b.copy()
    rows, factors = np.moveaxis(b, dim, 0), np.moveaxis(np.broadcast_to(a, b.shape), dim, 0)
    if reverse:
        rows, factors = rows[::-1], factors[::-1]
    kind = np.result_type(widen(rows).dtype, np.float64)  # float32 would lose too many digits
    z = _solve(factors.astype(kind), rows.astype(kind)).astype(b.dtype)
    return ordered(np.moveaxis(z[::-1] if reverse else z, 0, dim))


_LARGE, _SMALL = 1e150, 1e-150


def _solve(a: ndarray, b: ndarray) -> ndarray:
    """The recurrence along axis 0: by running sums of b / Πa, where that product is no extreme."""
    product = np.concatenate([np.ones_like(a[:1]), a[1:]]).cumprod(0)
    size = np.abs(product)
    if ((size > _SMALL) & (size < _LARGE)).all():
        return (b / product).cumsum(0) * product
    z = np.array(b)
    for k in range(1, len(z)):
        z[k] += a[k] * z[k - 1]
    return z
