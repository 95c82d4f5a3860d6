"""KL(p‖q) of two distributions of one family: closed forms from the definition."""

from __future__ import annotations

import math
from typing import Any

import torchlike as torch
from torchlike import Tensor
from torchlike.nn.functional import softplus

from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily, normalizer_gradients
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .kl import kl_divergence, register_kl
from .laplace import Laplace
from .lowrank_multivariate_normal import LowRankMultivariateNormal
from .multivariate_normal import MultivariateNormal
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import _sum_rightmost, euler_constant, filled


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Tensor:
    heads = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    heads = filled(filled(heads, q.probs == 0, math.inf), p.probs == 0, 0)
    tails = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    tails = filled(filled(tails, q.probs == 1, math.inf), p.probs == 1, 0)
    return heads + tails


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Tensor:
    return _dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return filled(p.total_count * each, p.total_count > q.total_count, math.inf)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Tensor:
    each = p.probs * (p.logits - q.logits)
    return filled(filled(each, q.probs == 0, math.inf), p.probs == 0, 0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_categorical(p: Any, q: Any) -> Tensor:
    return _categorical(p._categorical, q._categorical)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Tensor:
    of_p = p._cont_bern_log_norm() + torch.log1p(-p.probs)
    of_q = q._cont_bern_log_norm() + torch.log1p(-q.probs)
    return p.mean * (p.logits - q.logits) + of_p - of_q


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    total, other_total = a.sum(-1), b.sum(-1)
    log_beta = total.lgamma() - other_total.lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    expected_log = a.digamma() - total.digamma().unsqueeze(-1)
    return log_beta + ((a - b) * expected_log).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: Any, q: Any) -> Tensor:
    """The Bregman divergence of the log normalizer (Nielsen and Nock 2010)."""
    if type(p) is not type(q):
        gap = " " * 29  # so PyTorch says it
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot"
            f"{gap}be computed using Bregman divergences"
        )
    natural, value, gradients = normalizer_gradients(p)
    result = q._log_normalizer(*q._natural_params) - value
    for own, other, gradient in zip(natural, q._natural_params, gradients, strict=True):
        result = result - _sum_rightmost((other - own) * gradient, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Tensor:
    a, b = p.concentration, q.concentration
    shape = (a - b) * torch.digamma(a) + torch.lgamma(b) - torch.lgamma(a)
    return shape + b * (p.rate / q.rate).log() + (q.rate - p.rate) * (a / p.rate)


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Tensor:
    ratio, off = p.scale / q.scale, (q.loc - p.loc) / q.scale
    tail = torch.exp(off + (1 + ratio).lgamma())
    return -ratio.log() - off + ratio * euler_constant + tail - (1 + euler_constant)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Tensor:
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    off = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + off - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Tensor:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Tensor:
    ratio, off = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + off / q.scale + ratio * torch.exp(-off / p.scale) - 1


def _multivariate(title: str) -> Any:
    gap = " " * 25  # so PyTorch says it

    def divergence(p: Any, q: Any) -> Tensor:
        """½ (log det Σq / det Σp + tr Σq⁻¹ Σp + (μq - μp)ᵀ Σq⁻¹ (μq - μp) - n)."""
        if p.event_shape != q.event_shape:
            raise ValueError(
                f"KL-divergence between two {title}Multivariate Normals with{gap}"
                " different event shapes cannot be computed"
            )
        inner = q._distance(p._columns()) + q._mahalanobis(q.loc - p.loc)
        half_log_ratio = q._half_log_det() - p._half_log_det()
        return half_log_ratio + 0.5 * (inner - p.event_shape[0])

    return divergence


_LOW, _FULL = LowRankMultivariateNormal, MultivariateNormal
register_kl(_FULL, _FULL)(_multivariate(""))
register_kl(_LOW, _LOW)(_multivariate("Low Rank "))
_mixed = _multivariate("(Low Rank) ")
register_kl(_FULL, _LOW)(_mixed)
register_kl(_LOW, _FULL)(_mixed)


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Tensor:
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return filled(result, p.support.lower_bound < q.support.lower_bound, math.inf)


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Tensor:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return filled(result, (q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Tensor:
    """Chyzak and Nielsen, "A closed-form formula for the Kullback-Leibler divergence between
    Cauchy distributions", 2019."""
    above = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return above.log() - (4 * p.scale * q.scale).log()


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    result = kl_divergence(p.base_dist, q.base_dist)
    return _sum_rightmost(result, p.reinterpreted_batch_ndims)
