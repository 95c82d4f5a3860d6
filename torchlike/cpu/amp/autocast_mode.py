"""Autocast for the CPU, under its older name."""

from __future__ import annotations

import warnings
from typing import Any

from functional import dtypes

from ... import amp

__all__ = ["autocast"]


class autocast(amp.autocast):
    """Deprecated: ``torch.amp.autocast("cpu", ...)``."""

    def __init__(
        self, enabled: bool = True, dtype: Any = dtypes.bfloat16, cache_enabled: bool = True
    ) -> None:
        warnings.warn(
            "`torch.cpu.amp.autocast(args...)` is deprecated. Please use "
            "`torch.amp.autocast('cpu', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)
