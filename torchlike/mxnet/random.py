"""Random arrays of ``nd``, and the seed of everything random."""

from __future__ import annotations

from typing import Any

import torchlike as torch

from .array import Kind, NDArray, core_dtype, wrap
from .context import core_device
from .creation import _shape


def seed(seed_state: int, ctx: Any = "all") -> None:
    """Start the random numbers anew, here and in the core."""
    torch.manual_seed(int(seed_state))


def uniform_of(kind: Kind, low: Any, high: Any, shape: Any, dtype: Any, ctx: Any) -> Any:
    """Numbers evenly from ``low`` to before ``high``."""
    return _affine(torch.rand, kind, low, _number(high) - _number(low), shape, dtype, ctx)


def normal_of(kind: Kind, loc: Any, scale: Any, shape: Any, dtype: Any, ctx: Any) -> Any:
    """Numbers of the normal distribution."""
    if _number(scale) < 0:
        raise ValueError(f"scale must not be negative, and is {scale}")
    return _affine(torch.randn, kind, loc, scale, shape, dtype, ctx)


def _affine(draw: Any, kind: Kind, start: Any, width: Any, shape: Any, dtype: Any, ctx: Any) -> Any:
    place = {"dtype": core_dtype(dtype or "float32"), "device": core_device(ctx)}
    drawn = draw(_shape(shape), **place)
    return wrap(drawn.mul_(_number(width)).add_(_number(start)), kind)


def _number(value: Any) -> float:
    return value.item() if isinstance(value, NDArray) else value


def integers_of(kind: Kind, low: int, high: int | None, shape: Any, dtype: Any, ctx: Any) -> Any:
    """Whole numbers from ``low`` to before ``high`` (from 0 to before one alone)."""
    ends = (0, low) if high is None else (low, high)
    if ends[0] >= ends[1]:
        raise ValueError(f"there are no whole numbers from {ends[0]} to before {ends[1]}")
    place = {"dtype": core_dtype(dtype or "int32"), "device": core_device(ctx)}
    return wrap(torch.randint(*ends, _shape(shape), **place), kind)


def order_of(kind: Kind, count: int) -> Any:
    """The numbers from 0 to ``count - 1`` in random order, as int64."""
    return wrap(torch.randperm(count), kind)


def uniform(
    low: float = 0, high: float = 1, shape: Any = 1, dtype: Any = None, ctx: Any = None
) -> NDArray:
    """Numbers evenly from ``low`` to before ``high``."""
    return uniform_of(NDArray, low, high, shape, dtype, ctx)


def normal(
    loc: float = 0, scale: float = 1, shape: Any = 1, dtype: Any = None, ctx: Any = None
) -> NDArray:
    """Numbers of the normal distribution with this mean and standard deviation."""
    return normal_of(NDArray, loc, scale, shape, dtype, ctx)


def randn(*shape: int, loc: float = 0, scale: float = 1, dtype: Any = None) -> NDArray:
    """Numbers of the normal distribution, in a shape given by numbers."""
    return normal_of(NDArray, loc, scale, shape or 1, dtype, None)


def randint(low: int, high: int, shape: Any = 1, dtype: Any = None, ctx: Any = None) -> NDArray:
    """Whole numbers from ``low`` to before ``high``."""
    return integers_of(NDArray, low, high, shape, dtype, ctx)


def shuffle(data: NDArray) -> NDArray:
    """A copy with the rows in random order."""
    return data[order_of(NDArray, len(data))]
