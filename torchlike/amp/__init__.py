"""Automatic mixed precision: operations in a smaller dtype, and losses scaled to suit it."""

from __future__ import annotations

from . import autocast_mode, grad_scaler
from .autocast_mode import (
    _enter_autocast,
    _exit_autocast,
    autocast,
    custom_bwd,
    custom_fwd,
    is_autocast_available,
)
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]
