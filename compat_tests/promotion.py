"""The dtypes of results, for every pair of dtypes and ranks: a table of one library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .observe import quiet
from .records.base import DTYPES

NUMBERS = {"bool": True, "int": 2, "float": 1.5, "complex": 1 + 2j}
OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda T, x, y: x + y,
    "mul": lambda T, x, y: x * y,
    "div": lambda T, x, y: x / y,
    "eq": lambda T, x, y: x == y,
    "where": lambda T, x, y: T.where(T.tensor([True, False]), x, y),
    "result_type": lambda T, x, y: T.zeros((), dtype=T.result_type(x, y)),
}


def operands(T: Any) -> dict[str, Any]:
    """One operand of every kind: a vector, a 0-dim tensor, a number."""
    found: dict[str, Any] = {}
    for name in DTYPES:
        found[f"{name}[2]"] = T.ones(2, dtype=getattr(T, name))
        found[f"{name}[]"] = T.ones((), dtype=getattr(T, name))
    return found | NUMBERS


def table(T: Any) -> dict[str, str]:
    """``"add int8[2] float16[]"`` to the dtype of the result, or the class of the error."""
    result: dict[str, str] = {}
    known = operands(T)
    for name, operation in OPERATIONS.items():
        for a, x in known.items():
            for b, y in known.items():
                if a in NUMBERS and b in NUMBERS:
                    continue
                result[f"{name} {a} {b}"] = _outcome(T, operation, x, y)
    return result


def _outcome(T: Any, operation: Callable[..., Any], x: Any, y: Any) -> str:
    with quiet():
        try:
            kind = str(operation(T, x, y).dtype)
        except Exception as error:
            return type(error).__name__
    # there is no NumPy type for it, so torchlike has to refuse
    return "NotImplementedError" if kind == "torch.complex32" else kind


def pack(found: dict[str, str]) -> dict[str, list[str]]:
    """The table by result: much shorter."""
    packed: dict[str, list[str]] = {}
    for key, kind in found.items():
        packed.setdefault(kind, []).append(key)
    return packed


def unpack(packed: dict[str, list[str]]) -> dict[str, str]:
    return {key: kind for kind, keys in packed.items() for key in keys}
