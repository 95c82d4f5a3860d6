"""Softmax, log-softmax and the negative log-likelihood loss on NumPy arrays.

Half types are computed in float32 and rounded once. Results are C-contiguous whatever the memory
order of the input, as PyTorch's are.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .constants import multiples, ones
from .half import narrow, widen
from .reduce import ALONE, column_sums, dots, row_sums
from .threads import in_chunks

__all__ = [
    "MEAN",
    "NONE",
    "SUM",
    "log_softmax",
    "log_softmax_backward",
    "nll_loss",
    "nll_loss_backward",
    "softmax",
    "softmax_backward",
]

NONE, MEAN, SUM = 0, 1, 2
_EXACT = 1 << 24  # from here on float32 skips whole numbers
_I64, _U64 = np.dtype(np.int64), np.dtype(np.uint64)


def _lines(x: np.ndarray, dim: int) -> tuple[np.ndarray, int]:
    """x, contiguous and of a computing type, as (outer, n, inner) around dim, or (outer, n).

    The second result is how many elements an item of the first axis has.
    """
    x = np.ascontiguousarray(widen(x))
    dim %= x.ndim
    outer, inner = prod(x.shape[:dim]), prod(x.shape[dim + 1 :])
    shape = (outer, x.shape[dim]) if inner == 1 else (outer, x.shape[dim], inner)
    return x.reshape(shape), x.shape[dim] * inner


_FEW = 1 << 15
_MODERATE = 30.0  # exp(30) = 1e13: sums of a million such, and what they divide, keep every digit
_add: Any = np.add.reduce
_maximum: Any = np.maximum.reduce


def _small(x: np.ndarray, dim: int) -> tuple[Any, int]:
    """Few numbers, as classifiers have, as a matrix and its axis; (None, 0) for others.

    The calls cost more than the numbers.
    """
    if not 0 < x.size <= _FEW or x.dtype.char not in "fd" or not x.flags.c_contiguous:
        return None, 0
    if x.ndim and dim in (-1, x.ndim - 1):
        return (x if x.ndim == 2 else x.reshape(-1, x.shape[-1])), 1
    return (x, 0) if x.ndim == 2 else (None, 0)


_NARROW, _TALL = 48, 24  # rows this short and this many are better compared as columns


def _maxima(x: np.ndarray, axis: int) -> np.ndarray:
    """The maxima of a matrix's rows (axis 1) or columns, such that they broadcast with it."""
    if not axis:
        return _maximum(x, 0)
    rows, n = x.shape
    if n <= _NARROW and rows >= _TALL:
        return _maximum(x.T.copy(), 0)[:, None]
    return np.maximum.reduceat(x.reshape(-1), multiples(rows, n))[:, None]


def _sums(x: np.ndarray, axis: int) -> np.ndarray:
    """The sums of a matrix's rows (axis 1) or columns, such that they broadcast with it."""
    return row_totals(x) if axis else column_sums(x)


def row_maxima(x: np.ndarray) -> np.ndarray:
    """The maxima of a contiguous matrix's rows, as a column."""
    return _maxima(x, 1) if x.size <= _FEW else _maximum(x, 1, None, None, True)


def row_totals(x: np.ndarray) -> np.ndarray:
    """The sums of a contiguous matrix's rows, as a column."""
    units = ones(x.shape[1], x.dtype)
    return x.dot(units[:, None]) if x.size < ALONE else np.vecdot(x, units)[:, None]


def is_moderate(x: np.ndarray, least: int = _FEW) -> bool:
    """Whether to spare the maximum: much to do, and exp(x) and sums stay far from the limits."""
    flat = x.reshape(-1)
    return (
        flat.size > least
        and np.minimum.reduce(flat) > -_MODERATE
        and np.maximum.reduce(flat) < _MODERATE
    )


_SPARED = 1 << 11  # elements of a small matrix from which on looking at them all pays


