"""Variances of too few numbers warn, as in PyTorch, and are NaN."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import torchlike as torch

CALLS: list[tuple[str, Callable[[], Any]]] = [
    ("std", lambda: torch.ones(1).std()),
    ("std", lambda: torch.ones(0).std(unbiased=False)),
    ("var", lambda: torch.ones(3, 1).var(1)),
    ("var", lambda: torch.ones(3).var(correction=4)),
    ("var", lambda: torch.ones(1, dtype=torch.complex64).var()),
    ("std_mean", lambda: torch.std_mean(torch.ones(1))[0]),
    ("var_mean", lambda: torch.var_mean(torch.ones(2, 1), 1)[0]),
    ("cov", lambda: torch.cov(torch.ones(2, 1))),
]


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize(("name", "call"), CALLS)
def test_too_few_numbers(name: str, call: Callable[[], Any]) -> None:
    with pytest.warns(UserWarning, match=rf"^{name}\(\): degrees of freedom is <= 0\. "):
        found = call()
    assert all(map(math.isnan, found.flatten().tolist()))


def test_enough_numbers() -> None:
    assert torch.ones(1).std(unbiased=False).item() == 0
    assert torch.ones(2).var().item() == 0
    assert torch.cov(torch.ones(2, 1), correction=0).tolist() == [[0, 0], [0, 0]]
