"""The Weibull distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """scale · e^(1 / concentration) with e exponential of rate 1.

    Density k / λ (x / λ)^(k - 1) exp(-(x / λ)^k) with the ``concentration`` k and the ``scale`` λ.
    """

    arg_constraints: ClassVar = {
        "scale": constraints.positive,
        "concentration": constraints.positive,
    }
    support = constraints.positive
    _fields: ClassVar = {"scale": 0, "concentration": 0}

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(torch.ones_like(self.scale), validate_args=validate_args)
        super().__init__(base, self._steps(), validate_args=validate_args)

    def _steps(self) -> list[Any]:
        self.concentration_reciprocal = self.concentration.reciprocal()
        power = PowerTransform(exponent=self.concentration_reciprocal)
        return [power, AffineTransform(loc=0, scale=self.scale)]

    def _expand_into(self, new: Any, batch_shape: Any) -> None:
        super()._expand_into(new, batch_shape)
        new.transforms = new._steps()

    @property
    def mean(self) -> Tensor:
        """scale · Γ(1 + 1 / k)."""
        return self.scale * torch.exp(torch.lgamma(1 + self.concentration_reciprocal))

    @property
    def mode(self) -> Tensor:
        """scale · ((k - 1) / k)^(1 / k)."""
        k = self.concentration
        return self.scale * ((k - 1) / k) ** k.reciprocal()

    @property
    def variance(self) -> Tensor:
        """scale² (Γ(1 + 2 / k) - Γ(1 + 1 / k)²)."""
        inverse = self.concentration_reciprocal
        second = torch.exp(torch.lgamma(1 + 2 * inverse))
        return self.scale.pow(2) * (second - torch.exp(2 * torch.lgamma(1 + inverse)))

    def entropy(self) -> Tensor:
        """γ (1 - 1 / k) + log(scale / k) + 1."""
        inverse = self.concentration_reciprocal
        return euler_constant * (1 - inverse) + torch.log(self.scale * inverse) + 1
