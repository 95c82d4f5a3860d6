"""Gamma and Dirichlet numbers, draw for draw as PyTorch's CPU generator makes them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from .draws import F32, F64, not_implemented
from .poisson import UniformDraws

if TYPE_CHECKING:
    from ..random import Generator

TWO_PI = 2 * math.pi
THIRD = float(np.float32(1) / np.float32(3))  # the reference subtracts it in single precision
SQUEEZE = float(np.float32(0.0331))


class Draws(UniformDraws):
    """Uniform and normal draws one by one; a pair's second normal waits in the generator."""

    def __init__(self, generator: Generator) -> None:
        super().__init__(generator)
        self.pending = generator.pending_double

    def normal(self) -> float:
        """A standard normal number (Box and Muller 1958)."""
        if self.pending is not None:
            value, self.pending = self.pending, None
            return value
        angle = TWO_PI * self()
        radius = math.sqrt(-2.0 * math.log1p(-self()))
        self.pending = radius * math.sin(angle)
        return radius * math.cos(angle)

    def finish(self) -> None:
        """Bring the generator to where these draws ended."""
        super().finish()
        self.generator.pending_double = self.pending


def standard_gamma(generator: Generator, shape: np.ndarray) -> np.ndarray:
    """Gamma numbers with scale 1, one for each shape parameter, in its shape and dtype."""
    return _gamma(generator, shape, "gamma_cpu", shape.dtype)


def _gamma(generator: Generator, shape: np.ndarray, title: str, dtype: np.dtype) -> np.ndarray:
    if shape.dtype not in (F32, F64):
        raise not_implemented(title, shape.dtype)
    wide = shape.astype(dtype, copy=False)
    # what depends on the parameter alone is computed in the parameter's own precision
    one, third, small = wide.dtype.type(1), wide.dtype.type(THIRD), wide < 1
    with np.errstate(all="ignore"):
        power = np.where(small & (wide != 0), one / wide, 0).ravel().tolist()
        d = (np.where(small, wide + one, wide) - third).ravel().tolist()
    with generator.lock:
        draw = Draws(generator)
        found = [_one(*each, draw) for each in zip(wide.ravel().tolist(), power, d, strict=True)]
        draw.finish()
    least = np.finfo(dtype).tiny
    return np.maximum(np.array(found, F64).astype(dtype), least).reshape(shape.shape)


def _one(alpha: float, power: float, d: float, draw: Draws) -> float:
    """Marsaglia and Tsang, "A simple method for generating gamma variables", ACM Transactions on
    Mathematical Software 26 (2000); parameters below 1 by their note in section 6."""
    if alpha == 0:
        return 0.0
    scale = (1 - draw()) ** power if alpha < 1 else 1.0
    if not d > 0:
        return math.nan
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = draw.normal()
        y = 1.0 + c * x
        if y <= 0:
            continue
        v = y * y * y
        u = 1 - draw()
        xx = x * x
        if u < 1.0 - SQUEEZE * xx * xx or math.log(u) < 0.5 * xx + d * (1.0 - v + math.log(v)):
            return scale * d * v


def dirichlet(generator: Generator, concentration: np.ndarray) -> np.ndarray:
    """Points of the simplex, one for each vector of the last axis; shape and dtype are kept."""
    gammas = _gamma(generator, concentration, "dirichlet", F64)
    dtype = concentration.dtype
    shares = (gammas / _row_sums(gammas)[..., None]).astype(dtype)
    return np.clip(shares, np.finfo(dtype).tiny, np.nextafter(dtype.type(1), dtype.type(0)))


def _row_sums(x: np.ndarray) -> np.ndarray:
    """Sums over the last axis, added in the order of the reference's vector loop.

    Sixteen running sums (four vectors of four), then the vectors that are left, then the elements
    that are left and the four lanes, one after the other.
    """
    whole, vectors = x.shape[-1] // 16, x.shape[-1] // 4
    blocks = x[..., : 16 * whole].reshape(*x.shape[:-1], whole, 4, 4)
    sums = _cascade(blocks)
    for i in range(4 * whole, vectors):
        sums[..., 0, :] += x[..., 4 * i : 4 * i + 4]
    for i in range(1, 4):
        sums[..., 0, :] += sums[..., i, :]
    total = np.zeros(x.shape[:-1])
    for i in range(4 * vectors, x.shape[-1]):
        total += x[..., i]
    for lane in range(4):
        total += sums[..., 0, lane]
    return total


def _cascade(blocks: np.ndarray) -> np.ndarray:
    """The sum over axis -3, in steps whose sums are summed in turn (four levels)."""
    size = blocks.shape[-3]
    power = max(4, (size - 1).bit_length() // 4) if size else 4
    levels = np.zeros((4, *blocks.shape[:-3], 4, 4))
    start = 0
    while start + (1 << power) <= size:
        for _ in range(1 << power):
            levels[0] += blocks[..., start, :, :]
            start += 1
        for j in range(1, 4):
            levels[j] += levels[j - 1]
            levels[j - 1] = 0
            if start & (((1 << power) - 1) << (j * power)):
                break
    for i in range(start, size):
        levels[0] += blocks[..., i, :, :]
    for j in range(1, 4):
        levels[0] += levels[j]
    return levels[0]
