"""The normal distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .distribution import SCALAR
from .exp_family import ExponentialFamily
from .utils import standard_normal

__all__ = ["Normal"]

HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


class Normal(ExponentialFamily):
    """The normal distribution with mean ``loc`` and standard deviation ``scale``.

    Density exp(-(x - loc)² / 2 scale²) / (scale √(2π)). Parameters broadcast to the batch's shape.
    """

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _fields: ClassVar = {"loc": 0, "scale": 0}
    _mean_carrier_measure = 0

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._with_parameters(validate_args, loc=loc, scale=scale)

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)
    stddev = property(lambda self: self.scale)
    variance = property(lambda self: self.scale.pow(2))

    def sample(self, sample_shape: Any = SCALAR) -> Tensor:
        """Draws, as ``torch.normal`` makes them."""
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = SCALAR) -> Tensor:
        """loc + scale · ε with standard normal ε."""
        shape = self._extended_shape(sample_shape)
        return self.loc + standard_normal(shape, self.loc) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        """-(x - loc)² / 2 scale² - log scale - ½ log 2π."""
        self._checked(value)
        square = (value - self.loc) ** 2
        return -square / (2 * self.scale**2) - self.scale.log() - HALF_LOG_TAU

    def cdf(self, value: Tensor) -> Tensor:
        """½ (1 + erf((x - loc) / (scale √2)))."""
        self._checked(value)
        z = (value - self.loc) * self.scale.reciprocal()
        return 0.5 * (1 + torch.erf(z / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        """loc + scale √2 erf⁻¹(2p - 1)."""
        return self.loc + self.scale * torch.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        """½ log(2πe scale²)."""
        return 0.5 + HALF_LOG_TAU + torch.log(self.scale)

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        precision = self.scale.pow(2).reciprocal()
        return self.loc * precision, -0.5 * precision

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return -0.25 * x.pow(2) / y + 0.5 * torch.log(-math.pi / y)
