"""The binomial distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .distribution import SCALAR, Distribution
from .utils import ProbsOrLogits

__all__ = ["Binomial"]


class Binomial(ProbsOrLogits, Distribution):
    """The number of successes in ``total_count`` trials, each with probability ``probs``.

    ``logits`` are the log odds of a success. ``total_count`` broadcasts with them.
    """

    arg_constraints: ClassVar = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    _fields: ClassVar = {"total_count": 0, "probs": 0, "logits": 0, "_param": 0}

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        (count,) = self._given(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """0 … total_count."""
        return constraints.integer_interval(0, self.total_count)

    mean = property(lambda self: self.total_count * self.probs)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    @property
    def mode(self) -> Tensor:
        """⌊(n + 1) p⌋, at most n."""
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    def sample(self, sample_shape: Any = SCALAR) -> Tensor:
        """Counts, in the parameters' dtype."""
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """log C(n, k) + k · logit - n log(1 + exp logit)."""
        self._checked(value)
        n, logits = self.total_count, self.logits
        # half of each side's slope at 0, as a clamp on one side would have all or nothing
        positive_part = (logits.clamp(min=0) + logits - logits.clamp(max=0)) / 2
        log_odds = n * positive_part + n * torch.log1p(torch.exp(-torch.abs(logits)))
        ways = torch.lgamma(value + 1) + torch.lgamma(n - value + 1) - torch.lgamma(n + 1)
        return value * logits - ways - log_odds

    def _one_count(self, asked: str) -> int:
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{asked}`.")
        return count

    def entropy(self) -> Tensor:
        """-Σ p log p over all counts; ``total_count`` must be one number."""
        self._one_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """0 … n, (n + 1, *batch_shape); ``total_count`` must be one number n."""
        count = self._one_count("enumerate_support")
        values = torch.arange(1 + count, dtype=self._param.dtype, device=self._param.device)
        return self._enumerated(values, expand)
