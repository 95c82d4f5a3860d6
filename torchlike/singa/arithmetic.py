"""Arithmetic and comparisons as SINGA's tensors have them, on tensors of ours and numbers."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

import torchlike as torch


def number(x: Any) -> Any:
    """A Python number for a number of Python's or NumPy's; None for anything else."""
    if isinstance(x, np.generic):
        x = x.item()
    return x if isinstance(x, numbers.Real) else None


def _whole(x: Any) -> bool:
    return isinstance(x, int) or (isinstance(x, torch.Tensor) and not x.is_floating_point())


def divide(x: Any, y: Any) -> Any:
    """x / y; of two integers the integer next to it towards zero, as in C++."""
    if _whole(x) and _whole(y):
        x = x if isinstance(x, torch.Tensor) else torch.full_like(y, x)
        return torch.div(x, y, rounding_mode="trunc")
    return x / y


def divide_(x: Any, y: Any) -> Any:
    """As ``divide``, written to ``x``."""
    return x.div_(y, rounding_mode="trunc" if _whole(x) and _whole(y) else None)


# Of a tensor of integers and a float the result is float32.
ARITHMETIC: dict[str, Any] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "truediv": divide,
    "floordiv": lambda x, y: x // y,
}

IN_PLACE: dict[str, Any] = {
    "add": lambda x, y: x.add_(y),
    "sub": lambda x, y: x.sub_(y),
    "mul": lambda x, y: x.mul_(y),
    "truediv": divide_,
}

COMPARISONS: dict[str, Any] = {
    "lt": lambda x, y: (x < y).float(),
    "le": lambda x, y: (x <= y).float(),
    "gt": lambda x, y: (x > y).float(),
    "ge": lambda x, y: (x >= y).float(),
    "eq": lambda x, y: (x == y).float(),
    "ne": lambda x, y: (x != y).float(),
}


def install(cls: type, operand: Any, comparisons: bool = True) -> None:
    """Give a class the operators; ``operand`` makes a tensor or a number of the other, or None."""
    for name, operate in {**ARITHMETIC, **(COMPARISONS if comparisons else {})}.items():
        setattr(cls, f"__{name}__", _operator(operate, operand))
    for name, operate in ARITHMETIC.items():
        setattr(cls, f"__r{name}__", _operator(_turned(operate), operand))
    for name, write in IN_PLACE.items():
        setattr(cls, f"__i{name}__", _in_place(write, operand))


def _turned(operate: Any) -> Any:
    return lambda x, y: operate(y, x)


def _operator(operate: Any, operand: Any) -> Any:
    def result(self: Any, other: Any) -> Any:
        y = operand(other)
        return NotImplemented if y is None else self._like(operate(self.values, y))

    return result


def _in_place(write: Any, operand: Any) -> Any:
    def result(self: Any, other: Any) -> Any:
        y = operand(other)
        if y is None:
            return NotImplemented
        write(self.writable(), y)
        return self

    return result
