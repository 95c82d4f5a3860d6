"""Autocast and scaled losses for a GPU, on the stand-in: PyTorch's documented lists."""

from __future__ import annotations

from typing import Any

import pytest

import torchlike as torch
from torchlike.nn import functional as F

pytestmark = pytest.mark.usefixtures("standin")


def test_dtypes_of_results() -> None:
    x = torch.ones(3, 3, device="cuda")
    half = x.half()
    with torch.autocast("cuda"):
        lower: list[Any] = [x @ x, torch.mv(x, x[0]), F.linear(x, x), torch.addmm(x, x, x)]
        wide: list[Any] = [
            torch.softmax(half, 0), F.layer_norm(half, [3]), half.exp(), half**2, half.sum(),
            F.mse_loss(half, half), torch.cat([half, x]),
        ]  # fmt: skip
        as_given = [half + half, F.relu(half)]
        on_the_host = torch.ones(2, 2) @ torch.ones(2, 2)
        assert torch.is_autocast_enabled() and not torch.is_autocast_enabled("cpu")
    assert {t.dtype for t in lower} == {torch.float16}
    assert {t.dtype for t in wide} == {torch.float32}
    assert {t.dtype for t in as_given} == {torch.float16}
    assert on_the_host.dtype is torch.float32


def test_a_step_with_a_scaled_loss() -> None:
    scaler = torch.amp.GradScaler(init_scale=8.0)
    w = torch.ones(2, device="cuda", requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.5)
    scaler.scale((w * w).sum()).backward()
    assert w.grad.tolist() == [16.0, 16.0]
    scaler.step(optimizer)
    scaler.update()
    assert w.grad.tolist() == [2.0, 2.0] and w.tolist() == [0.0, 0.0]
    scaler.scale(w.sum() * float("nan")).backward()
    scaler.step(optimizer)
    scaler.update()
    assert w.tolist() == [0.0, 0.0] and scaler.get_scale() == 4.0
