"""Activations in one kernel each, where the general ones take several passes over memory."""

from __future__ import annotations

from .fused import fused
from .twins import twin

__all__ = ["mish", "silu", "silu_backward"]
_general = {name: getattr(twin("activation"), name) for name in __all__}


silu = fused("silu", "T x", "z = x / (T(1) + exp(-x));", _general["silu"])
silu_backward = fused(
    "silu_backward",
    "T g, T x",
    "T s = T(1) / (T(1) + exp(-x)); z = g * s * (T(1) + x * (T(1) - s));",
    _general["silu_backward"],
)
mish = fused("mish", "T x", "z = x * tanh(log1p(exp(x < T(20) ? x : T(20))));", _general["mish"])
