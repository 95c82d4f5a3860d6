"""The distribution of Fisher and Snedecor."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .distribution import SCALAR, Distribution
from .gamma import Gamma
from .utils import broadcast_all, filled

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """The ratio of two χ² numbers, each over its degrees of freedom ``df1`` and ``df2``."""

    arg_constraints: ClassVar = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _fields: ClassVar = {"df1": 0, "df2": 0, "_gamma1": 0, "_gamma2": 0}

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        df1, df2 = broadcast_all(df1, df2)
        self._gamma1, self._gamma2 = Gamma(df1 * 0.5, df1), Gamma(df2 * 0.5, df2)
        self._with_parameters(validate_args, df1=df1, df2=df2)

    @property
    def mean(self) -> Tensor:
        """df2 / (df2 - 2); NaN for df2 ≤ 2."""
        df2 = filled(self.df2, self.df2 <= 2, math.nan)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Tensor:
        """(df1 - 2) / df1 · df2 / (df2 + 2); NaN for df1 ≤ 2."""
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return filled(mode, self.df1 <= 2, math.nan)

    @property
    def variance(self) -> Tensor:
        """2 df2² (df1 + df2 - 2) / (df1 (df2 - 2)² (df2 - 4)); NaN for df2 ≤ 4."""
        df2 = filled(self.df2, self.df2 <= 4, math.nan)
        below = self.df1 * (df2 - 2).pow(2) * (df2 - 4)
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / below

    def rsample(self, sample_shape: Any = SCALAR) -> Tensor:
        """A gamma number over another one."""
        above, below = self._gamma1.rsample(sample_shape), self._gamma2.rsample(sample_shape)
        tiny = torch.finfo(below.dtype).tiny
        return (above / below.clamp(min=tiny)).clamp(min=tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        """With a = df1 / 2, b = df2 / 2 and r = a / b:
        a log r + (a - 1) log x - (a + b) log(1 + r x) - log B(a, b)."""
        self._checked(value)
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        log_beta = a.lgamma() + b.lgamma() - (a + b).lgamma()
        powers = a * ratio.log() + (a - 1) * torch.log(value)
        return powers - (a + b) * torch.log1p(ratio * value) - log_beta
