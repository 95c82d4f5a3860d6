"""Random streams of a Generator, equal to PyTorch's bit for bit: the names to import from.

Every stream comes twice: ``name(generator, ..., shape, dtype)`` returns a new C-contiguous array,
``name_(generator, array, ...)`` fills any strided array. `draws` says in which order an array is
filled. Dtypes are NumPy's (``ml_dtypes.bfloat16`` among them). Errors are PyTorch's, which like
most of its fills looks at the dtype of an empty array only where a range depends on it.

Uniform and Bernoulli streams are here, the others in the modules imported below.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from . import fused
from .draws import (
    CHUNK,
    DIGITS,
    F32,
    F64,
    REAL,
    as_real,
    below53,
    cpp_name,
    draw_dtype,
    fill_axes,
    in_chunks,
    largest,
    memory_order,
    narrow,
    not_implemented,
    require_floating,
    scalar_name,
    size_of,
    store,
    uniform24,
    uniform53,
)
from .integers import (
    BARE,
    BOOL,
    randint,
    randint_,
    random_,
    random_from,
    random_from_,
    random_full,
)
from .normal import normal, normal_, normal_tensors
from .permutation import randperm
from .sampling import (
    cauchy,
    cauchy_,
    exponential,
    exponential_,
    geometric,
    geometric_,
    log_normal,
    log_normal_,
    multinomial,
)

if TYPE_CHECKING:
    from ..random import Generator

__all__ = [
    "bernoulli",
    "bernoulli_",
    "bernoulli_tensor",
    "bernoulli_tensor_",
    "cauchy",
    "cauchy_",
    "dropout_mask",
    "exponential",
    "exponential_",
    "geometric",
    "geometric_",
    "log_normal",
    "log_normal_",
    "memory_order",
    "multinomial",
    "normal",
    "normal_",
    "normal_tensors",
    "randint",
    "randint_",
    "random_",
    "random_from",
    "random_from_",
    "random_full",
    "randperm",
    "store",
    "uniform",
    "uniform_",
]

Shape = int | Sequence[int]

_PROBABILITY = (
    "Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be "
    "improved?  If so, please report an enhancement request to PyTorch.)"
)


def uniform(
    generator: Generator, shape: Shape, dtype: np.dtype, low: float = 0.0, high: float = 1.0
) -> np.ndarray:
    """Draws from [low, high), as ``rand`` and ``uniform_``; complex parts are drawn in turn.

    float64 takes two words per element, the other dtypes one, through float32. Raises
    RuntimeError for bounds out of order or out of range.
    """
    dtype = np.dtype(dtype)
    if dtype in REAL:
        parts = uniform(generator, 2 * size_of(shape), REAL[dtype], low, high)
        return parts.view(dtype).reshape(shape)
    if low != 0 or high != 1 or dtype not in DIGITS:
        _check_uniform(dtype, low, high)
    return _uniform(generator, size_of(shape), dtype, low, high).reshape(shape)


def uniform_(
    generator: Generator, array: np.ndarray, low: float = 0.0, high: float = 1.0
) -> np.ndarray:
    """Fill ``array`` as ``uniform`` draws; returns it."""
    if array.dtype in REAL:
        uniform_(generator, as_real(array), low, high)
        return array
    return store(array, uniform(generator, array.size, array.dtype, low, high))


def _check_uniform(dtype: np.dtype, low: float, high: float) -> None:
    require_floating("check_uniform_bounds", dtype)
    limit = largest(dtype)
    for name, bound in (("from", low), ("to", high)):
        if not -limit <= bound <= limit:
            raise RuntimeError(f"{name} is out of bounds for {cpp_name(dtype)}")
    if low > high:
        raise RuntimeError(
            f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}"
        )
    if high - low > limit:
        raise RuntimeError(
            f"uniform_ expects to-from <= std::numeric_limits<{scalar_name(dtype)}>::max(), but "
            f"found to={high:g} and from={low:g} which result in to-from to exceed the limit"
        )


def _uniform(
    generator: Generator, count: int, dtype: np.dtype, low: float, high: float
) -> np.ndarray:
    if low == 0 and high == 1:
        if dtype == F64:
            return in_chunks(generator, count, F64, partial(uniform53, generator))
        if dtype == F32:
            return in_chunks(generator, count, F32, partial(uniform24, generator))
    work = draw_dtype(dtype)
    low, high = work.type(low), work.type(high)
    # Rounding can reach the open end; PyTorch then answers the closed one.
    closed, end = (low, high) if dtype == work else narrow(np.array([low, high]), dtype)

    def make(size: int) -> np.ndarray:
        if work == F64:
            values = fused.fma64(uniform53(generator, size), high - low, low)
        else:
            values = narrow(fused.fma32(uniform24(generator, size), high - low, low), dtype)
        at_end = values == end
        if at_end.any():
            values[at_end] = closed
        return values

    return in_chunks(generator, count, dtype, make)


def bernoulli(generator: Generator, p: float, shape: Shape, dtype: np.dtype) -> np.ndarray:
    """Ones with probability ``p``, else zeros, as ``bernoulli_(p)``: two words per element.

    Raises RuntimeError unless 0 <= p <= 1.
    """
    dtype = np.dtype(dtype)
    count = size_of(shape)
    _check_bernoulli(p, dtype, count)
    return _fill_below(generator, p, np.empty(count, dtype)).reshape(shape)


def _check_bernoulli(p: float, dtype: np.dtype, count: int) -> None:
    if not 0 <= p <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={p:g}")
    if count and (dtype in BARE or dtype in REAL):
        raise not_implemented("bernoulli_scalar_cpu_", dtype)


def _fill_below(generator: Generator, p: float, line: np.ndarray) -> np.ndarray:
    bound = math.ceil(p * 2.0**53)  # a draw k is below p where k * 2**-53 < p
    start = 0
    with generator.lock:
        while start < line.size:
            part = line[start : start + generator.whole64(CHUNK)]
            part[...] = below53(generator, part.size, bound)
            start += part.size
    return line


def bernoulli_(generator: Generator, array: np.ndarray, p: float) -> np.ndarray:
    """Fill ``array`` as ``bernoulli`` draws; returns it."""
    _check_bernoulli(p, array.dtype, array.size)
    if array.flags.c_contiguous:
        _fill_below(generator, p, array.reshape(-1))
        return array
    return store(array, bernoulli(generator, p, array.size, array.dtype))


def bernoulli_tensor(
    generator: Generator, p: np.ndarray, dtype: np.dtype | None = None
) -> np.ndarray:
    """Ones with each element's own probability, in ``dtype`` or that of ``p``.

    float64 probabilities take two words per element, the other floating dtypes one. The result
    is C-contiguous and filled in C order, as ``bernoulli(p)`` does. Raises RuntimeError for a
    probability outside [0, 1], after the draws of the elements before it.
    """
    result = np.empty(p.shape, p.dtype if dtype is None else dtype)
    return bernoulli_tensor_(generator, result, p)


def bernoulli_tensor_(generator: Generator, array: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Fill ``array`` with ones of probabilities ``p`` (broadcast to its shape); returns it."""
    if array.size == 0:
        return array
    if array.dtype in BARE or array.dtype in REAL:
        raise not_implemented("bernoulli_tensor_cpu_self_", array.dtype)
    require_floating("bernoulli_tensor_cpu_p_", p.dtype)
    if p.shape == array.shape and p.flags.c_contiguous and array.flags.c_contiguous:
        chances = p.reshape(-1)
    else:
        chances = np.broadcast_to(p, array.shape).transpose(fill_axes(array)).reshape(-1)
    if not (np.min(chances) >= 0 and np.max(chances) <= 1):
        outside = ~((chances >= 0) & (chances <= 1))
        generator.words((2 if p.dtype == F64 else 1) * int(outside.argmax()))
        raise RuntimeError(_PROBABILITY)
    draw = uniform53 if p.dtype == F64 else uniform24
    below = draw(generator, array.size) < chances.astype(draw_dtype(p.dtype), copy=False)
    return store(array, below)


def dropout_mask(
    generator: Generator, p: float, shape: Shape, dtype: np.dtype = BOOL
) -> np.ndarray:
    """What dropout with probability ``p`` keeps: ones with probability 1 - p.

    PyTorch draws it as ``empty_like(input).bernoulli_(1 - p)``: for an input whose memory order
    is not C order, fill an array of that order with ``bernoulli_`` instead.
    """
    return bernoulli(generator, 1 - p, shape, dtype)
