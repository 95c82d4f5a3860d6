"""A GPU's threads are its own: all of a kernel's work is done in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

LEAD, SHARED, LONG = 0.0, 1 << 62, 1 << 62


def workers() -> int:
    """One: the caller."""
    return 1


def spread(count: int, parts: int, work: Callable[[int, int], Any], lead: float = 0.0) -> list[Any]:
    """Calls work(0, count)."""
    return [work(0, count)]


def in_chunks(count: int, size: int, work: Callable[[int, int], Any], part: int = 0) -> list[Any]:
    """Calls work(0, count)."""
    return [work(0, count)]


def in_cache(count: int, work: Callable[[int, int], Any]) -> None:
    """Calls work(0, count)."""
    work(0, count)


def alike(x: Any, y: Any) -> bool:
    """No: there is nothing to share."""
    return False


def in_parts(arrays: int) -> Any:
    """The kernel itself."""
    return lambda kernel: kernel
