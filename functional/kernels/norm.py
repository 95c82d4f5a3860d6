"""Batch and layer normalization on NumPy arrays, forward and backward.

Half types are computed in float32 and rounded once; the saved statistics of a half input stay
float32. Variances are two-pass (the mean is subtracted first), so large means lose nothing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .constants import ones
from .formats import follows
from .half import is_half, narrow, widen
from .reduce import column_sums, dots, row_sums
from .scratch import scratch
from .threads import in_chunks

__all__ = [
    "batch_norm",
    "batch_norm_backward",
    "layer_norm",
    "layer_norm_backward",
]


def _channel_lines(x: np.ndarray) -> np.ndarray:
    """(N, C, *d) as a contiguous (N, C, L) array of a computing type."""
    x = np.ascontiguousarray(widen(x))
    return (
        x.reshape(x.shape[0], x.shape[1], -1) if x.size else np.zeros((0, x.shape[1], 1), x.dtype)
    )


def _channel_sum(x: np.ndarray) -> np.ndarray:
    """Sum of (N, C, L) to (C,): along the lines first, by dot products if they are short."""
    length = x.shape[2]
    if length == 1:
        lines = x[:, :, 0]
    elif 8 <= length <= _LONG and x.dtype.kind == "f":
        lines = dots(x, ones(length, x.dtype))
    else:
        lines = np.add.reduce(x, axis=2)
    return np.add.reduce(lines, axis=0)


_LONG = 1 << 12  # NumPy's own sum, which is pairwise, is the more accurate for longer lines


def _channel_dot(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Sum of x * y, both (N, C, L), to (C,), without the product in memory."""
    if x.shape[2] < 8:
        return _channel_sum(x * y)
    return np.add.reduce(dots(x, y), axis=0)


def _update_running(mean, var, running_mean, running_var, count, momentum) -> None:
    """running += momentum * (new - running); the running variance is the unbiased one."""
    if running_mean is not None:
        wide = widen(running_mean)
        running_mean[...] = wide + momentum * (mean - wide)
    if running_var is not None:
        wide = widen(running_var)
        unbiased = var * (count / (count - 1) if count > 1 else np.nan)
        running_var[...] = wide + momentum * (unbiased - wide)


@follows(0)
def batch_norm(
    x: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    running_mean: np.ndarray | None,
    running_var: np.ndarray | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(x - mean) / sqrt(var + eps) * weight + bias per channel of x (N, C, *d).

    Returns (out, mean, invstd), the last two (C,): the batch's when training (running statistics,
    where given, are then updated in place), the running ones otherwise.
    """
    lines = _channel_lines(x)
    count = lines.shape[0] * lines.shape[2]
    divisor, eps = lines.dtype.type(count or np.nan), lines.dtype.type(eps)
    if training:
        mean, var = np.empty((2, x.shape[1]), lines.dtype)
    else:
        assert running_mean is not None
        assert running_var is not None
        mean, var = (widen(r).astype(lines.dtype, copy=False) for r in (running_mean, running_var))
    invstd, scale = np.empty((2, x.shape[1]), lines.dtype)
    result = np.empty(lines.shape, lines.dtype)

    def work(first: int, last: int) -> None:
        part, out, where = lines[:, first:last], result[:, first:last], slice(first, last)
        if training:
            mean[where] = _channel_sum(part) / divisor
        np.subtract(part, mean[where, None], out=out)
        if training:
            var[where] = _channel_dot(out, out) / divisor
        invstd[where] = 1 / np.sqrt(var[where] + eps)
        scale[where] = invstd[where] if weight is None else invstd[where] * widen(weight)[where]
        np.multiply(out, scale[where, None], out=out)
        if bias is not None:
            np.add(out, widen(bias)[where, None], out=out)

    in_chunks(x.shape[1], count, work)
    if training:
        _update_running(mean, var, running_mean, running_var, count, momentum)
    kind = parameter_type(x, weight, running_mean)
    if training and is_half(kind):
        return _rounded(lines, x, weight, bias, narrow(mean, kind), narrow(invstd, kind))
    return narrow(result.reshape(x.shape), x.dtype), mean, invstd


def _rounded(
    lines: np.ndarray, x: np.ndarray, weight: np.ndarray | None, bias: np.ndarray | None,
    mean: np.ndarray, invstd: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """With parameters of a half type PyTorch rounds the statistics to it before it uses them."""
    scale = widen(invstd) if weight is None else widen(invstd) * widen(weight)
    shift = -widen(mean) * scale
    if bias is not None:
        shift += widen(bias)
    out = lines * scale[:, None] + shift[:, None]
    return narrow(out.reshape(x.shape), x.dtype), mean, invstd


@follows(1)
def batch_norm_backward(
    g: np.ndarray,
    x: np.ndarray,
    weight: np.ndarray | None,
    mean: np.ndarray,
    invstd: np.ndarray,
    training: bool,
    eps: float = 0.0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients (gx, gweight, gbias) given the mean and invstd that batch_norm returned.

    ``eps`` is for the tensors' form of this function, which computes invstd anew.

    With n values per channel and xhat = (x - mean) * invstd:
    gx = weight * invstd * (g - sum(g) / n - xhat * sum(g * xhat) / n) when training,
    weight * invstd * g otherwise.
    """
    mean, invstd = widen(mean), widen(invstd)
    gs, xs = _channel_lines(g), _channel_lines(x)
    size = gs.shape[0] * gs.shape[2]
    count = gs.dtype.type(size or 1)
    gx = np.empty(gs.shape, gs.dtype)
    gweight, gbias = np.empty((2, x.shape[1]), gs.dtype)

    def work(first: int, last: int) -> None:
        part, out, where = gs[:, first:last], gx[:, first:last], slice(first, last)
        centred = scratch("centred", part.shape, part.dtype)
        np.subtract(xs[:, first:last], mean[where, None], out=centred)
        total, dot, std = _channel_sum(part), _channel_dot(part, centred), invstd[where]
        scale = std if weight is None else std * widen(weight)[where]
        np.multiply(part, scale[:, None], out=out)
        if training:
            np.multiply(centred, (scale * std * std * dot / count)[:, None], out=centred)
            np.add(centred, (scale * total / count)[:, None], out=centred)
            np.subtract(out, centred, out=out)
        gweight[where], gbias[where] = dot * std, total

    in_chunks(x.shape[1], size, work)
    kind = x.dtype if weight is None else weight.dtype
    return narrow(gx.reshape(x.shape), x.dtype), narrow(gweight, kind), narrow(gbias, kind)


