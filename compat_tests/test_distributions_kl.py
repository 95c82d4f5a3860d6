"""KL divergences against PyTorch: every registered pair, its gradients, and the look-up."""

from __future__ import annotations

import importlib
import math
import warnings
from typing import Any

from compat_tests.scenarios import Cases, error
from compat_tests.test_distributions import FAMILIES, Parameters

CASES = Cases("distributions_kl")

# a second distribution of each family, whose batch broadcasts with that of `FAMILIES`
OTHERS: dict[str, Any] = {
    "Bernoulli": lambda D, t: D.Bernoulli(t([0.3, 0.0, 1.0])),
    "Beta": lambda D, t: D.Beta(t(1.5), t(2.5)),
    "Binomial": lambda D, t: D.Binomial(9, t([0.3, 0.4, 0.8])),
    "Categorical": lambda D, t: D.Categorical(t([0.4, 0.0, 0.6])),
    "Cauchy": lambda D, t: D.Cauchy(t(1.0), t(3.0)),
    "ContinuousBernoulli": lambda D, t: D.ContinuousBernoulli(t(0.3)),
    "Dirichlet": lambda D, t: D.Dirichlet(t([2.0, 0.7, 1.0])),
    "Exponential": lambda D, t: D.Exponential(t(0.7)),
    "Gamma": lambda D, t: D.Gamma(t(2.5), t(0.7)),
    "Geometric": lambda D, t: D.Geometric(t(0.3)),
    "Gumbel": lambda D, t: D.Gumbel(t(0.4), t(1.7)),
    "HalfNormal": lambda D, t: D.HalfNormal(t(1.7)),
    "Laplace": lambda D, t: D.Laplace(t(0.4), t(1.7)),
    "LowRankMultivariateNormal": lambda D, t: D.LowRankMultivariateNormal(
        t([[0.3, 1.0, 2.0]] * 2), t([[0.7, 0.1], [0.2, 0.5], [-0.3, 0.2]]), t([0.7, 1.2, 2.0])
    ),
    "MultivariateNormal": lambda D, t: D.MultivariateNormal(
        t([0.1, 0.2]), t([[1.0, 0.3], [0.3, 3.0]])
    ),
    "Normal": lambda D, t: D.Normal(t(0.4), t(1.7)),
    "OneHotCategorical": lambda D, t: D.OneHotCategorical(t([0.4, 0.25, 0.35])),
    "Pareto": lambda D, t: D.Pareto(t(0.4), t(2.5)),
    "Poisson": lambda D, t: D.Poisson(t(4.0)),
    "Uniform": lambda D, t: D.Uniform(t(-1.5), t(3.0)),
}
UNIT = {  # inside (0, 1), where more divergences are finite
    "Uniform": lambda D, t: D.Uniform(t([0.1, 0.5]), t([0.6, 0.75])),
    "Pareto": lambda D, t: D.Pareto(t(0.05), t(2.5)),
}


def registered(torch: Any) -> list[tuple[str, str]]:
    """The pairs of names that have a function."""
    kl = importlib.import_module(torch.__name__ + ".distributions.kl")
    return sorted((p.__name__, q.__name__) for p, q in kl._KL_REGISTRY)


@CASES.add
def the_table(torch: Any) -> Any:
    return registered(torch)


def _divergence(torch: Any, make_p: Any, make_q: Any) -> Any:
    t = Parameters(torch, "float64")
    D = torch.distributions
    p, q = make_p(D, t), make_q(D, t)
    kl = D.kl_divergence(p, q)
    found = [kl, list(kl.shape)]
    if kl.requires_grad and torch.isfinite(kl).all():
        found.append(t.gradients(kl))
    return found


def _enter_pairs(p: str, q: str) -> None:
    def scenario(torch: Any) -> Any:
        found = [_divergence(torch, FAMILIES[p], OTHERS[q])]
        if p in UNIT:
            found.append(_divergence(torch, UNIT[p], UNIT.get(q, OTHERS[q])))
        if p != q and p in OTHERS:
            found.append(_divergence(torch, OTHERS[p], FAMILIES[q]))
        return found

    scenario.__name__ = f"{p}_{q}"
    CASES.add(scenario)


# beside them there are pairs of base classes, tested below, and pairs of two sizes of vectors
_SKIPPED = {"ExponentialFamily", "Independent", "TransformedDistribution"}
for _p, _q in registered(importlib.import_module("torchlike")):
    if {_p, _q} & _SKIPPED or len({_p, _q} & {"LowRankMultivariateNormal"}) != len({_p, _q}) == 1:
        continue
    if {_p, _q} != {"LowRankMultivariateNormal", "MultivariateNormal"}:
        _enter_pairs(_p, _q)


