"""Continuous relaxations of the Bernoulli distribution.

Maddison, Mnih and Teh, "The concrete distribution: a continuous relaxation of discrete random
variables", 2017; Jang, Gu and Poole, "Categorical reparameterization with Gumbel-softmax", 2017.
"""

from __future__ import annotations

from typing import Any, ClassVar

from torchlike import Tensor

from . import constraints
from .distribution import SCALAR, Distribution
from .transformed_distribution import TransformedDistribution
from .transforms import SigmoidTransform
from .utils import ProbsOrLogits, broadcast_all, clamp_probs, uniform

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(ProbsOrLogits, Distribution):
    """The log odds of a `RelaxedBernoulli`: (logits + logistic noise) / temperature."""

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    _fields: ClassVar = {"probs": 0, "logits": 0, "_param": 0}
    _kept: ClassVar = ("temperature",)

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._given(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    def rsample(self, sample_shape: Any = SCALAR) -> Tensor:
        """Of uniform numbers u: (logit u + logit p) / temperature."""
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(uniform(shape, probs))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        """log temperature + d - 2 log(1 + exp d), d = logits - temperature · x."""
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        difference = logits - value.mul(self.temperature)
        return self.temperature.log() + difference - 2 * difference.exp().log1p()


class Relaxed(TransformedDistribution):
    """A function of a relaxed distribution, whose parameters it shows."""

    has_rsample = True

    temperature = property(lambda self: self.base_dist.temperature)
    logits = property(lambda self: self.base_dist.logits)
    probs = property(lambda self: self.base_dist.probs)


class RelaxedBernoulli(Relaxed):
    """Numbers between 0 and 1 that crowd at both ends as ``temperature`` falls to 0.

    ``probs`` or ``logits`` are those of the Bernoulli distribution that is relaxed.
    """

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    _fields: ClassVar = {}

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)
