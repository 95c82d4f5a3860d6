"""Warnings about what SINGA keeps for old programs."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any


def deprecated(instead: str) -> Callable[[Any], Any]:
    """Make a function give a DeprecationWarning that says what to use ``instead``."""

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def warns(*args: Any, **kwargs: Any) -> Any:
            text = f"{function.__name__} is deprecated: use {instead}"
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            return function(*args, **kwargs)

        return warns

    return decorate
