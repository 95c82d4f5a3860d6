"""Loss layers."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from functional import classification as C
from functional import losses as F
from functional.blame import warn
from functional.tensor import Tensor

from .linear import Linear
from .linear_cross_entropy_options import LinearCrossEntropyOptions
from .loss_base import _Loss, _WeightedLoss
from .margin_losses import (
    CosineEmbeddingLoss,
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss",
    "GaussianNLLLoss", "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss",
    "LinearCrossEntropyLoss", "MSELoss", "MarginRankingLoss", "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss", "NLLLoss2d", "PoissonNLLLoss",
    "SmoothL1Loss", "SoftMarginLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss",
]  # fmt: skip


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
        return C.nll_loss(
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
        return C.cross_entropy(
            input, target, d["_buffers"]["weight"], ignore_index=d["ignore_index"],
            reduction=d["reduction"], label_smoothing=d["label_smoothing"],
        )  # fmt: skip


class NLLLoss2d(NLLLoss):
    """The old name of NLLLoss for images."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in "
            "replacement and see https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more "
            "details.",
            FutureWarning,
        )
        super().__init__(*args, **kwargs)


class L1Loss(_Loss):
    """|input - target|: their mean, sum, or one per element."""

    __constants__: ClassVar = ["reduction"]

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """The loss of ``input`` against ``target``, of the same shape."""
        return F.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """d² / (2 beta) where d = |input - target| is below ``beta``, d - beta / 2 elsewhere."""

    __constants__: ClassVar = ["reduction"]

    def __init__(
        self,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """The loss of ``input`` against ``target``, of the same shape."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """d² / 2 where d = |input - target| is at most ``delta``, delta (d - delta / 2) elsewhere."""

    __constants__: ClassVar = ["reduction", "delta"]

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """The loss of ``input`` against ``target``, of the same shape."""
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class PoissonNLLLoss(_Loss):
    """The negative log likelihood of counts, given their (log) mean."""

    __constants__: ClassVar = ["log_input", "full", "eps", "reduction"]

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: Any = None,
        eps: float = 1e-8,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input, self.full, self.eps = log_input, full, eps

    def forward(self, log_input: Tensor, target: Tensor) -> Any:
        """Both have the same shape."""
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps,
            reduction=self.reduction,
        )  # fmt: skip


class GaussianNLLLoss(_Loss):
    """The negative log likelihood of normal numbers, given their mean and variance."""

    __constants__: ClassVar = ["full", "eps", "reduction"]

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(None, None, reduction)
        self.full, self.eps = full, eps

    def forward(self, input: Tensor, target: Tensor, var: Any) -> Any:
        """``var`` is a number, or has the shape of ``input`` but for a last dimension of 1."""
        return F.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )


class KLDivLoss(_Loss):
    """target (log target - input): the Kullback-Leibler divergence, of log probabilities."""

    __constants__: ClassVar = ["reduction"]

    def __init__(
        self,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """Both have the same shape."""
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class BCELoss(_WeightedLoss):
    """The binary cross entropy of probabilities."""

    __constants__: ClassVar = ["reduction"]

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """Both have the same shape, and elements from 0 to 1."""
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """The binary cross entropy of sigmoid(input); ``pos_weight`` counts positive targets more."""

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)
        self.weight: Tensor | None
        self.pos_weight: Tensor | None

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """Both have the same shape."""
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class CTCLoss(_Loss):
    """The connectionist temporal classification loss of label sequences."""

    __constants__: ClassVar = ["blank", "reduction"]

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction=reduction)
        self.blank, self.zero_infinity = blank, zero_infinity

    def forward(
        self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any
    ) -> Any:
        """``log_probs`` (T, N, C) or (T, C), ``targets`` (N, S) or all labels in a row."""
        return C.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction,
            self.zero_infinity,
        )  # fmt: skip


class LinearCrossEntropyLoss(_WeightedLoss):
    """A linear layer to ``num_classes`` scores (by ``out_features``), and their cross entropy."""

    __constants__: ClassVar = [
        "num_classes", "out_features", "reduction", "ignore_index", "label_smoothing",
    ]  # fmt: skip

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        super().__init__(weight, reduction=reduction)
        self.num_classes, self.out_features = num_classes, tuple(out_features)
        self.ignore_index, self.label_smoothing = ignore_index, label_smoothing
        self.options = options
        rows = num_classes * math.prod(self.out_features)
        self.linear = Linear(in_features, rows, bias=bias, device=device, dtype=dtype)

    def forward(self, input: Tensor, target: Tensor) -> Any:
        """Input (N, in_features) or (in_features,)."""
        shape = (self.num_classes, *self.out_features)
        weight: Any = self.linear.weight
        bias: Any = self.linear.bias
        return C.linear_cross_entropy(
            input, weight.view(*shape, weight.shape[-1]), target,
            linear_bias=None if bias is None else bias.view(shape), weight=self.weight,
            reduction=self.reduction, ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing, options=self.options,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """The options."""
        names = "num_classes out_features reduction ignore_index label_smoothing options".split()
        parts = [f"{name}={getattr(self, name)}" for name in names]
        parts[2:2] = [f"bias={self.linear.bias is not None}"]
        return ", ".join([f"in_features={self.linear.in_features}", *parts])
