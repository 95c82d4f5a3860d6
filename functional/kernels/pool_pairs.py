"""Max pooling over 2 x 2 windows with stride 2: the common case, in whole-array passes.

Columns are compared in pairs over the flat array first, then rows: with strict comparisons this
order finds the same first maximum as walking through the window row by row.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np


def fits_pairs(x, out, kernel, stride, padding, dilation) -> bool:
    """Whether max_pool_pairs applies: 2 x 2, stride 2, no padding, even sizes, native floats."""
    return (
        kernel == (2, 2)
        and stride == (2, 2)
        and padding == (0, 0)
        and dilation == (1, 1)
        and x.shape[2] % 2 == 0
        and x.shape[3] % 2 == 0
        and x.size > 0
        and x.dtype.kind in "fiu"
        and x.dtype.itemsize >= 4
    )


@lru_cache(maxsize=64)
def _corners(height: int, width: int) -> np.ndarray:
    """Flat index of every window's top left corner, int64 (height // 2 * width // 2,)."""
    rows = np.arange(0, height, 2, dtype=np.int64)[:, None] * width
    corners = (rows + np.arange(0, width, 2, dtype=np.int64)).reshape(-1)
    corners.flags.writeable = False
    return corners


def max_pool_pairs(x: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Values and indices, or None when there are NaNs, whose indices need the general way."""
    n, c, height, width = x.shape
    half = width // 2
    flat = x.reshape(-1)
    left, right = flat[0::2], flat[1::2]
    pairs = np.maximum(left, right).reshape(-1, 2, half)
    top, bottom = pairs[:, 0], pairs[:, 1]
    values = np.maximum(top, bottom)
    if x.dtype.kind == "f":
        low = np.minimum.reduce(values, axis=None)
        if low != low:  # noqa: PLR0124
            return None
    lower = bottom > top
    column = np.greater(right, left).reshape(-1, 2, half)
    # Of the two rows' column bits take the winning row's.
    offset = np.bitwise_xor(column[:, 0], column[:, 1])
    np.bitwise_and(offset, lower, out=offset)
    np.bitwise_xor(offset, column[:, 0], out=offset)
    kind = np.min_scalar_type(width + 1)
    offset = offset.view(np.uint8) + lower.view(np.uint8) * kind.type(width)
    indices = np.add(_corners(height, width), offset.reshape(n * c, -1))
    shape = (n, c, height // 2, half)
    return values.reshape(shape), indices.reshape(shape)
