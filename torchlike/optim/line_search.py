"""A line search for the strong Wolfe conditions.

(Nocedal and Wright, Numerical Optimization, algorithms 3.5 and 3.6, with cubic interpolation.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from functional.tensor import Tensor

__all__ = ["strong_wolfe"]

DECREASE, CURVATURE, CHANGE = 1e-4, 0.9, 1e-9


class Point(NamedTuple):
    """A length along the direction; the loss, its gradient and its slope there."""

    t: Any
    loss: float
    grad: Tensor
    slope: Any = None


def cubic_minimum(a: Point, b: Point, bounds: tuple[Any, Any] | None = None) -> Any:
    """Where the cubic through two points and slopes is least, within the bounds.

    (Nocedal and Wright, equation 3.59.)
    """
    low, high = bounds or ((a.t, b.t) if a.t <= b.t else (b.t, a.t))
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1**2 - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2.0
    d2 = square.sqrt()
    if not a.t <= b.t:
        a, b = b, a
    found = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    return min(max(found, low), high)


class _Search:
    """The losses along one direction, and what they are compared with."""

    def __init__(self, at: Callable[[Any], tuple[float, Tensor]], d: Tensor, start: Point) -> None:
        self.evaluate, self.d, self.start, self.calls = at, d, start, 0

    def at(self, t: Any) -> Point:
        loss, grad = self.evaluate(t)
        self.calls += 1
        return Point(t, loss, grad, grad.dot(self.d))

    def too_high(self, p: Point) -> bool:
        """Whether the loss falls too little."""
        return bool(p.loss > self.start.loss + DECREASE * p.t * self.start.slope)

    def flat(self, p: Point) -> bool:
        """Whether the slope is small enough."""
        return bool(abs(p.slope) <= -CURVATURE * self.start.slope)


def strong_wolfe(
    at: Callable[[Any], tuple[float, Tensor]], t: Any, d: Tensor, loss: float, grad: Tensor,
    slope: Any, most: int,
) -> tuple[float, Tensor, Any, int]:  # fmt: skip
    """A length that fulfils the conditions: loss and gradient there, the length, the calls.

    ``at`` computes loss and gradient at a length, ``most`` limits the iterations.
    """
    search = _Search(at, d, Point(0, loss, grad.clone(), slope))
    bracket, done, spent = _bracket(search, t, most)
    best = bracket[0] if done else _narrow(search, bracket, most, spent)
    return best.loss, best.grad, best.t, search.calls


def _bracket(search: _Search, t: Any, most: int) -> tuple[list[Point], bool, int]:
    """Points around a minimum (or one that will do), and the number of iterations."""
    before, here = search.start, search.at(t)
    for i in range(most):
        if search.too_high(here) or (i > 1 and here.loss >= before.loss):
            return [before, here], False, i
        if search.flat(here):
            return [here], True, i
        if here.slope >= 0:
            return [before, here], False, i
        bounds = here.t + 0.01 * (here.t - before.t), here.t * 10
        t = cubic_minimum(before, here, bounds)
        before, here = here, search.at(t)
    return [search.start, here], False, most


def _narrow(search: _Search, bracket: list[Point], most: int, spent: int) -> Point:
    """Shrink the bracket; the lower one of its points."""
    low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
    reach, stuck = search.d.abs().max(), False
    while spent < most:
        ends = [p.t for p in bracket]
        if abs(ends[1] - ends[0]) * reach < CHANGE:
            break
        t, stuck = _inside(cubic_minimum(*bracket), ends, stuck)
        here = search.at(t)
        spent += 1
        if search.too_high(here) or here.loss >= bracket[low].loss:
            bracket[high] = here
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
            continue
        done = search.flat(here)
        if not done and here.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = here
        if done:
            break
    return bracket[low]


def _inside(t: Any, ends: list[Any], stuck: bool) -> tuple[Any, bool]:
    """A length that is not too near to an end twice in a row."""
    least, most = min(ends), max(ends)
    margin = 0.1 * (most - least)
    if not min(most - t, t - least) < margin:
        return t, False
    if not (stuck or t >= most or t <= least):
        return t, True
    return (most - margin if abs(t - most) < abs(t - least) else least + margin), False
