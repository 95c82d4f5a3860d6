"""Warnings that point at the program's own line, however deep in the library they arise."""

from __future__ import annotations

import os
import sys
import warnings

_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OURS = tuple(os.path.join(_ROOT, name) + os.sep for name in ("functional", "torchlike"))


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn as if the nearest caller outside this library had."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(_OURS):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)
