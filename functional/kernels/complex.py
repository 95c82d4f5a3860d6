"""Complex numbers and their parts."""

from __future__ import annotations

import math

import numpy as np
from numpy import ndarray
from numpy.lib.stride_tricks import as_strided as _as_strided


def conj_physical(x: ndarray) -> ndarray:
    """The complex conjugate; a copy of what is real."""
    return np.conjugate(x) if x.dtype.kind == "c" else x.copy()


def real(x: ndarray) -> ndarray:
    """The real part, a view."""
    return x.real


def imag(x: ndarray) -> ndarray:
    """The imaginary part, a view."""
    return x.imag


def view_as_real(x: ndarray) -> ndarray:
    """Real and imaginary part along a last dimension, a view."""
    part = x.real
    return _as_strided(part, (*x.shape, 2), (*x.strides, part.itemsize))


def view_as_complex(x: ndarray) -> ndarray:
    """Pairs along the last dimension as complex numbers, a view."""
    kind = np.complex64 if x.dtype.itemsize == 4 else np.complex128
    return x.view(kind)[..., 0]


def complex(real: ndarray, imag: ndarray) -> ndarray:
    """real + i imag, of its parts' precision."""
    shape = np.broadcast_shapes(real.shape, imag.shape)
    z = np.empty(shape, np.complex64 if real.dtype.itemsize == 4 else np.complex128)
    z.real, z.imag = real, imag
    return z


def polar(abs: ndarray, angle: ndarray) -> ndarray:
    """abs (cos(angle) + i sin(angle))."""
    return complex(np.asarray(abs * np.cos(angle)), np.asarray(abs * np.sin(angle)))


def angle(x: ndarray) -> ndarray:
    """The argument, in (-π, π]; for real numbers 0, π below 0, and NaN for NaN."""
    if x.dtype.kind == "c":
        return np.arctan2(x.imag, x.real)
    return np.where(np.isnan(x), x, np.where(x < 0, x.dtype.type(math.pi), x.dtype.type(0)))


def log1p_complex(z: ndarray) -> ndarray:
    """log(1 + z), as exact for small numbers as for others."""
    x, y = z.real, z.imag
    squared = x * (x + 2) + y * y  # |1 + z|² - 1
    small = np.where(squared == 0, x, np.log1p(squared) / 2)
    size = np.where(np.abs(z) < 0.5, small, np.log(np.hypot(x + 1, y)))
    return complex(size, np.asarray(np.arctan2(y, x + 1), size.dtype))


def log_add_exp(x: ndarray, y: ndarray) -> ndarray:
    """log(exp(x) + exp(y)) of complex numbers; the imaginary part lies in (-π, π]."""
    less = x.real < y.real
    low, high = np.where(less, x, y), np.where(less, y, x)
    usual = high + log1p_complex(_exp(low - high))
    endless = (low.real == high.real) & ~np.isfinite(high.real)
    if endless.any():
        sums = log1p_complex(_endless_exp(low) + _endless_exp(high) - 1)
        usual = np.where(endless, np.where(low.real < 0, low, sums), usual)
    lost = np.isnan(x) | np.isnan(y)
    return np.where(lost, _NAN, usual).astype(usual.dtype)


_NAN = math.nan + 1j * math.nan


def _exp(z: ndarray) -> ndarray:
    """exp(z), and 0 where the real part is minus infinity."""
    size = np.exp(z.real)
    zero = size == 0
    parts = [np.where(zero, 0, size * f(z.imag)) for f in (np.cos, np.sin)]
    return complex(*(np.asarray(part, size.dtype) for part in parts))


def _endless_exp(z: ndarray) -> ndarray:
    """exp(z) for an infinite real part."""
    parts = [f(z.imag) for f in (np.cos, np.sin)]
    return complex(*(np.where(part == 0, 0, part * math.inf).astype(part.dtype) for part in parts))
