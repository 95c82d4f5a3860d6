"""Pooling layers."""

from __future__ import annotations

from typing import Any, ClassVar

from functional import nn as F
from functional.tensor import Tensor

from .conv import several
from .module import Module
from .unpooling import (
    FractionalMaxPool2d,
    FractionalMaxPool3d,
    MaxUnpool1d,
    MaxUnpool2d,
    MaxUnpool3d,
)

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d", "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d",
    "FractionalMaxPool2d", "FractionalMaxPool3d", "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d",
    "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
]  # fmt: skip


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


# --- averages -------------------------------------------------------------------------------------


class _AvgPoolNd(Module):
    __constants__: ClassVar = [
        "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad",
    ]  # fmt: skip

    def extra_repr(self) -> str:
        """The windows."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean of windows along one dimension: (N, C, L) or (C, L)."""

    kernel_size: Any
    stride: Any
    padding: Any
    ceil_mode: bool
    count_include_pad: bool

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = several(kernel_size, 1)
        self.stride = several(stride if stride is not None else kernel_size, 1)
        self.padding = several(padding, 1)
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """The mean of every window."""
        return F.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad,
        )  # fmt: skip


class _AvgPoolPlanes(_AvgPoolNd):
    __constants__: ClassVar = [
        "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override",
    ]  # fmt: skip
    function: Any = None
    kernel_size: Any
    stride: Any
    padding: Any
    ceil_mode: bool
    count_include_pad: bool

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if (stride is not None) else kernel_size
        self.padding, self.ceil_mode = padding, ceil_mode
        self.count_include_pad, self.divisor_override = count_include_pad, divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """The mean of every window."""
        result: Tensor = type(self).function(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad, self.divisor_override,
        )  # fmt: skip
        return result


class AvgPool2d(_AvgPoolPlanes):
    """The mean of windows over two dimensions: (N, C, H, W) or (C, H, W).

    Padding counts as zeros unless ``count_include_pad`` is false; ``divisor_override`` stands in
    for the number of elements of a window.
    """

    function = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPoolPlanes):
    """The mean of windows over three dimensions: (N, C, D, H, W) or (C, D, H, W)."""

    function = staticmethod(F.avg_pool3d)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for name, value in (("padding", 0), ("ceil_mode", False), ("count_include_pad", True)):
            self.__dict__.setdefault(name, value)


class _LPPoolNd(Module):
    __constants__: ClassVar = ["norm_type", "kernel_size", "stride", "ceil_mode"]
    function: Any = None
    norm_type: float
    ceil_mode: bool

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """The norm of every window."""
        result: Tensor = type(self).function(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )
        return result

    def extra_repr(self) -> str:
        """The windows."""
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """The ``norm_type`` norm of windows along one dimension: (N, C, L) or (C, L)."""

    function = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPoolNd):
    """The ``norm_type`` norm of windows over two dimensions: (N, C, H, W) or (C, H, W)."""

    function = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPoolNd):
    """The ``norm_type`` norm of windows over three dimensions: (N, C, D, H, W) or (C, D, H, W)."""

    function = staticmethod(F.lp_pool3d)


# --- adaptive -------------------------------------------------------------------------------------


class _AdaptiveMaxPoolNd(Module):
    __constants__: ClassVar = ["output_size", "return_indices"]
    function: Any = None
    return_indices: bool

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def forward(self, input: Tensor) -> Any:
        """The maximum of every window, and where it was if ``return_indices``."""
        return type(self).function(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        """The size of the result."""
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Maxima of windows that give ``output_size`` elements: (N, C, L) or (C, L)."""

    function = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Maxima of windows that give ``output_size``: (N, C, H, W) or (C, H, W)."""

    function = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Maxima of windows that give ``output_size``: (N, C, D, H, W) or (C, D, H, W)."""

    function = staticmethod(F.adaptive_max_pool3d)


class _AdaptiveAvgPoolNd(Module):
    __constants__: ClassVar = ["output_size"]
    function: Any = None

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """The mean of every window."""
        result: Tensor = type(self).function(input, self.output_size)
        return result

    def extra_repr(self) -> str:
        """The size of the result."""
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Means of windows that give ``output_size`` elements: (N, C, L) or (C, L)."""

    function = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Means of windows that give ``output_size``: (N, C, H, W) or (C, H, W).

    None in ``output_size`` keeps the input's size.
    """

    function = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Means of windows that give ``output_size``: (N, C, D, H, W) or (C, D, H, W)."""

    function = staticmethod(F.adaptive_avg_pool3d)
