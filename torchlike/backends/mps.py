"""Apple's Metal."""

from __future__ import annotations

from functional import devices


def is_built() -> bool:
    """Whether there is support for Metal."""
    return devices.count("mps") > 0


def is_available() -> bool:
    """Whether there is a device."""
    return devices.count("mps") > 0
