"""The distribution of a function of a variable."""

from __future__ import annotations

from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .distribution import SCALAR, Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost

__all__ = ["TransformedDistribution"]


def _as_list(transforms: Any) -> list[Any]:
    if isinstance(transforms, Transform):
        return [transforms]
    if not isinstance(transforms, list):
        raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
    if not all(isinstance(t, Transform) for t in transforms):
        raise ValueError("transforms must be a Transform or a list of Transforms")
    return transforms


def _fitting(base: Distribution, transform: Any, forward_shape: Any) -> Distribution:
    """The base, expanded where parameters of the transform broadcast, over whole events."""
    event_dim = len(base.event_shape)
    needed = transform.inverse_shape(forward_shape)
    if base.batch_shape + base.event_shape != needed:
        base = base.expand(needed[: len(needed) - event_dim])
    extra = transform.domain.event_dim - event_dim
    return Independent(base, extra) if extra > 0 else base


class TransformedDistribution(Distribution):
    """``y = tₙ(… t₁(x))`` with x of ``base_distribution``.

    log p(y) = log p(x) - log |det ∂y/∂x|: a change of variables, for which densities need
    bijective transforms.
    """

    arg_constraints: ClassVar = {}
    _fields: ClassVar = {}

    def __init__(
        self, base_distribution: Distribution, transforms: Any, validate_args: bool | None = None
    ) -> None:
        self.transforms = _as_list(transforms)
        base_shape = base_distribution.batch_shape + base_distribution.event_shape
        base_event_dim = len(base_distribution.event_shape)
        transform = ComposeTransform(self.transforms)
        domain_dim, codomain_dim = transform.domain.event_dim, transform.codomain.event_dim
        if len(base_shape) < domain_dim:
            raise ValueError(
                "base_distribution needs to have shape with size at least "
                f"{domain_dim}, but got {base_shape}."
            )
        shape = transform.forward_shape(base_shape)
        self.base_dist = _fitting(base_distribution, transform, shape)
        event_dim = max(codomain_dim, base_event_dim + codomain_dim - domain_dim)
        cut = len(shape) - event_dim
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def _expand_into(self, new: Any, batch_shape: Any) -> None:
        super()._expand_into(new, batch_shape)
        shape = batch_shape + self.event_shape
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        new.transforms = self.transforms

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        """The last transform's codomain, on all dimensions of the event."""
        if not self.transforms:
            return self.base_dist.support
        codomain = self.transforms[-1].codomain
        extra = len(self.event_shape) - codomain.event_dim
        return constraints.independent(codomain, extra) if extra > 0 else codomain

    has_rsample = property(lambda self: self.base_dist.has_rsample)

    def _transformed(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape: Any = SCALAR) -> Tensor:
        """The base's draws, transformed."""
        with torch.no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = SCALAR) -> Tensor:
        """The base's draws, transformed, with gradients."""
        return self._transformed(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """The base's log density less the log determinants."""
        self._checked(value)
        event_dim = len(self.event_shape)
        log_prob: Any = 0.0
        y = value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            domain_dim = transform.domain.event_dim
            event_dim += domain_dim - transform.codomain.event_dim
            jacobian = transform.log_abs_det_jacobian(x, y)
            log_prob = log_prob - _sum_rightmost(jacobian, event_dim - domain_dim)
            y = x
        extra = event_dim - len(self.base_dist.event_shape)
        return log_prob + _sum_rightmost(self.base_dist.log_prob(y), extra)

    def _reversed_if_falling(self, probability: Tensor) -> Tensor:
        sign: Any = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return probability
        return sign * (probability - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        """The base's at the inverse, or 1 less it where the transforms fall."""
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._reversed_if_falling(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        """The base's quantile, transformed."""
        return self._transformed(self.base_dist.icdf(self._reversed_if_falling(value)))
