"""Memory that a kernel uses during one call and the next call uses again.

Fresh memory of some megabytes comes from the system page by page, which costs more than the copies
and products done in it. Each thread keeps one buffer per slot, up to KEPT bytes each.
"""

from __future__ import annotations

import threading
from math import prod

import numpy as np

KEPT = 1 << 24

_own = threading.local()


def scratch(slot: str, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array of arbitrary content, valid until this thread asks for the slot again."""
    size = prod(shape) * dtype.itemsize
    if size > KEPT:
        return np.empty(shape, dtype)
    slots = _own.__dict__
    buffer = slots.get(slot)
    if buffer is None or buffer.nbytes < size:
        buffer = slots[slot] = np.empty(size, np.uint8)
    return np.ndarray(shape, dtype, buffer)


_LINE = 64  # bytes of a line of the cache, and of an AVX-512 register
_LINES = 1 << 13  # bytes from which on it matters


def aligned(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """A fresh array of arbitrary content that begins where a line of the cache does.

    What NumPy allocates begins 16 or 32 bytes after that: each load then takes two lines.
    """
    size = prod(shape) * dtype.itemsize
    if size < _LINES:
        return np.empty(shape, dtype)
    memory = np.empty(size + _LINE, np.uint8)
    return np.ndarray(shape, dtype, memory, -memory.ctypes.data % _LINE)
