"""The passes that updates are made of, on arrays: noted down first, then done in one go.

``on_tensors`` has the same functions. Each writes into ``out`` and makes no memory of the size of a
parameter. Between the passes of ``run`` no line of Python is executed, which is quicker, and lets
threads work side by side.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise, starmap
from operator import call
from typing import Any

import numpy as np
from numpy import ndarray
from numpy.lib.array_utils import byte_bounds

from functional.kernels.scratch import scratch
from functional.kernels.threads import LEAD, SHARED, spread, workers

from .updates import in_one_line

__all__ = ["OnArrays", "update"]

_FEW = 1 << 12
multiply, add, subtract, divide = np.multiply, np.add, np.subtract, np.divide


# NumPy takes these results by name only
def _larger(x: ndarray, y: ndarray, out: ndarray) -> None:
    np.maximum(x, y, out=out)


def _smaller(x: ndarray, y: ndarray, out: ndarray) -> None:
    np.minimum(x, y, out=out)


def _choose(product: ndarray, smaller: float, larger: float, result: ndarray) -> None:
    np.sign(product, result)
    np.copyto(result, larger, where=product > 0)
    np.copyto(result, smaller, where=product < 0)
    np.copyto(result, 1, where=product == 0)


def _clear(factor: ndarray, value: float, g: ndarray) -> None:
    np.copyto(g, 0, where=factor == np.asarray(value, factor.dtype))


class OnArrays:
    """A list of passes. The methods add to it and return their ``out``, but ``new`` and ``run``."""

    def __init__(self) -> None:
        self._todo: list[tuple[Any, ...]] = []

    def run(self) -> None:
        """Does what has been noted."""
        deque(starmap(call, self._todo), maxlen=0)
        self._todo.clear()

    def note(self, function: Callable[..., Any], *args: Any) -> Any:
        """A pass: the last argument is where the result goes."""
        self._todo.append((function, *args))
        return args[-1]

    def new(self, slot: str, like: ndarray) -> ndarray:
        """Memory for a pass's result, valid until the slot is asked for again."""
        if like.size < _FEW:  # cheaper made anew than looked up
            return np.empty(like.shape, like.dtype)
        return scratch(slot, like.shape, like.dtype)

    def put(self, target: ndarray, value: ndarray) -> ndarray:
        """The state or parameter ``target`` with its new value."""
        if value is not target:
            self._todo.append((np.copyto, target, value))
        return target

    def sqrt(self, x: ndarray, out: ndarray) -> ndarray:
        """Square roots."""
        return self.note(np.sqrt, x, out)

    def absolute(self, x: ndarray, out: ndarray) -> ndarray:
        """Absolute values."""
        return self.note(np.absolute, x, out)

    def reciprocal(self, x: ndarray, out: ndarray) -> ndarray:
        """1 / x."""
        return self.note(np.reciprocal, x, out)

    def times(self, x: ndarray, y: ndarray, out: ndarray) -> ndarray:
        """x * y."""
        return self.note(multiply, x, y, out)

    def over(self, x: ndarray, y: ndarray, out: ndarray) -> ndarray:
        """x / y."""
        return self.note(divide, x, y, out)

    def maximum(self, x: ndarray, y: ndarray, out: ndarray) -> ndarray:
        """The larger of each two elements."""
        return self.note(_larger, x, y, out)

    def mul(self, x: ndarray, factor: float, out: ndarray) -> ndarray:
        """x * factor."""
        return self.note(multiply, x, factor, out)

    def div(self, x: ndarray, divisor: float, out: ndarray) -> ndarray:
        """x / divisor."""
        return self.note(divide, x, divisor, out)

    def plus(self, x: ndarray, number: float, out: ndarray) -> ndarray:
        """x + number."""
        return self.note(add, x, number, out)

    def plus_scaled(self, x: ndarray, y: ndarray, factor: float, out: ndarray) -> ndarray:
        """x + factor * y."""
        if factor == -1:
            return self.note(subtract, x, y, out)
        term = self.new("term", x)
        self._todo += ((multiply, y, factor, term), (add, x, term, out))
        return out

    def lerp(self, x: ndarray, y: ndarray, weight: float, out: ndarray) -> ndarray:
        """x + weight * (y - x), from the nearer end."""
        term = self.new("term", x)
        if weight < 0.5:
            factor, last = weight, (add, x, term, out)
        else:
            factor, last = 1 - weight, (subtract, y, term, out)
        self._todo += ((subtract, y, x, term), (multiply, term, factor, term), last)
        return out

    def addcmul(self, x: ndarray, a: ndarray, b: ndarray, factor: float, out: ndarray) -> ndarray:
        """x + factor * a * b."""
        term = self.new("term", x)
        if factor not in (1, -1):
            a = self.note(multiply, a, factor, term)
        last = subtract if factor == -1 else add
        self._todo += ((multiply, a, b, term), (last, x, term, out))
        return out

    def addcdiv(self, x: ndarray, a: ndarray, b: ndarray, factor: float, out: ndarray) -> ndarray:
        """x + factor * a / b."""
        term = self.new("term", x)
        if factor != 1:
            a = self.note(multiply, a, factor, term)
        self._todo += ((divide, a, b, term), (add, x, term, out))
        return out

    def adapted(self, x: ndarray, m: ndarray, v: ndarray, o: Any, out: ndarray) -> ndarray:
        """x + o.size * m / (sqrt(v) / o.root + o.eps), with one division less."""
        root = self.new("root", x)
        self._todo += (
            (np.sqrt, v, root),
            (add, root, o.eps * o.root, root),
            (divide, m, root, root),
            (multiply, root, o.size * o.root, root),
            (add, x, root, out),
        )
        return out

    def gradient(self, x: ndarray, g: ndarray, maximize: bool, decay: float) -> ndarray:
        """The gradient negated for ``maximize``, plus ``decay`` times x, in memory of its own."""
        if not (maximize or decay):
            return g
        own = self.new("gradient", x)
        if maximize:
            g = self.note(np.negative, g, own)
        return self.plus_scaled(g, x, decay, own) if decay else g

    def factors(self, g: ndarray, previous: ndarray, smaller: float, larger: float) -> ndarray:
        """``larger`` where both have one sign, ``smaller`` where they differ, 1 at a zero."""
        product = self.note(multiply, g, previous, self.new("sign", g))
        return self.note(_choose, product, smaller, larger, self.new("factor", g))

    def without(self, g: ndarray, factor: ndarray, value: float) -> ndarray:
        """g with zeros where ``factor`` is ``value``."""
        return self.note(_clear, factor, value, self.put(self.new("gradient", g), g))

    def addcmul_signs(self, x: ndarray, g: ndarray, size: ndarray, out: ndarray) -> ndarray:
        """x - sign(g) * size."""
        sign = self.new("sign", g)
        self._todo += ((np.sign, g, sign), (multiply, sign, size, sign), (subtract, x, sign, out))
        return out

    def clamp(self, x: ndarray, low: float, high: float, out: ndarray) -> ndarray:
        """x within low ... high."""
        dt = x.dtype
        self.note(_larger, x, np.asarray(low, dt), out)
        return self.note(_smaller, out, np.asarray(high, dt), out)


