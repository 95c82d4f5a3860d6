"""What distributions refuse and in which words, subclasses, and values known from elsewhere."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
import warnings
from typing import Any

import pytest

from compat_tests.scenarios import Cases, error
from compat_tests.test_distributions import FAMILIES

CASES = Cases("distributions_checks")

# name: parameters that are not allowed
WRONG: dict[str, list[tuple[Any, ...]]] = {
    "Normal": [(0.0, -1.0), (math.nan, 1.0), ("a", 1.0), ([0.0], 1.0)],
    "Uniform": [(1.0, 0.0)],
    "Poisson": [(-1.0,)],
    "Beta": [(0.0, 1.0), (1.0, -1.0)],
    "Gamma": [(0.0, 1.0), (1.0, -1.0)],
    "Exponential": [(0.0,)],
    "Laplace": [(0.0, 0.0)],
    "LogNormal": [(0.0, 0.0)],
    "Cauchy": [(0.0, -1.0)],
    "HalfNormal": [(-1.0,)],
    "HalfCauchy": [(-1.0,)],
    "StudentT": [(-1.0,), (1.0, 0.0, -1.0)],
    "Chi2": [(-1.0,)],
    "FisherSnedecor": [(-1.0, 1.0)],
    "Gumbel": [(0.0, -1.0)],
    "Pareto": [(1.0, -1.0), (-1.0, 1.0)],
    "Weibull": [(1.0, -1.0), (-1.0, 1.0)],
    "Kumaraswamy": [(1.0, -1.0)],
    "VonMises": [(1.0, -1.0)],
    "InverseGamma": [(1.0, -1.0)],
    "LKJCholesky": [(1,), (3, -1.0)],
    "GeneralizedPareto": [(0.0, -1.0, 0.1)],
    "Bernoulli": [(), (1.5,), (0.5, 0.5)],
    "Geometric": [(), (0.0,), (1.5,)],
    "ContinuousBernoulli": [(), (1.5,)],
    "Binomial": [(), (-1, 0.5), (2.5, 0.5), (2, 1.5)],
    "NegativeBinomial": [(3,), (-1, 0.5), (3, 1.0)],
}


@CASES.add
def wrong_parameters(torch: Any) -> Any:
    D = torch.distributions
    found = []
    for name, tries in WRONG.items():
        for args in tries:
            found.append([name, error(lambda name=name, args=args: getattr(D, name)(*args))])
    return found


@CASES.add
def wrong_tensors(torch: Any) -> Any:
    D, t = torch.distributions, torch.tensor
    eye, vector = torch.eye(2), torch.zeros(2)
    calls = [
        lambda: D.Categorical(),
        lambda: D.Categorical(t([0.5, 0.5]), t([0.5, 0.5])),
        lambda: D.Categorical(t(0.5)),
        lambda: D.Categorical(logits=t(0.5)),
        lambda: D.Categorical(t([-0.5, 1.5])),
        lambda: D.Categorical(logits=t([math.nan, 1.5])),
        lambda: D.OneHotCategorical(t([-0.5, 1.5])),
        lambda: D.Multinomial(t(3), t([0.5, 0.5])),
        lambda: D.Multinomial(-3, t([0.5, 0.5])),
        lambda: D.Dirichlet(t(0.5)),
        lambda: D.Dirichlet(t([0.5, -1.0])),
        lambda: D.MultivariateNormal(t(0.5), eye),
        lambda: D.MultivariateNormal(vector),
        lambda: D.MultivariateNormal(vector, eye, eye),
        lambda: D.MultivariateNormal(vector, vector),
        lambda: D.MultivariateNormal(vector, precision_matrix=vector),
        lambda: D.MultivariateNormal(vector, scale_tril=vector),
        lambda: D.MultivariateNormal(vector, -eye),
        lambda: D.MultivariateNormal(vector, scale_tril=torch.ones(2, 2)),
        lambda: D.LowRankMultivariateNormal(t(0.5), eye, vector + 1),
        lambda: D.LowRankMultivariateNormal(vector, vector, vector + 1),
        lambda: D.LowRankMultivariateNormal(vector, torch.eye(3), vector + 1),
        lambda: D.LowRankMultivariateNormal(vector, eye, torch.ones(3)),
        lambda: D.LowRankMultivariateNormal(torch.zeros(3, 2), eye.repeat(4, 1, 1), vector + 1),
        lambda: D.Wishart(5.0),
        lambda: D.Wishart(5.0, vector),
        lambda: D.Wishart(0.5, eye),
        lambda: D.Independent(D.Normal(vector, 1.0), 2),
        lambda: D.MixtureSameFamily(D.Normal(vector, 1.0), D.Normal(vector, 1.0)),
        lambda: D.MixtureSameFamily(D.Categorical(t([0.5, 0.5])), 3),
        lambda: D.MixtureSameFamily(D.Categorical(t([0.5, 0.5])), D.Normal(torch.zeros(3), 1.0)),
        lambda: D.MixtureSameFamily(
            D.Categorical(torch.ones(3, 2)), D.Normal(torch.zeros(4, 2), 1.0)
        ),
        lambda: D.Binomial(t([2.0, 3.0]), t(0.5)).enumerate_support(),
        lambda: D.Binomial(t([2.0, 3.0]), t(0.5)).entropy(),
        lambda: D.Independent(D.Bernoulli(vector), 1).enumerate_support(),
        lambda: D.Normal(torch.zeros(2), torch.ones(3)),
    ]
    return [error(call) for call in calls]


@CASES.add
def wrong_values(torch: Any) -> Any:
    D, t = torch.distributions, torch.tensor
    calls = [
        lambda: D.Normal(0.0, 1.0).log_prob(1.0),
        lambda: D.Normal(0.0, 1.0).log_prob(t(math.nan)),
        lambda: D.Normal(torch.zeros(2), 1.0).log_prob(torch.zeros(3)),
        lambda: D.Normal(0.0, 1.0).cdf(t(math.nan)),
        lambda: D.Bernoulli(0.5).log_prob(t(0.5)),
        lambda: D.Categorical(t([0.5, 0.5])).log_prob(t(2)),
        lambda: D.Categorical(t([0.5, 0.5])).log_prob(t(0.5)),
        lambda: D.Beta(1.0, 2.0).log_prob(t(1.5)),
        lambda: D.Poisson(1.0).log_prob(t(1.5)),
        lambda: D.Poisson(1.0).log_prob(t(-1.0)),
        lambda: D.Uniform(0.0, 1.0).log_prob(t(1.5)),
        lambda: D.Uniform(0.0, 1.0, validate_args=False).log_prob(t([-0.5, 0.0, 0.5, 1.0, 1.5])),
        lambda: D.Binomial(3, t(0.5)).log_prob(t(4.0)),
        lambda: D.Multinomial(3, t([0.5, 0.5])).log_prob(t([3.0, 1.0])),
        lambda: D.OneHotCategorical(t([0.5, 0.5])).log_prob(t([1.0, 1.0])),
        lambda: D.Dirichlet(t([0.5, 0.5])).log_prob(t([1.0, 1.0])),
        lambda: D.Dirichlet(t([0.5, 0.5])).log_prob(t([1.0])),
        lambda: D.MultivariateNormal(torch.zeros(2), torch.eye(2)).log_prob(torch.zeros(3)),
        lambda: D.HalfNormal(1.0).log_prob(t(-1.0)),
        lambda: D.LogNormal(0.0, 1.0).log_prob(t(-1.0)),
        lambda: D.Pareto(1.0, 1.0).log_prob(t(0.5)),
        lambda: D.Independent(D.Bernoulli(torch.zeros(2)), 1).log_prob(t([0.0, 0.5])),
        lambda: D.Gamma(1.0, 1.0).log_prob(t(-0.5)),
        lambda: D.Normal(0.0, 1.0).enumerate_support(),
        lambda: D.Poisson(1.0).entropy(),
        lambda: D.Poisson(1.0).rsample(),
        lambda: D.Poisson(1.0).cdf(t(1.0)),
        lambda: D.Categorical(t([0.5, 0.5])).rsample(),
        lambda: D.Normal(0.0, 1.0).expand((2,)).expand((3,)),
    ]
    return [error(call) for call in calls]


@CASES.add
def texts_in_full(torch: Any) -> Any:
    D, found = torch.distributions, []
    for call in (
        lambda: D.Normal(torch.zeros(2), torch.tensor([1.0, -1.0])),
        lambda: D.Normal(torch.zeros(2), 1.0).log_prob(torch.tensor([math.nan, 0.0])),
        lambda: D.Geometric(torch.tensor([0.0, 0.5])),
        lambda: D.Categorical(torch.tensor([0.5, -0.1])),
    ):
        try:
            call()
        except ValueError as caught:
            found.append(str(caught))
    return found


@CASES.add
def numbers_as_parameters(torch: Any) -> Any:
    D = torch.distributions
    found = []
    for make in (
        lambda: D.Normal(0, 1), lambda: D.Bernoulli(1), lambda: D.Beta(1, 2), lambda: D.Gamma(1, 2),
        lambda: D.Chi2(3), lambda: D.StudentT(3), lambda: D.Uniform(0, 2), lambda: D.Poisson(3),
        lambda: D.Binomial(5, 0.5), lambda: D.Gumbel(0, 1), lambda: D.LogisticNormal(0.0, 1.0),
        lambda: D.Pareto(1, 2), lambda: D.Weibull(1, 2), lambda: D.HalfNormal(2),
        lambda: D.LKJCholesky(2), lambda: D.InverseGamma(1, 2), lambda: D.VonMises(0, 1),
        lambda: D.GeneralizedPareto(0, 1, 0), lambda: D.Geometric(0.5), lambda: D.Laplace(0, 1),
        lambda: D.ContinuousBernoulli(0.3), lambda: D.Kumaraswamy(2, 3), lambda: D.Cauchy(0, 1),
        lambda: D.NegativeBinomial(3, 0.5), lambda: D.FisherSnedecor(3, 4),
    ):  # fmt: skip
        d = make()
        torch.manual_seed(5)
        found.append(
            [repr(d), list(d.batch_shape), d.sample().double(), list(d.sample((2,)).shape)]
        )
    return found


@CASES.add
def subclasses(torch: Any) -> Any:
    D = torch.distributions

    class Plain(D.Normal):
        pass

    class Custom(D.Normal):
        def __init__(self) -> None:
            super().__init__(0.0, 1.0)

    class Bare(D.Distribution):
        pass

    class Half(D.LogNormal):
        def __init__(self) -> None:
            super().__init__(0.0, 1.0)

    expanded = Plain(0.0, 1.0).expand((2,))
    found = [type(expanded).__name__, expanded.sample().shape[0]]
    found += [error(lambda: Custom().expand((2,))), error(lambda: Half().expand((2,)))]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bare = Bare(torch.Size((2,)))
    found.append([str(w.message).split(">")[-1] for w in caught])
    quiet = Bare(torch.Size((2,)), validate_args=False)
    for call in (
        lambda: quiet.sample(), lambda: quiet.mean, lambda: quiet.variance, lambda: quiet.stddev,
        lambda: quiet.log_prob(1), lambda: quiet.cdf(1), lambda: quiet.icdf(1),
        lambda: quiet.entropy(), lambda: quiet.perplexity(), lambda: quiet.support,
        lambda: quiet.expand((2,)), lambda: quiet.enumerate_support(), lambda: repr(quiet),
        lambda: D.Distribution.set_default_validate_args(3),
    ):  # fmt: skip
        found.append(error(call))
    return [*found, list(bare.batch_shape), list(quiet._extended_shape((3,)))]


@CASES.add
def validation_can_be_turned_off(torch: Any) -> Any:
    D = torch.distributions
    D.Distribution.set_default_validate_args(False)
    try:
        off = error(lambda: D.Normal(0.0, -1.0).log_prob(torch.tensor(math.nan)))
        on = error(lambda: D.Normal(0.0, -1.0, validate_args=True))
    finally:
        D.Distribution.set_default_validate_args(True)
    d = D.Normal(0.0, -1.0, validate_args=False)
    return [off, on, repr(d), error(lambda: D.Normal(0.0, -1.0)), d.expand((2,))._validate_args]


@CASES.add
def gradients_of_gradients(torch: Any) -> Any:
    D = torch.distributions
    a = torch.tensor([0.7, 3.0], dtype=torch.float64, requires_grad=True)
    torch.manual_seed(0)
    x = D.Gamma(a, a).rsample()
    (first,) = torch.autograd.grad(x.sum(), a, create_graph=True)
    y = D.Dirichlet(a).rsample()
    (second,) = torch.autograd.grad(y[0], a, create_graph=True)
    density = D.Beta(a[0], a[1]).log_prob(x[0].detach() / 9)
    (third,) = torch.autograd.grad(density, a, create_graph=True)
    h = [torch.autograd.grad(part, a, retain_graph=True)[0] for part in third]
    refused = error(lambda: torch.autograd.grad(first.sum(), a))
    return [x, first, refused, y, second, error(lambda: torch.autograd.grad(second.sum(), a)), h]


@CASES.add
def inside_transforms(torch: Any) -> Any:
    D, vmap, grad = torch.distributions, torch.func.vmap, torch.func.grad
    x, one = torch.tensor([0.1, 0.4, 0.7]), torch.tensor(1.0)
    torch.manual_seed(0)
    return [
        vmap(lambda v: D.Normal(v, 1.0).log_prob(x))(x),
        vmap(lambda v: D.Beta(v, one).log_prob(x[0]))(x),
        vmap(lambda v: D.Categorical(logits=v).log_prob(one))(torch.eye(3)),
        vmap(lambda v: D.MultivariateNormal(v, torch.eye(3)).log_prob(v * 2))(torch.eye(3)),
        vmap(lambda v: D.kl_divergence(D.Gamma(v, 1.0), D.Gamma(one, v)))(x),
        vmap(grad(lambda v: D.Bernoulli(v).entropy()))(x),
        grad(lambda v: D.Gamma(v, 1.0).rsample())(one),
        error(lambda: vmap(lambda v: D.Normal(0.0, v - 0.5).log_prob(one))(x)),
    ]


@CASES.add
def many_draws(torch: Any) -> Any:
    """Means of many draws, which depend on each of them."""
    D, found = torch.distributions, []
    for d in (
        D.Gamma(0.5, 2.0), D.Beta(2.0, 30.0), D.Binomial(40, torch.tensor(0.4)), D.StudentT(3.0),
        D.Dirichlet(torch.tensor([0.5] * 20)), D.Poisson(30.0), D.VonMises(0.0, 2.0),
    ):  # fmt: skip
        torch.manual_seed(11)
        found.append([d.sample((5000,)).double().mean(0), torch.rand(1)])
    return found


test_scenario = CASES.test()


# --- without PyTorch ------------------------------------------------------------------------------


def ours() -> Any:
    import torchlike

    return torchlike


KNOWN = [
    ("Normal", (0.3, 2.0), "norm", {"loc": 0.3, "scale": 2.0}),
    ("Laplace", (0.3, 2.0), "laplace", {"loc": 0.3, "scale": 2.0}),
    ("Cauchy", (0.3, 2.0), "cauchy", {"loc": 0.3, "scale": 2.0}),
    ("Gumbel", (0.3, 2.0), "gumbel_r", {"loc": 0.3, "scale": 2.0}),
    ("Gamma", (2.5, 0.5), "gamma", {"a": 2.5, "scale": 2.0}),
    ("Exponential", (0.5,), "expon", {"scale": 2.0}),
    ("LogNormal", (0.3, 0.5), "lognorm", {"s": 0.5, "scale": math.exp(0.3)}),
    ("StudentT", (5.0, 0.3, 2.0), "t", {"df": 5.0, "loc": 0.3, "scale": 2.0}),
    ("Chi2", (5.0,), "chi2", {"df": 5.0}),
    ("HalfNormal", (2.0,), "halfnorm", {"scale": 2.0}),
    ("HalfCauchy", (2.0,), "halfcauchy", {"scale": 2.0}),
    ("Weibull", (2.0, 1.5), "weibull_min", {"c": 1.5, "scale": 2.0}),
    ("InverseGamma", (4.5, 2.0), "invgamma", {"a": 4.5, "scale": 2.0}),
    ("FisherSnedecor", (5.0, 9.0), "f", {"dfn": 5.0, "dfd": 9.0}),
    ("GeneralizedPareto", (0.3, 2.0, 0.2), "genpareto", {"c": 0.2, "loc": 0.3, "scale": 2.0}),
]


@pytest.mark.parametrize(("name", "args", "scipy_name", "scipy_args"), KNOWN)
def test_values_of_scipy(name: str, args: Any, scipy_name: str, scipy_args: Any) -> None:
    stats = pytest.importorskip("scipy.stats")
    torch = ours()
    parameters = [torch.tensor(a, dtype=torch.float64) for a in args]
    # PyTorch's GeneralizedPareto, and so ours, is tested in its own dtype elsewhere
    d, other = getattr(torch.distributions, name)(*parameters), getattr(stats, scipy_name)
    x = torch.tensor([0.4, 1.0, 2.7], dtype=torch.float64)
    pairs = [(d.log_prob(x), other.logpdf(x.numpy(), **scipy_args))]
    if name not in ("Cauchy", "HalfCauchy"):
        pairs += [(d.mean, other.mean(**scipy_args)), (d.variance, other.var(**scipy_args))]
    if name not in ("HalfCauchy", "FisherSnedecor"):
        pairs.append((d.entropy(), other.entropy(**scipy_args)))
    if name not in ("StudentT", "FisherSnedecor"):
        if name != "InverseGamma":
            pairs.append((d.cdf(x), other.cdf(x.numpy(), **scipy_args)))
        if name not in ("Gamma", "Chi2", "InverseGamma"):
            levels = torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64)
            pairs.append((d.icdf(levels), other.ppf(levels.numpy(), **scipy_args)))
    for found, wanted in pairs:
        assert torch.allclose(found, torch.as_tensor(wanted), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("family", FAMILIES)
def test_samples_have_the_moments_that_are_stated(family: str) -> None:
    torch = ours()
    d = FAMILIES[family](torch.distributions, lambda v: torch.tensor(v, dtype=torch.float64))
    torch.manual_seed(99)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Wishart warns of every draw
        sample = d.sample((4000,)).double()
    try:
        mean, deviation = d.mean, d.variance.sqrt()
    except (NotImplementedError, AttributeError):
        return
    if family == "VonMises":  # circular
        return
    known = deviation.isfinite() & (deviation > 0)
    error = (sample.mean(0) - mean).abs() / (deviation / math.sqrt(4000))
    assert (error[known] < 5).all()


@pytest.mark.parametrize("family", FAMILIES)
def test_copies_and_pickles(family: str) -> None:
    if family == "TransformedDistribution":
        return
    torch = ours()
    d = FAMILIES[family](torch.distributions, torch.tensor)
    others = [copy.deepcopy(d), pickle.loads(pickle.dumps(d))]
    assert [repr(other) for other in others] == [repr(d)] * 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Wishart warns of every draw
        for other in others:
            torch.manual_seed(0)
            first = d.sample()
            torch.manual_seed(0)
            assert torch.equal(other.sample(), first)


def test_loaded_when_first_used() -> None:
    code = (
        "import sys, torchlike; n = 'torchlike.distributions'; assert n not in sys.modules;"
        "torchlike.distributions.Normal; assert n in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
