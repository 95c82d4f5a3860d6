"""Reductions of the consecutive segments of a dimension."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

__all__ = ["segment_owners", "segment_reduce_of"]

_JOIN: dict[str, Any] = {
    "sum": np.add, "mean": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum
}  # fmt: skip
_START = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": -math.inf, "min": math.inf}


def segment_reduce_of(
    x: ndarray, offsets: ndarray, axis: int, reduce: str, initial: float | None
) -> ndarray:
    """Segments of ``x`` along ``axis``, which lie between ``offsets``, reduced to one row each.

    There are offsets for each place in the dimensions before ``axis``.
    """
    count, lead, rest = offsets.shape[-1] - 1, x.shape[:axis], x.shape[axis + 1 :]
    blocks, width = math.prod(lead), math.prod(rest)
    start = _START[reduce] if initial is None else initial
    z = np.full((blocks, count, width), start, x.dtype)
    rows = x.reshape(blocks, x.shape[axis], width)
    ends = offsets.reshape(blocks, count + 1)
    for own, row, at in zip(z, rows, ends, strict=True):
        low, high = int(at[0]), int(at[-1])
        _JOIN[reduce].at(own, _owners(at, low, high), row[low:high])
        if reduce == "mean":
            lengths = (at[1:] - at[:-1])[:, None]
            mean = own / np.maximum(lengths, 1).astype(x.dtype)
            own[...] = np.where(lengths > 0, mean, math.nan if initial is None else own)
    return z.reshape(*lead, count, *rest)


def _owners(at: ndarray, low: int, high: int) -> ndarray:
    return np.searchsorted(at[1:], np.arange(low, high), "right")


def segment_owners(x: ndarray, offsets: ndarray, axis: int) -> ndarray:
    """The segment that each element of ``x`` is in, -1 for none."""
    n, blocks = x.shape[axis], math.prod(x.shape[:axis])
    z = np.full((blocks, n), -1, np.int64)
    for own, at in zip(z, offsets.reshape(blocks, offsets.shape[-1]), strict=True):
        low, high = int(at[0]), int(at[-1])
        own[low:high] = _owners(at, low, high)
    shape = (*x.shape[: axis + 1], *(1,) * (x.ndim - axis - 1))
    return np.array(np.broadcast_to(z.reshape(shape), x.shape))
