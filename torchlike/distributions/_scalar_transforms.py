"""Transforms of single numbers."""

from __future__ import annotations

import math
from typing import Any

import torchlike as torch
from torchlike import Tensor
from torchlike.nn.functional import softplus

from . import constraints
from ._transform_base import OneOfAKind, Transform
from .utils import Number, broadcast_all, lazy_property


class _Broadcasting(Transform):
    """A transform whose parameters, in ``_arguments``, broadcast with the values."""

    def forward_shape(self, shape: Any) -> Any:
        own = (getattr(getattr(self, name), "shape", ()) for name in self._arguments[:2])
        return torch.broadcast_shapes(shape, *own)

    inverse_shape = forward_shape


class ExpTransform(OneOfAKind):
    """y = exp x."""

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """x itself."""
        return x


class PowerTransform(_Broadcasting):
    """y = x ** exponent, for positive x."""

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True
    _arguments = ("exponent",)

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @lazy_property
    def sign(self) -> Any:
        """The exponent's."""
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PowerTransform):
            return False
        return self.exponent.eq(other.exponent).all().item()

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |exponent y / x|."""
        return (self.exponent * y / x).abs().log()


def clipped(y: Tensor) -> Tensor:
    """Probabilities between the dtype's tiny and 1 - eps."""
    info = torch.finfo(y.dtype)
    return y.clamp(min=info.tiny, max=1.0 - info.eps)


class SigmoidTransform(OneOfAKind):
    """y = 1 / (1 + exp(-x))."""

    domain = constraints.real
    codomain = constraints.unit_interval
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        return clipped(torch.sigmoid(x))

    def _inverse(self, y: Tensor) -> Tensor:
        y = clipped(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log y + log(1 - y)."""
        return -softplus(-x) - softplus(x)


class SoftplusTransform(OneOfAKind):
    """y = log(1 + exp x)."""

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """-log(1 + exp(-x))."""
        return -softplus(-x)


class TanhTransform(OneOfAKind):
    """y = tanh x."""

    domain = constraints.real
    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = +1

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log(1 - y²), in a form that does not cancel: 2 (log 2 - x - softplus(-2x))."""
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(OneOfAKind):
    """y = |x|. Not bijective: of the two inverses, the positive one is taken."""

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Number) and isinstance(b, Number):
        return a == b
    return (a == b).all().item()


class AffineTransform(_Broadcasting):
    """y = loc + scale · x, with numbers or tensors.

    ``event_dim`` is how many of the last dimensions make up one value: 0 for single numbers.
    """

    bijective = True
    _arguments = ("loc", "scale", "event_dim")

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        """The number of dimensions of one value."""
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        if self.event_dim == 0:
            return constraints.real
        return constraints.independent(constraints.real, self.event_dim)

    codomain = domain

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        return _same(self.loc, other.loc) and _same(self.scale, other.scale)

    @property
    def sign(self) -> Any:
        """The scale's."""
        if isinstance(self.scale, Number):
            return (self.scale > 0) - (self.scale < 0)
        return self.scale.sign()

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |scale|, summed over the dimensions of one value."""
        if isinstance(self.scale, Number):
            result = torch.full_like(x, math.log(abs(self.scale)))
        else:
            result = torch.abs(self.scale).log()
        n = self.event_dim
        if n == 0:
            return result.expand(x.shape)
        return result.view(result.size()[:-n] + (-1,)).sum(-1).expand(x.shape[:-n])


class CumulativeDistributionTransform(Transform):
    """y = F(x), F being the distribution function of ``distribution``."""

    bijective = True
    codomain = constraints.unit_interval
    sign = +1
    _arguments = ("distribution",)

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    domain = property(lambda self: self.distribution.support)

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """The log density at x."""
        return self.distribution.log_prob(x)
