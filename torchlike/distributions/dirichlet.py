"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor
from torchlike.nn.functional import one_hot

from . import constraints
from ._draws import dirichlet
from .distribution import SCALAR
from .exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    """Vectors of K probabilities with a density in proportion to Π xₖ^(αₖ - 1).

    ``concentration``, the α, is (*batch_shape, K).
    """

    arg_constraints: ClassVar = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _fields: ClassVar = {"concentration": 1}

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration.shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Any = SCALAR) -> Tensor:
        """Gamma numbers over their sum, with implicit gradients."""
        return dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        """Σ (αₖ - 1) log xₖ + log Γ(Σ αₖ) - Σ log Γ(αₖ)."""
        self._checked(value)
        a = self.concentration
        powers = torch.xlogy(a - 1.0, value).sum(-1)
        return powers + torch.lgamma(a.sum(-1)) - torch.lgamma(a).sum(-1)

    @property
    def mean(self) -> Tensor:
        """α / Σ α."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        """(α - 1) / Σ (α - 1), or a corner where all α are below 1."""
        beyond = (self.concentration - 1).clamp(min=0.0)
        mode = beyond / beyond.sum(-1, True)
        corner = (self.concentration < 1).all(dim=-1)
        mode[corner] = one_hot(mode[corner].argmax(dim=-1), beyond.shape[-1]).to(mode)
        return mode

    @property
    def variance(self) -> Tensor:
        """α (A - α) / (A² (A + 1)) with A = Σ α."""
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Tensor:
        """log B(α) + (A - K) ψ(A) - Σ (αₖ - 1) ψ(αₖ)."""
        a = self.concentration
        total = a.sum(-1)
        log_beta = torch.lgamma(a).sum(-1) - torch.lgamma(total)
        expected = ((a - 1.0) * torch.digamma(a)).sum(-1)
        return log_beta - (a.size(-1) - total) * torch.digamma(total) - expected

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return x.lgamma().sum(-1) - torch.lgamma(x.sum(-1))
