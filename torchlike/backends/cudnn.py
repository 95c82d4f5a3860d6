"""cuDNN: absent; its settings are kept."""

from __future__ import annotations

from typing import Any

from ._flags import become_settings, flags_set

benchmark_limit = None
fp32_precision = "none"


def is_available() -> bool:
    """Whether cuDNN is there."""
    return False


def version() -> int | None:
    """Its version; None if it is absent."""
    return None


def is_acceptable(tensor: Any) -> bool:
    """Whether it could compute with a tensor."""
    return False


def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int | None = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> Any:
    """Other settings for the length of a block."""
    wanted = {"enabled": enabled, "benchmark": benchmark, "deterministic": deterministic}
    return flags_set(_values, {**wanted, "allow_tf32": allow_tf32})


_values = become_settings(
    __name__,
    {"enabled": True, "benchmark": False, "deterministic": False, "allow_tf32": True},
    "cudnn",
)
