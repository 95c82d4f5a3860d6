"""Whether an array is held by nobody else, so that it can be given away without a copy."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy import ndarray


def own(g: ndarray, like: ndarray, references: int) -> ndarray:
    """``g`` itself where nothing else can hold its memory, else a copy laid out like the leaf."""
    if references <= FREE and g.strides == like.strides:
        base = g.base
        if base is None or (type(base) is ndarray and sys.getrefcount(base) <= FREE_BASE):
            return g
    out = np.empty_like(like, dtype=g.dtype)
    np.copyto(out, g)
    return out


def _references(g: ndarray) -> int:
    references = sys.getrefcount(g)
    return references


def _base_references(g: ndarray) -> int:
    base = g.base
    return sys.getrefcount(base)


def _calibrate(count: Any, x: ndarray) -> int:
    """What ``count`` sees for an array that only its caller holds, as _loop does."""
    held = [x]
    del x
    g = held.pop()
    return count(g)


FREE = _calibrate(_references, np.empty(1))
FREE_BASE = _calibrate(_base_references, np.empty((2, 2)).T)
