"""Random tensors to test with."""

from __future__ import annotations

import math
import warnings
from typing import Any

import torchlike as torch
from functional.tensor import Tensor

__all__ = ["make_tensor"]


def make_tensor(
    *shape: Any,
    dtype: Any,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A tensor of numbers drawn evenly from ``low`` ... ``high``, the latter excluded.

    By default these are 0 ... 2 for bool, 0 ... 10 for uint8, -9 ... 10 for other whole numbers,
    and -9 ... 9 for others (both parts of complex ones). ``noncontiguous`` gives every second
    element of a larger tensor, ``exclude_zero`` puts the smallest positive number for zeros.
    """
    if len(shape) == 1 and not isinstance(shape[0], int):
        shape = tuple(shape[0])
    whole = not (dtype.is_floating_point or dtype.is_complex)
    _check(dtype, whole, requires_grad, noncontiguous, memory_format)
    skips = noncontiguous and math.prod(shape) > 1
    room = (*shape[:-1], 2 * shape[-1]) if skips else shape
    if whole:
        result = torch.randint(*_whole_bounds(dtype, low, high), room, device=device, dtype=dtype)
    else:
        result = torch.empty(room, device=device, dtype=dtype)
        _fill(torch.view_as_real(result) if dtype.is_complex else result, low, high)
    if skips:
        result = result[..., 1::2]
    elif memory_format is not None:
        result = result.clone(memory_format=memory_format)
    if exclude_zero:
        result[result == 0] = 1 if whole else torch.finfo(dtype).tiny
    return result.requires_grad_(requires_grad) if requires_grad else result


def _check(
    dtype: Any, whole: bool, requires_grad: bool, noncontiguous: bool, memory_format: Any
) -> None:
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"noncontiguous={noncontiguous} and memory_format={memory_format}"
        )
    if requires_grad and whole:
        raise ValueError(
            "`requires_grad=True` is not supported for boolean and integral dtypes, but got "
            f"dtype={dtype}"
        )


def _bounds(
    dtype: Any, low: Any, high: Any, default: tuple[float, float], least: Any, most: Any
) -> tuple[Any, Any]:
    """The interval within what the dtype holds; errors where it is none."""
    low, high = (given if given is not None else d for given, d in zip((low, high), default))
    if any(isinstance(x, float) and math.isnan(x) for x in (low, high)):
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={low} and high={high}")
    same = low == high
    if same and not isinstance(least, int):
        warnings.warn(
            "Passing `low==high` to `torch.testing.make_tensor` for floating or complex types is "
            "deprecated since 2.1 and will be removed in 2.3. Use `torch.full(...)` instead.",
            FutureWarning,
            stacklevel=4,
        )
    elif low >= high:
        raise ValueError(f"`low` must be less than `high`, but got {low} >= {high}")
    elif high < least or low >= most:
        raise ValueError(
            f"The value interval specified by `low` and `high` is [{low}, {high}), but {dtype} "
            f"only supports [{least}, {most})"
        )
    return min(max(low, least), most), min(max(high, least), most)


def _whole_bounds(dtype: Any, low: Any, high: Any) -> tuple[int, int]:
    if dtype is torch.bool:
        default, least, most = (0, 2), 0, 2
    else:
        info = torch.iinfo(dtype)
        default, least, most = (0 if info.min == 0 else -9, 10), info.min, info.max + 1
    low, high = _bounds(dtype, low, high, default, least, most)
    low, high = math.ceil(low), math.ceil(high)
    return low, min(max(high, low + 1), torch.iinfo(torch.int64).max)


def _fill(part: Tensor, low: Any, high: Any) -> None:
    info = torch.finfo(part.dtype)
    low, high = _bounds(part.dtype, low, high, (-9, 9), info.min, info.max)
    if high - low < info.max:
        part.uniform_(low, high)
    else:  # a range that uniform_ refuses
        part.uniform_(low / 2, high / 2).mul_(2)
