"""Random numbers within vmap, and within the transforms that differentiate, beside PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("transform_random")
SCENARIO = CASES.add
MODES = ("error", "same", "different")


def operations(torch: Any) -> list[Callable[[Any], Any]]:
    F, dist = torch.nn.functional, torch.distributions
    half = torch.tensor([0.5, 0.5])
    return [
        lambda x: torch.rand(2) + torch.randn(2),
        lambda x: torch.randint(10, (2,)),
        lambda x: torch.randperm(4),
        lambda x: torch.normal(0.0, 1.0, (2,)),
        lambda x: torch.rand_like(x),
        lambda x: torch.randint_like(x, 10),
        lambda x: torch.bernoulli(x),
        lambda x: torch.bernoulli(x, 0.5),
        lambda x: torch.normal(x, 1.0),
        lambda x: torch.normal(0.0, x),
        lambda x: torch.normal(torch.zeros(2), x),
        lambda x: torch.poisson(x),
        lambda x: torch.binomial(x, x),
        lambda x: torch.multinomial(x, 1),
        lambda x: torch.multinomial(torch.stack([x, x]), 1),
        lambda x: torch.multinomial(half, 1),
        lambda x: F.dropout(x),
        lambda x: F.dropout(torch.ones(3)),
        lambda x: F.dropout(x.clone(), inplace=True),
        lambda x: F.dropout1d(x.view(2, 1).expand(2, 3)),
        lambda x: F.alpha_dropout(x, training=True),
        lambda x: F.gumbel_softmax(x),
        lambda x: F.rrelu(x, training=True),
        lambda x: x.clone().uniform_(),
        lambda x: torch.empty(2).uniform_(),
        lambda x: torch.empty_like(x).normal_(),
        lambda x: x.new_empty(2).exponential_(),
        lambda x: x.clone().bernoulli_(x),
        lambda x: x.clone().bernoulli_(half),
        lambda x: half.clone().bernoulli_(x),
        lambda x: dist.Gamma(x, x).sample(),
        lambda x: dist.Normal(x, x).sample(),
        lambda x: dist.Categorical(x).sample(),
        lambda x: torch.randn(3, out=torch.empty(3)),
        lambda x: torch.normal(x, x, out=torch.empty(())),
        lambda x: torch.vmap(lambda z: torch.rand(1), randomness="different")(x),
        lambda x: torch.vmap(lambda z: torch.rand(1), randomness="same")(x),
        lambda x: torch.func.grad(lambda z: (z * torch.rand(2)).sum())(x),
        lambda x: torch.func.grad(lambda z: (z * torch.rand_like(z)).sum())(x),
        lambda x: torch.func.grad(lambda z: F.dropout(z).sum())(x),
    ]


@SCENARIO
def modes_of_vmap(torch: Any) -> Any:
    x = torch.arange(1.0, 7.0).reshape(3, 2) / 10
    found = []
    for mode in MODES:
        for op in operations(torch):
            outs: list[Any] = []
            torch.manual_seed(0)
            call = lambda op=op, mode=mode, outs=outs: outs.append(
                torch.vmap(op, randomness=mode)(x)
            )
            found.append([error(call), outs])
    return found


@SCENARIO
def generators_of_their_own(torch: Any) -> Any:
    g, x = torch.Generator(), torch.ones(3)
    found = []
    for mode in ("same", "different"):
        state = g.manual_seed(7).get_state()
        found.append(torch.vmap(lambda t: torch.rand(2, generator=g), randomness=mode)(x))
        assert g.set_state(state) is g
        found.append(torch.rand(3, 2, generator=g))
    return found


@SCENARIO
def chunks_draw_on(torch: Any) -> Any:
    def drawn(mode: str, size: Any) -> Any:
        torch.manual_seed(0)
        f = torch.vmap(lambda t: torch.rand(()), chunk_size=size, randomness=mode)
        return f(torch.ones(5))

    return [drawn(m, n) for m in ("same", "different") for n in (None, 1, 2, 5, 9)]


@SCENARIO
def constants_of_derivatives(torch: Any) -> Any:
    F, x = torch.nn.functional, torch.tensor([1.0, 2.0, 3.0])
    functions = [
        lambda t: F.dropout(t).sum(),
        lambda t: torch.bernoulli(t / 10).sum(),
        lambda t: (t * torch.rand(3)).sum(),
        lambda t: (t * torch.empty_like(t).uniform_()).sum(),
        lambda t: t.clone().uniform_().sum(),
        lambda t: torch.normal(t, 1.0).sum(),
        lambda t: (t * F.rrelu(t - 2, training=True)).sum(),
    ]
    found = []
    for f in functions:
        torch.manual_seed(1)
        found.append(torch.func.grad(f)(x))
    torch.manual_seed(1)
    found.append(torch.func.jvp(lambda t: F.dropout(t), (x,), (x,)))
    return found


@SCENARIO
def jacobians_have_a_mode(torch: Any) -> Any:
    x, shapes = torch.tensor([1.0, 2.0, 3.0]), []
    f = lambda t: t * torch.rand(3)
    torch.manual_seed(2)
    for mode in ("same", "different"):
        shapes.append(torch.func.jacfwd(f, randomness=mode)(x))
    return shapes, error(lambda: torch.func.jacfwd(f)(x))


test_scenario = CASES.test()
