"""The convolution of sequences whose time comes first: (time, batch, channels)."""

from __future__ import annotations

from typing import Any

from ..tape.declare import general


def _vjp(F: Any, g: Any, need: Any, self: Any, weight: Any, bias: Any, pad: int) -> Any:
    settings = (1,), (pad,), (1,), False, (0,), 1
    images, kernels = F.permute(self, (1, 2, 0)), F.permute(weight, (2, 1, 0))
    g_images = F.permute(g, (1, 2, 0))
    shapes = tuple(images.shape), tuple(kernels.shape)
    by_input = F.convolution_input(g_images, kernels, shapes[0], *settings) if need[0] else None
    by_weight = F.convolution_weight(g_images, images, shapes[1], *settings) if need[1] else None
    return (
        None if by_input is None else F.permute(by_input, (2, 0, 1)),
        None if by_weight is None else F.permute(by_weight, (2, 1, 0)),
        F.sum(g, (0, 1), False) if need[2] else None,
    )


def _shape(x: Any, weight: Any, bias: Any, pad: int) -> Any:
    return (x.shape[0] + 2 * pad - weight.shape[0] + 1, x.shape[1], weight.shape[2]), x.dtype


conv_tbc = general(
    "conv_tbc_of",
    joint=_vjp,
    inputs=("self", "weight", "bias"),
    statics=("pad",),
    node="ConvTbcBackward0",
    shape=_shape,
)
