"""Sorting, and what rests on it: extremes by rank, unique values, binary search."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

from .half import is_half, widen
from .reduce import ordered
from .threads import LONG, spread

_FEW = 1 << 10  # up to here a sort is quicker than anything cleverer
_MANY = 1 << 16  # rows together larger than this are shared among threads


def _key(x: ndarray, descending: bool) -> ndarray:
    """Whole numbers in the order of ``x`` (reversed if ``descending``); NaN is the greatest."""
    x = widen(x)
    if x.dtype.kind != "f":
        return ~x if descending else x
    item = x.dtype.itemsize
    word, top = np.dtype(f"i{item}"), np.iinfo(f"i{item}").max
    bits = (x + x.dtype.type(0)).view(word)  # one zero for both signs
    key = bits ^ ((bits >> (8 * item - 1)) & top)
    nan = np.isnan(x)
    if nan.any():
        key[nan] = top
    return ~key if descending else key


def argsort_last(x: ndarray, descending: bool) -> ndarray:
    """The stable order of the elements along the last axis."""
    if x.size < _MANY and not is_half(x.dtype):
        if not descending:
            return x.argsort(-1, "stable")
        if x.dtype.kind == "f" and x.size and not np.isnan(np.maximum.reduce(x, None)):
            return np.negative(x).argsort(-1, "stable")
    key = np.ascontiguousarray(_key(x, descending))
    if key.dtype.itemsize != 4 or key.shape[-1] < 64:
        return np.argsort(key, -1, kind="stable")
    # number and place in one word, which a vectorised sort keeps in order
    word = key.astype(np.int64) << 32 | np.arange(key.shape[-1])
    rows = word.reshape(-1, key.shape[-1])
    parts = 8 if rows.size > _MANY else 1
    spread(len(rows), parts, lambda i, j: rows[i:j].sort(-1))
    word &= 0xFFFFFFFF
    return word


def sort(x: ndarray, dim: int, descending: bool) -> tuple[ndarray, ndarray]:
    """(values, indices) in stable order along ``dim``; NaN counts as the greatest."""
    if x.ndim == 0:
        return x.copy(), np.zeros((), np.int64)
    if dim == x.ndim - 1 and x.flags.c_contiguous:
        at = argsort_last(x, descending)
        return along_last(x, at), at
    last = np.moveaxis(x, dim, -1)
    at = argsort_last(last, descending)
    return _like(along_last(last, at), x, dim), _like(at, x, dim)


def along_last(x: ndarray, at: ndarray) -> ndarray:
    """The elements of every row that ``at`` names."""
    if x.ndim == 1:
        return x[at]
    if x.ndim == 2:
        return x[np.arange(len(x))[:, None], at]
    return np.take_along_axis(x, at, -1)


def _like(z: ndarray, x: ndarray, dim: int) -> ndarray:
    """A result with its last axis moved to ``dim``, in the memory order of ``x``."""
    from .layout import kept_strides, with_strides

    z = np.moveaxis(z, -1, dim)
    return with_strides(z, kept_strides(x, z.dtype))


def topk(x: ndarray, k: int, dim: int, largest: bool, ordered_: bool) -> tuple[ndarray, ndarray]:
    """(values, indices) of the ``k`` largest (or smallest) elements along ``dim``, in order."""
    if x.ndim == 0:
        return x.copy(), np.zeros((), np.int64)
    last = x if dim == x.ndim - 1 else np.moveaxis(x, dim, -1)
    at = _top_few(last, k, largest) if last.ndim == 1 else None
    if at is None:
        at = _top(last, k, largest)
    values = along_last(last, at)
    if dim == x.ndim - 1:
        return values, at
    return ordered(np.moveaxis(values, -1, dim)), ordered(np.moveaxis(at, -1, dim))


def _top(x: ndarray, k: int, largest: bool) -> ndarray:
    n = x.shape[-1]
    if k * 4 > n or n < 64 or x.size <= _FEW:
        return np.ascontiguousarray(argsort_last(x, largest)[..., :k])
    key = np.ascontiguousarray(_key(x, largest))
    at = np.empty((*x.shape[:-1], k), np.int64)
    rows, found = key.reshape(-1, n), at.reshape(-1, k)

    def work(i: int, j: int) -> None:
        found[i:j] = np.argpartition(rows[i:j], k, -1)[:, :k]

    spread(len(rows), 8 if rows.size > _MANY else 1, work)
    at.sort(-1)
    rank = np.argsort(np.take_along_axis(key, at, -1), -1, kind="stable")
    return np.take_along_axis(at, rank, -1)


_BLOCK = 512


def _top_few(x: ndarray, k: int, largest: bool) -> ndarray | None:
    """A few of many: only what exceeds the k-th best of the blocks' extremes can be among them."""
    blocks = x.size // _BLOCK
    if x.dtype.kind not in "fi" or is_half(x.dtype) or not 0 < 4 * k <= blocks:
        return None
    rows = x[: blocks * _BLOCK].reshape(blocks, _BLOCK)
    best = rows.max(1) if largest else rows.min(1)
    rest = x[blocks * _BLOCK :]
    if np.isnan(best).any() or np.isnan(rest).any():
        return None
    limit = np.partition(best, -k)[-k] if largest else np.partition(best, k - 1)[k - 1]
    at = np.flatnonzero(x >= limit if largest else x <= limit)
    return at[argsort_last(x[at], largest)[:k]]


