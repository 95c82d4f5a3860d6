"""The geometric distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor
from torchlike.nn.functional import binary_cross_entropy_with_logits

from . import constraints
from .distribution import SCALAR, Distribution
from .utils import ProbsOrLogits, broadcast_all, filled

__all__ = ["Geometric"]


class Geometric(ProbsOrLogits, Distribution):
    """How many trials fail before the first success, which has probability ``probs``.

    ``logits`` are the log odds of a success.
    """

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer
    _fields: ClassVar = {"probs": 0, "logits": 0, "_param": 0}

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._given(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            value = self.probs
            raise ValueError(
                f"Expected parameter probs "
                f"({type(value).__name__} of shape {tuple(value.shape)}) "
                f"of distribution {self!r} to be positive but found invalid values:\n"
                f"{value.data[~(value > 0)]}"
            )

    mean = property(lambda self: 1.0 / self.probs - 1.0)
    mode = property(lambda self: torch.zeros_like(self.probs))
    variance = property(lambda self: (1.0 / self.probs - 1.0) / self.probs)

    def sample(self, sample_shape: Any = SCALAR) -> Tensor:
        """⌊log u / log(1 - p)⌋ with uniform u."""
        with torch.no_grad():
            u = self.probs.new_empty(self._extended_shape(sample_shape))
            u.uniform_(torch.finfo(u.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        """k log(1 - p) + log p."""
        self._checked(value)
        value, probs = broadcast_all(value, self.probs)
        probs = filled(probs, (probs == 1) & (value == 0), 0)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        """(-p log p - (1 - p) log(1 - p)) / p."""
        of_one = binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return of_one / self.probs
