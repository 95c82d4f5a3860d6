"""Normalization over a batch, a layer's features, or groups of channels.

The gradients are kernels where numbers are plain arrays. As tensors (for second derivatives and
transforms) they are the same formulas in differentiable operations, statistics included, under the
same names.
"""

from __future__ import annotations

import math
from typing import Any

from ..kernels.norm import parameter_type
from ..tape.declare import general
from ..tape.op import TENSOR, public
from ..tensor import Tensor

Grads = tuple[Any, Any, Any]


def _masked(grads: Any, need: Any) -> list[Any]:
    return [g if wanted else None for g, wanted in zip(grads, need, strict=False)]


def _first(g: Any) -> Any:
    return g[0] if type(g) is list else g


# --- the gradients of tensors ---------------------------------------------------------------------


def _standard(x: Tensor, axes: tuple[int, ...], eps: float) -> tuple[Tensor, Tensor]:
    """(x - mean) / sqrt(var + eps) and the reciprocal of that root."""
    centred = x - TENSOR.mean(x, axes, True)
    rstd = TENSOR.rsqrt(TENSOR.mean(centred * centred, axes, True) + eps)
    return centred * rstd, rstd


def _through(g: Any, xhat: Any, rstd: Any, axes: tuple[int, ...]) -> Any:
    """rstd (g - mean(g) - xhat mean(g xhat)): the gradient of what was normalized."""
    mean = TENSOR.mean
    return rstd * (g - mean(g, axes, True) - xhat * mean(g * xhat, axes, True))


def _per_channel(parameter: Any, x: Any) -> Any:
    return TENSOR.reshape(parameter, (1, -1, *(1,) * (x.ndim - 2)))


@public
def batch_norm_backward(
    g: Tensor, x: Tensor, weight: Any, mean: Tensor, invstd: Tensor, training: bool, eps: float
) -> Grads:
    """Gradients of input, weight and bias of a batch normalization."""
    axes = (0, *range(2, x.ndim))
    if training:
        xhat, rstd = _standard(x, axes, eps)
    else:
        rstd = _per_channel(invstd.detach(), x)
        xhat = (x - _per_channel(mean.detach(), x)) * rstd
    scaled: Any = g if weight is None else g * _per_channel(weight, x)
    g_input = _through(scaled, xhat, rstd, axes) if training else scaled * rstd
    return g_input, TENSOR.sum(g * xhat, axes), TENSOR.sum(g, axes)


@public
def layer_norm_backward(
    g: Tensor, x: Tensor, mean: Tensor, rstd: Tensor, weight: Any, ndim: int, eps: float
) -> Grads:
    """Gradients of input, weight and bias of a layer normalization."""
    axes = tuple(range(x.ndim - ndim, x.ndim))
    lead = tuple(range(x.ndim - ndim))
    xhat, rstd = _standard(x, axes, eps)
    scaled: Any = g if weight is None else g * weight
    g_weight, g_bias = g * xhat, g
    if lead:
        g_weight, g_bias = TENSOR.sum(g_weight, lead), TENSOR.sum(g_bias, lead)
    return _through(scaled, xhat, rstd, axes), g_weight, g_bias


