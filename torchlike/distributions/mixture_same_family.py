"""Mixtures of distributions of one family."""

from __future__ import annotations

from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .categorical import Categorical
from .constraints import MixtureSameFamilyConstraint
from .distribution import SCALAR, Distribution, Size

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A draw of one of K components, each as likely as ``mixture_distribution`` says.

    ``mixture_distribution`` is a Categorical over K categories; ``component_distribution`` has K
    as the last dimension of its batch, and the other ones are the mixture's.
    """

    arg_constraints: ClassVar = {}
    has_rsample = False
    _fields: ClassVar = {"_component_distribution": 1, "_mixture_distribution": 0}
    _kept: ClassVar = ("_num_component", "_event_ndims")

    def __init__(
        self,
        mixture_distribution: Any,
        component_distribution: Any,
        validate_args: bool | None = None,
    ) -> None:
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an "
                " instance of torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution needs to be an "
                "instance of torch.distributions.Distribution"
            )
        self._num_component = self._require_fit()
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        batch_shape = component_distribution.batch_shape[:-1]
        super().__init__(batch_shape, event_shape, validate_args=validate_args)

    def _require_fit(self) -> int:
        mixed = self._mixture_distribution.batch_shape
        *batch, count = self._component_distribution.batch_shape
        for size, other in zip(reversed(mixed), reversed(batch), strict=False):
            if size != 1 and other not in (1, size):
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({mixed}) is not compatible with "
                    f"`component_distribution.batch_shape`({Size(batch)})"
                )
        categories = self._mixture_distribution.logits.shape[-1]
        if categories != count:
            raise ValueError(
                f"`mixture_distribution component` ({categories}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({count})"
            )
        return categories

    @constraints.dependent_property
    def support(self) -> Any:
        """What every component allows."""
        return MixtureSameFamilyConstraint(self._component_distribution.support)

    mixture_distribution = property(lambda self: self._mixture_distribution)
    component_distribution = property(lambda self: self._component_distribution)

    def _weighted(self, values: Tensor) -> Tensor:
        """The components' values, (*batch_shape, K, *event_shape), times their probabilities."""
        probs, mixture = self.mixture_distribution.probs, self.mixture_distribution.batch_shape
        missing = 0 if len(mixture) == 1 else len(self.batch_shape) - len(mixture)
        shape = mixture + (1,) * missing + probs.shape[-1:] + (1,) * self._event_ndims
        return torch.sum(probs.reshape(shape) * values, dim=-1 - self._event_ndims)

    @property
    def mean(self) -> Tensor:
        """Σ p mean."""
        return self._weighted(self.component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        """The mean of the variances, and the variance of the means."""
        off = self.component_distribution.mean - self._pad(self.mean)
        return self._weighted(self.component_distribution.variance) + self._weighted(off.pow(2.0))

    def _pad(self, x: Tensor) -> Tensor:
        """``x`` with a dimension for the components."""
        return x.unsqueeze(-1 - self._event_ndims)

    def cdf(self, x: Tensor) -> Tensor:
        """Σ p F(x)."""
        each = self.component_distribution.cdf(self._pad(x))
        return torch.sum(each * self.mixture_distribution.probs, dim=-1)

    def log_prob(self, x: Tensor) -> Tensor:
        """log Σ p exp(log density)."""
        self._checked(x)
        each = self.component_distribution.log_prob(self._pad(x))
        weights = torch.log_softmax(self.mixture_distribution.logits, dim=-1)
        return torch.logsumexp(each + weights, dim=-1)

    def sample(self, sample_shape: Any = SCALAR) -> Tensor:
        """A draw of every component, of which one is taken."""
        with torch.no_grad():
            chosen = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            dim = len(sample_shape) + len(self.batch_shape)
            index = chosen.reshape(chosen.shape + (1,) * (len(self.event_shape) + 1))
            index = index.repeat((1,) * (chosen.dim() + 1) + tuple(self.event_shape))
            return torch.gather(drawn, dim, index).squeeze(dim)

    def __repr__(self) -> str:
        inner = f"\n  {self.mixture_distribution},\n  {self.component_distribution}"
        return f"MixtureSameFamily({inner})"
