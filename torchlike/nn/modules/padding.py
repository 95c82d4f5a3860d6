"""Padding layers."""

from __future__ import annotations

from typing import Any, ClassVar

from functional import nn as F
from functional.tensor import Tensor

from .conv import several
from .module import Module


class _PadNd(Module):
    __constants__: ClassVar = ["padding"]
    n, mode = 0, "constant"

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = several(padding, 2 * self.n)

    def forward(self, input: Tensor) -> Tensor:
        """``input`` with its margin."""
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        """The margin."""
        return f"{self.padding}"


class _ConstantPadNd(_PadNd):
    __constants__: ClassVar = ["padding", "value"]
    value: float

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """``input`` with ``value`` around it."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """The margin and the value."""
        return f"padding={self.padding}, value={self.value}"


class _CircularPadNd(_PadNd):
    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """``input`` with its other side around it."""
        self._check_input_dim(input)
        return F.pad(input, self.padding, "circular")

    def _check_input_dim(self, input: Tensor) -> None:
        n = self.n
        if input.ndim not in (n + 1, n + 2):
            raise ValueError(f"expected {n + 1}D or {n + 2}D input (got {input.ndim}D input)")


class _ReflectionPadNd(_PadNd):
    mode = "reflect"


class _ReplicationPadNd(_PadNd):
    mode = "replicate"


class _Zeros:
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)  # type: ignore[call-arg]

    padding: Any

    def extra_repr(self) -> str:
        """The margin."""
        return f"{self.padding}"


class CircularPad1d(_CircularPadNd):
    """Lines padded with their other side: (N, C, L) or (C, L)."""

    n = 1


class CircularPad2d(_CircularPadNd):
    """Images padded with their other side: (N, C, H, W) or (C, H, W)."""

    n = 2


class CircularPad3d(_CircularPadNd):
    """Volumes padded with their other side: (N, C, D, H, W) or (C, D, H, W)."""

    n = 3


class ConstantPad1d(_ConstantPadNd):
    """Lines padded with ``value``: (N, C, L) or (C, L)."""

    n = 1


class ConstantPad2d(_ConstantPadNd):
    """Images padded with ``value``: (N, C, H, W) or (C, H, W)."""

    n = 2


class ConstantPad3d(_ConstantPadNd):
    """Volumes padded with ``value``: (N, C, D, H, W) or (C, D, H, W)."""

    n = 3


class ReflectionPad1d(_ReflectionPadNd):
    """Lines mirrored at their edges: (N, C, L) or (C, L)."""

    n = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Images mirrored at their edges: (N, C, H, W) or (C, H, W)."""

    n = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Volumes mirrored at their edges: (N, C, D, H, W) or (C, D, H, W)."""

    n = 3


class ReplicationPad1d(_ReplicationPadNd):
    """Lines padded with their edges: (N, C, L) or (C, L)."""

    n = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Images padded with their edges: (N, C, H, W) or (C, H, W)."""

    n = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Volumes padded with their edges: (N, C, D, H, W) or (C, D, H, W)."""

    n = 3


class ZeroPad1d(_Zeros, ConstantPad1d):  # type: ignore[misc]
    """Lines padded with zeros: (N, C, L) or (C, L)."""

    n = 1


class ZeroPad2d(_Zeros, ConstantPad2d):  # type: ignore[misc]
    """Images padded with zeros: (N, C, H, W) or (C, H, W)."""

    n = 2


class ZeroPad3d(_Zeros, ConstantPad3d):  # type: ignore[misc]
    """Volumes padded with zeros: (N, C, D, H, W) or (C, D, H, W)."""

    n = 3
