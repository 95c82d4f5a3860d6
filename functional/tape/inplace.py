"""In-place twins: ``add_`` from ``add``, and the operators ``+=``, ``*=``, ..."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy import ndarray

from ..dtypes import F32, F64
from ..modes import MODE, PLAIN
from ..tensor import NO_EDGE, Tensor
from .op import Op
from .slow import in_place


def elementwise_twin(op: Op) -> Callable[..., Tensor]:
    """``op_(self, ...)``: the result is written over ``self``."""
    kernel = op.kernel

    def twin(self: Any, *args: Any) -> Tensor:
        if type(self) in PLAIN and self._place is None and (not MODE.grad or self._edge is NO_EDGE):
            x = self._data
            dt = x.dtype
            if (dt is F32 or dt is F64) and len(args) == 1:
                (other,) = args
                kind = type(other)
                y = other
                if kind in PLAIN:
                    if other._place is not None:  # it may share memory with self
                        return in_place(op, (self, other))
                    y = other._data if not MODE.grad or other._edge is NO_EDGE else None
                    if type(y) is not ndarray or y.dtype is not dt or y.shape != x.shape:
                        return in_place(op, (self, other))
                elif kind is not float and kind is not int:
                    return in_place(op, (self, other))
                kernel(x, y, x)
                if self._ver is None:
                    self._ver = [1]
                else:
                    self._ver[0] += 1
                return self
        return in_place(op, (self, *args))

    return named_twin(twin, op)


def general_twin(op: Op) -> Callable[..., Tensor]:
    """The same for operations whose kernel is not a binary ufunc."""

    def twin(*args: Any) -> Tensor:
        return in_place(op, args)

    return named_twin(twin, op)


def named_twin(twin: Any, op: Op) -> Any:
    twin.__name__ = twin.__qualname__ = op.name.split(".")[0] + "_"
    twin.op = op
    return twin
