"""Distributions whose log density is linear in functions of the value."""

from __future__ import annotations

from typing import Any

import torchlike as torch
from torchlike import Tensor

from .distribution import Distribution

__all__ = ["ExponentialFamily"]


def normalizer_gradients(distribution: Any) -> tuple[list[Tensor], Tensor, tuple[Tensor, ...]]:
    """Natural parameters θ (as leaves), the log normalizer F(θ), and ∂F/∂θ = E[t(x)]."""
    natural = [p.detach().requires_grad_() for p in distribution._natural_params]
    value = distribution._log_normalizer(*natural)
    return natural, value, torch.autograd.grad(value.sum(), natural, create_graph=True)


class ExponentialFamily(Distribution):
    """log p(x; θ) = ⟨t(x), θ⟩ - F(θ) + k(x): θ are the natural parameters, F the log normalizer.

    A subclass has ``_natural_params`` (a tuple of tensors), ``_log_normalizer`` (a function of
    them) and ``_mean_carrier_measure``, the expectation of k.
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> float:
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """F(θ) - ⟨θ, ∇F(θ)⟩ - E[k(x)] (Nielsen and Nock, "Entropies and cross-entropies of
        exponential families", 2010)."""
        offset = -self._mean_carrier_measure
        natural, value, gradients = normalizer_gradients(self)
        result = value + offset
        for parameter, gradient in zip(natural, gradients, strict=True):
            result = result - (parameter * gradient).reshape(self._batch_shape + (-1,)).sum(-1)
        return result
