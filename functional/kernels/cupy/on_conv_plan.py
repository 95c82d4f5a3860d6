"""Views of a buffer."""

from __future__ import annotations

from typing import Any

import cupy

__all__ = ["view"]


def view(buffer: Any, shape: Any, strides: Any, offset: int = 0) -> Any:
    """A strided view of a C-contiguous buffer; strides and offset count elements."""
    item = buffer.itemsize
    strides = tuple(s * item for s in strides)
    return cupy.ndarray(tuple(shape), buffer.dtype, buffer.data + offset * item, strides)
