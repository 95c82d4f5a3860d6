"""Rows of a table by index, alone and in bags, and their gradients; dropout's masks."""

from __future__ import annotations

import numpy as np
from numpy import ndarray

from .half import is_half, widen

__all__ = [
    "embedding_bag_backward", "embedding_bag_of", "embedding_bag_weights_backward",
    "embedding_dense_backward", "embedding_double_backward", "embedding_rows",
    "native_dropout_backward", "renormalized_rows",
]  # fmt: skip

SUM, MEAN, MAX = 0, 1, 2


def native_dropout_backward(x: ndarray, mask: ndarray, scale: float) -> ndarray:
    """x, scaled where the mask is set and 0 elsewhere."""
    if is_half(x.dtype):
        return native_dropout_backward(widen(x), mask, scale).astype(x.dtype)
    if x.dtype.kind not in "fc":
        x = x.astype(np.float32)
    if mask.dtype.kind in "iu":  # with NumPy the product would be of float64
        mask = mask.astype(x.dtype)
    return np.asarray(x * mask * x.dtype.type(scale))


def _checked(indices: ndarray, size: int) -> ndarray:
    flat = indices.reshape(-1)
    if flat.size and not (flat.min() >= 0 and flat.max() < size):
        raise IndexError("index out of range in self")
    return flat


def embedding_rows(
    weight: ndarray, indices: ndarray, padding_idx: int, scale_grad_by_freq: bool
) -> ndarray:
    """weight[indices]: (*, D) from a table (V, D)."""
    if weight.ndim != 2 or indices.dtype.kind != "i":
        raise ValueError("not rows of a table")
    flat = _checked(indices, len(weight))
    return weight.take(flat, 0).reshape(*indices.shape, weight.shape[1])


def summed_rows(rows: ndarray, index: ndarray, size: int) -> ndarray:
    """A table (size, D) of the sums of the rows with equal index, added in their order."""
    out = np.zeros((size, rows.shape[1]), rows.dtype)
    if not index.size:
        return out
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    out[ordered[starts]] = np.add.reduceat(rows[order], starts, axis=0)
    return out


def _factors(
    flat: ndarray, size: int, padding_idx: int, scale_grad_by_freq: bool, dtype: np.dtype
) -> ndarray | None:
    """What each gathered row's gradient is multiplied by; None for 1."""
    if padding_idx < 0 and not scale_grad_by_freq:
        return None
    factor = np.ones(flat.size, dtype)
    if scale_grad_by_freq:
        factor /= np.bincount(flat, minlength=size)[flat].astype(dtype)
    if padding_idx >= 0:
        factor[flat == padding_idx] = 0
    return factor[:, None]


def embedding_dense_backward(
    g: ndarray, indices: ndarray, size: int, padding_idx: int, scale_grad_by_freq: bool
) -> ndarray:
    """The gradient of the table: rows of g (*, D) added up by index."""
    flat, rows = indices.reshape(-1), widen(g).reshape(indices.size, g.shape[-1])
    factor = _factors(flat, size, padding_idx, scale_grad_by_freq, rows.dtype)
    if factor is not None:
        if padding_idx >= 0:
            rows = np.where(factor == 0, 0, rows)  # also what is infinite there
        rows = rows * factor
    return summed_rows(rows, flat, size).astype(g.dtype, copy=False)


def embedding_double_backward(
    x: ndarray, indices: ndarray, padding_idx: int, scale_grad_by_freq: bool
) -> ndarray:
    """The derivative of ``embedding_dense_backward``: rows of the table x, weighted alike."""
    flat = indices.reshape(-1)
    rows = x[flat]
    factor = _factors(flat, len(x), padding_idx, scale_grad_by_freq, widen(x).dtype)
    if factor is not None:
        rows = (rows * factor).astype(x.dtype)
    return rows.reshape(*indices.shape, x.shape[1])


# --- bags -----------------------------------------------------------------------------------------


def ends_at_last_offset(mode: int, padding_idx: int, double: bool) -> bool:
    """Whether PyTorch takes its quick way, on which the offset that is included last is heeded."""
    return mode != MAX and padding_idx < 0 and not double


