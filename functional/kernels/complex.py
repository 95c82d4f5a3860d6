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
