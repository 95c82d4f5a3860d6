"""Max pooling over 2 x 2 windows with stride 2: the common case, in whole-array passes.

Columns are compared in pairs over the flat array first, then rows: with strict comparisons this
order finds the same first maximum as walking through the window row by row.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .threads import spread

# Elements that take a few times as long as waking a thread.
SHARE = 600_000


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
    lines = np.ascontiguousarray(x).reshape(n * c, height * width)
    planes = (n * c, height // 2, width // 2)
    values, indices = np.empty(planes, x.dtype), np.empty(planes, np.int64)

    def work(first: int, last: int) -> None:
        _pool_planes(lines[first:last], width, values[first:last], indices[first:last])

    spread(n * c, x.size // SHARE, work)
    if x.dtype.kind == "f":
        low = np.minimum.reduce(values, axis=None)
        if low != low:
            return None
    shape = (n, c, height // 2, width // 2)
    return values.reshape(shape), indices.reshape(shape)


def _pool_planes(lines, width, values, indices) -> None:
    """Pools planes (P, height * width) into values and indices (P, height / 2, width / 2)."""
    flat = lines.reshape(-1)
    left, right = flat[0::2], flat[1::2]
    kind = np.min_scalar_type(width + 1)
    pairs = np.maximum(left, right).reshape(-1, 2, width // 2)
    top, bottom = pairs[:, 0], pairs[:, 1]
    column = np.greater(right, left).reshape(-1, 2, width // 2)
    lower = np.greater(bottom, top)
    np.maximum(top, bottom, out=values.reshape(top.shape))
    # Of the two rows' column bits take the winning row's.
    offset = np.bitwise_xor(column[:, 0], column[:, 1])
    np.bitwise_and(offset, lower, out=offset)
    np.bitwise_xor(offset, column[:, 0], out=offset)
    steps = lower.view(np.uint8) * kind.type(width) + offset.view(np.uint8)
    corners = _corners(lines.shape[1] // width, width)
    np.add(corners, steps.reshape(len(lines), -1), out=indices.reshape(len(lines), -1))