def embedding_bag_of(
    weight: ndarray,
    indices: ndarray,
    offsets: ndarray,
    per_sample_weights: ndarray | None,
    mode: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """The sum, mean or maximum (modes 0 to 2) of each bag's rows; which bag each index is in,
    how many indices count in each bag, and the maxima's indices.

    Empty bags give 0, and an index of -1.
    """
    if indices.size and not (indices.min() >= 0 and indices.max() < len(weight)):
        at = int(np.flatnonzero((indices < 0) | (indices >= len(weight)))[0])
        if not ends_at_last_offset(mode, padding_idx, weight.dtype == np.float64):
            raise RuntimeError(
                "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be "
                f"{indices[at]}"
            )
        raise RuntimeError(
            f"Index {at} of input takes value {indices[at]} which is not in the valid range "
            f"[0, {len(weight)})"
        )
    bag = np.repeat(np.arange(offsets.size), np.diff(np.append(offsets, indices.size)))
    counts = indices != padding_idx if padding_idx >= 0 else slice(None)
    own, used = bag[counts], indices[counts]
    sizes = np.bincount(own, minlength=offsets.size)
    rows = widen(weight)[used]
    if mode == MAX:
        z, maxima = _maxima(rows, own, used, offsets.size)
        return z.astype(weight.dtype, copy=False), bag, sizes, maxima
    if per_sample_weights is not None:
        rows = rows * widen(per_sample_weights)[counts][:, None]
    z = summed_rows(rows, own, offsets.size)
    if mode == MEAN:
        z /= np.maximum(sizes, 1)[:, None].astype(z.dtype)
    return z.astype(weight.dtype, copy=False), bag, sizes, sizes


def _maxima(rows: ndarray, bag: ndarray, used: ndarray, count: int) -> tuple[ndarray, ndarray]:
    z = np.zeros((count, rows.shape[1]), rows.dtype)
    index = np.full(z.shape, -1, np.int64)
    if bag.size:
        starts = np.flatnonzero(np.concatenate(([True], bag[1:] != bag[:-1])))
        best = np.maximum.reduceat(rows, starts, axis=0)
        z[bag[starts]] = best
        # the first row that reaches the maximum: the smallest position of those that do
        own = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(rows))))
        hit = (rows == best[own]) | np.isnan(rows)
        place = np.where(hit, np.arange(len(rows))[:, None], len(rows))
        index[bag[starts]] = used[np.minimum.reduceat(place, starts, axis=0)]
    return z, index


def embedding_bag_backward(
    g: ndarray,
    indices: ndarray,
    bag: ndarray,
    sizes: ndarray,
    maxima: ndarray,
    per_sample_weights: ndarray | None,
    size: int,
    mode: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> ndarray:
    """The gradient of the table (size, D)."""
    wide = widen(g)
    if mode == MAX:
        out = np.zeros((size, g.shape[1]), wide.dtype)
        row, column = np.nonzero(maxima >= 0)
        np.add.at(out, (maxima[row, column], column), wide[row, column])
        return out.astype(g.dtype, copy=False)
    if mode == MEAN:
        wide = wide / np.maximum(sizes, 1)[:, None].astype(wide.dtype)
    rows = wide[bag]
    if per_sample_weights is not None:
        rows = rows * widen(per_sample_weights)[:, None]
    found = embedding_dense_backward(rows, indices, size, padding_idx, scale_grad_by_freq)
    return found.astype(g.dtype, copy=False)


def embedding_bag_weights_backward(
    g: ndarray, weight: ndarray, indices: ndarray, bag: ndarray, padding_idx: int
) -> ndarray:
    """The gradient of the weights of the samples."""
    z = (widen(g)[bag] * widen(weight)[indices]).sum(1)
    if padding_idx >= 0:
        z[indices == padding_idx] = 0
    return z.astype(g.dtype, copy=False)


def renormalized_rows(
    weight: ndarray, indices: ndarray, max_norm: float, norm_type: float
) -> tuple[ndarray, ndarray]:
    """Which rows have a norm above ``max_norm``, and those rows with that norm."""
    used = np.unique(_checked(indices, len(weight)))
    rows = widen(weight)[used]
    norms = np.linalg.norm(rows, norm_type, axis=1)
    over = norms > max_norm
    scale = max_norm / (norms[over] + 1e-7)
    return used[over], (rows[over] * scale[:, None]).astype(weight.dtype)
