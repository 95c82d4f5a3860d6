"""Dropout layers."""

from __future__ import annotations

from typing import ClassVar

from functional import dropouts as F
from functional.tensor import Tensor

from .module import Module


class _DropoutNd(Module):
    __constants__: ClassVar = ["p", "inplace"]
    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def extra_repr(self) -> str:
        """The probability."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_DropoutNd):
    """In training, zeroes each element with probability ``p`` and scales the rest by 1/(1-p).

    Raises ValueError for a probability outside 0 to 1.
    """

    def forward(self, input: Tensor) -> Tensor:
        """``input``, thinned out in training."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Dropout of whole channels of (N, C, L) or (C, L)."""

    def forward(self, input: Tensor) -> Tensor:
        """``input``, in training without some of its channels."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Dropout of whole channels of (N, C, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """``input``, in training without some of its channels."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W)."""

    def forward(self, input: Tensor) -> Tensor:
        """``input``, in training without some of its channels."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout to SELU's lower limit, which keeps mean and variance."""

    def forward(self, input: Tensor) -> Tensor:
        """``input``, in training with some elements replaced."""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """AlphaDropout of whole channels, (N, C, *)."""

    def forward(self, input: Tensor) -> Tensor:
        """``input``, in training with some channels replaced."""
        return F.feature_alpha_dropout(input, self.p, self.training)
