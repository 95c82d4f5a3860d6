"""Elementwise functions of many numbers: one call of a ufunc, shared among threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from .elementwise import relu
from .threads import LEAD, SHARED, alike, spread

# Functions that the processor computes, and those that only move memory, which need more elements.
_COMPUTED: tuple[Any, ...] = (
    np.exp, np.expm1, np.log, np.log1p, np.log2, np.log10, np.tanh, np.sin, np.cos, np.tan, np.sinh,
    np.cosh, np.arcsin, np.arccos, np.arctan,
)  # fmt: skip
_MOVED: tuple[Any, ...] = (
    np.negative, np.reciprocal, np.sqrt, np.floor, np.ceil, np.trunc, relu, np.add, np.subtract,
    np.multiply, np.true_divide, np.maximum, np.minimum,
)  # fmt: skip


def for_many(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The form of ``kernel`` for arrays of more than SHARED elements; it may be ``kernel`` itself.

    Threads share what is contiguous and of one shape, or one of it a number.
    """
    if kernel in _COMPUTED:
        return _shared(kernel, SHARED)
    return _shared(kernel, 2 * SHARED) if kernel in _MOVED else kernel


def _shared(function: Any, least: int) -> Callable[..., Any]:
    def call(x: Any, *other: Any) -> Any:
        if x.size <= least or not alike(x, x) or any(not _goes_with(y, x) for y in other):
            return function(x, *other)
        z = np.empty(x.shape, x.dtype)
        lines = [y.reshape(-1) if type(y) is ndarray and y.ndim else y for y in (x, *other)]
        out = z.reshape(-1)

        def work(first: int, last: int) -> None:
            parts = [y[first:last] if type(y) is ndarray and y.ndim else y for y in lines]
            function(*parts, out=out[first:last])

        spread(x.size, x.size // SHARED, work, LEAD)
        return z

    return call


def _goes_with(y: Any, x: ndarray) -> bool:
    """Whether y is a Python number, or an array like x or of one number of its type."""
    if type(y) is not ndarray:
        return type(y) in (int, float)
    return alike(x, y) or (not y.ndim and y.dtype is x.dtype)
