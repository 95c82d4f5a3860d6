"""Binomial numbers, draw for draw as PyTorch's CPU generator makes them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .draws import F32, F64, not_implemented
from .poisson import UniformDraws

if TYPE_CHECKING:
    from ..random import Generator

# log k! less Stirling's formula for k = 0 … 9 (Hörmann 1993, table 1)
_TAIL = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
    0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
    0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def binomial(generator: Generator, count: np.ndarray, prob: np.ndarray) -> np.ndarray:
    """Successes in ``count`` trials of probability ``prob``, which broadcast; count's dtype."""
    if count.dtype not in (F32, F64):
        raise not_implemented("binomial_cpu", count.dtype)
    count, prob = np.broadcast_arrays(count, prob)
    one = count.dtype.type(1)
    with np.errstate(all="ignore"):
        rare = np.where(prob <= 0.5, prob, one - prob)  # the rarer of the two outcomes
        parts = (count, prob, rare, count * rare, count * rare * (one - rare), rare / (one - rare))
    with generator.lock:
        draw = UniformDraws(generator)
        columns = [p.ravel().tolist() for p in parts]
        found = [_one(draw, *row) for row in zip(*columns, strict=True)]
        draw.finish()
    return np.array(found, count.dtype).reshape(count.shape)


def _one(
    draw: UniformDraws, n: float, p: float, rare: float, mean: float, variance: float, odds: float
) -> float:
    if n <= 0 or p <= 0:
        return 0.0
    if p >= 1:
        return n
    if math.isnan(p):
        return math.nan
    if mean >= 10:
        found = _rejection(n, rare, mean, variance, odds, draw)
    else:
        found = _waiting(n, rare, draw)
    return found if p <= 0.5 else n - found


def _waiting(n: float, p: float, draw: UniformDraws) -> float:
    """Count geometric waiting times that fit into n trials (Devroye, Non-Uniform Random Variate
    Generation, 1986, X.4.3)."""
    log_rest, total, found = math.log1p(-p), 0.0, 0.0
    while True:
        u = draw()
        total += math.ceil(math.log(u) / log_rest) if u > 0 else math.inf
        if total > n:
            return found
        found += 1.0


def _tail(k: float) -> float:
    if k < 10:
        return _TAIL[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def _rejection(
    n: float, p: float, mean: float, variance: float, r: float, draw: UniformDraws
) -> float:
    """Transformed rejection: Hörmann, "The generation of binomial random variates", Journal of
    Statistical Computation and Simulation 46 (1993), algorithm BTRS."""
    deviation = math.sqrt(variance)
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = mean + 0.5
    accept = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * deviation
    m = float(math.floor((n + 1) * p))
    while True:
        u = draw() - 0.5
        v = draw()
        us = 0.5 - abs(u)
        k = float(math.floor((2 * a / us + b) * u + c)) if us else -1.0
        if k < 0 or k > n:
            continue
        if us >= 0.07 and v <= accept:
            return k
        bound = (
            (m + 0.5) * math.log((m + 1) / (r * (n - m + 1)))
            + (n + 1) * math.log((n - m + 1) / (n - k + 1))
            + (k + 0.5) * math.log(r * (n - k + 1) / (k + 1))
            + _tail(m) + _tail(n - m) - _tail(k) - _tail(n - k)
        )  # fmt: skip
        v *= alpha / (a / (us * us) + b)
        if v <= 0 or math.log(v) <= bound:
            return k
