"""The error function and what is built on it, by rational approximations of our own.

The coefficients are weighted least-squares fits, made even by Lawson's iteration in 50 digits:
relative errors are below 1e-18 (float64 near 0), 2e-17 (the tail), 4e-8 (float32's tail),
1.1e-8 (its erf), and for erfinv 4e-9 (float32) and 5e-18 (float64 near 0).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy import ndarray

from . import layout
from .half import narrow, widen
from .threads import in_cache

# erf(x) / x - 1.125 over x² in [0, 1]
_NEAR = (
    0.0033791670955125746, -0.3745701684971626, -0.060063941156992984, -0.010153603980759023,
    -0.0005823634465096433, -2.3342536394354546e-05,
)  # fmt: skip
_NEAR_Q = (
    1.0, 0.46053376192663537, 0.09382283420703595, 0.010695012204892312, 0.0006926950019304833,
    2.0819207552416207e-05,
)  # fmt: skip
# erfc(x) exp(x²) / u over u = 1 / (1 + x/2), x in [0.5, 28]
_TAIL = (
    0.28209479177342117, 0.17218043304896, 1.112088073522674, 0.9397123508472985,
    1.6853587908017982, 1.5064480294012481, 1.3498235852433842, 0.9454284371043723,
    0.4987625982648594, 0.17660776218713942,
)  # fmt: skip
_TAIL_Q = (
    1.0, -0.3896362569221735, 3.456885839185693, -0.4097606874183169, 3.306076493328203,
    0.36340720624560013, 0.9538632754889974, 0.2990533012060701, 0.0588248281992299,
    0.029790852333057127,
)  # fmt: skip
# float32: atanh(erf(x)) / x over x² in [0, 15.4]
_SLOPE_32 = (
    57.75935177781201, 12.842143436499605, 1.8082807740744344, 0.07101541554701295,
    -0.0007787954838492743,
)  # fmt: skip
_SLOPE_32_Q = (51.18789220571106, 6.7188852994342385, 1.0)
# float32: the tail as above, x in [0, 10.6]
_TAIL_32 = (
    0.2820848499616448, 0.2824045707068738, 0.24287775722579333, 0.20363135769626686,
    -0.028967529711277255, 0.28160819980648616, -0.4904022094223233, 0.2861654330668256,
    -0.05940247348283025,
)  # fmt: skip
# erfinv(x) / x over w = -log(1 - x²), float32: w in [0, 17.4]
_INVERSE_32 = (
    0.8862269225340245, 0.3143407509560046, 0.06328061803059297, 0.008602045276769416,
    0.0007663104532340896, 3.751851237579667e-05, 1.0279111290656662e-07,
)  # fmt: skip
_INVERSE_32_Q = (
    1.0, 0.09289606814234955, 0.0340528296579258, 0.002214773903503479, 0.00023108769375743528,
    3.1369462546190103e-06,
)  # fmt: skip
# the same in float64, w in [0, 5]
_INVERSE = (
    0.886226925452758, 0.34952858259292346, 0.09340962251611297, 0.017984082708244555,
    0.002560320342045905, 0.0002756901728637459, 2.1861172357270583e-05, 1.1635107146734813e-06,
    3.212359968339486e-08,
)  # fmt: skip
_INVERSE_Q = (
    1.0, 0.13260138310312927, 0.057654474186058, 0.006105772142915572, 0.0010330396115503721,
    7.953894011224334e-05, 5.546274486166036e-06, 2.3637150239445765e-07, 1.951808791152315e-09,
)  # fmt: skip
# and over w - 5, w in [5, 36.9], to 3e-11: the start of one step of Halley's
_INVERSE_FAR = (
    2.0798127608193875, 0.8149166396862018, 0.15649656374270263, 0.018163333181072567,
    0.0013453216873431687, 5.7686312109076285e-05, 7.746636729054124e-07, 1.6110377255681392e-09,
)  # fmt: skip
_INVERSE_FAR_Q = (
    1.0, 0.28907128228964585, 0.049036155024514916, 0.004641545117893052, 0.00029770922978633157,
    7.971562109721739e-06, 4.76954280228619e-08, 2.0476174871834263e-11,
)  # fmt: skip
_CUT_32 = 15.4
_INVERSE_CUT = 5.0
_ROOT_HALF = math.sqrt(0.5)
_ROOT_2_OVER_PI = math.sqrt(2 / math.pi)
_NORMAL = 1 / math.sqrt(2 * math.pi)
_CUBIC = 0.044715  # of GELU's approximation by tanh


def _polynomial(t: ndarray, coefficients: Sequence[float]) -> ndarray:
    """Horner's rule in new memory; the constant comes first."""
    z = t + coefficients[-2] if coefficients[-1] == 1 else t * coefficients[-1] + coefficients[-2]
    z *= t
    for c in coefficients[-3:0:-1]:
        z += c
        z *= t
    z += coefficients[0]
    return z


