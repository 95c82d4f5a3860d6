"""Pooling layers."""

from __future__ import annotations

from typing import Any, ClassVar

from functional import nn as F
from functional.tensor import Tensor

from .module import Module


class _MaxPoolNd(Module):
    __constants__: ClassVar = [
        "kernel_size",
        "stride",
        "padding",
        "dilation",
        "return_indices",
        "ceil_mode",
    ]
    function: Any = None
    return_indices: bool
    ceil_mode: bool

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding, self.dilation = padding, dilation
        self.return_indices, self.ceil_mode = return_indices, ceil_mode

    def forward(self, input: Tensor) -> Any:
        """The maximum of every window, and where it was if ``return_indices``."""
        d = self.__dict__
        return type(self).function(
            input, d["kernel_size"], d["stride"], d["padding"], d["dilation"], d["ceil_mode"],
            d["return_indices"],
        )  # fmt: skip

    def extra_repr(self) -> str:
        """The windows."""
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The maximum of windows along one dimension: (N, C, L) or (C, L)."""

    function = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPoolNd):
    """The maximum of windows over two dimensions: (N, C, H, W) or (C, H, W).

    ``stride`` is the size of the window if not given; with ``ceil_mode`` windows may stick out.
    """

    function = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPoolNd):
    """The maximum of windows over three dimensions: (N, C, D, H, W) or (C, D, H, W)."""

    function = staticmethod(F.max_pool3d)
