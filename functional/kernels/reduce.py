"""Reductions: the dimension argument is None (all) or a tuple of non-negative ints."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

from ..dtypes import DEFAULT
from .constants import ones
from .half import is_half, widen
from .index import gather_along
from .scratch import scratch
from .shapes import to_dtype
from .threads import in_chunks

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
_add: Any = np.add.reduce

Dims = tuple[int, ...] | None


def ordered(z: Any) -> ndarray:
    """The result of a reduction is C-contiguous, whatever the order of its input."""
    return np.asarray(z, order="C")


def _as(x: ndarray, dtype: Any) -> ndarray:
    """``x`` in the dtype asked for (None: its own)."""
    return x if dtype is None or x.dtype == dtype.array else to_dtype(x, dtype)


def sum(x: ndarray, dim: Dims = None, keepdim: bool = False, dtype: Any = None) -> ndarray:
    """The sum over ``dim``; integers and booleans sum to int64."""
    if type(x) is not ndarray:
        x = np.asarray(x)
    if dtype is not None:
        x = _as(x, dtype)
    if (x.dtype is F32 or x.dtype is F64) and (x.ndim != 2 or dim != (0,)):
        if x.size > _MANY and x.dtype is F32 and x.flags.c_contiguous:
            found = _long_sum(x, dim, keepdim)
            if found is not None:
                return found
        z = _add(x, dim, None, None, keepdim)
        return z if x.flags.c_contiguous else ordered(z)
    if is_half(x.dtype):
        return ordered(widen(x).sum(dim, keepdims=keepdim)).astype(x.dtype)
    if x.dtype.kind in "iub":
        return ordered(x.sum(dim, np.int64 if dtype is None else x.dtype, keepdims=keepdim))
    if dim is not None and x.dtype == np.float32 and x.ndim == 2 and dim == (0,):
        return _column_sum(x, keepdim)
    return ordered(x.sum(dim, keepdims=keepdim))


def _long_sum(x: ndarray, dim: Dims, keepdim: bool) -> ndarray | None:
    """The sum of everything, or of rows, as a matrix-vector product: four times as fast.

    None for other dimensions.
    """
    if dim is None or len(dim) == x.ndim:
        flat, width = x.reshape(-1), 1024
        whole = flat.size // width * width
        rows = flat[:whole].reshape(-1, width) @ ones(width, F32)
        z = np.asarray(_add(rows) + _add(flat[whole:]))
        return z.reshape((1,) * x.ndim) if keepdim else z
    n = x.shape[-1]
    if dim == (x.ndim - 1,) and 32 <= n <= _MANY:
        z = (x.reshape(-1, n) @ ones(n, F32)).reshape(x.shape[:-1])
        return z[..., None] if keepdim else z
    return None


def row_sums(x: ndarray) -> ndarray:
    """The sums of a matrix's rows, (n,).

    As dot products with ones, a row at a time: a whole product would wake the BLAS's threads.
    """
    if x.dtype is F32 and x.size > _FEW and x.shape[1] <= _MANY and x.flags.c_contiguous:
        return dots(x, ones(x.shape[1], F32))
    z: ndarray = _add(x, 1)
    return z


def dots(x: ndarray, y: ndarray) -> ndarray:
    """Real dot products along the last axis, (*, n) with (*, n) or (n,), by this thread alone.

    NumPy's vecdot keeps the interpreter's lock for up to 500 of them; einsum is slower to begin.
    """
    if x.size <= _BRIEF or x.size > 500 * x.shape[-1]:
        z: ndarray = np.vecdot(x, y)
        return z
    return np.einsum("...i,...i->...", x, y)


def column_sums(x: ndarray) -> ndarray:
    """The sums of a contiguous matrix's columns, (n,), by this thread alone."""
    if x.size < ALONE and x.dtype.kind == "f":
        return ones(x.shape[0], x.dtype).dot(x)
    z: ndarray = _add(x, 0)
    return z


def _column_sum(x: ndarray, keepdim: bool) -> ndarray:
    """Column sums as a matrix-vector product, which BLAS does faster and in blocks."""
    if x.size > _FEW and x.flags.c_contiguous:
        z = ones(x.shape[0], F32) @ x
    else:
        z = _add(x, 0)
    return z[None] if keepdim else z


