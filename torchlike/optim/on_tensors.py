"""The passes of ``OnArrays`` in tensor operations, which can be recorded.

They serve ``differentiable``, subclasses of Tensor, and arrays that are not NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from functional.ops import pointwise
from functional.ops.selection import where
from functional.tensor import Tensor

__all__ = [
    "absolute", "adapted", "addcdiv", "addcmul", "addcmul_signs", "clamp", "div", "factors",
    "gradient", "lerp", "maximum", "mul", "new", "over", "plus", "plus_scaled", "put", "reciprocal",
    "sqrt", "times", "without",
]  # fmt: skip


def new(slot: str, like: Tensor) -> None:
    """Tensor operations make their own results."""


def put(target: Tensor, value: Tensor) -> Tensor:
    """Write ``value`` into a state or parameter; what follows computes with ``value`` itself.

    So that nothing recorded has saved a tensor that the next write would change.
    """
    target.copy_(value)
    return value


def _half(x: Any) -> bool:
    return isinstance(x, Tensor) and x.dtype.itemsize == 2


def _rounds_once(work: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Half types compute in float32; the last argument, ``out``, is not used."""

    def passes(x: Tensor, *args: Any) -> Tensor:
        if not _half(x):
            return work(x, *args[:-1])
        wide = [a.float() if _half(a) else a for a in (x, *args[:-1])]
        return work(*wide).to(x.dtype)

    passes.__doc__ = work.__doc__
    return passes


@_rounds_once
def mul(x: Tensor, factor: Any) -> Tensor:
    """x * factor."""
    return x * factor


@_rounds_once
def div(x: Tensor, divisor: Any) -> Tensor:
    """x / divisor."""
    return x / divisor


@_rounds_once
def plus(x: Tensor, number: Any) -> Tensor:
    """x + number."""
    return x + number


@_rounds_once
def plus_scaled(x: Tensor, y: Tensor, factor: Any) -> Tensor:
    """x + factor * y."""
    return x + y * factor


@_rounds_once
def lerp(x: Tensor, y: Tensor, weight: Any) -> Tensor:
    """x + weight * (y - x), from the nearer end."""
    return x + (y - x) * weight if weight < 0.5 else y - (y - x) * (1 - weight)


@_rounds_once
def addcmul(x: Tensor, a: Tensor, b: Tensor, factor: Any) -> Tensor:
    """x + factor * a * b."""
    return x + a * factor * b


@_rounds_once
def addcdiv(x: Tensor, a: Tensor, b: Tensor, factor: Any) -> Tensor:
    """x + factor * a / b."""
    return x + a * factor / b


def adapted(x: Tensor, m: Tensor, v: Tensor, o: Any, out: Any) -> Tensor:
    """x + o.size * m / (sqrt(v) / o.root + o.eps)."""
    root = plus(div(sqrt(v, None), o.root, None), o.eps, None)
    return addcdiv(x, m, root, o.size, out)


@_rounds_once
def times(x: Tensor, y: Tensor) -> Tensor:
    """x * y."""
    return x.clone() * y  # x is about to be written to


@_rounds_once
def over(x: Tensor, y: Tensor) -> Tensor:
    """x / y."""
    return x / y


@_rounds_once
def maximum(x: Tensor, y: Tensor) -> Tensor:
    """The larger of each two elements."""
    return x.clone().maximum(y)  # x is about to be written to


@_rounds_once
def sqrt(x: Tensor) -> Tensor:
    """Square roots."""
    return x.sqrt()


@_rounds_once
def absolute(x: Tensor) -> Tensor:
    """Absolute values."""
    return x.abs()


@_rounds_once
def reciprocal(x: Tensor) -> Tensor:
    """1 / x."""
    return pointwise.reciprocal(x)


@_rounds_once
def clamp(x: Tensor, low: float, high: float) -> Tensor:
    """x within low ... high."""
    return x.clamp(low, high)


def gradient(x: Tensor, g: Tensor, maximize: bool, decay: Any) -> Tensor:
    """The gradient negated for ``maximize``, plus ``decay`` times x."""
    g = -g if maximize else g
    return plus_scaled(g, x, decay, None) if decay else g


def factors(g: Tensor, previous: Tensor, smaller: float, larger: float) -> Tensor:
    """``larger`` where both have one sign, ``smaller`` where they differ, 1 where one is zero."""
    sign = (g * previous.clone()).sign()
    return where(sign > 0, larger, where(sign < 0, smaller, where(sign == 0, 1, sign)))


def without(g: Tensor, factor: Tensor, value: float) -> Tensor:
    """g with zeros where ``factor`` is ``value``."""
    return where(factor == value, 0, g)


@_rounds_once
def addcmul_signs(x: Tensor, g: Tensor, size: Tensor) -> Tensor:
    """x - sign(g) * size."""
    return x - g.sign() * size
