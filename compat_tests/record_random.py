"""Scenarios of random streams, and a script that records what PyTorch makes of them.

    python -m compat_tests.record_random

writes golden/random.json: for every scenario the digests of its draws, in order. A scenario is
played on a side, which is PyTorch here and the kernels in test_random_streams.py. The values in
float64 come from the C library; they were recorded with glibc on x86-64.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

GOLDEN = Path(__file__).parent / "golden" / "random.json"
SIZES = (0, 1, 2, 7, 15, 16, 17, 31, 32, 33, 100, 1000, 100_003)
FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "bool")
LAYOUTS = ("transposed", "stepped", "permuted", "window", "middle", "row")
GOLDEN_SEEDS = (0, 20260101)
SWEEP = 38 * 8  # pairs that one forced state gives
SWEEP_OTHER = (6_610_000, 10_172_000)  # first words paired with all second words

Scenario = Callable[[Any], Iterator[bytes]]


def relayout(array: Any, layout: str) -> Any:
    """A view of a (6, 8, 10) array or tensor, not contiguous."""
    return {
        "transposed": lambda: array.swapaxes(0, 1),
        "stepped": lambda: array[:, ::2],
        "permuted": lambda: array.swapaxes(0, 2).swapaxes(1, 2),
        "window": lambda: array[1:3, ::3, ::4],
        "middle": lambda: array[0].swapaxes(0, 1),
        "row": lambda: array[:, 0, :].swapaxes(0, 1),
    }[layout]()


def chances(size: int) -> np.ndarray:
    """Probabilities from 0 to 1 in no order, float64."""
    return (np.arange(size) * 37 % 101 + 0.0) / 100


def weights(*shape: int) -> np.ndarray:
    """Unnormalised weights, one in eleven of them zero, float64."""
    return (np.arange(np.prod(shape)) * 7 % 11 + 0.0).reshape(shape)


def continuous(side: Any, dtype: str, sizes: tuple[int, ...] = SIZES) -> Iterator[bytes]:
    """Every stream of a floating dtype in turn; odd sizes leave normals pending."""
    for size in sizes:
        yield side.uniform(size, dtype, 0.0, 1.0)
        yield side.normal(size, dtype, 0.0, 1.0)
        yield side.uniform(size, dtype, -0.3, 0.7)
        yield side.normal(size, dtype, 0.1, 3.0)
        yield side.normal(size, dtype, 0.0, 0.02)
        yield side.bernoulli(size, dtype, 0.3)
        yield side.exponential(size, dtype, 1.0)
        yield side.exponential(size, dtype, 3.7)
        yield side.cauchy(size, dtype, 0.3, 2.5)
        yield side.geometric(size, dtype, 0.01)
        yield side.log_normal(size, dtype, -0.3, 0.7)
        yield side.random_full(size, dtype)
        yield side.randint(size, dtype, -5, 200)
        yield side.bernoulli_tensor(chances(size), dtype)
        yield side.normal_tensors(chances(size) - 0.5, chances(size), dtype)


def integral(side: Any, dtype: str, sizes: tuple[int, ...] = SIZES) -> Iterator[bytes]:
    """Every stream of an integer dtype or bool in turn."""
    widest = {"bool": 2, "uint8": 256, "int8": 128, "int16": 2**15, "uint16": 2**16}
    high = widest.get(dtype, 2**28)
    for size in sizes:
        yield side.randint(size, dtype, 0, 2)
        yield side.randint(size, dtype, 0, high)
        yield side.randint(size, dtype, 0, high - 1)
        if dtype in ("int64", "uint64"):
            yield side.randint(size, dtype, 0, 2**40)
        if dtype == "int64":
            yield side.randint(size, dtype, -(2**63), 2**63 - 1)
            yield side.random_from(size, dtype, -(2**63))
        if dtype not in ("uint64", "bool"):
            yield side.random_from(size, dtype, 3)
        if dtype not in ("uint16", "uint32", "uint64"):
            yield side.random_full(size, dtype)
            yield side.bernoulli(size, dtype, 0.6)
        if dtype in ("uint8", "int8", "int16", "int32", "int64"):
            yield side.geometric(size, dtype, 0.4)
            yield side.randperm(min(size, high), dtype)


def strided(side: Any, dtype: str) -> Iterator[bytes]:
    """Fills of views that are not contiguous: the whole buffer each time."""
    for layout in LAYOUTS:
        yield side.fill("uniform_", layout, dtype, -2.0, 0.7)
        yield side.fill("normal_", layout, dtype, 0.1, 3.0)
        yield side.fill("bernoulli_", layout, dtype, 0.2)
        yield side.fill("exponential_", layout, dtype, 1.5)
        yield side.fill("cauchy_", layout, dtype, 0.0, 1.0)
        yield side.fill("geometric_", layout, dtype, 0.1)
        yield side.fill("log_normal_", layout, dtype, 0.0, 0.5)
        yield side.fill("randint_", layout, dtype, 0, 77)
        yield side.fill("random_", layout, dtype)


def mixed(side: Any, dtype: str) -> Iterator[bytes]:
    """Permutations, categories, complex numbers, and dtypes that share a pending normal."""
    other = "float64" if dtype == "float32" else "float32"
    for size in SIZES:
        yield side.randperm(size, "int64")
        yield side.normal(7, dtype, 0.0, 1.0)
        yield side.normal(3, other, 1.0, 2.0)
        yield side.uniform(size, "complex64", 0.0, 1.0)
        yield side.normal(size, "complex128", 0.0, 1.0)
        yield side.normal(size, "complex64", 0.5, 2.0)
    for rows in ((13,), (4, 9), (300,)):
        for count in (1, 3, 7):
            yield side.multinomial(weights(*rows), dtype, count, True)
            if count == 1 or dtype in ("float32", "float64"):  # the half types have equal keys
                yield side.multinomial(weights(*rows), dtype, count, False)


def scenarios() -> dict[str, Scenario]:
    """Name: scenario."""
    found: dict[str, Scenario] = {}
    for dtype in FLOATS:
        found[f"continuous {dtype}"] = lambda side, d=dtype: continuous(side, d)
        found[f"strided {dtype}"] = lambda side, d=dtype: strided(side, d)
        found[f"mixed {dtype}"] = lambda side, d=dtype: mixed(side, d)
    for dtype in INTEGERS:
        found[f"integral {dtype}"] = lambda side, d=dtype: integral(side, d)
    return found


def digest(data: bytes) -> str:
    """Eight hexadecimal digits of SHA-256: enough to tell streams apart, short to keep."""
    return hashlib.sha256(data).hexdigest()[:8]


class TorchSide:
    """Plays scenarios on PyTorch's generator."""

    def __init__(self, seed: int) -> None:
        import torch

        self.torch = torch
        self.generator = torch.Generator().manual_seed(seed)

    def state(self) -> bytes:
        return self.generator.get_state().numpy().tobytes()

    def bytes_of(self, tensor: Any) -> bytes:
        flat = tensor.contiguous().reshape(-1)
        return flat.view(self.torch.uint8).numpy().tobytes() if flat.numel() else b""

    def _dtype(self, name: str) -> Any:
        return getattr(self.torch, name)

    def _filled(self, name: str, size: int, dtype: str, *args: Any) -> bytes:
        tensor = self.torch.empty(size, dtype=self._dtype(dtype))
        return self.bytes_of(getattr(tensor, name)(*args, generator=self.generator))

    def uniform(self, size: int, dtype: str, low: float, high: float) -> bytes:
        return self._filled("uniform_", size, dtype, low, high)

    def normal(self, size: int, dtype: str, mean: float, std: float) -> bytes:
        return self._filled("normal_", size, dtype, mean, std)

    def bernoulli(self, size: int, dtype: str, p: float) -> bytes:
        return self._filled("bernoulli_", size, dtype, p)

    def exponential(self, size: int, dtype: str, rate: float) -> bytes:
        return self._filled("exponential_", size, dtype, rate)

    def cauchy(self, size: int, dtype: str, median: float, sigma: float) -> bytes:
        return self._filled("cauchy_", size, dtype, median, sigma)

    def geometric(self, size: int, dtype: str, p: float) -> bytes:
        return self._filled("geometric_", size, dtype, p)

    def log_normal(self, size: int, dtype: str, mean: float, std: float) -> bytes:
        return self._filled("log_normal_", size, dtype, mean, std)

    def random_full(self, size: int, dtype: str) -> bytes:
        return self._filled("random_", size, dtype)

    def randint(self, size: int, dtype: str, low: int, high: int) -> bytes:
        return self._filled("random_", size, dtype, low, high)

    def random_from(self, size: int, dtype: str, low: int) -> bytes:
        return self._filled("random_", size, dtype, low, None)

    def randperm(self, size: int, dtype: str) -> bytes:
        made = self.torch.randperm(size, dtype=self._dtype(dtype), generator=self.generator)
        return self.bytes_of(made)

    def bernoulli_tensor(self, p: np.ndarray, dtype: str) -> bytes:
        p = self.torch.from_numpy(p).to(self._dtype(dtype))
        return self.bytes_of(self.torch.bernoulli(p, generator=self.generator))

    def normal_tensors(self, mean: np.ndarray, std: np.ndarray, dtype: str) -> bytes:
        mean = self.torch.from_numpy(mean).to(self._dtype(dtype))
        std = self.torch.from_numpy(std).to(self._dtype(dtype))
        return self.bytes_of(self.torch.normal(mean, std, generator=self.generator))

    def multinomial(self, p: np.ndarray, dtype: str, count: int, replacement: bool) -> bytes:
        p = self.torch.from_numpy(p).to(self._dtype(dtype))
        made = self.torch.multinomial(p, count, replacement, generator=self.generator)
        return self.bytes_of(made)

    def fill(self, name: str, layout: str, dtype: str, *args: Any) -> bytes:
        base = self.torch.zeros(6, 8, 10, dtype=self._dtype(dtype))
        name = "random_" if name == "randint_" else name
        getattr(relayout(base, layout), name)(*args, generator=self.generator)
        return self.bytes_of(base)

    def normals_from(self, words: np.ndarray) -> np.ndarray:
        """randn from given words, at most 623 of them, a multiple of 16."""
        state = self.generator.get_state().numpy()
        state[:24] = np.frombuffer(struct.pack("<QiiQ", 0, 624, 1, 0), np.uint8)
        key = np.zeros(624, np.uint64)
        key[: words.size] = untemper(words)
        state[24 : 24 + key.nbytes] = key.view(np.uint8)
        self.generator.set_state(self.torch.from_numpy(state))
        return self.torch.randn(words.size, generator=self.generator).numpy()


