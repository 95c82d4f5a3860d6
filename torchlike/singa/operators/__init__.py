"""SINGA's operators, each made of our operations; by family. ``NAMES`` has them all."""

from __future__ import annotations

from . import (
    arithmetic,
    images,
    joining,
    logic,
    losses,
    pointwise,
    raw,
    recurrent,
    reductions,
    shapes,
)
from .making import NAMES
