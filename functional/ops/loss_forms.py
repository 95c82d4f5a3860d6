"""torch.NAME of losses; ``reduction`` is 0 none (as PyTorch's default there), 1 mean, 2 sum."""

from __future__ import annotations

import math
from typing import Any

from numpy import ndarray

from .. import dtypes
from ..modes import PLAIN
from ..tape.op import TENSOR, public
from ..tensor import Tensor
from . import losses as ops
from .create import full, zeros_like
from .pointwise import add_number, mul_number, sub_number
from .reduce import to_dtype_of
from .selection import masked_fill

_COSINE_EPS = 1e-12


def reduce(z: Any, reduction: int) -> Any:
    """The elements, their mean or their sum."""
    if reduction == 1:
        return z.mean()
    return z.sum() if reduction == 2 else z


def alike(x: Tensor, y: Tensor) -> bool:
    """Whether two plain tensors agree in shape and dtype: then there is nothing to convert."""
    if type(x) not in PLAIN or type(y) not in PLAIN:
        return False
    a, b = x._data, y._data
    return type(a) is type(b) is ndarray and a.shape == b.shape and a.dtype is b.dtype


def _number_minus(number: float, x: Tensor) -> Any:
    """``number - x`` with a tensor for the number, as C++ writes it."""
    return TENSOR.sub(full((), number, dtype=x.dtype), x)


def differentiable_only(function: str, **fixed: Any) -> None:
    """PyTorch's error for an argument that gets no gradient but asks for one."""
    for name, t in fixed.items():
        if isinstance(t, Tensor) and t.requires_grad:
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument "
                f"'{name}'. This input cannot have requires_grad True."
            )


@public
def l1_loss_reduced(input: Tensor, target: Tensor, reduction: int = 0) -> Any:
    """|input - target|, reduced."""
    return reduce(TENSOR.abs(TENSOR.sub(input, target)), reduction)


@public
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = 0,
) -> Any:
    """The binary cross entropy of sigmoid(input)."""
    if weight is not None or pos_weight is not None or not alike(input, target):
        name = "binary_cross_entropy_with_logits"
        differentiable_only(name, weight=weight, pos_weight=pos_weight)
        input, weight, pos_weight = _in_kind_of_target(input, target, weight, pos_weight)
    return ops.bce_with_logits(input, target, weight, pos_weight, reduction)


def _in_kind_of_target(input: Tensor, target: Tensor, weight: Any, pos_weight: Any) -> Any:
    """``input`` and weights in the dtype that the loss has, which is the target's."""
    tensors = input, target, weight, pos_weight
    kind = target.dtype
    if all(t is None or t.dtype is kind for t in tensors):
        return input, weight, pos_weight
    _check_logits(*[None if t is None else full((1,), 1, dtype=t.dtype) for t in tensors])
    if kind.is_complex:
        return input, weight, pos_weight
    weights = [None if t is None else to_dtype_of(t, kind) for t in (weight, pos_weight)]
    return to_dtype_of(input, kind), *weights


def _check_logits(x: Any, target: Any, weight: Any, pos_weight: Any) -> None:
    """PyTorch's steps, some of them in place, on single elements: they refuse what it refuses."""
    soft = TENSOR.log_sigmoid(x)
    if pos_weight is not None:
        soft.mul_(TENSOR.mul(TENSOR.sub(pos_weight, 1), target).add_(1))
    z = _number_minus(1, target).mul_(x).sub_(soft)
    if weight is not None:
        z.mul_(weight)


@public
def kl_div(input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False) -> Any:
    """target (log target - input): the Kullback-Leibler divergence, of log probabilities."""
    for kinds, word in (((dtypes.COMPLEX,), "Complex"), ((dtypes.BOOL, dtypes.INT), "Integral")):
        if input.dtype.category in kinds or target.dtype.category in kinds:
            raise RuntimeError(f"kl_div: {word} inputs not supported.")
    if log_target:
        z = TENSOR.mul(TENSOR.exp(target), TENSOR.sub(target, input))
    else:
        z = TENSOR.sub(TENSOR.xlogy(target, target), TENSOR.mul(target, input))
    return reduce(z, reduction)


@public
def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int
) -> Any:
    """The negative log likelihood of counts; ``full`` adds Stirling's term for counts above 1."""
    if log_input:
        z = TENSOR.sub(TENSOR.exp(input), TENSOR.mul(target, input))
    else:
        z = TENSOR.sub(input, TENSOR.mul(target, TENSOR.log(add_number(input, eps))))
    if full:
        log: Any = TENSOR.mul(target, TENSOR.log(target))
        half = mul_number(TENSOR.log(mul_number(target, 2 * math.pi)), 0.5)
        stirling = TENSOR.add(TENSOR.sub(log, target), half)
        z = TENSOR.add(z, masked_fill(stirling, TENSOR.le(target, 1), 0))
    return reduce(z, reduction)


@public
def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0
) -> Any:
    """The input where the target is 1, max(0, margin - input) where it is -1."""
    zeros = zeros_like(input)
    clamped = TENSOR.clamp_min(_number_minus(margin, input), 0)
    far = TENSOR.where(TENSOR.ne(target, 1), clamped, zeros)
    return reduce(TENSOR.add(far, TENSOR.where(TENSOR.ne(target, -1), input, zeros)), reduction)


@public
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Any:
    """max(0, -target (input1 - input2) + margin)."""
    gap = TENSOR.sub(input1, input2)
    z = add_number(TENSOR.mul(TENSOR.neg(target), gap), float(margin))
    return reduce(TENSOR.clamp_min(z, 0), reduction)


@public
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: int = 0
) -> Any:
    """1 - cos where the target is 1, max(0, cos - margin) where it is -1; rows (N, D) or (D,)."""
    if target.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if target.ndim and not input1.ndim == input2.ndim == 2:
        raise RuntimeError(
            "1D target tensor expects 2D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    if not target.ndim and not input1.ndim == input2.ndim == 1:
        raise RuntimeError(
            "0D target tensor expects 1D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    dim = target.ndim
    product = TENSOR.sum(TENSOR.mul(input1, input2), dim)
    sizes = [add_number(TENSOR.sum(TENSOR.mul(x, x), dim), _COSINE_EPS) for x in (input1, input2)]
    cos = TENSOR.div(product, TENSOR.sqrt(TENSOR.mul(*sizes)))
    zeros = zeros_like(cos)
    near = TENSOR.where(TENSOR.eq(target, 1), _number_minus(1, cos), zeros)
    far = TENSOR.clamp_min(sub_number(cos, float(margin)), 0)
    return reduce(TENSOR.add(near, TENSOR.where(TENSOR.eq(target, -1), far, zeros)), reduction)


def check_triplet(*tensors: Tensor) -> None:
    """All three have the same number of dimensions."""
    if len({t.ndim for t in tensors}) > 1:
        a, p, n = (t.ndim for t in tensors)
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {a}D, positive {p}D, and negative {n}D inputs"
        )


@public
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: int = 0,
) -> Any:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin) of rows (N, D) or (D,)."""
    check_triplet(anchor, positive, negative)
    near = TENSOR.pairwise_distance(anchor, positive, p, eps)
    far = TENSOR.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = TENSOR.minimum(far, TENSOR.pairwise_distance(positive, negative, p, eps))
    z = TENSOR.clamp_min(TENSOR.sub(add_number(near, float(margin)), far), 0)
    return reduce(z, reduction)