def untemper(words: np.ndarray) -> np.ndarray:
    """The key words of MT19937 that give ``words``: its tempering, undone."""
    y = words ^ words >> np.uint32(18)
    y ^= (y << np.uint32(15)) & np.uint32(0xEFC60000)
    x = y
    for _ in range(5):  # seven more bits are right each time
        x = y ^ (x << np.uint32(7)) & np.uint32(0x9D2C5680)
    z = x
    for _ in range(3):
        z = x ^ z >> np.uint32(11)
    return z


def sweep_words(varying: np.ndarray, row: int, other: int) -> np.ndarray:
    """Words whose pairs run through ``varying`` in one row and hold ``other`` in the second."""
    words = np.full((varying.size // 8, 2, 8), other, np.uint32)
    words[:, row] = varying.reshape(-1, 8)
    return words.reshape(-1)


def sweeps() -> list[tuple[str, int, int]]:
    """(name, row that takes all 2**24 values, word in the other row)."""
    found = [("every radius", 0, 0)]
    return found + [(f"every angle, radius {word}", 1, word) for word in SWEEP_OTHER]


def record_sweep(row: int, other: int) -> str:
    """The digest of PyTorch's normals over all 2**24 words of one row."""
    side, hashed = TorchSide(0), hashlib.sha256()
    for start in range(0, 2**24, SWEEP):
        varying = np.arange(start, min(start + SWEEP, 2**24), dtype=np.uint32)
        hashed.update(side.normals_from(sweep_words(varying, row, other)).tobytes())
    return hashed.hexdigest()


def record() -> dict[str, Any]:
    """All digests, from PyTorch."""
    golden: dict[str, Any] = {"scenarios": {}, "sweeps": {}}
    for name, play in scenarios().items():
        for seed in GOLDEN_SEEDS:
            side = TorchSide(seed)
            made = [digest(data) for data in play(side)]
            golden["scenarios"][f"{name}, seed {seed}"] = " ".join([*made, digest(side.state())])
    for name, row, other in sweeps():
        golden["sweeps"][name] = record_sweep(row, other)
    return golden


if __name__ == "__main__":
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(json.dumps(record(), indent=1) + "\n")
