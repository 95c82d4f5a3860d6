"""Pointwise kernels: mostly NumPy's ufuncs under PyTorch's names."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy import ndarray

from .choice import where
from .half import widen
from .scalars import scalar
from .threads import LEAD, LONG, SHARED, in_chunks, in_parts, spread

add, sub, mul, div = np.add, np.subtract, np.multiply, np.true_divide
maximum, minimum = np.maximum, np.minimum
fmax, fmin = np.fmax, np.fmin
neg, reciprocal, conj = np.negative, np.reciprocal, np.conjugate
exp, expm1, log, log1p = np.exp, np.expm1, np.log, np.log1p
log2, log10, sqrt, tanh = np.log2, np.log10, np.sqrt, np.tanh
sin, cos, tan, sinh, cosh = np.sin, np.cos, np.tan, np.sinh, np.cosh
asin, acos, atan = np.arcsin, np.arccos, np.arctan
atan2 = np.arctan2
floor, ceil, trunc = np.floor, np.ceil, np.trunc
isnan, isinf, isfinite = np.isnan, np.isinf, np.isfinite
eq, ne, lt, le, gt, ge = (
    np.equal,
    np.not_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
)
logical_and, logical_or, logical_xor = np.logical_and, np.logical_or, np.logical_xor
logical_not = np.logical_not
bitwise_and, bitwise_or, bitwise_xor = np.bitwise_and, np.bitwise_or, np.bitwise_xor
bitwise_not = np.invert
relu = partial(np.maximum, 0)
_MANY = 1 << 12  # elements from which on one slow call beats two quick ones
_ZERO = np.zeros((), np.float32)
_WORDS: dict[Any, tuple[Any, ndarray]] = {
    np.dtype(np.float32): (np.int32, np.array(31, np.int32)),
    np.dtype(np.float64): (np.int64, np.array(63, np.int64)),
}
_ONE = np.ones((), np.float32)  # a Python 1 would be converted at every call


def abs(x: ndarray) -> ndarray:
    """|x|; booleans stay as they are. NumPy's own of complex numbers rounds worse than hypot."""
    return np.hypot(x.real, x.imag) if x.dtype.kind == "c" else np.abs(x)


@in_parts(1)
def sgn(x: ndarray) -> ndarray:
    """x / |x|, and 0 at 0; for real numbers the sign, with sign(nan) = 0 as in PyTorch."""
    if x.dtype.kind == "c":
        size = np.asarray(abs(x))
        z, zero = np.empty_like(x), size == 0
        size = np.where(zero, size.dtype.type(1), size)
        z.real, z.imag = np.where(zero, 0, x.real / size), np.where(zero, 0, x.imag / size)
        return z
    if x.dtype.kind == "b":
        return x
    above, below = np.asarray(x > 0), np.asarray(x < 0)
    return np.subtract(above.view(np.int8), below.view(np.int8)).astype(x.dtype)


sign = sgn


def round(x: ndarray) -> ndarray:
    """The nearest whole number, halves to even; integers as they are."""
    return x.copy() if x.dtype.kind in "iu" else np.rint(x)


def rsub(x: Any, other: Any) -> ndarray:
    if other is True or other is False:
        raise TypeError("a truth value")
    return np.subtract(other, x)


def rsqrt(x: ndarray) -> ndarray:
    return np.reciprocal(np.sqrt(x))


def sigmoid(x: ndarray) -> ndarray:
    """1 / (1 + exp(-x))."""
    if is_long(x):
        return long_logistic(x, None)
    z = np.negative(x)
    if type(z) is not ndarray:
        return np.asarray(1 / (1 + np.exp(z)))
    np.exp(z, out=z)
    z += 1
    return np.reciprocal(z, out=z)


def is_long(x: ndarray) -> bool:
    """Whether ``long_logistic`` takes x."""
    return bool(x.size > SHARED and x.dtype.char == "f" and x.flags.c_contiguous)


