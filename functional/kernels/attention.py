"""Scaled dot-product attention."""

from __future__ import annotations

import numpy as np
from numpy import ndarray

from . import reduce
from .half import narrow, widen
from .softmax import is_moderate

__all__ = ["attention", "safe_softmax"]


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
    scores = np.matmul(query * query.dtype.type(scale), key.swapaxes(-1, -2))
    if is_causal:
        np.copyto(scores, -np.inf, where=np.tri(*scores.shape[-2:]) == 0)
    if mask is not None:
        if mask.dtype == bool:
            np.copyto(scores, -np.inf, where=~mask)
        else:
            scores += widen(mask)
    if scores.size:
        _softmax_rows(scores, may_be_empty=is_causal or mask is not None)
    return narrow(np.matmul(scores, value), dtype), narrow(scores, dtype)


def _softmax_rows(scores: ndarray, may_be_empty: bool) -> None:
    """Softmax over the last axis, in place; rows of -inf become 0."""
    if not is_moderate(scores):
        top = np.max(scores, -1, keepdims=True)
        if may_be_empty:
            top[top == -np.inf] = 0
        scores -= top
    np.exp(scores, out=scores)
    total = reduce.sum(scores, (scores.ndim - 1,), keepdim=True)
    if may_be_empty:
        total[total == 0] = 1
    scores /= total


def safe_softmax(x: ndarray, dim: int) -> ndarray:
    """Softmax along ``dim``; where all is -inf the result is 0, not NaN."""
    rows = np.array(np.moveaxis(widen(x), dim, -1), order="C")
    if rows.size:
        _softmax_rows(rows, may_be_empty=True)
    return narrow(np.ascontiguousarray(np.moveaxis(rows, -1, dim)), x.dtype)
