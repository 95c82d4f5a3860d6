"""Group normalization: each sample's channels in groups, every group over all its elements."""

from __future__ import annotations

import math

import numpy as np
from numpy import ndarray

from .formats import follows
from .half import narrow, widen
from .norm import layer_norm, parameter_type
from .reduce import dots, row_sums
from .scratch import scratch
from .threads import in_chunks

__all__ = ["group_norm", "group_norm_backward"]


def _rows(x: ndarray, groups: int) -> ndarray:
    """(N, C, *) as (N * groups, elements of a group)."""
    count = x.shape[0] * groups
    return np.ascontiguousarray(widen(x)).reshape(count, x.size // count if count else 0)


def _per_channel(parameter: ndarray, x: ndarray) -> ndarray:
    return widen(parameter).reshape(1, -1, *(1,) * (x.ndim - 2))


@follows(0, meta=False)
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
    kind = x.dtype if mean.dtype is x.dtype else parameter_type(x, weight, bias)
    mean, rstd = (narrow(s.reshape(shape), kind) for s in (mean, rstd))
    return narrow(out, x.dtype), mean, rstd


@follows(1)
def group_norm_backward(
    g: ndarray,
    x: ndarray,
    weight: ndarray | None,
    mean: ndarray,
    rstd: ndarray,
    groups: int,
    eps: float = 0.0,
) -> tuple[ndarray, ndarray, ndarray]:
    """Gradients of x, weight and bias; ``eps`` is for the tensors' form of this function.

    With gw = g * weight, xc = x - mean and means over a group:
    gx = rstd * (gw - mean(gw) - xc * rstd² * mean(gw * xc)).
    """
    kind = x.dtype if weight is None else weight.dtype
    each = x.shape[1] // groups
    if not x.size:
        return np.empty(x.shape, x.dtype), np.zeros(x.shape[1], kind), np.zeros(x.shape[1], kind)
    rows = (x.shape[0] * groups, each, math.prod(x.shape[2:]))
    gs, xs = (np.ascontiguousarray(widen(a)).reshape(rows) for a in (g, x))
    average, scale = (widen(s).reshape(-1, 1) for s in (mean, rstd))
    scales = np.repeat(scale, each, 1)
    if weight is not None:
        scales *= np.tile(widen(weight).reshape(groups, each), (x.shape[0], 1))
    size = gs.dtype.type(gs[0].size)
    result, (products, sums) = np.empty(gs.shape, gs.dtype), np.empty((2, *gs.shape[:2]), gs.dtype)

    def work(first: int, last: int) -> None:
        part, out, factor, std = (a[first:last] for a in (gs, result, scales, scale))
        dot, total = products[first:last], sums[first:last]
        centred = scratch("centred", part.shape, part.dtype)
        np.subtract(xs[first:last], average[first:last, :, None], out=centred)
        dot[...] = dots(part, centred)
        total[...] = row_sums(part.reshape(-1, part.shape[2])).reshape(total.shape)
        slope = np.add.reduce(dot * factor, axis=1, keepdims=True) * std * std / size
        shift = np.add.reduce(total * factor, axis=1, keepdims=True) / size
        np.multiply(part, factor[:, :, None], out=out)
        np.multiply(centred, slope[:, :, None], out=centred)
        np.add(centred, shift[:, :, None], out=centred)
        np.subtract(out, centred, out=out)

    in_chunks(len(gs), gs[0].size, work)
    g_weight, g_bias = (
        np.add.reduce(s.reshape(x.shape[0], -1), axis=0) for s in (products * scale, sums)
    )
    return narrow(result.reshape(x.shape), x.dtype), narrow(g_weight, kind), narrow(g_bias, kind)
