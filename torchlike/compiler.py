"""Whether the program is being compiled: it never is."""

from __future__ import annotations

from typing import Any


def is_compiling() -> bool:
    """False."""
    return False


def is_dynamo_compiling() -> bool:
    """False."""
    return False


def is_exporting() -> bool:
    """False."""
    return False


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Mark a function as not to be compiled: the function itself, or a decorator."""
    return (lambda f: f) if fn is None else fn
