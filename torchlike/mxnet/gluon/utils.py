"""Helpers for training: parts of batches, and gradients kept small."""

from __future__ import annotations

import math
from typing import Any

from ..array import NDArray
from ..creation import nd_array
from ..state import flags


def split_data(
    data: NDArray, num_slice: int, batch_axis: int = 0, even_split: bool = True
) -> list[NDArray]:
    """Parts along an axis; ValueError if they would differ in size and must not."""
    size = data.shape[batch_axis]
    if num_slice < 1 or num_slice > size or (even_split and size % num_slice):
        raise ValueError(f"a batch of {size} does not split into {num_slice} parts")
    step = size // num_slice
    ends = [*range(step, step * num_slice, step), size]
    return [data.slice_axis(batch_axis, b, e) for b, e in zip([0, *ends], ends)]  # type: ignore[attr-defined]


def split_and_load(
    data: Any, ctx_list: list[Any], batch_axis: int = 0, even_split: bool = True
) -> list[NDArray]:
    """Parts of a batch, each on one of the devices."""
    data = data if isinstance(data, NDArray) else nd_array(data)
    parts = split_data(data, len(ctx_list), batch_axis, even_split)
    return [part.as_in_context(ctx) for part, ctx in zip(parts, ctx_list)]


def clip_global_norm(arrays: list[NDArray], max_norm: float, check_isfinite: bool = True) -> float:
    """Scale arrays in place so that the norm of all together is at most ``max_norm``.

    Returns that norm as it was; ValueError, and no change, if it is not finite and checked.
    """
    total = math.sqrt(sum(float((a.detach() ** 2).sum()) for a in arrays))  # type: ignore[operator]
    if check_isfinite and not math.isfinite(total):
        raise ValueError(f"the norm of the arrays is {total}")
    if total > max_norm:
        with flags(recording=False):
            for a in arrays:
                a *= max_norm / (total + 1e-8)
    return total
