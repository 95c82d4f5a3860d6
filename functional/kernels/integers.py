"""Integer streams of a Generator: remainders and low bits of 32-bit or 64-bit draws."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from .draws import (
    BF16,
    DIGITS,
    F16,
    F32,
    F64,
    REAL,
    cpp_name,
    draw_dtype,
    in_chunks,
    largest,
    not_implemented,
    size_of,
    store,
)

if TYPE_CHECKING:
    from ..random import Generator

Shape = int | Sequence[int]

BOOL, I64, U64 = np.dtype(np.bool_), np.dtype(np.int64), np.dtype(np.uint64)
BARE = tuple(np.dtype(f"u{size}") for size in (2, 4, 8))  # dtypes that few kernels take
LOWEST_64 = -(2**63)
_WIDE = 1 << 28  # ranges from here on take two words per element


def randint(generator: Generator, low: int, high: int, shape: Shape, dtype: np.dtype) -> np.ndarray:
    """Integers from low to high - 1 in any dtype, as ``randint`` and ``random_(from, to)``.

    Ranges of 2**28 and more take two words per element, smaller ones one; the remainder is
    PyTorch's (slightly skewed). Raises RuntimeError unless low < high and both fit the dtype,
    and warns where a floating dtype cannot hold every integer of the range.
    """
    dtype = np.dtype(dtype)
    base, span = _range(low, high, dtype)
    return _remainders(generator, size_of(shape), base, span, dtype).reshape(shape)


def random_from(generator: Generator, low: int, shape: Shape, dtype: np.dtype) -> np.ndarray:
    """Integers from ``low`` to the largest the dtype counts to, as ``random_(from, None)``.

    ``low = -2**63`` asks for all 64 bits: int64, float64, float32 and bfloat16 only.
    """
    dtype, count = np.dtype(dtype), size_of(shape)
    if low != LOWEST_64:
        base, span = _range_upward(low, dtype)
        return _remainders(generator, count, base, span, dtype).reshape(shape)
    if not count:
        return np.empty(shape, dtype)
    if dtype in (BOOL, F16, *BARE) or dtype in REAL:
        raise not_implemented("random_full_64_bits_range_kernel_cpu", dtype)
    if dtype not in (I64, F64, F32, BF16):
        raise RuntimeError(
            "random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16"
        )
    return narrow_integers(generator.words64(count).view(I64), dtype).reshape(shape)


def random_full(generator: Generator, shape: Shape, dtype: np.dtype) -> np.ndarray:
    """Integers from 0 to the dtype's largest (2**digits for floats), as ``random_()``."""
    dtype, count = np.dtype(dtype), size_of(shape)
    if not count:
        return np.empty(shape, dtype)
    if dtype in BARE or dtype in REAL:
        raise not_implemented("random_kernel_cpu", dtype)
    wide = dtype in (I64, F64)
    draws = generator.words64(count) if wide else generator.words(count)
    if dtype in DIGITS:
        draws = draws % draws.dtype.type((1 << DIGITS[dtype]) + 1)
    else:
        draws = draws & draws.dtype.type(1 if dtype == BOOL else np.iinfo(dtype).max)
    return narrow_integers(draws, dtype).reshape(shape)


def randint_(generator: Generator, array: np.ndarray, low: int, high: int) -> np.ndarray:
    """Fill ``array`` as ``randint`` draws (``random_(from, to)``); returns it."""
    return store(array, randint(generator, low, high, array.size, array.dtype))


def random_from_(generator: Generator, array: np.ndarray, low: int) -> np.ndarray:
    """Fill ``array`` as ``random_from`` draws (``random_(from, None)``); returns it."""
    return store(array, random_from(generator, low, array.size, array.dtype))


def random_(generator: Generator, array: np.ndarray) -> np.ndarray:
    """Fill ``array`` as ``random_full`` draws; returns it."""
    return store(array, random_full(generator, array.size, array.dtype))


