"""Orthogonal polynomials of degree n at x, by their three-term recurrences.

Abramowitz and Stegun, table 22.7; degrees are truncated to whole numbers, below 0 the value is 0.
Chebyshev polynomials of high degree inside (-1, 1) are taken from their angles (22.3.15).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

Step = Callable[[int, ndarray, ndarray, ndarray], ndarray]  # k, x, p(k), p(k - 1) -> p(k + 1)
_HIGH = 8  # degrees from here on whose rounding errors would add up
_LIMITS = {"f": 128, "d": 512}  # degrees of Hermite polynomials that PyTorch gives up at


def _recurrence(x: ndarray, n: ndarray, first: ndarray, step: Step) -> ndarray:
    """p(n) from p(0) = 1 and p(1) = ``first``."""
    before, now = np.ones_like(x), first
    z = np.where(n < 0, 0, np.where(n == 0, before, now)).astype(x.dtype)
    for k in range(1, int(np.maximum.reduce(n, None, initial=0))):
        active = n > k
        now, before = step(k, x, now, before), now
        z = np.where(active, now, z)
        if np.isnan(now[active]).all():
            break
    return z


def _operands(x: Any, n: Any) -> tuple[ndarray, ndarray]:
    x, n = np.broadcast_arrays(x, n)
    return x, np.trunc(np.nan_to_num(n, nan=-1)).astype(np.int64)


def _step(factor: ndarray, now: ndarray, rest: ndarray) -> ndarray:
    """factor now - rest; for float32 rounded once, as the compiled recurrence is."""
    if now.dtype == np.float32:
        return np.asarray(factor.astype(np.float64) * now - rest).astype(np.float32)
    return np.asarray(factor * now - rest)


def _chebyshev_step(k: int, x: ndarray, now: ndarray, before: ndarray) -> ndarray:
    return _step(2 * x, now, before)


def _chebyshev(first: Callable[[ndarray], ndarray], angular: Any, shifted: bool) -> Any:
    """A kind of Chebyshev polynomial; ``shifted`` ones live on (0, 1)."""

    def kernel(x: Any, n: Any) -> ndarray:
        x, n = _operands(x, n)
        x = 2 * x - 1 if shifted else x
        by_angle = (n > _HIGH) & (np.abs(x) < 1)
        z = _recurrence(x, np.where(by_angle, 1, n), first(x), _chebyshev_step)
        if not by_angle.any():
            return z
        angle = np.arccos(np.where(by_angle, x, 0))
        return np.where(by_angle, angular(n, angle), z).astype(x.dtype)

    return kernel


def _cosine(n: ndarray, t: ndarray) -> ndarray:
    return np.cos(n * t)


def _sine(n: ndarray, t: ndarray) -> ndarray:
    return np.sin((n + 1) * t) / np.sin(t)


def _half_cosine(n: ndarray, t: ndarray) -> ndarray:
    return np.cos((n + 0.5) * t) / np.cos(0.5 * t)


def _half_sine(n: ndarray, t: ndarray) -> ndarray:
    return np.sin((n + 0.5) * t) / np.sin(0.5 * t)


def _kinds(shifted: bool) -> Any:
    return (
        _chebyshev(lambda x: x, _cosine, shifted),
        _chebyshev(lambda x: 2 * x, _sine, shifted),
        _chebyshev(lambda x: 2 * x - 1, _half_cosine, shifted),
        _chebyshev(lambda x: 2 * x + 1, _half_sine, shifted),
    )


(
    chebyshev_polynomial_t,
    chebyshev_polynomial_u,
    chebyshev_polynomial_v,
    chebyshev_polynomial_w,
) = _kinds(False)
(
    shifted_chebyshev_polynomial_t,
    shifted_chebyshev_polynomial_u,
    shifted_chebyshev_polynomial_v,
    shifted_chebyshev_polynomial_w,
) = _kinds(True)


def _physicists_step(k: int, x: ndarray, now: ndarray, before: ndarray) -> ndarray:
    return _step(2 * x, now, 2 * k * before)


def _probabilists_step(k: int, x: ndarray, now: ndarray, before: ndarray) -> ndarray:
    return _step(x, now, k * before)


def hermite_polynomial_h(x: Any, n: Any) -> ndarray:
    """The physicists' Hermite polynomial."""
    x, n = _operands(x, n)
    z = _recurrence(x, n, 2 * x, _physicists_step)
    return np.where(n > _LIMITS[x.dtype.char], x.dtype.type(np.nan), z)


def hermite_polynomial_he(x: Any, n: Any) -> ndarray:
    """The probabilists' Hermite polynomial."""
    x, n = _operands(x, n)
    z = _recurrence(x, n, x, _probabilists_step)
    return np.where(n > _LIMITS[x.dtype.char], x.dtype.type(np.nan), z)


def laguerre_polynomial_l(x: Any, n: Any) -> ndarray:
    """The Laguerre polynomial."""
    x, n = _operands(x, n)
    return _recurrence(x, n, 1 - x, _laguerre_step)


def _laguerre_step(k: int, x: ndarray, now: ndarray, before: ndarray) -> ndarray:
    return _step(2 * k + (1 - x), now, k * before) / (k + 1)


def legendre_polynomial_p(x: Any, n: Any) -> ndarray:
    """The Legendre polynomial."""
    x, n = _operands(x, n)
    return _recurrence(x, n, x, _legendre_step)


def _legendre_step(k: int, x: ndarray, now: ndarray, before: ndarray) -> ndarray:
    return _step((2 * k + 1) * x, now, k * before) / (k + 1)
