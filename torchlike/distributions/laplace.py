"""The Laplace distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .distribution import SCALAR, Distribution

__all__ = ["Laplace"]


class Laplace(Distribution):
    """Numbers with the density exp(-|x - loc| / scale) / (2 scale)."""

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _fields: ClassVar = {"loc": 0, "scale": 0}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self._with_parameters(validate_args, loc=loc, scale=scale)

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)
    stddev = property(lambda self: 2**0.5 * self.scale)
    variance = property(lambda self: 2 * self.scale.pow(2))

    def rsample(self, sample_shape: Any = SCALAR) -> Tensor:
        """loc - scale · sign(u) log(1 - |u|) with u uniform in (-1, 1)."""
        u = self.loc.new_empty(self._extended_shape(sample_shape))
        u.uniform_(torch.finfo(u.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * torch.log1p(-u.abs())

    def log_prob(self, value: Tensor) -> Tensor:
        """-|x - loc| / scale - log(2 scale)."""
        self._checked(value)
        return -torch.log(2 * self.scale) - torch.abs(value - self.loc) / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        """½ - ½ sign(x - loc) (exp(-|x - loc| / scale) - 1)."""
        self._checked(value)
        off = value - self.loc
        return 0.5 - 0.5 * off.sign() * torch.expm1(-off.abs() / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        """loc - scale · sign(p - ½) log(1 - 2 |p - ½|)."""
        off = value - 0.5
        return self.loc - self.scale * off.sign() * torch.log1p(-2 * off.abs())

    def entropy(self) -> Tensor:
        """1 + log(2 scale)."""
        return 1 + torch.log(2 * self.scale)
