"""Padding by a constant, by reflection, or with the edge's values, and the gradients.

``pads`` is as in PyTorch: (before, after) of the last dim, then of the one before it, ... all in
one tuple. Any dims may stand in front. Negative pads cut off.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from .axis_maps import AxisMap, apply_adjoint, apply_map
from .formats import follows
from .half import narrow, widen
from .layout import kept_strides, like
from .threads import spread

__all__ = [
    "constant_pad",
    "padded_shape",
    "reflection_pad",
    "reflection_pad_grad",
    "replication_pad",
    "replication_pad_grad",
]

Pads = tuple[int, ...]
SHARE = 400_000  # elements that take a few times as long to copy as waking a thread


def padded_shape(shape: tuple[int, ...], pads: Pads) -> tuple[int, ...]:
    """The shape after padding."""
    found = list(shape)
    for i in range(len(pads) // 2):
        found[-1 - i] += pads[2 * i] + pads[2 * i + 1]
    return tuple(found)


def _at(axis: int, where: slice) -> tuple[slice, ...]:
    return (slice(None),) * axis + (where,)


def _ranges(ndim: int, pads: Pads, sign: int) -> tuple[slice, ...]:
    """Where, in the padded (1) or the original (-1) array, the elements of both lie."""
    found = [slice(None)] * ndim
    for i in range(len(pads) // 2):
        before, after = max(sign * pads[2 * i], 0), max(sign * pads[2 * i + 1], 0)
        found[ndim - 1 - i] = slice(before, -after if after else None)
    return tuple(found)


def constant_pad_shape(x: Any, pads: Pads, value: float) -> tuple[Any, ...]:
    """The shape and dtype of constant_pad's result, and its strides where it only cuts off."""
    found = padded_shape(x.shape, pads), x.dtype
    if any(p > 0 for p in pads):
        return found
    kept = getattr(x, "phantom", x)[_ranges(len(x.shape), pads, -1)]
    return (*found, kept_strides(kept))


@follows(0)
def constant_pad(x: np.ndarray, pads: Pads, value: float) -> np.ndarray:
    """x with ``value`` around it."""
    kept = x[_ranges(x.ndim, pads, -1)]
    if all(p <= 0 for p in pads):
        result = like(kept)
        result[...] = kept
        return result
    result = np.empty(padded_shape(x.shape, pads), x.dtype)
    inner = _ranges(x.ndim, pads, 1)

    def work(first: int, last: int) -> None:
        part, own = (result, kept) if last < 0 else (result[first:last], kept[first:last])
        for i in range(len(pads) // 2):
            axis, before, after = x.ndim - 1 - i, *pads[2 * i : 2 * i + 2]
            if before > 0:
                part[_at(axis, slice(0, before))] = value
            if after > 0:
                part[_at(axis, slice(-after, None))] = value
        part[inner] = own

    _share(work, x, len(pads) // 2)
    return result


def _share(work: Any, x: np.ndarray, dims: int) -> None:
    """Run work(first, last) on parts of the first axis; on (0, -1), everything, if it is padded."""
    if x.ndim == dims or x.size < SHARE:
        work(0, -1)
    else:
        spread(len(x), x.size // SHARE, work)


@lru_cache(maxsize=256)
def _edge_map(n: int, before: int, after: int, reflect: bool) -> AxisMap:
    """Which element every place of the padded axis takes."""
    place = np.arange(n + before + after)
    last = n + before - 1
    if reflect:
        place = np.where(place < before, 2 * before - place, place)
        place = np.where(place > last, 2 * last - place, place)
    else:
        place = np.clip(place, before, last)
    return AxisMap((place - before)[None], None, n)


def _sources(n: int, before: int, after: int, reflect: bool) -> tuple[slice, slice]:
    """Where, on a padded axis of n elements, what lies before and after them comes from."""
    last = before + n - 1
    if not reflect:
        return slice(before, before + 1), slice(last, last + 1)
    stop = last - 1 - after
    return slice(2 * before, before, -1), slice(last - 1, stop if stop >= 0 else None, -1)


def _edge_pad(x: np.ndarray, pads: Pads, reflect: bool) -> np.ndarray:
    first = x.ndim - len(pads) // 2
    sides = [(pads[-2 - 2 * i], pads[-1 - 2 * i]) for i in range(len(pads) // 2)]
    if min(pads) < 0:
        for axis, (before, after) in enumerate(sides, first):
            x = apply_map(x, axis, _edge_map(x.shape[axis], before, after, reflect))
        return np.ascontiguousarray(x)
    result = np.empty(padded_shape(x.shape, pads), x.dtype)
    inner = _ranges(x.ndim, pads, 1)

    def work(start: int, stop: int) -> None:
        part, own = (result, x) if stop < 0 else (result[start:stop], x[start:stop])
        part[inner] = own
        for axis in reversed(range(first, x.ndim)):
            before, after = sides[axis - first]
            head, tail = _sources(x.shape[axis], before, after, reflect)
            if before:
                part[_at(axis, slice(0, before))] = part[_at(axis, head)]
            if after:
                part[_at(axis, slice(-after, None))] = part[_at(axis, tail)]

    _share(work, x, len(sides))
    return result


def _edge_grad(g: np.ndarray, pads: Pads, reflect: bool) -> np.ndarray:
    first = g.ndim - len(pads) // 2
    sides = [(pads[-2 - 2 * i], pads[-1 - 2 * i]) for i in range(len(pads) // 2)]
    work = widen(g)
    if min(pads) < 0:
        for axis, (before, after) in enumerate(sides, first):
            n = work.shape[axis] - before - after
            work = apply_adjoint(work, axis, _edge_map(n, before, after, reflect))
        return narrow(np.ascontiguousarray(work), g.dtype)
    work = work.copy() if work is g else work
    for axis, (before, after) in enumerate(sides, first):
        n = work.shape[axis] - before - after
        head, tail = _sources(n, before, after, reflect)
        for count, outside, inside in (
            (before, slice(0, before), head),
            (after, slice(before + n, None), tail),
        ):
            if count:
                part = work[_at(axis, outside)]
                work[_at(axis, inside)] += part if reflect else part.sum(axis, keepdims=True)
        work = work[_at(axis, slice(before, before + n))]
    return narrow(np.ascontiguousarray(work), g.dtype)


@follows(0, meta=False)
def reflection_pad(x: np.ndarray, pads: Pads) -> np.ndarray:
    """x mirrored at its edges, which are not repeated."""
    return _edge_pad(x, pads, True)


@follows(0, meta=False)
def replication_pad(x: np.ndarray, pads: Pads) -> np.ndarray:
    """x with its edges repeated."""
    return _edge_pad(x, pads, False)


@follows(1, meta=False)
def reflection_pad_grad(g: np.ndarray, x: np.ndarray, pads: Pads) -> np.ndarray:
    """The gradient of reflection_pad's input x, whose values do not matter."""
    return _edge_grad(g, pads, True)


@follows(1, meta=False)
def replication_pad_grad(g: np.ndarray, x: np.ndarray, pads: Pads) -> np.ndarray:
    """The gradient of replication_pad's input x, whose values do not matter."""
    return _edge_grad(g, pads, False)
