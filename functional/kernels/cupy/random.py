"""Random numbers on a GPU: seeded and reproducible, but not PyTorch's numbers.

Same names as ``kernels/random.py``, whose checks (and so PyTorch's errors) they run first, on one
element at most. The words come from Philox4x32-10, by their place in the generator's stream.
"""

from __future__ import annotations

import contextlib
import math
from types import SimpleNamespace
from typing import Any

import cupy
import numpy as np

from .. import random as checks
from ..permutation import check_permutation
from ..sampling import _check_multinomial

_NOBODY: Any = SimpleNamespace(  # a generator of zeros
    words=lambda count: np.zeros(count, np.uint32),
    words64=lambda count: np.zeros(count, np.uint64),
    whole64=lambda most: most,
    lock=contextlib.nullcontext(), pending_double=None,
)  # fmt: skip


def _size(shape: Any) -> int:
    return shape if isinstance(shape, int) else math.prod(shape)


def unit(g: Any, count: int, dtype: Any) -> Any:
    """Uniform numbers in [0, 1), float64 or float32, flat."""
    if dtype == np.float64:
        return (g.words64(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return (g.words(count) >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)


def _real(dtype: Any) -> np.dtype:
    """The dtype that numbers of a dtype are drawn in."""
    return np.dtype(np.float64 if dtype.char in "dD" else np.float32)


def uniform(g: Any, shape: Any, dtype: Any, low: float = 0.0, high: float = 1.0) -> Any:
    """Draws from [low, high); of complex numbers, both parts."""
    dtype = np.dtype(dtype)
    checks.uniform(_NOBODY, 0, dtype, low, high)
    work, parts = _real(dtype), 2 if dtype.kind == "c" else 1
    u = unit(g, _size(shape) * parts, work) * work.type(high - low) + work.type(low)
    return (u.view(dtype) if parts == 2 else u.astype(dtype, copy=False)).reshape(shape)


def _normals(g: Any, count: int, work: Any) -> Any:
    """Standard normal numbers (Box and Muller, 1958)."""
    half = (count + 1) // 2
    u = unit(g, 2 * half, work)
    radius = cupy.sqrt(-2 * cupy.log1p(-u[:half]))
    angle = u[half:] * work.type(2 * math.pi)
    return cupy.concatenate([radius * cupy.cos(angle), radius * cupy.sin(angle)])[:count]


def normal(g: Any, shape: Any, dtype: Any, mean: float = 0.0, std: float = 1.0) -> Any:
    """Normal numbers; the parts of complex ones have variance std²/2 each."""
    dtype = np.dtype(dtype)
    checks.normal_(_NOBODY, np.empty(0, dtype), mean, std)
    work, count = _real(dtype), _size(shape)
    if dtype.kind == "c":
        z = _normals(g, 2 * count, work).view(dtype) * work.type(std / math.sqrt(2))
        return (z + dtype.type(mean)).reshape(shape)
    z = _normals(g, count, work) * work.type(std) + work.type(mean)
    return z.astype(dtype, copy=False).reshape(shape)


def normal_tensors(g: Any, mean: Any, std: Any, dtype: Any) -> Any:
    """Normal numbers with a mean and a standard deviation each."""
    if isinstance(std, cupy.ndarray) and std.size and std.dtype.kind != "c" and not std.min() >= 0:
        raise RuntimeError("normal expects all elements of std >= 0.0")
    shape = np.broadcast_shapes(getattr(mean, "shape", ()), getattr(std, "shape", ()))
    return (normal(g, shape, dtype) * std + mean).astype(dtype, copy=False)


def randint(g: Any, low: int, high: int, shape: Any, dtype: Any) -> Any:
    """Integers in [low, high)."""
    dtype = np.dtype(dtype)
    checks.randint(_NOBODY, low, high, 0, dtype)
    draws = g.words64(_size(shape)) % np.uint64(high - low)
    return (draws.astype(np.int64) + low).astype(dtype).reshape(shape)


def randint_(g: Any, x: Any, low: int, high: int) -> Any:
    """Fill with integers in [low, high)."""
    checks.randint_(_NOBODY, np.empty(0, x.dtype), low, high)
    x[...] = (g.words64(x.size) % np.uint64(high - low)).astype(np.int64).reshape(x.shape) + low
    return x


def random_(g: Any, x: Any) -> Any:
    """Fill with integers of the dtype's whole range, those that it holds exactly."""
    return random_from_(g, x, 0)


def random_from_(g: Any, x: Any, low: int) -> Any:
    """Fill with integers from ``low`` to the largest the dtype counts to."""
    if x.dtype.kind == "b":
        return randint_(g, x, low, 2)
    if x.dtype.kind in "iu":
        return randint_(g, x, low, int(np.iinfo(x.dtype).max) + 1)
    return randint_(g, x, low, 2 ** min(np.finfo(x.dtype).nmant + 1, 53) + 1)


def bernoulli(g: Any, p: float, shape: Any, dtype: Any) -> Any:
    """Ones with probability ``p``."""
    dtype = np.dtype(dtype)
    checks.bernoulli(_NOBODY, p, min(_size(shape), 1), dtype)
    return (unit(g, _size(shape), np.float64) < p).astype(dtype).reshape(shape)


def bernoulli_tensor_(g: Any, x: Any, p: Any) -> Any:
    """Fill with ones of probabilities ``p``."""
    if p.size and not bool(((p >= 0) & (p <= 1)).all()):
        raise RuntimeError(checks._PROBABILITY)
    x[...] = unit(g, x.size, np.float64).reshape(x.shape) < p
    return x


def dropout_mask(g: Any, p: float, shape: Any, dtype: Any = np.bool_) -> Any:
    """What dropout with probability ``p`` keeps."""
    return bernoulli(g, 1 - p, shape, dtype)


def randperm(g: Any, n: int, dtype: Any = np.int64) -> Any:
    """A permutation of 0 … n - 1: places sorted by random keys."""
    check_permutation(n, np.dtype(dtype))
    return cupy.argsort(g.words64(n)).astype(dtype)


def _continuous(name: str, formula: Any) -> Any:
    """A distribution given by its inverse: ``formula(u, *parameters)``."""

    def draw(g: Any, shape: Any, dtype: Any, *parameters: float) -> Any:
        dtype = np.dtype(dtype)
        getattr(checks, name)(_NOBODY, min(_size(shape), 1), dtype, *parameters)
        u = unit(g, _size(shape), np.dtype(np.float64))
        return formula(u, *parameters).astype(dtype).reshape(shape)

    draw.__name__ = name
    return draw


def _filling(draw: Any) -> Any:
    def fill(g: Any, x: Any, *parameters: Any) -> Any:
        x[...] = draw(g, x.shape, x.dtype, *parameters)
        return x

    fill.__name__ = f"{draw.__name__}_"
    return fill


exponential = _continuous("exponential", lambda u, rate=1.0: -cupy.log1p(-u) / rate)
geometric = _continuous("geometric", lambda u, p: cupy.ceil(cupy.log1p(-u) / math.log1p(-p)))
cauchy = _continuous(
    "cauchy", lambda u, median=0.0, sigma=1.0: median + sigma * cupy.tan(math.pi * (u - 0.5))
)


def log_normal(g: Any, shape: Any, dtype: Any, mean: float = 1.0, std: float = 2.0) -> Any:
    """exp of normal numbers."""
    checks.log_normal(_NOBODY, min(_size(shape), 1), np.dtype(dtype), mean, std)
    return cupy.exp(normal(g, shape, np.float64, mean, std)).astype(dtype)


def bernoulli_(g: Any, x: Any, p: float) -> Any:
    """Fill with ones of probability ``p``."""
    x[...] = bernoulli(g, p, x.shape, x.dtype)
    return x


uniform_, normal_, exponential_ = _filling(uniform), _filling(normal), _filling(exponential)
geometric_, cauchy_, log_normal_ = _filling(geometric), _filling(cauchy), _filling(log_normal)


def multinomial(g: Any, p: Any, num_samples: int, replacement: bool = False) -> Any:
    """Categories: the largest p / e over exponential numbers e; with replacement, by searching."""
    _check_multinomial(p, num_samples, replacement)
    wide = p.astype(np.float64)
    if not bool(cupy.isfinite(wide).all()) or bool((wide < 0).any()):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if bool((wide.sum(-1) == 0).any()):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if replacement:
        ends = cupy.cumsum(wide, -1)
        u = unit(g, _size(p.shape[:-1]) * num_samples, np.float64)
        u = u.reshape(*p.shape[:-1], num_samples) * ends[..., -1:]
        return (u[..., None] >= ends[..., None, :]).sum(-1)
    keys = wide / exponential(g, p.shape, np.float64)
    return cupy.ascontiguousarray(cupy.argsort(-keys, axis=-1)[..., :num_samples])


def poisson(g: Any, rates: Any) -> Any:
    """Counts of exponential steps that fit into each rate: as many rounds as the largest needs."""
    left = rates.astype(np.float64)
    count = cupy.zeros(rates.shape, np.int64)
    while left.size:
        left = left - exponential(g, rates.shape, np.float64)
        inside = left >= 0
        if not bool(inside.any()):
            break
        count += inside
    return count.astype(rates.dtype)


def binomial(g: Any, count: Any, prob: Any) -> Any:
    """Successes among as many draws as the largest count asks for."""
    count, prob = cupy.broadcast_arrays(count, prob)
    found = cupy.zeros(count.shape, np.int64)
    for trial in range(int(count.max()) if count.size else 0):
        u = unit(g, _size(count.shape), np.float64).reshape(count.shape)
        found += (u < prob) & (trial < cupy.floor(count))
    return found.astype(count.dtype)
