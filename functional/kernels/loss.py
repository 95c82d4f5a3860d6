"""Losses with one fused kernel each. ``reduction`` is 0 none, 1 mean, 2 sum."""

from __future__ import annotations

import numpy as np
from numpy import ndarray

from . import layout
from .half import is_half, widen
from .softmax import nll_loss as nll_loss_reduced
from .softmax import nll_loss_backward

__all__ = ["mse_loss", "mse_loss_backward", "nll_backward", "nll_loss_reduced"]


def nll_backward(
    g: ndarray,
    x: ndarray,
    target: ndarray,
    weight: ndarray | None,
    total_weight: ndarray,
    reduction: int,
    ignore_index: int,
) -> ndarray:
    """The gradient of ``nll_loss_reduced``, tensors first."""
    return nll_loss_backward(
        g, x.shape, g.dtype, target, weight, reduction, ignore_index, total_weight
    )


def share(size: int, reduction: int) -> float:
    """What the reduction multiplies each element's gradient by."""
    return 1.0 / size if reduction == 1 and size else (np.nan if reduction == 1 else 1.0)


def reduced(z: ndarray, reduction: int) -> ndarray:
    """The elements, their mean or their sum."""
    if reduction == 0:
        return z
    total = np.asarray(z.sum())
    return total if reduction == 2 else np.asarray(total / total.dtype.type(z.size))


def mse_loss(x: ndarray, target: ndarray, reduction: int) -> ndarray:
    """(x - target)², reduced."""
    if is_half(x.dtype):
        return mse_loss(widen(x), widen(target), reduction).astype(x.dtype)
    d = np.asarray(x - target)
    if reduction and d.flags.c_contiguous and d.dtype.kind == "f" and d.size < 1 << 16:
        flat = d.reshape(-1)
        total = np.asarray(flat @ flat)
        return total if reduction == 2 else np.asarray(total / total.dtype.type(d.size))
    z = reduced(np.asarray(d * d), reduction)
    if reduction or x.flags.c_contiguous:
        return z
    return layout.with_strides(z, layout.result_strides(z.shape, [x, target], z.itemsize))


def mse_loss_backward(g: ndarray, x: ndarray, target: ndarray, reduction: int) -> ndarray:
    """2 g (x - target), divided by the number of elements for the mean; in C order."""
    if is_half(x.dtype):
        wide = mse_loss_backward(widen(g), widen(x), widen(target), reduction)
        return wide.astype(x.dtype)
    d = np.asarray(x - target)
    return np.asarray(d * (g * d.dtype.type(2 * share(d.size, reduction))), order="C")
