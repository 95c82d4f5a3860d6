"""Arrays so large that threads share them: the same values, whatever the layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchlike as tl

F = tl.nn.functional
N = 700_001  # two threads' parts, of which no vector's width is a divisor
RNG = np.random.default_rng(0)
X = (RNG.standard_normal(N) * 4).astype(np.float32)
Y = (RNG.standard_normal(N) + 5).astype(np.float32)

EXACT: list[tuple[Any, Any]] = [
    (lambda x, y: x + y, X + Y),
    (lambda x, y: x - y, X - Y),
    (lambda x, y: x * 1.5, X * np.float32(1.5)),
    (lambda x, y: x / y, X / Y),
    (lambda x, y: x * tl.tensor(3.0), X * np.float32(3)),
    (lambda x, y: tl.relu(x), np.maximum(X, 0)),
    (lambda x, y: -x, -X),
    (lambda x, y: tl.sqrt(y.abs()), np.sqrt(np.abs(Y))),
    (lambda x, y: tl.maximum(x, y), np.maximum(X, Y)),
    (lambda x, y: F.leaky_relu(x, 0.1), np.maximum(X, X * np.float32(0.1))),
]


@pytest.mark.parametrize("k", range(len(EXACT)))
def test_one_pass_is_exact(k: int) -> None:
    call, expected = EXACT[k]
    found = call(tl.from_numpy(X), tl.from_numpy(Y)).numpy()
    np.testing.assert_array_equal(found, expected)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


W = X.astype(np.float64)
FORMULAS: list[tuple[Any, np.ndarray]] = [
    (tl.exp, np.exp(W)),
    (tl.tanh, np.tanh(W)),
    (tl.sigmoid, _sigmoid(W)),
    (F.silu, W * _sigmoid(W)),
    (F.elu, np.where(W > 0, W, np.expm1(W))),
    (F.selu, 1.0507009873554805 * np.where(W > 0, W, 1.6732632423543772 * np.expm1(W))),
    (lambda x: F.celu(x, 2.0), np.where(W > 0, W, 2 * np.expm1(W / 2))),
    (F.softplus, np.log1p(np.exp(W))),
    (lambda x: F.softplus(x, 2.0, 1.0), np.where(2 * W > 1, W, np.log1p(np.exp(2 * W)) / 2)),
    (F.logsigmoid, -np.log1p(np.exp(-W))),
    (F.mish, W * np.tanh(np.log1p(np.exp(W)))),
    (F.hardswish, W * np.clip(W + 3, 0, 6) / 6),
    (F.hardsigmoid, np.clip(W + 3, 0, 6) / 6),
    (F.hardshrink, np.where(np.abs(W) <= 0.5, 0, W)),
    (F.softshrink, np.sign(W) * np.maximum(np.abs(W) - 0.5, 0)),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("k", range(len(FORMULAS)))
def test_formula(k: int, dtype: str) -> None:
    call, expected = FORMULAS[k]
    found = call(tl.from_numpy(X.astype(dtype))).numpy()
    assert found.dtype == dtype
    rtol, atol = (2e-6, 1e-6) if dtype == "float32" else (1e-12, 1e-14)
    np.testing.assert_allclose(found, expected, rtol, atol)


S = _sigmoid(W)
SLOPES: list[tuple[Any, np.ndarray]] = [
    (F.relu, (X > 0) * 1.0),
    (F.silu, S * (1 + W * (1 - S))),
    (F.leaky_relu, np.where(X > 0, 1, 0.01)),
    (tl.tanh, 1 - np.tanh(W) ** 2),
    (tl.sigmoid, S * (1 - S)),
    (F.hardtanh, ((X > -1) & (X < 1)) * 1.0),
]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("k", range(len(SLOPES)))
def test_slope(k: int, turned: bool) -> None:
    call, slope = SLOPES[k]
    x, g = tl.from_numpy(X), tl.from_numpy(Y)
    if turned:  # a layout that no thread gets a part of
        x, g = x[:700_000].view(700, 1000).t(), g[:700_000].view(700, 1000).t()
    x = x.detach().requires_grad_()
    call(x).backward(g)
    assert x.grad is not None
    found = x.grad.t().reshape(-1) if turned else x.grad
    expected = Y * slope
    np.testing.assert_allclose(found.numpy(), expected[: found.numel()], 2e-5, 3e-6)


def test_layer_norm_of_long_rows() -> None:
    rows = X[:700_000].reshape(700, 1000) + 100
    wide = rows.astype(np.float64)
    expected = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
    found = F.layer_norm(tl.from_numpy(rows), (1000,)).numpy()
    np.testing.assert_allclose(found, expected, 1e-4, 2e-5)