def kthvalue(x: ndarray, k: int, dim: int, keepdim: bool) -> tuple[ndarray, ndarray]:
    """(value, index) of the ``k``-th smallest element along ``dim``, counted from 1."""
    if x.ndim == 0:
        return x.copy(), np.zeros((), np.int64)
    return _ranked(x if dim == x.ndim - 1 else np.moveaxis(x, dim, -1), k - 1, dim, keepdim)


def _ranked(last: ndarray, k: int, dim: int, keepdim: bool) -> tuple[ndarray, ndarray]:
    at = _find(last, k) if last.ndim == 1 and last.size > LONG else None
    if at is None:
        at = argsort_last(last, False)[..., k : k + 1]
    return _picked(last, at, dim, keepdim)


def _find(x: ndarray, k: int) -> ndarray | None:
    """Where a stable sort of a vector would find its ``k``-th element, as (1,): by selection.

    None where that is NaN, or of a half type.
    """
    if is_half(x.dtype):
        return None
    value = np.partition(x, k)[k]
    if value != value:
        return None
    return np.flatnonzero(x == value)[k - np.count_nonzero(x < value)][None]


def _at_rank(last: ndarray, rank: ndarray, dim: int, keepdim: bool) -> tuple[ndarray, ndarray]:
    order = argsort_last(last, False)
    at = np.take_along_axis(order, rank[..., None], -1).astype(np.int64)
    return _picked(last, at, dim, keepdim)


def _picked(last: ndarray, at: ndarray, dim: int, keepdim: bool) -> tuple[ndarray, ndarray]:
    values = along_last(last, at)
    if not keepdim:
        return ordered(values[..., 0]), ordered(at[..., 0])
    if dim == last.ndim - 1:
        return values, ordered(at)
    return ordered(np.moveaxis(values, -1, dim)), ordered(np.moveaxis(at, -1, dim))


def _nan(x: ndarray) -> ndarray:
    return np.isnan(widen(x)) if x.dtype.kind in "fV" else np.zeros(x.shape, bool)


def median_dim(x: ndarray, dim: int, keepdim: bool) -> tuple[ndarray, ndarray]:
    """(lower median, its index) along ``dim``; the first NaN, if there is one."""
    if x.ndim == 0:
        return x.copy(), np.zeros((), np.int64)
    last = x if dim == x.ndim - 1 else np.moveaxis(x, dim, -1)
    k = (last.shape[-1] - 1) // 2
    if x.dtype.kind != "V" and x.size:
        top = np.maximum.reduce(last, None)
        if top == top:
            return _ranked(last, k, dim, keepdim)
    nan = _nan(last)
    at = argsort_last(last, False)[..., k, None]
    at = np.where(nan.any(-1, keepdims=True), nan.argmax(-1)[..., None], at)
    return _picked(last, at, dim, keepdim)


