"""Poisson numbers, draw for draw as PyTorch's CPU generator makes them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .draws import uniform53

if TYPE_CHECKING:
    from ..random import Generator

FIRST, MOST = 1 << 5, 1 << 12  # draws made of the words at hand: at first, and at most
STEP = 2.0**-53
TOP = np.uint64((1 << 21) - 1)  # the bits of the first word that a draw takes
HALF_WIDTH = np.uint64(32)


class UniformDraws:
    """Uniform draws one by one, as ``uniform53`` makes them, for an unknown number of them.

    They are made of words that the generator has ready, and which it hands out as they are used;
    hold its lock meanwhile, and ``finish``.
    """

    def __init__(self, generator: Generator) -> None:
        self.generator = generator
        self.used, self.size = 0, FIRST
        self.rest: Iterator[float] = iter(())

    def __call__(self) -> float:
        for u in self.rest:
            self.used += 1
            return u
        return self._next()

    def _next(self) -> float:
        """A draw when those that were made are used up."""
        UniformDraws.finish(self)
        words, start = self.generator.block()
        if start == len(words):
            self.generator.read_ahead()
            words, start = self.generator.block()
        if start + 1 == len(words):  # half a draw
            return float(uniform53(self.generator, 1)[0])
        pairs = words[start : start + min(2 * self.size, (len(words) - start) // 2 * 2)]
        high, low = pairs[0::2].astype(np.uint64), pairs[1::2]
        self.rest = iter((((high & TOP) << HALF_WIDTH | low) * STEP).tolist())
        self.size = min(4 * self.size, MOST)
        return self()

    def finish(self) -> None:
        """Bring the generator to where these draws ended."""
        if self.used:
            self.generator.words(2 * self.used)
            self.used = 0


def poisson(generator: Generator, rates: np.ndarray) -> np.ndarray:
    """Poisson numbers of the given rates, in their shape and dtype."""
    with generator.lock:
        draw = UniformDraws(generator)
        found = [_one(rate, draw) for rate in rates.astype(np.float64).ravel().tolist()]
        draw.finish()
    return np.array(found, np.float64).reshape(rates.shape).astype(rates.dtype)


def _one(rate: float, draw: UniformDraws) -> float:
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


def _rejection(rate: float, draw: UniformDraws) -> float:
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
