"""Losses under PyTorch's names and signatures, but for those of classes (``classification``)."""

from __future__ import annotations

import math
from typing import Any

from . import dtypes
from .blame import warn
from .distances import at_least
from .ops import loss_forms as forms
from .ops import losses as ops
from .ops import nn as nn_ops
from .ops.arguments import common_shape
from .ops.create import ones_like
from .ops.loss_forms import differentiable_only
from .ops.loss_forms import reduce as reduced
from .ops.reduce import to_dtype_of
from .tape.op import TENSOR
from .tensor import Tensor

REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def reduction_code(reduction: str) -> int:
    """0, 1 or 2 for 'none', 'mean' or 'sum'."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return REDUCTIONS[reduction]


def legacy_reduction(size_average: Any, reduce: Any, reduction: str) -> str:
    """The reduction that the deprecated ``size_average`` and ``reduce`` mean."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is False:
        found = "none"
    else:
        found = "sum" if size_average is False else "mean"
    warn(
        f"size_average and reduce args will be deprecated, please use reduction='{found}' instead."
    )
    return found


def legacy_code(size_average: Any, reduce: Any, reduction: str) -> int:
    """The number of a reduction, however it is given."""
    return reduction_code(legacy_reduction(size_average, reduce, reduction))


def _same_size(input: Tensor, target: Tensor) -> tuple[Any, Any]:
    """Both in their common shape; a warning if that is not what they have."""
    if input.shape == target.shape:
        return input, target
    warn(
        f"Using a target size ({target.shape}) that is different to the input size "
        f"({input.shape}). This will likely lead to incorrect results due to broadcasting. "
        "Please ensure they have the same size."
    )
    shape = common_shape(input, target)
    first, second = (t if t.shape == shape else TENSOR.expand(t, shape) for t in (input, target))
    return first, second


def _same_kind(input: Tensor, target: Tensor) -> tuple[Any, Any]:
    """Both in their common shape and dtype."""
    if forms.alike(input, target):
        return input, target
    input, target = _same_size(input, target)
    found = dtypes.promote_types(input.dtype, target.dtype)
    return to_dtype_of(input, found), to_dtype_of(target, found)


def _weighted(z: Any, weight: Any, shape: Any, reduction: int, over_weights: bool) -> Any:
    """Elements times their weights, reduced; the mean by the weights' sum if ``over_weights``."""
    if tuple(weight.shape) != tuple(shape):
        raise ValueError("Weights and input must have the same size.")
    z = TENSOR.mul(z, weight)
    if reduction == 1 and over_weights:
        return TENSOR.div(z.sum(), weight.sum())
    return reduced(z, reduction)


# --- distances ------------------------------------------------------------------------------------


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Any:
    """|input - target|; a weighted mean is over the sum of weights."""
    code = legacy_code(size_average, reduce, reduction)
    input, target = _same_size(input, target)
    if weight is None:
        return forms.l1_loss_reduced(input, target, code)
    z = TENSOR.abs(TENSOR.sub(input, target))
    return _weighted(z, weight, input.shape, code, True)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Any:
    """The squared difference; a weighted mean is over the sum of weights."""
    code = legacy_code(size_average, reduce, reduction)
    if weight is not None:
        input, target = _same_size(input, target)
        z = TENSOR.pow(TENSOR.sub(input, target), 2)
        return _weighted(z, weight, input.shape, code, True)
    input, target = _same_kind(input, target)
    return nn_ops.mse_loss(input, target, code)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """d² / (2 beta) where d = |input - target| is below ``beta``, d - beta / 2 elsewhere."""
    code = legacy_code(size_average, reduce, reduction)
    if beta <= 0:
        input, target = _same_size(input, target)
        if beta < 0:
            raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
        return forms.l1_loss_reduced(input, target, code)
    input, target = _same_kind(input, target)
    return ops.smooth_l1_loss(input, target, code, float(beta))


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Any:
    """d² / 2 where d = |input - target| is at most ``delta``, delta (d - delta / 2) elsewhere."""
    first, target = _same_kind(input, target)
    code = reduction_code(reduction)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is None and (first is input or first.dtype is input.dtype):
        return ops.huber_loss(first, target, code, float(delta))
    dtypes.check_cast(first.dtype, input.dtype)
    z = to_dtype_of(ops.huber_loss(first, target, 0, float(delta)), input.dtype)
    if weight is None:
        return reduced(z, code)
    return _weighted(z, weight, input.shape, code, False)


# --- probabilities --------------------------------------------------------------------------------


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """-(target log input + (1 - target) log(1 - input)); each logarithm counts as -100 at least."""
    code = legacy_code(size_average, reduce, reduction)
    if target.shape != input.shape:
        raise ValueError(
            f"Using a target size ({target.shape}) that is different to the input size "
            f"({input.shape}) is deprecated. Please ensure they have the same size."
        )
    if weight is not None:
        differentiable_only("binary_cross_entropy", weight=weight)
        weight = TENSOR.expand(weight, common_shape(target, weight))
        if not weight.dtype.is_complex:
            weight = to_dtype_of(weight, input.dtype)
    return ops.binary_cross_entropy(input, target, weight, code)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Any:
    """The binary cross entropy of sigmoid(input), computed without its rounding."""
    code = legacy_code(size_average, reduce, reduction)
    if target.shape != input.shape:
        raise ValueError(
            f"Target size ({target.shape}) must be the same as input size ({input.shape})"
        )
    return forms.binary_cross_entropy_with_logits(input, target, weight, pos_weight, code)


_KL_MEAN = (
    "reduction: 'mean' divides the total loss by both the batch size and the support size."
    "'batchmean' divides only by the batch size, and aligns with the KL div math definition."
    "'mean' will be changed to behave the same as 'batchmean' in the next major release."
)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """target (log target - input); 'batchmean' divides the sum by the first dimension."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    if reduction == "mean" and size_average is None and reduce is None:
        warn(_KL_MEAN)
    per_batch = reduction == "batchmean"
    code = 2 if per_batch else reduction_code(reduction)
    z = forms.kl_div(input, target, code, log_target=log_target)
    return z / input.shape[0] if per_batch and input.ndim else z


def _variances(input: Tensor, var: Any) -> Any:
    """``var`` checked, in a shape that broadcasts with the input's."""
    if isinstance(var, (int, float)):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        return TENSOR.mul(ones_like(input), var)
    if bool(TENSOR.any(TENSOR.lt(var, 0))):
        raise ValueError("var has negative entry/entries")
    shape, wanted = tuple(var.shape), tuple(input.shape)
    if shape == wanted:
        return var
    if shape == wanted[:-1]:
        return TENSOR.unsqueeze(var, -1)
    fits = len(shape) == len(wanted) and all(
        n in (1, m) for n, m in zip(shape, wanted, strict=True)
    )
    if not fits:
        raise ValueError("var is of incorrect size")
    return var


def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """(log var + (input - target)² / var) / 2, with ``var`` of ``eps`` at least."""
    var = _variances(input, var)
    if reduction not in REDUCTIONS:
        raise ValueError(reduction + " is not valid")
    var = at_least(TENSOR.clone(var), eps)
    z: Any = TENSOR.div(TENSOR.pow(TENSOR.sub(input, target), 2), var)
    z = (TENSOR.log(var) + z) * 0.5
    if full:
        z = z + 0.5 * math.log(2 * math.pi)
    return reduced(z, REDUCTIONS[reduction])


def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: Any = None,
    eps: float = 1e-8,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """exp(input) - target input, of counts; input - target log(input + eps) without logs."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    return forms.poisson_nll_loss(input, target, log_input, full, eps, reduction_code(reduction))
