"""Activation layers."""

from __future__ import annotations

from typing import Any, ClassVar

from functional import nn as core
from functional.tensor import Tensor

from .. import functional as F
from .attention import MultiheadAttention as MultiheadAttention
from .module import Module


class ReLU(Module):
    """max(0, x), element by element."""

    __constants__: ClassVar = ["inplace"]
    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        """The positive part of ``input``."""
        return core.relu.in_place(input) if self.inplace else core.relu(input)

    def extra_repr(self) -> str:
        """Says if it works in place."""
        return "inplace=True" if self.inplace else ""


class LeakyReLU(Module):
    """x where it is positive, ``negative_slope`` times x elsewhere."""

    __constants__: ClassVar = ["inplace", "negative_slope"]
    inplace: bool
    negative_slope: float

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope, self.inplace = negative_slope, inplace

    def forward(self, input: Tensor) -> Tensor:
        """``input`` with its negative part scaled."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        """The slope."""
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class Tanh(Module):
    """tanh, element by element."""

    def forward(self, input: Tensor) -> Tensor:
        """tanh(input)."""
        return core.tanh(input)


class Sigmoid(Module):
    """1 / (1 + exp(-x)), element by element."""

    def forward(self, input: Tensor) -> Tensor:
        """sigmoid(input)."""
        return core.sigmoid(input)


class _OverDim(Module):
    __constants__: ClassVar = ["dim"]
    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("dim", None)

    def extra_repr(self) -> str:
        """The dimension."""
        return f"dim={self.dim}"


class Softmax(_OverDim):
    """exp(x) over its sum along ``dim``."""

    def forward(self, input: Tensor) -> Tensor:
        """Probabilities along ``dim``."""
        return F.softmax(input, self.dim, _stacklevel=5)


class LogSoftmax(_OverDim):
    """The logarithm of Softmax, computed stably."""

    def forward(self, input: Tensor) -> Tensor:
        """Logarithms of probabilities along ``dim``."""
        return F.log_softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        """The dimension."""
        return f"dim={self.dim}"
