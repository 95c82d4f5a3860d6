"""Sliding blocks, shuffled pixels and channels as functions."""

from __future__ import annotations

from math import prod
from typing import Any

from . import dtypes
from .kernels.folding import fold_counts
from .ops import folding as ops
from .ops.pooling import FLOATING, refuse_dtypes
from .tape.op import public
from .tensor import Tensor

_DTYPES = (*FLOATING, dtypes.complex64, dtypes.complex128, dtypes.bool_)


def _pair(value: Any, name: str) -> tuple[int, int]:
    items = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(items) == 1:
        items *= 2
    if len(items) != 2:
        raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(items)}")
    return int(items[0]), int(items[1])


def _settings(kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> Any:
    """kernel, dilation, padding and stride as pairs, checked."""
    kernel = _pair(kernel_size, "kernel_size")
    spread, pad = _pair(dilation, "dilation"), _pair(padding, "padding")
    step = _pair(stride, "stride")
    for title, name, pair in (
        ("kernel size", "kernel", kernel), ("dilation", "dilation", spread)
    ):  # fmt: skip
        if min(pair) <= 0:
            raise RuntimeError(
                f"{title} should be greater than zero, but got {name}_height: {pair[0]} "
                f"{name}_width: {pair[1]}"
            )
    if min(pad) < 0:
        raise RuntimeError(
            f"padding should be non-negative, but got pad_height: {pad[0]} pad_width: {pad[1]}"
        )
    if min(step) <= 0:
        raise RuntimeError(
            f"stride should be greater than zero, but got stride_height: {step[0]} stride_width: "
            f"{step[1]}"
        )
    return kernel, spread, pad, step


def unfold(
    input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Sliding blocks of images (N, C, H, W) or (C, H, W) as columns (N, C · kernel, blocks)."""
    settings = _settings(kernel_size, dilation, padding, stride)
    if input.ndim < 3:
        low, high = -input.ndim, input.ndim - 1
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{low}, {high}], but got 2)"
        )
    if input.ndim not in (3, 4) or 0 in input.shape[-3:]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero "
            f"dimensions for input, but got: {list(input.shape)}"
        )
    size = (input.shape[-2], input.shape[-1])
    kernel, spread, pad, _ = settings
    counts = fold_counts(size, *settings)
    if min(counts) < 1:
        raise RuntimeError(
            f"Given input with spatial size {size}, kernel_size={kernel}, dilation={spread}, "
            f"padding={pad}, calculated shape of the array of sliding blocks as {counts}, but its "
            "components must be at least one."
        )
    refuse_dtypes(input, "im2col_out_cpu", *_DTYPES)
    found: Tensor = ops.im2col(input, *settings)
    return found


def _check_blocks(x: Tensor, size: Any, settings: Any) -> None:
    kernel, spread, pad, step = settings
    if x.ndim not in (2, 3) or 0 in x.shape[-2:]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(x.shape)}"
        )
    if x.shape[-2] % prod(kernel):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            f"but got input.size(1)={x.shape[-2]} and kernel_size={kernel}."
        )
    rows, columns = fold_counts(size, *settings)
    if x.shape[-1] != rows * columns:
        raise RuntimeError(
            f"Given output_size={size}, kernel_size={kernel}, dilation={spread}, padding={pad}, "
            f"stride={step}, expected size of input's dimension 2 to match the calculated number "
            f"of sliding blocks {rows} * {columns} = {rows * columns}, but got "
            f"input.size(2)={x.shape[-1]}."
        )
    if min(rows, columns) < 1:
        raise RuntimeError(
            f"Given output_size={size}, kernel_size={kernel}, dilation={spread}, padding={pad}, "
            f"stride={step}, calculated shape of the array of sliding blocks as ({rows}, "
            f"{columns}), which is too small (non-positive)"
        )


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
    stride: Any = 1,
) -> Tensor:  # fmt: skip
    """Columns (N, C · kernel, blocks) added up to images (N, C, *output_size)."""
    for name, value in (("output_size", output_size), ("kernel_size", kernel_size)):
        if isinstance(value, (tuple, list)) and len(value) == 1:
            raise RuntimeError(f"It is expected {name} equals to 2, but got size 1")
    size = _pair(output_size, "output_size")
    settings = _settings(kernel_size, dilation, padding, stride)
    _check_blocks(input, size, settings)
    refuse_dtypes(input, "col2im_out_cpu", *_DTYPES)
    found: Tensor = ops.col2im(input, size, *settings)
    return found


# --- shuffles -------------------------------------------------------------------------------------


def _check_rank(x: Tensor, name: str) -> None:
    if x.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {x.ndim} "
            "dimension(s)"
        )


@public
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """(*, C · r², H, W) to (*, C, H · r, W · r)."""
    _check_rank(input, "pixel_shuffle")
    if upscale_factor <= 0:
        raise RuntimeError(
            f"pixel_shuffle expects a positive upscale_factor, but got {upscale_factor}"
        )
    if input.shape[-3] % upscale_factor**2:
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={input.shape[-3]} is not divisible by "
            f"{upscale_factor**2}"
        )
    found: Tensor = ops.pixel_shuffle(input, upscale_factor)
    return found


@public
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """(*, C, H · r, W · r) to (*, C · r², H, W)."""
    _check_rank(input, "pixel_unshuffle")
    if downscale_factor <= 0:
        raise RuntimeError(
            f"pixel_unshuffle expects a positive downscale_factor, but got {downscale_factor}"
        )
    for name, dim in (("height", -2), ("width", -1)):
        if input.shape[dim] % downscale_factor:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({dim})={input.shape[dim]} is not divisible by {downscale_factor}"
            )
    found: Tensor = ops.pixel_unshuffle(input, downscale_factor)
    return found


@public
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """(N, C, *) with the channels of all groups in turn."""
    if input.ndim <= 2:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes "
            f"{list(input.shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if input.shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {input.shape[1]} channels and "
            f"{groups} groups."
        )
    found: Tensor = ops.channel_shuffle(input, groups)
    return found


@public
def native_channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """``channel_shuffle``."""
    return channel_shuffle(input, groups)
