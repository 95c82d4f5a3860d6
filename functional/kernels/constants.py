"""Small read-only arrays that kernels ask for again and again."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy import ndarray


@lru_cache(maxsize=128)
def ones(n: int, dtype: np.dtype) -> ndarray:
    """n ones."""
    return _read_only(np.ones(n, dtype))


@lru_cache(maxsize=64)
def multiples(n: int, step: int = 1) -> ndarray:
    """0, step, ... as n int64."""
    return _read_only(np.arange(0, n * step, step))


@lru_cache(maxsize=16)
def lower(rows: int, columns: int, dtype: np.dtype) -> ndarray:
    """1 on and below the diagonal, 0 above."""
    return _read_only(np.tri(rows, columns, dtype=dtype))


def _read_only(x: ndarray) -> ndarray:
    x.flags.writeable = False
    return x
