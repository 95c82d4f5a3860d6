"""Sliding blocks as columns and back; rearranged channels."""

from __future__ import annotations

from math import prod
from typing import Any

from ..kernels.folding import fold_counts
from ..tape.declare import general


def _columns_shape(x: Any, kernel: Any, *rest: Any) -> Any:
    *lead, c, h, w = x.shape
    blocks = prod(fold_counts((h, w), kernel, *rest))
    return (*lead, c * prod(kernel), blocks), x.dtype


im2col = general(
    "im2col",
    lambda F, g, self_shape, kernel_size, dilation, padding, stride: F.col2im(
        g, tuple(self_shape[-2:]), kernel_size, dilation, padding, stride
    ),
    statics=("kernel_size", "dilation", "padding", "stride"),
    vmap="lead",
    shape=_columns_shape,
    node="Im2ColBackward0",
)
col2im = general(
    "col2im",
    lambda F, g, kernel_size, dilation, padding, stride: F.im2col(
        g, kernel_size, dilation, padding, stride
    ),
    statics=("output_size", "kernel_size", "dilation", "padding", "stride"),
    vmap="lead",
    shape=lambda x, size, kernel, *rest: (
        (*x.shape[:-2], x.shape[-2] // prod(kernel), *size),
        x.dtype,
    ),
    node="Col2ImBackward0",
)


def _shuffled(x: Any, r: int) -> Any:
    *lead, c, h, w = x.shape
    return (*lead, c // r**2, h * r, w * r), x.dtype


def _unshuffled(x: Any, r: int) -> Any:
    *lead, c, h, w = x.shape
    return (*lead, c * r * r, h // r, w // r), x.dtype


pixel_shuffle = general(
    "pixel_shuffle_of",
    lambda F, g, upscale_factor: F.pixel_unshuffle_of(g, upscale_factor),
    statics=("upscale_factor",),
    node="PixelShuffleBackward0",
    vmap="lead",
    shape=_shuffled,
)
pixel_unshuffle = general(
    "pixel_unshuffle_of",
    lambda F, g, downscale_factor: F.pixel_shuffle_of(g, downscale_factor),
    statics=("downscale_factor",),
    node="PixelUnshuffleBackward0",
    vmap="lead",
    shape=_unshuffled,
)


def _channel_vmap(F: Any, flags: Any, x: Any, groups: int) -> Any:
    return F.unflatten(F.channel_shuffle_of(F.flatten(x, 0, 1), groups), 0, tuple(x.shape[:2]))


channel_shuffle = general(
    "channel_shuffle_of",
    lambda F, g, groups: F.channel_shuffle_of(g, g.shape[1] // groups),
    statics=("groups",),
    node="ChannelShuffleBackward0",
    vmap=_channel_vmap,
    shape=lambda x, groups: (x.shape, x.dtype),
)
