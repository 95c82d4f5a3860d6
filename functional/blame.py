"""Warnings that point at the program's own line, however deep in the library they arise."""

from __future__ import annotations

import os
import sys
import warnings

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OURS = tuple(os.path.join(_ROOT, name) + os.sep for name in ("functional", "torchlike"))


ALWAYS = False  # do warnings that programs see once come every time?
_seen: set[str] = set()


def warn_once(message: str, kind: str | None = None) -> None:
    """``warn``, but each text (or each kind of text) only once in a process."""
    kind = kind or message
    if ALWAYS or kind not in _seen:
        _seen.add(kind)
        warn(message)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn as if the nearest caller outside this library had."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(_OURS):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)
