"""Continuous relaxations of the categorical distribution (sources: see `relaxed_bernoulli`)."""

from __future__ import annotations

from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .categorical import OverCategorical
from .distribution import SCALAR
from .relaxed_bernoulli import Relaxed
from .transforms import ExpTransform
from .utils import broadcast_all, clamp_probs, uniform

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(OverCategorical):
    """The logarithm of a `RelaxedOneHotCategorical`: log softmax((logits + g) / temperature).

    g are Gumbel numbers; ``probs`` or ``logits`` are (*batch_shape, K).
    """

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector  # the sum of exp is 1, which would be lost to rounding
    has_rsample = True
    _fields: ClassVar = {"_categorical": 0}
    _kept: ClassVar = ("temperature",)

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._keep_categorical(probs, logits, validate_args)

    def rsample(self, sample_shape: Any = SCALAR) -> Tensor:
        """Log probabilities, (…, K)."""
        u = clamp_probs(uniform(self._extended_shape(sample_shape), self.logits))
        scores = (self.logits - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        """log (K - 1)! + (K - 1) log temperature + Σ log softmax(logits - temperature · x)."""
        self._checked(value)
        k = self._categorical._num_events
        logits, value = broadcast_all(self.logits, value)
        log_scale = torch.full_like(self.temperature, float(k)).lgamma()
        log_scale = log_scale + self.temperature.log().mul(k - 1)
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + log_scale


class RelaxedOneHotCategorical(Relaxed):
    """Vectors of K probabilities that crowd at the corners as ``temperature`` falls to 0.

    ``probs`` or ``logits``, (*batch_shape, K), are those of the distribution that is relaxed.
    """

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    _fields: ClassVar = {}

    def __init__(
        self,
        temperature: Any,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)
