"""The negative binomial distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor
from torchlike.nn.functional import logsigmoid

from . import constraints
from .distribution import SCALAR, Distribution
from .gamma import Gamma
from .utils import ProbsOrLogits, lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(ProbsOrLogits, Distribution):
    """How many trials succeed before ``total_count`` of them have failed.

    ``probs`` is the probability of a success, in [0, 1), ``logits`` its log odds. ``total_count``
    need not be whole.
    """

    arg_constraints: ClassVar = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    _fields: ClassVar = {"total_count": 0, "probs": 0, "logits": 0, "_param": 0}

    def __init__(
        self,
        total_count: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        (count,) = self._given(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    mean = property(lambda self: self.total_count * torch.exp(self.logits))
    variance = property(lambda self: self.mean / torch.sigmoid(-self.logits))

    @property
    def mode(self) -> Tensor:
        """⌊(r - 1) p / (1 - p)⌋, at least 0."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @lazy_property
    def _gamma(self) -> Gamma:
        rate = torch.exp(-self.logits)
        return Gamma(concentration=self.total_count, rate=rate, validate_args=False)

    def sample(self, sample_shape: Any = SCALAR) -> Tensor:
        """Poisson numbers of gamma distributed rates."""
        with torch.no_grad():
            return torch.poisson(self._gamma.sample(sample_shape=sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """r log(1 - p) + k log p + log Γ(r + k) - log k! - log Γ(r)."""
        self._checked(value)
        r, logits = self.total_count, self.logits
        powers = r * logsigmoid(-logits) + value * logsigmoid(logits)
        ways = -torch.lgamma(r + value) + torch.lgamma(1.0 + value) + torch.lgamma(r)
        return powers - ways.masked_fill(r + value == 0.0, 0.0)
