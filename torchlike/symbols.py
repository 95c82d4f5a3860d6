"""Numbers and conditions that compiled programs keep symbolic: here those of Python."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

__all__ = [
    "_assert", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt",
    "sym_sum",
]  # fmt: skip

_NUMBERS = (np.integer, np.floating, int, float)


def _assert(condition: Any, message: str) -> None:
    """``assert`` as a function; a tensor's truth counts."""
    assert condition, message


def sym_float(a: Any) -> float:
    """``a`` as a float."""
    return float(a)


def sym_int(a: Any) -> int:
    """``a`` rounded towards zero."""
    return int(a)


def sym_not(a: Any) -> bool:
    """Whether ``a`` is false."""
    return not a


def _both(a: Any, b: Any) -> bool:
    """Whether the larger or smaller of two numbers is a float."""
    for value in (a, b):
        assert isinstance(value, _NUMBERS), f"expected {_NUMBERS}, got {type(value)}"
    return isinstance(a, float) or isinstance(b, float)


def sym_max(a: Any, b: Any) -> Any:
    """The larger of two numbers, a float if either is one."""
    return float(max(a, b)) if _both(a, b) else max(a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers, a float if either is one."""
    return float(min(a, b)) if _both(a, b) else min(a, b)


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """``t`` if ``b`` is true, else ``f``; both have to be of one type."""
    assert isinstance(b, bool), f"expected SymBool or bool, got {type(b)}"
    assert type(t) is type(f), f"type mismatch: {type(t)} vs {type(f)}"
    return t if b else f


def sym_sqrt(a: float) -> float:
    """The square root of a number."""
    return math.sqrt(a)


def sym_sum(args: Iterable[Any]) -> Any:
    """The sum of numbers."""
    return sum(args)
