"""``functional_call``: what it reaches, what it refuses, and what is left behind."""

from __future__ import annotations

from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("functional_call")


def small(torch: Any) -> Any:
    class Small(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.l1 = torch.nn.Linear(1, 1)
            self.register_buffer("buffer", torch.ones(1))
            self.x = torch.tensor([7.0])
            self.nothing = None
            self.k = 5

        def forward(self, x: Any) -> Any:
            return self.l1(x) * 0 + self.buffer + self.x

    return Small()


@CASES.add
def plain_attributes(torch: Any) -> Any:
    call, m, x, one = torch.func.functional_call, small(torch), torch.ones(1, 1), torch.ones(1)
    return [
        call(m, {"x": one}, x),
        [call(m, {"zz": one}, x), hasattr(m, "zz")],
        [call(m, {"l1.y": one}, x), hasattr(m.l1, "y")],
        call(m, {"nothing": None}, x),
        m(x),
        [error(lambda name=name: call(m, {name: one}, x)) for name in ("k", "zz.y", "k.y", "l1")],
        [error(lambda name=name: call(m, {name: one}, x)) for name in ("", "l1.")],
        [error(lambda name=name: call(m, {name: 3.0}, x)) for name in ("l1.weight", "k")],
        error(lambda: call(m, {"x": None}, x)),
        error(lambda: call(m, {"x": one}, x, strict=True)),
        [m(x), list(m.state_dict())],
    ]


@CASES.add
def dictionaries(torch: Any) -> Any:
    call, m, x, one = torch.func.functional_call, small(torch), torch.ones(1, 1), torch.ones(1)
    return [
        call(m, [{"x": one}, {"buffer": one * 3}], x),
        error(lambda: call(m, [{"x": one}, {"x": one}], x)),
        error(lambda: call(m, 3, x)),
        error(lambda: call(m, [3], x)),
        error(lambda: call(m, {}, (), {"y": x})),
        call(m, {"x": one}, None, {"x": x}),
    ]


@CASES.add
def assigned_during_the_call(torch: Any) -> Any:
    class Counts(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("n", torch.zeros(1))

        def forward(self, x: Any, fail: bool) -> Any:
            self.n = self.n + 1
            if fail:
                raise ValueError("on purpose")
            return x + self.n

    m, call = Counts(), torch.func.functional_call
    given, failed, both = ({"n": torch.ones(1)} for _ in range(3))
    return [
        call(m, given, (torch.ones(1), False)),
        given,
        error(lambda: call(m, failed, (torch.ones(1), True))),
        failed,
        call(m, (both,), (torch.ones(1), False)),
        both,
        m.n,
    ]


@CASES.add
def circular_references(torch: Any) -> Any:
    m, x, one = small(torch), torch.ones(1, 1), torch.ones(1)
    m.l1.m = m
    before = m.l1.weight.detach().clone()
    given = {"l1.m.l1.weight": one[None], "l1.bias": one, "l1.m.buffer": one * 5}
    result = torch.func.functional_call(m, given, x, tie_weights=False)
    return [result, bool((m.l1.weight == before).all()), m.buffer]


@CASES.add
def a_parametrized_weight(torch: Any) -> Any:
    m = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(1, 1))
    before = m.weight.detach().clone()
    given = {"weight": torch.tensor([[2.0]]), "bias": torch.zeros(1)}
    result = torch.func.functional_call(m, given, torch.ones(1, 1))
    return [result, torch.allclose(m.weight, before)]


@CASES.add
def tied_parameters(torch: Any) -> Any:
    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.l1 = torch.nn.Linear(1, 1)
            self.tied = self.l1.bias

        def forward(self, x: Any) -> Any:
            return self.l1(x) + self.tied

    m, call, x, one = Tied(), torch.func.functional_call, torch.ones(1, 1), torch.ones(1)
    w = {"l1.weight": one[None]}
    return [
        call(m, {**w, "l1.bias": one * 2}, x, strict=True),
        call(m, {**w, "l1.bias": one * 2, "tied": one * 3}, x, tie_weights=False),
        error(lambda: call(m, {**w, "l1.bias": one * 2, "tied": one * 3}, x)),
        error(lambda: call(m, {"tied": one, "q": one}, x, strict=True)),
    ]


@CASES.add
def batch_norms_without_statistics(torch: Any) -> Any:
    net = torch.nn.Sequential(torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 1))
    same = torch.func.replace_all_batch_norm_modules_(net) is net
    return [same, str(net), list(net.state_dict()), net[0](torch.tensor([[1.0, 2], [3, 6]]))]


@CASES.add
def functions_without_writes(torch: Any) -> Any:
    def f(x: Any) -> Any:
        y = x.clone()
        y.add_(1)
        return y.view(-1).mul_(2)

    plain = torch.func.functionalize(f, remove="mutations_and_views")
    x = torch.ones(2, 2)
    return [plain(x), torch.func.vmap(plain)(x), torch.func.grad(lambda x: plain(x).sum())(x)]


def test_types_for_annotations() -> None:
    import torchlike

    types = torchlike.types
    assert isinstance(3, types.Number)
    assert isinstance(torchlike.device("cpu"), types.Device)
    assert isinstance(torchlike.ones(2).untyped_storage(), types.Storage)
    assert not isinstance("3", types.Number)


test_scenario = CASES.test()
