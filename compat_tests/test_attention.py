"""Attention as one operation, against the formulas in float64: masks, shares, extreme scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchlike as torch

SMALL, MANY, LONG = (2, 3, 5, 7, 4), (16, 8, 64, 64, 16), (3, 2, 130, 130, 32)  # B, H, L, S, E


def numbers(seed: int, *shape: int, size: float = 1.0) -> np.ndarray:
    return size * np.random.default_rng(seed).standard_normal(shape)


def additive(seen: np.ndarray) -> np.ndarray:
    return np.where(seen, 0.0, -np.inf)


def some(seed: int, *shape: int) -> np.ndarray:
    """A boolean mask; everyone sees the first key."""
    seen = np.random.default_rng(seed).random(shape) < 0.6
    seen[..., 0] = True
    return seen


def plain(q: Any, k: Any, v: Any, bias: Any, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """(weights, out); rows that see nothing are 0."""
    scores = np.einsum("bhle,bhse->bhls", q, k) * scale + bias
    top = scores.max(-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isinf(top), 0, top))
    total = powers.sum(-1, keepdims=True)
    weights = powers / np.where(total == 0, 1, total)
    return weights, np.einsum("bhls,bhse->bhle", weights, v)


def plain_gradients(g: Any, q: Any, k: Any, v: Any, weights: Any, scale: float) -> list[np.ndarray]:
    by_weights = np.einsum("bhle,bhse->bhls", g, v)
    inner = (by_weights * weights).sum(-1, keepdims=True)
    scores = weights * (by_weights - inner) * scale
    return [
        np.einsum("bhls,bhse->bhle", scores, k),
        np.einsum("bhls,bhle->bhse", scores, q),
        np.einsum("bhls,bhle->bhse", weights, g),
    ]


MASKS: dict[str, Any] = {
    "none": lambda B, H, L, S: None,
    "boolean": lambda B, H, L, S: some(1, L, S),
    "boolean of a batch": lambda B, H, L, S: some(2, B, 1, L, S),
    "boolean of a head": lambda B, H, L, S: some(3, 1, H, 1, S),
    "additive": lambda B, H, L, S: additive(some(4, L, S)),
    "additive of a batch": lambda B, H, L, S: additive(some(5, B, 1, 1, S)),
    "some see nothing": lambda B, H, L, S: np.arange(L)[:, None] > np.zeros(S),
}
SIZES = {"small": SMALL, "many": MANY, "long": LONG}


@pytest.mark.parametrize("size", [1.0, 12.0], ids=["moderate", "extreme"])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("mask", [*MASKS, "causal"])
@pytest.mark.parametrize("shape", SIZES)
def test_attention(shape: str, mask: str, kind: Any, size: float) -> None:
    B, H, L, S, E = SIZES[shape]
    arrays = [numbers(i, B, H, n, E, size=size) for i, n in enumerate((L, S, S))]
    g, causal = numbers(9, B, H, L, E), mask == "causal"
    given = np.tril(np.ones((L, S), bool)) if causal else MASKS[mask](B, H, L, S)
    seen = given is None or given.dtype != bool
    bias = (0.0 if given is None else given) if seen else additive(given)
    weights, out = plain(*arrays, bias, E**-0.5)
    wanted = plain_gradients(g, *arrays, weights, E**-0.5)

    tensors = [torch.tensor(a.astype(kind), requires_grad=True) for a in arrays]
    attn_mask = None
    if not causal and given is not None:
        attn_mask = torch.tensor(given if given.dtype == bool else given.astype(kind))
    found = torch.nn.functional.scaled_dot_product_attention(
        *tensors, attn_mask=attn_mask, is_causal=causal
    )
    found.backward(torch.tensor(g.astype(kind)))
    rtol, atol = (1e-9, 1e-11) if kind is np.float64 else (2e-3, 1e-3 * size)
    np.testing.assert_allclose(found.detach().numpy(), out, rtol, atol)
    for t, gradient in zip(tensors, wanted, strict=True):
        np.testing.assert_allclose(t.grad.numpy(), gradient, rtol, atol)


def test_an_infinite_score_that_is_hidden() -> None:
    """A boolean mask adds -inf, as in PyTorch: the sum is not a number."""
    q, k = torch.ones(1, 1, 2, 1), torch.tensor([1.0, float("inf")]).reshape(1, 1, 2, 1)
    v = torch.tensor([3.0, 5.0]).reshape(1, 1, 2, 1)
    mask = torch.tensor([[True, False], [True, False]])
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    assert out.isnan().all()


def test_zeros_of_a_column_times_a_row_keep_their_signs() -> None:
    """As in PyTorch, whose products of matrices sum from nothing only where there is a sum."""
    column, row = torch.tensor([[-2.0], [3.0]]), torch.tensor([[0.0, 1.0]])
    assert torch.signbit(column @ row).tolist() == [[True, True], [False, False]]
    weight = torch.zeros(2, 2, requires_grad=True)
    torch.nn.functional.linear(row, weight).backward(column.T)
    assert repr(weight.grad) == "tensor([[-0., -2.],\n        [ 0.,  3.]])"
