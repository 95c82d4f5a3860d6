"""Special functions: SciPy's under PyTorch's names, and a few of our own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

from .half import narrow, widen
from .pairs import arrays_only
from .scipy_part import scipy_part


def _scipy(function: str, *args: Any) -> ndarray:
    """``scipy.special.FUNCTION``; half types in float32, the result in the first array's dtype."""
    like = next(a for a in args if hasattr(a, "dtype"))
    wide = [widen(a) if hasattr(a, "dtype") else a for a in args]
    z = getattr(scipy_part("special", function), function)(*wide)
    return narrow(np.asarray(z), like.dtype)


def _from_scipy(function: str) -> Any:
    def kernel(*args: Any) -> ndarray:
        return _scipy(function, *args)

    kernel.__name__ = kernel.__qualname__ = function
    return kernel


# --- of the normal distribution -------------------------------------------------------------------

erfcx = _from_scipy("erfcx")
ndtri, log_ndtr = _from_scipy("ndtri"), _from_scipy("log_ndtr")


def entr(x: ndarray) -> ndarray:
    """-x log x; 0 at 0 and minus infinity below."""
    z = -x * np.log(x)
    return np.where(x > 0, z, np.where(x < 0, -math.inf, np.where(x == 0, 0, z))).astype(x.dtype)


def logit(x: ndarray, eps: float | None, steps: Any = None) -> ndarray:
    """log(x / (1 - x)), of x limited to [eps, 1 - eps]; ``steps`` is a dtype to round them to."""
    if eps is not None:
        x = np.clip(x, x.dtype.type(eps), x.dtype.type(1 - eps))
    if steps is None:
        return np.asarray(np.log(x / (1 - x)))
    rest = np.asarray(1 - x).astype(steps).astype(x.dtype)
    return np.asarray(np.log(np.asarray(x / rest).astype(steps).astype(x.dtype)))


def sinc(x: ndarray) -> ndarray:
    """sin(πx) / πx, and 1 at 0."""
    angle = np.where(x == 0, 1, x) * x.dtype.type(math.pi)
    return np.where(x == 0, 1, np.sin(angle) / angle).astype(x.dtype)


# --- the gamma function and its relatives ---------------------------------------------------------

lgamma = _from_scipy("gammaln")
igamma = arrays_only(_from_scipy("gammainc"))
igammac = arrays_only(_from_scipy("gammaincc"))


def digamma(x: ndarray) -> ndarray:
    """The derivative of ``lgamma``; infinite at 0, with the sign that 0 has not."""
    return np.where(x == 0, np.copysign(x.dtype.type(math.inf), -x), _scipy("digamma", x))


def polygamma(n: int, x: ndarray) -> ndarray:
    """The derivative of order n of ``digamma``."""
    if n == 0:
        return digamma(x)
    if n == 1:
        return _trigamma(x)
    factor = (-1) ** (n + 1) * math.factorial(n)
    wide = widen(x)
    z = factor * _scipy("zeta", wide.dtype.type(n + 1), wide)
    return narrow(np.asarray(z, wide.dtype), x.dtype)


def polygamma_of(x: ndarray, n: int) -> ndarray:
    """``polygamma`` with the tensor first."""
    return polygamma(n, x)


def _trigamma(x: ndarray) -> ndarray:
    """The asymptotic series at x + 6, brought down; reflected at 1/2.

    Abramowitz and Stegun 6.4.12, 6.4.6 and 6.4.7.
    """
    wide = np.asarray(widen(x))
    kind = wide.dtype.type
    reflected = wide < 0.5
    y = np.where(reflected, 1 - wide, wide)
    z = np.zeros_like(y)
    for _ in range(6):
        z += 1 / (y * y)
        y = y + 1
    square = 1 / (y * y)
    z += (1 + 1 / (2 * y) + square * (kind(1 / 6) - square * (kind(1 / 30) - square / 42))) / y
    sine = np.sin(kind(math.pi) * wide)
    return narrow(np.where(reflected, kind(math.pi**2) / (sine * sine) - z, z), x.dtype)


def mvlgamma(x: ndarray, p: int) -> ndarray:
    """log Γ of p dimensions: Σ lgamma(x - i/2) + p (p - 1) / 4 log π."""
    if p < 1:
        raise ValueError("p < 1")
    wide = widen(x)
    z = wide.dtype.type(p * (p - 1) / 4 * math.log(math.pi)) + sum(
        _scipy("gammaln", wide - wide.dtype.type(i / 2)) for i in range(p)
    )
    return narrow(np.asarray(z), x.dtype)


def xlogy(x: Any, y: Any) -> ndarray:
    """x log y; 0 where x is, unless y is NaN."""
    return _times_log(np.log, x, y)


def xlog1py(x: Any, y: Any) -> ndarray:
    """x log(1 + y); 0 where x is, unless y is NaN."""
    return _times_log(np.log1p, x, y)


def _times_log(log: Any, x: Any, y: Any) -> ndarray:
    x, y = _alike(x, y)
    return np.where((x == 0) & ~np.isnan(y), x.dtype.type(0), x * log(y))


def _alike(x: Any, y: Any) -> tuple[ndarray, ndarray]:
    """Two operands as arrays; a number takes the dtype of the other one."""
    kind = x.dtype if isinstance(x, ndarray) else y.dtype
    return np.asarray(x, kind), np.asarray(y, kind)


def zeta(x: Any, y: Any) -> ndarray:
    """Hurwitz's zeta function Σ (k + y) ** -x."""
    return _scipy("zeta", *_alike(x, y))


def _swapped(kernel: Any) -> Any:
    return lambda y, x: kernel(x, y)


xlogy_after_number, xlogy_before_number = _swapped(xlogy), xlogy
xlog1py_after_number, xlog1py_before_number = _swapped(xlog1py), xlog1py
zeta_after_number, zeta_before_number = _swapped(zeta), zeta


# --- Bessel and Airy functions --------------------------------------------------------------------

i0, i0e, i1, i1e = (_from_scipy(n) for n in ("i0", "i0e", "i1", "i1e"))
bessel_j0, bessel_j1 = _from_scipy("j0"), _from_scipy("j1")
bessel_y0, bessel_y1 = _from_scipy("y0"), _from_scipy("y1")
modified_bessel_i0, modified_bessel_i1 = i0, i1
modified_bessel_k0, modified_bessel_k1 = _from_scipy("k0"), _from_scipy("k1")
scaled_modified_bessel_k0, scaled_modified_bessel_k1 = _from_scipy("k0e"), _from_scipy("k1e")


def airy_ai(x: ndarray) -> ndarray:
    """The Airy function Ai."""
    return np.asarray(scipy_part("special", "airy_ai").airy(x)[0], x.dtype)


def spherical_bessel_j0(x: ndarray) -> ndarray:
    """sin(x) / x, and 1 at 0; a few terms of its series near 0."""
    near = np.abs(x) < 0.5
    square = x * x
    series = np.ones_like(x)
    for k in range(6, 0, -1):
        series = 1 - square / (2 * k * (2 * k + 1)) * series
    far = np.where(near, 1, x)
    z = np.where(near, series, np.sin(far) / far)
    return np.where(np.isinf(x), 0, z).astype(x.dtype)
