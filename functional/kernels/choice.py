"""Choosing between two arrays element by element, by the bits of their words.

``np.where`` on large arrays waits for every unpredictable branch; masks of whole words have none.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

from .threads import in_chunks

_WORDS = {np.dtype(np.float32): np.dtype(np.int32), np.dtype(np.float64): np.dtype(np.int64)}
_MANY = 1 << 12  # elements from which on the bits win


def where(condition: Any, x: Any, y: Any) -> ndarray:
    """x where ``condition`` holds, else y; either may be a number."""
    if type(condition) is ndarray and condition.size >= _MANY and condition.dtype == np.bool_:
        found = _by_bits(condition, x, y)
        if found is not None:
            return found
    return np.where(condition, x, y)


def _by_bits(condition: ndarray, x: Any, y: Any) -> ndarray | None:
    """The choice for contiguous floating arrays of one shape and dtype; None for anything else."""
    kind: Any = x.dtype if type(x) is ndarray else y.dtype if type(y) is ndarray else None
    word: Any = None if kind is None else _WORDS.get(kind)
    if word is None or not condition.flags.c_contiguous:
        return None
    sides = [_words(z, condition.shape, kind, word) for z in (x, y)]
    if any(side is None for side in sides):
        return None
    bits, z = condition.reshape(-1).view(np.int8), np.empty(condition.size, word)

    def part(first: int, last: int) -> None:
        yes, no = (s if isinstance(s, (int, np.integer)) else s[first:last] for s in sides)
        _select(bits[first:last].astype(word), yes, no, z[first:last])

    in_chunks(z.size, 1, part)
    return z.view(kind).reshape(condition.shape)


def _select(mask: ndarray, yes: Any, no: Any, z: ndarray) -> None:
    """z = yes where mask is 1, no where it is 0, all of them words."""
    if type(yes) is int and yes == 0:
        np.subtract(mask, 1, mask)
        np.bitwise_and(mask, no, z)
        return
    np.negative(mask, mask)
    if type(no) is int and no == 0:
        np.bitwise_and(mask, yes, z)
        return
    np.bitwise_and(mask, np.bitwise_xor(yes, no), mask)
    np.bitwise_xor(mask, no, z)


def _words(z: Any, shape: tuple[int, ...], kind: Any, word: Any) -> Any:
    """An array or number as words: 0 itself for zero, None for what does not fit."""
    if type(z) is ndarray:
        fits = z.shape == shape and z.dtype == kind and z.flags.c_contiguous
        return z.reshape(-1).view(word) if fits else None
    if type(z) is not float and type(z) is not int:
        return None
    if z == 0 and math.copysign(1, z) > 0:
        return 0
    return np.asarray(z, kind).view(word)[()]
