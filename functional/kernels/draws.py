"""What every random stream shares: uniform draws from words, dtype names, the order of a fill.

The order of a fill: an array receives its draws in the order its elements lie in memory, the
axis with the smallest stride running fastest, whatever order the axes are listed in. So
``empty(4, 6).t().uniform_()`` fills the untransposed block row by row, and ``x[:, ::2]`` goes
along its rows. C-contiguous arrays are filled as they are indexed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from ..random import Generator

F16, F32, F64 = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64)
BF16 = np.dtype(ml_dtypes.bfloat16)
DIGITS = {BF16: 8, F16: 11, F32: 24, F64: 53}  # bits of the significand
REAL: dict[np.dtype, np.dtype] = {np.dtype(np.complex64): F32, np.dtype(np.complex128): F64}
CHUNK = 1 << 15  # elements worked on at once: a chunk and its scratch stay in cache

_MASK_24 = np.uint32((1 << 24) - 1)
_MASK_53 = np.uint64((1 << 53) - 1)
_STEP_24 = np.float32(2.0**-24)
_STEP_53 = 2.0**-53

# NumPy dtype: PyTorch's scalar type and the C++ type, both of which messages name.
_NAMES = {
    np.dtype(np.uint8): ("Byte", "unsigned char"),
    np.dtype(np.int8): ("Char", "signed char"),
    np.dtype(np.int16): ("Short", "short int"),
    np.dtype(np.int32): ("Int", "int"),
    np.dtype(np.int64): ("Long", "long int"),
    np.dtype(np.uint16): ("UInt16", "short unsigned int"),
    np.dtype(np.uint32): ("UInt32", "unsigned int"),
    np.dtype(np.uint64): ("UInt64", "long unsigned int"),
    np.dtype(np.bool_): ("Bool", "bool"),
    F16: ("Half", "c10::Half"),
    BF16: ("BFloat16", "c10::BFloat16"),
    F32: ("Float", "float"),
    F64: ("Double", "double"),
    np.dtype(np.complex64): ("ComplexFloat", "c10::complex<float>"),
    np.dtype(np.complex128): ("ComplexDouble", "c10::complex<double>"),
}


def scalar_name(dtype: np.dtype) -> str:
    """PyTorch's word for a dtype in messages: Float, Long, ..."""
    return _NAMES[dtype][0] if dtype in _NAMES else dtype.name


def cpp_name(dtype: np.dtype) -> str:
    """The C++ type that some of PyTorch's messages name."""
    return _NAMES[dtype][1] if dtype in _NAMES else dtype.name


def not_implemented(kernel: str, dtype: np.dtype) -> NotImplementedError:
    """PyTorch's error for a kernel that lacks a dtype."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(dtype)}'")


def require_floating(kernel: str, dtype: np.dtype) -> None:
    """Raise NotImplementedError unless ``dtype`` is one of the four floating dtypes."""
    if dtype not in DIGITS:
        raise not_implemented(kernel, dtype)


def largest(dtype: np.dtype) -> float:
    """The largest finite value of a floating dtype."""
    return float(np.finfo(dtype).max) if dtype != BF16 else (2 - 2.0**-7) * 2.0**127


def draw_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype in which draws for ``dtype`` are made."""
    return F64 if dtype == F64 else F32


def size_of(shape: int | Sequence[int]) -> int:
    """The number of elements of a shape."""
    return shape if isinstance(shape, int) else math.prod(shape)


def in_chunks(
    generator: Generator, count: int, dtype: np.dtype, make: Callable[[int], np.ndarray]
) -> np.ndarray:
    """``make(count)`` for a flat array, in runs that stay in cache and as one locked fill."""
    if count <= CHUNK:
        return make(count)
    result = np.empty(count, dtype)
    with generator.lock:
        for start in range(0, count, CHUNK):
            stop = min(start + CHUNK, count)
            result[start:stop] = make(stop - start)
    return result


def fill_axes(array: np.ndarray) -> list[int]:
    """The axes of ``array`` in the order of a fill, the fastest one last."""
    axes = range(array.ndim)
    if array.flags.c_contiguous:
        return list(axes)
    return sorted(axes, key=lambda axis: -array.strides[axis])


def memory_order(array: np.ndarray) -> np.ndarray:
    """A view of ``array`` with its axes sorted so that C order is the order of a fill."""
    return array if array.flags.c_contiguous else array.transpose(fill_axes(array))


def store(array: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Write flat ``values`` into ``array`` in the order of a fill; returns ``array``."""
    target = memory_order(array)
    target[...] = values.reshape(target.shape)
    return array


def as_real(array: np.ndarray) -> np.ndarray:
    """A complex array as a real view with a last axis of two: real part, imaginary part."""
    return array[..., np.newaxis].view(REAL[array.dtype])


def narrow(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """float64 or float32 values in ``dtype``; the half types are reached through float32."""
    if values.dtype == dtype:
        return values
    with np.errstate(over="ignore"):  # the tails of Cauchy's distribution reach infinity
        if dtype in (F16, BF16):
            values = values.astype(F32, copy=False)
        return values.astype(dtype)


def uniform24(generator: Generator, count: int) -> np.ndarray:
    """float32 draws in [0, 1): the low 24 bits of one word each, flat."""
    return singles(generator.words(count))


def singles(words: np.ndarray) -> np.ndarray:
    """``uniform24``'s draws of given words."""
    # As int32 the conversion to float32 is one vector instruction; as uint32 it is not.
    result = (words & _MASK_24).view(np.int32).astype(F32)
    result *= _STEP_24
    return result


def integers53(generator: Generator, count: int) -> np.ndarray:
    """int64 draws in [0, 2**53): the low bits of two words each, flat."""
    draws = generator.words64(count)
    draws &= _MASK_53
    return draws.view(np.int64)


def uniform53(generator: Generator, count: int) -> np.ndarray:
    """float64 draws in [0, 1): ``integers53`` in steps of 2**-53, flat."""
    result = integers53(generator, count).astype(F64)
    result *= _STEP_53
    return result


def below53(generator: Generator, count: int, bound: int) -> np.ndarray:
    """Which of ``integers53``'s draws are below ``bound``, 0 to 2**53: booleans, flat."""
    return integers53(generator, count) < bound
