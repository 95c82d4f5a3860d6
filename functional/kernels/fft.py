"""Fourier transforms. ``norm`` is 0 for no factor, 1 for 1/√n, 2 for 1/n."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

from .threads import workers

__all__ = ["fft_c2c", "fft_c2r", "fft_r2c", "frames_last", "pad_end"]

FORWARD, BACKWARD = ("backward", "ortho", "forward"), ("forward", "ortho", "backward")
Dims = tuple[int, ...]
LARGE = 4096  # elements


def _arranged(x: ndarray, dims: Dims, last: bool = False) -> tuple[ndarray, Any, Dims]:
    """(x with the transformed axes innermost, the way back, those axes).

    Other axes, and the transformed ones among themselves, keep their order in memory; with
    ``last`` the last of them stays last.
    """
    key = lambda d: -abs(x.strides[d])
    others = sorted((d for d in range(x.ndim) if d not in dims), key=key)
    inner = [*sorted(dims[:-1], key=key), dims[-1]] if last else sorted(dims, key=key)
    order = [*others, *inner]
    back = [order.index(d) for d in range(x.ndim)]
    axes = tuple(range(len(others), x.ndim))
    return x.transpose(order), lambda z: np.ascontiguousarray(z).transpose(back), axes


def _library(x: ndarray) -> Any:
    """SciPy's transforms for large arrays, where it is installed: they share work among threads."""
    if x.size >= LARGE:
        try:
            import scipy.fft
        except ImportError:
            return np.fft, {}
        return scipy.fft, {"workers": workers()}
    return np.fft, {}


def fft_c2c(x: ndarray, dims: Dims, norm: int, forward: bool) -> ndarray:
    """The transform of complex numbers over ``dims``."""
    if not dims:
        return x.copy()
    y, restored, axes = _arranged(x, dims)
    names, (library, more) = FORWARD if forward else BACKWARD, _library(x)
    if len(axes) == 1:
        one = library.fft if forward else library.ifft
        return restored(one(y, norm=names[norm], **more))
    several = library.fftn if forward else library.ifftn
    return restored(several(y, axes=axes, norm=names[norm], **more))


def fft_r2c(x: ndarray, dims: Dims, norm: int, onesided: bool) -> ndarray:
    """The transform of real numbers; ``onesided`` keeps half of the last dimension."""
    y, restored, axes = _arranged(x, dims, True)
    library, more = _library(x)
    if len(axes) == 1:
        one = library.rfft if onesided else library.fft
        return restored(one(y, norm=FORWARD[norm], **more))
    several = library.rfftn if onesided else library.fftn
    return restored(several(y, axes=axes, norm=FORWARD[norm], **more))


def fft_c2r(x: ndarray, dims: Dims, norm: int, size: int) -> ndarray:
    """The inverse transform of half a spectrum: ``size`` real numbers in the last dimension."""
    if len(dims) > 1:
        x = fft_c2c(x, dims[:-1], 0, False)
    y, restored, _ = _arranged(x, dims[-1:])
    library, more = _library(x)
    z = library.irfft(y, size, norm="forward", **more)
    count = math.prod(x.shape[d] for d in dims[:-1]) * size
    if norm:
        z *= z.dtype.type(1 / (count if norm == 2 else math.sqrt(count)))
    return restored(z)


def frames_last(x: ndarray) -> ndarray:
    """Batches of matrices, transposed."""
    return x.swapaxes(1, 2)


def pad_end(x: ndarray, sizes: Dims) -> ndarray:
    """Zeros after the elements, up to ``sizes``."""
    z = np.zeros(sizes, x.dtype)
    z[tuple(slice(n) for n in x.shape)] = x
    return z