def _mapped(x: ndarray, part: Callable[[ndarray, ndarray], None]) -> ndarray:
    """``part(x, z)`` on pieces of x as a line of float32 or float64; half types in float32."""
    x = np.asarray(x)
    line = np.ascontiguousarray(widen(x)).reshape(-1)
    z = np.empty_like(line)
    in_cache(line.size, lambda i, j: part(line[i:j], z[i:j]))
    return narrow(z.reshape(x.shape), x.dtype)


def _inverse_tanh_of_erf(x: ndarray, z: ndarray) -> None:
    """atanh(erf(x)) of float32 numbers: smooth, so that a short fraction and one tanh are erf."""
    t = x * x
    np.minimum(t, _CUT_32, out=t)
    np.multiply(x, _polynomial(t, _SLOPE_32), out=z)
    z /= _polynomial(t, _SLOPE_32_Q)


def _write_erf(x: ndarray, z: ndarray) -> None:
    if x.dtype == np.float32:
        _inverse_tanh_of_erf(x, z)
        np.tanh(z, out=z)
    else:
        _write_erf_double(x, z)


def _write_erf_double(x: ndarray, z: ndarray) -> None:
    t = np.minimum(x * x, 1)
    rest = _polynomial(t, _NEAR)
    rest /= _polynomial(t, _NEAR_Q)
    rest += 0.125
    rest *= x
    np.add(x, rest, out=z)
    size = np.abs(x)
    far = np.flatnonzero(size > 1)
    if far.size:
        z[far] = np.copysign(1 - _tail(size[far]), x[far])


def _tail(x: ndarray) -> ndarray:
    """erfc for x >= 0.5 (float32: x >= 0); the square in exp(-x²) is that of x's high half."""
    single = x.dtype == np.float32
    x = np.minimum(x, 10.6 if single else 28.0)
    u = x * 0.5
    u += 1
    np.reciprocal(u, out=u)
    z = _polynomial(u, _TAIL_32 if single else _TAIL)
    if not single:
        z /= _polynomial(u, _TAIL_Q)
    z *= u
    if single:
        high = (x.view(np.int32) & np.int32(-(1 << 12))).view(np.float32)
    else:
        high = (x.view(np.int64) & np.int64(-(1 << 27))).view(np.float64)
    low = high - x
    x += high
    low *= x
    high *= -high
    z *= np.exp(high, out=high)
    z *= np.exp(low, out=low)
    return z


def _write_erfc(x: ndarray, z: ndarray) -> None:
    if x.dtype == np.float32:
        tail, sign = _tail(np.abs(x)), np.copysign(np.float32(1), x)
        tail *= sign
        np.subtract(1, sign, out=z)  # 2 - tail where x is negative
        z += tail
        return
    _write_erf_double(x, z)
    np.subtract(1, z, out=z)
    far = np.flatnonzero(x > 0.5)
    if far.size:
        z[far] = _tail(x[far])


def _write_erfinv(x: ndarray, z: ndarray) -> None:
    # A part of a shared line is long for so many arrays of float64.
    in_cache(x.size, lambda i, j: _write_erfinv_part(x[i:j], z[i:j]))


