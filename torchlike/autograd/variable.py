"""The name tensors that record had before tensors did it themselves."""

from __future__ import annotations

from typing import Any

from functional.blame import warn
from functional.tensor import Tensor

__all__ = ["Variable"]


class _VariableMeta(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, Tensor)


class Variable(metaclass=_VariableMeta):
    """``Variable(tensor, requires_grad)`` is a tensor over the same memory."""

    def __new__(cls, data: Tensor, requires_grad: bool = False, volatile: Any = None) -> Any:
        if volatile is not None:
            warn("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
        return data.detach().requires_grad_(requires_grad)