@public
def group_norm_backward(
    g: Tensor, x: Tensor, weight: Any, mean: Tensor, rstd: Tensor, groups: int, eps: float
) -> Grads:
    """Gradients of input, weight and bias of a group normalization."""
    shape, axes = tuple(x.shape), (0, *range(2, x.ndim))
    rows = (shape[0], groups, math.prod(shape[1:]) // groups)
    xhat, rstd = _standard(TENSOR.reshape(x, rows), (2,), eps)
    scaled: Any = g if weight is None else g * _per_channel(weight, x)
    g_input = _through(TENSOR.reshape(scaled, rows), xhat, rstd, (2,))
    g_weight = TENSOR.sum(g * TENSOR.reshape(xhat, shape), axes)
    return TENSOR.reshape(g_input, shape), g_weight, TENSOR.sum(g, axes)


# --- the operations -------------------------------------------------------------------------------


def _batch_norm_vjp(
    F: Any, g: Any, need: Any, input: Any, weight: Any, running_mean: Any, running_var: Any,
    training: bool, eps: float, result1: Any, result2: Any,
) -> Any:  # fmt: skip
    # the running statistics are asked for only because PyTorch saves them: writes to them raise
    args = (_first(g), input, weight, result1, result2, training, eps)
    return _masked(F.batch_norm_backward(*args), need)


def _batch_norm_shape(x: Any, *rest: Any) -> Any:
    return [(x.shape, x.dtype), ((x.shape[1],), x.dtype), ((x.shape[1],), x.dtype)]


batch_norm_of = general(
    "batch_norm_of",
    joint=_batch_norm_vjp,
    inputs=("input", "weight", "bias", "running_mean", "running_var"),
    constants=("running_mean", "running_var"),
    statics=("training", "momentum", "eps"),
    kernel="batch_norm",
    node="NativeBatchNormBackward0",
    differentiable=(True, False, False),
    shape=_batch_norm_shape,
)


def _layer_norm_vjp(
    F: Any, g: Any, need: Any, input: Any, weight: Any, bias: Any, ndim: int, eps: float,
    result1: Any, result2: Any,
) -> Any:  # fmt: skip
    # the bias is asked for only because PyTorch saves it: writes to it raise
    args = (_first(g), input, result1, result2, weight, ndim, eps)
    return _masked(F.layer_norm_backward(*args), need)


def _layer_norm_shape(x: Any, weight: Any, bias: Any, ndim: int, eps: float) -> Any:
    stats = (*x.shape[: x.ndim - ndim], *(1,) * ndim)
    return [(x.shape, x.dtype), (stats, x.dtype), (stats, x.dtype)]


layer_norm_of = general(
    "layer_norm_of",
    joint=_layer_norm_vjp,
    inputs=("input", "weight", "bias"),
    statics=("ndim", "eps"),
    kernel="layer_norm",
    node="NativeLayerNormBackward0",
    differentiable=(True, False, False),
    shape=_layer_norm_shape,
)


def _group_norm_vjp(
    F: Any, g: Any, need: Any, input: Any, weight: Any, groups: int, eps: float,
    result1: Any, result2: Any,
) -> Any:  # fmt: skip
    g, g_mean, g_rstd = g if type(g) is list else (g, None, None)
    grads: list[Any] = [None] * 3
    if g is not None:
        args = (g, input, weight, result1, result2, groups, eps)
        grads = _masked(F.group_norm_backward(*args), need)
    if need[0] and (g_mean is not None or g_rstd is not None):
        extra = _statistics_vjp(F, g_mean, g_rstd, input, result1, result2)
        grads[0] = extra if grads[0] is None else grads[0] + extra
    return grads


def _statistics_vjp(F: Any, g_mean: Any, g_rstd: Any, x: Any, mean: Any, rstd: Any) -> Any:
    """The gradient of x (N, C, *) from those of each group's mean and rstd, (N, groups)."""
    shape, column = tuple(x.shape), (*mean.shape, 1)
    count, total = math.prod(shape[1:]) // mean.shape[1], None
    rows = F.reshape(x, (*mean.shape, count))
    if g_mean is not None:
        total = F.expand(F.reshape(g_mean, column), tuple(rows.shape)) / count
    if g_rstd is not None:
        slope = F.reshape(g_rstd * rstd * rstd * rstd, column)
        change = -slope * (rows - F.reshape(mean, column)) / count
        total = change if total is None else total + change
    return F.reshape(total, shape)


def _group_norm_shape(x: Any, weight: Any, bias: Any, groups: int, eps: float) -> Any:
    stats, kind = (x.shape[0], groups), parameter_type(x, weight, bias)
    return [(x.shape, x.dtype), (stats, kind), (stats, kind)]


group_norm_of = general(
    "group_norm_of",
    joint=_group_norm_vjp,
    inputs=("input", "weight", "bias"),
    statics=("groups", "eps"),
    kernel="group_norm",
    node="NativeGroupNormBackward0",
    shape=_group_norm_shape,
)