def _wide(x: Any) -> Any:
    return x.astype(np.float32) if isinstance(x, ndarray) else np.float32(x)


def _rounded(formula: Callable[..., Any]) -> Callable[..., None]:
    """A pass on arrays of a half type: the formula in float32, rounded into the last argument."""

    def work(*args: Any) -> None:
        args[-1][...] = formula(*map(_wide, args[:-1]))

    return work


_product, _quotient, _sum = _rounded(multiply), _rounded(divide), _rounded(add)
_near = _rounded(lambda x, y, weight: x + weight * (y - x))
_far = _rounded(lambda x, y, rest: y - (y - x) * rest)
_addcmul = _rounded(lambda x, a, b, factor: x + factor * a * b)
_addcdiv = _rounded(lambda x, a, b, factor: x + factor * a / b)


def _sum_of_scaled(x: ndarray, y: ndarray, factor: float, out: ndarray) -> None:
    # the factor is rounded too, as by ``add(alpha=)``
    factor = np.asarray(factor, x.dtype).astype(np.float64)
    out[...] = (x.astype(np.float64) + factor * y.astype(np.float64)).astype("f4")


class OnHalves(OnArrays):
    """Passes on arrays of a half type: they compute in float32, and round into ``out``."""

    def mul(self, x: ndarray, factor: float, out: ndarray) -> ndarray:
        """x * factor."""
        return self.note(_product, x, factor, out)

    def div(self, x: ndarray, divisor: float, out: ndarray) -> ndarray:
        """x / divisor."""
        return self.note(_quotient, x, divisor, out)

    def plus(self, x: ndarray, number: float, out: ndarray) -> ndarray:
        """x + number."""
        return self.note(_sum, x, number, out)

    def plus_scaled(self, x: ndarray, y: ndarray, factor: float, out: ndarray) -> ndarray:
        """x + factor * y, the factor rounded too, as ``add(alpha=)`` does."""
        return self.note(_sum_of_scaled, x, y, factor, out)

    def lerp(self, x: ndarray, y: ndarray, weight: float, out: ndarray) -> ndarray:
        """x + weight * (y - x), from the nearer end."""
        if weight < 0.5:
            return self.note(_near, x, y, weight, out)
        return self.note(_far, x, y, 1 - weight, out)

    def addcmul(self, x: ndarray, a: ndarray, b: ndarray, factor: float, out: ndarray) -> ndarray:
        """x + factor * a * b."""
        return self.note(_addcmul, x, a, b, factor, out)

    def addcdiv(self, x: ndarray, a: ndarray, b: ndarray, factor: float, out: ndarray) -> ndarray:
        """x + factor * a / b."""
        return self.note(_addcdiv, x, a, b, factor, out)

    def adapted(self, x: ndarray, m: ndarray, v: ndarray, o: Any, out: ndarray) -> ndarray:
        """x + o.size * m / (sqrt(v) / o.root + o.eps)."""
        root = self.sqrt(v, self.new("root", x))
        root = self.plus(self.div(root, o.root, root), o.eps, root)
        return self.addcdiv(x, m, root, o.size, out)


