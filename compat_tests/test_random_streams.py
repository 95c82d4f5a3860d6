"""The random kernels against PyTorch where it is installed, and against recorded digests.

Streams must agree in every bit, and so must the generator's state after each step.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from compat_tests import record_random as recorded
from functional.kernels import fused
from functional.kernels import random as kernels
from functional.kernels.box_muller import BoxMuller32
from functional.kernels.permutation import inside_out, shuffle, shuffle_by_loop
from functional.random import Generator

try:
    import torch
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="torch is not installed")
GOLDEN = json.loads(recorded.GOLDEN.read_text())
F32, F64, I64 = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int64)
G = Generator().manual_seed(0)  # where only the shape of the answer matters


def numpy_dtype(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name) if name == "bfloat16" else name)


class OurSide:
    """Plays the scenarios of record_random on our kernels."""

    def __init__(self, seed: int) -> None:
        self.generator = Generator().manual_seed(seed)

    def state(self) -> bytes:
        return self.generator.state_bytes().tobytes()

    def __getattr__(self, name: str) -> Any:
        kernel = getattr(kernels, name)

        def step(size: int, dtype: str, *args: Any) -> bytes:
            made = kernel(self.generator, size, numpy_dtype(dtype), *args)
            assert made.dtype == numpy_dtype(dtype) and made.flags.c_contiguous
            return made.tobytes()

        return step

    def bernoulli(self, size: int, dtype: str, p: float) -> bytes:
        return kernels.bernoulli(self.generator, p, size, numpy_dtype(dtype)).tobytes()

    def randint(self, size: int, dtype: str, low: int, high: int) -> bytes:
        return kernels.randint(self.generator, low, high, size, numpy_dtype(dtype)).tobytes()

    def random_from(self, size: int, dtype: str, low: int) -> bytes:
        return kernels.random_from(self.generator, low, size, numpy_dtype(dtype)).tobytes()

    def bernoulli_tensor(self, p: np.ndarray, dtype: str) -> bytes:
        return kernels.bernoulli_tensor(self.generator, p.astype(numpy_dtype(dtype))).tobytes()

    def normal_tensors(self, mean: np.ndarray, std: np.ndarray, dtype: str) -> bytes:
        kind = numpy_dtype(dtype)
        made = kernels.normal_tensors(self.generator, mean.astype(kind), std.astype(kind), kind)
        return made.tobytes()

    def multinomial(self, p: np.ndarray, dtype: str, count: int, replacement: bool) -> bytes:
        p = p.astype(numpy_dtype(dtype))
        return kernels.multinomial(self.generator, p, count, replacement).tobytes()

    def fill(self, name: str, layout: str, dtype: str, *args: Any) -> bytes:
        base = np.zeros((6, 8, 10), numpy_dtype(dtype))
        view = recorded.relayout(base, layout)
        assert getattr(kernels, name)(self.generator, view, *args) is view
        return base.tobytes()


# Whole streams


@pytest.mark.parametrize("name", recorded.scenarios())
@pytest.mark.parametrize("start", recorded.GOLDEN_SEEDS)
def test_scenario_as_recorded(name: str, start: int) -> None:
    side = OurSide(start)
    made = [recorded.digest(data) for data in recorded.scenarios()[name](side)]
    made.append(recorded.digest(side.state()))
    assert made == GOLDEN["scenarios"][f"{name}, seed {start}"].split()


@needs_torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", recorded.scenarios())
@pytest.mark.parametrize("start", [1, -3, 2**40 + 7, 2**64 - 5])
def test_scenario_beside_torch(name: str, start: int) -> None:
    ours, theirs = OurSide(start), recorded.TorchSide(start)
    play = recorded.scenarios()[name]
    for step, (mine, reference) in enumerate(zip(play(ours), play(theirs), strict=True)):
        assert mine == reference, f"{name}: step {step} differs"
        assert ours.state() == theirs.state(), f"{name}: state after step {step} differs"


@needs_torch
@pytest.mark.parametrize("dtype", recorded.FLOATS)
def test_many_seeds_beside_torch(dtype: str) -> None:
    for start in range(60):
        ours, theirs = OurSide(start), recorded.TorchSide(start)
        for size in (1, 5, 16, 21, 47, 4):
            for low, high in ((-1.0 / (start + 1), 0.3), (0.0, start + 1.0)):
                assert ours.uniform(size, dtype, low, high) == theirs.uniform(
                    size, dtype, low, high
                )
            for mean, std in ((0.0, 1.0), (0.7 * start, 0.01 + start)):
                assert ours.normal(size, dtype, mean, std) == theirs.normal(size, dtype, mean, std)
        assert ours.state() == theirs.state()


@pytest.mark.parametrize(("name", "row", "other"), recorded.sweeps())
def test_every_radius_and_angle(name: str, row: int, other: int) -> None:
    """All 2**24 inputs of the single-precision logarithm, sine and cosine."""
    step = 1 << 18
    transform, hashed = BoxMuller32(step), hashlib.sha256()
    for start in range(0, 2**24, step):
        words = recorded.sweep_words(np.arange(start, start + step, dtype=np.uint32), row, other)
        draws = words.astype(F32) * F32.type(2.0**-24)
        hashed.update(transform(draws, 0.0, 1.0).tobytes())
    assert hashed.hexdigest() == GOLDEN["sweeps"][name]


# Parts that a stream shows only rarely


def exact_fma(x: float, factor: float, addend: float) -> float:
    """One rounding, by way of integers."""
    from fractions import Fraction

    return float(Fraction(x) * Fraction(factor) + Fraction(addend))


def test_fma64_rounds_once() -> None:
    x = Generator().manual_seed(3).words64(4000).view(I64).astype(F64) * 2.0**-63
    for factor, addend in ((0.1, 0.7), (-3.0, 3.0), (1e300, -1e299), (0.3, 1e-17), (1.0, 0.1)):
        expected = [exact_fma(value, factor, addend) for value in x.tolist()]
        assert fused.fma64(x, factor, addend).tolist() == expected


def test_fma32_rounds_once_at_halfway_points() -> None:
    # 1 + 2**-24 is halfway between two float32; the product decides, far below float64's reach.
    x = np.array([2.0**-24, 2.0**-24 * (1 + 2.0**-23), 2.0**-24 * (1 - 2.0**-24)], F32)
    one_more, one_less = np.float32(1 + 2.0**-23), np.float32(1 - 2.0**-24)
    assert fused.fma32(x, one_more, 1.0).tolist() == [float(one_more)] * 2 + [float(one_more)]
    assert fused.fma32(x, one_less, 1.0).tolist() == [1.0, float(one_more), 1.0]


def test_narrow_sum_of_a_tie_broken_by_a_tiny_term() -> None:
    a, b = np.array([1 + 2.0**-24, 1 + 2.0**-24, 1 + 2.0**-24]), np.array([0.0, 1e-30, -1e-30])
    assert fused.narrow_sum(a, b).tolist() == [1.0, 1 + 2.0**-23, 1.0]


def test_uniform_never_answers_its_open_end() -> None:
    for name in recorded.FLOATS:
        dtype = numpy_dtype(name)
        made = kernels.uniform(Generator().manual_seed(1), 200_000, dtype)
        assert made.min() >= 0 and made.max() < 1
    same = kernels.uniform(G, 10, F32, 2.0, 2.0)
    assert same.tolist() == [2.0] * 10


def test_shuffles_agree_with_loops() -> None:
    random = np.random.default_rng(0)
    for n in (1, 2, 3, 10, 201, 3000):
        forward = (np.arange(n) + random.integers(0, n - np.arange(n))).astype(np.uint32)
        assert shuffle(forward).tolist() == shuffle_by_loop(forward).tolist()
        backward = random.integers(0, np.arange(n) + 1).astype(np.uint32)
        expected = list(range(n))
        for i, j in enumerate(backward.tolist()):
            expected[i] = expected[j]
            expected[j] = i
        assert inside_out(backward).tolist() == expected


def test_randperm_is_a_permutation() -> None:
    for n in (0, 1, 2, 200, 201, 60_000):
        assert sorted(kernels.randperm(G, n).tolist()) == list(range(n))


def test_dropout_mask_is_the_bernoulli_of_what_stays() -> None:
    mask = kernels.dropout_mask(Generator().manual_seed(5), 0.3, (40, 5), F32)
    kept = kernels.bernoulli(Generator().manual_seed(5), 0.7, (40, 5), F32)
    assert mask.tolist() == kept.tolist()
    if torch is not None:
        torch.manual_seed(5)
        dropped = torch.nn.functional.dropout(torch.ones(40, 5), 0.3)
        assert (dropped != 0).tolist() == (mask != 0).tolist()


def test_multinomial_of_a_transposed_matrix() -> None:
    p = recorded.weights(7, 9).astype(F32).T
    made = kernels.multinomial(Generator().manual_seed(5), p, 3)
    assert made.shape == (9, 3)
    if torch is not None:
        theirs = torch.Generator().manual_seed(5)
        expected = torch.multinomial(torch.from_numpy(p), 3, generator=theirs)
        assert made.tolist() == expected.tolist()


def test_bernoulli_probabilities_broadcast_in_a_strided_fill() -> None:
    p = np.linspace(0, 1, 8).astype(F32)
    base = np.zeros((6, 8), F32)
    kernels.bernoulli_tensor_(Generator().manual_seed(5), base.T, p[:, None])
    if torch is not None:
        theirs = torch.zeros(6, 8)
        theirs.t().bernoulli_(
            torch.from_numpy(p)[:, None], generator=torch.Generator().manual_seed(5)
        )
        assert base.tolist() == theirs.tolist()
    assert base[:, 0].tolist() == [0.0] * 6 and base[:, 7].tolist() == [1.0] * 6


def test_memory_order_lists_the_fastest_axis_last() -> None:
    base = np.arange(24).reshape(2, 3, 4)
    assert kernels.memory_order(base.transpose(2, 0, 1)).ravel().tolist() == list(range(24))
    assert kernels.memory_order(base[:, ::2]).tolist() == base[:, ::2].tolist()
