"""Paths that only large arrays take, against plain NumPy formulas; random streams across them."""

from __future__ import annotations

import hashlib
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import torchlike as torch
from functional.kernels import normal as normals
from functional.kernels.errorfn import erf, erfc, erfinv
from functional.random import Generator

F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
RNG = np.random.default_rng(5)


def numbers(*shape: int, dtype: Any = F32) -> np.ndarray:
    return RNG.standard_normal(shape).astype(dtype)


# --- normals from parts of whole blocks of words --------------------------------------------------


def in_one_piece(source: Generator, count: int, dtype: np.dtype) -> np.ndarray:
    """The same normals by the path of long fills."""
    z = np.empty(count, dtype)
    rest = count % 16
    last = normals._fill_whole(source, z, count - rest, rest if dtype == F32 else 0, 0.5, 2.0)
    if rest:
        z[-16:] = last[-16:]
    return z


@pytest.mark.parametrize("dtype", [F32, np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)])
def test_short_fills_are_long_ones(dtype: np.dtype) -> None:
    ours, plain = Generator().manual_seed(3), Generator().manual_seed(3)
    for count in (16, 100, 17, 624, 1000, 47, 1024) * 6:
        made = normals.normal(ours, count, dtype, 0.5, 2.0)
        assert made.tobytes() == in_one_piece(plain, count, dtype).tobytes()
        assert ours.state_bytes().tobytes() == plain.state_bytes().tobytes()


def test_a_state_restored_amid_words_made_ahead_continues_the_stream() -> None:
    source = Generator().manual_seed(9)
    for step in range(60):
        normals.normal(source, 100, F32)
        twin = source.clone_state()
        if step % 7 == 0:
            assert twin.words(step * 31).tolist() == source.words(step * 31).tolist()
        assert (
            normals.normal(twin, 500, F32).tobytes() == normals.normal(source, 500, F32).tobytes()
        )
        assert twin.state_bytes().tobytes() == source.state_bytes().tobytes()


def test_numbers_and_states_as_recorded() -> None:
    """Digest of PyTorch 2.13's: 40 calls of randn(100) after manual_seed(1)."""
    torch.manual_seed(1)
    hashed = hashlib.sha256()
    for _ in range(40):
        hashed.update(torch.randn(100).numpy().tobytes())
        hashed.update(torch.get_rng_state().numpy().tobytes())
    assert hashed.hexdigest() == "3a029cb1968f780eb841c720ffcb1137d5bf05c8b733e4c69a380aa9c0828dc6"


# --- the inverse of the error function ------------------------------------------------------------


def test_erfinv_in_float64() -> None:
    x = np.concatenate([RNG.uniform(-1, 1, 4000), 1 - 10.0 ** RNG.uniform(-15.9, -1, 2000)])
    z = erfinv(x)
    slope = 2 / np.sqrt(np.pi) * np.exp(-z * z)
    rest = np.where(x > 0.5, (1 - x) - erfc(z), erf(z) - x)
    assert np.all(abs(rest) <= 1e-15 * abs(z) * slope + 2.3e-16 * np.where(x > 0.5, 1 - x, abs(x)))


def test_erfinv_in_float32_is_float64_rounded() -> None:
    x = np.concatenate([RNG.uniform(-1, 1, 300_000), 1 - 10.0 ** RNG.uniform(-7, -1, 2000)])
    x = x.astype(F32)
    x = x[abs(x) < 1]
    exact = erfinv(x.astype(F64))
    assert np.all(abs(erfinv(x) - exact) <= 0.57 * np.spacing(abs(exact).astype(F32)))


@pytest.mark.parametrize("dtype", [F32, F64])
def test_erfinv_at_and_beyond_the_ends(dtype: np.dtype) -> None:
    with np.errstate(all="ignore"):
        z = erfinv(np.array([-1, 1, 0.0, -0.0, 2, np.nan], dtype))
    assert z[:4].tolist() == [-np.inf, np.inf, 0, 0]
    assert np.signbit(z[3]) and np.isnan(z[4:]).all()


# --- reductions and scans -------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(300, 1000), (7, 131, 67), (2, 40_001)])
def test_products_of_long_rows(shape: tuple[int, ...]) -> None:
    x = RNG.choice([-1.0, 1.0], shape)
    for factor in (2, 0.5):  # powers of two: exact in any order
        places = RNG.integers(0, shape[-1], (*shape[:-1], 12))
        np.put_along_axis(x, places, np.take_along_axis(x, places, -1) * factor, -1)
    for dtype in (F32, F64):
        t = torch.from_numpy(x.astype(dtype))
        for keep in (False, True):
            found = t.prod(-1, keepdim=keep).numpy()
            assert found.dtype == dtype
            assert np.array_equal(found, np.prod(x, -1, keepdims=keep))


@pytest.mark.parametrize("size", [2049, 70_000, 1_000_003])
def test_product_of_everything(size: int) -> None:
    x = RNG.choice([-1.0, 1.0], size)
    x[RNG.integers(0, size, 100)] *= 2
    x[RNG.integers(0, size, 100)] *= 0.5
    assert float(torch.from_numpy(x.astype(F32)).prod()) == np.prod(x)


