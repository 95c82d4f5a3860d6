"""Scaled losses on a GPU, under the older name."""

from __future__ import annotations

from ...amp._older_scaler import OlderGradScaler

__all__ = ["GradScaler"]


class GradScaler(OlderGradScaler):
    """Deprecated: ``torch.amp.GradScaler("cuda", ...)``."""

    _kind = "cuda"
