"""Fractional pooling, and what undoes pooling."""

from __future__ import annotations

from typing import Any, ClassVar

from functional import nn as F
from functional.tensor import Tensor

from .conv import several
from .module import Module


class _FractionalMaxPoolNd(Module):
    __constants__: ClassVar = ["kernel_size", "return_indices", "output_size", "output_ratio"]
    n = 0
    function: Any = None
    return_indices: bool

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        n, name = self.n, type(self).__name__
        self.kernel_size, self.return_indices = several(kernel_size, n), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = several(output_size, n) if output_size is not None else None
        self.output_ratio = several(output_ratio, n) if output_ratio is not None else None
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{name} requires specifying either an output size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        """The maximum of every window, and where it was if ``return_indices``."""
        return type(self).function(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices,
            self._random_samples,
        )  # fmt: skip


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """Maxima of windows at pseudo-random places (B. Graham, 2014): (N, C, H, W) or (C, H, W).

    ``output_size`` or ``output_ratio``, a share of the input's size, says how many.
    """

    n, function = 2, staticmethod(F.fractional_max_pool2d)


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """Maxima of windows at pseudo-random places: (N, C, D, H, W) or (C, D, H, W)."""

    n, function = 3, staticmethod(F.fractional_max_pool3d)


class _MaxUnpoolNd(Module):
    n = 0
    function: Any = None

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        n = self.n
        self.kernel_size = several(kernel_size, n)
        self.stride = several(stride if stride is not None else kernel_size, n)
        self.padding = several(padding, n)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """The maxima where they were, zeros elsewhere."""
        result: Tensor = type(self).function(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )
        return result

    def extra_repr(self) -> str:
        """The windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Undoes MaxPool1d as far as it can: (N, C, L) or (C, L)."""

    n, function = 1, staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpoolNd):
    """Undoes MaxPool2d as far as it can: (N, C, H, W) or (C, H, W)."""

    n, function = 2, staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpoolNd):
    """Undoes MaxPool3d as far as it can: (N, C, D, H, W) or (C, D, H, W)."""

    n, function = 3, staticmethod(F.max_unpool3d)


for _class in (FractionalMaxPool2d, FractionalMaxPool3d, MaxUnpool1d, MaxUnpool2d, MaxUnpool3d):
    _class.__module__ = _class.__module__.replace("unpooling", "pooling")
