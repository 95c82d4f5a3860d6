"""KL(p‖q) of distributions of two families, as cross entropy less entropy.

-E_p[log q(x)] needs no more of p than a few expectations, so there is one formula for each q, and
the expectations that p's class does not have as methods are below. Where q has no density on all of
p's support, the divergence is infinite.
"""

from __future__ import annotations

import math
from typing import Any

import torchlike as torch
from torchlike import Tensor

from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .continuous_bernoulli import ContinuousBernoulli
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .kl import register_kl
from .laplace import Laplace
from .normal import HALF_LOG_TAU, Normal
from .pareto import Pareto
from .poisson import Poisson
from .uniform import Uniform
from .utils import euler_constant, filled

# p, the parameter that has the result's shape, and the q that do not cover p's support
_INFINITE = [
    (Beta, "concentration1", (Pareto,)),
    (ContinuousBernoulli, "probs", (Pareto,)),
    (Exponential, "rate", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gamma, "concentration", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gumbel, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Laplace, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Normal, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Pareto, "scale", (Beta, ContinuousBernoulli, Uniform)),
    (Poisson, "rate", (Bernoulli, Binomial)),
]


def _infinite(parameter: str) -> Any:
    return lambda p, q: torch.full_like(getattr(p, parameter), math.inf)


for _p, _parameter, _others in _INFINITE:
    for _q in _others:
        register_kl(_p, _q)(_infinite(_parameter))


def _registered(*families: type, q: type) -> Any:
    """Register one function for several p and one q."""

    def register(function: Any) -> Any:
        for family in families:
            register_kl(family, q)(function)
        return function

    return register


# --- expectations ---------------------------------------------------------------------------------


def _x_log_x(x: Tensor) -> Tensor:
    return torch.special.xlogy(x, x)


def _mean_log(p: Any) -> Tensor:
    """E[log x]."""
    if isinstance(p, Beta):
        return p.concentration1.digamma() - (p.concentration1 + p.concentration0).digamma()
    if isinstance(p, Exponential):
        return -euler_constant - p.rate.log()
    if isinstance(p, Pareto):
        return p.scale.log() + p.alpha.reciprocal()
    width = p.high - p.low  # Uniform
    return (_x_log_x(p.high) - _x_log_x(p.low) - width) / width


def _mean_log_rest(p: Uniform) -> Tensor:
    """E[log(1 - x)]."""
    width = p.high - p.low
    return -(_x_log_x(1 - p.high) - _x_log_x(1 - p.low) + width) / width


def _mean_exp(p: Any, scale: Tensor) -> Tensor:
    """E[exp(-x / scale)]."""
    if isinstance(p, Exponential):
        return p.rate * scale / (p.rate * scale + 1)
    if isinstance(p, Gamma):
        return (1 + (p.rate * scale).reciprocal()).pow(-p.concentration)
    if isinstance(p, Normal):
        return torch.exp(-p.loc / scale + 0.5 * (p.scale / scale).pow(2))
    ends = torch.exp(-p.low / scale) - torch.exp(-p.high / scale)  # Uniform
    return scale / (p.high - p.low) * ends


# --- one formula for each q -----------------------------------------------------------------------


def _support_from(p: Any, result: Tensor) -> Tensor:
    """Infinite where numbers of a uniform p may be negative, or where p has no mean."""
    if isinstance(p, Uniform):
        return filled(result, p.low < 0, math.inf)
    return filled(result, p.alpha <= 1, math.inf) if isinstance(p, Pareto) else result


@_registered(Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Uniform, q=Normal)
def _to_normal(p: Any, q: Any) -> Tensor:
    square = (p.variance + (p.mean - q.loc).pow(2)) / q.scale.pow(2)
    return HALF_LOG_TAU + q.scale.log() + 0.5 * square - p.entropy()


@register_kl(Pareto, Normal)
def _pareto_normal(p: Any, q: Any) -> Tensor:
    return filled(_to_normal(p, q), p.alpha <= 2, math.inf)


@_registered(Beta, ContinuousBernoulli, Gamma, Pareto, Uniform, q=Exponential)
def _to_exponential(p: Any, q: Any) -> Tensor:
    return _support_from(p, q.rate * p.mean - q.rate.log() - p.entropy())


@_registered(Beta, Exponential, Pareto, Uniform, q=Gamma)
def _to_gamma(p: Any, q: Any) -> Tensor:
    log_norm = q.concentration.lgamma() - q.concentration * q.rate.log()
    cross = log_norm - (q.concentration - 1) * _mean_log(p) + q.rate * p.mean
    return _support_from(p, cross - p.entropy())


@_registered(Exponential, Gamma, Normal, Uniform, q=Gumbel)
def _to_gumbel(p: Any, q: Any) -> Tensor:
    tail = torch.exp(q.loc / q.scale) * _mean_exp(p, q.scale)
    return q.scale.log() + (p.mean - q.loc) / q.scale + tail - p.entropy()


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Tensor:
    """The mean distance |x - loc| is that of a folded normal number."""
    off = p.loc - q.loc
    z = off / p.scale
    distance = math.sqrt(2 / math.pi) * p.scale * torch.exp(-0.5 * z.pow(2))
    distance = distance + off * torch.erf(math.sqrt(0.5) * z)
    return (2 * q.scale).log() + distance / q.scale - p.entropy()


def _to_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    cross = -p.mean * q.logits - torch.log1p(-q.probs) - q._cont_bern_log_norm()
    return cross - p.entropy()


register_kl(Beta, ContinuousBernoulli)(_to_continuous_bernoulli)


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p: Any, q: Any) -> Tensor:
    """Infinite, as in PyTorch, already where p touches an end of [0, 1]."""
    outside = (p.high >= 1.0) | (p.low <= 0.0)
    result = _to_continuous_bernoulli(p, q)
    return torch.where(outside, torch.full_like(result, math.inf), result)


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p: Any, q: Any) -> Tensor:
    """Infinite, as in PyTorch, already where q's bounds touch an end of [0, 1] from inside."""
    result = (q.high - q.low).log() - p.entropy()
    narrow = (q.low >= 0.0) | (q.high <= 1.0)
    return torch.where(narrow, torch.full_like(result, math.inf), result)


@register_kl(Beta, Uniform)
def _beta_uniform(p: Any, q: Any) -> Tensor:
    result = (q.high - q.low).log() - p.entropy()
    return filled(result, (q.low > 0) | (q.high < 1), math.inf)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Tensor:
    return q.rate - p.probs * q.rate.log() - p.entropy()


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Tensor:
    a, b = q.concentration1, q.concentration0
    log_beta = a.lgamma() + b.lgamma() - (a + b).lgamma()
    cross = log_beta - (a - 1) * _mean_log(p) - (b - 1) * _mean_log_rest(p)
    return filled(cross - p.entropy(), (p.high > 1) | (p.low < 0), math.inf)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Any, q: Any) -> Tensor:
    log_norm = (q.alpha * q.scale.pow(q.alpha)).log()
    cross = (q.alpha + 1) * _mean_log(p) - log_norm
    return filled(cross - p.entropy(), p.low < q.support.lower_bound, math.inf)
