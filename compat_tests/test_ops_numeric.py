"""Every differentiable record against central differences along a random direction, in float64.

First order, second order (differences of gradients), complex numbers where the operation takes
them, and forward mode against reverse mode.
"""

from __future__ import annotations

from typing import Any

import pytest

from .functions import Case, differentiable, dot, each_case, number
from .observe import library, quiet

OURS = library("torchlike")
STEP = 1e-6  # differences are then right to about 1e-9
NEAR: dict[str, Any] = {"rel": 2e-6, "abs": 1e-7, "nan_ok": True}


def shifted(case: Case, step: float) -> list[Any]:
    return [x + step * d for x, d in zip(case.xs, case.directions, strict=True)]


def first_order(case: Case) -> None:
    found = number(dot(case.gradient()[1], case.directions))
    change = number(case.s(*shifted(case, STEP))) - number(case.s(*shifted(case, -STEP)))
    assert found == pytest.approx(change / (2 * STEP), **NEAR), case.sample


def second_order(case: Case) -> None:
    """The gradient's change along a direction, seen along another."""
    others = [d.flip(tuple(range(d.ndim))) for d in case.directions]
    found = number(dot(case.second(case.directions), others))
    ends = []
    for step in (STEP, -STEP):
        moved = [x + step * d for x, d in zip(case.xs, case.directions, strict=True)]
        before, case.xs = case.xs, moved
        ends.append(number(dot(case.gradient()[1], others)))
        case.xs = before
    assert found == pytest.approx((ends[0] - ends[1]) / (2 * STEP), **NEAR), case.sample


def forward_mode(case: Case) -> None:
    """<jvp, weights> is <gradient, direction>."""
    _, tangent = OURS.func.jvp(case.s, tuple(case.xs), tuple(case.directions))
    found = number(dot(case.gradient()[1], case.directions))
    assert number(tangent) == pytest.approx(found, rel=1e-9, abs=1e-11, nan_ok=True), case.sample


@pytest.mark.parametrize("name", differentiable())
def test_derivatives(name: str) -> None:
    with quiet():
        for case in each_case(OURS, name, 99):
            first_order(case)
            second_order(case)
            forward_mode(case)


@pytest.mark.parametrize("name", differentiable("complex128"))
def test_complex(name: str) -> None:
    """Operations that PyTorch has no complex form of raise, and are done."""
    with quiet():
        for case in each_case(OURS, name, 2, "complex128"):
            try:
                case.s(*case.xs)
            except (NotImplementedError, RuntimeError):
                return
            first_order(case)
            second_order(case)
            forward_mode(case)
