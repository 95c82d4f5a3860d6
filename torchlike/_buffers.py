"""Storages from buffers: copies of bytes that lie in one byte order or the other."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy import ndarray

from functional import dtypes

_ORDERS = {"native": sys.byteorder, "little": "little", "big": "big"}
_BYTES = (dtypes.uint8, dtypes.int8)


def copied(
    dtype: dtypes.dtype,
    buffer: Any = None,
    byte_order: Any = None,
    count: int = -1,
    offset: int = 0,
) -> ndarray:
    """``count`` elements of a buffer from a byte on, in this machine's order, as bytes.

    ValueError for an unknown byte order or bounds outside the buffer.
    """
    if buffer is None:
        raise TypeError("function missing required argument 'buffer' (pos 1)")
    if dtype not in _BYTES:
        if byte_order is None:
            raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
        if byte_order not in _ORDERS:
            raise ValueError(
                f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')"
            )
    whole = np.frombuffer(memoryview(buffer).cast("B"), np.uint8)
    item = dtype.itemsize
    part = whole[offset : offset + _count(whole.size, item, count, offset) * item].copy()
    if dtype is dtypes.bool_:
        return (part != 0).view(np.uint8)
    width = item // (2 if dtype.is_complex else 1)
    if width > 1 and _ORDERS[byte_order] != sys.byteorder:
        part.view(f"u{width}").byteswap(inplace=True)
    return part


def _count(size: int, item: int, count: int, offset: int) -> int:
    if offset < 0 or offset > size:
        raise ValueError(
            f"offset must be non-negative and no greater than buffer length ({offset}) , but got "
            f"{size}"
        )
    if count < 0:
        if (size - offset) % item:
            raise ValueError(f"buffer size ({size}) must be a multiple of element size ({item})")
        return (size - offset) // item
    if offset + count * item > size:
        raise ValueError(
            f"buffer has only {size - offset} elements after offset {offset}, but specified a "
            f"size of {count}"
        )
    return count