def long_logistic(x: ndarray, above: ndarray | None) -> ndarray:
    """``above`` / (1 + exp(-x)) of many float32 numbers, shared among threads; None is 1."""
    z = np.empty(x.shape, x.dtype)
    line, result = x.reshape(-1), z.reshape(-1)
    numerator = None if above is None else above.reshape(-1)
    growth, rest = _growth()

    def work(first: int, last: int) -> None:
        out = result[first:last]
        np.negative(line[first:last], out)
        growth(out, out)
        np.add(out, rest, out)
        # dividing 1 is quicker than the reciprocal
        np.divide(_ONE if numerator is None else numerator[first:last], out, out)

    spread(x.size, x.size // SHARED, work, LEAD)
    return z


@lru_cache
def _growth() -> tuple[Any, ndarray]:
    """A function that is exp less a number, and that number plus 1: expm1 is quick with AVX-512."""
    simd = np.show_config(mode="dicts")["SIMD Extensions"]
    if {"AVX512_SKX", "X86_V4"} & {*simd.get("baseline", ()), *simd.get("found", ())}:
        return np.expm1, np.array(2, np.float32)
    return np.exp, np.array(1, np.float32)


def pow(x: Any, exponent: Any) -> ndarray:
    """x ** exponent. Small whole exponents are products, as PyTorch computes them."""
    if type(exponent) in (int, float) and isinstance(x, np.ndarray):
        if exponent == 2:
            return x * x
        if exponent == 3:
            return x * x * x
        if exponent == 0.5 and x.dtype.kind in "fc":
            return np.sqrt(x)
        if x.dtype.kind in "iu":
            return _integer_power(x, np.asarray(exponent, x.dtype))
    kind = x.dtype.kind if getattr(x, "dtype", None) is not None else "f"
    if kind in "iu":
        return _integer_power(x, np.asarray(exponent))
    return x | np.logical_not(exponent) if kind == "b" else np.power(x, exponent)


def _integer_power(x: ndarray, exponent: ndarray) -> ndarray:
    """Integer powers; a negative exponent gives 1/x truncated towards zero."""
    if exponent.dtype.kind == "u" or (exponent >= 0).all():
        return np.power(x, exponent)
    ones = np.where(x == 1, 1, np.where(x == -1, np.where(exponent % 2 == 0, 1, -1), 0))
    return np.where(exponent >= 0, np.power(x, np.maximum(exponent, 0)), ones).astype(x.dtype)


pow_scalar = pow


def pow_of_scalar(exponent: ndarray, base: Any) -> ndarray:
    """base ** exponent for a number ``base``."""
    if isinstance(base, complex) and exponent.dtype.kind != "c":
        raise TypeError("the result is complex")
    x = np.asarray(base).astype(exponent.dtype)
    if exponent.dtype.kind in "iu":
        return _integer_power(x, exponent)
    return np.power(x, exponent)


def floor_divide(x: ndarray, y: ndarray) -> ndarray:
    """Division rounded down, built on fmod so that it agrees with ``remainder``."""
    if x.dtype.kind in "iub":
        if not np.all(y):
            raise RuntimeError("ZeroDivisionError")
        return np.floor_divide(x, y)
    y = x.dtype.type(y) if type(y) in (float, int) else np.asarray(y)
    rest = np.fmod(x, y)
    quotient = (x - rest) / y
    quotient = np.where((rest != 0) & ((rest < 0) != (y < 0)), quotient - 1, quotient)
    rounded = np.floor(quotient)
    rounded = np.where(quotient - rounded > 0.5, rounded + 1, rounded)
    rounded = np.where(quotient == 0, np.copysign(np.zeros_like(quotient), x / y), rounded)
    return np.where(y == 0, x / y, rounded).astype(x.dtype)


def remainder(x: ndarray, y: ndarray) -> ndarray:
    """The remainder with the divisor's sign."""
    if x.dtype.kind in "iu" and not np.all(y):
        raise RuntimeError("ZeroDivisionError")
    if x.size > LONG and x.dtype == np.float32:
        return _remainder(x, np.asarray(y, np.float32)) if type(y) is float else _remainder(x, y)
    return np.remainder(x, y)


_EXACT = 2.0**28  # quotients below are exact enough in float64 to be rounded down


@in_parts(2)
def _remainder(x: ndarray, y: Any) -> Any:
    """x - y floor(x / y) in float64, where that is exact."""
    if type(y) is ndarray and y.dtype == np.float32 and y.shape in (x.shape, ()):
        z, divisor = x.astype(np.float64), y.astype(np.float64)
        quotient = np.floor(z / divisor)
        if np.min(quotient) > -_EXACT and np.max(quotient) < _EXACT:
            quotient *= divisor
            z -= quotient
            if np.isfinite(np.max(z)):  # no divisor is infinite
                z = z.astype(np.float32)
                return np.copysign(z, y, out=z)
    return np.remainder(x, y)


def fmod(x: ndarray, y: ndarray) -> ndarray:
    """The remainder with the dividend's sign."""
    if x.dtype.kind in "iu" and not np.all(y):
        raise RuntimeError("ZeroDivisionError")
    return np.fmod(x, y)


def clamp(x: ndarray, low: Any, high: Any) -> ndarray:
    """min(max(x, low), high) for numbers; NaN stays NaN, and ``high`` wins over ``low``."""
    if low is not None and high is not None and x.dtype.kind == "f" and x.size > _MANY:
        return np.clip(x, low, high)
    if low is not None:
        x = np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


@in_parts(1)
def leaky_relu(x: ndarray, negative_slope: float) -> ndarray:
    """x where it is positive, else ``negative_slope`` times x."""
    if 0 < negative_slope <= 1:
        z = np.asarray(x * negative_slope)
        return np.maximum(x, z, out=z)
    return where(x > 0, x, x * negative_slope)


@in_parts(2)
def leaky_relu_backward(g: ndarray, x: ndarray, negative_slope: float) -> ndarray:
    g = widen(g)  # whoever calls rounds
    return where(x > 0, g, g * negative_slope)


def threshold_backward(g: ndarray, x: ndarray) -> ndarray:
    """``g`` where ``x`` is above zero, 0 elsewhere (``relu``).

    The sign of 0 - x, spread over a whole word, is the mask: one that also stops an infinite g.
    """
    word = _WORDS.get(x.dtype)
    if word is None or g.dtype is not x.dtype or g.shape != x.shape or not x.ndim:
        return np.where(np.less_equal(x, 0), g.dtype.type(0), g)
    if x.size <= SHARED or not (x.flags.c_contiguous and g.flags.c_contiguous):
        return _pass_positive(g, x, None, *word)
    z = np.empty(x.shape, x.dtype)
    gs, xs, zs = (a.reshape(-1) for a in (g, x, z))
    in_chunks(x.size, 1, lambda i, j: _pass_positive(gs[i:j], xs[i:j], zs[i:j], *word))
    return z


def _pass_positive(g: ndarray, x: ndarray, z: Any, kind: Any, shift: ndarray) -> ndarray:
    """``g`` where ``x`` is above zero, 0 elsewhere, in ``z`` if given."""
    mask = np.subtract(_ZERO, x, z).view(kind)
    np.right_shift(mask, shift, mask)
    return np.bitwise_and(mask, g.view(kind), mask).view(g.dtype)


def tanh_backward(g: ndarray, result: ndarray) -> ndarray:
    """g (1 - result²)."""
    if result.itemsize == 2:  # a half type; whoever calls rounds
        g, result = widen(g), widen(result)
    if result.size > SHARED:
        return _long_tanh_backward(g, result)
    z = result * result
    if type(z) is not ndarray:
        return np.asarray(g * (1 - z))
    np.subtract(_ONE, z, z)
    try:
        return np.multiply(g, z, z)
    except ValueError:  # g is the larger
        return g * z


@in_parts(2)
def _long_tanh_backward(g: ndarray, result: ndarray) -> Any:
    return g * (_ONE - result * result)


def sigmoid_backward(g: ndarray, result: ndarray) -> ndarray:
    """g result (1 - result)."""
    if result.itemsize == 2:
        g, result = widen(g), widen(result)
    if result.size > SHARED:
        return _long_sigmoid_backward(g, result)
    return g * (_ONE - result) * result


@in_parts(2)
def _long_sigmoid_backward(g: ndarray, result: ndarray) -> Any:
    return g * (_ONE - result) * result


def add_scaled(x: ndarray, y: ndarray, alpha: Any) -> ndarray:
    return x + y * scalar(x.dtype, alpha)


def sub_scaled(x: ndarray, y: ndarray, alpha: Any) -> ndarray:
    return x - y * scalar(x.dtype, alpha)
