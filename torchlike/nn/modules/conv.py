"""Convolution layers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar

from functional import nn as F
from functional.ops.create import empty
from functional.tensor import Tensor

from .. import init
from ..parameter import Parameter, UninitializedParameter
from .lazy import LazyModuleMixin
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
    is_transposed = False
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
        output_padding: Any = 0,
    ) -> None:
        super().__init__()
        n = self.n
        stride = several(stride, n)
        _check((in_channels, out_channels), stride, padding, groups, padding_mode)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride = several(kernel_size, n), stride
        self.padding = padding if isinstance(padding, str) else several(padding, n)
        self.dilation, self.transposed = several(dilation, n), type(self).is_transposed
        self.output_padding, self.groups = several(output_padding, n), groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._margins()
        where = {"device": device, "dtype": dtype}
        self.weight = Parameter(empty(self._weight_shape(), **where))
        if bias:
            self.bias = Parameter(empty(out_channels, **where))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _weight_shape(self) -> tuple[int, ...]:
        first, second = self.out_channels, self.in_channels
        if self.transposed:
            first, second = second, first
        return (first, second // self.groups, *self.kernel_size)

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
            padded = F.pad(input, self._reversed_padding_repeated_twice, mode=d["padding_mode"])
            return type(self).function(
                padded, weight, bias, d["stride"], (0,) * self.n, d["dilation"], d["groups"]
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
        if self.output_padding != (0,) * len(self.output_padding):
            text += f", output_padding={self.output_padding}"
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


class _ConvTransposeNd(_ConvNd):
    is_transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            name = type(self).__name__
            raise ValueError(f'Only "zeros" padding mode is supported for {name}')
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
            padding_mode, device, dtype, output_padding,
        )  # fmt: skip

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        """The transposed convolution; ``output_size`` chooses among those the stride allows."""
        if self.padding_mode != "zeros":
            name = type(self).__name__
            raise ValueError(f"Only `zeros` padding mode is supported for {name}")
        output_padding = self._output_padding(input, output_size)
        result: Tensor = type(self).function(
            input, self.weight, self.bias, self.stride, self.padding, output_padding, self.groups,
            self.dilation,
        )  # fmt: skip
        return result

    def _output_padding(self, input: Tensor, output_size: Any) -> Any:
        """How much to add on one side for a result of ``output_size``."""
        if output_size is None:
            return self.output_padding
        n = self.n
        lead = 2 if input.ndim == n + 2 else 1
        if len(output_size) == lead + n:
            output_size = output_size[lead:]
        if len(output_size) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {input.ndim}D input, output_size must have {n} or "
                f"{lead + n} elements (got {len(output_size)})"
            )
        settings = zip(
            input.shape[lead:], self.stride, self.padding, self.dilation, self.kernel_size,
            strict=True,
        )  # fmt: skip
        least = [(m - 1) * s - 2 * p + d * (k - 1) + 1 for m, s, p, d, k in settings]
        most = [m + s - 1 for m, s in zip(least, self.stride, strict=True)]
        if any(not a <= s <= b for s, a, b in zip(output_size, least, most, strict=True)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {least} "
                f"to {most} (for an input of {input.shape[2:]})"
            )
        return [s - a for s, a in zip(output_size, least, strict=True)]


class ConvTranspose1d(_ConvTransposeNd):
    """The transpose of a convolution over one dimension; see ConvTranspose2d."""

    n, function = 1, staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """The transpose of a convolution over two dimensions: (N, C, H, W) or (C, H, W).

    Weight is (in_channels, out_channels / groups, *kernel_size).
    """

    n, function = 2, staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """The transpose of a convolution over three dimensions; see ConvTranspose2d."""

    n, function = 3, staticmethod(F.conv_transpose3d)


# --- lazy -----------------------------------------------------------------------------------------


class _LazyConvXdMixin(LazyModuleMixin):
    n: int
    groups: int
    in_channels: int
    out_channels: int
    weight: Any
    bias: Any

    def __init__(
        self, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self._begin(
            out_channels, bias, {"device": device, "dtype": dtype}, kernel_size, stride, padding,
            dilation, groups, False, padding_mode,
        )  # fmt: skip

    def _begin(self, out_channels: int, bias: bool, where: Any, *settings: Any) -> None:
        super().__init__(0, 0, *settings, **where)
        self.weight = UninitializedParameter(**where)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(**where)

    def reset_parameters(self) -> None:
        """Draw new starting values, once there is something to draw."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Take the number of channels from ``input``, and make the parameters."""
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._get_in_channels(input)
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        self.weight.materialize(self._weight_shape())  # type: ignore[attr-defined]
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()

    def _get_in_channels(self, input: Tensor) -> int:
        n = self.n
        if input.ndim not in (n + 1, n + 2):
            raise RuntimeError(
                f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        return int(input.shape[1] if input.ndim == n + 2 else input.shape[0])


class _LazyConvTransposeXdMixin(_LazyConvXdMixin):
    def __init__(
        self, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1,
        padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self._begin(
            out_channels, bias, {"device": device, "dtype": dtype}, kernel_size, stride, padding,
            output_padding, groups, False, dilation, padding_mode,
        )  # fmt: skip


class LazyConv1d(_LazyConvXdMixin, Conv1d):  # type: ignore[misc]
    """A Conv1d that takes ``in_channels`` from its first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConvXdMixin, Conv2d):  # type: ignore[misc]
    """A Conv2d that takes ``in_channels`` from its first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConvXdMixin, Conv3d):  # type: ignore[misc]
    """A Conv3d that takes ``in_channels`` from its first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTransposeXdMixin, ConvTranspose1d):  # type: ignore[misc]
    """A ConvTranspose1d that takes ``in_channels`` from its first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTransposeXdMixin, ConvTranspose2d):  # type: ignore[misc]
    """A ConvTranspose2d that takes ``in_channels`` from its first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTransposeXdMixin, ConvTranspose3d):  # type: ignore[misc]
    """A ConvTranspose3d that takes ``in_channels`` from its first input."""

    cls_to_become = ConvTranspose3d
