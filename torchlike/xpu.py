"""Intel's GPUs: there are none."""

from __future__ import annotations

from typing import Any

from functional import devices


def is_available() -> bool:
    """Whether there is a device."""
    return device_count() > 0


def device_count() -> int:
    """The number of devices."""
    return devices.count("xpu")


def is_initialized() -> bool:
    """Whether a device is in use."""
    return False


def empty_cache() -> None:
    """Give unused memory back: there is none."""


def memory_allocated(device: Any = None) -> int:
    """Bytes that tensors occupy."""
    return 0


def manual_seed(seed: int) -> None:
    """Seed the device's generator, if there is one."""
    int(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all devices."""
    int(seed)


def current_device() -> int:
    """The index of the device in use; AssertionError where there is none."""
    raise devices.absent("xpu")


def get_device_name(device: Any = None) -> str:
    """The name of a device; AssertionError where there is none."""
    raise devices.absent("xpu")


def synchronize(device: Any = None) -> None:
    """Wait for the device; AssertionError where there is none."""
    raise devices.absent("xpu")
