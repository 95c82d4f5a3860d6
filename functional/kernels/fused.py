"""Single rounding: fused multiply-add and the C library's functions on whole arrays.

PyTorch's compiled kernels contract ``a * b + c`` into one rounding and call the C library for
logarithms and angles. NumPy rounds twice and has vector functions of its own whose last bit
differs, so streams that must agree to the bit go through here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

_SPLITTER = 134217729.0  # 2**27 + 1 cuts a double in two halves
_HUGE = 2.0**600
_LOW_29 = 0x1FFFFFFF  # the bits of a double that a float32 drops
_HALFWAY = 0x10000000
_CHUNK = 4096  # Python floats made at once: they stay in cache


def _two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rounded sum and its exact error (Knuth, TAOCP vol. 2, 4.2.2, theorem B)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _split(a: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
    scaled = np.asarray(a) * _SPLITTER
    high = scaled - (scaled - a)
    return high, a - high


def _two_product(a: np.ndarray, b: float) -> tuple[np.ndarray, np.ndarray]:
    """The rounded product and its exact error (Dekker 1971)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    rest = a_high * b_high - product + a_high * b_low + a_low * b_high
    return product, rest + a_low * b_low


def _add_to_odd(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a + b, an inexact sum going to the neighbour whose last bit is one."""
    total, error = _two_sum(a, b)
    bits = total.view(np.int64)
    even = (error != 0) & (bits & 1 == 0)
    away = np.signbit(error) == np.signbit(total)
    return np.where(even, bits + np.where(away, 1, -1), bits).view(np.float64)


def fma64(x: np.ndarray, factor: float, addend: float) -> np.ndarray:
    """x * factor + addend in float64, rounded once.

    Boldo and Melquiond, "Emulation of FMA and correctly rounded sums" (IEEE Trans. Computers,
    2008). Terms below about 1e-290, whose error terms underflow, may be rounded twice.
    """
    if addend == 0 or factor == 1:
        return x + addend if factor == 1 else x * factor + addend
    if not (math.isfinite(factor) and math.isfinite(addend)):
        return x * factor + addend
    if max(abs(factor), abs(addend)) > _HUGE:  # splitting it would overflow
        return fma64(x, factor / _HUGE, addend / _HUGE) * _HUGE
    with np.errstate(all="ignore"):
        high, low = _two_product(x, factor)
        inner, inner_error = _two_sum(np.asarray(addend), low)
        outer, outer_error = _two_sum(high, inner)
        result = outer + _add_to_odd(inner_error, outer_error)
        return np.where(np.isfinite(result), result, x * factor + addend)


def fma32(x: np.ndarray, factor: float, addend: float) -> np.ndarray:
    """x * factor + addend for float32 values, rounded once to float32."""
    f, a = np.float32(factor), np.float32(addend)
    if a == 0 or f == 1:
        return x + a if f == 1 else x * f + a
    product = x.astype(np.float64) * np.float64(f)  # exact: 24 and 24 bits
    return narrow_sum(product, np.float64(a))


def narrow_sum(a: np.ndarray, b: np.ndarray | float) -> np.ndarray:
    """a + b of float64 values as float32, rounded once rather than by way of float64."""
    total = a + b
    halfway = (total.view(np.int64) & _LOW_29) == _HALFWAY
    if halfway.any():
        pick = np.nonzero(halfway)
        total[pick] = _add_to_odd(a[pick], np.broadcast_to(b, a.shape)[pick])
    return total.astype(np.float32)


def each(function: Callable[[float], float], x: np.ndarray) -> np.ndarray:
    """``function`` of ``math`` (the C library's) on every element of a 1-D float64 array."""
    result = np.empty(x.size, np.float64)
    for start in range(0, x.size, _CHUNK):
        part = x[start : start + _CHUNK].tolist()
        result[start : start + _CHUNK] = np.fromiter(map(function, part), np.float64, len(part))
    return result


def log(value: float) -> float:
    """The C library's log: minus infinity at zero."""
    return math.log(value) if value else -math.inf


def exp(value: float) -> float:
    """The C library's exp: infinity where it overflows."""
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


@cache
def _numpy_angles_are_libm() -> bool:
    # NumPy builds differ: some call the C library here, some a vector function.
    x = np.linspace(0.0, 2 * math.pi, 3001)
    return np.array_equal(np.sin(x), each(math.sin, x)) and np.array_equal(
        np.cos(x), each(math.cos, x)
    )


def sin_cos(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The C library's sine and cosine of a 1-D float64 array of angles in [0, 2 pi]."""
    if _numpy_angles_are_libm():
        return np.sin(x), np.cos(x)
    return each(math.sin, x), each(math.cos, x)
