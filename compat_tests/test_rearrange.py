"""torch.func.rearrange beside PyTorch; and what PyTorch's gets wrong."""

from __future__ import annotations

from typing import Any

import torchlike
from compat_tests.scenarios import Cases, error

CASES = Cases("rearrange")
GOOD: list[tuple[str, dict[str, int]]] = [
    ("a b c -> c b a", {}),
    ("a b c->a (b c)", {}),
    ("a (b1 b2) c -> b1 a b2 c", {"b1": 3}),
    ("a (b1 b2) c -> b1 a b2 c", {"b2": 1}),
    ("... c -> c ...", {}),
    ("a ... -> ... a", {}),
    ("a ... c -> (a ...) c", {}),
    ("a ... -> a (...)", {}),
    ("a b c -> a 1 () b c 1", {}),
    ("a b (c1 c2) -> a c1 (b c2)", {"c1": 2}),
    ("... -> ...", {}),
    ("A B_1 C -> (C B_1 A)", {}),
    ("a b (c) -> 1 1 (a b) c", {}),
]
BAD: list[tuple[str, dict[str, Any]]] = [
    ("a b c", {}),
    ("", {}),
    ("a b c -> a b c -> c", {}),
    ("a b c -> a b", {}),
    ("a b -> a b c", {}),
    ("a b -> b a", {}),
    ("a b c d -> a b c d", {}),
    ("->", {}),
    ("a a b -> a b", {}),
    ("a b c -> a b c a", {}),
    ("a b c -> a b c", {"d": 3}),
    ("a b c -> a b c", {"a": 3}),
    ("a b c -> a b c", {"a": "x"}),
    ("a b c -> a b c", {"a": 2.0}),
    ("a (b c) d -> a b c d", {}),
    ("a (b c) d -> a b c d", {"b": 2}),
    ("a (b c) d -> a b c d", {"b": 3, "c": 2}),
    ("a (b c) d -> a b c d", {"b": -1}),
    ("a (b1 b2 b3) c -> a b1 b2 b3 c", {"b1": 1}),
    ("a ((b c)) d -> a b c d", {}),
    ("a (b c d -> a b c d", {}),
    ("a b) c -> a b c", {}),
    ("a b c -> a ... c", {}),
    ("(...) -> ...", {}),
    ("... ... a -> a", {}),
    ("a b ... c -> a b c", {}),
    ("a b ..c -> a b c", {}),
    ("a b.c -> a b c", {}),
    ("a 2 c -> a c", {}),
    ("a b c -> a b 2", {}),
    ("a b _c -> a b _c", {}),
    ("a b c_ -> a b c_", {}),
    ("a b 2c -> a b 2c", {}),
    ("a b c! -> a b c", {}),
]


def each(torch: Any, cases: Any, use: Any) -> list[Any]:
    t = torch.arange(24).reshape(2, 3, 4)
    return [use(lambda p=p, k=k: torch.func.rearrange(t, p, **k)) for p, k in cases]


@CASES.add
def patterns(torch: Any) -> Any:
    return each(torch, GOOD, lambda call: call())


@CASES.add
def wrong_patterns(torch: Any) -> Any:
    return each(torch, BAD, error)


@CASES.add
def sequences_and_transforms(torch: Any) -> Any:
    r, t = torch.func.rearrange, torch.arange(24.0).reshape(2, 3, 4)
    weights = torch.arange(6.0).reshape(3, 2)
    return [
        r([t[0], t[1]], "a b c -> b a c"),
        r((t[0], t[1]), "a b c -> (a b) c"),
        r(t.reshape(2, 2, 2, 3), "b (h p) w c -> (b h) w (p c)", p=2),
        r(torch.ones(1, 3), "1 a -> a"),
        r(torch.tensor(1.0), "->"),
        r(torch.ones(2, 3), "a ... b -> b ... a"),
        torch.func.grad(lambda x: (r(x, "a b -> b a") * weights).sum())(torch.ones(2, 3)),
        torch.vmap(lambda x: r(x, "a b -> (b a)"))(t),
    ]


test_scenario = CASES.test()


def test_new_dimensions_of_size_one() -> None:
    """PyTorch drops the first and raises AssertionError for the second."""
    r = torchlike.func.rearrange
    assert r(torchlike.tensor(1.0), "-> 1").shape == (1,)
    assert r(torchlike.ones(1, 3), "() a -> a 1").shape == (3, 1)


def test_functorch_has_it_too() -> None:
    from torchlike.functorch import einops

    assert einops.rearrange is torchlike.func.rearrange
