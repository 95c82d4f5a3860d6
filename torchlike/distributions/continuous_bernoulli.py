"""The continuous Bernoulli distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor
from torchlike.nn.functional import binary_cross_entropy_with_logits

from . import constraints
from .distribution import SCALAR
from .exp_family import ExponentialFamily
from .utils import (
    ProbsOrLogits,
    broadcast_all,
    clamp_probs,
    lazy_property,
    logits_to_probs,
    uniform,
)

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(ProbsOrLogits, ExponentialFamily):
    """Numbers between 0 and 1 with a density in proportion to p^x (1 - p)^(1 - x).

    ``probs`` p or ``logits``, its log odds, are the Bernoulli distribution's (Loaiza-Ganem and
    Cunningham, "The continuous Bernoulli: fixing a pervasive error in variational autoencoders",
    2019). Between ``lims`` formulas with a pole at p = ½ are replaced by their Taylor series.
    """

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _fields: ClassVar = {"probs": 0, "logits": 0, "_param": 0}
    _kept: ClassVar = ("_lims",)
    _mean_carrier_measure = 0

    def __init__(
        self,
        probs: Any = None,
        logits: Any = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._given(probs, logits)
        if probs is not None:
            allowed = self.arg_constraints["probs"]
            if validate_args is not None and not allowed.check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self._keep("probs", clamp_probs(self.probs))
        self._lims = lims
        super().__init__(self._param.size(), validate_args=validate_args)

    @lazy_property
    def probs(self) -> Tensor:
        """Probabilities, away from 0 and 1."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _stable(self) -> Tensor:
        """Where p is not close to ½."""
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Tensor:
        """p, but a value that does no harm where p is close to ½."""
        return torch.where(self._stable(), self.probs, self._lims[0] * torch.ones_like(self.probs))

    def _log_odds(self, p: Tensor) -> Tensor:
        return torch.log1p(-p) - torch.log(p)

    def _cont_bern_log_norm(self) -> Tensor:
        """log(2 artanh(1 - 2p) / (1 - 2p)); log 2 at p = ½."""
        p = self._cut_probs()
        below = torch.where(p <= 0.5, p, torch.zeros_like(p))
        above = torch.where(p >= 0.5, p, torch.ones_like(p))
        gap = torch.where(p <= 0.5, torch.log1p(-2.0 * below), torch.log(2.0 * above - 1.0))
        x = torch.pow(self.probs - 0.5, 2)
        taylor = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return torch.where(self._stable(), torch.log(torch.abs(self._log_odds(p))) - gap, taylor)

    @property
    def mean(self) -> Tensor:
        """p / (2p - 1) + 1 / (2 artanh(1 - 2p))."""
        p = self._cut_probs()
        x = self.probs - 0.5
        taylor = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * torch.pow(x, 2)) * x
        return torch.where(self._stable(), p / (2.0 * p - 1.0) + 1.0 / self._log_odds(p), taylor)

    @property
    def variance(self) -> Tensor:
        """p (p - 1) / (1 - 2p)² + 1 / (2 artanh(1 - 2p))²."""
        p = self._cut_probs()
        x = torch.pow(self.probs - 0.5, 2)
        taylor = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        exact = p * (p - 1.0) / torch.pow(1.0 - 2.0 * p, 2) + 1.0 / torch.pow(self._log_odds(p), 2)
        return torch.where(self._stable(), exact, taylor)

    def rsample(self, sample_shape: Any = SCALAR) -> Tensor:
        """Quantiles of uniform numbers."""
        return self.icdf(uniform(self._extended_shape(sample_shape), self.probs))

    def log_prob(self, value: Tensor) -> Tensor:
        """x log p + (1 - x) log(1 - p) + the log normalizer."""
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        bernoulli = -binary_cross_entropy_with_logits(logits, value, reduction="none")
        return bernoulli + self._cont_bern_log_norm()

    def cdf(self, value: Tensor) -> Tensor:
        """(p^x (1 - p)^(1 - x) + p - 1) / (2p - 1); x at p = ½."""
        self._checked(value)
        p = self._cut_probs()
        powers = torch.pow(p, value) * torch.pow(1.0 - p, 1.0 - value)
        inside = torch.where(self._stable(), (powers + p - 1.0) / (2.0 * p - 1.0), value)
        inside = torch.where(value >= 1.0, torch.ones_like(value), inside)
        return torch.where(value <= 0.0, torch.zeros_like(value), inside)

    def icdf(self, value: Tensor) -> Tensor:
        """(log(1 - p + u (2p - 1)) - log(1 - p)) / (log p - log(1 - p)); u at p = ½."""
        p = self._cut_probs()
        rest = torch.log1p(-p)
        exact = torch.log1p(-p + value * (2.0 * p - 1.0)) - rest
        return torch.where(self._stable(), exact / (torch.log(p) - rest), value)

    def entropy(self) -> Tensor:
        """E[x] (log(1 - p) - log p) - log(1 - p) - the log normalizer."""
        rest = torch.log1p(-self.probs)
        log_odds = rest - torch.log(self.probs)
        return self.mean * log_odds - self._cont_bern_log_norm() - rest

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        low, high = self._lims[0] - 0.5, self._lims[1] - 0.5
        stable = (x <= low) | (x > high)
        cut = torch.where(stable, x, low * torch.ones_like(x))
        exact = torch.log(torch.abs(torch.special.expm1(cut))) - torch.log(torch.abs(cut))
        taylor = 0.5 * x + torch.pow(x, 2) / 24.0 - torch.pow(x, 4) / 2880.0
        return torch.where(stable, exact, taylor)
