"""Memory of one call: CuPy's pool keeps what is freed, so there is nothing to hold on to."""

from __future__ import annotations

from typing import Any

import cupy


def scratch(slot: str, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array of arbitrary content."""
    return cupy.empty(shape, dtype)


def aligned(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array of arbitrary content; CuPy's begin at multiples of 512 bytes."""
    return cupy.empty(shape, dtype)
