"""Group normalization: each sample's channels in groups, every group over all its elements."""

from __future__ import annotations

import numpy as np
from numpy import ndarray

from .half import narrow, widen
from .norm import layer_norm, layer_norm_backward

__all__ = ["group_norm", "group_norm_backward"]


def _rows(x: ndarray, groups: int) -> ndarray:
    """(N, C, *) as (N * groups, elements of a group)."""
    count = x.shape[0] * groups
    return np.ascontiguousarray(widen(x)).reshape(count, x.size // count if count else 0)


def _per_channel(parameter: ndarray, x: ndarray) -> ndarray:
    return widen(parameter).reshape(1, -1, *(1,) * (x.ndim - 2))


def group_norm(
    x: ndarray, weight: ndarray | None, bias: ndarray | None, groups: int, eps: float
) -> tuple[ndarray, ndarray, ndarray]:
    """Normalized x (N, C, *) times weight plus bias (C,); mean and rstd, each (N, groups)."""
    rows, mean, rstd = layer_norm(_rows(x, groups), None, None, 1, eps)
    out = rows.reshape(x.shape)
    if weight is not None:
        out *= _per_channel(weight, x)
    if bias is not None:
        out += _per_channel(bias, x)
    shape = x.shape[0], groups
    mean, rstd = (narrow(s.reshape(shape), x.dtype) for s in (mean, rstd))
    return narrow(out, x.dtype), mean, rstd


def group_norm_backward(
    g: ndarray,
    x: ndarray,
    weight: ndarray | None,
    mean: ndarray,
    rstd: ndarray,
    groups: int,
    eps: float = 0.0,
) -> tuple[ndarray, ndarray, ndarray]:
    """Gradients of x, weight and bias; ``eps`` is for the tensors' form of this function."""
    wide, source = widen(g), widen(x)
    stats = [np.repeat(widen(s), x.shape[1] // groups, 1) for s in (mean, rstd)]
    centre, scale = (s.reshape(*x.shape[:2], *(1,) * (x.ndim - 2)) for s in stats)
    axes = (0, *range(2, x.ndim))
    kind = x.dtype if weight is None else weight.dtype
    g_weight = ((source - centre) * scale * wide).sum(axes)
    weighted = wide if weight is None else wide * _per_channel(weight, x)
    centres, scales = (widen(s).reshape(-1, 1) for s in (mean, rstd))
    g_rows, _, _ = layer_norm_backward(
        _rows(weighted, groups), _rows(source, groups), centres, scales, None, 1
    )
    return (
        narrow(g_rows.reshape(x.shape), x.dtype),
        narrow(g_weight, kind),
        narrow(wide.sum(axes), kind),
    )
