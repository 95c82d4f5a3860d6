"""Convolution, batch normalization and pooling of images (batch, channels, height, width)."""

from __future__ import annotations

from typing import Any

import numpy as np

import torchlike as torch

from ..operator import Recorded, training
from ..tensor import Tensor
from .handles import BatchNormHandle, ConvHandle, PoolingHandle
from .making import ints, operation, public

F = torch.nn.functional
_EPSILON = 1e-5  # added to the variance


def _padded(x: Any, handle: Any, odd_padding: Any, who: str) -> tuple[Any, tuple[int, ...]]:
    """x, and what is to be padded beyond the handle's even margins: (left, right, top, bottom)."""
    if x.ndim != 4:
        raise AssertionError(
            f"{who} takes images (batch, channels, height, width), not {tuple(x.shape)}"
        )
    top, bottom, left, right = (a + b for a, b in zip(handle.odd_padding, odd_padding, strict=True))
    return x, (left, right, top, bottom)


@public
class _Conv2d(Recorded):
    """Cross-correlation of images with filters W (filters, channels / groups, height, width)."""

    def __init__(self, handle: ConvHandle, odd_padding: Any = (0, 0, 0, 0)) -> None:
        super().__init__()
        self.handle, self.odd_padding = handle, tuple(odd_padding)

    def compute(self, x: Any, W: Any, b: Any = None) -> Any:
        handle = self.handle
        x, odd = _padded(x, handle, self.odd_padding, "conv2d")
        x = F.pad(x, odd) if any(odd) else x
        return F.conv2d(x, W, b, handle.stride, handle.padding, 1, handle.group)


@public
def conv2d(
    handle: ConvHandle,
    x: Tensor,
    W: Tensor,
    b: Tensor | None = None,
    odd_padding: Any = (0, 0, 0, 0),
) -> Tensor:
    """Cross-correlation of images with W; ``odd_padding`` is (top, bottom, left, right)."""
    operands = (x, W) if b is None else (x, W, b)
    return _Conv2d(handle, odd_padding)(*operands)[0]


@public
class _BatchNorm2d(Recorded):
    """(x - mean) / sqrt(variance + 1e-5) scale + bias, by channels.

    When training, of the batch's mean and biased variance, which the running ones then follow (the
    variance unbiased, n / (n - 1)); else of the running ones.
    """

    def __init__(
        self, handle: BatchNormHandle, running_mean: Tensor, running_var: Tensor,
        name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(name)
        self.handle, self.running_mean, self.running_var = handle, running_mean, running_var

    def _record(self, operands: list[Any]) -> tuple[Any, ...]:
        # ``compute`` may run again for ``backward``: the statistics move only once
        self._training = training()
        self._running: Any = self.running_mean.core.detach(), self.running_var.core.detach()
        try:
            return super()._record(operands)
        finally:
            if self._training:
                self._running = None, None

    def compute(self, x: Any, scale: Any, bias: Any) -> Any:
        scale, bias, running = scale.reshape(-1), bias.reshape(-1), self._running
        if not self._training:
            running = [r.to(x.dtype) for r in running]
        return F.batch_norm(
            x, *running, scale, bias, self._training, self.handle.momentum, _EPSILON
        )


@public
def batchnorm_2d(
    handle: BatchNormHandle,
    x: Tensor,
    scale: Tensor,
    bias: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
) -> Tensor:
    """x normalized by channels, by the batch's statistics when training, else the running ones."""
    return _BatchNorm2d(handle, running_mean, running_var)(x, scale, bias)[0]


@public
class _Pooling2d(Recorded):
    """The maximum or the mean of each window; margins belong to no window's mean or maximum."""

    def __init__(self, handle: PoolingHandle, odd_padding: Any = (0, 0, 0, 0)) -> None:
        super().__init__()
        self.handle, self.odd_padding = handle, tuple(odd_padding)

    def compute(self, x: Any) -> Any:
        handle = self.handle
        x, odd = _padded(x, handle, self.odd_padding, "pooling_2d")
        wide = handle.pad_h * 2 > handle.kernel_h or handle.pad_w * 2 > handle.kernel_w
        if not any(odd) and not wide:
            return self._pooled(x)
        (left, right, top, bottom), h, w = odd, handle.pad_h, handle.pad_w
        return self._uneven(x, (left + w, right + w, top + h, bottom + h))

    def _pooled(self, x: Any) -> Any:
        handle = self.handle
        window = handle.kernel, handle.stride, handle.padding
        if handle.is_max_pooling:
            return F.max_pool2d(x, *window)
        return F.avg_pool2d(x, *window, count_include_pad=False)

    def _uneven(self, x: Any, margin: tuple[int, ...]) -> Any:
        window = self.handle.kernel, self.handle.stride
        if self.handle.is_max_pooling:
            return F.max_pool2d(F.pad(x, margin, value=float("-inf")), *window)
        inside = F.avg_pool2d(F.pad(torch.ones_like(x[:1, :1]), margin), *window)
        # a window of nothing but margin has the mean 0
        return F.avg_pool2d(F.pad(x, margin), *window) / torch.where(inside > 0, inside, 1.0)


@public
def pooling_2d(handle: PoolingHandle, x: Tensor, odd_padding: Any = (0, 0, 0, 0)) -> Tensor:
    """The maximum or the mean of each window; ``odd_padding`` is (top, bottom, left, right)."""
    return _Pooling2d(handle, odd_padding)(x)[0]


@operation("GlobalAveragePool")
def globalaveragepool(x: Any, data_format: str = "channels_first") -> Any:
    """The mean over height and width, which become 1: axes 2, 3, or 1, 2 if channels are last."""
    axes = range(2, x.ndim) if data_format == "channels_first" else range(1, x.ndim - 1)
    return x.mean(list(axes), keepdim=True)


@operation("UpSample")
def upsample(x: Any, mode: str, scales: Any) -> Any:
    """Each element as often, along each axis, as ``scales`` says; the mode is ``nearest``."""
    mode = mode.decode() if isinstance(mode, bytes) else mode
    factors = ints(scales)
    if mode.lower() != "nearest":
        raise NotImplementedError(f"upsample: the mode is nearest, not {mode!r}")
    if len(factors) != x.ndim or min(factors) < 1:
        raise AssertionError(f"upsample: scales {factors} do not fit {tuple(x.shape)}")
    for axis, factor in enumerate(factors):
        x = x if factor == 1 else torch.repeat_interleave(x, factor, axis)
    return x


_MODES = {"constant", "reflect", "edge"}


@operation("Pad")
def pad(x: Any, mode: str, pads: Any, constant: float = 0.0) -> Any:
    """Margins: ``pads`` has the sizes before each axis, then those after.

    They hold a ``constant``, the elements in reverse (``reflect``), or the outermost (``edge``).
    """
    mode = mode.decode() if isinstance(mode, bytes) else mode
    widths = ints(pads)
    if len(widths) != 2 * x.ndim or mode not in _MODES:
        raise AssertionError(f"pad: {mode!r} with {widths} does not fit {tuple(x.shape)}")
    before_after = list(zip(widths[: x.ndim], widths[x.ndim :], strict=True))
    if mode == "constant":
        return F.pad(x, [n for both in before_after[::-1] for n in both], value=constant)
    for axis, both in enumerate(before_after):
        if any(both):
            order = np.pad(np.arange(x.shape[axis]), both, mode=mode)
            x = torch.index_select(x, axis, torch.from_numpy(order).to(x.device))
    return x
