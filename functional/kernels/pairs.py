"""Pointwise kernels of two and three operands, and rounding, beyond those in ``elementwise``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

from .complex import log_add_exp
from .scalars import scalar
from .threads import LONG, in_parts

asinh, acosh, atanh = np.arcsinh, np.arccosh, np.arctanh


def arrays_only(kernel: Any) -> Any:
    """A kernel of two operands that leaves numbers to the general path, where they are refused."""

    def checked(x: Any, y: Any) -> ndarray:
        if type(y) is float or type(y) is int:
            raise TypeError("a number")
        return kernel(x, y)

    return checked


@in_parts(2)
def _hypot(x: ndarray, y: ndarray) -> Any:
    if x.size > LONG and x.dtype == y.dtype == np.float32 and x.shape == y.shape:
        wide, other = x.astype(np.float64), y.astype(np.float64)
        wide *= wide
        other *= other
        wide += other
        z = np.sqrt(wide, out=wide).astype(np.float32)
        if np.max(z) < math.inf:  # neither is infinite or NaN, or too large
            return z
    return np.hypot(x, y)


def _nextafter(x: ndarray, y: ndarray) -> Any:
    z = np.nextafter(x, y)
    return np.where(x == y, y, z) if x.dtype.itemsize == 2 else z  # -0.0 to 0.0 gives 0.0


hypot, nextafter, logaddexp2 = (arrays_only(f) for f in (_hypot, _nextafter, np.logaddexp2))
fmax, fmin = arrays_only(np.fmax), arrays_only(np.fmin)
gcd, lcm = arrays_only(np.gcd), arrays_only(np.lcm)
bitwise_left_shift, bitwise_right_shift = np.left_shift, np.right_shift


def exp2(x: ndarray) -> ndarray:
    """2 to the power of x."""
    return np.exp(x * math.log(2)) if x.dtype.kind == "c" else np.exp2(x)


def frac(x: ndarray) -> ndarray:
    """x - trunc(x)."""
    return np.asarray(x - np.trunc(x))


def signbit(x: ndarray) -> ndarray:
    """Whether the sign is minus; that of -0.0 is."""
    return np.asarray(np.signbit(x) if x.dtype.kind in "fV" else x < 0)


def isposinf(x: ndarray) -> ndarray:
    """Whether elements are plus infinity."""
    return np.asarray(x == math.inf)


def isneginf(x: ndarray) -> ndarray:
    """Whether elements are minus infinity."""
    return np.asarray(x == -math.inf)


def isreal(x: ndarray) -> ndarray:
    """Whether the imaginary part is 0."""
    return np.asarray(x.imag == 0) if x.dtype.kind == "c" else np.ones(x.shape, np.bool_)


def deg2rad(x: ndarray) -> ndarray:
    """Degrees as radians."""
    return np.asarray(x * (math.pi / 180))


def rad2deg(x: ndarray) -> ndarray:
    """Radians as degrees."""
    return np.asarray(x * (180 / math.pi))


def _real_logaddexp(x: ndarray, y: ndarray) -> ndarray:
    z = np.asarray(np.abs(x - y))
    if np.isnan(z).any():  # equal infinities, or NaN
        return np.logaddexp(x, y)
    np.negative(z, out=z)
    np.exp(z, out=z)
    np.log1p(z, out=z)
    return np.add(np.maximum(x, y), z, out=z)


def _logaddexp(x: ndarray, y: ndarray) -> ndarray:
    """log(exp(x) + exp(y)), without overflow."""
    if x.dtype.kind != "c":
        return _real_logaddexp(x, y)
    return log_add_exp(x, y)


logaddexp = arrays_only(_logaddexp)


def copysign(x: ndarray, y: Any) -> ndarray:
    """|x| with the sign of y."""
    return np.copysign(x, np.asarray(y).astype(x.dtype))


def heaviside(x: ndarray, values: ndarray) -> ndarray:
    """0 below 0, 1 above, and ``values`` at 0."""
    return np.where(x == 0, values, (x > 0).astype(x.dtype))


def _ldexp(x: ndarray, y: ndarray) -> ndarray:
    """x times 2 to the power of y."""
    return np.asarray(x * exp2(y))


ldexp = arrays_only(_ldexp)


def frexp(x: ndarray) -> tuple[ndarray, ndarray]:
    """The mantissa, of magnitude in [1/2, 1), and the exponent of 2 as int32."""
    mantissa, exponent = np.frexp(x.astype(np.float32) if x.dtype.itemsize == 2 else x)
    return np.asarray(mantissa).astype(x.dtype), np.asarray(exponent, np.int32)


def round_decimals(x: ndarray, decimals: int) -> ndarray:
    """x rounded to a number of decimals, halves to even."""
    if not decimals:
        return np.rint(x)
    ten = x.dtype.type(10.0 ** abs(decimals))
    return np.rint(x * ten) / ten if decimals > 0 else np.rint(x / ten) * ten


def div_mode(x: ndarray, y: ndarray, rounding_mode: str) -> ndarray:
    """x / y rounded towards 0 ('trunc') or down ('floor')."""
    from .elementwise import floor_divide

    if rounding_mode == "floor":
        return floor_divide(x, y)
    if x.dtype.kind in "fV":
        return np.asarray(np.trunc(x / y))
    if not np.all(y):
        raise RuntimeError("ZeroDivisionError")
    quotient = np.floor_divide(x, y)
    return np.asarray(quotient + ((quotient < 0) & (quotient * y != x)), x.dtype)


def clamp_min(x: ndarray, low: Any) -> ndarray:
    """max(x, low)."""
    return np.maximum(x, low)


def clamp_max(x: ndarray, high: Any) -> ndarray:
    """min(x, high)."""
    return np.minimum(x, high)


def nan_to_num(x: ndarray, nan: Any, posinf: Any, neginf: Any) -> ndarray:
    """x with numbers for NaN and infinities: by default 0 and the extremes of the dtype."""
    if x.dtype.kind in "iub":
        return x.copy()
    if x.dtype.kind == "c":
        parts = [nan_to_num(part, nan, posinf, neginf) for part in (x.real, x.imag)]
        return (parts[0] + 1j * parts[1]).astype(x.dtype)
    if np.isfinite(x).all():
        return x.copy()
    kind = x.dtype.type
    high = np.finfo(kind).max if posinf is None else kind(posinf)
    low = np.finfo(kind).min if neginf is None else kind(neginf)
    z = np.where(np.isnan(x), kind(0 if nan is None else nan), x)
    return np.where(x == math.inf, high, np.where(x == -math.inf, low, z))


def lerp(start: ndarray, end: ndarray, weight: Any) -> ndarray:
    """start + weight (end - start), from the nearer end."""
    near = abs(weight) < 0.5
    if type(weight) is ndarray and weight.ndim:
        step = end - start
        return np.where(near, start + weight * step, end - step * (1 - weight))
    kind = np.asarray(start).dtype.type
    step = np.asarray(end - start)
    if near:
        step *= kind(weight)
        return np.add(start, step, out=step)
    step *= kind(1 - weight)
    return np.subtract(end, step, out=step)


def addcmul(x: ndarray, tensor1: ndarray, tensor2: ndarray, value: Any) -> ndarray:
    """x + value tensor1 tensor2."""
    if value == 1:
        return _sum(x, np.asarray(tensor1 * tensor2))
    z = _scaled(x, value, tensor1)
    return _sum(x, np.multiply(z, tensor2, z) if z.shape == tensor2.shape else z * tensor2)


def addcdiv(x: ndarray, tensor1: ndarray, tensor2: ndarray, value: Any) -> ndarray:
    """x + value tensor1 / tensor2."""
    return _sum(x, np.asarray((tensor1 if value == 1 else _scaled(x, value, tensor1)) / tensor2))


def _scaled(x: ndarray, value: Any, tensor: ndarray) -> ndarray:
    return np.asarray(scalar(x.dtype, value) * tensor)


def _sum(x: ndarray, z: ndarray) -> ndarray:
    """x + z, in the memory of z if the sum fits there."""
    try:
        return np.add(x, z, out=z)
    except ValueError:  # x is the larger
        return np.asarray(x + z)


def rsub_scaled(x: ndarray, other: Any, alpha: Any) -> ndarray:
    """other - alpha x."""
    return np.asarray(other - x * scalar(x.dtype, alpha))
