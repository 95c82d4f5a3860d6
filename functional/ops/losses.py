"""Losses with a node of their own. ``reduction`` is 0 none, 1 mean, 2 sum.

The gradients are kernels where numbers are plain arrays. As tensors (for second derivatives and
transforms) they are the same formulas in differentiable operations, under the same names.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..errors import not_implemented
from ..kernels.loss import share
from ..tape.declare import general
from ..tape.op import OPS, TENSOR, public
from ..tape.quick import refuse
from ..tensor import Tensor
from .arguments import common_shape
from .dtype_checks import expect_type
from .nn import loss_shape, with_names
from .refusals import no_complex_gradient

# --- the gradients of tensors ---------------------------------------------------------------------


def _scaled(g: Any, slope: Any, reduction: int) -> Any:
    z = slope * g
    return z * share(slope.numel(), reduction) if reduction == 1 else z


@public
def smooth_l1_loss_backward(
    g: Tensor, x: Tensor, target: Tensor, reduction: int, beta: float
) -> Any:
    """The gradient of x: the distance over beta, within [-1, 1]."""
    d: Any = TENSOR.sub(x, target)
    return _scaled(g, TENSOR.clamp(d / beta, -1, 1), reduction)


@public
def huber_loss_backward(g: Tensor, x: Tensor, target: Tensor, reduction: int, delta: float) -> Any:
    """The gradient of x: the distance within [-delta, delta]."""
    return _scaled(g, TENSOR.clamp(TENSOR.sub(x, target), -delta, delta), reduction)


@public
def soft_margin_loss_backward(g: Tensor, x: Tensor, target: Any, reduction: int) -> Any:
    """The gradient of x: -target sigmoid(-target x)."""
    return _scaled(g, -target * TENSOR.sigmoid(-target * x), reduction)


@public
def binary_cross_entropy_backward(
    g: Tensor, x: Any, target: Any, weight: Any, reduction: int
) -> Any:
    """The gradient of x."""
    slope = (x - target) / TENSOR.clamp_min((1 - x) * x, 1e-12)
    return _scaled(g, slope if weight is None else slope * weight, reduction)


@public
def binary_cross_entropy_target_backward(g: Tensor, x: Any, weight: Any, reduction: int) -> Any:
    """The gradient of the target: log(1 - x) - log(x)."""
    slope = TENSOR.log1p(-x) - TENSOR.log(x)
    return _scaled(g, slope if weight is None else slope * weight, reduction)


@public
def bce_with_logits_backward(
    g: Tensor, x: Tensor, target: Any, weight: Any, pos_weight: Any, reduction: int
) -> Any:
    """The gradient of the scores x."""
    if pos_weight is None:
        slope = TENSOR.sigmoid(x) - target
    else:
        positive = pos_weight * target
        slope = (positive + 1 - target) * TENSOR.sigmoid(x) - positive
    return _scaled(g, slope if weight is None else slope * weight, reduction)


@public
def bce_with_logits_target_backward(
    g: Tensor, x: Any, weight: Any, pos_weight: Any, reduction: int
) -> Any:
    """The gradient of the target."""
    slope = -x
    if pos_weight is not None:
        slope = slope - (pos_weight - 1) * TENSOR.log_sigmoid(x)
    return _scaled(g, slope if weight is None else slope * weight, reduction)


def _row_scale(g: Any, x: Any, reduction: int) -> Any:
    """The gradient of each row's loss, (N, 1), over the number of classes."""
    classes = x.shape[-1] if x.ndim else 1
    factor = share(x.numel() // classes, reduction) / classes
    return TENSOR.reshape(g, (-1, 1)) * factor


@public
def multi_margin_loss_backward(
    g: Tensor, x: Tensor, target: Tensor, weight: Any, p: int, margin: float, reduction: int
) -> Any:
    """The gradient of x (N, C) or (C,)."""
    rows: Any = TENSOR.reshape(x, (-1, x.shape[-1] if x.ndim else 1))
    index: Any = TENSOR.reshape(target, (-1, 1))
    gap = margin - TENSOR.gather(rows, 1, index) + rows
    slope = (gap > 0).to(x.dtype) if p == 1 else 2 * TENSOR.clamp_min(gap, 0)
    if weight is not None:
        slope = slope * weight[index]
    slope = TENSOR.scatter(slope, 1, index, 0)
    slope = TENSOR.scatter_add(slope, 1, index, -TENSOR.sum(slope, (1,), True))
    return TENSOR.reshape(slope * _row_scale(g, x, reduction), tuple(x.shape))


@public
def multilabel_margin_loss_backward(
    g: Tensor, x: Tensor, target: Tensor, is_target: Tensor, reduction: int
) -> Any:
    """The gradient of x (N, C) or (C,)."""
    classes = x.shape[-1] if x.ndim else 1
    rows, labels, mine = (TENSOR.reshape(t, (-1, classes)) for t in (x, target, is_target.detach()))
    listed = TENSOR.cumprod(TENSOR.ge(labels, 0).to(x.dtype), 1)
    index = TENSOR.clamp_min(labels, 0)
    own = TENSOR.gather(rows, 1, index)
    over: Any = TENSOR.gt(1 - TENSOR.unsqueeze(own, 2) + TENSOR.unsqueeze(rows, 1), 0)
    over = over.to(x.dtype) * TENSOR.unsqueeze(listed, 2) * TENSOR.unsqueeze(1 - mine, 1)
    slope = TENSOR.scatter_add(TENSOR.sum(over, (1,)), 1, index, -TENSOR.sum(over, (2,)))
    return TENSOR.reshape(slope * _row_scale(g, x, reduction), tuple(x.shape))


# --- elementwise losses ---------------------------------------------------------------------------


def _first(g: Any) -> Any:
    return g[0] if type(g) is list else g


def _same_sizes(x: Tensor, target: Any, *rest: Any) -> None:
    common_shape(x, target)


def _pair_shape(x: Any, target: Any, *rest: Any) -> Any:
    found = loss_shape(x, target, next(r for r in rest if type(r) is int))
    return (found[0], np.result_type(x.dtype, target.dtype), *found[2:])


smooth_l1_loss = general(
    "smooth_l1_loss_reduced",
    lambda F, g, self, target, reduction, beta: F.smooth_l1_loss_backward(
        g, self, target, reduction, beta
    ),
    lambda F, g, self, target, reduction, beta: F.smooth_l1_loss_backward(
        g, target, self, reduction, beta
    ),
    inputs=("self", "target"),
    statics=("reduction", "beta"),
    kernel="smooth_l1_loss",
    node="SmoothL1LossBackward0",
    shape=_pair_shape,
    check=_same_sizes,
)
huber_loss = general(
    "huber_loss_reduced",
    lambda F, g, self, target, reduction, delta: F.huber_loss_backward(
        g, self, target, reduction, delta
    ),
    lambda F, g, self, target, reduction, delta: F.huber_loss_backward(
        g, target, self, reduction, delta
    ),
    inputs=("self", "target"),
    statics=("reduction", "delta"),
    kernel="huber_loss",
    node="HuberLossBackward0",
    shape=loss_shape,
    check=_same_sizes,
)


def _soft_margin_check(x: Tensor, target: Any, reduction: int) -> None:
    common_shape(x, target)
    _no_complex(x)
    if x.dtype is dtypes.bool_:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead."
        )
    dtypes.check_cast(dtypes.promote_types(x.dtype, target.dtype), x.dtype)
    if x.dtype.category < dtypes.FLOAT:
        dtypes.check_cast(dtypes.float32, x.dtype)