_MANY = 1 << 16  # from here on a matrix-vector product pays for any sum
_FEW = 1 << 11  # up to here NumPy's own sum is as fast
_BRIEF = 1 << 15  # up to here another thread may wait
ALONE = 9216  # numbers of a matrix from which on a product with a vector wakes the BLAS's threads


def mean(x: ndarray, dim: Dims = None, keepdim: bool = False, dtype: Any = None) -> ndarray:
    """The mean over ``dim``: the sum divided by the count."""
    wide = widen(x if dtype is None else _as(x, dtype))
    count = x.size if dim is None else math.prod([x.shape[d] for d in dim])
    many = wide.dtype is F32 and wide.size > _MANY and wide.flags.c_contiguous
    total = sum(wide, dim, keepdim) if many else _add(wide, dim, None, None, keepdim)
    total = total / wide.dtype.type(count)
    kind = x.dtype if dtype is None else dtype.array
    return total if wide is x and x.flags.c_contiguous else ordered(total).astype(kind, copy=False)


def sum_whole(x: ndarray, dtype: Any = None) -> ndarray:
    return sum(x, None, False, dtype)


def mean_whole(x: ndarray, dtype: Any = None) -> ndarray:
    return mean(x, None, False, dtype)


def sum_to_size(x: ndarray, shape: tuple[int, ...]) -> ndarray:
    """The sum that undoes broadcasting from ``shape``."""
    if x.shape == shape:
        return x
    if x.ndim == 2 and len(shape) == 1 and shape[0] == x.shape[1]:  # a bias
        return sum(x, (0,))
    lead = x.ndim - len(shape)
    own = enumerate(shape, lead)
    axes = tuple(range(lead)) + tuple(i for i, n in own if n == 1 and x.shape[i] != 1)
    if not axes:
        return x.reshape(shape)
    return sum(x, axes, True).reshape(shape)


def var(x: ndarray, dim: Dims, correction: float, keepdim: bool) -> ndarray:
    """The variance over ``dim`` with ``count - correction`` in the denominator (not below 0)."""
    wide = widen(x)
    count = x.size if dim is None else math.prod([x.shape[d] for d in dim])
    plain = wide.dtype.kind == "f"
    if plain and count == x.size and count > _LONG and x.flags.c_contiguous:
        total, rest = _squares_about_mean(wide.reshape(-1))
        if keepdim:
            total, rest = total.reshape((1,) * x.ndim), rest.reshape((1,) * x.ndim)
    else:
        center = wide - _add(wide, dim, None, None, True) / wide.dtype.type(max(count, 1))
        total = _add(center * center if plain else abs(center) ** 2, dim, None, None, keepdim)
        rest = abs(_add(center, dim, None, None, keepdim))
    # what rounding of the mean has added: all of it where the elements are equal
    kind = total.dtype.type
    total = np.maximum(total - rest * rest / kind(max(count, 1)), kind(0))
    left = max(count - correction, 0)
    if not count:
        total = total * np.nan
    return ordered(total / kind(left)).astype(x.real.dtype, copy=False)


