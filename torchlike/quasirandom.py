"""Sobol' sequences: points that fill the unit cube more evenly than random ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from functional.dtypes import float32, float64, get_default_dtype
from functional.errors import not_implemented
from functional.ops.random_integers import randint
from functional.random import Generator
from functional.tape.op import TENSOR
from functional.tensor import Tensor, wrap

__all__ = ["SobolEngine"]


class SobolEngine:
    """Draws points of a Sobol' sequence in ``dimension`` dimensions (1 to 21201).

    With ``scramble`` the sequence is permuted at random (Owen), from ``seed`` or from the default
    generator; the numbers are PyTorch's. Direction numbers are those of Joe and Kuo,
    "Constructing Sobol sequences with better two-dimensional projections" (2008).
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(
                "Supported range of dimensionality for SobolEngine is [1, " + f"{self.MAXDIM}]"
            )
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        directions = _directions(dimension, self.MAXBIT)
        shift = np.zeros(dimension, np.int64)
        if scramble:
            directions, shift = self._scrambled(directions)
        self.sobolstate, self.shift = wrap(directions), wrap(shift)
        self.quasi = self.shift.clone()
        self.num_generated = 0

    def _scrambled(self, directions: ndarray) -> tuple[ndarray, ndarray]:
        """Direction numbers times a lower triangular matrix of bits, and a digital shift."""
        bits, generator = self.MAXBIT, None
        if self.seed is not None:
            generator = Generator()
            generator.manual_seed(self.seed)
        powers = 2 ** np.arange(bits, dtype=np.int64)
        flips = randint(2, (self.dimension, bits), generator=generator)._data
        matrix = randint(2, (self.dimension, bits, bits), generator=generator)._data
        matrix = np.tril(matrix, -1) + np.eye(bits, dtype=np.int64)
        digits = (directions[:, :, None] >> np.arange(bits - 1, -1, -1)) & 1  # highest bit first
        mixed = (digits @ matrix.transpose(0, 2, 1)) % 2
        return mixed @ powers[::-1], flips @ powers

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """The next ``n`` points: a tensor of shape (n, dimension)."""
        kind = get_default_dtype() if dtype is None else dtype
        if kind not in (float32, float64):
            raise not_implemented("_sobol_engine_draw", kind)
        fresh = self.num_generated == 0  # the sequence begins with the shift itself
        rows = self._following(n - fresh)
        if fresh:
            rows = np.concatenate([self.shift._data[None], rows])
        self.num_generated += n
        points = TENSOR.to_dtype(wrap(rows * (1.0 / 2**self.MAXBIT)), kind)
        if out is None:
            return points
        out.resize_as_(points).copy_(points)
        return out

    def _following(self, n: int) -> ndarray:
        """The numerators of the ``n`` points after the last one, in Gray-code order."""
        if n < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {n}: [{n}, {self.dimension}]"
            )
        at = np.arange(n, dtype=np.int64) + max(self.num_generated - 1, 0)
        zeros = np.log2((~at & (at + 1)).astype(np.float64)).astype(np.intp)  # rightmost zero bit
        rows = self.sobolstate._data.T[zeros]
        if n:
            rows[0] ^= self.quasi._data
            np.bitwise_xor.accumulate(rows, axis=0, out=rows)
            self.quasi = wrap(rows[-1].copy())
        return rows

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: Any = None) -> Tensor:
        """The next 2**m points; ValueError unless a power of two points are drawn in all."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                "'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Start again from the first point."""
        self.quasi = self.shift.clone()
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out the next ``n`` points."""
        for start in range(0, n, _CHUNK):
            self.draw(min(_CHUNK, n - start))
        return self

    def __repr__(self) -> str:
        parts = [f"dimension={self.dimension}"]
        if self.scramble:
            parts.append("scramble=True")
        if self.seed is not None:
            parts.append(f"seed={self.seed}")
        return f"SobolEngine({', '.join(parts)})"


_CHUNK = 1 << 14  # points that are left out at a time


def _directions(dimension: int, bits: int) -> ndarray:
    """Direction numbers, from SciPy's table of Joe and Kuo's: int64 of shape (dimension, bits)."""
    from scipy.stats import qmc

    return np.array(qmc.Sobol(dimension, scramble=False, bits=bits)._sv[:dimension], np.int64)
