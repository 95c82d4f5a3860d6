"""The Kumaraswamy distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant, filled

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """Numbers between 0 and 1 with F(x) = 1 - (1 - x^a)^b (Kumaraswamy 1980).

    ``concentration1`` is a and ``concentration0`` is b; they broadcast.
    """

    arg_constraints: ClassVar = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True
    _fields: ClassVar = {"concentration1": 0, "concentration0": 0}

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        a, b = broadcast_all(concentration1, concentration0)
        self.concentration1, self.concentration0 = a, b
        base = Uniform(torch.full_like(b, 0), torch.full_like(b, 1), validate_args=validate_args)
        steps = [
            PowerTransform(exponent=b.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=a.reciprocal()),
        ]
        super().__init__(base, steps, validate_args=validate_args)

    def _moment(self, n: int) -> Tensor:
        """E[xⁿ] = b B(1 + n / a, b)."""
        first, b = 1 + n / self.concentration1, self.concentration0
        return b * torch.exp(torch.lgamma(first) + torch.lgamma(b) - torch.lgamma(first + b))

    mean = property(lambda self: self._moment(1))
    variance = property(lambda self: self._moment(2) - torch.pow(self.mean, 2))

    @property
    def mode(self) -> Tensor:
        """((a - 1) / (ab - 1))^(1 / a), as far as its logarithm's usual form gives it; NaN where
        a or b is below 1."""
        a, b = self.concentration1, self.concentration0
        log_mode = b.reciprocal() * (-b).log1p() - (-b * a).log1p()
        return filled(log_mode, (b < 1) | (a < 1), math.nan).exp()

    def entropy(self) -> Tensor:
        """(1 - 1 / b) + (1 - 1 / a) H(b) - log ab, with the harmonic number H."""
        a, b = self.concentration1, self.concentration0
        harmonic = torch.digamma(b + 1) + euler_constant
        first, second = 1 - b.reciprocal(), (1 - a.reciprocal()) * harmonic
        return first + second - torch.log(a) - torch.log(b)
