"""Views and copies that move elements about. Everything named as a view returns one."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.lib.stride_tricks import as_strided as _as_strided

from . import layout
from .half import is_half
from .threads import SHARED, in_chunks

Shape = tuple[int, ...]


def view(x: ndarray, shape: Shape) -> ndarray:
    """``x`` with another shape over the same memory; RuntimeError where that is impossible."""
    if x.flags.c_contiguous:
        return x.reshape(shape)
    strides = view_strides(x, shape)
    if strides is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous subspaces). Use .reshape(...) instead."
        )
    return strided(x, shape, strides)


def view_strides(x: ndarray, shape: Shape) -> Shape | None:
    """Byte strides of ``x`` seen with ``shape``, or None where that needs a copy.

    Runs of axes that lie one after the other in memory can be cut anew; others cannot.
    """
    if x.size == 0:
        return x.strides if shape == x.shape else _contiguous(shape, x.itemsize)
    strides = [0] * len(shape)
    at = len(shape) - 1
    count, base = 1, None  # elements and innermost stride of the current run
    for axis in reversed(range(x.ndim)):
        base = x.strides[axis] if base is None else base
        count *= x.shape[axis]
        follows = axis > 0 and (x.shape[axis - 1] == 1 or x.strides[axis - 1] == count * base)
        if follows:
            continue
        taken = 1
        while at >= 0 and (taken < count or shape[at] == 1):
            strides[at] = taken * base
            taken *= shape[at]
            at -= 1
        if taken != count:
            return None
        count, base = 1, None
    while at >= 0 and shape[at] == 1:
        strides[at] = x.itemsize
        at -= 1
    return None if at >= 0 else tuple(strides)


def _contiguous(shape: Shape, itemsize: int) -> Shape:
    strides, step = [], itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def extent(x: ndarray) -> int:
    """How many elements lie between the first and the last of an array, in memory."""
    if not x.size:
        return 0
    return 1 + sum((n - 1) * s for n, s in zip(x.shape, x.strides, strict=True)) // x.itemsize


def strided(x: ndarray, shape: Shape, strides: Shape, offset: int = 0) -> ndarray:
    """A writable view over ``x``'s memory; ``strides`` and ``offset`` in bytes from its start."""
    if x.flags.c_contiguous and x.size and 0 not in shape:
        last = offset + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
        if offset >= 0 and last < x.nbytes:
            return np.ndarray(shape, x.dtype, x, offset, strides)
    return np.asarray(_Memory(x, shape, strides, offset)).view(x.dtype)


class _Memory:
    """Memory around ``x``, also before it and behind it, in NumPy's array protocol."""

    def __init__(self, x: ndarray, shape: Shape, strides: Shape, offset: int) -> None:
        self.__array_interface__ = x.__array_interface__ | {
            "data": (x.__array_interface__["data"][0] + offset, not x.flags.writeable),
            "shape": tuple(shape),
            "strides": tuple(strides),
        }
        self.owner = x


def reshape(x: ndarray, shape: Shape) -> ndarray:
    return x.reshape(shape)


def unsafe_view(x: ndarray, shape: Shape) -> ndarray:
    return x.reshape(shape)


def t(x: ndarray) -> ndarray:
    return x.T


def transpose(x: ndarray, dim0: int, dim1: int) -> ndarray:
    return x.swapaxes(dim0, dim1) if x.ndim else x[...]


def permute(x: ndarray, dims: Shape) -> ndarray:
    return x.transpose(dims)


def expand(x: ndarray, shape: Shape) -> ndarray:
    """``x`` broadcast to ``shape`` without copying (stride 0 where sizes differ)."""
    if x.shape == shape:
        return x[...]
    lead = len(shape) - x.ndim
    pairs = zip(x.shape, x.strides, shape[lead:], strict=True)
    own = [0 if n == 1 and to != 1 else s for n, s, to in pairs]
    strides = (0,) * lead + tuple(own)
    if x.ndim and 1 in shape[:lead]:
        strides = _led(shape, strides, lead)
    if x.flags.c_contiguous and x.size and 0 not in shape:
        return np.ndarray(shape, x.dtype, x, 0, strides)
    return _as_strided(x, shape, strides)


def _led(shape: Shape, strides: Shape, lead: int) -> Shape:
    """New dimensions of size 1 in front have the stride that PyTorch reports."""
    found = list(strides)
    for i in reversed(range(lead)):
        if shape[i] == 1:
            found[i] = shape[i + 1] * found[i + 1]
    return tuple(found)


def view_dtype(x: ndarray, dtype: np.dtype) -> ndarray:
    """The memory of ``x`` as elements of a dtype of any size, along the last axis."""
    return x.view(dtype)


