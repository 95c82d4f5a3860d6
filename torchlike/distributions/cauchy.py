"""The Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .distribution import SCALAR, Distribution
from .utils import full

__all__ = ["Cauchy"]


class Cauchy(Distribution):
    """Numbers with the density 1 / (π scale (1 + ((x - loc) / scale)²)).

    ``loc`` is the median and ``scale`` the half width at half maximum.
    """

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _fields: ClassVar = {"loc": 0, "scale": 0}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._with_parameters(validate_args, loc=loc, scale=scale)

    mode = property(lambda self: self.loc)

    @property
    def mean(self) -> Tensor:
        """NaN: there is none."""
        return full(self._extended_shape(), math.nan, self.loc)

    @property
    def variance(self) -> Tensor:
        """Infinite."""
        return full(self._extended_shape(), math.inf, self.loc)

    def rsample(self, sample_shape: Any = SCALAR) -> Tensor:
        """loc + scale · ε with standard Cauchy ε."""
        eps = self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_()
        return self.loc + eps * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        """-log π - log scale - log(1 + ((x - loc) / scale)²)."""
        self._checked(value)
        square = ((value - self.loc) / self.scale) ** 2
        return -math.log(math.pi) - self.scale.log() - square.log1p()

    def cdf(self, value: Tensor) -> Tensor:
        """½ + arctan((x - loc) / scale) / π."""
        self._checked(value)
        return torch.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        """loc + scale · tan(π (p - ½))."""
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        """log(4π scale)."""
        return math.log(4 * math.pi) + self.scale.log()