@CASES.add
def low_rank_and_full(torch: Any) -> Any:
    D = torch.distributions

    def full(D: Any, t: Any) -> Any:
        eye = torch.eye(3, dtype=torch.float64)
        return D.MultivariateNormal(t([0.1, 0.2, 0.3]), t(0.3) + eye * t([1.0, 2.0, 3.0]))

    def narrow(D: Any, t: Any) -> Any:
        return D.MultivariateNormal(t([0.1, 0.2]), t([[1.0, 0.3], [0.3, 3.0]]))

    low, other = FAMILIES["LowRankMultivariateNormal"], OTHERS["LowRankMultivariateNormal"]
    return [
        _divergence(torch, low, full),
        _divergence(torch, full, low),
        _divergence(torch, full, other),
        _divergence(torch, low, other),
        _divergence(torch, full, full),
        [error(lambda p=p, q=q: _divergence(torch, p, q))
         for p in (low, full, narrow) for q in (low, full, narrow)],
        list(D.kl_divergence(full(D, torch.tensor), full(D, torch.tensor)).shape),
    ]  # fmt: skip


@CASES.add
def of_wrapped_distributions(torch: Any) -> Any:
    D = torch.distributions

    def wrapped(loc: float, scale: float, dims: int = 1) -> Any:
        loc, scale = torch.full((2, 3), loc), torch.full((2, 3), scale)
        return D.Independent(D.Normal(loc, scale), dims)

    p, q = D.LogNormal(0.0, 1.0), D.LogNormal(1.0, 2.0)
    return [
        D.kl_divergence(wrapped(0.0, 1.0), wrapped(1.0, 2.0)),
        D.kl_divergence(wrapped(0.0, 1.0, 2), wrapped(1.0, 2.0, 2)),
        error(lambda: D.kl_divergence(wrapped(0.0, 1.0, 2), wrapped(1.0, 2.0, 1))),
        D.kl_divergence(p, q),
        error(lambda: D.kl_divergence(p, D.HalfNormal(1.0))),
        D.kl_divergence(D.Chi2(torch.tensor(3.0)), D.Gamma(1.0, 2.0)),
    ]


@CASES.add
def of_exponential_families(torch: Any) -> Any:
    """By the log normalizer alone, and what is refused."""
    D = torch.distributions
    kl = importlib.import_module(torch.__name__ + ".distributions.kl")
    generic = kl._KL_REGISTRY[D.ExponentialFamily, D.ExponentialFamily]
    found = []
    for family in ("Normal", "Gamma", "Beta", "Bernoulli", "Exponential", "Dirichlet", "Poisson"):
        t = Parameters(torch, "float64")
        p = FAMILIES[family](D, t)
        other = {"Bernoulli": FAMILIES[family]}.get(family, OTHERS[family])
        value = generic(p, other(D, t))
        entropy = error(lambda p=p: D.ExponentialFamily.entropy(p))
        if entropy == "no error":
            entropy = D.ExponentialFamily.entropy(p)
        found.append([family, value, entropy])
    return [found, error(lambda: D.kl_divergence(D.Normal(0.0, 1.0), D.Poisson(1.0)))]


@CASES.add
def looking_up(torch: Any) -> Any:
    D = torch.distributions

    class A(D.Normal):
        pass

    class B(D.Normal):
        pass

    p, q = A(0.0, 1.0), B(1.0, 2.0)
    found = [D.kl_divergence(p, q)]
    D.register_kl(A, D.Normal)(lambda p, q: "first")
    found.append(D.kl_divergence(p, q))
    D.register_kl(D.Normal, B)(lambda p, q: "second")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found.append(D.kl_divergence(p, q))
    found.append([[w.category.__name__, str(w.message)] for w in caught])
    found.append(error(lambda: D.kl_divergence(D.VonMises(0.0, 1.0), p)))
    found.append(error(lambda: D.register_kl(int, D.Normal)))
    return found


test_scenario = CASES.test()


def test_a_divergence_is_the_expected_log_ratio() -> None:
    """Against a numerical integral, without any library's formula."""
    import torchlike as torch

    D = torch.distributions
    x = torch.linspace(-12.0, 12.0, 20001, dtype=torch.float64)
    p = D.Normal(torch.tensor(0.3, dtype=torch.float64), 0.8)
    for q in (D.Laplace(-0.2, 1.5), D.Gumbel(0.5, 1.2), D.Normal(1.0, 2.0)):
        density = p.log_prob(x).exp()
        integral = torch.trapezoid(density * (p.log_prob(x) - q.log_prob(x)), x)
        assert math.isclose(integral.item(), D.kl_divergence(p, q).item(), rel_tol=1e-6)