def unsqueeze(x: ndarray, dim: int) -> ndarray:
    """A new axis of size 1; its stride is the one PyTorch reports."""
    step = x.shape[dim] * x.strides[dim] if dim < x.ndim else x.itemsize
    shape = (*x.shape[:dim], 1, *x.shape[dim:])
    strides = (*x.strides[:dim], step, *x.strides[dim:])
    if x.flags.c_contiguous and x.size:
        return np.ndarray(shape, x.dtype, x, 0, strides)
    return _as_strided(x, shape, strides)


def squeeze(x: ndarray, dims: Shape) -> ndarray:
    """Drop those of ``dims`` that have size 1."""
    if x.ndim == 0:
        return x[...]
    return x.squeeze(tuple(d for d in dims if x.shape[d] == 1))


squeeze_all = squeeze_dim = squeeze


def select(x: ndarray, dim: int, index: int) -> ndarray:
    return x[(slice(None),) * dim + (index, ...)]


def slice_(x: ndarray, dim: int, start: int, end: int, step: int) -> ndarray:
    return x[(slice(None),) * dim + (slice(start, end, step),)]


def unbind(x: ndarray, dim: int) -> list[ndarray]:
    lead: tuple[Any, ...] = (slice(None),) * dim
    return [x[(*lead, i, ...)] for i in range(x.shape[dim])]


def split(x: ndarray, sizes: Shape, dim: int) -> list[ndarray]:
    lead = (slice(None),) * dim
    ends = accumulate(sizes)
    return [x[(*lead, slice(e - n, e))] for e, n in zip(ends, sizes, strict=True)]


def split_apart(x: ndarray, sizes: Shape, dim: int) -> tuple[ndarray, ...]:
    """The pieces in memory of their own."""
    return tuple([piece.copy() for piece in split(x, sizes, dim)])


def diagonal(x: ndarray, offset: int, dim1: int, dim2: int) -> ndarray:
    z = np.diagonal(x, offset, dim1, dim2)
    return z if not x.flags.writeable else _writable(z, x)


def _writable(z: ndarray, like: ndarray) -> ndarray:
    """NumPy makes diagonals read-only; the memory underneath is not."""
    z.flags.writeable = like.flags.writeable
    return z


def alias(x: ndarray) -> ndarray:
    return x[...]


def as_strided(x: ndarray, size: Shape, stride: Shape, offset: int) -> ndarray:
    """``strides`` and ``offset`` in elements from the start of ``x``."""
    item = x.dtype.itemsize
    return strided(x, size, tuple(s * item for s in stride), offset * item)


def as_strided_at(x: ndarray, place: tuple[Any, ...]) -> ndarray:
    """``as_strided`` by a place in a base: the base's shape and strides come first."""
    return as_strided(x, *place[2:])


# --- their derivatives, and copies ----------------------------------------------------------------


def select_backward(g: ndarray, shape: Shape, dim: int, index: int) -> ndarray:
    """Zeros of ``shape`` with ``g`` at ``index`` along ``dim``."""
    z = np.zeros(shape, g.dtype)
    z[(slice(None),) * dim + (index,)] = g
    return z


def slice_backward(g: ndarray, shape: Shape, dim: int, start: int, end: int, step: int) -> ndarray:
    """Zeros of ``shape`` with ``g`` in the slice along ``dim``."""
    z = np.zeros(shape, g.dtype)
    z[(slice(None),) * dim + (slice(start, end, step),)] = g
    return z


def diagonal_backward(g: ndarray, shape: Shape, offset: int, dim1: int, dim2: int) -> ndarray:
    """Zeros of ``shape`` with ``g`` on the diagonal."""
    z = np.zeros(shape, g.dtype)
    diagonal(z, offset, dim1, dim2)[...] = g
    return z


def flip(x: ndarray, dims: Shape) -> ndarray:
    """A reversed copy in the order of ``x``."""
    z = layout.like(x)
    at = [slice(None)] * x.ndim
    for d in dims if x.ndim else ():
        at[d] = slice(None, None, -1)
    np.copyto(z, x[tuple(at)])
    return z


def repeated_along(x: ndarray, repeats: int, dim: int) -> ndarray:
    """Every slice along ``dim`` several times."""
    if dim < x.ndim - 1 or x.size <= _MANY:
        return x.repeat(repeats, dim)
    wide = _as_strided(x, (*x.shape, repeats), (*x.strides, 0))
    return contiguous(wide).reshape(*x.shape[:-1], -1)


def repeat(x: ndarray, repeats: Shape) -> ndarray:
    z = np.tile(x, repeats)
    return z if z.flags.c_contiguous else np.ascontiguousarray(z)


def clone(x: ndarray) -> ndarray:
    """A copy; dense input keeps its order of axes, other input becomes dense."""
    if x.flags.c_contiguous:
        return layout.striding(np.array(x, order="C"), x)
    z = layout.like(x)
    np.copyto(z, x)
    return z


