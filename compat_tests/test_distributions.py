"""Every distribution against PyTorch: draws, densities, gradients, moments, batches, texts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("distributions")

# name: how to make one of ``D`` (the module) with parameters that ``t`` makes into tensors
FAMILIES: dict[str, Callable[[Any, Any], Any]] = {
    "Normal": lambda D, t: D.Normal(t([0.3, -1.0]), t([[0.5], [2.0]])),
    "Categorical": lambda D, t: D.Categorical(t([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])),
    "Categorical_logits": lambda D, t: D.Categorical(logits=t([0.2, -0.5, 1.3, 0.0])),
    "Bernoulli": lambda D, t: D.Bernoulli(t([0.2, 0.5, 0.9])),
    "Bernoulli_logits": lambda D, t: D.Bernoulli(logits=t([-1.5, 0.5, 3.0])),
    "Uniform": lambda D, t: D.Uniform(t([-1.0, 0.5]), t([2.0, 0.75])),
    "Multinomial": lambda D, t: D.Multinomial(7, t([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])),
    "Multinomial_logits": lambda D, t: D.Multinomial(4, logits=t([0.2, -0.5, 1.3])),
    "Binomial": lambda D, t: D.Binomial(9, t([0.2, 0.5, 0.9])),
    "Binomial_logits": lambda D, t: D.Binomial(300, logits=t([[-1.5], [0.5], [0.0]])),
    "Poisson": lambda D, t: D.Poisson(t([0.5, 3.0, 40.0])),
    "Beta": lambda D, t: D.Beta(t([0.5, 2.0, 9.0]), t([1.5, 0.7, 8.0])),
    "Gamma": lambda D, t: D.Gamma(t([0.3, 2.0, 20.0]), t([1.0, 0.5, 3.0])),
    "Dirichlet": lambda D, t: D.Dirichlet(t([[0.5, 2.0, 9.0], [7.0, 8.0, 30.0]])),
    "Dirichlet_small": lambda D, t: D.Dirichlet(t([0.5, 0.2])),
    "Exponential": lambda D, t: D.Exponential(t([0.5, 4.0])),
    "Laplace": lambda D, t: D.Laplace(t([0.3, -1.0]), t([0.5, 2.0])),
    "LogNormal": lambda D, t: D.LogNormal(t([0.3, -1.0]), t([0.5, 0.2])),
    "MultivariateNormal": lambda D, t: D.MultivariateNormal(
        t([0.3, -1.0]), t([[2.0, 0.4], [0.4, 1.0]])
    ),
    "MultivariateNormal_precision": lambda D, t: D.MultivariateNormal(
        t([[0.3, -1.0], [2.0, 1.0]]), precision_matrix=t([[2.0, 0.4], [0.4, 1.0]])
    ),
    "MultivariateNormal_tril": lambda D, t: D.MultivariateNormal(
        t([0.3, -1.0]), scale_tril=t([[[2.0, 0.0], [0.4, 1.0]], [[1.0, 0.0], [-0.4, 0.5]]])
    ),
    "Independent": lambda D, t: D.Independent(D.Normal(t([[0.3, -1.0]]), t([[0.5], [2.0]])), 1),
    "TransformedDistribution": lambda D, t: D.TransformedDistribution(
        D.Uniform(t([0.1, 0.2]), t([0.8, 0.9])),
        [D.SigmoidTransform().inv, D.AffineTransform(t([1.0, -2.0]), t([3.0, -0.5]))],
    ),
    "MixtureSameFamily": lambda D, t: D.MixtureSameFamily(
        D.Categorical(t([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])),
        D.Normal(t([[0.3, -1.0, 5.0]] * 2), t([[0.5, 2.0, 1.0]] * 2)),
    ),
    "MixtureSameFamily_vectors": lambda D, t: D.MixtureSameFamily(
        D.Categorical(t([0.2, 0.8])),
        D.Independent(D.Normal(t([[0.3, -1.0, 5.0]] * 2), t([[0.5, 2.0, 1.0]] * 2)), 1),
    ),
    "OneHotCategorical": lambda D, t: D.OneHotCategorical(t([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])),
    "OneHotCategoricalStraightThrough": lambda D, t: D.OneHotCategoricalStraightThrough(
        logits=t([0.2, -0.5, 1.3, 0.0])
    ),
    "Geometric": lambda D, t: D.Geometric(t([0.2, 0.5, 0.9])),
    "Geometric_logits": lambda D, t: D.Geometric(logits=t([-1.5, 0.5, 3.0])),
    "Gumbel": lambda D, t: D.Gumbel(t([0.3, -1.0]), t([0.5, 2.0])),
    "Cauchy": lambda D, t: D.Cauchy(t([0.3, -1.0]), t([0.5, 2.0])),
    "HalfNormal": lambda D, t: D.HalfNormal(t([0.5, 2.0])),
    "HalfCauchy": lambda D, t: D.HalfCauchy(t([0.5, 2.0])),
    "StudentT": lambda D, t: D.StudentT(t([0.7, 1.5, 5.0]), t([0.3, 0.0, 1.0]), t(2.0)),
    "Chi2": lambda D, t: D.Chi2(t([0.7, 5.0])),
    "FisherSnedecor": lambda D, t: D.FisherSnedecor(t([0.7, 3.0, 5.0]), t([1.5, 3.0, 9.0])),
    "NegativeBinomial": lambda D, t: D.NegativeBinomial(t([3.0, 7.5]), t([0.2, 0.7])),
    "NegativeBinomial_logits": lambda D, t: D.NegativeBinomial(5, logits=t([-1.0, 0.7])),
    "Pareto": lambda D, t: D.Pareto(t([0.5, 2.0]), t([0.9, 3.5])),
    "Weibull": lambda D, t: D.Weibull(t([0.5, 2.0]), t([0.9, 3.5])),
    "Kumaraswamy": lambda D, t: D.Kumaraswamy(t([0.5, 2.0]), t([1.9, 3.5])),
    "LogisticNormal": lambda D, t: D.LogisticNormal(t([[0.3, -1.0]] * 2), t([[0.5], [2.0]])),
    "LowRankMultivariateNormal": lambda D, t: D.LowRankMultivariateNormal(
        t([0.3, -1.0, 2.0]), t([[1.0], [0.5], [-0.3]]), t([0.5, 1.0, 2.0])
    ),
    "LowRankMultivariateNormal_batch": lambda D, t: D.LowRankMultivariateNormal(
        t([[0.3, -1.0, 2.0]] * 2), t([[1.0, 0.2], [0.5, 2.0], [-0.3, 0.1]]), t([0.5, 1.0, 2.0])
    ),
    "RelaxedBernoulli": lambda D, t: D.RelaxedBernoulli(t(0.7), t([0.2, 0.5, 0.9])),
    "LogitRelaxedBernoulli": lambda D, t: D.relaxed_bernoulli.LogitRelaxedBernoulli(
        t(0.7), logits=t([-1.5, 0.5, 3.0])
    ),
    "RelaxedOneHotCategorical": lambda D, t: D.RelaxedOneHotCategorical(
        t(0.7), t([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]])
    ),
    "ExpRelaxedCategorical": lambda D, t: D.relaxed_categorical.ExpRelaxedCategorical(
        t(2.0), logits=t([0.2, -0.5, 1.3, 0.0])
    ),
    "VonMises": lambda D, t: D.VonMises(t([0.3, -1.0, 2.0]), t([0.5, 2.0, 9.0])),
    "ContinuousBernoulli": lambda D, t: D.ContinuousBernoulli(t([0.2, 0.5, 0.9])),
    "ContinuousBernoulli_logits": lambda D, t: D.ContinuousBernoulli(logits=t([-1.5, 0.001, 3.0])),
    "InverseGamma": lambda D, t: D.InverseGamma(t([0.9, 2.5, 20.0]), t([1.0, 0.5, 3.0])),
    "LKJCholesky": lambda D, t: D.LKJCholesky(3, t([0.5, 2.0])),
    "Wishart": lambda D, t: D.Wishart(t(5.0), t([[2.0, 0.4], [0.4, 1.0]])),
    "Wishart_tril": lambda D, t: D.Wishart(
        t([4.0, 6.5]), scale_tril=t([[2.0, 0.0, 0.0], [0.4, 1.0, 0.0], [0.1, 0.2, 0.7]])
    ),
    "GeneralizedPareto": lambda D, t: D.GeneralizedPareto(
        t([0.5, 2.0, 0.0]), t([0.9, 3.5, 1.0]), t([-0.3, 0.0, 0.2])
    ),
}
# whose draws need no more than PyTorch's generator and exact arithmetic
EXACT = """
    Normal Categorical Categorical_logits Bernoulli Bernoulli_logits Uniform Multinomial Binomial
    Binomial_logits Poisson Beta Gamma Dirichlet Dirichlet_small Exponential Chi2 Cauchy HalfNormal
    HalfCauchy Geometric NegativeBinomial OneHotCategorical OneHotCategoricalStraightThrough
    FisherSnedecor Independent MixtureSameFamily MixtureSameFamily_vectors