_no_complex = no_complex_gradient("soft_margin_loss")
soft_margin_loss = general(
    "soft_margin_loss_reduced",
    lambda F, g, self, target, reduction: F.soft_margin_loss_backward(g, self, target, reduction),
    inputs=("self", "target"),
    statics=("reduction",),
    kernel="soft_margin_loss",
    node="SoftMarginLossBackward0",
    shape=loss_shape,
    check=_soft_margin_check,
)


def _bce_check(x: Tensor, target: Any, weight: Any, reduction: int) -> None:
    if target.dtype is not x.dtype:
        raise RuntimeError(f"Found dtype {target.dtype.legacy} but expected {x.dtype.legacy}")
    if weight is not None and x.dtype.category == dtypes.FLOAT:
        dtypes.check_cast(weight.dtype, x.dtype)


binary_cross_entropy = general(
    "binary_cross_entropy_reduced",
    lambda F, g, self, target, weight, reduction: F.binary_cross_entropy_backward(
        g, self, target, weight, reduction
    ),
    lambda F, g, self, weight, reduction: F.binary_cross_entropy_target_backward(
        g, self, weight, reduction
    ),
    inputs=("self", "target", "weight"),
    statics=("reduction",),
    kernel="binary_cross_entropy",
    node="BinaryCrossEntropyBackward0",
    shape=lambda x, target, weight, reduction: loss_shape(x, target, reduction),
    check=_bce_check,
    strict=True,
)


def _logits_shape(x: Any, target: Any, weight: Any, pos_weight: Any, reduction: int) -> Any:
    return _pair_shape(target, x, reduction)