def contiguous(x: ndarray) -> ndarray:
    if x.size > _MANY and x.strides[-1] == 0 and x.shape[-1] <= _COPIES:
        return _repeated(x)
    return np.array(x, order="C")


_MANY, _COPIES = 1 << 10, 16


def _repeated(x: ndarray) -> ndarray:
    """A copy of what is expanded along its last axis: NumPy is slow along few equal elements."""
    z = np.empty(x.shape, x.dtype)
    lines, once = z.reshape(-1, x.shape[-1]), np.array(x[..., 0], order="C").reshape(-1)

    def work(first: int, last: int) -> None:
        for i in range(x.shape[-1]):
            lines[first:last, i] = once[first:last]

    in_chunks(once.size, x.shape[-1], work)
    return z


def to_dtype(x: ndarray, dtype: Any) -> ndarray:
    """``x`` in another dtype; complex to real takes the real part."""
    array = getattr(dtype, "array", dtype)
    if x.dtype.kind == "c" and array.kind not in "cb":
        x = x.real
    if x.flags.c_contiguous:
        if x.size > SHARED and (is_half(x.dtype) or is_half(array)):
            return _converted(x, array)
        return layout.striding(x.astype(array), x)
    z = layout.like(x, array)
    np.copyto(z, x, casting="unsafe")
    return z


def _converted(x: ndarray, dtype: np.dtype) -> ndarray:
    """To or from a half type, element by element: worth sharing."""
    z = np.empty(x.shape, dtype)
    flat, line = z.reshape(-1), x.reshape(-1)

    def work(first: int, last: int) -> None:
        flat[first:last] = line[first:last]

    in_chunks(x.size, 1, work)
    return z


def zeros_like(x: ndarray) -> ndarray:
    """Zeros in the order of ``x``."""
    if x.flags.c_contiguous:
        return layout.striding(np.zeros(x.shape, x.dtype), x)
    z = layout.like(x)
    z[...] = 0
    return z


# --- a view's place in its base (see tape/views.py) -----------------------------------------------


def _image(x: ndarray, base_shape: Shape, base_strides: Shape) -> tuple[ndarray, ndarray]:
    """A flat copy of the memory a base of these strides spans, and ``x`` as a view into it."""
    extent = 1 + sum(max(n - 1, 0) * s for n, s in zip(base_shape, base_strides, strict=True))
    flat = np.zeros(extent, x.dtype)
    inside = as_strided(flat, base_shape, base_strides, 0)
    np.copyto(inside, x)
    return flat, inside


def strided_take(g: ndarray, place: tuple[Any, ...]) -> ndarray:
    """The elements of a base-shaped array that lie where a view has its own."""
    base_shape, base_strides, shape, strides, offset = place
    if 0 in base_shape:
        return np.zeros(shape, g.dtype)
    flat, _ = _image(g, base_shape, base_strides)
    if not _lies_inside(flat.size, shape, strides, offset):
        at = _positions(shape, strides, offset)
        known = (at >= 0) & (at < flat.size)
        return np.where(known, flat[np.where(known, at, 0)], 0)
    return as_strided(flat, shape, strides, offset).copy()


def strided_put(g: ndarray, place: tuple[Any, ...]) -> ndarray:
    """Zeros of the base's shape and strides, with ``g`` added where the view lies."""
    base_shape, base_strides, shape, strides, offset = place
    flat, inside = _image(np.zeros(base_shape, g.dtype), base_shape, base_strides)
    if 0 in shape:
        return inside
    at = _positions(shape, strides, offset)
    if not _lies_inside(flat.size, shape, strides, offset):
        known = (at >= 0) & (at < flat.size)
        at, g = at[known], g[known]
    np.add.at(flat, at, g)
    return inside


def _positions(shape: Shape, strides: Shape, offset: int) -> ndarray:
    """Where each element of a view lies in flat memory."""
    at = np.full((), offset)
    for n, s in zip(shape, strides, strict=True):
        at = np.add.outer(at, np.arange(n) * s)
    return at


def _lies_inside(size: int, shape: Shape, strides: Shape, offset: int) -> bool:
    """Whether a view lies in ``size`` elements: as_strided can reach what its input does not."""
    last = offset + sum(max(n - 1, 0) * s for n, s in zip(shape, strides, strict=True))
    return offset >= 0 and last < size


def strided_replace(g: ndarray, source: ndarray, place: tuple[Any, ...]) -> ndarray:
    """``g`` in the base's strides, with ``source`` where the view lies."""
    base_shape, base_strides, shape, strides, offset = place
    flat, inside = _image(g, base_shape, base_strides)
    if 0 not in shape:
        as_strided(flat, shape, strides, offset)[...] = source
    return inside
