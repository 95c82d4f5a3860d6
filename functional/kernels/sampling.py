"""Exponential, geometric, Cauchy, log-normal and categorical streams, equal to PyTorch's.

Each takes float64 draws through the C library's functions and rounds once to the dtype (the half
types through float32). ``name_`` variants fill strided arrays; see `draws` for the order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import fused
from .draws import (
    BF16,
    DIGITS,
    F16,
    F32,
    F64,
    REAL,
    cpp_name,
    in_chunks,
    narrow,
    not_implemented,
    require_floating,
    scalar_name,
    size_of,
    store,
    uniform53,
)
from .normal import one_by_one

if TYPE_CHECKING:
    from ..random import Generator

Shape = int | Sequence[int]

TINY = 2.0**-48  # far above the error of NumPy's float64 functions, far below float32's step
CATEGORIES = 1 << 24
NOT_POSITIVE = "invalid multinomial distribution (sum of probabilities <= 0)"


def exponential(
    generator: Generator, shape: Shape, dtype: np.dtype, rate: float = 1.0
) -> np.ndarray:
    """Exponential draws -log(1 - u) / rate, as ``exponential_(rate)``; rate may be infinite.

    Raises RuntimeError unless rate > 0 and the dtype is floating.
    """
    dtype = np.dtype(dtype)
    if not rate > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
    count = size_of(shape)
    if not count:
        return np.empty(shape, dtype)
    _require_continuous("Exponential", scalar_name(dtype), dtype)
    scale = -1.0 / rate

    def exact(u: np.ndarray) -> np.ndarray:
        return fused.each(math.log1p, -u) * scale + 0.0

    def make(size: int) -> np.ndarray:
        u = uniform53(generator, size)
        if dtype == F64 or math.isinf(rate):
            return narrow(exact(u), dtype)
        return narrow(_certain(np.log1p(-u) * scale + 0.0, u, exact), dtype)

    return in_chunks(generator, count, dtype, make).reshape(shape)


def exponential_(generator: Generator, array: np.ndarray, rate: float = 1.0) -> np.ndarray:
    """Fill ``array`` as ``exponential`` draws; returns it."""
    return store(array, exponential(generator, array.size, array.dtype, rate))


def _certain(
    values: np.ndarray, u: np.ndarray, exact: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Recompute by ``exact`` the few values so near a rounding of float32 that an error shows."""
    unsure = (values * (1 - TINY)).astype(F32) != (values * (1 + TINY)).astype(F32)
    if unsure.any():
        values[unsure] = exact(u[unsure])
    return values


def _require_continuous(name: str, shown: str, dtype: np.dtype) -> None:
    if dtype not in DIGITS:
        raise RuntimeError(
            f"{name} distribution is a continuous probability distribution. dtype must be a "
            f"floating point but you specified {shown}"
        )


def geometric(generator: Generator, shape: Shape, dtype: np.dtype, p: float) -> np.ndarray:
    """Trials up to the first success, from 1, as ``geometric_(p)``, in any real dtype.

    Raises RuntimeError unless 0 < p < 1.
    """
    dtype = np.dtype(dtype)
    if not 0 < p < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={p:g}")
    count = size_of(shape)
    if not count:
        return np.empty(shape, dtype)
    if dtype == np.bool_ or dtype in REAL or (dtype.kind == "u" and dtype.itemsize > 1):
        raise not_implemented("geometric_cpu", dtype)
    bottom = math.log1p(-p)

    def make(size: int) -> np.ndarray:
        values = np.ceil(fused.each(fused.log, uniform53(generator, size)) / bottom)
        if dtype in DIGITS:
            return narrow(values, dtype)
        return values.astype(np.int64).astype(dtype)

    return in_chunks(generator, count, dtype, make).reshape(shape)


def geometric_(generator: Generator, array: np.ndarray, p: float) -> np.ndarray:
    """Fill ``array`` as ``geometric`` draws; returns it."""
    return store(array, geometric(generator, array.size, array.dtype, p))


def cauchy(
    generator: Generator, shape: Shape, dtype: np.dtype, median: float = 0.0, sigma: float = 1.0
) -> np.ndarray:
    """Cauchy draws median + sigma tan(pi (u - 1/2)), as ``cauchy_``.

    Raises RuntimeError unless sigma > 0 and the dtype is floating.
    """
    dtype = np.dtype(dtype)
    if not sigma > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
    _require_continuous("Cauchy", cpp_name(dtype), dtype)

    def make(size: int) -> np.ndarray:
        slope = fused.each(math.tan, (uniform53(generator, size) - 0.5) * math.pi)
        return narrow(fused.fma64(slope, sigma, median), dtype)

    return in_chunks(generator, size_of(shape), dtype, make).reshape(shape)


