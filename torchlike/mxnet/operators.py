"""Python's operators, attached to the array class, and the same as functions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torchlike as torch

from .array import NDArray, call, kind_of, ndarray, operand, wrap
from .graph import live
from .state import run

ARITHMETIC = "add sub mul truediv floordiv mod pow".split()
BITWISE = "and or xor".split()
COMPARISONS = "eq ne lt le gt ge".split()


def _kind(self: NDArray, other: Any) -> Any:
    return ndarray if isinstance(other, ndarray) else type(self)


def _forward(compute: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: NDArray, other: Any) -> Any:
        try:
            right = operand(other, self)
        except TypeError:
            return NotImplemented
        return wrap(run(compute, live(self._tensor), right), _kind(self, other))

    return method


def _reflected(compute: Callable[..., Any]) -> Callable[..., Any]:
    return _forward(lambda right, left: compute(left, right))


def _in_place(name: str) -> Callable[..., Any]:
    def method(self: NDArray, other: Any) -> Any:
        run(getattr(self._written(), name), operand(other, self))
        return self

    return method


def _comparison(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Booleans for NumPy's kind; 0 and 1 in the array's own dtype for the other."""

    def method(self: NDArray, other: Any) -> Any:
        try:
            right = operand(other, self)
        except TypeError:
            return NotImplemented
        kind = _kind(self, other)
        left = live(self._tensor)
        found = run(compute, left, right)
        return wrap(found if kind is ndarray else found.to(left.dtype), kind)

    return method


def _unary(compute: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self: wrap(run(compute, live(self._tensor)), type(self))


for _name in (*ARITHMETIC, *BITWISE):
    _compute = getattr(operator, f"__{_name}__")
    _core = {"truediv": "div_", "floordiv": "floor_divide_", "mod": "remainder_"}.get(_name)
    setattr(NDArray, f"__{_name}__", _forward(_compute))
    setattr(NDArray, f"__r{_name}__", _reflected(_compute))
    setattr(
        NDArray,
        f"__i{_name}__",
        _in_place(_core or (f"bitwise_{_name}_" if _name in BITWISE else f"{_name}_")),
    )
for _name in COMPARISONS:
    setattr(NDArray, f"__{_name}__", _comparison(getattr(operator, f"__{_name}__")))
for _name in "neg abs invert".split():
    setattr(NDArray, f"__{_name}__", _unary(getattr(operator, f"__{_name}__")))
NDArray.__hash__ = object.__hash__  # type: ignore[method-assign]  # arrays are keys by identity


def _matmul(a: Any, b: Any) -> Any:
    return call(torch.matmul, a, b)


NDArray.__matmul__ = _matmul  # type: ignore[attr-defined]


def by_operator(name: str) -> Callable[..., Any]:
    """A function of two arrays, or an array and a number, that applies one of the operators."""
    compute = getattr(operator, f"__{name}__")

    def function(lhs: Any, rhs: Any, out: Any = None) -> Any:
        if kind_of((lhs, rhs)) is None:
            raise TypeError("an NDArray is wanted among the arguments, and there is none")
        result = compute(lhs, rhs)
        return result if out is None else result.copyto(out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Elementwise and broadcast: what the operator ``{name}`` computes."
    return function


def _as_tensors(compute: Callable[..., Any]) -> Callable[..., Any]:
    def both(a: Any, b: Any) -> Any:
        like = a if isinstance(a, torch.Tensor) else b
        a, b = (
            x if isinstance(x, torch.Tensor) else torch.as_tensor(x).to(like.device, like.dtype)
            for x in (a, b)
        )
        return compute(a, b)

    return both


def by_function(name: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    """A function of two arrays, or an array and a number, computed by the core's function."""
    both = _as_tensors(compute)

    def function(lhs: Any, rhs: Any, out: Any = None) -> Any:
        result = call(both, lhs, rhs)
        return result if out is None else result.copyto(out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Elementwise and broadcast ``{name}``."
    return function