def narrow_integers(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Integers in ``dtype``: rounded once for floats, wrapped for shorter integers."""
    if dtype in (F16, BF16):
        values = values.astype(F32)
    return values.astype(dtype, copy=False)


def _remainders(
    generator: Generator, count: int, base: int, span: int, dtype: np.dtype
) -> np.ndarray:
    source = generator.words64 if span >= _WIDE else generator.words
    divisor = np.uint64(span) if span >= _WIDE else np.uint32(span)

    def make(size: int) -> np.ndarray:
        draws = source(size)
        # A constant divides as a multiplication, which `remainder` does not exploit.
        values = (draws - draws // divisor * divisor).astype(I64)
        if base:
            values += base
        return narrow_integers(values, dtype)

    return in_chunks(generator, count, dtype, make)


def _range(low: int, high: int, dtype: np.dtype) -> tuple[int, int]:
    """The first integer and how many follow, moved inwards to what the dtype can hold."""
    low, high = int(low), int(high)
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    if dtype in DIGITS:
        low, high = _inward(low, high, dtype)
    _check_range(low, high - 1, dtype)
    return low, high - low


def _range_upward(low: int, dtype: np.dtype) -> tuple[int, int]:
    if dtype in REAL:
        raise RuntimeError(
            "random_from_to_impl handles only integral, floating-point and boolean types"
        )
    if dtype in DIGITS:
        last = 1 << DIGITS[dtype]
        low = _lowest_above(int(low), dtype)
        if low >= last:
            raise RuntimeError(
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' "
                f"casted to dtype, but got from={low} > to_inc={last}"
            )
    else:
        last = 1 if dtype == BOOL else np.iinfo(dtype).max
        last = -1 if last == np.iinfo(U64).max else last  # PyTorch keeps it in an int64
    _check_range(int(low), last, dtype)
    return int(low), last - int(low) + 1


def _rounded(value: int, dtype: np.dtype) -> int:
    """``value`` through ``dtype`` to int64, which answers its lowest for what does not fit."""
    with np.errstate(over="ignore"):
        rounded = float(draw_dtype(dtype).type(value).astype(dtype))
    return int(rounded) if -(2.0**63) <= rounded < 2.0**63 else LOWEST_64


def _lowest_above(low: int, dtype: np.dtype) -> int:
    next_up = _rounded(low + 1, dtype)
    if next_up >= low:
        return low
    return next_up + (1 << (abs(low + 1).bit_length() - DIGITS[dtype]))


def _inward(low: int, high: int, dtype: np.dtype) -> tuple[int, int]:
    low = _lowest_above(low, dtype)
    last = _rounded(high - 1, dtype)
    if last >= high:
        high = last - (1 << (abs(high - 1).bit_length() - DIGITS[dtype]))
    if low >= high:
        raise RuntimeError(
            "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but "
            f"got from={low} >= to={high}"
        )
    return low, high


@cache
def _ends(dtype: np.dtype) -> tuple[int, int]:
    return int(np.iinfo(dtype).min), min(int(np.iinfo(dtype).max), 2**63 - 1)


def _check_range(low: int, last: int, dtype: np.dtype) -> None:
    if dtype in REAL:
        raise RuntimeError(
            "check_random_bounds handles only integral, floating-point and boolean types"
        )
    if dtype in DIGITS:
        low_end, high_end = -largest(dtype), largest(dtype)
    elif dtype == BOOL:
        low_end, high_end = 0, 1
    else:
        low_end, high_end = _ends(dtype)
    for name, bound in (("from", low), ("to - 1", last)):
        if not low_end <= bound <= high_end:
            raise RuntimeError(f"{name} is out of bounds for {cpp_name(dtype)}")
    if dtype in DIGITS:
        _warn_imprecise(low, last, dtype)


def _warn_imprecise(low: int, last: int, dtype: np.dtype) -> None:
    digits = DIGITS[dtype]
    for name, bound in (("from", low), ("to - 1", last)):
        if abs(bound) > 1 << digits:
            warnings.warn(
                f"{name} is out of bounds [-(2^{digits}), 2^{digits}]. Due to precision "
                f"limitations {cpp_name(dtype)} can support discrete uniform distribution only "
                "within this range. This warning will become an error in version 1.7 release, "
                "please fix the code in advance",
                stacklevel=2,
            )
