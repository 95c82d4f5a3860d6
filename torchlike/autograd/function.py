"""Operations with derivatives of their own."""

from __future__ import annotations

from typing import Any

from functional.function import Function, FunctionCtx, once_differentiable
from functional.function import _FunctionMeta as FunctionMeta

__all__ = ["Function", "FunctionCtx", "FunctionMeta", "InplaceFunction", "once_differentiable"]


class InplaceFunction(Function):
    """A Function with a flag that says whether it works in place."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace: Any = inplace
