"""Between the host and the devices of CuPy, which is imported when it is first asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import ndarray

from ..devices import device as Device

__all__ = ["move"]


def move(x: Any, device: Device, origin: Device | None = None) -> Any:
    """A copy of an array on another device, in the same order in memory."""
    from .layout import kept_strides, with_strides

    strides = kept_strides(x)
    if device.type == "cpu":
        return with_strides(x.copy() if isinstance(x, ndarray) else x.get(), strides)
    import cupy

    from .cupy.on_layout import empty

    with cupy.cuda.Device(device.index or 0):
        if not isinstance(x, ndarray):
            out = empty(x.shape, strides, x.dtype)
            out[...] = x if x.device.id == (device.index or 0) else cupy.asarray(x.get())
            return out
        dense = np.ascontiguousarray(x).reshape(x.shape)
        found = cupy.asarray(dense)
        if strides == found.strides:
            return found
        out = empty(x.shape, strides, x.dtype)
        if x.size:
            out[...] = found
        return out
