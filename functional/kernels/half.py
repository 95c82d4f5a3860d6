"""Half types in the kernels: compute in float32, round once.

A half type is any two-byte floating type: float16, and ml_dtypes' bfloat16, which is recognised
without importing ml_dtypes (NumPy gives it kind "V").
"""

from __future__ import annotations

import numpy as np


def is_half(dtype: np.dtype) -> bool:
    """Whether arrays of this dtype are computed in float32."""
    return dtype.itemsize == 2 and dtype.kind in "fV"


def widen(x: np.ndarray) -> np.ndarray:
    """x itself, or its float32 copy when it is of a half type."""
    return x.astype(np.float32) if is_half(x.dtype) else x


def narrow(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """x rounded to dtype (itself when it has that dtype already)."""
    return x if x.dtype == dtype else x.astype(dtype)