def nanmedian_dim(x: ndarray, dim: int, keepdim: bool) -> tuple[ndarray, ndarray]:
    """(lower median of what is no NaN, its index) along ``dim``."""
    if x.ndim == 0:
        return x.copy(), np.zeros((), np.int64)
    last = np.moveaxis(x, dim, -1)
    count = last.shape[-1] - _nan(last).sum(-1)
    return _at_rank(last, np.maximum(count - 1, 0) // 2, dim, keepdim)


def median_all(x: ndarray) -> ndarray:
    """The lower median of all elements; NaN if there is one, or nothing at all."""
    if not x.size:
        return np.full((), np.nan if x.dtype.kind in "fV" else np.iinfo(x.dtype).min, x.dtype)
    flat = x.reshape(-1)
    if is_half(x.dtype):
        return median_all(widen(x)).astype(x.dtype)
    if _nan(flat).any():
        return np.full((), np.nan, x.dtype)
    k = (flat.size - 1) // 2
    return np.asarray(np.partition(flat, k)[k])


def nanmedian_all(x: ndarray) -> ndarray:
    """The lower median of all elements that are no NaN."""
    flat = x.reshape(-1)
    keep = ~_nan(flat)
    return median_all(flat[keep] if keep.any() else flat)


def mode(x: ndarray, dim: int, keepdim: bool) -> tuple[ndarray, ndarray]:
    """(the commonest value along ``dim``, the smallest of several, its last index)."""
    if x.ndim == 0:
        return x.copy(), np.zeros((), np.int64)
    last = np.moveaxis(x, dim, -1)
    n = last.shape[-1]
    order = argsort_last(last, False)
    values = widen(np.take_along_axis(last, order, -1))
    fresh = np.ones(values.shape, bool)
    fresh[..., 1:] = values[..., 1:] != values[..., :-1]
    start = np.maximum.accumulate(np.where(fresh, np.arange(n), 0), -1)
    length = np.arange(n) - start  # one less than how often the value was seen so far
    at = np.take_along_axis(order, length.argmax(-1)[..., None], -1).astype(np.int64)
    return _picked(last, at, dim, keepdim)


# --- unique values --------------------------------------------------------------------------------


def unique(x: ndarray, places: bool) -> tuple[ndarray, ndarray, ndarray]:
    """(sorted distinct values, where each element is among them, how often each occurs).

    The last two are empty where ``places`` are not asked for.
    """
    flat = x.reshape(-1)
    if not places and not is_half(x.dtype):
        flat, nothing = np.sort(flat), np.empty(0, np.int64)
        return flat[_fresh(flat)], nothing, nothing
    order = argsort_last(flat, False) if flat.size else np.zeros(0, np.int64)
    values, group, counts = _runs(flat[order])
    inverse = np.empty(flat.size, np.int64)
    inverse[order] = group
    return values, inverse.reshape(x.shape), counts


def _fresh(x: ndarray) -> ndarray:
    """Whether each element (or slice) differs from the one before."""
    fresh = np.ones(len(x), bool)
    if x.ndim == 1:
        np.not_equal(x[1:], x[:-1], out=fresh[1:])
    elif len(x) > 1:
        fresh[1:] = (x[1:] != x[:-1]).any(tuple(range(1, x.ndim)))
    return fresh


def _runs(x: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """The values of runs of equal elements, the run of each element, the runs' lengths."""
    fresh = _fresh(x)
    starts = np.flatnonzero(fresh)
    counts = np.diff(starts, append=len(x)).astype(np.int64)
    return x[fresh], np.cumsum(fresh) - 1, counts


def unique_consecutive(x: ndarray, dim: int | None) -> tuple[ndarray, ndarray, ndarray]:
    """Runs of equal elements (or slices along ``dim``): values, run of each, lengths."""
    if dim is None:
        values, inverse, counts = _runs(x.reshape(-1))
        return values, inverse.reshape(x.shape), counts
    values, inverse, counts = _runs(np.moveaxis(x, dim, 0))
    return ordered(np.moveaxis(values, 0, dim)), inverse, counts


_FEW = 16  # rows that PyTorch sorts by insertion


def _insertion_order(rows: ndarray) -> ndarray:
    """The order PyTorch sorts rows with NaN in, which compare equal to anything there."""
    order: list[int] = []
    for i in range(len(rows)):
        at = len(order)
        if order and _is_less(rows[i], rows[order[0]]):
            at = 0
        while at and _is_less(rows[i], rows[order[at - 1]]):
            at -= 1
        order.insert(at, i)
    return np.array(order)


def _is_less(x: ndarray, y: ndarray) -> bool:
    decided = np.nonzero((x < y) | (x > y))[0]
    return bool(decided.size and x[decided[0]] < y[decided[0]])


def unique_dim(x: ndarray, dim: int) -> tuple[ndarray, ndarray, ndarray]:
    """Distinct slices along ``dim`` in lexicographic order: slices, place of each, counts."""
    rows = np.moveaxis(x, dim, 0)
    flat = np.ascontiguousarray(rows).reshape(len(rows), math.prod(rows.shape[1:]))
    if 1 < len(flat) <= _FEW and flat.dtype.kind in "fVc" and np.isnan(flat).any():
        order = _insertion_order(flat)
    else:
        order = np.lexsort(_key(flat, False).T[::-1]) if flat.size else np.arange(len(rows))
    values, group, counts = _runs(np.ascontiguousarray(rows[order]))
    inverse = np.empty(len(rows), np.int64)
    inverse[order] = group
    return np.moveaxis(values, 0, dim), inverse, counts


# --- binary search --------------------------------------------------------------------------------


def searchsorted(edges: ndarray, values: ndarray, right: bool, sorter: Any = None) -> ndarray:
    """Where ``values`` belong in sorted rows: before equal elements, or behind if ``right``."""
    side: Any = "right" if right else "left"
    edges, values = _same(edges, values)
    if edges.ndim == 1:
        return _search(edges, values, side, sorter)
    z = np.empty(values.shape, np.int64)
    for at in np.ndindex(edges.shape[:-1]):
        own = None if sorter is None else sorter[at]
        z[at] = _search(edges[at], values[at], side, own)
    return z


def _same(edges: ndarray, values: ndarray) -> tuple[ndarray, ndarray]:
    """Both in one dtype that orders them as they are."""
    edges, values = widen(edges), widen(values)
    common = np.result_type(edges, values)
    return edges.astype(common, copy=False), values.astype(common, copy=False)


def _search(edges: ndarray, values: ndarray, side: Any, sorter: Any) -> ndarray:
    return np.asarray(np.searchsorted(edges, values, side, sorter), np.int64)


def isin(x: ndarray, test: ndarray, invert: bool) -> ndarray:
    """Whether each element of ``x`` is one of ``test``'s (or is none of them)."""
    return np.isin(widen(x), widen(test), invert=invert)
