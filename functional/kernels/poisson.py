"""Poisson numbers, draw for draw as PyTorch's CPU generator makes them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .draws import uniform53

if TYPE_CHECKING:
    from ..random import Generator

BLOCK = 1 << 12  # draws made ahead at a time


class _Draws:
    """Uniform draws one by one, made in blocks; the generator advances by what was used."""

    def __init__(self, generator: Generator) -> None:
        self.generator, self.ahead = generator, generator.clone_state()
        self.used = 0
        self.rest: Iterator[float] = iter(())

    def __call__(self) -> float:
        self.used += 1
        for u in self.rest:
            return u
        self.rest = iter(uniform53(self.ahead, BLOCK).tolist())
        return next(self.rest)

    def finish(self) -> None:
        while self.used:
            step = min(self.used, BLOCK)
            uniform53(self.generator, step)
            self.used -= step


def poisson(generator: Generator, rates: np.ndarray) -> np.ndarray:
    """Poisson numbers of the given rates, in their shape and dtype."""
    draw = _Draws(generator)
    found = [_one(rate, draw) for rate in rates.astype(np.float64).ravel().tolist()]
    draw.finish()
    return np.array(found, np.float64).reshape(rates.shape).astype(rates.dtype)


def _one(rate: float, draw: _Draws) -> float:
    if rate >= 10:
        return _rejection(rate, draw)
    if rate == 0:
        return 0.0
    # multiply uniform numbers until they fall below exp(-rate) (Knuth, The Art of Computer
    # Programming 2, 3.4.1)
    limit, count, product = math.exp(-rate), 0.0, 1.0
    while True:
        product *= draw()
        if product <= limit:
            return count
        count += 1.0


def _rejection(rate: float, draw: _Draws) -> float:
    """Transformed rejection: Hörmann, "The transformed rejection method for generating Poisson
    random variables", Insurance: Mathematics and Economics 12 (1993), algorithm PTRS."""
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    accept = 0.9277 - 3.6224 / (b - 2)
    while True:
        u = draw() - 0.5
        v = draw()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= accept:
            return float(k)
        if k < 0 or (us < 0.013 and v > us):
            continue
        bound = -rate + k * log_rate - math.lgamma(k + 1)
        if math.log(v) + math.log(inverse_alpha) - math.log(a / (us * us) + b) <= bound:
            return float(k)
