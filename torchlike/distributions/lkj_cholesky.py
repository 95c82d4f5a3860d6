"""The distribution of Lewandowski, Kurowicka and Joe over correlation matrices."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .beta import Beta
from .distribution import SCALAR, Distribution
from .utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Lower Cholesky factors of ``dim`` × ``dim`` correlation matrices M.

    The density of M is in proportion to det(M)^(concentration - 1): 1 makes all as likely.
    """

    arg_constraints: ClassVar = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _fields: ClassVar = {"concentration": 0, "_beta": 1}
    _kept: ClassVar = ("dim",)

    def __init__(
        self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        # the square of row i's length before the diagonal is Beta(i / 2, marginal - (i - 1) / 2)
        row = torch.arange(
            dim - 1, dtype=self.concentration.dtype, device=self.concentration.device
        )
        row = torch.cat([row.new_zeros((1,)), row])
        marginal = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(row + 0.5, marginal.unsqueeze(-1) - 0.5 * row)
        event_shape = torch.Size((dim, dim))
        super().__init__(self.concentration.size(), event_shape, validate_args)

    def sample(self, sample_shape: Any = SCALAR) -> Tensor:
        """The onion method of "Generating random correlation matrices based on vines and extended
        onion method" (2009), section 3.2: rows on spheres of random radius."""
        y = self._beta.sample(sample_shape).unsqueeze(-1)
        shape = self._extended_shape(sample_shape)
        normal = torch.randn(shape, dtype=y.dtype, device=y.device).tril(-1)
        direction = normal / normal.norm(dim=-1, keepdim=True)
        direction[..., 0, :].fill_(0.0)
        w = torch.sqrt(y) * direction
        left = torch.clamp(1 - torch.sum(w**2, dim=-1), min=torch.finfo(w.dtype).tiny)
        return w + torch.diag_embed(left.sqrt())

    def log_prob(self, value: Tensor) -> Tensor:
        """Σ (2 (concentration - 1) + dim - i) log Lᵢᵢ over i = 2 … dim, less the log of the
        normalizing constant (page 1999 of the same paper)."""
        self._checked(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = torch.arange(2, self.dim + 1, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        powers = torch.sum(order * diagonal.log(), dim=-1)
        n = self.dim - 1
        alpha = self.concentration + 0.5 * n
        log_norm = 0.5 * n * math.log(math.pi) + torch.mvlgamma(alpha - 0.5, n)
        return powers - (log_norm - torch.lgamma(alpha) * n)
