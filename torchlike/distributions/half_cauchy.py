"""The half-Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from ._folded import Folded
from .cauchy import Cauchy
from .utils import full

__all__ = ["HalfCauchy"]


class HalfCauchy(Folded):
    """|x| with x Cauchy distributed around 0 with ``scale``."""

    _base = Cauchy
    _fields: ClassVar = {}

    @property
    def mean(self) -> Tensor:
        """Infinite."""
        return full(self._extended_shape(), math.inf, self.scale)

    variance = property(lambda self: self.base_dist.variance)

    def log_prob(self, value: Any) -> Tensor:
        """The Cauchy distribution's and log 2; -∞ below 0. ``value`` takes the scale's dtype."""
        self._checked(value)
        scale = self.scale
        return super().log_prob(torch.as_tensor(value, dtype=scale.dtype, device=scale.device))
