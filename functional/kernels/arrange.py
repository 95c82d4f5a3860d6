"""Elements rolled, rotated, laid on diagonals, and seen through sliding windows."""

from __future__ import annotations

import numpy as np
from numpy import ndarray

from . import layout
from .formats import follows
from .shapes import Shape, diagonal, flip, strided


@follows(0, when=lambda x, shifts, dims: len(dims) > 0, meta=False)
def roll(x: ndarray, shifts: Shape, dims: Shape) -> ndarray:
    """Elements moved along ``dims`` (along flat memory if none are given), round the ends."""
    if not dims:
        return roll(x.reshape(-1), shifts, (0,)).reshape(x.shape)
    if len(dims) > 1 or not x.ndim or not x.size:
        return np.ascontiguousarray(np.roll(x, shifts, dims))
    dim, n = dims[0], x.shape[dims[0]]
    step, lead = shifts[0] % n, (slice(None),) * dim
    z = np.empty(x.shape, x.dtype)
    z[(*lead, slice(step, None))] = x[(*lead, slice(None, n - step))]
    z[(*lead, slice(None, step))] = x[(*lead, slice(n - step, None))]
    return z


def rot90(x: ndarray, k: int, dims: Shape) -> ndarray:
    """``x`` turned by ``k`` right angles in the plane of two dimensions."""
    k %= 4
    if k == 0:
        return np.array(x, order="C")
    if k == 2:
        return flip(x, dims)
    return flip(x, (dims[1] if k == 1 else dims[0],)).swapaxes(*dims)


def diag_embed(x: ndarray, offset: int, dim1: int, dim2: int) -> ndarray:
    """The last dimension of ``x`` on a diagonal of two new dimensions, zeros elsewhere."""
    z = np.zeros(diag_embed_shape(x.shape, offset, dim1, dim2), x.dtype)
    np.copyto(diagonal(z, offset, dim1, dim2), x)
    return z


def diag_embed_shape(shape: Shape, offset: int, dim1: int, dim2: int) -> Shape:
    n = shape[-1] + abs(offset)
    full = list(shape[:-1])
    for d in sorted((dim1, dim2)):
        full.insert(d, n)
    return tuple(full)


def unfold_dim(x: ndarray, dim: int, size: int, step: int) -> ndarray:
    """Windows of ``size`` elements along ``dim``, ``step`` apart, in a new last dimension."""
    if not x.ndim:
        return strided(x, (1,) if size else (0,), (x.itemsize,))
    count = (x.shape[dim] - size) // step + 1
    shape = (*x.shape[:dim], count, *x.shape[dim + 1 :], size)
    strides = list(x.strides)
    strides[dim] *= step
    return strided(x, shape, (*strides, x.strides[dim]))


def unfold_backward(g: ndarray, shape: Shape, dim: int, size: int, step: int) -> ndarray:
    """The sum of each element's windows; the derivative of ``unfold_dim``."""
    z = np.zeros(shape, g.dtype)
    if not shape:
        return g.reshape(()) if size else z
    count = g.shape[dim]
    for i in range(size):
        at = [slice(None)] * len(shape)
        at[dim] = slice(i, i + (count - 1) * step + 1, step)
        z[tuple(at)] += g[..., i]
    return z


def clone_in_order(x: ndarray, order: Shape) -> ndarray:
    """A copy that is dense in memory in this order of axes, the outermost first."""
    z = layout.empty(x.shape, layout.dense_strides(x.shape, order, x.itemsize), x.dtype)
    np.copyto(z, x)
    return z
