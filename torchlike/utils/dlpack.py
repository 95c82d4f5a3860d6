"""Exchange of memory with other libraries, by DLPack capsules."""

from __future__ import annotations

from functional.ops.exchange import DLDeviceType, from_dlpack, to_dlpack

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]
