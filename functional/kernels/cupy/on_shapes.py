"""Views of memory that are made by hand."""

from __future__ import annotations

from typing import Any

import cupy
from cupy.lib.stride_tricks import as_strided

__all__ = ["diagonal", "expand", "strided", "unsqueeze"]


def diagonal(x: Any, offset: int, dim1: int, dim2: int) -> Any:
    """A view of a diagonal."""
    return cupy.diagonal(x, offset, dim1, dim2)


def strided(x: Any, shape: Any, strides: Any, offset: int = 0) -> Any:
    """A view over the memory of ``x``; ``strides`` and ``offset`` in bytes from its start."""
    if x.size == 0 or 0 in shape:
        return as_strided(x, shape, strides)
    memory = x.data + offset
    return cupy.ndarray(tuple(shape), x.dtype, memory, tuple(strides))


def unsqueeze(x: Any, dim: int) -> Any:
    """A new axis of size 1; its stride is the one PyTorch reports."""
    step = x.shape[dim] * x.strides[dim] if dim < x.ndim else x.itemsize
    shape = (*x.shape[:dim], 1, *x.shape[dim:])
    return as_strided(x, shape, (*x.strides[:dim], step, *x.strides[dim:]))


def expand(x: Any, shape: Any) -> Any:
    """``x`` broadcast to ``shape`` without copying (stride 0)."""
    if x.size == 0 or 0 in shape:
        return cupy.broadcast_to(x, shape)
    lead = len(shape) - x.ndim
    own = zip(x.shape, x.strides, shape[lead:], strict=True)
    strides = (0,) * lead + tuple(0 if n == 1 and to != 1 else s for n, s, to in own)
    return as_strided(x, shape, strides)
