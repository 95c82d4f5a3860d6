"""In-place twins that take their arguments as a program writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tape.op import TENSOR


def twin(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Enter ``function`` as the in-place form ``name`` (which ends in ``_``)."""
    function.__name__ = function.__qualname__ = name
    setattr(TENSOR, name, function)
    return function