""".split()


class Parameters:
    """Makes leaves of a dtype and remembers them."""

    def __init__(self, torch: Any, dtype: str) -> None:
        self.torch, self.dtype = torch, getattr(torch, dtype)
        self.leaves: list[Any] = []

    def __call__(self, values: Any) -> Any:
        leaf = self.torch.tensor(values, dtype=self.dtype, requires_grad=True)
        self.leaves.append(leaf)
        return leaf

    def gradients(self, value: Any) -> list[Any]:
        """Of a weighted sum of ``value`` by every leaf."""
        if not value.requires_grad:
            return ["no gradient"]
        weights = self.torch.linspace(0.5, 1.5, max(value.numel(), 1), dtype=value.dtype)
        total = (value * weights.reshape(value.shape)).sum()
        found = self.torch.autograd.grad(total, self.leaves, retain_graph=True, allow_unused=True)
        return list(found)


def make(torch: Any, family: str, dtype: str = "float64") -> tuple[Any, Parameters]:
    """A distribution of a family, and its parameters."""
    parameters = Parameters(torch, dtype)
    return FAMILIES[family](torch.distributions, parameters), parameters


def attempt(call: Callable[[], Any]) -> Any:
    """What a call returns, or what it raises without PyTorch's names of classes."""
    found: list[Any] = []
    text = error(lambda: found.append(call()))
    return found[0] if found else text.split("<class")[0]


