"""Scaled dot-product attention."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from .constants import lower
from .half import narrow, widen
from .softmax import is_moderate, row_maxima, row_totals, softmax_backward
from .threads import in_chunks

__all__ = ["attention", "attention_backward", "safe_softmax"]


def attention(
    query: ndarray,
    key: ndarray,
    value: ndarray,
    mask: ndarray | None,
    scale: float,
    is_causal: bool,
) -> tuple[ndarray, ndarray]:
    """softmax(query keyᵀ scale + mask) value, and that softmax; rows that see nothing are 0.

    query (..., L, E), key (..., S, E), value (..., S, V); the mask, additive or boolean (True takes
    part), broadcasts to (..., L, S).
    """
    dtype = query.dtype
    query, key, value = widen(query), widen(key), widen(value)
    factor = query.dtype.type(scale)
    weights = np.empty((*query.shape[:-1], key.shape[-2]), query.dtype)
    out = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    may_be_empty = is_causal or mask is not None

    def work(first: int, last: int) -> None:
        scores = weights[first:last]
        np.matmul(query[first:last], key[first:last].swapaxes(-1, -2), out=scores)
        scores *= factor
        seen = _masked(scores, _batches(mask, scores.ndim, first, last), is_causal)
        if scores.size:
            _softmax_rows(scores, seen, may_be_empty)
        np.matmul(scores, value[first:last], out=out[first:last])

    _by_batch(weights, query.shape[-1], work)
    return narrow(out, dtype), narrow(weights, dtype)


def attention_backward(
    g: ndarray | None, g_weights: ndarray | None, query: ndarray, key: ndarray, value: ndarray,
    weights: ndarray, scale: float,
) -> tuple[ndarray, ndarray, ndarray]:  # fmt: skip
    """Gradients of query, key and value from those of both results of ``attention``."""
    dtype = query.dtype
    q, k, v, y = widen(query), widen(key), widen(value), widen(weights)
    grads: list[Any] = [None if a is None else widen(a) for a in (g, g_weights)]
    found = tuple(np.empty(a.shape, a.dtype) for a in (q, k, v))
    factor = q.dtype.type(scale)

    def work(first: int, last: int) -> None:
        by_out, by_weights = (None if a is None else a[first:last] for a in grads)
        part = y[first:last]
        if by_out is None:
            found[2][first:last] = 0
        else:
            np.matmul(part.swapaxes(-1, -2), by_out, out=found[2][first:last])
            through = np.matmul(by_out, v[first:last].swapaxes(-1, -2))
            by_weights = through if by_weights is None else through + by_weights
        assert by_weights is not None
        scores = softmax_backward(by_weights, part, -1)
        scores *= factor
        np.matmul(scores, k[first:last], out=found[0][first:last])
        np.matmul(scores.swapaxes(-1, -2), q[first:last], out=found[1][first:last])

    _by_batch(y, q.shape[-1], work)
    return tuple(narrow(a, dtype) for a in found)  # type: ignore[return-value]


_ALONE = 1 << 18  # multiplications of a product that the BLAS leaves to the thread that asks


def _by_batch(weights: ndarray, width: int, work: Any) -> None:
    """Calls ``work`` on parts of the batch side by side, unless the BLAS has threads for it."""
    count = len(weights)
    if weights.ndim > 2 and weights.shape[-2] * weights.shape[-1] * width <= _ALONE:
        in_chunks(count, weights.size // max(1, count), work)
    else:
        work(0, count)


def _batches(mask: ndarray | None, ndim: int, first: int, last: int) -> ndarray | None:
    """The mask of some batches."""
    return mask if mask is None or mask.ndim < ndim or len(mask) == 1 else mask[first:last]


def _masked(scores: ndarray, mask: ndarray | None, is_causal: bool) -> ndarray | None:
    """Adds an additive mask; returns an array that is 0 or False at what takes no part, if any."""
    seen = None
    if mask is not None and mask.dtype != bool:
        scores += widen(mask)
    elif mask is not None:
        seen = mask
    if is_causal:
        earlier = lower(*scores.shape[-2:], scores.dtype)
        seen = earlier if seen is None else np.logical_and(seen, earlier)
    return seen


def _softmax_rows(scores: ndarray, seen: Any, may_be_empty: bool) -> None:
    """Softmax over the last axis of what is ``seen`` (None: all), in place; the rest becomes 0, and
    so do rows of -inf.
    """
    rows = scores.reshape(-1, scores.shape[-1])
    if is_moderate(scores, 0):
        np.exp(scores, out=scores)
        if seen is not None:
            np.multiply(scores, seen, out=scores)
    else:
        if seen is not None and seen.dtype == bool:  # -inf is added: infinity that is hidden is NaN
            scores += np.where(seen, scores.dtype.type(0), scores.dtype.type(-np.inf))
        elif seen is not None:
            np.copyto(scores, -np.inf, where=np.equal(seen, 0))
        top = row_maxima(rows)
        if may_be_empty:
            top[top == -np.inf] = 0
        rows -= top
        np.exp(rows, out=rows)
    total = row_totals(rows)
    if may_be_empty:
        total[total == 0] = 1
    rows /= total


def safe_softmax(x: ndarray, dim: int) -> ndarray:
    """Softmax along ``dim``; where all is -inf the result is 0, not NaN."""
    rows = np.array(np.moveaxis(widen(x), dim, -1), order="C")
    if rows.size:
        _softmax_rows(rows, None, may_be_empty=True)
    return narrow(np.ascontiguousarray(np.moveaxis(rows, -1, dim)), x.dtype)
