"""What ``numpy`` means in a twin: CuPy, and stand-ins for what CuPy lacks.

Its ufuncs reduce and accumulate with ``add`` and ``multiply`` only, and scatter for a few dtypes;
some functions lack a keyword; there is no floating-point state to set.
"""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import Any

import cupy
import numpy

from .ufuncs import Ufunc, listed

LinAlgError = cupy.linalg.LinAlgError


def errstate(**kwargs: Any) -> Any:
    """Nothing: a GPU raises no floating-point warnings."""
    return contextlib.nullcontext()


def as_strided(x: Any, shape: Any = None, strides: Any = None, **kwargs: Any) -> Any:
    """``numpy.lib.stride_tricks.as_strided``; every view is writable."""
    return cupy.lib.stride_tricks.as_strided(x, shape, strides)


def byte_bounds(x: Any) -> tuple[int, int]:
    """The addresses of the first byte of an array and of the one behind its last."""
    low = high = x.data.ptr
    for n, s in zip(x.shape, x.strides, strict=True):
        low, high = low + min((n - 1) * s, 0), high + max((n - 1) * s, 0)
    return low, high + x.itemsize


lib = SimpleNamespace(
    stride_tricks=SimpleNamespace(as_strided=as_strided, sliding_window_view=None),
    array_utils=SimpleNamespace(byte_bounds=byte_bounds),
)


def vecdot(x: Any, y: Any, axis: int = -1) -> Any:
    """The sums of conj(x)·y along an axis."""
    return (x.conj() * y).sum(axis) if x.dtype.kind == "c" else (x * y).sum(axis)


def asarray(x: Any, dtype: Any = None, order: Any = None, copy: Any = None) -> Any:
    """An array: lists of arrays are stacked."""
    return cupy.asarray(listed(x), dtype, order)


def array(x: Any, dtype: Any = None, copy: bool = True, order: str = "K", ndmin: int = 0) -> Any:
    """A new array."""
    return cupy.array(listed(x), dtype, copy=copy, order=order, ndmin=ndmin)


def empty_like(x: Any, dtype: Any = None, order: str = "K", shape: Any = None) -> Any:
    """Memory of the same kind; ``x`` may be a number."""
    return cupy.empty_like(cupy.asarray(x), dtype, order, shape=shape)


def _parts(parts: Any) -> Any:
    """Arrays to be joined: CuPy takes no lists of numbers among them."""
    if isinstance(parts, cupy.ndarray):
        return parts
    return [p if isinstance(p, cupy.ndarray) else cupy.asarray(p) for p in parts]


def concatenate(parts: Any, axis: Any = 0, out: Any = None, dtype: Any = None) -> Any:
    """Arrays, or lists of numbers, behind each other; all of the host if none is CuPy's."""
    if not has_arrays(parts):
        return numpy.concatenate(parts, axis, out, dtype=dtype)
    return cupy.concatenate(_parts(parts), axis, out, dtype=dtype)


def stack(parts: Any, axis: int = 0, out: Any = None) -> Any:
    """Arrays, or numbers, along a new axis."""
    if not has_arrays(parts):
        return numpy.stack(parts, axis, out)
    return cupy.stack(_parts(parts), axis, out)


def repeat(x: Any, repeats: Any, axis: Any = None) -> Any:
    """Every element several times; CuPy's takes no array of counts."""
    if not has_arrays((x, repeats)):
        return numpy.repeat(x, repeats, axis)
    if not isinstance(repeats, cupy.ndarray) or not repeats.ndim:
        return cupy.repeat(x, int(repeats) if not isinstance(repeats, list) else repeats, axis)
    x = cupy.asarray(x)
    ends = cupy.cumsum(repeats)
    total = int(ends[-1]) if ends.size else 0
    places = cupy.searchsorted(ends, cupy.arange(total), side="right")
    return cupy.take(x.reshape(-1) if axis is None else x, places, 0 if axis is None else axis)


def outer(x: Any, y: Any) -> Any:
    """All products of the elements of two vectors."""
    return cupy.outer(cupy.asarray(x), cupy.asarray(y))


def errors_raised(name: str) -> Any:
    """A function of ``linalg`` that raises LinAlgError, as NumPy's does."""
    import cupyx

    function = getattr(cupy.linalg, name)

    def raising(*args: Any, **kwargs: Any) -> Any:
        with cupyx.errstate(linalg="raise"):
            return function(*args, **kwargs)

    return raising


class _Linalg:
    """``numpy.linalg``: what CuPy has of it, raising as NumPy's does."""

    LinAlgError = LinAlgError

    def __getattr__(self, name: str) -> Any:
        value = errors_raised(name)
        setattr(self, name, value)
        return value


linalg, fft = _Linalg(), cupy.fft


def take(x: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """Elements by index: CuPy's wraps around where NumPy's raises."""
    return cupy.take(x, indices, axis, out)


_MAKERS = {"zeros", "ones", "empty", "full", "arange", "linspace", "eye", "identity", "tri",
           "indices", "ascontiguousarray", "logspace", "fromiter", "frombuffer"}  # fmt: skip


def has_arrays(values: Any) -> bool:
    """Whether there is one of CuPy's arrays among the values."""
    for v in values:
        if isinstance(v, cupy.ndarray) or (type(v) in (list, tuple) and has_arrays(v)):
            return True
    return False


def _either(name: str, function: Any) -> Any:
    """CuPy's function; NumPy's where there is no array: sizes and numbers stay on the host."""
    theirs = getattr(numpy, name, None)

    def call(*args: Any, **kwargs: Any) -> Any:
        if has_arrays(args) or has_arrays(kwargs.values()) or theirs is None:
            return function(*args, **kwargs)
        return theirs(*args, **kwargs)

    call.__name__ = name
    return call


def __getattr__(name: str) -> Any:
    value = getattr(cupy, name)
    if isinstance(value, cupy.ufunc):
        value = Ufunc(value, name)
    elif callable(value) and not isinstance(value, type) and name not in _MAKERS:
        value = _either(name, value)
    globals()[name] = value
    return value
