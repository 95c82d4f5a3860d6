"""Loss layers."""

from __future__ import annotations

from typing import Any, ClassVar

from functional import nn as F
from functional.tensor import Tensor

from .module import Module


class _Loss(Module):
    reduction: str

    def __init__(
        self, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        self.reduction = F.legacy_reduction(size_average, reduce, reduction)


class _WeightedLoss(_Loss):
    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.weight: Tensor | None


class MSELoss(_Loss):
    """The squared difference of two tensors: their mean, sum, or one per element."""

    __constants__: ClassVar = ["reduction"]

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of ``input`` against ``target``, of the same shape."""
        return F.mse_loss(input, target, reduction=self.reduction)


class NLLLoss(_WeightedLoss):
    """The negative log likelihood of class indices, given log probabilities.

    ``weight`` is (C,), one factor per class; targets equal to ``ignore_index`` do not count.
    """

    __constants__: ClassVar = ["ignore_index", "reduction"]
    ignore_index: int

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Any = None,
        ignore_index: int = -100,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """``input`` is (N, C), (C,) or (N, C, *d), ``target`` (N,), () or (N, *d)."""
        d = self.__dict__
        return F.nll_loss(
            input, target, d["_buffers"]["weight"], ignore_index=d["ignore_index"],
            reduction=d["reduction"],
        )  # fmt: skip


class CrossEntropyLoss(_WeightedLoss):
    """NLLLoss after log_softmax: takes raw scores, and class indices or probabilities.

    ``label_smoothing`` (0 to 1) mixes the targets with a uniform distribution.
    """

    __constants__: ClassVar = ["ignore_index", "reduction", "label_smoothing"]
    ignore_index: int
    label_smoothing: float

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Any = None,
        ignore_index: int = -100,
        reduce: Any = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """``input`` is (N, C), (C,) or (N, C, *d); ``target`` indices, or probabilities."""
        d = self.__dict__
        return F.cross_entropy(
            input, target, d["_buffers"]["weight"], ignore_index=d["ignore_index"],
            reduction=d["reduction"], label_smoothing=d["label_smoothing"],
        )  # fmt: skip
