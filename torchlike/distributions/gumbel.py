"""The Gumbel distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """The distribution of maxima: density exp(-(z + exp(-z))) / scale, z = (x - loc) / scale.

    ``loc`` is the mode. A draw is loc - scale · log(-log u) with uniform u.
    """

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    _fields: ClassVar = {"loc": 0, "scale": 0}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        info = torch.finfo(self.loc.dtype)
        low, high = (torch.full_like(self.loc, v) for v in (info.tiny, 1 - info.eps))
        minus_log = [ExpTransform().inv, AffineTransform(0, -torch.ones_like(self.scale))]
        steps = [*minus_log, ExpTransform().inv, AffineTransform(loc, -self.scale)]
        base = Uniform(low, high, validate_args=validate_args)
        super().__init__(base, steps, validate_args=validate_args)

    mean = property(lambda self: self.loc + self.scale * euler_constant)
    mode = property(lambda self: self.loc)
    stddev = property(lambda self: (math.pi / math.sqrt(6)) * self.scale)
    variance = property(lambda self: self.stddev.pow(2))

    def log_prob(self, value: Tensor) -> Tensor:
        """-z - exp(-z) - log scale."""
        self._checked(value)
        y = (self.loc - value) / self.scale
        return y - y.exp() - self.scale.log()

    def entropy(self) -> Tensor:
        """log scale + 1 + γ."""
        return self.scale.log() + (1 + euler_constant)
