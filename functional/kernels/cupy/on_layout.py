"""Dense memory in a given order."""

from __future__ import annotations

from typing import Any

import cupy
from cupy.lib.stride_tricks import as_strided

__all__ = ["empty"]


def empty(shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any) -> Any:
    """A new array with these byte strides."""
    last = sum(max(n - 1, 0) * s for n, s in zip(shape, strides, strict=True))
    return as_strided(cupy.empty(last // dtype.itemsize + 1, dtype), shape, strides)
