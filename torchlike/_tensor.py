"""How checkpoints say that a tensor of a class of its own, or one with attributes, is made."""

from __future__ import annotations

from typing import Any

from functional.tensor import Tensor

from ._utils import _attributes
from .copying import typed


def _rebuild_from_type_v2(func: Any, new_type: Any, args: Any, state: Any) -> Any:
    """What ``func(*args)`` makes, as an instance of ``new_type`` with the attributes ``state``."""
    made = func(*args)
    if not isinstance(made, Tensor) or not issubclass(new_type, Tensor):
        raise TypeError(f"expected a tensor and a class of tensors, not {new_type!r}")
    own = getattr(new_type, "__setstate__", None) is not None
    return typed(made, new_type, state if own else _attributes(state))
