"""Convolution and pooling layers of one to three dimensions, channels first."""

from __future__ import annotations

from typing import Any

from ... import layers
from ..block import HybridBlock
from ..parameter import Parameter
from .basic import positive
from .containers import Activation

LAYOUTS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


def _layout(layout: str | None, count: int) -> None:
    if layout not in (None, LAYOUTS[count]):
        raise ValueError(f"layout must be {LAYOUTS[count]!r}, not {layout!r}")


class _Conv(HybridBlock):
    """Convolution of (N, C, ...): weight (channels, C / groups, *kernel_size), bias (channels,)."""

    count = 0
    bias: Parameter | None

    def __init__(
        self,
        channels: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        layout: str | None = None,
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
    ) -> None:
        super().__init__()
        positive(channels=channels, groups=groups)
        _layout(layout, self.count)
        self._kernel, self._groups = layers.sizes(kernel_size, self.count), groups
        self._steps = tuple(layers.sizes(v, self.count) for v in (strides, dilation, padding))
        self._channels = channels
        self.weight = Parameter(
            "weight", shape=self._weight_shape(in_channels), init=weight_initializer,
            allow_deferred_init=True,
        )  # fmt: skip
        self.bias = Parameter("bias", shape=channels, init=bias_initializer) if use_bias else None
        self.act = None if activation is None else Activation(activation)

    def _weight_shape(self, inputs: int) -> tuple[int, ...]:
        if inputs % self._groups:
            raise ValueError(f"{inputs} channels do not divide into {self._groups} groups")
        return (self._channels, inputs // self._groups, *self._kernel)

    def infer_shape(self, x: Any) -> None:
        """The weight's second size follows from the channels of the input."""
        self.weight.shape = self._weight_shape(x.shape[1])

    def forward(self, x: Any) -> Any:
        """Shape (N, channels, ...)."""
        stride, dilate, pad = self._steps
        out = layers.convolution(
            x, self.weight.data(), None if self.bias is None else self.bias.data(),
            stride=stride, dilate=dilate, pad=pad, num_group=self._groups,
        )  # fmt: skip
        return out if self.act is None else self.act(out)

    def __repr__(self) -> str:
        inputs = self.weight.shape[1] * self._groups or None  # type: ignore[index]
        return (
            f"{type(self).__name__}({inputs} -> {self._channels}, kernel_size={self._kernel}, "
            f"stride={self._steps[0]})"
        )


class Conv1D(_Conv):
    """Convolution of (N, C, W)."""

    count = 1


class Conv2D(_Conv):
    """Convolution of (N, C, H, W)."""

    count = 2


class Conv3D(_Conv):
    """Convolution of (N, C, D, H, W)."""

    count = 3


class _Pool(HybridBlock):
    """The largest value or the mean of each window; windows follow each other by ``strides``.

    Without ``strides`` they do not overlap; ``ceil_mode`` lets the last ones hang over.
    """

    count, kind = 0, "max"

    def __init__(
        self,
        pool_size: Any = 2,
        strides: Any = None,
        padding: Any = 0,
        layout: str | None = None,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        _layout(layout, self.count)
        self._settings: dict[str, Any] = {
            "kernel": layers.sizes(pool_size, self.count),
            "stride": layers.sizes(pool_size if strides is None else strides, self.count),
            "pad": layers.sizes(padding, self.count),
            "pool_type": self.kind,
            "pooling_convention": "full" if ceil_mode else "valid",
            "count_include_pad": count_include_pad,
        }

    def forward(self, x: Any) -> Any:
        """Shape (N, C, ...)."""
        return layers.pooling(x, **self._settings)

    def __repr__(self) -> str:
        size, stride, pad = (self._settings[k] for k in ("kernel", "stride", "pad"))
        return f"{type(self).__name__}(size={size}, stride={stride}, padding={pad})"


class _GlobalPool(HybridBlock):
    """The largest value or the mean of each channel: shape (N, C, 1, ...)."""

    count, kind = 0, "max"

    def __init__(self, layout: str | None = None) -> None:
        super().__init__()
        _layout(layout, self.count)

    def forward(self, x: Any) -> Any:
        """Shape (N, C, 1, ...)."""
        return layers.pooling(x, pool_type=self.kind, global_pool=True)


def _pool(base: Any, count: int, kind: str) -> Any:
    title = f"{'Global' if base is _GlobalPool else ''}{kind.title()}Pool{count}D"
    text = f"{'Largest value' if kind == 'max' else 'Mean'} of windows of {LAYOUTS[count]}."
    members = {"count": count, "kind": kind, "__doc__": text, "__module__": __name__}
    return type(title, (base,), members)


MaxPool1D, MaxPool2D, MaxPool3D = (_pool(_Pool, count, "max") for count in (1, 2, 3))
AvgPool1D, AvgPool2D, AvgPool3D = (_pool(_Pool, count, "avg") for count in (1, 2, 3))
GlobalMaxPool1D, GlobalMaxPool2D, GlobalMaxPool3D = (
    _pool(_GlobalPool, count, "max") for count in (1, 2, 3)
)
GlobalAvgPool1D, GlobalAvgPool2D, GlobalAvgPool3D = (
    _pool(_GlobalPool, count, "avg") for count in (1, 2, 3)
)
