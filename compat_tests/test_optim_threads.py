"""Updates of so many parameters that threads share them, against the formula of Adam's first step.

From no state, and with one gradient, each of Adam's steps is -lr * g / (|g| + eps), whatever g is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import torchlike as torch
from functional.kernels import threads

LR = 0.25


@pytest.fixture(params=[1, 2, 3])
def workers(request: pytest.FixtureRequest) -> Iterator[int]:
    before = threads.workers()
    threads.set_workers(request.param)
    yield request.param
    threads.set_workers(before)


def step(params: list[Any], gradients: list[np.ndarray], cls: Any = torch.optim.Adam) -> None:
    for p, g in zip(params, gradients, strict=True):
        p.grad = torch.from_numpy(g)
    cls(params, lr=LR).step()


def test_every_element_is_updated_once(workers: int):
    rng = np.random.default_rng(0)
    shapes = [(7,), (401, 997), (), (123_457,), (0, 3), (300, 500), (1, 1)]
    starts = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    gradients = [np.where(rng.normal(size=shape) < 0, -2, 2).astype("f4") for shape in shapes]
    params = [torch.nn.Parameter(torch.tensor(start)) for start in starts]
    step(params, gradients)
    for p, start, g in zip(params, starts, gradients, strict=True):
        np.testing.assert_allclose(p.detach().numpy(), start - LR * g / 2, rtol=0, atol=1e-6)


def test_elements_in_any_order(workers: int):
    g = np.ones((600, 700), np.float32)
    g[:, ::2] = -1
    for start, gradient in ((g, g), (g.T, g.T), (g, np.asfortranarray(g)), (g.T, g.T.copy())):
        p = torch.nn.Parameter(torch.from_numpy(start.copy("K")))
        assert p.is_contiguous() == start.flags.c_contiguous
        step([p], [gradient])
        np.testing.assert_allclose(p.detach().numpy(), start - LR * gradient, rtol=1e-6)


def test_parameters_that_share_memory_are_updated_one_after_the_other(workers: int):
    memory = torch.zeros(400_000)
    params = [torch.nn.Parameter(memory), torch.nn.Parameter(memory[100_000:])]
    step(params, [np.ones(400_000, np.float32), np.ones(300_000, np.float32)])
    expected = np.full(400_000, -LR)
    expected[100_000:] *= 2
    np.testing.assert_allclose(memory.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("dtype", "rtol"),
    [("float64", 1e-6), ("bfloat16", 0.01), ("float16", 0.002), ("complex64", 1e-6)],
)
def test_dtypes_side_by_side(workers: int, dtype: str, rtol: float):
    p = torch.nn.Parameter(torch.zeros(300_001, dtype=getattr(torch, dtype)))
    others = torch.nn.Parameter(torch.zeros(200_000))
    p.grad, others.grad = torch.ones_like(p), torch.ones(200_000)
    optimizer = torch.optim.Adam([p, others], lr=LR, eps=1e-6)
    for _ in range(2):
        optimizer.step()
    (real,) = {complex(z).real for z in p.tolist()}
    (imaginary,) = {complex(z).imag for z in p.tolist()}
    (other,) = set(others.tolist())
    assert real == pytest.approx(-2 * LR, rel=rtol)
    assert imaginary == 0
    assert other == pytest.approx(-2 * LR, rel=1e-5)


def test_steps_that_differ(workers: int):
    """One parameter starts two steps after the other, so their corrections differ."""
    early, late = (torch.nn.Parameter(torch.zeros(300_000)) for _ in range(2))
    optimizer = torch.optim.Adam([early, late], lr=LR)
    early.grad = torch.ones(300_000)
    for _ in itertools.repeat(None, 2):
        optimizer.step()
    late.grad = torch.full((300_000,), -3.0)
    optimizer.step()
    np.testing.assert_allclose(early.detach().numpy(), -3 * LR, atol=1e-6)
    np.testing.assert_allclose(late.detach().numpy(), LR, atol=1e-6)
