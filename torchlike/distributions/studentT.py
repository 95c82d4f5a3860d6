"""Student's t distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .chi2 import Chi2
from .distribution import SCALAR, Distribution
from .utils import broadcast_all, filled, standard_normal

__all__ = ["StudentT"]


class StudentT(Distribution):
    """loc + scale · z / √(v / df) with z standard normal and v χ² of ``df`` degrees of freedom.

    The three parameters broadcast.
    """

    arg_constraints: ClassVar = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True
    _fields: ClassVar = {"df": 0, "loc": 0, "scale": 0, "_chi2": 0}

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        df, loc, scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(df)
        self._with_parameters(validate_args, df=df, loc=loc, scale=scale)

    mode = property(lambda self: self.loc)

    @property
    def mean(self) -> Tensor:
        """loc; NaN for df ≤ 1."""
        return filled(self.loc, self.df <= 1, math.nan)

    @property
    def variance(self) -> Tensor:
        """scale² df / (df - 2); infinite for df ≤ 2, NaN for df ≤ 1."""
        finite = torch.where(self.df > 2, self.df, 3.0)
        variance = self.scale.pow(2) * finite / (finite - 2)
        variance = filled(variance, (self.df <= 2) & (self.df > 1), math.inf)
        return filled(variance, self.df <= 1, math.nan)

    def rsample(self, sample_shape: Any = SCALAR) -> Tensor:
        """Normal numbers over the roots of scaled χ² numbers."""
        z = standard_normal(self._extended_shape(sample_shape), self.df)
        v = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (z * torch.rsqrt(v / self.df))

    def log_prob(self, value: Tensor) -> Tensor:
        """-½ (df + 1) log(1 + y² / df) - log(scale √(df π) Γ(df / 2) / Γ((df + 1) / 2))."""
        self._checked(value)
        df = self.df
        y = (value - self.loc) / self.scale
        log_norm = self.scale.log() + 0.5 * df.log() + 0.5 * math.log(math.pi)
        log_norm = log_norm + torch.lgamma(0.5 * df) - torch.lgamma(0.5 * (df + 1.0))
        return -0.5 * (df + 1.0) * torch.log1p(y**2.0 / df) - log_norm

    def entropy(self) -> Tensor:
        """½ (df + 1) (ψ((df + 1) / 2) - ψ(df / 2)) + log(scale √df B(df / 2, ½))."""
        half, next_half = 0.5 * self.df, 0.5 * (self.df + 1)
        log_beta = torch.lgamma(half) + math.lgamma(0.5) - torch.lgamma(next_half)
        spread = next_half * (torch.digamma(next_half) - torch.digamma(half))
        return self.scale.log() + spread + 0.5 * self.df.log() + log_beta
