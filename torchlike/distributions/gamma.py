"""The gamma distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from ._draws import standard_gamma
from .distribution import SCALAR
from .exp_family import ExponentialFamily

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """Positive numbers with the density rate^α x^(α - 1) exp(-rate x) / Γ(α).

    ``concentration`` is α; ``rate`` is the inverse of the scale. They broadcast.
    """

    arg_constraints: ClassVar = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support = constraints.nonnegative
    has_rsample = True
    _fields: ClassVar = {"concentration": 0, "rate": 0}
    _mean_carrier_measure = 0

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self._with_parameters(validate_args, concentration=concentration, rate=rate)

    mean = property(lambda self: self.concentration / self.rate)
    mode = property(lambda self: ((self.concentration - 1) / self.rate).clamp(min=0))
    variance = property(lambda self: self.concentration / self.rate.pow(2))

    def rsample(self, sample_shape: Any = SCALAR) -> Tensor:
        """Gamma numbers of scale 1 over the rate, with implicit gradients."""
        shape = self._extended_shape(sample_shape)
        value = standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=torch.finfo(value.dtype).tiny)  # 0 has no log density
        return value

    def log_prob(self, value: Any) -> Tensor:
        """α log rate + (α - 1) log x - rate x - log Γ(α)."""
        value = torch.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        self._checked(value)
        a, rate = self.concentration, self.rate
        powers = torch.xlogy(a, rate) + torch.xlogy(a - 1, value)
        return powers - rate * value - torch.lgamma(a)

    def cdf(self, value: Tensor) -> Tensor:
        """The regularized incomplete gamma function P(α, rate x)."""
        self._checked(value)
        return torch.special.gammainc(self.concentration, self.rate * value)

    def entropy(self) -> Tensor:
        """α - log rate + log Γ(α) + (1 - α) ψ(α)."""
        a = self.concentration
        return a - torch.log(self.rate) + torch.lgamma(a) + (1.0 - a) * torch.digamma(a)

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.lgamma(x + 1) + (x + 1) * torch.log(-y.reciprocal())
