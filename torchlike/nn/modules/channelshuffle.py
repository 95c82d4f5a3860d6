"""Channels of several groups in turn."""

from __future__ import annotations

from typing import ClassVar

from functional import nn as F
from functional.tensor import Tensor

from .module import Module


class ChannelShuffle(Module):
    """(N, C, *) with the channels of ``groups`` groups in turn (X. Zhang et al., 2018)."""

    __constants__: ClassVar = ["groups"]
    groups: int

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """The channels rearranged."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """The number of groups."""
        return f"groups={self.groups}"
