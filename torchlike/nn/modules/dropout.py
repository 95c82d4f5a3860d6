"""Dropout layers."""

from __future__ import annotations

from typing import ClassVar

from functional.nn import dropout
from functional.tensor import Tensor

from .module import Module


class Dropout(Module):
    """In training, zeroes each element with probability ``p`` and scales the rest by 1/(1-p).

    Raises ValueError for a probability outside 0 to 1.
    """

    __constants__: ClassVar = ["p", "inplace"]
    p: float
    inplace: bool

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p, self.inplace = p, inplace

    def forward(self, input: Tensor) -> Tensor:
        """``input``, thinned out in training."""
        return dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self) -> str:
        """The probability."""
        return f"p={self.p}, inplace={self.inplace}"