def softmax(x: np.ndarray, dim: int) -> np.ndarray:
    """exp(x - max) / sum(exp(x - max)) along dim."""
    rows, axis = _small(x, dim)
    if rows is not None:
        out = np.exp(rows if is_moderate(rows, _SPARED) else rows - _maxima(rows, axis))
        return np.divide(out, _sums(out, axis), out).reshape(x.shape)
    if not x.size:
        return np.empty(x.shape, x.dtype)
    lines, size = _lines(x, dim)
    result = np.empty(lines.shape, lines.dtype)

    def work(first: int, last: int) -> None:
        part, out = lines[first:last], result[first:last]
        if is_moderate(part):
            np.exp(part, out=out)
        else:
            np.subtract(part, np.maximum.reduce(part, axis=1, keepdims=True), out=out)
            np.exp(out, out=out)
        total = row_sums(out)[:, None] if out.ndim == 2 else _add(out, 1, None, None, True)
        np.divide(out, total, out=out)

    in_chunks(len(lines), size, work)
    return narrow(result.reshape(x.shape), x.dtype)


def log_softmax(x: np.ndarray, dim: int) -> np.ndarray:
    """x - max - log(sum(exp(x - max))) along dim."""
    rows, axis = _small(x, dim)
    if rows is not None:
        out = rows - _maxima(rows, axis)
        total = _sums(np.exp(out), axis)
        return np.subtract(out, np.log(total, total), out).reshape(x.shape)
    if not x.size:
        return np.empty(x.shape, x.dtype)
    lines, size = _lines(x, dim)
    result = np.empty(lines.shape, lines.dtype)

    def work(first: int, last: int) -> None:
        part, out = lines[first:last], result[first:last]
        np.subtract(part, np.maximum.reduce(part, axis=1, keepdims=True), out=out)
        powers = np.exp(out)
        total = row_sums(powers)[:, None] if out.ndim == 2 else _add(powers, 1, None, None, True)
        np.subtract(out, np.log(total, out=total), out=out)

    in_chunks(len(lines), size, work)
    return narrow(result.reshape(x.shape), x.dtype)


def softmax_backward(g: np.ndarray, result: np.ndarray, dim: int) -> np.ndarray:
    """(g - sum(g * y)) * y, from dy_i/dx_j = y_i * (delta_ij - y_j)."""
    rows, axis = _small(g, dim)
    if rows is not None and result.flags.c_contiguous:
        y = result.reshape(rows.shape)
        out = rows - (np.vecdot(rows, y)[:, None] if axis else _add(rows * y, 0))
        return np.multiply(out, y, out).reshape(g.shape)
    if not g.size:
        return np.empty(g.shape, g.dtype)
    lines, size = _lines(g, dim)
    ys = _lines(result, dim)[0]
    gradient = np.empty(lines.shape, lines.dtype)

    def work(first: int, last: int) -> None:
        part, y, out = lines[first:last], ys[first:last], gradient[first:last]
        if part.ndim == 2 and part.dtype.kind == "f":  # of complex numbers it takes conjugates
            inner = dots(part, y)[:, None]
        else:
            inner = _add(np.multiply(part, y, out=out), 1, None, None, True)
        np.subtract(part, inner, out=out)
        np.multiply(out, y, out=out)

    in_chunks(len(lines), size, work)
    return narrow(gradient.reshape(g.shape), g.dtype)


def log_softmax_backward(g: np.ndarray, result: np.ndarray, dim: int) -> np.ndarray:
    """g - exp(y) * sum(g), from dy_i/dx_j = delta_ij - exp(y_j)."""
    rows, axis = _small(g, dim)
    if rows is not None and result.flags.c_contiguous:
        out = np.exp(result.reshape(rows.shape))
        np.multiply(out, _sums(rows, axis), out)
        return np.subtract(rows, out, out).reshape(g.shape)
    if not g.size:
        return np.empty(g.shape, g.dtype)
    lines, size = _lines(g, dim)
    ys = _lines(result, dim)[0]
    gradient = np.empty(lines.shape, lines.dtype)

    def work(first: int, last: int) -> None:
        part, out = lines[first:last], gradient[first:last]
        np.exp(ys[first:last], out=out)
        np.multiply(out, np.add.reduce(part, axis=1, keepdims=True), out=out)
        np.subtract(part, out, out=out)

    in_chunks(len(lines), size, work)
    return narrow(gradient.reshape(g.shape), g.dtype)


def _class_major(x: np.ndarray) -> np.ndarray:
    """(C,), (N, C) or (N, C, *d) seen as (rows, C)."""
    if x.ndim <= 2:
        return x.reshape(-1, x.shape[-1])
    return np.moveaxis(x, 1, -1).reshape(-1, x.shape[1])


