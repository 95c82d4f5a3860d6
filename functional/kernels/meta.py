"""Arrays without elements: shape, dtype and strides only.

A MetaArray holds a *phantom*: a NumPy array with the true shape and strides over a buffer of one
element, which is never read. View kernels run on phantoms unchanged.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided


class MetaArray:
    """The shape, dtype and strides of an array that has no elements."""

    __slots__ = ("phantom",)

    def __init__(self, phantom: np.ndarray) -> None:
        self.phantom = phantom

    shape = property(lambda self: self.phantom.shape)
    dtype = property(lambda self: self.phantom.dtype)
    strides = property(lambda self: self.phantom.strides)
    ndim = property(lambda self: self.phantom.ndim)
    size = property(lambda self: self.phantom.size)
    flags = property(lambda self: self.phantom.flags)


# the types of arrays that tensors hold; CuPy's joins them when a GPU is first used
ARRAYS: set[type] = {np.ndarray, MetaArray}


def has_numbers(x: Any) -> bool:
    """Whether an array has elements that can be looked at: on a GPU, that waits for them."""
    return isinstance(x, np.ndarray) or (type(x) in ARRAYS and type(x) is not MetaArray)


def contiguous_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Byte strides of a C-contiguous array of this shape."""
    return tuple(itemsize * max(math.prod(shape[i + 1 :]), 1) for i in range(len(shape)))


def empty(shape: tuple[int, ...], dtype: Any, strides: tuple[int, ...] | None = None) -> MetaArray:
    """A MetaArray of this shape; ``strides`` in bytes, C-contiguous when not given."""
    dtype = np.dtype(dtype)
    if strides is None:
        strides = contiguous_strides(shape, dtype.itemsize)
    return MetaArray(as_strided(np.empty(1, dtype), shape, strides))
