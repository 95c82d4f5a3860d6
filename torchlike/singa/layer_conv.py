"""Convolution, batch normalization and pooling."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from . import autograd, singa_wrap
from .layer_base import Layer
from .operators.handles import margins
from .tensor import Tensor
from .utils import get_padding_shape

__all__ = [
    "AvgPool1d", "AvgPool2d", "BatchNorm2d", "Conv2d", "MaxPool1d", "MaxPool2d", "Pooling2d",
    "SeparableConv2d",
]  # fmt: skip

Pair = tuple[int, int]
Sides = tuple[int, int, int, int]  # before and after the rows, before and after the columns
PAD_MODES = ("NOTSET", "SAME_UPPER", "SAME_LOWER")


def _pair(value: Any, what: str) -> Pair:
    """Two ints from one or two; TypeError for anything else."""
    if isinstance(value, int):
        return value, value
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return int(value[0]), int(value[1])
    raise TypeError(f"{what} is an int or two, not {value!r}")


def _padding(value: Any) -> tuple[Pair, Sides]:
    """What is added on both sides of rows and columns, and what beyond on single sides."""
    if isinstance(value, (tuple, list)) and len(value) == 4:
        return margins(value)
    return _pair(value, "padding"), (0, 0, 0, 0)


class _Windowed(Layer):
    """What layers with a window have in common: kernel, stride and padding."""

    def _set_window(self, kernel_size: Any, stride: Any, padding: Any, pad_mode: str) -> None:
        if pad_mode not in PAD_MODES:
            raise ValueError(f"pad_mode is one of {', '.join(PAD_MODES)}, not {pad_mode!r}")
        self.kernel_size = _pair(kernel_size, "kernel_size")
        self.stride = _pair(stride, "stride")
        self.pad_mode = pad_mode
        self.padding, self.odd_padding = _padding(padding)
        if min(*self.kernel_size, *self.stride) < 1 or min(*self.padding, *self.odd_padding) < 0:
            raise ValueError("kernel and stride are positive, and padding is not negative")

    def _pad_for(self, x: Tensor) -> None:
        if x.ndim() != 4:
            raise ValueError(f"{type(self).__name__} takes (batch, channels, h, w), not {x.shape}")
        if self.pad_mode != "NOTSET":
            even, odd = get_padding_shape(self.pad_mode, x.shape[2:], self.kernel_size, self.stride)
            self.padding, self.odd_padding = (even[0], even[2]), (odd[0], odd[1], odd[2], odd[3])


class Conv2d(_Windowed):
    """Cross-correlation of (batch, channels, h, w) with W (nb_kernels, channels / group, kh, kw).

    W is from N(0, 2 / (channels / group kh kw + nb_kernels)), b zeros. The older
    ``Conv2d(in, out, kernel[, stride[, padding]])`` is understood, its ``in`` found out anew.
    ``padding``: an int, two, or four (top, bottom, left, right).
    """

    parameters = ("W", "b")

    def __init__(
        self, nb_kernels: int, kernel_size: Any, *args: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, group: int = 1, bias: bool = True, pad_mode: str = "NOTSET",
        activation: str = "NOTSET", **kwargs: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        unknown = set(kwargs) - {"cudnn_prefer", "workspace_MB_limit"}
        if unknown:
            raise TypeError(f"Conv2d knows no argument {sorted(unknown)[0]!r}")
        if args:
            nb_kernels, kernel_size = int(kernel_size), args[0]
            stride = args[1] if len(args) > 1 else stride
            padding = args[2] if len(args) > 2 else padding
        if _pair(dilation, "dilation") != (1, 1):
            raise ValueError(f"dilation is 1 only, not {dilation}")
        if activation not in ("NOTSET", "RELU"):
            raise ValueError(f"activation is 'NOTSET' or 'RELU', not {activation!r}")
        self._set_window(kernel_size, stride, padding, pad_mode)
        self.nb_kernels, self.group, self.bias = int(nb_kernels), int(group), bool(bias)
        self.activation = activation

    def initialize(self, x: Tensor) -> None:
        self._pad_for(x)
        self.in_channels = x.shape[1]
        if self.group < 1 or self.in_channels % self.group or self.nb_kernels % self.group:
            raise ValueError(
                f"{self.group} groups do not divide {self.in_channels} channels and "
                f"{self.nb_kernels} kernels"
            )
        shape = (self.nb_kernels, self.in_channels // self.group, *self.kernel_size)
        self.W = self._parameter(x, shape)
        self.W.gaussian(0.0, math.sqrt(2.0 / (math.prod(shape[1:]) + self.nb_kernels)))
        self.b = self._parameter(x, (self.nb_kernels,)) if self.bias else None

    def forward(self, x: Tensor) -> Tensor:
        self._pad_for(x)
        if x.shape[1] != self.in_channels:
            raise AssertionError(
                f"Conv2d was made for {self.in_channels} channels, not for {x.shape[1]}"
            )
        self.device_check(x, self.W, self.b)
        self.dtype_check(x, self.W, self.b)
        self.handle = singa_wrap.ConvHandle(
            x.data, self.kernel_size, self.stride, self.padding, self.in_channels,
            self.nb_kernels, self.bias, self.group,
        )  # fmt: skip
        y = autograd.conv2d(self.handle, x, self.W, self.b, self.odd_padding)
        return autograd.relu(y) if self.activation == "RELU" else y


class SeparableConv2d(Layer):
    """A convolution of each channel alone, then one of 1×1 across channels."""

    def __init__(
        self, nb_kernels: int, kernel_size: Any, *args: Any, stride: Any = 1, padding: Any = 0,
        bias: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if args:
            nb_kernels, kernel_size = int(kernel_size), args[0]
            stride = args[1] if len(args) > 1 else stride
            padding = args[2] if len(args) > 2 else padding
            bias = args[3] if len(args) > 3 else bias
        self.nb_kernels, self.kernel_size, self.bias = int(nb_kernels), kernel_size, bias
        self.stride, self.padding = stride, padding

    def initialize(self, x: Tensor) -> None:
        n = x.shape[1]
        self.depthwise_conv = Conv2d(
            n, self.kernel_size, stride=self.stride, padding=self.padding, group=n, bias=self.bias
        )
        self.point_conv = Conv2d(self.nb_kernels, 1, bias=self.bias)

    def forward(self, x: Tensor) -> Tensor:
        return self.point_conv(self.depthwise_conv(x))


class BatchNorm2d(Layer):
    """Normalization over all but the channels of (batch, channels, h, w); (batch, features) too.

    While training, ``running = (1 - momentum) running + momentum batch``, with the unbiased
    variance. The older ``BatchNorm2d(channels[, momentum])`` is understood.
    """

    parameters = ("scale", "bias")
    buffers = ("running_mean", "running_var")

    def __init__(self, *args: Any, momentum: float = 0.9) -> None:
        super().__init__()
        self.momentum = args[1] if len(args) > 1 else momentum

    def initialize(self, x: Tensor) -> None:
        self.channels = n = x.shape[1]
        self.scale, self.bias = self._parameter(x, (n,)), self._parameter(x, (n,))
        self.scale.set_value(1.0)
        self.running_mean, self.running_var = (
            Tensor((n,), x.device, x.dtype, requires_grad=False) for _ in range(2)
        )
        self.running_var.set_value(1.0)

    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] != self.channels:
            raise AssertionError(
                f"BatchNorm2d was made for {self.channels} channels, not for {x.shape[1]}"
            )
        state = self.scale, self.bias, self.running_mean, self.running_var
        self.device_check(x, *state)
        self.dtype_check(x, *state)
        self.handle = singa_wrap.BatchNormHandle(self.momentum, x.data)
        return autograd.batchnorm_2d(self.handle, x, *state)


class Pooling2d(_Windowed):
    """The largest of each window, or its average, in which padding does not count.

    ``stride`` is the kernel's size unless it is given; sizes are rounded down.
    """

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, is_max: bool = True,
        pad_mode: str = "NOTSET",
    ) -> None:  # fmt: skip
        super().__init__()
        stride = kernel_size if stride is None else stride
        self._set_window(kernel_size, stride, padding, pad_mode)
        self.is_max = bool(is_max)

    def forward(self, x: Tensor) -> Tensor:
        self._pad_for(x)
        self.handle = singa_wrap.PoolingHandle(
            x.data, self.kernel_size, self.stride, self.padding, self.is_max
        )
        return autograd.pooling_2d(self.handle, x, self.odd_padding)


class _Pool2d(Pooling2d):
    """A pooling whose class says what is taken of a window."""

    takes_largest: ClassVar[bool]

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, pad_mode: str = "NOTSET"
    ) -> None:
        super().__init__(kernel_size, stride, padding, self.takes_largest, pad_mode)


class _Pool1d(_Pool2d):
    """The same of rows."""

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, pad_mode: str = "NOTSET"
    ) -> None:
        kernel, step = ((1, n) if isinstance(n, int) else n for n in (kernel_size, stride))
        pad = (0, padding) if isinstance(padding, int) else padding
        super().__init__(kernel, step, pad, pad_mode)


class MaxPool2d(_Pool2d):
    """The largest of each window."""

    takes_largest = True


class AvgPool2d(_Pool2d):
    """The average of each window, in which padding does not count."""

    takes_largest = False


class MaxPool1d(_Pool1d):
    """The largest of each window of a row: of (batch, channels, 1, w)."""

    takes_largest = True


class AvgPool1d(_Pool1d):
    """The average of each window of a row: of (batch, channels, 1, w)."""

    takes_largest = False
