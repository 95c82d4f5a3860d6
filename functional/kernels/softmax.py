"""Softmax, log-softmax and the negative log-likelihood loss on NumPy arrays.

Half types are computed in float32 and rounded once. Results are C-contiguous whatever the memory
order of the input, as PyTorch's are.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from .half import narrow, widen
from .reduce import row_sums
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


def _is_small(x: np.ndarray, dim: int) -> bool:
    """A small matrix along its rows, as classifiers have: calls cost more than the numbers."""
    return (
        x.ndim == 2
        and dim in (1, -1)
        and 0 < x.size <= _FEW
        and x.dtype.kind == "f"
        and x.dtype.itemsize >= 4
        and x.flags.c_contiguous
    )


def is_moderate(x: np.ndarray) -> bool:
    """Whether to spare the maximum: much to do, and exp(x) and sums stay far from the limits."""
    flat = x.reshape(-1)
    return (
        flat.size > _FEW
        and np.minimum.reduce(flat) > -_MODERATE
        and np.maximum.reduce(flat) < _MODERATE
    )


def softmax(x: np.ndarray, dim: int) -> np.ndarray:
    """exp(x - max) / sum(exp(x - max)) along dim."""
    if _is_small(x, dim):
        out = np.exp(x - _maximum(x, 1, None, None, True))
        return np.divide(out, _add(out, 1, None, None, True), out)
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
    if _is_small(x, dim):
        out = x - _maximum(x, 1, None, None, True)
        return np.subtract(out, np.log(_add(np.exp(out), 1, None, None, True)), out)
    if not x.size:
        return np.empty(x.shape, x.dtype)
    lines, size = _lines(x, dim)
    result = np.empty(lines.shape, lines.dtype)

    def work(first: int, last: int) -> None:
        part, out = lines[first:last], result[first:last]
        np.subtract(part, np.maximum.reduce(part, axis=1, keepdims=True), out=out)
        total = np.add.reduce(np.exp(out), axis=1, keepdims=True)
        np.subtract(out, np.log(total, out=total), out=out)

    in_chunks(len(lines), size, work)
    return narrow(result.reshape(x.shape), x.dtype)


def softmax_backward(g: np.ndarray, result: np.ndarray, dim: int) -> np.ndarray:
    """(g - sum(g * y)) * y, from dy_i/dx_j = y_i * (delta_ij - y_j)."""
    if _is_small(g, dim) and result.flags.c_contiguous:
        out = g - _add(g * result, 1, None, None, True)
        return np.multiply(out, result, out)
    if not g.size:
        return np.empty(g.shape, g.dtype)
    lines, size = _lines(g, dim)
    ys = _lines(result, dim)[0]
    gradient = np.empty(lines.shape, lines.dtype)

    def work(first: int, last: int) -> None:
        part, y, out = lines[first:last], ys[first:last], gradient[first:last]
        if part.ndim == 2 and part.dtype.kind == "f":  # of complex numbers it takes conjugates
            dots = np.vecdot(part, y)[:, None]
        else:
            dots = _add(np.multiply(part, y, out=out), 1, None, None, True)
        np.subtract(part, dots, out=out)
        np.multiply(out, y, out=out)

    in_chunks(len(lines), size, work)
    return narrow(gradient.reshape(g.shape), g.dtype)


def log_softmax_backward(g: np.ndarray, result: np.ndarray, dim: int) -> np.ndarray:
    """g - exp(y) * sum(g), from dy_i/dx_j = delta_ij - exp(y_j)."""
    if _is_small(g, dim) and result.flags.c_contiguous:
        out = np.exp(result)
        return np.subtract(g, np.multiply(out, _add(g, 1, None, None, True), out), out)
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


@lru_cache(maxsize=64)
def _rows(n: int) -> np.ndarray:
    rows = np.arange(n)
    rows.flags.writeable = False
    return rows


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
    plain = flat.dtype == np.int64 and not 0 <= ignore_index < classes
    if plain and not np.logical_or.reduce(flat.view(np.uint64) >= classes):
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
        loss = -_add(x[_rows(flat.size), flat])
        return np.asarray(loss / total if reduction == MEAN else loss), np.asarray(total)
    losses = widen(_class_major(x)[_rows(flat.size), flat])
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
    flat, kept = _checked(target, classes, ignore_index)
    picked = _picked_weights(flat, kept, weight)
    values = -widen(g).reshape(-1)
    if reduction == MEAN:
        values = values / widen(total_weight)
    if picked is not None:
        values = np.where(picked == 0, 0, values * picked)
    out = np.zeros((flat.size, classes), x_dtype)
    out[_rows(flat.size), flat] = values
    if len(x_shape) <= 2:
        return out.reshape(x_shape)
    spread = out.reshape(x_shape[0], *x_shape[2:], classes)
    return np.ascontiguousarray(np.moveaxis(spread, -1, 1))
