"""Apple's GPUs: there are none."""

from __future__ import annotations

from functional import devices


def _absent(what: str) -> RuntimeError:
    return RuntimeError(f"Cannot execute {what}() without MPS backend.")


def is_available() -> bool:
    """Whether there is a device."""
    return device_count() > 0


def device_count() -> int:
    """The number of devices."""
    return devices.count("mps")


def synchronize() -> None:
    """Wait for the device; RuntimeError where there is none."""
    raise _absent("deviceSynchronize")


def empty_cache() -> None:
    """Give unused memory back; RuntimeError where there is no device."""
    raise _absent("emptyCache")


def current_allocated_memory() -> int:
    """Bytes that tensors occupy; RuntimeError where there is no device."""
    raise _absent("getCurrentAllocatedMemory")


def manual_seed(seed: int) -> None:
    """Seed the device's generator, if there is one."""
    int(seed)


def seed() -> None:
    """Seed the device's generator; RuntimeError where there is no device."""
    raise _absent("getDefaultGenerator")
