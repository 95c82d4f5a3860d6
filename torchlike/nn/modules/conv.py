"""Convolution layers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar

from functional import nn as F
from functional.ops.create import empty
from functional.tensor import Tensor

from .. import init
from ..parameter import Parameter
from .module import Module

MODES = ("zeros", "reflect", "replicate", "circular")


def several(value: Any, n: int) -> tuple[Any, ...]:
    """One number for each of ``n`` dimensions; what is several already stays as it is."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * n


def _check(channels: tuple[int, int], stride: Any, padding: Any, groups: int, mode: str) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    for name, count in zip(("in_channels", "out_channels"), channels, strict=True):
        if count % groups:
            raise ValueError(f"{name} must be divisible by groups")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(
                f"Invalid padding string '{padding}', should be one of {{'valid', 'same'}}"
            )
        if padding == "same" and any(s != 1 for s in stride):
            raise ValueError("padding='same' is not supported for strided convolutions")
    if mode not in MODES:
        names = "{'zeros', 'reflect', 'replicate', 'circular'}"
        raise ValueError(f"padding_mode must be one of {names}, but got padding_mode='{mode}'")


class _ConvNd(Module):
    __constants__: ClassVar = [
        "stride", "padding", "dilation", "groups", "padding_mode", "output_padding",
        "in_channels", "out_channels", "kernel_size",
    ]  # fmt: skip
    n = 0
    function: Any = None
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        n = self.n
        stride = several(stride, n)
        _check((in_channels, out_channels), stride, padding, groups, padding_mode)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride = several(kernel_size, n), stride
        self.padding = padding if isinstance(padding, str) else several(padding, n)
        self.dilation, self.transposed = several(dilation, n), False
        self.output_padding, self.groups = (0,) * n, groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._margins()
        where = {"device": device, "dtype": dtype}
        shape = (out_channels, in_channels // groups, *self.kernel_size)
        self.weight = Parameter(empty(shape, **where))
        if bias:
            self.bias = Parameter(empty(out_channels, **where))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _margins(self) -> list[int]:
        """What to pad before and after, last dimension first."""
        found = []
        for i in reversed(range(self.n)):
            if self.padding == "same":
                total = self.dilation[i] * (self.kernel_size[i] - 1)
                found += [total // 2, total - total // 2]
            else:
                found += [0, 0] if self.padding == "valid" else [self.padding[i]] * 2
        return found

    def reset_parameters(self) -> None:
        """Draw new starting values."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = init._bias_bound(self.weight)
            if bound:
                init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """The convolution of ``input``: (N, C, *spatial) or (C, *spatial)."""
        d = self.__dict__
        held = d["_parameters"]
        try:
            weight, bias = held["weight"], held["bias"]
        except KeyError:  # something (pruning, a parametrization) has replaced a parameter
            weight, bias = self.weight, self.bias
        return self._conv_forward(input, weight, bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        d = self.__dict__
        if d["padding_mode"] != "zeros":
            raise NotImplementedError(
                f"{type(self).__name__} with padding_mode={self.padding_mode!r}"
            )
        return type(self).function(
            input, weight, bias, d["stride"], d["padding"], d["dilation"], d["groups"]
        )

    def extra_repr(self) -> str:
        """The sizes, and what differs from the defaults."""
        text = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        if self.padding != (0,) * len(self.padding):
            text += f", padding={self.padding}"
        if self.dilation != (1,) * len(self.dilation):
            text += f", dilation={self.dilation}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


class Conv1d(_ConvNd):
    """Convolution over one dimension: (N, C, L) or (C, L); see Conv2d."""

    n, function = 1, staticmethod(F.conv1d)


class Conv2d(_ConvNd):
    """Convolution over two dimensions: (N, C, H, W) or (C, H, W).

    ``padding`` is a number (or two), ``'valid'`` (none) or ``'same'`` (the output has the size
    of the input; stride 1 only). Raises ValueError for channels that ``groups`` does not divide.
    """

    n, function = 2, staticmethod(F.conv2d)


class Conv3d(_ConvNd):
    """Convolution over three dimensions: (N, C, D, H, W) or (C, D, H, W); see Conv2d."""

    n, function = 3, staticmethod(F.conv3d)
