"""The logistic function and its derivative in one kernel each."""

from __future__ import annotations

from .fused import fused
from .twins import twin

__all__ = ["sigmoid", "sigmoid_backward"]
_general = twin("elementwise")

sigmoid = fused("sigmoid", "T x", "z = T(1) / (T(1) + exp(-x));", _general.sigmoid)
sigmoid_backward = fused(
    "sigmoid_backward", "T g, T y", "z = g * y * (T(1) - y);", _general.sigmoid_backward
)