def layer_norm(
    x: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    normalized_ndim: int,
    eps: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(x - mean) / sqrt(var + eps) * weight + bias over the last normalized_ndim dims.

    weight and bias have the shape of those dims. Returns (out, mean, rstd); the statistics keep the
    normalized dims as 1, as PyTorch's do.
    """
    lead = x.shape[: x.ndim - normalized_ndim]
    stats = lead + (1,) * normalized_ndim
    if not x.size:
        kind = widen(np.empty(0, x.dtype)).dtype
        return np.empty(x.shape, x.dtype), np.zeros(stats, kind), np.full(stats, np.nan, kind)
    rows = np.ascontiguousarray(widen(x)).reshape(math.prod(lead), -1)
    size = rows.shape[1]
    root, total_eps = math.sqrt(size), eps * size
    mean, rstd = np.empty((len(rows), 1), rows.dtype), np.empty((len(rows), 1), rows.dtype)
    result = np.empty(rows.shape, rows.dtype)
    flat_weight, flat_bias = _flat(weight), _flat(bias)

    def work(first: int, last: int) -> None:
        part, out, average, scale = (a[first:last] for a in (rows, result, mean, rstd))
        np.divide(row_sums(part)[:, None], size, out=average)
        np.subtract(part, average, out=out)
        # 1 / sqrt(squares / size + eps)
        np.add(dots(out, out)[:, None], total_eps, out=scale)
        np.divide(root, np.sqrt(scale, out=scale), out=scale)
        np.multiply(out, scale, out=out)
        if flat_weight is not None:
            np.multiply(out, flat_weight, out=out)
        if flat_bias is not None:
            np.add(out, flat_bias, out=out)

    in_chunks(len(rows), rows.shape[1], work)
    return narrow(result.reshape(x.shape), x.dtype), mean.reshape(stats), rstd.reshape(stats)


def parameter_type(x: Any, *parameters: Any) -> Any:
    """The dtype of the first parameter that is given; that of ``x`` if none is."""
    return next((p.dtype for p in parameters if p is not None), x.dtype)


def _flat(parameter: np.ndarray | None) -> np.ndarray | None:
    return None if parameter is None else widen(parameter).reshape(-1)


def layer_norm_backward(
    g: np.ndarray,
    x: np.ndarray,
    mean: np.ndarray,
    rstd: np.ndarray,
    weight: np.ndarray | None,
    normalized_ndim: int,
    eps: float = 0.0,
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """Gradients (gx, gweight, gbias) given what layer_norm returned; no weight, no gweight.

    ``eps`` is for the tensors' form of this function, which computes rstd anew.

    With gw = g * weight, xhat = (x - mean) * rstd and means over the normalized dims:
    gx = rstd * (gw - mean(gw) - xhat * mean(gw * xhat)).
    """
    shape = x.shape[x.ndim - normalized_ndim :]
    kind = x.dtype if weight is None else weight.dtype
    if not x.size:
        none = None if weight is None else np.zeros(shape, kind)
        return np.empty(x.shape, x.dtype), none, np.zeros(shape, kind)
    count = mean.size
    gs = np.ascontiguousarray(widen(g)).reshape(count, -1)
    xs = np.ascontiguousarray(widen(x)).reshape(count, -1)
    means, scales, size = mean.reshape(-1, 1), rstd.reshape(-1, 1), gs.shape[1]
    gx = np.empty(gs.shape, gs.dtype)
    flat_weight = _flat(weight)

    def work(first: int, last: int) -> tuple[np.ndarray | None, np.ndarray]:
        part, out, scale = gs[first:last], gx[first:last], scales[first:last]
        xhat = scratch("xhat", part.shape, part.dtype)
        np.subtract(xs[first:last], means[first:last], out=xhat)
        np.multiply(xhat, scale, out=xhat)
        weighted, to_weight = part, None
        if flat_weight is not None:
            to_weight = column_sums(np.multiply(part, xhat, out=out))
            weighted = scratch("weighted", part.shape, part.dtype)
            np.multiply(part, flat_weight, out=weighted)
        dot = dots(weighted, xhat)[:, None] / size
        np.subtract(weighted, row_sums(weighted)[:, None] / size, out=out)
        np.subtract(out, np.multiply(xhat, dot, out=xhat), out=out)
        np.multiply(out, scale, out=out)
        return to_weight, column_sums(part)

    parts = in_chunks(count, gs.shape[1], work)
    by_weight, by_bias = parts[0] if len(parts) == 1 else map(_total, zip(*parts, strict=True))
    gweight = None if by_weight is None else narrow(by_weight, kind).reshape(shape)
    return narrow(gx.reshape(x.shape), x.dtype), gweight, narrow(by_bias, kind).reshape(shape)


def _total(parts: tuple[Any, ...]) -> Any:
    """The sum of arrays, None for a sum of None."""
    return None if parts[0] is None else np.add.reduce(parts, axis=0)
