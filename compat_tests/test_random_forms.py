"""How functions that draw random numbers are called: results, places for them, refusals."""

from __future__ import annotations

from typing import Any

from compat_tests.scenarios import Cases, error

CASES = Cases("random_forms")


def drawn(torch: Any, call: Any) -> Any:
    """What a call returns with seed 0, or how it fails."""
    torch.manual_seed(0)
    found = error(call)
    if found != "no error":
        return found
    torch.manual_seed(0)
    return call()


@CASES.add
def integers(torch: Any) -> Any:
    r = torch.randint
    options = (
        {}, {"dtype": torch.int32}, {"dtype": float}, {"dtype": torch.bool}, {"dtype": torch.uint8},
        {"out": torch.zeros(3)}, {"out": torch.zeros(3, dtype=torch.int32)}, {"foo": 1},
        {"out": torch.zeros(3), "dtype": torch.int64}, {"out": torch.zeros(2, 2)}, {"names": None},
        {"requires_grad": True}, {"dtype": torch.float32, "requires_grad": True},
        {"layout": torch.strided}, {"generator": torch.Generator().manual_seed(3)},
    )  # fmt: skip
    calls = (
        ((5, 5, (2,)), {}), ((0, 2**63, (2,)), {}), ((1.5, (2,)), {}), ((5, 2), {}), ((5,), {}),
        ((), {}),
        ((5, (-1,)), {}), ((5, [2, 2]), {}), ((torch.tensor(0), torch.tensor(3), (2,)), {}),
        ((), {"low": 0, "high": 3, "size": (2,)}), ((), {"high": 3, "size": (2,)}),
        ((3,), {"size": (2,)}), ((0,), {"high": 3, "size": (2,)}), ((0, 2**40, (3,)), {}),
    )  # fmt: skip
    like = [n for n in options if "out" not in n]
    one = torch.ones(3)
    return [
        [drawn(torch, lambda n=n: r(0, 5, (3,), **n)) for n in options],
        [drawn(torch, lambda n=n: torch.randperm(4, **n)) for n in options],
        [drawn(torch, lambda n=n: torch.randint_like(one, 5, **n)) for n in like],
        [drawn(torch, lambda a=a, n=n: r(*a, **n)) for a, n in calls],
        [drawn(torch, lambda n=n: torch.randperm(n)) for n in (-1, 0, 1, 2.5, "a",
        torch.tensor(3))],
    ]  # fmt: skip


@CASES.add
def integers_in_place(torch: Any) -> Any:
    kinds = "float32 float64 float16 bfloat16 int8 uint8 int16 int32 int64 bool".split()
    calls = (
        ((), {}), ((5,), {}), ((2, 5), {}), ((-5, None), {}), ((0, None), {}), ((5, 2), {}),
        ((), {"from": -3, "to": None}), ((), {"from": -3, "to": 3}), ((), {"to": 3}), ((-3,), {}),
        ((1.5,), {}), ((0, 257), {}),
    )  # fmt: skip
    found = []
    for kind in kinds:
        t = torch.zeros(4, dtype=getattr(torch, kind))
        found.append([drawn(torch, lambda a=a, n=n, t=t: t.random_(*a, **n)) for a, n in calls])
    lowest = torch.zeros(4, dtype=torch.int64)
    return [found, drawn(torch, lambda: lowest.random_(-(2**63), None))]


@CASES.add
def normals(torch: Any) -> Any:
    t = torch.ones
    calls = (
        ((0, 1, (2,)), {}), ((0.0, -1.0, (2,)), {}), ((t(2, 1), t(3)), {}), ((t(2), t(3)), {}),
        ((t(4), t(2, 2)), {}), ((0.0, -t(2)), {}), ((t(2), -1.0), {}), ((t(2),), {}),
        ((t(2).int(), 1.0), {}), ((t(2).double(), t(2)), {}), ((t(2), t(2).cfloat()), {}), ((0.0,
        1.0), {}),
        ((0, 1, 2), {}), ((0.0, 1.0, (2,)), {"dtype": torch.float64}), ((t(2), t(0)), {}),
        ((0.0, 1.0, (2,)), {"dtype": torch.int32}), ((0.0, 1.0, (2,)), {"out": torch.zeros(3)}),
        ((t(2), 1.0), {"out": torch.zeros(3)}), ((t(2), 1.0), {"out": t(2).double()}),
        ((t(2), t(2)), {"out": t(2).int()}), ((), {"mean": 0.0, "std": 1.0, "size": (2,)}),
        ((0.0, 1.0, (2,)), {"requires_grad": True}), ((t(2), 1.0, (2,)), {}),
        ((torch.tensor(0.0), torch.tensor(2), (2,)), {}), ((torch.tensor(0.0), -1, (2,)), {}),
        ((0.0, 1.0, (2,)), {"foo": 1}), ((t(2).half(), t(2).half()), {}), ((t(0), t(0)), {}),
    )  # fmt: skip
    return [
        [drawn(torch, lambda a=a, n=n: torch.normal(*a, **n)) for a, n in calls],
        drawn(torch, lambda: torch.zeros(2).bernoulli_(t(3))),
    ]  # fmt: skip


@CASES.add
def uniform_numbers(torch: Any) -> Any:
    options = (
        {"dtype": float}, {"dtype": int}, {"dtype": complex}, {"dtype": torch.float64}, {"foo": 1},
        {"out": torch.zeros(3)}, {"out": torch.zeros(2, dtype=torch.float64)},
        {"out": torch.zeros(2), "dtype": torch.float64}, {"out": torch.zeros(2), "device": "meta"},
        {"out": torch.zeros(2, dtype=torch.int32)},
    )  # fmt: skip
    names = ("rand", "randn")
    return [
        [drawn(torch, lambda f=f, n=n: getattr(torch, f)(2, **n)) for n in options] for f in names
    ] + [[drawn(torch, lambda f=f: getattr(torch, f)(size=(2,))) for f in names]]


test_scenario = CASES.test()
