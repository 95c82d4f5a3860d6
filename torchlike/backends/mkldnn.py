"""oneDNN: absent; its settings are kept."""

from __future__ import annotations

from typing import Any

from ._flags import become_settings, flags_set


def is_available() -> bool:
    """Whether oneDNN is there."""
    return False


def flags(enabled: bool = False, deterministic: bool = False, **other: Any) -> Any:
    """Other settings for the length of a block."""
    return flags_set(_values, {"enabled": enabled, "deterministic": deterministic})


_values = become_settings(__name__, {"enabled": True, "deterministic": False}, "mkldnn")