_BLOCK = 1 << 15  # elements whose passes stay in cache
_BLOCK_OF_MANY = 1 << 17  # for threads, which wait for each other less often with long passes


def update(follow: Callable[..., Any], units: list[list[ndarray]]) -> None:
    """Calls follow(passes, *block) on matching blocks of each unit's arrays, of one shape.

    Threads share the elements if there are many. Blocks are pieces of flat arrays; arrays whose
    elements lie in different orders are one block.
    """
    total = sum([arrays[0].size for arrays in units])
    if total <= _BLOCK:
        _follow(follow, units)
        return
    units = [in_one_line(arrays) for arrays in units]
    parts = total // SHARED if total > SHARED and _apart(units) else 1
    block = _BLOCK_OF_MANY if min(parts, workers()) > 1 else _BLOCK
    spread(total, parts, lambda i, j: _follow(follow, _blocks(units, i, j, block)), LEAD)


def _follow(follow: Callable[..., Any], blocks: Iterable[list[ndarray]]) -> None:
    plain, halves = OnArrays(), OnHalves()
    for arrays in blocks:
        follow(halves if arrays[0].dtype.itemsize == 2 else plain, *arrays)
    plain.run()
    halves.run()


def _blocks(
    units: list[list[ndarray]], first: int, last: int, most: int
) -> Iterator[list[ndarray]]:
    """Blocks of at most so many elements of the units' elements first ... last."""
    at = 0
    for arrays in units:
        size = arrays[0].size
        if size <= most or arrays[0].ndim != 1:
            if first <= at < last:
                yield arrays
        else:
            for start in range(max(first - at, 0), min(last - at, size), most):
                stop = min(start + most, last - at)
                yield [a[start:stop] for a in arrays]
        at += size


def _apart(units: list[list[ndarray]]) -> bool:
    """Whether no two parameters, which come first, share memory."""
    bounds = sorted(byte_bounds(arrays[0]) for arrays in units)
    return all(end <= start for (_, end), (start, _) in pairwise(bounds))
