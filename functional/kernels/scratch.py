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
