"""Writing and adding at indices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

from .constants import multiples
from .half import is_half, widen
from .index import flat_along
from .layout import kept_strides, like, with_strides
from .scalars import scalar
from .shapes import clone, diagonal, select, slice_, strided_replace

_AT: dict[str, Any] = {
    "sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum
}  # fmt: skip
_START = {"sum": 0, "mean": 0, "prod": 1}


def _lowest(dtype: np.dtype, reduce: str) -> Any:
    """What a first element always replaces."""
    if reduce in _START:
        return _START[reduce]
    if dtype.kind == "b":
        return reduce == "amin"
    if dtype.kind in "iu":
        return getattr(np.iinfo(dtype), "min" if reduce == "amax" else "max")
    return -np.inf if reduce == "amax" else np.inf


def _gathered(
    z: ndarray, at: ndarray, source: ndarray, reduce: str, include: bool, dtype: np.dtype
) -> ndarray:
    """``source`` joined into flat ``z`` at ``at``; what is not named stays as it is.

    Sums of a half ``dtype`` are rounded before they are divided.
    """
    own = z
    if not include:
        z = z.copy()
        z[at] = _lowest(z.dtype, reduce)
    _join(_AT[reduce], z, at, source)
    if reduce == "mean":
        count = np.bincount(at, minlength=z.size) + (1 if include else 0)
        count = np.maximum(count, 1)
        z = widen(z.astype(dtype, copy=False))
        z = z // count if z.dtype.kind in "iu" else z / count.astype(z.real.dtype)
        z = z.astype(own.dtype, copy=False)
    return z


def _join(how: Any, z: ndarray, at: ndarray, source: ndarray) -> None:
    how.at(z, at, source)


def _cut(source: Any, index: ndarray) -> Any:
    """The part of ``source`` that ``index`` reads."""
    if not isinstance(source, ndarray) or not source.ndim:
        return source
    if source.shape == index.shape:
        return source.reshape(-1)
    return source[tuple(slice(n) for n in index.shape)].reshape(-1)


def scatter_reduce_along(
    x: ndarray, source: Any, index: ndarray, dim: int, reduce: str, include: bool
) -> ndarray:
    """A copy of ``x`` with ``source`` joined along ``dim`` at ``index`` by ``reduce``."""
    wide = np.array(widen(x), order="C")
    part = widen(_cut(source, index)) if isinstance(source, ndarray) else source
    if not index.size:
        return wide.astype(x.dtype, copy=False)
    if not x.ndim or not index.ndim:
        at = index.reshape(-1)
    else:
        at = flat_along(x.shape, index, dim)
    z = _gathered(wide.reshape(-1), at, np.reshape(part, -1), reduce, include, x.dtype)
    return z.reshape(x.shape).astype(x.dtype, copy=False)


def scatter_add_along(x: ndarray, source: ndarray, index: ndarray, dim: int) -> ndarray:
    """A copy of ``x`` with ``source`` added along ``dim`` at ``index``."""
    if index.ndim == x.ndim == 1 and x.dtype.char in "fdl" and source.dtype == x.dtype:
        z = np.array(x, order="C")
        np.add.at(z, index, source if source.shape == index.shape else source[: index.size])
        return z
    return scatter_reduce_along(x, source, index, dim, "sum", True)


def scatter_mul_along(x: ndarray, source: Any, index: ndarray, dim: int) -> ndarray:
    """A copy of ``x`` multiplied by ``source`` along ``dim`` at ``index``."""
    return scatter_reduce_along(x, source, index, dim, "prod", True)


# --- slices along a dimension ---------------------------------------------------------------------


def _first(x: ndarray, dim: int) -> ndarray:
    """``x`` with ``dim`` in front; 0-dimensional arrays as one of one element."""
    if not x.ndim:
        return x.reshape(1)
    return x.transpose(dim, *range(dim), *range(dim + 1, x.ndim)) if dim else x


_WIDE = 64  # slices of so many elements are worth a call each


def index_reduce_dim(
    x: ndarray, source: ndarray, index: ndarray, dim: int, reduce: str, include: bool
) -> ndarray:
    """A copy of ``x`` with slices of ``source`` joined along ``dim`` at ``index``."""
    stepwise = is_half(x.dtype) and reduce in ("prod", "mean")
    if stepwise:  # rounded after every slice
        z = np.array(x, order="C")
    else:
        z, source = np.array(widen(x), order="C"), widen(source)
    rows, parts, at = _first(z, dim), _first(source, dim), index.reshape(-1)
    if not at.size or not source.size:
        return z.astype(x.dtype, copy=False)
    if not include:
        rows[at] = _lowest(z.dtype, reduce)
    width = rows[0].size
    if width >= _WIDE:
        how = _AT[reduce]
        for i, k in enumerate(at.tolist()):
            how(rows[k], parts[i], rows[k])
    elif rows.ndim == 1 or rows.flags.c_contiguous:
        shape = (len(at), *rows.shape[1:])
        parts = parts if parts.shape == shape else np.broadcast_to(parts, shape)
        _join(_AT[reduce], rows.reshape(-1), _places(at, width), parts.reshape(-1))
    else:
        _AT[reduce].at(rows, at, parts)
    if reduce == "mean":
        count = np.maximum(np.bincount(at, minlength=len(rows)) + bool(include), 1)
        count = count.reshape((-1, *(1,) * (rows.ndim - 1)))
        wide = widen(rows)
        rows[...] = rows // count if z.dtype.kind in "iu" else wide / count.astype(wide.real.dtype)
    return z.astype(x.dtype, copy=False)


def _places(at: ndarray, width: int) -> ndarray:
    """Where the elements of the rows ``at`` lie in a matrix of ``width`` columns."""
    if width == 1:
        return at
    return (at[:, None] * width + multiples(width)).reshape(-1)


def index_add_dim(x: ndarray, source: ndarray, index: ndarray, dim: int, alpha: Any) -> ndarray:
    """A copy of ``x`` with alpha ``source`` added along ``dim`` at ``index``."""
    if alpha != 1:
        wide = widen(source)
        source = (wide * scalar(wide.dtype, alpha)).astype(source.dtype, copy=False)
    return index_reduce_dim(x, source, index, dim, "sum", True)


def index_copy_dim(x: ndarray, source: ndarray, index: ndarray, dim: int) -> ndarray:
    """A copy of ``x`` with slices of ``source`` written along ``dim`` at ``index``."""
    z = np.array(x, order="C")
    if index.size:
        _first(z, dim)[index.reshape(-1)] = _first(source, dim)
    return z


def index_fill_value(x: ndarray, index: ndarray, dim: int, value: Any) -> ndarray:
    """A copy of ``x`` with ``value`` written along ``dim`` at ``index``."""
    z = clone(x)
    if index.size:
        _first(z, dim)[index.reshape(-1)] = np.asarray(value).astype(x.dtype)
    return z


def index_fill_tensor(x: ndarray, value: ndarray, index: ndarray, dim: int) -> ndarray:
    return index_fill_value(x, index, dim, value)


# --- masks and flat places ------------------------------------------------------------------------


def masked_select(x: ndarray, mask: ndarray) -> ndarray:
    """The elements of ``x`` where ``mask`` holds, as a vector; both broadcast."""
    if mask.dtype != bool:
        raise ValueError("masked_select: a boolean mask")
    if x.shape == mask.shape:
        return x[mask]
    shape = np.broadcast_shapes(x.shape, mask.shape)
    return np.broadcast_to(x, shape)[np.broadcast_to(mask, shape)]


def masked_select_backward(g: ndarray, mask: ndarray, shape: tuple[int, ...]) -> ndarray:
    """Zeros of the shape that both broadcast to, with ``g`` where ``mask`` holds."""
    shape = np.broadcast_shapes(shape, mask.shape)
    z = np.zeros(shape, g.dtype)
    z[np.broadcast_to(mask, shape)] = g
    return z


def masked_scatter_of(x: ndarray, source: ndarray, mask: ndarray) -> ndarray:
    """A copy of ``x`` whose elements under ``mask`` are the first of ``source``, in order."""
    shape = np.broadcast_shapes(x.shape, mask.shape)
    z = np.array(np.broadcast_to(x, shape), order="C")
    hit = np.broadcast_to(mask, shape)
    count = int(hit.sum())
    if count > source.size:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    z[hit] = source.reshape(-1)[:count]
    return z


def masked_scatter_backward(g: ndarray, mask: ndarray, shape: tuple[int, ...]) -> ndarray:
    """The elements of ``g`` under ``mask``, filled up with zeros to ``shape``."""
    picked = g[np.broadcast_to(mask, g.shape)]
    z = np.zeros(math.prod(shape), g.dtype)
    z[: picked.size] = picked
    return z.reshape(shape)


def take(x: ndarray, index: ndarray) -> ndarray:
    """Elements of the flattened ``x``."""
    if index.size and not x.size:
        raise IndexError("take(): tried to take from an empty tensor")
    return x.reshape(-1)[index]


def take_backward(g: ndarray, index: ndarray, shape: tuple[int, ...]) -> ndarray:
    """Zeros of ``shape`` with ``g`` added at flat places."""
    z = np.zeros(math.prod(shape), widen(g).dtype)
    at = index.reshape(-1)
    np.add.at(z, np.where(at < 0, at + z.size, at), widen(g).reshape(-1))
    return z.reshape(shape).astype(g.dtype, copy=False)


def put_flat(x: ndarray, source: ndarray, index: ndarray, accumulate: bool) -> ndarray:
    """A copy of ``x`` with ``source`` written (or added) at flat places."""
    z = np.array(x, order="C")
    flat, at = z.reshape(-1), index.reshape(-1)
    if accumulate:
        at = np.where(at < 0, at + flat.size, at)
        wide = widen(flat)
        np.add.at(wide, at, widen(source).reshape(-1))
        z = wide.reshape(x.shape).astype(x.dtype, copy=False)
    else:
        flat[at] = source.reshape(-1)
    return with_strides(z, kept_strides(x))


# --- into a view's place --------------------------------------------------------------------------


def select_scatter_at(x: ndarray, source: ndarray, dim: int, index: int) -> ndarray:
    """A copy of ``x`` with ``source`` at ``index`` along ``dim``."""
    z = clone(x)
    select(z, dim, index)[...] = source
    return z


def slice_scatter_at(
    x: ndarray, source: ndarray, dim: int, start: int, end: int, step: int
) -> ndarray:
    """A copy of ``x`` with ``source`` in a slice along ``dim``."""
    z = clone(x)
    slice_(z, dim, start, end, step)[...] = source
    return z


def diagonal_scatter_at(x: ndarray, source: ndarray, offset: int, dim1: int, dim2: int) -> ndarray:
    """A copy of ``x`` with ``source`` on a diagonal."""
    z = clone(x)
    diagonal(z, offset, dim1, dim2)[...] = source
    return z


def ones_of(x: ndarray) -> ndarray:
    return np.ones(x.shape, x.dtype)


as_strided_scatter_at = strided_replace


def filled(x: ndarray, value: Any) -> ndarray:
    """A new array like ``x`` with every element ``value``."""
    z = like(x)
    z[...] = np.asarray(value).astype(x.dtype)
    return z


def second(x: ndarray, source: ndarray) -> ndarray:
    """``source`` broadcast to ``x`` (what ``copy_`` writes)."""
    if source.shape == x.shape:
        return source
    if source.ndim > x.ndim or any(
        n not in (1, m) for n, m in zip(source.shape[::-1], x.shape[::-1], strict=False)
    ):
        a, b = np.array(x.shape), np.array(source.shape)
        for k in range(1, min(len(a), len(b)) + 1):
            if a[-k] != b[-k] and b[-k] != 1:
                raise RuntimeError(
                    f"The size of tensor a ({a[-k]}) must match the size of tensor b ({b[-k]}) "
                    f"at non-singleton dimension {len(a) - k}"
                )
        raise RuntimeError(
            f"output with shape {list(x.shape)} doesn't match the broadcast shape "
            f"{list(source.shape)}"
        )
    return np.broadcast_to(source, x.shape)


def fill_value(x: ndarray, value: Any) -> ndarray:
    return np.broadcast_to(np.asarray(value).astype(x.dtype), x.shape)
