"""Losses with margins under PyTorch's names and signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .losses import legacy_code, legacy_reduction, reduction_code
from .ops import loss_forms as forms
from .ops import losses as ops
from .ops.loss_forms import differentiable_only
from .ops.loss_forms import reduce as reduced
from .tape.op import TENSOR
from .tensor import Tensor


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The input where the target is 1, max(0, margin - input) where it is -1."""
    code = legacy_code(size_average, reduce, reduction)
    return forms.hinge_embedding_loss(input, target, margin, code)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """max(0, -target (input1 - input2) + margin)."""
    code = legacy_code(size_average, reduce, reduction)
    if not input1.ndim == input2.ndim == target.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    return forms.margin_ranking_loss(input1, input2, target, margin, code)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """1 - cos where the target is 1, max(0, cos - margin) where it is -1."""
    code = legacy_code(size_average, reduce, reduction)
    return forms.cosine_embedding_loss(input1, input2, target, margin, code)


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """log(1 + exp(-target input)), for targets of 1 and -1."""
    code = legacy_code(size_average, reduce, reduction)
    differentiable_only("soft_margin_loss", target=target)
    return ops.soft_margin_loss(input, target, code)


def multi_margin_loss(
    input: Tensor,
    target: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """Σ max(0, margin - x[target] + x[i])^p / C over other classes; input (N, C) or (C,)."""
    code = legacy_code(size_average, reduce, reduction)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    differentiable_only("multi_margin_loss", weight=weight)
    return ops.multi_margin_loss(input, target, weight, int(p), float(margin), code)


def multilabel_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """Σ max(0, 1 - x[t] + x[i]) / C over labels t (up to the first -1) and other classes i."""
    code = legacy_code(size_average, reduce, reduction)
    return ops.multilabel_margin_loss(input, target, code)[0]


def multilabel_soft_margin_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """The binary cross entropy of sigmoid(input), averaged over the classes (last dimension)."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    near = TENSOR.log_sigmoid(input)
    far = TENSOR.log_sigmoid(TENSOR.neg(input))
    z: Any = TENSOR.mul(target, near) + TENSOR.mul(1 - target, far)
    z = -z
    if weight is not None:
        z = z * weight
    z = z.sum(dim=input.ndim - 1) / input.shape[-1]
    return reduced(z, reduction_code(reduction))


Distance = Callable[[Tensor, Tensor], Tensor]


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    size_average: Any = None,
    reduce: Any = None,
    reduction: str = "mean",
) -> Any:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), d the p-norm's distance."""
    code = legacy_code(size_average, reduce, reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return forms.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, code)


def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Distance | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    """``triplet_margin_loss`` with a distance of one's own."""
    code = reduction_code(reduction)
    distance: Any = TENSOR.pairwise_distance if distance_function is None else distance_function
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    forms.check_triplet(anchor, positive, negative)
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = TENSOR.minimum(far, distance(positive, negative))
    return reduced(TENSOR.clamp_min(margin + near - far, 0), code)
