"""The CPU, by the names that other devices' namespaces have too."""

from __future__ import annotations

import contextlib
from typing import Any


class Stream:
    """Work in order; everything on the CPU is."""

    def __init__(self, priority: int = -1) -> None:
        pass

    def synchronize(self) -> None:
        """Wait for the work: it is done."""

    def wait_stream(self, stream: Any) -> None:
        """Wait for another stream: it is done."""


_STREAM = Stream()


def is_available() -> bool:
    """True."""
    return True


def is_initialized() -> bool:
    """True."""
    return True


def device_count() -> int:
    """1."""
    return 1


def current_device() -> str:
    """``"cpu"``."""
    return "cpu"


def set_device(device: Any) -> None:
    """There is only one device."""


def current_stream(device: Any = None) -> Stream:
    """The one stream."""
    return _STREAM


def stream(stream: Any) -> Any:
    """A block in which a stream is used; it changes nothing."""
    return contextlib.nullcontext()


def synchronize(device: Any = None) -> None:
    """Wait for the work: it is done."""
