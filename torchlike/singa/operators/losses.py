"""Losses of shape (1,). The target is an option of the class, not an operand."""

from __future__ import annotations

from typing import Any

import torchlike as torch

from .making import Loss, operation, target_of

_SMALLEST = 1.1754943508222875e-38  # float32's: probabilities count as no smaller
_LOG_SMALLEST = -87.33654475055310  # its natural logarithm
_MARGIN = 1e-4  # binary cross entropy's, inside both logarithms


def _same_shape(x: Any, t: Any, who: str) -> None:
    if x.shape != t.shape:
        raise AssertionError(f"{who}: shapes {tuple(x.shape)} and {tuple(t.shape)} differ")


def _matching(x: Any, t: Any, who: str) -> Any:
    target = target_of(t, who)
    _same_shape(x, target, who)
    return target.to(x.dtype)


@operation("MeanSquareError", base=Loss)
def mse_loss(x: Any, t: Any) -> Any:
    """The mean of (x - t)² over all elements."""
    return torch.square(x - _matching(x, t, "mse_loss")).mean().reshape(1)


@operation("CrossEntropy", base=Loss)
def cross_entropy(x: Any, t: Any) -> Any:
    """-sum(t log x) / batch of probabilities x, and targets of their shape."""
    t = _matching(x, t, "cross_entropy")
    # 0 log x counts as 0, even of x = 0
    logs = torch.log(torch.where(t == 0, torch.ones_like(x), x))
    return (-(t * logs).sum() / len(x)).reshape(1)


@operation("BinaryCrossEntropy", base=Loss)
def binary_cross_entropy(x: Any, t: Any) -> Any:
    """-sum(t log(x + e) + (1 - t) log(1 - x + e)) / batch, e = 1e-4, of probabilities x."""
    t = _matching(x, t, "binary_cross_entropy")
    logs = t * torch.log(x + _MARGIN) + (1 - t) * torch.log(1 + _MARGIN - x)
    return (-logs.sum() / len(x)).reshape(1)


@operation("RankingLoss", 2, Loss)
def ranking_loss(pos: Any, neg: Any, M: float = 0.2) -> Any:
    """The mean of max(0, M - pos + neg)."""
    _same_shape(pos, neg, "ranking_loss")
    return torch.relu(M - pos + neg).mean().reshape(1)


@operation("SoftMaxCrossEntropy", base=Loss)
def softmax_cross_entropy(x: Any, t: Any) -> Any:
    """-sum(t log softmax(x)) / batch of logits x (batch, classes).

    The target holds class indices if it has one element per row; else rows of weights, each
    divided by its sum. Probabilities count as no smaller than float32's smallest.
    """
    if x.ndim != 2:
        raise AssertionError(f"softmax_cross_entropy takes (batch, classes), not {tuple(x.shape)}")
    t = target_of(t, "softmax_cross_entropy")
    if t.numel() not in (len(x), x.numel()):
        shapes = f"{tuple(t.shape)} does not fit logits of {tuple(x.shape)}"
        raise AssertionError(f"softmax_cross_entropy: a target of shape {shapes}")
    logp = torch.log_softmax(x, 1).clamp_min(_LOG_SMALLEST)
    picked = _of_indices(logp, t) if t.numel() == len(x) else _of_weights(logp, t)
    return (-picked.sum() / len(x)).reshape(1)


def _of_indices(logp: Any, t: Any) -> Any:
    index = t.reshape(-1, 1).long()
    classes = logp.shape[1]
    if index.numel() and not 0 <= index.min().item() <= index.max().item() < classes:
        raise AssertionError(f"softmax_cross_entropy: a target is not one of {classes} classes")
    return logp.gather(1, index)


def _of_weights(logp: Any, t: Any) -> Any:
    weights = t.reshape(logp.shape).to(logp.dtype)
    total = weights.sum(1, keepdim=True)
    # a row of zeros has no target: its loss is 0
    return logp * (weights / torch.where(total == 0, torch.ones_like(total), total))
