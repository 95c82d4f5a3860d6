"""Evenly spaced numbers, rounded as PyTorch's loops round them, to the last bit.

How they do was found by comparing with PyTorch 2.13.0. Its loops multiply and add in one
instruction, with one rounding, and ranges are made in blocks: the first number of each is computed
from the start, the others from the first. (PyTorch's threads cut ranges of more than 32768 numbers
into pieces with blocks of their own; here a range is one piece.)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

from .half import is_half

__all__ = ["powers_between", "spaced", "stepped"]

_SPLIT = 134217729.0  # 2**27 + 1 (T. Dekker, 1971)


def _fused(a: Any, b: Any, c: Any) -> ndarray:
    """a b + c of float64 numbers with one rounding (but for ties of the parts cut off)."""
    a, b, c = (np.asarray(x, np.float64) for x in (a, b, c))
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    total = product + c
    added = total - product
    rest = rest + ((product - (total - added)) + (c - added))
    return np.where(np.isfinite(rest), total + rest, total)


def _halves(x: ndarray) -> tuple[ndarray, ndarray]:
    """x as a sum of two numbers of half as many bits."""
    scaled = x * _SPLIT
    high = scaled - (scaled - x)
    return high, x - high


def _plain(a: Any, b: Any, c: Any) -> Any:
    """a b + c in float64, for results of fewer bits."""
    return np.multiply(a, b, dtype=np.float64) + c


def _in_two(a: Any, k: ndarray, c: Any) -> Any:
    """a k + c, the product rounded to the type of a before the sum is."""
    return a * k.astype(a.dtype) + c


def stepped(start: float, step: float, count: int, dtype: np.dtype) -> ndarray:
    """``count`` floating numbers from ``start``, ``step`` apart: ``torch.arange``."""
    is_wide = dtype.itemsize == 8
    fused = _fused if is_wide else _plain
    if is_half(dtype):
        start, step = float(np.float32(start)), float(np.float32(step))
    middle = np.float32 if is_half(dtype) else dtype  # in which a half type's numbers are made

    def at(first: Any, steps: ndarray) -> ndarray:
        made: ndarray = fused(step, steps, first).astype(middle).astype(dtype, copy=False)
        return made

    lanes = 4 if is_wide else 16 if is_half(dtype) else 8
    whole = count - count % (2 * lanes)
    z = np.empty(count, dtype)
    firsts = at(start, np.arange(0, whole, lanes))[:, None]
    z[:whole] = at(firsts.astype(np.float64), np.arange(lanes)).reshape(-1)
    z[whole:] = at(start, np.arange(whole, count))
    return z


def _from_both_ends(start: Any, end: Any, steps: int, step: Any, made: Any, dtype: Any) -> ndarray:
    """made(step, k, start) up to the middle, made(-step, k, end) with k back from the end."""
    half = steps // 2
    z = np.empty(steps, dtype)
    z[:half] = made(step, np.arange(half), start)
    z[half:] = made(-step, np.arange(steps - half)[::-1], end)
    return z


def spaced(start: Any, end: Any, steps: int, dtype: np.dtype) -> ndarray:
    """``steps`` numbers from ``start`` to ``end``: ``torch.linspace``."""
    if dtype.kind in "iu":  # the ends are converted first, and wrap
        start, end = (np.asarray(int(x)).astype(dtype).item() for x in (start, end))
    if steps <= 1:
        return np.full(steps, start).astype(dtype)
    if dtype.kind == "c":
        z, real = np.empty(steps, dtype), np.dtype(f"f{dtype.itemsize // 2}")
        z.real = spaced(start.real, end.real, steps, real)
        z.imag = spaced(start.imag, end.imag, steps, real)
        return z
    work: Any = np.dtype(np.float64) if dtype.kind in "iu" else dtype
    a, b = (np.asarray(x).astype(work) for x in (start, end))
    step = (b - a) / np.asarray(steps - 1).astype(work)
    made = _in_two if is_half(dtype) else _fused if work.itemsize == 8 else _plain
    return _from_both_ends(a, b, steps, step, made, work).astype(dtype, copy=False)


def powers_between(base: Any, start: Any, end: Any, steps: int, dtype: np.dtype) -> ndarray:
    """``steps`` powers of ``base``, evenly spaced exponents: ``torch.logspace``."""
    if dtype.kind == "c":
        real = np.dtype(f"f{dtype.itemsize // 2}").type
        exponents = _exponents(real(start.real), real(end.real), steps).astype(dtype)
        exponents.imag = _exponents(real(start.imag), real(end.imag), steps)
        return np.power(np.asarray(base, dtype), exponents)
    exponents = _exponents(np.float64(start), np.float64(end), steps)
    return np.array([_power(base, x) for x in exponents.tolist()], np.float64).astype(dtype)


def _exponents(start: Any, end: Any, steps: int) -> ndarray:
    """Like ``spaced``, with products rounded before they are added."""
    if steps <= 1:
        return np.full(steps, start)
    real = type(start)
    return _from_both_ends(start, end, steps, (end - start) / real(steps - 1), _in_two, real)


def _power(base: float, x: float) -> float:
    """base ** x as the C library computes it: NumPy's own differs in the last bit."""
    try:
        return math.pow(base, x)
    except (OverflowError, ValueError):  # an infinity, a pole, the root of a negative number
        return float(np.power(np.float64(base), x))