@pytest.mark.parametrize("shape", [(40, 1000), (3, 5, 64)])
def test_norms_of_rows(shape: tuple[int, ...]) -> None:
    for dtype, close in ((F32, 1e-6), (F64, 1e-14)):
        x = numbers(*shape, dtype=dtype)
        expected = np.sqrt((x.astype(F64) ** 2).sum(-1))
        np.testing.assert_allclose(torch.from_numpy(x).norm(dim=-1).numpy(), expected, close)
        kept = torch.from_numpy(x).norm(dim=-1, keepdim=True)
        assert kept.shape == (*shape[:-1], 1)


def test_running_sums_of_rows_that_blocks_do_not_divide() -> None:
    x = numbers(600, 1001)
    found = torch.from_numpy(x).cumsum(1).numpy()
    assert np.array_equal(found, np.add.accumulate(x, 1))


# --- elementwise ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [5000, 400_000])
def test_remainder_and_hypot(size: int) -> None:
    x, y = numbers(size), numbers(size)
    x[::7] = RNG.integers(-9, 9, x[::7].size)
    y[::7] = 3 * RNG.choice([-1, 1], y[::7].size)
    for a, b in ((x, y), (x * 1e9, y), (x, np.where(y > 2, np.inf, y)), (x, np.where(y > 2, 0, y))):
        a, b = a.astype(F32), b.astype(F32)
        found = torch.remainder(torch.from_numpy(a), torch.from_numpy(b)).numpy()
        with np.errstate(all="ignore"):
            assert np.array_equal(found, np.remainder(a, b), equal_nan=True)
    found = torch.remainder(torch.from_numpy(x), 0.3).numpy()
    assert np.array_equal(found, np.remainder(x, F32.type(0.3)))
    far = np.where(y > 2, F32.type(3e38), y)
    odd = np.where(y > 2, F32.type(np.nan), np.where(y < -2, F32.type(np.inf), y))
    for b in (y, far, odd):
        found = torch.hypot(torch.from_numpy(x), torch.from_numpy(b)).numpy()
        expected = np.hypot(x.astype(F64), b.astype(F64)).astype(F32)
        np.testing.assert_allclose(found, expected, 1.2e-7)


def test_sign_of_many_numbers() -> None:
    x = numbers(300_001)
    x[:4] = np.nan, -0.0, np.inf, -np.inf
    assert torch.from_numpy(x).sign().numpy().tolist()[:4] == [0, 0, 1, -1]
    assert np.array_equal(torch.from_numpy(x[4:]).sign().numpy(), np.sign(x[4:]))


@pytest.mark.parametrize("half", [torch.float16, torch.bfloat16])
def test_many_numbers_to_half_types_and_back(half: Any) -> None:
    x = numbers(700, 501)
    found = torch.from_numpy(x).to(half)
    small = torch.stack([torch.from_numpy(row).to(half) for row in x])
    assert torch.equal(found, small)
    assert torch.equal(found.float(), torch.stack([row.float() for row in small]))


@pytest.mark.parametrize("steps", [2, 3, 1000, 70_001])
def test_linspace_from_both_ends(steps: int) -> None:
    for low, high in ((0, 1), (-3.5, 7.25), (5, -5)):
        found = torch.linspace(low, high, steps).numpy()
        step = (F32.type(high) - F32.type(low)) / F32.type(steps - 1)
        i = np.arange(steps)  # products and sums are rounded together, at the end
        lower = low + np.float64(step) * i
        upper = high - np.float64(step) * (steps - 1 - i)
        assert np.array_equal(found, np.where(i < steps // 2, lower, upper).astype(F32))


# --- by rank --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [100, 5000, 100_000])
def test_elements_by_rank(size: int) -> None:
    x = numbers(size).round(2)
    x[3] = -0.0
    order = np.argsort(x, kind="stable")
    t = torch.from_numpy(x)
    for k in (1, 2, size // 2, size):
        value, at = t.kthvalue(k)
        assert at == order[k - 1] and value == x[order[k - 1]]
    value, at = t.median(0)
    assert at == order[(size - 1) // 2] and value == x[at]
    x[size // 3] = np.nan
    order = np.argsort(x, kind="stable")
    for k in (1, size // 2, size):
        assert t.kthvalue(k)[1] == order[k - 1]
    value, at = t.median(0)
    assert at == size // 3 and value != value


def test_medians_of_rows() -> None:
    x = numbers(30, 41)
    order = np.argsort(x, 1, kind="stable")[:, 20]
    values, at = torch.from_numpy(x).median(1)
    assert at.tolist() == order.tolist() and values.tolist() == x[np.arange(30), order].tolist()
    values, at = torch.from_numpy(x.T.copy()).median(0, keepdim=True)
    assert at.tolist() == [order.tolist()] and values.shape == (1, 30)


@pytest.mark.parametrize("shape", [(100,), (900,), (7, 100), (40, 300)])
def test_the_few_largest(shape: tuple[int, ...]) -> None:
    x = numbers(*shape)
    values, at = torch.from_numpy(x).topk(5)
    expected = np.argsort(-x, -1, kind="stable")[..., :5]
    assert np.array_equal(at.numpy(), expected)
    assert np.array_equal(values.numpy(), np.take_along_axis(x, expected, -1))


def test_distinct_values() -> None:
    for x in (RNG.integers(-5, 5, 1000), np.zeros(0, np.int64), np.array([3.5, 0.5, 3.5])):
        assert np.array_equal(torch.unique(torch.from_numpy(x)).numpy(), np.unique(x))
