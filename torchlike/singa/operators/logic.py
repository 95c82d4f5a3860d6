"""Comparisons and logic: 1.0 where true, 0.0 where not, and no gradient."""

from __future__ import annotations

from typing import Any

import torchlike as torch

from .making import Unsloped, array_of, operation

_PAIRS = (
    ("Less", "less", torch.lt, "Where x is less than y."),
    ("Greater", "greater", torch.gt, "Where x is greater than y."),
    ("Equal", "equal", torch.eq, "Where x equals y."),
)
_LOGIC = (
    ("And", "_and", torch.logical_and, "Where neither a nor b is 0."),
    ("Or", "_or", torch.logical_or, "Where a or b is not 0."),
    ("Xor", "_xor", torch.logical_xor, "Where one of a and b is 0, and the other is not."),
)


def _compare(cls: str, name: str, function: Any, doc: str) -> None:
    def compute(x: Any, y: Any) -> Any:
        return function(x, y).to(torch.float32)

    compute.__doc__ = doc
    operation(cls, 2, Unsloped, name)(compute)


def _combine(cls: str, name: str, function: Any, doc: str) -> None:
    def compute(a: Any, b: Any) -> Any:
        return function(a, b).to(torch.float32)

    compute.__doc__ = doc
    operation(cls, 2, Unsloped, name)(compute)


for _row in _PAIRS:
    _compare(*_row)
for _row in _LOGIC:
    _combine(*_row)


@operation("Not", base=Unsloped, name="_not")
def negation(x: Any) -> Any:
    """Where x is 0."""
    return torch.logical_not(x).to(torch.float32)


@operation("Where", 2)
def where(x: Any, y: Any, condition: Any) -> Any:
    """x where the condition, a list or a tensor, is true, else y."""
    chosen = torch.from_numpy(array_of(condition).astype(bool)).to(x.device)
    return torch.where(chosen, x, y)
