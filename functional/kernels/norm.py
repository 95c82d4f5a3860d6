"""Batch and layer normalization on NumPy arrays, forward and backward.

Half types are computed in float32 and rounded once; the saved statistics of a half input stay
float32. Variances are two-pass (the mean is subtracted first), so large means lose nothing.
"""

from __future__ import annotations

import numpy as np

from .half import narrow, widen


def _channel_lines(x: np.ndarray) -> np.ndarray:
    """(N, C, *d) as a contiguous (N, C, L) array of a computing type."""
    x = np.ascontiguousarray(widen(x))
    return (
        x.reshape(x.shape[0], x.shape[1], -1) if x.size else np.zeros((0, x.shape[1], 1), x.dtype)
    )


def _channel_sum(x: np.ndarray) -> np.ndarray:
    """Sum of (N, C, L) to (C,): along the lines first, whose sums are pairwise and contiguous."""
    lines = x[:, :, 0] if x.shape[2] == 1 else np.add.reduce(x, axis=2)
    return np.add.reduce(lines, axis=0)


def _channel_dot(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Sum of x * y, both (N, C, L), to (C,), without the product in memory."""
    if x.shape[2] < 8:
        return _channel_sum(x * y)
    return np.add.reduce(np.vecdot(x, y), axis=0)


def _update_running(mean, var, running_mean, running_var, count, momentum) -> None:
    """running += momentum * (new - running); the running variance is the unbiased one."""
    if running_mean is not None:
        wide = widen(running_mean)
        running_mean[...] = wide + momentum * (mean - wide)
    if running_var is not None:
        wide = widen(running_var)
        unbiased = var * (count / (count - 1) if count > 1 else np.nan)
        running_var[...] = wide + momentum * (unbiased - wide)


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
    if training:
        count = lines.shape[0] * lines.shape[2]
        mean = _channel_sum(lines) / lines.dtype.type(count or np.nan)
        out = np.subtract(lines, mean[:, None])
        var = _channel_dot(out, out) / lines.dtype.type(count or np.nan)
        _update_running(mean, var, running_mean, running_var, count, momentum)
    else:
        assert running_mean is not None
        assert running_var is not None
        mean = widen(running_mean).astype(lines.dtype, copy=False)
        var = widen(running_var).astype(lines.dtype, copy=False)
        out = np.subtract(lines, mean[:, None])
    invstd = 1 / np.sqrt(var + lines.dtype.type(eps))
    scale = invstd if weight is None else invstd * widen(weight)
    np.multiply(out, scale[:, None], out=out)
    if bias is not None:
        np.add(out, widen(bias)[:, None], out=out)
    return narrow(out.reshape(x.shape), x.dtype), mean, invstd


def batch_norm_backward(
    g: np.ndarray,
    x: np.ndarray,
    weight: np.ndarray | None,
    mean: np.ndarray,
    invstd: np.ndarray,
    training: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients (gx, gweight, gbias) given the mean and invstd that batch_norm returned.

    With n values per channel and xhat = (x - mean) * invstd:
    gx = weight * invstd * (g - sum(g) / n - xhat * sum(g * xhat) / n) when training,
    weight * invstd * g otherwise.
    """
    gl = _channel_lines(g)
    centred = np.subtract(_channel_lines(x), mean[:, None])
    gbias = _channel_sum(gl)
    dot = _channel_dot(gl, centred)
    scale = invstd if weight is None else invstd * widen(weight)
    gx = gl * scale[:, None]
    if training and gl.size:
        count = gl.dtype.type(gl.shape[0] * gl.shape[2])
        np.multiply(centred, (scale * invstd * invstd * dot / count)[:, None], out=centred)
        np.subtract(gx, centred, out=gx)
        np.subtract(gx, (scale * gbias / count)[:, None], out=gx)
    kind = x.dtype if weight is None else weight.dtype
    return (
        narrow(gx.reshape(x.shape), x.dtype),
        narrow(dot * invstd, kind),
        narrow(gbias, kind),
    )


def layer_norm(
    x: np.ndarray,
    normalized_ndim: int,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
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
    rows = np.ascontiguousarray(widen(x)).reshape(int(np.prod(lead)), -1)
    size = rows.dtype.type(rows.shape[1])
    mean = np.add.reduce(rows, axis=1, keepdims=True) / size
    out = rows - mean
    var = np.vecdot(out, out)[:, None] / size
    rstd = 1 / np.sqrt(var + rows.dtype.type(eps))
    np.multiply(out, rstd, out=out)
    if weight is not None:
        np.multiply(out, widen(weight).reshape(-1), out=out)
    if bias is not None:
        np.add(out, widen(bias).reshape(-1), out=out)
    return narrow(out.reshape(x.shape), x.dtype), mean.reshape(stats), rstd.reshape(stats)


def layer_norm_backward(
    g: np.ndarray,
    x: np.ndarray,
    mean: np.ndarray,
    rstd: np.ndarray,
    weight: np.ndarray | None,
    normalized_ndim: int,
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """Gradients (gx, gweight, gbias) given what layer_norm returned; no weight, no gweight.

    With gw = g * weight, xhat = (x - mean) * rstd and means over the normalized dims:
    gx = rstd * (gw - mean(gw) - xhat * mean(gw * xhat)).
    """
    shape = x.shape[x.ndim - normalized_ndim :]
    kind = x.dtype if weight is None else weight.dtype
    if not x.size:
        none = None if weight is None else np.zeros(shape, kind)
        return np.empty(x.shape, x.dtype), none, np.zeros(shape, kind)
    count = mean.size
    gl = np.ascontiguousarray(widen(g)).reshape(count, -1)
    rstd = rstd.reshape(-1, 1)
    xhat = np.ascontiguousarray(widen(x)).reshape(count, -1) - mean.reshape(-1, 1)
    np.multiply(xhat, rstd, out=xhat)
    gbias = np.add.reduce(gl, axis=0)
    gweight = None
    gx = gl
    if weight is not None:
        product = gl * xhat
        gweight = narrow(np.add.reduce(product, axis=0), kind).reshape(shape)
        gx = np.multiply(gl, widen(weight).reshape(-1), out=product)
    size = gl.dtype.type(gl.shape[1])
    dot = np.vecdot(gx, xhat)[:, None] / size
    gx = gx - np.add.reduce(gx, axis=1, keepdims=True) / size
    np.subtract(gx, np.multiply(xhat, dot, out=xhat), out=gx)
    np.multiply(gx, rstd, out=gx)
    return narrow(gx.reshape(x.shape), x.dtype), gweight, narrow(gbias, kind).reshape(shape)
