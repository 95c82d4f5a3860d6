"""Weights of convolutions in another memory format."""

from __future__ import annotations

from typing import Any

from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """``module`` with the weights of its 2-D convolutions, transposed ones too, in the format.

    ``torch.channels_last`` makes their results channels_last, whatever the format of their input.
    """
    return _convert(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """The same for 3-D convolutions, with ``torch.channels_last_3d``."""
    return _convert(module, (Conv3d, ConvTranspose3d), memory_format)


def _convert(module: Any, kinds: tuple[type, ...], memory_format: Any) -> Any:
    if isinstance(module, kinds):
        weight = module.weight.detach().clone()
        module.weight.data = weight.contiguous(memory_format=memory_format)
    for child in module.children():
        _convert(child, kinds, memory_format)
    return module
