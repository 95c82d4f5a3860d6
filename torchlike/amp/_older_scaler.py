"""``GradScaler`` under its older names, one for each kind of device."""

from __future__ import annotations

import warnings

from .grad_scaler import GradScaler


class OlderGradScaler(GradScaler):
    """Deprecated: ``torch.amp.GradScaler(device, ...)``, the device being the class's."""

    _kind = ""

    def __init__(
        self,
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        warnings.warn(
            f"`torch.{self._kind}.amp.GradScaler(args...)` is deprecated. Please use "
            f"`torch.amp.GradScaler('{self._kind}', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(
            self._kind, init_scale, growth_factor, backoff_factor, growth_interval, enabled
        )
