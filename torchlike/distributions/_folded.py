"""What half-normal and half-Cauchy numbers share: the size of a symmetric variable."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform


class Folded(TransformedDistribution):
    """|x| with x of ``_base(0, scale)``, which is symmetric around 0."""

    arg_constraints: ClassVar = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _base: ClassVar[Any]

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = type(self)._base(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    scale = property(lambda self: self.base_dist.scale)
    mode = property(lambda self: torch.zeros_like(self.scale))

    def log_prob(self, value: Any) -> Tensor:
        """The base's and log 2; -∞ below 0."""
        self._checked(value)
        return torch.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        """2 F(x) - 1."""
        self._checked(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Tensor) -> Tensor:
        """The base's quantile of (p + 1) / 2."""
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Tensor:
        """The base's less log 2."""
        return self.base_dist.entropy() - math.log(2)