def cauchy_(
    generator: Generator, array: np.ndarray, median: float = 0.0, sigma: float = 1.0
) -> np.ndarray:
    """Fill ``array`` as ``cauchy`` draws; returns it."""
    return store(array, cauchy(generator, array.size, array.dtype, median, sigma))


def log_normal(
    generator: Generator, shape: Shape, dtype: np.dtype, mean: float = 1.0, std: float = 2.0
) -> np.ndarray:
    """exp of normals of ``mean`` and ``std`` made one by one, as ``log_normal_``.

    A pending normal is used and left as in ``normal``. Raises RuntimeError unless std > 0.
    """
    dtype = np.dtype(dtype)
    if not std > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={std:g}")
    count = size_of(shape)
    if not count:
        return np.empty(shape, dtype)
    require_floating("log_normal_cpu", dtype)

    def make(size: int) -> np.ndarray:
        normals = fused.fma64(one_by_one(generator, size), std, mean)
        return narrow(fused.each(fused.exp, normals), dtype)

    return in_chunks(generator, count, dtype, make).reshape(shape)


def log_normal_(
    generator: Generator, array: np.ndarray, mean: float = 1.0, std: float = 2.0
) -> np.ndarray:
    """Fill ``array`` as ``log_normal`` draws; returns it."""
    return store(array, log_normal(generator, array.size, array.dtype, mean, std))


def multinomial(
    generator: Generator, probabilities: np.ndarray, num_samples: int, replacement: bool = False
) -> np.ndarray:
    """Category indices, int64: shape (num_samples,) or (rows, num_samples).

    ``probabilities`` has shape (categories,) or (rows, categories) and need not sum to one. One
    sample, or several without replacement, take the largest of p / e over exponential draws e,
    one per category; several with replacement search a uniform draw each in the running sum.
    Categories whose p / e is equal come by index, in PyTorch in no order that holds elsewhere:
    those of probability zero, and now and then a pair in the half types. Raises RuntimeError as
    PyTorch does.
    """
    _check_multinomial(probabilities, num_samples, replacement)
    if probabilities.size == 0:
        _check_categories(probabilities, num_samples)
        return np.empty((*probabilities.shape[:-1], num_samples), np.int64)
    if replacement and num_samples > 1:
        rows = np.atleast_2d(probabilities)
        with generator.lock:
            result = np.stack([_search(generator, row, num_samples) for row in rows])
        return result.reshape(*probabilities.shape[:-1], num_samples)
    return _race(generator, probabilities, num_samples)


def _check_multinomial(p: np.ndarray, num_samples: int, replacement: bool) -> None:
    if p.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if p.dtype not in DIGITS:
        raise RuntimeError(
            "multinomial only supports floating-point dtypes for input, got: "
            + scalar_name(p.dtype)
        )
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > p.shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    if p.shape[-1] > CATEGORIES:
        raise RuntimeError("number of categories cannot exceed 2^24")


def _check_categories(p: np.ndarray, num_samples: int) -> None:
    if p.shape[-1] == 0 and num_samples == 1:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
            "identity."
        )
    if p.shape[-1] == 0 and p.shape[:-1] != (0,):
        raise RuntimeError(NOT_POSITIVE)


def _race(generator: Generator, p: np.ndarray, num_samples: int) -> np.ndarray:
    wide = p.astype(F32) if p.dtype in (F16, BF16) else p
    if not (wide.max() < math.inf and wide.min() >= 0):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if (wide.sum(-1) == 0).any():
        raise RuntimeError(NOT_POSITIVE)
    # an expanded tensor has draws of its own for each element, in C order
    expanded = 0 in p.strides and p.size > 1
    times = exponential_(generator, np.empty(p.shape, p.dtype) if expanded else np.empty_like(p))
    with np.errstate(divide="ignore", over="ignore"):
        keys = (wide / times.astype(wide.dtype)).astype(p.dtype).astype(wide.dtype)
    if num_samples == 1:
        return keys.argmax(-1, keepdims=True)
    return np.argsort(-keys, axis=-1, kind="stable")[..., :num_samples].astype(np.int64)


def _search(generator: Generator, p: np.ndarray, num_samples: int) -> np.ndarray:
    p = p.astype(F32) if p.dtype != F64 else p
    first = np.flatnonzero(~((p >= 0) & np.isfinite(p)))[:1]
    if first.size:
        negative = not p[first[0]] >= 0
        what = "entry < 0" if negative else "entry = infinity or NaN"
        raise RuntimeError(f"invalid multinomial distribution (encountering probability {what})")
    bounds = np.cumsum(p, dtype=p.dtype)
    if not bounds[-1] > 0:
        raise RuntimeError(NOT_POSITIVE)
    bounds /= bounds[-1].copy()
    bounds[-1] = 1
    return np.searchsorted(bounds.astype(F64), uniform53(generator, num_samples))
