"""Scaled losses on the CPU, under the older name."""

from __future__ import annotations

from ...amp._older_scaler import OlderGradScaler

__all__ = ["GradScaler"]


class GradScaler(OlderGradScaler):
    """Deprecated: ``torch.amp.GradScaler("cpu", ...)``."""

    _kind = "cpu"
