"""The generalized Pareto distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .distribution import SCALAR, Distribution
from .utils import uniform

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """Excesses over ``loc``: 1 - F(x) = (1 + ξ z)^(-1 / ξ), z = (x - loc) / scale.

    ``concentration`` is ξ; at 0 this is exponential, below 0 it ends at loc - scale / ξ.
    """

    arg_constraints: ClassVar = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True
    _fields: ClassVar = {"loc": 0, "scale": 0, "concentration": 0}

    def __init__(
        self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self._with_parameters(validate_args, loc=loc, scale=scale, concentration=concentration)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """From loc on, up to an end where ξ < 0."""
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, torch.where(self.concentration < 0, end, math.inf))

    mode = property(lambda self: self.loc)

    def _exponential(self) -> tuple[Tensor, Tensor]:
        """Where ξ is 0, and ξ with 1 in these places."""
        zero = torch.isclose(self.concentration, torch.zeros_like(self.concentration))
        return zero, torch.where(zero, torch.ones_like(self.concentration), self.concentration)

    def _where_finite(self, below: float, safe: float, moment: Any) -> Tensor:
        """``moment(ξ)`` where ξ is below a limit, else NaN."""
        finite = self.concentration < below
        value = moment(torch.where(finite, self.concentration, safe))
        return torch.where(finite, value, math.nan)

    @property
    def mean(self) -> Tensor:
        """loc + scale / (1 - ξ); NaN for ξ ≥ 1."""
        return self._where_finite(1, 0.5, lambda c: self.loc + self.scale / (1 - c))

    @property
    def variance(self) -> Tensor:
        """scale² / ((1 - ξ)² (1 - 2ξ)); NaN for ξ ≥ ½."""
        return self._where_finite(0.5, 0.25, lambda c: self.scale**2 / ((1 - c) ** 2 * (1 - 2 * c)))

    def rsample(self, sample_shape: Any = SCALAR) -> Tensor:
        """Quantiles of uniform numbers."""
        return self.icdf(uniform(self._extended_shape(sample_shape), self.loc))

    def log_prob(self, value: Tensor) -> Tensor:
        """-log scale - (1 / ξ + 1) log(1 + ξ z)."""
        self._checked(value)
        z = (value - self.loc) / self.scale
        zero, c = self._exponential()
        power = 1 / c + torch.ones_like(z)
        tail = torch.where(power == 0, power, power * torch.log1p(c * z))
        return -self.scale.log() - torch.where(zero, z, tail)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """log(1 - F(x)) = -log(1 + ξ z) / ξ."""
        self._checked(value)
        z = (value - self.loc) / self.scale
        zero, c = self._exponential()
        return torch.where(zero, -z, -torch.log1p(c * z) / c)

    def log_cdf(self, value: Tensor) -> Tensor:
        """log F(x)."""
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        """1 - (1 + ξ z)^(-1 / ξ)."""
        return torch.exp(self.log_cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        """loc + scale / ξ · ((1 - p)^-ξ - 1)."""
        zero, c = self._exponential()
        log_rest = torch.log1p(-value)
        power = self.loc + self.scale / c * torch.expm1(-c * log_rest)
        return torch.where(zero, self.loc - self.scale * log_rest, power)

    def entropy(self) -> Tensor:
        """log scale + ξ + 1."""
        return torch.broadcast_to(torch.log(self.scale) + self.concentration + 1, self._batch_shape)
