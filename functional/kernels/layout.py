"""The memory order of elementwise results: PyTorch's rule, which differs from NumPy's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided


def _swap(operands: list[tuple[int, ...]], outer: int, inner: int, shape: tuple[int, ...]) -> int:
    """1: the two axes must be exchanged, -1: they must not, 0: no operand decides.

    The first operand with unequal, non-broadcast strides on the two axes decides.
    """
    for strides in operands:
        a, b = strides[outer], strides[inner]
        if a == 0 or b == 0:
            continue
        if a != b:
            return 1 if a < b else -1
        if shape[outer] < shape[inner]:
            return 1
    return 0


def axis_order(shape: tuple[int, ...], operands: list[tuple[int, ...]]) -> list[int]:
    """Axes from outermost to innermost for a result of this shape.

    ``operands`` are strides, already broadcast to ``shape`` (0 where broadcast). This is an
    insertion sort from the innermost axis outwards, as ambiguous pairs make the order matter.
    """
    inner_first = list(range(len(shape)))[::-1]
    for i in range(1, len(shape)):
        at = i
        for j in range(i - 1, -1, -1):
            verdict = _swap(operands, inner_first[at], inner_first[j], shape)
            if verdict > 0:
                inner_first[at], inner_first[j] = inner_first[j], inner_first[at]
                at = j
            elif verdict < 0:
                break
    return inner_first[::-1]


def broadcast_strides(
    own_shape: tuple[int, ...], strides: tuple[int, ...], shape: tuple[int, ...]
) -> tuple[int, ...]:
    """The strides of an array when broadcast to ``shape``."""
    lead = len(shape) - len(own_shape)
    own = (
        0 if n == 1 and shape[lead + i] != 1 else s
        for i, (n, s) in enumerate(zip(own_shape, strides, strict=True))
    )
    return (0,) * lead + tuple(own)


def dense_strides(shape: tuple[int, ...], order: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Byte strides of a dense array whose axes are laid out in ``order``, outermost first."""
    strides = [0] * len(shape)
    step = itemsize
    for axis in reversed(order):
        strides[axis] = step
        step *= max(shape[axis], 1)
    return tuple(strides)


def is_dense(x: np.ndarray) -> bool:
    """Whether the elements fill their memory without gaps or overlaps, in some axis order."""
    step = x.dtype.itemsize
    for stride, n in sorted((s, n) for s, n in zip(x.strides, x.shape, strict=True) if n != 1):
        if stride != step:
            return False
        step *= n
    return True


def result_strides(
    shape: tuple[int, ...], arrays: list[np.ndarray], itemsize: int
) -> tuple[int, ...]:
    """Byte strides PyTorch gives an elementwise result of these operands."""
    key = (shape, itemsize, *[(x.shape, x.strides, x.dtype.itemsize) for x in arrays])
    found = _known_strides.get(key)
    if found is None:
        if len(_known_strides) > 512:
            _known_strides.clear()
        found = _known_strides[key] = _result_strides(shape, arrays, itemsize)
    return found


_known_strides: dict[Any, tuple[int, ...]] = {}


def _result_strides(
    shape: tuple[int, ...], arrays: list[np.ndarray], itemsize: int
) -> tuple[int, ...]:
    full = [x for x in arrays if x.ndim]
    if all(x.flags.c_contiguous for x in full):
        return dense_strides(shape, list(range(len(shape))), itemsize)
    same = {x.strides for x in full if x.shape == shape}
    if len(same) == 1 and all(x.shape == shape for x in full) and is_dense(full[0]):
        return _same_places(full[0], itemsize)
    wide = [broadcast_strides(x.shape, x.strides, shape) for x in full]
    return dense_strides(shape, axis_order(shape, wide), itemsize)


def _same_places(x: np.ndarray, itemsize: int) -> tuple[int, ...]:
    """The strides of ``x`` for elements of another size."""
    return tuple(s // x.dtype.itemsize * itemsize for s in x.strides)


def empty(shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """A new dense array with these byte strides."""
    flat = np.empty(max(math.prod(shape), 1), dtype)
    return np.ndarray(shape, dtype, flat, 0, strides)


def kept_strides(x: Any, dtype: Any = None) -> tuple[int, ...]:
    """The strides of a copy of ``x`` (in ``dtype``), which may be a meta array."""
    x = getattr(x, "phantom", x)
    item = x.dtype.itemsize if dtype is None else dtype.itemsize
    if is_dense(x):
        return _same_places(x, item)
    return result_strides(x.shape, [x], item)


def like(x: np.ndarray, dtype: np.dtype | None = None) -> np.ndarray:
    """A new array of the shape of ``x`` in PyTorch's order for it (``preserve_format``)."""
    dtype = x.dtype if dtype is None else dtype
    if x.flags.c_contiguous:
        return striding(np.empty(x.shape, dtype), x)
    return empty(x.shape, kept_strides(x, dtype), dtype)


def striding(z: np.ndarray, x: np.ndarray) -> np.ndarray:
    """``z``, whose elements follow each other as those of ``x``, with the strides of ``x``.

    They differ along dimensions of one element, by which memory formats are told apart.
    """
    if z.strides == x.strides or not z.size or 1 not in z.shape:
        return z
    return as_strided(z, z.shape, kept_strides(x, z.dtype))


def with_strides(z: np.ndarray, strides: tuple[int, ...]) -> np.ndarray:
    """``z`` itself, or a copy of it with the dense ``strides`` asked for."""
    if z.strides == strides or z.size <= 1:
        return z
    out = empty(z.shape, strides, z.dtype)
    np.copyto(out, z)
    return out
