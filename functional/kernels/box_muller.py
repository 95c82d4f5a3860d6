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
_EIGHT = np.dtype((np.void, HALF * F32.itemsize))  # eight numbers that one assignment moves


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
SIN_COS = np.array([SIN, COS]).reshape(2, 3, 1).swapaxes(0, 1)
# Half of pi as Cephes's three parts of its half, which add up without a rounding.
HALF_PI = 2 * sum(_singles(0.78515625, 2.4187564849853515625e-4, 3.77489497744594108e-8))
TWO_PI = np.float32(6.283185307179586)
ONE, HALF_ONE, FOUR, MINUS_TWO = (np.float32(number) for number in (1, 0.5, 4, -2))
# Scalars of the arrays' types, which NumPy need not look at in each call.
_1, _23, _30, _31 = (np.int32(number) for number in (1, 23, 30, 31))
SIGN = np.int32(-(2**31))


class BoxMuller32:
    """The transform for up to ``pairs`` pairs at a time; its scratch arrays serve every call."""

    def __init__(self, pairs: int) -> None:
        self._wide = np.empty((2, pairs), F64)
        self._factor = np.empty(pairs, F64)
        self._result = np.empty((2, pairs), F32)
        self._scratch = np.empty((2, pairs), F32)
        self._input = np.empty((2, pairs), F32)
        self._integers = np.empty(pairs, np.int32)

    def __call__(self, draws: np.ndarray, mean: float, std: float) -> np.ndarray:
        """Normals of a flat array of uniform draws, whose size is a multiple of 16."""
        first, second = self._input[:, : draws.size // 2]
        parts = draws.view(_EIGHT).reshape(-1, 2)
        np.copyto(first.view(_EIGHT), parts[:, 0])
        np.copyto(second.view(_EIGHT), parts[:, 1])
        self.radii(first)
        sine, cosine = self.sin_cos(second)
        cosine *= first
        sine *= first
        result = np.empty_like(draws)
        parts = result.view(_EIGHT).reshape(-1, 2)
        np.copyto(parts[:, 0], cosine.view(_EIGHT))
        np.copyto(parts[:, 1], sine.view(_EIGHT))
        return fused.fma32(result, std, mean)

    def parts(self, draws: np.ndarray) -> np.ndarray:
        """For each draw the radius and the cosine and sine that it stands for, as three rows."""
        result = np.empty((3, draws.size), F32)
        result[0] = draws
        self.radii(result[0])
        sine, cosine = self.sin_cos(draws.copy())
        result[1], result[2] = cosine, sine
        return result

    def radii(self, draws: np.ndarray) -> None:
        """Replace uniform draws u by the root of -2 log(1 - u)."""
        np.subtract(ONE, draws, out=draws)
        self.log(draws)
        draws *= MINUS_TWO
        np.sqrt(draws, out=draws)

    def log(self, x: np.ndarray) -> None:
        """Replace positive normal float32 values by their logarithms (Cephes logf, fused)."""
        wide, factor = self._wide[0, : x.size], self._factor[: x.size]
        y, z = self._result[:, : x.size]
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
        np.copyto(factor, product)
        wide += factor
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
        power >>= _23
        np.copyto(exponent, power, casting="same_kind")
        power <<= _23
        bits -= power
        x -= ONE

    def sin_cos(self, draws: np.ndarray) -> np.ndarray:
        """Sine and cosine of 2 pi times uniform draws, as two rows (Cephes, fused).

        The draws are overwritten; the result is scratch that the next call reuses.
        """
        quarter = self._integers[: draws.size]
        self._reduce(draws, quarter)
        result = self._polynomials(draws)
        sine, cosine = result.view(np.int32)
        # Odd quarters of the circle swap the two; then each gets its sign.
        other, mask = self._scratch[:, : draws.size].view(np.int32)
        np.bitwise_xor(sine, cosine, out=other)
        np.left_shift(quarter, _31, out=mask)
        mask >>= _31
        other &= mask
        sine ^= other
        cosine ^= other
        for bits in (sine, cosine):  # negative where bit 1 is set: of quarter, and of one more
            np.left_shift(quarter, _30, out=mask)
            mask &= SIGN
            bits ^= mask
            quarter += _1
        return result

    def _reduce(self, x: np.ndarray, quarter: np.ndarray) -> None:
        """Turn draws into angles less the nearest quarter of the circle, counted from 0 to 4."""
        wide, factor = self._wide[0, : x.size], self._factor[: x.size]
        count = self._scratch[0, : x.size]
        np.multiply(x, FOUR, out=count)
        count += HALF_ONE
        np.copyto(quarter, count, casting="unsafe")
        np.copyto(factor, quarter)
        factor *= HALF_PI
        x *= TWO_PI
        np.copyto(wide, x)
        wide -= factor
        np.copyto(x, wide, casting="same_kind")

    def _polynomials(self, x: np.ndarray) -> np.ndarray:
        wide, result = self._wide[:, : x.size], self._result[:, : x.size]
        squared, z = self._factor[: x.size], self._scratch[0, : x.size]
        np.multiply(x, x, out=z)
        np.copyto(squared, z)
        _horner(squared, SIN_COS, wide, result)
        result *= z
        np.copyto(wide, result)
        sine, cosine = wide
        cosine *= squared
        squared *= 0.5
        cosine -= squared
        np.copyto(squared, x)
        sine *= squared
        sine += squared
        np.copyto(result, wide, casting="same_kind")
        result[1] += ONE
        return result


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
