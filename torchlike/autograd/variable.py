"""The name tensors that record had before tensors did it themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from functional.blame import warn
from functional.modes import MODE
from functional.tensor import Tensor

__all__ = ["Variable"]


class _VariableMeta(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, Tensor)


class _Engine:
    """The engine, as libraries that synchronize gradients know it."""

    def queue_callback(self, callback: Callable[[], None]) -> None:
        """Have ``callback()`` called when the backward pass that is running has ended."""
        if MODE.task is None:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        MODE.task.callbacks.append(callback)


class Variable(metaclass=_VariableMeta):
    """``Variable(tensor, requires_grad)`` is a tensor over the same memory."""

    _execution_engine: ClassVar[_Engine] = _Engine()

    def __new__(cls, data: Tensor, requires_grad: bool = False, volatile: Any = None) -> Any:
        if volatile is not None:
            warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
        return data.detach().requires_grad_(requires_grad)
