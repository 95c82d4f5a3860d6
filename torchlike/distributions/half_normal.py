"""The half-normal distribution."""

from __future__ import annotations

import math
from typing import ClassVar

from ._folded import Folded
from .normal import Normal

__all__ = ["HalfNormal"]


class HalfNormal(Folded):
    """|x| with x normal of mean 0 and standard deviation ``scale``."""

    _base = Normal
    _fields: ClassVar = {}

    mean = property(lambda self: self.scale * math.sqrt(2 / math.pi))
    variance = property(lambda self: self.scale.pow(2) * (1 - 2 / math.pi))
