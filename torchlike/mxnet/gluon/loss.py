"""Losses: one number for each sample, whose mean over all other dimensions it is."""

from __future__ import annotations

from typing import Any

import torchlike as torch
import torchlike.nn.functional as F

from ..array import NDArray, call
from ..elementwise import log_softmax
from ..shaping import pick
from .block import HybridBlock


class Loss(HybridBlock):
    """Base class: ``weight`` multiplies the result, ``batch_axis`` is the samples' dimension."""

    def __init__(self, weight: float | None, batch_axis: int) -> None:
        super().__init__()
        self._weight, self._batch_axis = weight, batch_axis

    def _finished(self, loss: NDArray, sample_weight: NDArray | None) -> NDArray:
        """Weighted, and with only the batch axis left."""
        if sample_weight is not None:
            loss = loss * sample_weight
        if self._weight is not None:
            loss = loss * self._weight
        axes = [i for i in range(loss.ndim) if i != self._batch_axis % loss.ndim]
        return call(lambda x: x.mean(axes), loss) if axes else loss

    def __repr__(self) -> str:
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"


def _alike(pred: NDArray, label: NDArray) -> NDArray:
    """The label in the prediction's shape; ValueError for another number of elements."""
    if pred.size != label.size:
        raise ValueError(f"the prediction has shape {pred.shape}, the label {label.shape}")
    return label.reshape(pred.shape)


class L2Loss(Loss):
    """Half the squared difference."""

    def __init__(self, weight: float = 1.0, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)

    def forward(self, pred: NDArray, label: NDArray, sample_weight: Any = None) -> NDArray:
        """Shape (batch,)."""
        difference = call(lambda p, y: torch.square(p - y), pred, _alike(pred, label))
        return self._finished(difference / 2, sample_weight)


class L1Loss(Loss):
    """The absolute difference."""

    def __init__(self, weight: float | None = None, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)

    def forward(self, pred: NDArray, label: NDArray, sample_weight: Any = None) -> NDArray:
        """Shape (batch,)."""
        difference = call(lambda p, y: torch.abs(p - y), pred, _alike(pred, label))
        return self._finished(difference, sample_weight)


class HuberLoss(Loss):
    """|d| - rho / 2 for differences d beyond ``rho``, d squared / (2 rho) within."""

    def __init__(self, rho: float = 1, weight: float | None = None, batch_axis: int = 0) -> None:
        super().__init__(weight, batch_axis)
        self._rho = rho

    def forward(self, pred: NDArray, label: NDArray, sample_weight: Any = None) -> NDArray:
        """Shape (batch,)."""

        def huber(p: Any, y: Any) -> Any:
            return F.huber_loss(p, y, reduction="none", delta=self._rho) / self._rho

        return self._finished(call(huber, pred, _alike(pred, label)), sample_weight)


class SigmoidBinaryCrossEntropyLoss(Loss):
    """Cross-entropy of labels 0 to 1 and the sigmoid of the prediction.

    With ``from_sigmoid`` the prediction is a probability already. ``pos_weight`` multiplies the
    part of the positive labels.
    """

    def __init__(
        self, from_sigmoid: bool = False, weight: float | None = None, batch_axis: int = 0
    ) -> None:
        super().__init__(weight, batch_axis)
        self._from_sigmoid = from_sigmoid

    def forward(
        self, pred: NDArray, label: NDArray, sample_weight: Any = None, pos_weight: Any = None
    ) -> NDArray:
        """Shape (batch,)."""
        entropy = _of_probability if self._from_sigmoid else _of_logit
        loss = call(entropy, pred, _alike(pred, label).astype(pred.dtype, copy=False), pos_weight)
        return self._finished(loss, sample_weight)


def _of_logit(p: Any, y: Any, positive: Any) -> Any:
    return F.binary_cross_entropy_with_logits(p, y, reduction="none", pos_weight=positive)


def _of_probability(p: Any, y: Any, positive: Any) -> Any:
    tiny = 1e-12  # keeps the logarithms finite
    hit = torch.log(p + tiny) * y
    hit = hit if positive is None else hit * positive
    return -(hit + torch.log(1 - p + tiny) * (1 - y))


class SoftmaxCrossEntropyLoss(Loss):
    """Minus the logarithm of the softmax at the label.

    Labels are indices (``sparse_label``) or distributions along ``axis``; with ``from_logits``
    the prediction is a logarithm of probabilities already.
    """

    def __init__(
        self,
        axis: int = -1,
        sparse_label: bool = True,
        from_logits: bool = False,
        weight: float | None = None,
        batch_axis: int = 0,
    ) -> None:
        super().__init__(weight, batch_axis)
        self._axis, self._sparse_label, self._from_logits = axis, sparse_label, from_logits

    def forward(self, pred: NDArray, label: NDArray, sample_weight: Any = None) -> NDArray:
        """Shape (batch,)."""
        logs = pred if self._from_logits else log_softmax(pred, self._axis)
        if self._sparse_label:
            loss = -pick(logs, label, self._axis, keepdims=True)
        else:
            axis, label = self._axis, _alike(pred, label)
            loss = -call(lambda x, y: (x * y).sum(axis, keepdim=True), logs, label)
        return self._finished(loss, sample_weight)


class KLDivLoss(Loss):
    """label * (log label - prediction), the prediction being a logarithm (``from_logits``)."""

    def __init__(
        self,
        from_logits: bool = True,
        axis: int = -1,
        weight: float | None = None,
        batch_axis: int = 0,
    ) -> None:
        super().__init__(weight, batch_axis)
        self._from_logits, self._axis = from_logits, axis

    def forward(self, pred: NDArray, label: NDArray, sample_weight: Any = None) -> NDArray:
        """Shape (batch,)."""
        logs = pred if self._from_logits else log_softmax(pred, self._axis)
        loss = call(lambda x, y: y * (torch.log(y + 1e-12) - x), logs, _alike(pred, label))
        return self._finished(loss, sample_weight)


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss
SoftmaxCELoss = SoftmaxCrossEntropyLoss
