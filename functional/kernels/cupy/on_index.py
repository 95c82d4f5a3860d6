"""Elements along a dimension."""

from __future__ import annotations

from typing import Any

import cupy

__all__ = ["gather_along"]


def gather_along(x: Any, index: Any, dim: int) -> Any:
    """``x`` at the places that ``index`` names along ``dim``."""
    if not index.size:
        return cupy.zeros(index.shape, x.dtype)
    if x.ndim == 0 or index.ndim == 0:
        return x.reshape(-1)[index.reshape(-1)].reshape(index.shape)
    if any(n != m for i, (n, m) in enumerate(zip(x.shape, index.shape)) if i != dim):
        x = x[tuple(slice(None) if i == dim else slice(n) for i, n in enumerate(index.shape))]
    return cupy.take_along_axis(x, index, dim)
