"""Box and Muller's transform in float32, as PyTorch's vectorised kernel rounds it.

PyTorch takes log, sin and cos from the Cephes single-precision polynomials with every
multiply-add fused. A fused step here is a product in float64, where it is exact, a sum, and a
rounding to float32. That rounds twice; over all 2**24 draws it never shows.
"""

from __future__ import annotations

import numpy as np

from . import fused
from .draws import F32, F64

BLOCK = 16  # normals made together: 8 radii, 8 angles
HALF = BLOCK // 2


def _singles(*values: float) -> list[float]:
    return [float(np.float32(value)) for value in values]


# Cephes single-precision coefficients (S. L. Moshier, netlib.org/cephes: logf, sinf, cosf).
LOG = _singles(7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1)
LOG += _singles(1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1)
LOG += _singles(3.3333331174e-1)
LOG_2_HIGH, LOG_2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
SQRT_HALF_BITS = np.float32(0.707106781186547524).view(np.int32)
SIN = _singles(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
COS = _singles(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
SIN_COS = np.array([SIN, COS]).reshape(2, 3, 1)
# A quarter of pi in three parts; an octant times either of the first two is exact in float32.
QUARTER_PI = np.float32(0.78515625), np.float32(2.4187564849853515625e-4)
QUARTER_PI_REST = float(np.float32(3.77489497744594108e-8))
FOUR_OVER_PI = np.float32(1.27323954473516)
TWO_PI = np.float32(6.283185307179586)
ONE, HALF_ONE, MINUS_TWO = np.float32(1), np.float32(0.5), np.float32(-2)


class BoxMuller32:
    """The transform for up to ``pairs`` pairs at a time; its scratch arrays serve every call."""

    def __init__(self, pairs: int) -> None:
        self._wide = np.empty((2, pairs), F64)
        self._factor = np.empty((2, pairs), F64)
        self._single = np.empty((2, pairs), F32)
        self._scratch = np.empty((2, pairs), F32)
        self._input = np.empty((2, pairs), F32)
        self._integers = np.empty(pairs, np.int32)

    def __call__(self, draws: np.ndarray, mean: float, std: float) -> np.ndarray:
        """Normals of a flat array of uniform draws, whose size is a multiple of 16."""
        draws = draws.reshape(-1, BLOCK)
        radius, angle = self._input[:, : draws.size // 2]
        np.subtract(ONE, draws[:, :HALF], out=radius.reshape(-1, HALF))
        np.multiply(draws[:, HALF:], TWO_PI, out=angle.reshape(-1, HALF))
        self.log(radius)
        radius *= MINUS_TWO
        np.sqrt(radius, out=radius)
        sine, cosine = self.sin_cos(angle)
        result = np.empty_like(draws)
        np.multiply(cosine.reshape(-1, HALF), radius.reshape(-1, HALF), out=result[:, :HALF])
        np.multiply(sine.reshape(-1, HALF), radius.reshape(-1, HALF), out=result[:, HALF:])
        return fused.fma32(result.reshape(-1), std, mean)

    def log(self, x: np.ndarray) -> None:
        """Replace positive normal float32 values by their logarithms (Cephes logf, fused)."""
        wide, factor = self._wide[0, : x.size], self._factor[0, : x.size]
        y, z = self._single[0, : x.size], self._single[1, : x.size]
        exponent, product = self._scratch[:, : x.size]
        self._split_exponent(x, exponent)
        np.copyto(factor, x)
        _horner(factor, LOG, wide, y)
        y *= x
        np.multiply(x, x, out=z)
        np.copyto(wide, y)
        np.copyto(factor, z)
        wide *= factor
        np.multiply(exponent, LOG_2_LOW, out=product)
        wide += product
        np.copyto(y, wide, casting="same_kind")
        z *= HALF_ONE
        y -= z
        x += y
        exponent *= LOG_2_HIGH
        x += exponent

    def _split_exponent(self, x: np.ndarray, exponent: np.ndarray) -> None:
        """x = 2**exponent * (1 + rest), 1 + rest from sqrt(1/2) to sqrt(2); leave rest in x."""
        bits, power = x.view(np.int32), self._integers[: x.size]
        np.subtract(bits, SQRT_HALF_BITS, out=power)
        power >>= 23
        np.copyto(exponent, power, casting="same_kind")
        power <<= 23
        bits -= power
        x -= ONE

    def sin_cos(self, x: np.ndarray) -> np.ndarray:
        """Sine and cosine of float32 angles in [0, 2 pi], as two rows (Cephes, fused).

        The angles are overwritten; the result is scratch that the next call reuses.
        """
        octant = self._integers[: x.size]
        self._reduce(x, octant)
        result = self._polynomials(x)
        sine, cosine = result.view(np.int32)
        # Odd quadrants swap the two; then each gets its sign.
        other = self._scratch[0, : x.size].view(np.int32)
        swap = self._scratch[1, : x.size].view(np.int32)
        np.bitwise_xor(sine, cosine, out=other)
        np.left_shift(octant, 30, out=swap)
        swap >>= 31
        other &= swap
        sine ^= other
        cosine ^= other
        _flip_signs(sine, octant, swap)
        octant += 2
        _flip_signs(cosine, octant, swap)
        return result

    def _reduce(self, x: np.ndarray, octant: np.ndarray) -> None:
        """Subtract the nearest even number of quarters of pi from the angles."""
        wide, factor = self._wide[:, : x.size]
        count, part = self._scratch[:, : x.size]
        np.multiply(x, FOUR_OVER_PI, out=count)
        np.copyto(octant, count, casting="unsafe")
        octant += 1
        octant &= -2
        np.copyto(count, octant, casting="same_kind")
        for constant in QUARTER_PI:
            np.multiply(count, constant, out=part)
            x -= part
        np.copyto(factor, count)
        factor *= QUARTER_PI_REST
        np.copyto(wide, x)
        wide -= factor
        np.copyto(x, wide, casting="same_kind")

    def _polynomials(self, x: np.ndarray) -> np.ndarray:
        wide, result = self._wide[:, : x.size], self._single[:, : x.size]
        squared, plain = self._factor[:, : x.size]
        z = self._scratch[0, : x.size]
        np.multiply(x, x, out=z)
        np.copyto(squared, z)
        _horner(squared, SIN_COS.swapaxes(0, 1), wide, result)
        result *= z
        np.copyto(wide, result)
        np.copyto(plain, x)
        sine, cosine = wide
        sine *= plain
        sine += plain
        cosine *= squared
        squared *= 0.5
        cosine -= squared
        np.copyto(result, wide, casting="same_kind")
        result[1] += ONE
        return result


def _flip_signs(bits: np.ndarray, octant: np.ndarray, scratch: np.ndarray) -> None:
    """Flip the sign bit where bit 2 of the octant is set."""
    np.bitwise_and(octant, 4, out=scratch)
    scratch <<= 29
    bits ^= scratch


def _horner(
    x: np.ndarray, coefficients: list[float] | np.ndarray, wide: np.ndarray, y: np.ndarray
) -> None:
    """The polynomial in float64 ``x``, highest coefficient first, into float32 ``y``."""
    np.multiply(x, coefficients[0], out=wide)
    wide += coefficients[1]
    np.copyto(y, wide, casting="same_kind")
    for coefficient in coefficients[2:]:
        np.copyto(wide, y)
        wide *= x
        wide += coefficient
        np.copyto(y, wide, casting="same_kind")