def _write_erfinv_part(x: ndarray, z: ndarray) -> None:
    """Float32 is computed in float64, as it would lose several digits' units otherwise."""
    single = x.dtype == np.float32
    x = x.astype(np.float64, copy=False)
    w = 1 - x
    w *= 1 + x
    np.log(w, out=w)
    np.negative(w, out=w)
    t = w if single else np.minimum(w, _INVERSE_CUT)
    found = _polynomial(t, _INVERSE_32 if single else _INVERSE)
    found *= x
    found /= _polynomial(t, _INVERSE_32_Q if single else _INVERSE_Q)
    if not single:
        far = np.flatnonzero(w > _INVERSE_CUT)
        if far.size:
            found[far] = np.copysign(_inverse_of_tail(1 - np.abs(x[far]), w[far]), x[far])
    ends = np.flatnonzero(w == math.inf)
    if ends.size:
        found[ends] = np.copysign(math.inf, x[ends])
    z[...] = found


def _inverse_of_tail(rest: ndarray, w: ndarray) -> ndarray:
    """The z for which erfc(z) is ``rest``, from w = -log(rest (2 - rest)) of 5 and more."""
    t = w - _INVERSE_CUT
    z = _polynomial(t, _INVERSE_FAR) / _polynomial(t, _INVERSE_FAR_Q) * (1 - rest)
    step = (_tail(z) - rest) * (0.5 * math.sqrt(math.pi)) * np.exp(z * z)
    z += step / (1 - z * step)
    return z


def _write_cdf(x: ndarray, z: ndarray) -> None:
    """The normal distribution function as GELU has it: (1 + erf(x / √2)) / 2."""
    _write_erf(x * _ROOT_HALF, z)
    z += 1
    z *= 0.5


def _write_gelu(x: ndarray, z: ndarray) -> None:
    _write_cdf(x, z)
    z *= x


def _inner(x: ndarray) -> ndarray:
    """tanh(√(2/π) (x + 0.044715 x³))."""
    t = x * x
    t *= _CUBIC
    t += 1
    t *= x
    t *= _ROOT_2_OVER_PI
    return np.tanh(t, out=t)


def _write_gelu_tanh(x: ndarray, z: ndarray) -> None:
    t = _inner(x)
    t += 1
    np.multiply(x, 0.5, out=z)
    z *= t


def _write_slope(x: ndarray, z: ndarray) -> None:
    """The derivative of GELU."""
    _write_cdf(x, z)
    density = x * x
    density *= -0.5
    np.exp(density, out=density)
    density *= _NORMAL
    density *= x
    z += density


def _write_slope_tanh(x: ndarray, z: ndarray) -> None:
    t = _inner(x)
    inner = x * x
    inner *= 3 * _CUBIC
    inner += 1
    inner *= 0.5 * _ROOT_2_OVER_PI
    inner *= x
    inner *= 1 - t * t
    np.add(t, 1, out=z)
    z *= 0.5
    z += inner


def erf(x: ndarray) -> ndarray:
    """2/√π times the integral of exp(-t²) from 0 to x."""
    return _mapped(x, _write_erf)


def erfc(x: ndarray) -> ndarray:
    """1 - erf(x), exact to the last bits where that cancels."""
    return _mapped(x, _write_erfc)


def erfinv(x: ndarray) -> ndarray:
    """The z for which erf(z) is x; infinite at ±1, NaN beyond."""
    return _mapped(x, _write_erfinv)


def gelu(x: ndarray, approximate: str) -> ndarray:
    """x times the normal distribution function (D. Hendrycks and K. Gimpel, 2016)."""
    return _mapped(x, _write_gelu if approximate == "none" else _write_gelu_tanh)


def gelu_backward(g: ndarray, x: ndarray, approximate: str) -> ndarray:
    """g times the derivative of ``gelu`` at x."""
    slope = _mapped(widen(x), _write_slope if approximate == "none" else _write_slope_tanh)
    z = narrow(np.asarray(widen(g) * slope), g.dtype)
    if g.flags.c_contiguous and x.flags.c_contiguous:
        return z
    return layout.with_strides(z, layout.result_strides(z.shape, [g, x], z.itemsize))