bce_with_logits = general(
    "bce_with_logits",
    lambda F, g, self, target, weight, pos_weight, reduction: F.bce_with_logits_backward(
        g, self, target, weight, pos_weight, reduction
    ),
    lambda F, g, self, weight, pos_weight, reduction: F.bce_with_logits_target_backward(
        g, self, weight, pos_weight, reduction
    ),
    inputs=("self", "target", "weight", "pos_weight"),
    statics=("reduction",),
    node="BinaryCrossEntropyWithLogitsBackward0",
    shape=_logits_shape,
)

# --- margins over classes -------------------------------------------------------------------------


def _check_rows(x: Tensor) -> None:
    if not ((x.ndim == 1 and x.shape[0]) or (x.ndim == 2 and x.shape[1])) and x.ndim:
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(x.shape)}"
        )


def _check_multi_margin(
    x: Tensor, target: Tensor, weight: Any, p: int, margin: float, reduction: int
) -> None:
    _check_rows(x)
    rows, classes = (x.shape[0] if x.ndim > 1 else 1), (x.shape[-1] if x.ndim else 1)
    if p not in (1, 2):
        raise RuntimeError("only p == 1 and p == 2 supported")
    if target.ndim > 1 or target.numel() != rows:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of "
            f"input samples (batch size). Expected target size [{rows}], but got "
            f"{list(target.shape)}. Input has shape {list(x.shape)}."
        )
    if weight is not None and (weight.ndim > 1 or weight.numel() != classes):
        raise RuntimeError(
            f"inconsistent weight size, expected {classes} but got {list(weight.shape)}"
        )
    _check_kinds(x, target, weight, "multi_margin_loss_reduced")


def _check_kinds(x: Tensor, target: Tensor, weight: Any, name: str) -> None:
    """The dtypes of scores, of indices of classes and of weights, in PyTorch's order."""
    refuse(OPS[name], x.dtype)
    if x.dtype in (dtypes.float16, dtypes.bfloat16):
        raise not_implemented(_NO_KERNEL[name], x.dtype)
    expect_type(dtypes.int64, target)
    expect_type(x.dtype, weight)


multi_margin_loss = general(
    "multi_margin_loss_reduced",
    with_names(
        lambda F, g, *rest: F.multi_margin_loss_backward(g, *rest),
        "F", "g", "self", "target", "weight", "p", "margin", "reduction",
    ),
    inputs=("self", "target", "weight"),
    statics=("p", "margin", "reduction"),
    kernel="multi_margin_loss",
    node="MultiMarginLossBackward0",
    shape=lambda x, target, weight, p, margin, reduction: (
        () if reduction else target.shape, x.dtype,
    ),
    check=_check_multi_margin,
)  # fmt: skip


def _check_multilabel_margin(x: Tensor, target: Tensor, reduction: int) -> None:
    _check_rows(x)
    same = tuple(x.shape) == tuple(target.shape) or (not x.ndim and target.numel() == 1)
    if not same and not (x.ndim == 1 and not target.ndim and x.numel() == 1):
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(x.shape)}"
        )
    if target.dtype.is_complex:  # the labels' limits are looked for first
        raise not_implemented("min_all", target.dtype)
    _check_kinds(x, target, None, "multilabel_margin_loss_reduced")


def _multilabel_shape(x: Any, target: Any, reduction: int) -> Any:
    return [(() if reduction else x.shape[:-1], x.dtype), (target.shape, x.dtype)]


multilabel_margin_loss = general(
    "multilabel_margin_loss_reduced",
    lambda F, g, self, target, reduction, result1: F.multilabel_margin_loss_backward(
        _first(g), self, target, result1, reduction
    ),
    inputs=("self", "target"),
    statics=("reduction",),
    kernel="multilabel_margin_loss",
    node="MultilabelMarginLossBackward0",
    differentiable=(True, False),
    shape=_multilabel_shape,
    check=_check_multilabel_margin,
)

# --- what has no kernel ---------------------------------------------------------------------------

_NO_KERNEL = {
    "smooth_l1_loss_reduced": "smooth_l1_cpu",
    "huber_loss_reduced": "huber_cpu",
    "binary_cross_entropy_reduced": "binary_cross_entropy",
    "bce_with_logits": "log_sigmoid_cpu",
    "multi_margin_loss_reduced": "multi_margin_loss_cpu_kernel",
    "multilabel_margin_loss_reduced": "multilabel_margin_loss_forward_out_frame",
}
for _name, _kernel in _NO_KERNEL.items():
    OPS[_name].refused = (
        ((dtypes.BOOL, dtypes.INT, dtypes.COMPLEX), NotImplementedError,
         f"\"{_kernel}\" not implemented for '{{}}'"),
    )  # fmt: skip