def bits(value: Any) -> Any:
    """Every bit of the numbers of a tensor."""
    return [str(value.dtype), list(value.shape), [float(v).hex() for v in value.reshape(-1)]]


def draws(torch: Any, family: str) -> list[Any]:
    """Samples after a seed in two dtypes, and where the generator then is."""
    found = []
    for dtype in ("float32", "float64"):
        d, _ = make(torch, family, dtype)
        torch.manual_seed(1234)
        samples = [
            d.sample(),
            d.sample((3,)),
            d.sample((2, 8)),
            d.expand((2, *d.batch_shape)).sample(),
        ]
        if d.has_rsample:
            samples.append(d.rsample((2,)).detach())
        if family in EXACT:
            found.append([bits(s) for s in samples])
        else:  # in float32, differences of what is nearly equal say nothing
            found.append(samples if dtype == "float64" else [str(s.dtype) for s in samples])
        found.append(bits(torch.rand(2)))
    return found


def densities(torch: Any, family: str) -> list[Any]:
    """Log densities, distribution functions and quantiles, and the gradients of the first."""
    # PyTorch's GeneralizedPareto compares with a number of the default dtype
    d, parameters = make(torch, family, "float32" if family == "GeneralizedPareto" else "float64")
    torch.manual_seed(7)
    value = d.sample((4,))
    log_prob = d.log_prob(value)
    levels = torch.tensor([[0.1], [0.5], [0.93]], dtype=value.dtype)
    return [
        log_prob,
        str(log_prob.dtype),
        parameters.gradients(log_prob),
        attempt(lambda: d.cdf(value)),
        attempt(lambda: d.icdf(levels)),
        attempt(lambda: d.log_prob(value.detach().float()).dtype),
    ]


def draws_gradients(torch: Any, family: str) -> list[Any]:
    """Gradients through samples."""
    d, parameters = make(torch, family)
    torch.manual_seed(21)
    if not d.has_rsample:
        return [attempt(lambda: d.rsample())]
    if family.startswith("Wishart"):  # PyTorch's rsample writes to a mask that its tape has kept
        return [parameters.gradients(d._bartlett_sampling((5,)))]
    return [parameters.gradients(d.rsample((5,))), d.rsample().requires_grad]


def summary(torch: Any, family: str) -> list[Any]:
    """Moments, entropy with its gradients, and what the distribution says about itself."""
    d, parameters = make(torch, family)
    names = "mean mode variance stddev".split()
    entropy = attempt(d.entropy)
    return [
        [attempt(lambda name=name: getattr(d, name)) for name in names],
        entropy,
        attempt(d.perplexity),
        "none" if isinstance(entropy, str) else parameters.gradients(entropy),
        [list(d.batch_shape), list(d.event_shape), d.has_rsample, d.has_enumerate_support],
        attempt(d.enumerate_support),
        attempt(lambda: d.enumerate_support(expand=False)),
        [
            attempt(lambda: repr(d.support)),
            d.support.event_dim,
            attempt(lambda: d.support.is_discrete),
        ],
        [[k, type(c).__name__] for k, c in d.arg_constraints.items()],
        [(k, getattr(d, k)) for k in ("probs", "logits") if hasattr(d, k)],
    ]


def batches(torch: Any, family: str) -> list[Any]:
    """Texts, and a larger batch of the same."""
    d, _ = make(torch, family, "float32" if family == "GeneralizedPareto" else "float64")
    shape = (3, *d.batch_shape)
    e = d.expand(shape)
    torch.manual_seed(3)
    value = d.sample()
    return [
        repr(d).replace(", requires_grad=True", ""),
        repr(e),
        [list(e.batch_shape), list(e.event_shape)],
        e.log_prob(value),
        attempt(lambda: e.mean),
        # PyTorch's Multinomial loses an attribute here
        family.startswith("Multinomial") or attempt(lambda: e.expand((2, *shape)).entropy()),
        attempt(lambda: d.log_prob(torch.full((7, 5), math.nan))),
        attempt(lambda: d.log_prob(0.5)),
    ]


def _enter(aspect: Callable[[Any, str], Any], family: str) -> None:
    def scenario(torch: Any) -> Any:
        return aspect(torch, family)

    scenario.__name__ = f"{family}_{aspect.__name__}"
    CASES.add(scenario)


for _family in FAMILIES:
    for _aspect in (draws, densities, draws_gradients, summary, batches):
        _enter(_aspect, _family)

test_scenario = CASES.test()


def test_every_distribution_is_here() -> None:
    from torchlike import distributions

    kinds = {
        name
        for name in distributions.__all__
        if isinstance(getattr(distributions, name), type)
        and issubclass(getattr(distributions, name), distributions.Distribution)
    }
    assert kinds - {f.partition("_")[0] for f in FAMILIES} == {"Distribution", "ExponentialFamily"}