def _squares_about_mean(x: ndarray) -> tuple[ndarray, ndarray]:
    """(Σ (x - c)², Σ (x - c)) of a vector, block by block, for a c near the mean.

    c is the mean of every so many elements; of all of them only where that turns out to be more
    than half a deviation away, as the difference of the two sums would then lose digits.
    """
    few = x[:: max(1, x.size // _SAMPLE)]
    total, rest = _squares_about(x, _add(few) / x.dtype.type(few.size))
    if 4 * rest * rest > total * x.size:
        return _squares_about(x, _add(x) / x.dtype.type(x.size))
    return total, rest


def _squares_about(x: ndarray, center: Any) -> tuple[ndarray, ndarray]:
    total, rest = np.zeros((2, -(-x.size // _BLOCK_OF_SQUARES)), x.dtype)
    for i in range(len(total)):
        part = x[i * _BLOCK_OF_SQUARES : (i + 1) * _BLOCK_OF_SQUARES]
        away = np.subtract(part, center, out=scratch("away", part.shape, x.dtype))
        total[i], rest[i] = _dot(away, away), _dot(away, None)
    return np.asarray(_add(total)), np.asarray(_add(rest))


def _dot(x: ndarray, y: ndarray | None) -> Any:
    """The dot product with a vector, or with ones, in pieces so short that the BLAS stays alone."""
    whole = x.size // _PIECE * _PIECE
    rows, rest = x[:whole].reshape(-1, _PIECE), x[whole:]
    if y is None:
        units = ones(_PIECE, x.dtype)
        return _add(np.vecdot(rows, units)) + np.dot(rest, units[: rest.size])
    return _add(np.vecdot(rows, y[:whole].reshape(-1, _PIECE))) + np.dot(rest, y[whole:])


_LONG = 1 << 14  # from here on blocks pay
_SAMPLE, _PIECE, _BLOCK_OF_SQUARES = 1 << 12, 1 << 12, 1 << 17


def _extreme(x: ndarray, dim: Dims, keepdim: bool, reducer: Any, word: str) -> ndarray:
    count = x.size if dim is None else int(np.prod([x.shape[d] for d in dim]))
    if count == 0:
        check_not_empty(word, x.shape, dim)
    return ordered(reducer(x, dim, keepdims=keepdim))


def check_not_empty(word: str, shape: tuple[int, ...], dim: Any) -> None:
    """PyTorch's errors for a reduction that needs an element and has none."""
    if dim is None:
        raise IndexError(
            f"{word}(): Expected reduction dim to be specified for input.numel() == 0."
        )
    for d in dim:
        if shape[d] == 0:
            raise IndexError(f"{word}(): Expected reduction dim {d} to have non-zero size.")


def amax(x: ndarray, dim: Dims = None, keepdim: bool = False) -> ndarray:
    return _extreme(x, dim, keepdim, np.max, "amax")


def amin(x: ndarray, dim: Dims = None, keepdim: bool = False) -> ndarray:
    return _extreme(x, dim, keepdim, np.min, "amin")


max_all, min_all = amax, amin


def argmax(x: ndarray, dim: int | None, keepdim: bool) -> ndarray:
    """The index of the first maximum (of the first NaN, if there is one); flat if dim is None."""
    z = _position(np.argmax, "argmax", x, dim)
    return _keep(z.astype(np.int64), x.ndim, dim, keepdim)


def argmin(x: ndarray, dim: int | None, keepdim: bool) -> ndarray:
    """The index of the first minimum (of the first NaN, if there is one); flat if dim is None."""
    z = _position(np.argmin, "argmin", x, dim)
    return _keep(z.astype(np.int64), x.ndim, dim, keepdim)


def _position(finder: Any, word: str, x: ndarray, dim: int | None) -> ndarray:
    if x.size == 0:
        check_not_empty(word, x.shape, None if dim is None else (dim,))
    if dim is None or x.ndim == 0:
        return np.asarray(finder(x.reshape(-1), 0))
    return ordered(finder(x, dim))


def _keep(z: ndarray, ndim: int, dim: int | None, keepdim: bool) -> ndarray:
    if not keepdim or not ndim:
        return z
    return z.reshape((1,) * ndim) if dim is None else np.expand_dims(z, dim)


def max_dim(x: ndarray, dim: int, keepdim: bool) -> tuple[ndarray, ndarray]:
    """(values, indices) of the maxima along ``dim``."""
    return _with_index(x, np.argmax, dim, keepdim)


def min_dim(x: ndarray, dim: int, keepdim: bool) -> tuple[ndarray, ndarray]:
    """(values, indices) of the minima along ``dim``."""
    return _with_index(x, np.argmin, dim, keepdim)


def _with_index(x: ndarray, finder: Any, dim: int, keepdim: bool) -> tuple[ndarray, ndarray]:
    if x.ndim == 0:
        return x.copy(), np.zeros((), np.int64)
    if x.shape[dim] == 0:
        check_not_empty("max" if finder is np.argmax else "min", x.shape, (dim,))
    at = ordered(finder(x, dim, keepdims=True))
    values = gather_along(x, at, dim % x.ndim)
    if keepdim:
        return values, at
    shape = (*x.shape[: dim % x.ndim], *x.shape[dim % x.ndim + 1 :])
    return values.reshape(shape), at.reshape(shape)


def all(x: ndarray, dim: Dims = None, keepdim: bool = False) -> ndarray:
    z = ordered(x.astype(bool).all(dim, keepdims=keepdim))
    return z.astype(np.uint8) if x.dtype == np.uint8 else z


def any(x: ndarray, dim: Dims = None, keepdim: bool = False) -> ndarray:
    z = ordered(x.astype(bool).any(dim, keepdims=keepdim))
    return z.astype(np.uint8) if x.dtype == np.uint8 else z


def cumsum(x: ndarray, dim: int, dtype: Any = None) -> ndarray:
    """Running sums along ``dim``; integers sum to int64."""
    x = _as(x, dtype)
    kind = np.dtype(np.int64) if x.dtype.kind in "iub" and dtype is None else x.dtype
    if x.ndim == 0:
        return x.astype(kind)
    wide = widen(x)
    if wide.dtype.kind == "f" and wide.flags.c_contiguous and x.size > _SHARED:
        return _long_cumsum(wide, dim).astype(kind, copy=False)
    total = np.cumsum(wide, dim, kind if kind.kind in "iub" else None)
    return ordered(total).astype(kind, copy=False)


_SHARED = 1 << 17  # from here on threads and row additions pay


def _long_cumsum(x: ndarray, dim: int) -> ndarray:
    """Running sums of a large array: of whole rows where ``dim`` is not the last."""
    if dim == x.ndim - 1:
        return _cumsum_by_blocks(x)
    z = np.empty_like(x)
    lead, n = math.prod(x.shape[:dim]), x.shape[dim]
    if dim < x.ndim - 1 and math.prod(x.shape[dim + 1 :]) >= 256:
        blocks, sums = x.reshape(lead, n, -1), z.reshape(lead, n, -1)
        for block, total in zip(blocks, sums, strict=True):
            total[0] = block[0]
            for k in range(1, n):
                np.add(total[k - 1], block[k], total[k])
        return z
    return np.add.accumulate(x, dim, out=z)


_BLOCK = 16
_BELOW = np.triu(np.ones((_BLOCK, _BLOCK), np.float32))


def _cumsum_by_blocks(x: ndarray) -> ndarray:
    """Running sums along the last dimension: a matrix product in every block, then their ends."""
    n = x.shape[-1]
    whole = n - n % _BLOCK
    rows = x.reshape(-1, n)
    z = np.empty_like(rows)
    if whole < n and len(rows) > 1:
        work = lambda i, j: np.add.accumulate(rows[i:j], 1, None, z[i:j])
        in_chunks(len(rows), n, work)
        return z.reshape(x.shape)
    blocks = rows[:, :whole].reshape(-1, _BLOCK)
    inner = np.matmul(blocks, _BELOW.astype(x.dtype), out=z[:, :whole].reshape(-1, _BLOCK))
    inner = inner.reshape(len(rows), -1, _BLOCK)
    ends = np.add.accumulate(inner[..., -1], -1)
    if not np.isfinite(ends[:, -1]).all():  # a product with 0 would spread infinities
        return np.add.accumulate(x, -1)
    inner[:, 1:] += ends[:, :-1, None]
    if whole < n:
        np.add.accumulate(rows[0, whole:], out=z[0, whole:])
        z[0, whole:] += ends[0, -1]
    return z.reshape(x.shape)


def logsumexp(x: ndarray, dim: tuple[int, ...], keepdim: bool) -> ndarray:
    """log Σ exp(x), shifted by the maximum so that it does not overflow."""
    kind = x.dtype if x.dtype.kind not in "iub" else DEFAULT.dtype.array
    wide = widen(x.astype(kind, copy=False))
    top = np.maximum.reduce(wide.real, dim, keepdims=True, initial=-np.inf)
    shift = np.where(np.isfinite(top), top, 0)
    z = np.log(np.exp(wide - shift).sum(dim, keepdims=True)) + shift
    z = ordered(np.asarray(z, wide.dtype))
    return (z if keepdim else z.squeeze(dim)).astype(kind)
