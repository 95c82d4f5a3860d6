"""Normal streams of a Generator, equal to PyTorch's bit for bit.

Fewer than 16 elements, and every array that is not C-contiguous, take normals one by one in
float64 (Box and Muller 1958), the second of a pair waiting in the generator for the next such
fill, whatever its dtype. Contiguous arrays of 16 and more are made in blocks of 16 from 8 radii
and 8 angles: float64 by the C library, the rest in float32 (see `box_muller`). When 16
does not divide the size, the last 16 elements are drawn again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import fused
from .box_muller import BLOCK, HALF, BoxMuller32
from .draws import (
    DIGITS,
    F32,
    F64,
    REAL,
    as_real,
    narrow,
    require_floating,
    singles,
    size_of,
    store,
    uniform24,
    uniform53,
)

if TYPE_CHECKING:
    from ..random import Generator

Shape = int | Sequence[int]

STEP = 1 << 15  # normals made at once: their scratch arrays fit the second-level cache
TWO_PI = 2 * math.pi
ZERO = np.float32(0)
SMALL = 1024  # fills up to here share what is made of whole blocks of words
MASK_53 = (1 << 53) - 1


def normal(
    generator: Generator, shape: Shape, dtype: np.dtype, mean: float = 0.0, std: float = 1.0
) -> np.ndarray:
    """Normals of ``mean`` and ``std``, as ``randn`` and ``normal_``.

    The parts of complex normals have variance std**2 / 2 each. Raises RuntimeError unless
    std >= 0, NotImplementedError for dtypes that are not floating or complex.
    """
    dtype, count = np.dtype(dtype), size_of(shape)
    if count >= BLOCK and dtype is F32 and std >= 0:
        array = np.empty(shape, F32)
        with generator.lock:
            _fill_blocks(generator, array.reshape(-1), mean, std)
        return array
    if 0 < count < BLOCK and dtype in DIGITS and std >= 0:
        values = fused.fma64(one_by_one(generator, count), std, mean)
        return narrow(values, dtype).reshape(shape)
    return normal_(generator, np.empty(shape, dtype), mean, std)


def normal_(
    generator: Generator, array: np.ndarray, mean: float = 0.0, std: float = 1.0
) -> np.ndarray:
    """Fill ``array`` as ``normal`` draws (see the module's text); returns it."""
    if not std >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    if array.size == 0:
        return array
    if array.dtype in REAL:
        normal_(generator, as_real(array), mean, std / math.sqrt(2))
        return array
    require_floating("normal_kernel_cpu", array.dtype)
    with generator.lock:
        if array.size >= BLOCK and array.flags.c_contiguous:
            _fill_blocks(generator, array.reshape(-1), mean, std)
            return array
        values = fused.fma64(one_by_one(generator, array.size), std, mean)
        return store(array, narrow(values, array.dtype))


def normal_tensors(
    generator: Generator,
    mean: np.ndarray | float,
    std: np.ndarray | float,
    dtype: np.dtype,
) -> np.ndarray:
    """Normals with a mean and a standard deviation per element, as ``torch.normal``.

    ``mean`` and ``std`` broadcast; a number for ``std`` scales the draws themselves, as
    ``normal_(0, std)`` does. Raises RuntimeError for a negative standard deviation.
    """
    if not isinstance(std, np.ndarray):
        result = normal(generator, np.shape(mean), dtype, 0.0, std)
    else:
        if std.size and not (std.min() >= 0 if std.dtype.kind != "c" else True):
            raise RuntimeError("normal expects all elements of std >= 0.0")
        result = normal(generator, np.broadcast_shapes(np.shape(mean), std.shape), dtype)
        _in_place(np.multiply, result, std)
    if not isinstance(mean, np.ndarray):
        mean = narrow(np.array(mean, F64), result.dtype)
    return _in_place(np.add, result, mean)


def _in_place(operation: np.ufunc, result: np.ndarray, other: np.ndarray) -> np.ndarray:
    work = result.dtype if result.dtype in (F32, F64) or result.dtype in REAL else F32
    result[...] = operation(result.astype(work, copy=False), other.astype(work), dtype=work)
    return result


def one_by_one(generator: Generator, count: int) -> np.ndarray:
    """``count`` standard normals in float64, flat, starting from a pending one."""
    with generator.lock:
        pending = generator.pending_double
        start = 0 if pending is None else min(count, 1)
        missing = count - start
        values = _pairs(generator, (missing + 1) // 2)
        if start and pending is not None:
            generator.pending_double = None
            values = np.concatenate((np.array([pending]), values))
        if missing % 2:
            generator.pending_double = float(values[-1])
        return values[:count]


def _pairs(generator: Generator, count: int) -> np.ndarray:
    if count <= HALF:
        words = generator.words(4 * count).tolist()
        numbers = [n for i in range(0, 4 * count, 4) for n in _pair(*words[i : i + 4])]
        return np.array(numbers, F64)
    draws = uniform53(generator, 2 * count)
    radius = np.sqrt(-2.0 * fused.each(math.log1p, -draws[1::2]))
    sine, cosine = fused.sin_cos(draws[0::2] * TWO_PI)
    return np.stack((radius * cosine, radius * sine), axis=1).reshape(-1)


def _pair(a: int, b: int, c: int, d: int) -> tuple[float, float]:
    angle = TWO_PI * (((a << 32 | b) & MASK_53) * 2.0**-53)
    radius = math.sqrt(-2.0 * math.log1p(((c << 32 | d) & MASK_53) * -(2.0**-53)))
    return radius * math.cos(angle), radius * math.sin(angle)


def _fill_blocks(generator: Generator, flat: np.ndarray, mean: float, std: float) -> None:
    rest = flat.size % BLOCK
    whole = flat.size - rest
    # The first pass draws a number for every element, also for those drawn again.
    unused = rest if flat.dtype in (F32, F64) else 0
    if flat.size <= SMALL and flat.dtype is not F64:
        _fill_small(generator, flat, whole, unused, mean, std)
        return
    values = _fill_whole(generator, flat, whole, unused, mean, std)
    if rest:
        flat[-BLOCK:] = values[-BLOCK:]


def _fill_small(
    generator: Generator, flat: np.ndarray, whole: int, unused: int, mean: float, std: float
) -> None:
    z = flat if flat.dtype is F32 else np.empty(flat.size, F32)
    if whole == flat.size:
        _multiply_parts(_parts(generator, whole), z)
    else:
        parts = _parts(generator, whole + unused + BLOCK)
        _multiply_parts(parts[:, :whole], z[:whole])
        _multiply_parts(parts[:, -BLOCK:], z[-BLOCK:])
    if std == 1 and mean == 0:
        z += ZERO  # the sum makes -0 to 0
    else:
        z[...] = fused.fma32(z, std, mean)
    if z is not flat:
        flat[...] = z


def _fill_whole(
    generator: Generator, flat: np.ndarray, whole: int, unused: int, mean: float, std: float
) -> np.ndarray:
    """Fill the first ``whole`` elements; the last values made, with a further block if needed."""
    double = flat.dtype == F64
    draw = uniform53 if double else uniform24
    transform = box_muller64 if double else BoxMuller32(min(flat.size, STEP) // 2 + HALF)
    for start in range(0, whole, STEP):
        stop = min(start + STEP, whole)
        draws = draw(generator, stop - start)
        if stop == whole < flat.size:
            draw(generator, unused)
            draws = np.concatenate((draws, draw(generator, BLOCK)))
        values = transform(draws, mean, std)
        flat[start:stop] = values[: stop - start]
    return values


def _parts(generator: Generator, count: int) -> np.ndarray:
    """``BoxMuller32.parts`` of the next words, made for whole blocks of words at once."""
    pieces = []
    while count:
        words, start = generator.block()
        if start == len(words):
            generator.read_ahead()
            words, start = generator.block()
        if generator.made is None or generator.made[0] is not words:
            generator.made = words, BoxMuller32(words.size).parts(singles(words))
        size = generator.words(min(count, len(words) - start)).size
        pieces.append(generator.made[1][:, start : start + size])
        count -= size
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces, 1)


def _multiply_parts(parts: np.ndarray, z: np.ndarray) -> None:
    """Write the standard normals of words, whose number is a multiple of 16, into ``z``."""
    radius, cosine, sine = parts.reshape(3, -1, 2, HALF)
    z = z.reshape(-1, 2, HALF)
    np.multiply(radius[:, 0], cosine[:, 1], z[:, 0])
    np.multiply(radius[:, 0], sine[:, 1], z[:, 1])


def box_muller64(draws: np.ndarray, mean: float, std: float) -> np.ndarray:
    """Normals of a flat float64 array of uniform draws, whose size is a multiple of 16."""
    draws = draws.reshape(-1, BLOCK)
    first, second = draws[:, :HALF].reshape(-1), draws[:, HALF:].reshape(-1)
    radius = np.sqrt(-2.0 * fused.each(fused.log, 1.0 - first))
    sine, cosine = fused.sin_cos(second * TWO_PI)
    result = np.empty_like(draws)
    result[:, :HALF] = (radius * cosine).reshape(-1, HALF)
    result[:, HALF:] = (radius * sine).reshape(-1, HALF)
    return fused.fma64(result.reshape(-1), std, mean)
