"""Arrays put side by side, along a dimension they have or along a new one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from . import layout
from .formats import channels_last_strides, suggests_channels_last

__all__ = ["cat", "stack"]

Shape = tuple[int, ...]


def cat(arrays: list[ndarray], dim: int) -> ndarray:
    """The arrays one after the other: C order, unless all of them are channels-last."""
    if len({x.ndim for x in arrays}) == 1:
        z = np.concatenate(arrays, dim)
        if z.flags.c_contiguous and (z.ndim < 4 or not suggests_channels_last(arrays[0])):
            return z
    full = [x for x in arrays if x.ndim > 1] or arrays
    shape = cat_shape([x.shape for x in full], dim)
    out = layout.empty(shape, cat_strides(full, shape), full[0].dtype)
    return np.concatenate(full, dim, out=out)


def cat_shape(shapes: list[Shape], dim: int) -> Shape:
    first = shapes[0]
    return (*first[:dim], sum(s[dim] for s in shapes), *first[dim + 1 :])


def cat_strides(arrays: list[Any], shape: Shape) -> Shape:
    """Byte strides of what ``cat`` returns."""
    item = arrays[0].dtype.itemsize
    if all(map(suggests_channels_last, arrays)):
        return channels_last_strides(shape, item)
    return layout.dense_strides(shape, range(len(shape)), item)


def stack(arrays: list[ndarray], dim: int) -> ndarray:
    """The arrays along a new dimension: ``cat``'s result cut up, unless that is the last."""
    first = arrays[0]
    if dim < first.ndim and (not dim or suggests_channels_last(first)):
        return cat(arrays, dim).reshape(stack_shape(arrays, dim))
    out = np.empty(stack_shape(arrays, dim), first.dtype)
    at = (*(slice(None),) * dim, None)
    return np.concatenate([x[at] for x in arrays], dim, out=out)


def stack_shape(arrays: list[Any], dim: int) -> Shape:
    shape = arrays[0].shape
    return (*shape[:dim], len(arrays), *shape[dim:])


def stack_strides(arrays: list[Any], dim: int) -> Shape:
    """Byte strides of what ``stack`` returns."""
    shape, rank = stack_shape(arrays, dim), len(arrays[0].shape)
    if dim == rank:
        return layout.dense_strides(shape, range(len(shape)), arrays[0].dtype.itemsize)
    whole = cat_strides(arrays, cat_shape([x.shape for x in arrays], dim))
    return (*whole[:dim], whole[dim] * shape[dim + 1], *whole[dim:])
