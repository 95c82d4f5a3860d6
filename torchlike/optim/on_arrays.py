"""The passes that updates are made of, on arrays: into ``out``, without new memory.

``on_tensors`` has the same functions. A half type computes in float32 and rounds after each pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from functional.kernels.scratch import scratch

__all__ = [
    "absolute", "adapted", "addcdiv", "addcmul", "addcmul_signs", "clamp", "div", "factors",
    "gradient", "lerp", "maximum", "mul", "new", "over", "plus", "plus_scaled", "put", "reciprocal",
    "sqrt", "times", "without",
]  # fmt: skip

sqrt, absolute, times, over, reciprocal = (
    np.sqrt, np.absolute, np.multiply, np.divide, np.reciprocal,
)  # fmt: skip
_FEW = 1 << 12
multiply, add, subtract, divide = np.multiply, np.add, np.subtract, np.divide


def new(slot: str, like: ndarray) -> ndarray:
    """Memory for a pass's result, valid until the slot is asked for again."""
    if like.size < _FEW:  # cheaper made anew than looked up
        return np.empty(like.shape, like.dtype)
    return scratch(slot, like.shape, like.dtype)


def put(target: ndarray, value: ndarray) -> ndarray:
    """The state or parameter ``target`` with its new value."""
    if value is not target:
        np.copyto(target, value)
    return target


def _half(x: ndarray) -> bool:
    return x.dtype.itemsize == 2


def _wide(x: Any) -> Any:
    return x.astype(np.float32) if isinstance(x, ndarray) else np.float32(x)


def _rounded(value: ndarray, out: ndarray) -> ndarray:
    out[...] = value
    return out


def mul(x: ndarray, factor: float, out: ndarray) -> ndarray:
    """x * factor."""
    if _half(x):
        return _rounded(_wide(x) * np.float32(factor), out)
    return multiply(x, factor, out)


def div(x: ndarray, divisor: float, out: ndarray) -> ndarray:
    """x / divisor."""
    if _half(x):
        return _rounded(_wide(x) / np.float32(divisor), out)
    return divide(x, divisor, out)


def plus(x: ndarray, number: float, out: ndarray) -> ndarray:
    """x + number."""
    if _half(x):
        return _rounded(_wide(x) + np.float32(number), out)
    return add(x, number, out)


def plus_scaled(x: ndarray, y: ndarray, factor: float, out: ndarray) -> ndarray:
    """x + factor * y; a half type rounds the factor too, as ``add(alpha=)`` does."""
    if _half(x):
        factor = np.asarray(factor, x.dtype).astype(np.float64)
        return _rounded((x.astype(np.float64) + factor * y.astype(np.float64)).astype("f4"), out)
    if factor == -1:
        return subtract(x, y, out)
    return add(x, multiply(y, factor, new("term", x)), out)


def lerp(x: ndarray, y: ndarray, weight: float, out: ndarray) -> ndarray:
    """x + weight * (y - x), from the nearer end."""
    if _half(x):
        a, b = _wide(x), _wide(y)
        near = a + np.float32(weight) * (b - a)
        far = b - (b - a) * np.float32(1 - weight)
        return _rounded(near if weight < 0.5 else far, out)
    term = subtract(y, x, new("term", x))
    if weight < 0.5:
        return add(x, multiply(term, weight, term), out)
    return subtract(y, multiply(term, 1 - weight, term), out)


def addcmul(x: ndarray, a: ndarray, b: ndarray, factor: float, out: ndarray) -> ndarray:
    """x + factor * a * b."""
    if _half(x):
        return _rounded(_wide(x) + np.float32(factor) * _wide(a) * _wide(b), out)
    term = new("term", x)
    if factor in (1, -1):
        multiply(a, b, term)
        return add(x, term, out) if factor == 1 else subtract(x, term, out)
    multiply(multiply(a, factor, term), b, term)
    return add(x, term, out)


def addcdiv(x: ndarray, a: ndarray, b: ndarray, factor: float, out: ndarray) -> ndarray:
    """x + factor * a / b."""
    if _half(x):
        return _rounded(_wide(x) + np.float32(factor) * _wide(a) / _wide(b), out)
    term = new("term", x)
    divide(a if factor == 1 else multiply(a, factor, term), b, term)
    return add(x, term, out)


def adapted(x: ndarray, m: ndarray, v: ndarray, o: Any, out: ndarray) -> ndarray:
    """x + o.size * m / (sqrt(v) / o.root + o.eps), one division less where types allow."""
    root = sqrt(v, new("root", x))
    if _half(x):
        return addcdiv(x, m, plus(div(root, o.root, root), o.eps, root), o.size, out)
    add(root, o.eps * o.root, root)
    divide(m, root, root)
    return add(x, multiply(root, o.size * o.root, root), out)


def gradient(x: ndarray, g: ndarray, maximize: bool, decay: float) -> ndarray:
    """The gradient negated for ``maximize``, plus ``decay`` times x, in memory of its own."""
    if not (maximize or decay):
        return g
    own = new("gradient", x)
    if maximize:
        g = np.negative(g, own)
    return plus_scaled(g, x, decay, own) if decay else g


def factors(g: ndarray, previous: ndarray, smaller: float, larger: float) -> ndarray:
    """``larger`` where both have one sign, ``smaller`` where they differ, 1 where one is zero."""
    product = multiply(g, previous, new("sign", g))
    result = np.sign(product, new("factor", g))
    np.copyto(result, larger, where=product > 0)
    np.copyto(result, smaller, where=product < 0)
    np.copyto(result, 1, where=product == 0)
    return result


def without(g: ndarray, factor: ndarray, value: float) -> ndarray:
    """g with zeros where ``factor`` is ``value``."""
    own = new("gradient", g)
    np.copyto(own, g)
    np.copyto(own, 0, where=factor == np.asarray(value, factor.dtype))
    return own


def addcmul_signs(x: ndarray, g: ndarray, size: ndarray, out: ndarray) -> ndarray:
    """x - sign(g) * size."""
    sign = np.sign(g, new("sign", g))
    return subtract(x, multiply(sign, size, sign), out)


def maximum(x: ndarray, y: ndarray, out: ndarray) -> ndarray:
    """The larger of each two elements."""
    return np.maximum(x, y, out=out)


def clamp(x: ndarray, low: float, high: float, out: ndarray) -> ndarray:
    """x within low ... high."""
    dt = x.dtype
    np.maximum(x, np.asarray(low, dt), out=out)
    return np.minimum(out, np.asarray(high, dt), out=out)
