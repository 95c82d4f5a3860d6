"""The von Mises distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torchlike as torch
from torchlike import Tensor

from . import constraints
from .distribution import SCALAR, Distribution
from .utils import lazy_property

__all__ = ["VonMises"]

# polynomials for I₀ and I₁, below and above 3.75 (Abramowitz and Stegun, Handbook of Mathematical
# Functions, 9.8.1 to 9.8.4)
_SMALL = (
    (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.360768e-1, 0.45813e-2),
    (0.5, 0.87890594, 0.51498869, 0.15084934, 0.2658733e-1, 0.301532e-2, 0.32411e-3),
)
_LARGE = (
    (
        0.39894228, 0.1328592e-1, 0.225319e-2, -0.157565e-2, 0.916281e-2, -0.2057706e-1,
        0.2635537e-1, -0.1647633e-1, 0.392377e-2,
    ),
    (
        0.39894228, -0.3988024e-1, -0.362018e-2, 0.163801e-2, -0.1031555e-1, 0.2282967e-1,
        -0.2895312e-1, 0.1787654e-1, -0.420059e-2,
    ),
)  # fmt: skip


def _polynomial(x: Tensor, coefficients: tuple[float, ...]) -> Tensor:
    result: Any = 0.0
    for c in reversed(coefficients):
        result = c + x * result
    return result


def _log_bessel(x: Tensor, order: int) -> Tensor:
    """log I₀(x) or log I₁(x), for positive x."""
    small = _polynomial((x / 3.75) * (x / 3.75), _SMALL[order])
    if order:
        small = x.abs() * small
    large = x - 0.5 * x.log() + _polynomial(3.75 / x, _LARGE[order]).log()
    return torch.where(x < 3.75, small.log(), large)


class VonMises(Distribution):
    """Angles with the density exp(concentration · cos(x - loc)) / (2π I₀(concentration)).

    ``loc`` is an angle in radians. Draws lie in [-π, π); values may be any angle.
    """

    arg_constraints: ClassVar = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False
    _fields: ClassVar = {"loc": 0, "concentration": 0}

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self._with_parameters(validate_args, loc=loc, concentration=concentration)

    mean = property(lambda self: self.loc)
    mode = property(lambda self: self.loc)

    @lazy_property
    def variance(self) -> Tensor:
        """The circular variance 1 - I₁ / I₀."""
        k = self.concentration
        return 1 - (_log_bessel(k, 1) - _log_bessel(k, 0)).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        """concentration · cos(x - loc) - log(2π I₀(concentration))."""
        self._checked(value)
        log_norm = math.log(2 * math.pi) + _log_bessel(self.concentration, 0)
        return self.concentration * torch.cos(value - self.loc) - log_norm

    @lazy_property
    def _proposal_r(self) -> Tensor:
        """The parameter of the wrapped Cauchy distribution that proposes draws; float64."""
        k = self.concentration.to(torch.double)
        tau = 1 + (1 + 4 * k**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        return torch.where(k < 1e-5, 1 / k + k, (1 + rho**2) / (2 * rho))

    def sample(self, sample_shape: Any = SCALAR) -> Tensor:
        """Rejection from a wrapped Cauchy distribution (Best and Fisher, "Efficient simulation of
        the von Mises distribution", 1979), in float64."""
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            loc, k, r = (
                v.to(torch.double) for v in (self.loc, self.concentration, self._proposal_r)
            )
            angle = torch.zeros(shape, dtype=torch.double, device=loc.device)
            done = torch.zeros(shape, dtype=torch.bool, device=loc.device)
            while not done.all():
                u1, u2, u3 = torch.rand((3, *shape), dtype=r.dtype, device=r.device).unbind()
                z = torch.cos(math.pi * u1)
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                # draws that were accepted already are drawn again: so does PyTorch
                angle = torch.where(accept, (u3 - 0.5).sign() * f.acos(), angle)
                done = done | accept
            return ((angle + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)