def _checked(target: np.ndarray, classes: int, ignore_index: int) -> tuple[np.ndarray, object]:
    """Flat class numbers safe to index with, and the mask of kept ones (None: all are kept)."""
    flat = target.reshape(-1)
    if not flat.size:
        return flat, None
    kept = None
    # the common case in one pass: as unsigned numbers negative ones are out of bounds too
    plain = flat.dtype is _I64 and not 0 <= ignore_index < classes
    if plain and _maximum(flat.view(_U64)) < classes:
        return flat, None
    if np.minimum.reduce(flat) < 0 or 0 <= ignore_index < classes or ignore_index in flat:
        kept = flat != ignore_index
        flat = np.where(kept, flat, 0)
    if np.minimum.reduce(flat) < 0 or np.maximum.reduce(flat) >= classes:
        bad = flat[(flat < 0) | (flat >= classes)][0]
        raise IndexError(f"Target {bad} is out of bounds.")
    return flat, kept


def _picked_weights(flat, kept, weight) -> np.ndarray | None:
    """The weight of every target, 0 for ignored ones; None when all are 1."""
    picked = None if weight is None else widen(weight)[flat]
    if kept is None:
        return picked
    return kept.astype(np.float32) if picked is None else picked * kept


def nll_loss(
    x: np.ndarray, target: np.ndarray, weight: np.ndarray | None, reduction: int, ignore_index: int
) -> tuple[np.ndarray, np.ndarray]:
    """-weight[target] * x[target] per sample, summed or averaged over the total weight.

    x is (C,), (N, C) or (N, C, *d), target () or (N,) or (N, *d). Returns (loss, total_weight);
    without reduction the total weight is 0, as in PyTorch.
    """
    classes = x.shape[0] if x.ndim == 1 else x.shape[1]
    flat, kept = _checked(target, classes, ignore_index)
    plain = kept is None and weight is None and reduction != NONE
    if plain and flat.size and x.ndim == 2 and x.itemsize >= 4:
        total = x.dtype.type(flat.size)
        loss = -_add(x[multiples(flat.size), flat])
        return np.asarray(loss / total if reduction == MEAN else loss), np.asarray(total)
    losses = widen(_class_major(x)[multiples(flat.size), flat])
    picked = _picked_weights(flat, kept, weight)
    losses = np.negative(losses)
    if picked is not None:
        # An ignored sample counts nothing even where its value is infinite or NaN.
        losses = np.where(picked == 0, 0, losses * picked) if kept is not None else losses * picked
        losses = losses.astype(picked.dtype if x.dtype.itemsize < 4 else x.dtype, copy=False)
    if reduction == NONE:
        shape = () if x.ndim == 1 else target.shape
        return np.asarray(narrow(losses.reshape(shape), x.dtype)), np.zeros((), x.dtype)
    total = losses.dtype.type(flat.size) if picked is None else np.add.reduce(picked)
    loss = np.add.reduce(losses)
    if reduction == MEAN:
        loss = loss / total if total else loss.dtype.type("nan")
    return np.asarray(loss, x.dtype), np.asarray(total, x.dtype)


def nll_loss_backward(
    g: np.ndarray,
    x_shape: tuple[int, ...],
    x_dtype: np.dtype,
    target: np.ndarray,
    weight: np.ndarray | None,
    reduction: int,
    ignore_index: int,
    total_weight: np.ndarray,
) -> np.ndarray:
    """-weight[target] * g at every target's class, 0 elsewhere."""
    classes = x_shape[0] if len(x_shape) == 1 else x_shape[1]
    exact = total_weight.dtype.itemsize >= 4 and target.size < _EXACT
    if exact and weight is None and reduction != NONE and total_weight == target.size:
        flat, picked = target.reshape(-1), None  # none was ignored, and all have been checked
    else:
        flat, kept = _checked(target, classes, ignore_index)
        picked = _picked_weights(flat, kept, weight)
    values = -widen(g).reshape(-1)
    if reduction == MEAN:
        values = values / widen(total_weight)
    if picked is not None:
        values = np.where(picked == 0, 0, values * picked)
    out = np.zeros((flat.size, classes), x_dtype)
    out[multiples(flat.size), flat] = values
    if len(x_shape) <= 2:
        return out.reshape(x_shape)
    spread = out.reshape(x_shape[0], *x_shape[2:], classes)
    return np.ascontiguousarray(np.moveaxis(spread, -1, 1))
