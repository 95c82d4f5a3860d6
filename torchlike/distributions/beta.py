"""The beta distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .dirichlet import Dirichlet
from .distribution import SCALAR
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Beta"]


class Beta(ExponentialFamily):
    """Probabilities with a density in proportion to x^(α - 1) (1 - x)^(β - 1).

    ``concentration1`` is α and ``concentration0`` is β; they broadcast. It is the first element of
    a Dirichlet vector of two.
    """

    arg_constraints: ClassVar = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True
    _fields: ClassVar = {"_dirichlet": 0}

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        pair = torch.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(pair, validate_args=validate_args)
        super().__init__(self._dirichlet._batch_shape, validate_args=validate_args)

    concentration1 = property(lambda self: self._dirichlet.concentration[..., 0])
    concentration0 = property(lambda self: self._dirichlet.concentration[..., 1])

    @property
    def mean(self) -> Tensor:
        """α / (α + β)."""
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        """(α - 1) / (α + β - 2), or an end."""
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        """α β / ((α + β)² (α + β + 1))."""
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = SCALAR) -> Tensor:
        """The first element of Dirichlet vectors."""
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Tensor) -> Tensor:
        """(α - 1) log x + (β - 1) log(1 - x) - log B(α, β)."""
        self._checked(value)
        return self._dirichlet.log_prob(torch.stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        """Dirichlet's."""
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.lgamma(x) + torch.lgamma(y) - torch.lgamma(x + y)
