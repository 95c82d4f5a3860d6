"""Integers with numbers, indexing, joining and softmax where they take a short way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchlike as torch

F = torch.nn.functional
R = np.random.default_rng(0)


def same(found: Any, expected: Any) -> None:
    """Equal dtype, shape and values."""
    expected = np.asarray(expected)
    assert found.numpy().dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.numpy(), expected, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
def test_integers_with_numbers(kind: Any) -> None:
    x = R.integers(0, 100, 50).astype(kind)
    t = torch.tensor(x)
    same(t * 2, x * kind(2))
    same(t + 1, x + kind(1))
    same(t % 7, x % kind(7))
    same(t // 3, x // kind(3))
    same(t & 3, x & kind(3))
    same(t < 5, x < 5)
    same(t / 2, x.astype(np.float32) / 2)
    same(t * 0.5, x.astype(np.float32) * np.float32(0.5))
    assert t.add_(1).numpy().tolist() == (x + kind(1)).tolist()


def test_numbers_that_do_not_fit_wrap() -> None:
    t = torch.tensor([1, 2, 255], dtype=torch.uint8)
    assert (t + 256).tolist() == [1, 2, 255]
    assert (t == 257).tolist() == [True, False, False]
    assert (torch.tensor([True, False]) + 1).dtype is torch.int64


def test_zero_division_raises() -> None:
    for operation in (lambda t: t % 0, lambda t: t // 0):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            operation(torch.tensor([1, 2]))


def test_the_default_dtype_is_asked_at_every_call() -> None:
    t = torch.tensor([1, 2])
    assert (t / 2).dtype is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert (t / 2).dtype is torch.float64
        assert (t * 1.5).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_mixed_dtypes_and_orders() -> None:
    k, x = R.integers(0, 9, (4, 5)), R.standard_normal((4, 5)).astype(np.float32)
    same(torch.tensor(k) * torch.tensor(x), k.astype(np.float32) * x)
    square = torch.tensor(x[:, :4])
    both = square.T + square
    same(both, x[:, :4].T + x[:, :4])
    assert both.stride() == (1, 4)
    assert torch.logical_and(square.T, square).dtype is torch.bool


def test_reading_and_writing() -> None:
    x = R.standard_normal((6, 5)).astype(np.float32)
    i = np.array([0, -1, 3])
    t = torch.tensor(x)
    same(t[torch.tensor(i)], x[i])
    same(t[torch.tensor(i), torch.tensor(i)], x[i, i])
    same(t[t > 0], x[x > 0])
    same(t[:, 2], x[:, 2])
    same(t[1:, None, ::2], x[1:, None, ::2])
    for key, own in (((0, slice(None)), (0, slice(None))), (torch.tensor(i), i), (t > 0, x > 0)):
        t[key], x[own] = 2.0, 2.0
        same(t, x)
    version = t._version
    t[0] = torch.ones(5)
    assert t._version == version + 1


def test_writing_that_must_not_be_short() -> None:
    t = torch.zeros(3)
    with pytest.raises(IndexError, match="index 3 is out of bounds for dimension 0 with size 3"):
        t[3] = 1.0
    with pytest.raises(RuntimeError, match="shape mismatch"):
        t[torch.tensor([0, 1])] = torch.ones(3)
    assert t.tolist() == [0.0, 0.0, 0.0]
    leaf = torch.zeros(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        leaf[0] = 1.0
    wide = torch.zeros(2, 3, 4)
    wide[0, :, torch.tensor([1, 2])] = 1.0  # the slice at 0 first, as in PyTorch
    assert wide[0, :, torch.tensor([1, 2])].shape == (3, 2)
    weight = torch.ones(2, requires_grad=True)
    t[torch.tensor([0, 2])] = weight
    assert t.grad_fn.name() == "IndexPutBackward0"


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_joining(dim: int) -> None:
    parts = [R.standard_normal((3, 4)).astype(np.float32) for _ in range(3)]
    tensors = [torch.tensor(p) for p in parts]
    same(torch.cat(tensors, dim), np.concatenate(parts, dim))
    same(torch.stack(tensors, dim), np.stack(parts, dim))
    across = torch.cat([t.T for t in tensors], dim)
    same(across, np.concatenate([p.T for p in parts], dim))
    assert across.is_contiguous()
    assert [c.shape[0] for c in torch.arange(10).chunk(4)] == [3, 3, 3, 1]


@pytest.mark.parametrize("shape", [(10, 10), (64, 10), (30, 100), (100, 100), (200, 150), (5,)])
@pytest.mark.parametrize("size", [1.0, 50.0])
def test_softmax(shape: tuple[int, ...], size: float) -> None:
    x = (R.standard_normal(shape) * size).astype(np.float32)
    g = R.standard_normal(shape).astype(np.float32)
    for dim in range(len(shape)):
        wide = x.astype(np.float64)
        wide -= wide.max(dim, keepdims=True)
        y = np.exp(wide) / np.exp(wide).sum(dim, keepdims=True)
        logs = wide - np.log(np.exp(wide).sum(dim, keepdims=True))
        slopes = (
            (F.softmax, y, (g - (g * y).sum(dim, keepdims=True)) * y),
            (F.log_softmax, logs, g - y * g.sum(dim, keepdims=True)),
        )
        for function, values, slope in slopes:
            t = torch.tensor(x, requires_grad=True)
            z = function(t, dim)
            z.backward(torch.tensor(g))
            np.testing.assert_allclose(z.detach().numpy(), values, rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(t.grad.numpy(), slope, rtol=1e-4, atol=2e-5)


def test_softmax_keeps_what_is_not_finite() -> None:
    x = torch.tensor([[0.0, float("-inf")], [float("nan"), 0.0], [1.0, 1.0]])
    y = F.softmax(x, 1)
    assert y[0].tolist() == [1.0, 0.0]
    assert y[1].isnan().all()
    assert y[2].tolist() == [0.5, 0.5]


def test_cross_entropy() -> None:
    x, at = R.standard_normal((40, 30)).astype(np.float32), R.integers(0, 30, 40)
    at[3] = -100
    logs = x - np.log(np.exp(x).sum(1, keepdims=True))
    picked = -logs[np.arange(40), np.maximum(at, 0)][at >= 0]
    found = F.cross_entropy(torch.tensor(x), torch.tensor(at))
    np.testing.assert_allclose(found.item(), picked.mean(), rtol=1e-5)
    found = F.cross_entropy(torch.tensor(x), torch.tensor(at), reduction="sum")
    np.testing.assert_allclose(found.item(), picked.sum(), rtol=1e-5)
    with pytest.raises(IndexError, match="Target 30 is out of bounds"):
        F.cross_entropy(torch.tensor(x), torch.full((40,), 30))


def test_repeated_many_times_over() -> None:
    x = R.standard_normal((40, 50)).astype(np.float32)
    for times in (1, 2, 3, 20):
        same(torch.tensor(x).repeat_interleave(times, 1), x.repeat(times, 1))
        same(torch.tensor(x).repeat_interleave(times), x.reshape(-1).repeat(times))
    x = R.standard_normal(1 << 19).astype(np.float32)
    same(torch.tensor(x).repeat_interleave(2), x.repeat(2))


@pytest.mark.parametrize("dim", [0, 1])
def test_rolled_and_flipped(dim: int) -> None:
    x = R.integers(0, 99, (4, 5))
    for step in (-7, -1, 0, 2, 9):
        same(torch.tensor(x).roll(step, dim), np.roll(x, step, dim))
        same(torch.tensor(x).roll(step), np.roll(x, step))
    same(torch.tensor(x).flip(dim), np.flip(x, dim))


@pytest.mark.parametrize("dim", [0, 1])
def test_index_add(dim: int) -> None:
    x, source = R.standard_normal((5, 6)), R.standard_normal((5, 6))
    at = R.integers(0, 5, source.shape[dim])
    expected = x.copy()
    np.add.at(expected, at if dim == 0 else (slice(None), at), source)
    found = torch.tensor(x).index_add(dim, torch.tensor(at), torch.tensor(source))
    same(found, expected)
    flat = np.zeros(5)
    np.add.at(flat, at, source[0][: at.size] if dim else source[:, 0])
    part = torch.tensor(source[0][: at.size] if dim else source[:, 0].copy())
    same(torch.zeros(5, dtype=torch.float64).scatter_add(0, torch.tensor(at), part), flat)
