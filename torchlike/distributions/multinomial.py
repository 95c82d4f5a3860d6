"""The multinomial distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .binomial import Binomial
from .categorical import Categorical
from .distribution import SCALAR, Distribution, Size
from .utils import broadcast_all, filled

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    """How often each of K categories comes up in ``total_count`` draws.

    ``total_count`` is an int, ``probs`` or ``logits`` are (*batch_shape, K), as for Categorical.
    """

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}
    total_count: int
    _fields: ClassVar = {"_categorical": 0, "_binomial": 1}
    _kept: ClassVar = ("total_count",)

    def __init__(
        self,
        total_count: int = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)  # each count's
        super().__init__(
            self._categorical.batch_shape,
            self._categorical.param_shape[-1:],
            validate_args=validate_args,
        )

    def _new(self, *args: Any, **options: Any) -> Tensor:
        return self._categorical._new(*args, **options)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        """Counts from 0 on whose sum is at most total_count."""
        return constraints.multinomial(self.total_count)

    logits = property(lambda self: self._categorical.logits)
    probs = property(lambda self: self._categorical.probs)
    param_shape = property(lambda self: self._categorical.param_shape)
    mean = property(lambda self: self.probs * self.total_count)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))

    def sample(self, sample_shape: Any = SCALAR) -> Tensor:
        """Counts, in the parameters' dtype."""
        sample_shape = Size(sample_shape)
        drawn = self._categorical.sample(Size((self.total_count,)) + sample_shape)
        drawn = drawn.permute(*range(1, drawn.dim()), 0)
        counts = torch.zeros(
            self._extended_shape(sample_shape), dtype=drawn.dtype, device=drawn.device
        )
        return counts.scatter_add_(-1, drawn, torch.ones_like(drawn)).type_as(self.probs)

    def entropy(self) -> Tensor:
        """n H(p) - log n! + Σ E[log xₖ!], as each xₖ is binomial."""
        n = torch.tensor(self.total_count)
        each = self._binomial
        counts = each.enumerate_support(expand=False)[1:]
        expected = (torch.exp(each.log_prob(counts)) * torch.lgamma(counts + 1)).sum([0, -1])
        return n * self._categorical.entropy() - torch.lgamma(n + 1) + expected

    def log_prob(self, value: Tensor) -> Tensor:
        """log n! - Σ log xₖ! + Σ xₖ log pₖ, with n = Σ xₖ."""
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        ways = torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1)
        logits = filled(logits, (value == 0) & (logits == -math.inf), 0)
        return ways + (logits * value).sum(-1)
