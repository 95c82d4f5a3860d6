"""Anomaly detection: where in the forward pass an error of the backward pass comes from."""

from __future__ import annotations

import os
from typing import Any

from functional.blame import warn
from functional.modes import ANOMALY, enter_slow, leave_slow

__all__ = ["detect_anomaly", "set_detect_anomaly"]

_OURS = tuple(
    os.path.join(root, name) + os.sep
    for root in [os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))]
    for name in ("functional", "torchlike")
)


def _stack() -> str:
    """The calls that led to an operation, without those inside this library."""
    import traceback

    frames = traceback.extract_stack()
    while frames and os.path.abspath(frames[-1].filename).startswith(_OURS):
        frames.pop()
    return "".join(traceback.format_list(frames))


def _switch(on: bool, check_nan: bool) -> None:
    if on != ANOMALY.on:
        (enter_slow if on else leave_slow)()  # recorded operations must not take the hot path
    ANOMALY.on, ANOMALY.check_nan, ANOMALY.forward = on, check_nan, _stack


class detect_anomaly:
    """While on, an error in a backward pass warns with the forward call it belongs to.

    With ``check_nan`` a gradient that is NaN is an error too. For debugging: slow.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        self.before: list[tuple[bool, bool]] = []
        warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
        )

    def __enter__(self) -> None:
        self.before.append((ANOMALY.on, ANOMALY.check_nan))
        _switch(True, self.check_nan)

    def __exit__(self, *exc: Any) -> None:
        _switch(*self.before.pop())


class set_detect_anomaly:
    """Set anomaly detection on or off: at once, and until the block ends where it has one."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.before = (ANOMALY.on, ANOMALY.check_nan)
        _switch(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        _switch(*self.before)
