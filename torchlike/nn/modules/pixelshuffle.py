"""Channels as pixels, and back."""

from __future__ import annotations

from typing import ClassVar

from functional import nn as F
from functional.tensor import Tensor

from .module import Module


class PixelShuffle(Module):
    """(*, C · r², H, W) to (*, C, H · r, W · r) (W. Shi et al., 2016)."""

    __constants__: ClassVar = ["upscale_factor"]
    upscale_factor: int

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Channels as pixels."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """The factor."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """(*, C, H · r, W · r) to (*, C · r², H, W)."""

    __constants__: ClassVar = ["downscale_factor"]
    downscale_factor: int

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Pixels as channels."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """The factor."""
        return f"downscale_factor={self.downscale_factor}"
